"""Terms that a user writes: one NamedTuple class, compiled as those of the library are, solved by its methods."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import saddlery as sd
from saddlery import _compile
from saddlery._compile import COMPILED
from saddlery.terms import _verbs as verbs
from saddlery.terms import grad, value
from saddlery.terms._sums import loss_means

PACKAGE = Path(sd.__file__).parent


class Expectile(NamedTuple):
    """share r^2 / 2 above the label, (1 - share) r^2 / 2 below it: a smooth relative of the quantile."""

    share: float = 0.8

    def smoothness(self):
        return max(self.share, 1.0 - self.share)

    def modulus(self):
        return min(self.share, 1.0 - self.share)

    def value(self, z, b):
        r = z - b
        return (self.share if r > 0.0 else 1.0 - self.share) * r * r / 2.0

    def grad(self, z, b):
        r = z - b
        return (self.share if r > 0.0 else 1.0 - self.share) * r

    def conj(self, y, b):
        return y * y / (2.0 * (self.share if y > 0.0 else 1.0 - self.share)) + b * y

    def prox_conj(self, y0, z, sigma, b):
        v = y0 + sigma * (z - b)
        return v / (1.0 + sigma / (self.share if v > 0.0 else 1.0 - self.share))


class Bend(NamedTuple):
    """The library's SmoothHinge, line by line."""

    gamma: float = 1.0

    def smoothness(self):
        return 1.0 / self.gamma

    def labels(self):
        return "margin"

    def value(self, z, b):
        m = 1.0 - b * z
        if m <= 0.0:
            return 0.0
        return m * m / (2.0 * self.gamma) if m < self.gamma else m - self.gamma / 2.0

    def grad(self, z, b):
        return -b * min(max((1.0 - b * z) / self.gamma, 0.0), 1.0)

    def interval(self, b):
        return min(-b, 0.0), max(-b, 0.0)

    def conj(self, y, b):
        s = -b * y
        return math.inf if s < 0.0 or s > 1.0 else self.gamma * s * s / 2.0 - s

    def prox_conj(self, y0, z, sigma, b):
        s = -b * ((sigma * (z - b) + y0) * (1.0 / (1.0 + sigma * self.gamma)))
        return -b * min(max(s, 0.0), 1.0)

    def fenchel_young(self, z, y, b):
        s, t = -b * y, (1.0 - b * z) / self.gamma
        if s < 0.0 or s > 1.0:
            return math.inf
        near = min(max(t, 0.0), 1.0)
        return self.gamma * ((s - near) * (s - near) / 2.0 + (t - near) * (near - s))


class Lopsided(NamedTuple):
    """up/2 x^2 for x > 0, down/2 x^2 for x < 0: value, conj and prox, and its modulus; the rest is default."""

    up: float = 0.2
    down: float = 0.05

    def modulus(self):
        return min(self.up, self.down)

    def value(self, x):
        return (self.up if x > 0.0 else self.down) * x * x / 2.0

    def conj(self, v):
        return v * v / (2.0 * (self.up if v > 0.0 else self.down))

    def prox(self, v, tau):
        return v / (1.0 + tau * (self.up if v > 0.0 else self.down))


class Bare(NamedTuple):
    """|x|_1 / 20 with value, conj and prox and nothing else."""

    def value(self, x):
        return 0.05 * abs(x)

    def conj(self, v):
        return 0.0 if abs(v) <= 0.05 else math.inf

    def prox(self, v, tau):
        return max(v - 0.05 * tau, 0.0) + min(v + 0.05 * tau, 0.0)


class Rough(NamedTuple):
    """Half a square, without a word about how smooth it is."""

    def value(self, z, b):
        return (z - b) * (z - b) / 2.0

    def grad(self, z, b):
        return z - b

    def conj(self, y, b):
        return y * y / 2.0 + b * y

    def prox_conj(self, y0, z, sigma, b):
        return (sigma * (z - b) + y0) / (1.0 + sigma)


class TooLow(Rough):
    """Its conjugate is half of what it must be: a lower bound made of it would be none."""

    __slots__ = ()

    def smoothness(self):
        return 1.0

    def conj(self, y, b):
        return y * y / 4.0 + b * y


class TooHigh(Rough):
    """Its conjugate is twice what it must be: bounds stay bounds, but never close."""

    __slots__ = ()

    def smoothness(self):
        return 1.0

    def conj(self, y, b):
        return y * y + b * y


class TooLowPenalty(NamedTuple):
    lam: float = 0.1

    def modulus(self):
        return self.lam

    def value(self, x):
        return self.lam * x * x / 2.0

    def conj(self, v):
        return v * v / (4.0 * self.lam)

    def prox(self, v, tau):
        return v / (1.0 + self.lam * tau)


@pytest.fixture(scope="module")
def data():
    made = sd.synthetic.planted(40, 8, norm_spread=0.5, seed=3)
    return made.X, made.b


def signs(b):
    return np.where(b > 0, 1.0, -1.0)


# ---- they solve --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sdca", "spdc", "adaspdc-balanced", "cd", "pdcp"])
def test_a_users_terms_solve(data, name):
    problem = sd.ERM(*data, Expectile(0.8), Lopsided(0.2, 0.05))
    result = sd.solve(problem, name, tol=1e-8, max_epochs=4000)
    assert result.status.ok, result
    assert result.certificate.gap >= 0.0 and result.certificate.kind == "exact"
    assert np.linalg.norm(stationarity(problem, result.x)) < 1e-3


def stationarity(problem, x):
    """The gradient of P, by hand."""
    X, b = problem.coupling.rows.matrix(), problem.b
    slopes = np.array([grad(problem.f, z, t) for z, t in zip(X @ x, b, strict=True)])
    up, down = problem.g
    return X.T @ slopes / len(b) + np.where(x > 0, up, down) * x


@pytest.mark.parametrize("name", ["cd", "ag", "saga"])
def test_a_penalty_of_value_conj_and_prox_solves(data, name):
    """No modulus, so lam = 0, and nothing said of where g* is finite: as for L1 a gap, and the same minimum."""
    X, b = data
    result = sd.solve(sd.ERM(X, b, sd.Squared(), Bare()), name, tol=1e-8, max_epochs=4000)
    twin = sd.solve(sd.ERM(X, b, sd.Squared(), sd.L1(0.05)), "cd", tol=1e-12, max_epochs=4000)
    assert result.status.ok, result
    assert result.certificate.primal == pytest.approx(twin.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("name", ["sdca", "spdc"])
def test_a_copy_of_a_librarys_loss_gives_the_same_bits(data, name):
    X, b = data
    runs = [
        sd.solve(sd.ERM(X, signs(b), loss, sd.L2(0.05)), name, tol=0.0, max_epochs=7, every=1)
        for loss in (sd.SmoothHinge(0.5), Bend(0.5))
    ]
    for column in ("primal", "dual", "gap"):
        np.testing.assert_array_equal(runs[0].history[column], runs[1].history[column])
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    np.testing.assert_array_equal(runs[0].state.x, runs[1].state.x)
    np.testing.assert_array_equal(runs[0].state.y, runs[1].state.y)


def test_whole_numbers_as_parameters_are_floats(data):
    X, b = data
    runs = [
        sd.solve(sd.ERM(X, signs(b), Bend(g), sd.L2(lam)), "sdca", tol=0.0, max_epochs=3)
        for g, lam in ((1, 1), (1.0, 1.0))
    ]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    assert [type(part) for part in verbs.normal(Bend(1))] == [float]


def test_a_name_of_the_library_may_be_used_again(data):
    """A penalty may be called Huber and a loss Box: what a term is, its methods say."""
    penalty = type("Huber", (Lopsided,), {"__slots__": ()})
    loss = type("Box", (Expectile,), {"__slots__": ()})
    for f, g in ((Expectile(), penalty()), (loss(), Lopsided())):
        assert sd.ERM(*data, f, g).primal(np.zeros(8)) > 0.0


# ---- they are checked --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "penalty", "guilty"), [(TooLow(), sd.L2(0.1), "TooLow"), (sd.Squared(), TooLowPenalty(), "TooLowPenalty")]
)
def test_a_conjugate_that_is_too_low_is_noticed(data, loss, penalty, guilty):
    with pytest.raises(ValueError, match="conj is not the conjugate of value") as error:
        sd.solve(sd.ERM(*data, loss, penalty), "spdc", max_epochs=200)
    assert guilty in str(error.value)


class Cancelling(NamedTuple):
    """log cosh(z - b) as one would write it: near 0 it is the small difference of numbers near log 2."""

    def smoothness(self):
        return 1.0

    def interval(self, b):
        return -1.0, 1.0

    def value(self, z, b):
        r = abs(z - b)
        return r + math.log1p(math.exp(-2.0 * r)) - math.log(2.0)

    def grad(self, z, b):
        return math.tanh(z - b)

    def conj(self, y, b):
        if abs(y) >= 1.0:
            return b * y + math.log(2.0) if abs(y) == 1.0 else math.inf
        return b * y + ((1.0 + y) * math.log1p(y) + (1.0 - y) * math.log1p(-y)) / 2.0

    def prox_conj(self, y0, z, sigma, b):
        low, high = -abs(z - b) - 2.0 / sigma, abs(z - b) + 2.0 / sigma
        for _ in range(100):
            t = (low + high) / 2.0
            if t + b - z + (math.tanh(t) - y0) / sigma > 0.0:
                high = t
            else:
                low = t
        return math.tanh((low + high) / 2.0)


@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_rounding_in_a_users_formula_is_not_taken_for_a_wrong_one(data, scale):
    X, b = data
    problem = sd.ERM(X, scale * np.round(b), Cancelling(), sd.L1L2(1e-3 * scale, 0.05))  # some labels are 0
    result = sd.solve(problem, "adaspdc-balanced", tol=1e-3, max_epochs=400)
    assert result.status.ok, result


def test_an_objective_that_is_lost_in_rounding_is_not_certified(data):
    X, b = data
    problem = sd.ERM(X, 1e-6 * np.round(b), Cancelling(), sd.L1L2(1e-9, 0.05))
    with pytest.raises(ValueError, match="lost in cancellation, and it needs a method fenchel_young"):
        sd.solve(problem, "adaspdc-balanced", tol=1e-9, max_epochs=400)


def test_a_conjugate_that_is_too_high_never_converges(data):
    problem = sd.ERM(*data, TooHigh(), sd.L2(0.1))
    best = sd.solve(sd.ERM(*data, sd.Squared(), sd.L2(0.1)), "sdca", tol=1e-12).certificate.primal
    result = sd.solve(problem, "spdc", tol=1e-6, max_epochs=150)
    assert not result.status.ok
    assert result.certificate.dual <= best * (1 + 1e-12), "what is called a lower bound must be one"


@pytest.mark.parametrize("name", ["spdc", "adaspdc", "cd", "pdcp", "sag", "adasdca+"])
def test_a_loss_that_does_not_say_that_it_is_smooth_is_refused(data, name):
    with pytest.raises(ValueError, match="gamma > 0") as error:
        sd.solve(sd.ERM(*data, Rough(), sd.L2(0.1)), name)
    message = str(error.value)
    assert name in message and "Rough" in message and "smoothness" in message
    assert "sdca" in message.split("methods that can")[1]


def test_it_is_solved_by_the_method_that_the_error_names(data):
    assert sd.solve(sd.ERM(*data, Rough(), sd.L2(0.1)), "sdca", tol=1e-8).status.ok


def test_what_is_no_term_is_refused(data):
    for wrong in ("squared", 3, lambda z, b: z, None, (1.0, 2.0)):
        with pytest.raises(TypeError, match="loss must be"):
            sd.ERM(*data, wrong, sd.L2(0.1))
        with pytest.raises(TypeError, match="penalty must be"):
            sd.ERM(*data, sd.Squared(), wrong)
    with pytest.raises(TypeError, match="Bend"):
        sd.ERM(*data, Bend, sd.L2(0.1))


def test_a_verb_that_is_missing_is_named(data):
    class Silent(NamedTuple):
        def value(self, z, b):
            return z * z

        def smoothness(self):
            return 2.0

    with pytest.raises(TypeError, match=r"loss: Silent has no method grad\(self, z, b\), conj\(self, y, b\), which"):
        sd.ERM(*data, Silent(), sd.L2(0.1))

    class Steep(NamedTuple):
        def value(self, x):
            return x * x

    with pytest.raises(TypeError, match=r"penalty: Steep has no method conj\(self, v\), prox\(self, v, tau\), which"):
        sd.ERM(*data, sd.Squared(), Steep())

    class Explicit(NamedTuple):
        value, grad, conj, smoothness = Expectile.value, Expectile.grad, Expectile.conj, Silent.smoothness

    with pytest.raises(ValueError, match="prox_conj"):
        sd.solve(sd.ERM(*data, Explicit(), sd.L2(0.1)), "spdc")


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_what_does_not_compile_is_named_in_a_line(data):
    class Broken(Expectile):
        __slots__ = ()

        def value(self, z, b):
            return nobody_knows(z - b)  # noqa: F821

    with pytest.raises(
        TypeError, match=r"Broken does not compile: .*'nobody_knows' is not defined.*SADDLERY_COMPILE=0"
    ):
        sd.solve(sd.ERM(*data, Broken(), sd.L2(0.1)), "sdca")


def steeper(k):
    """A loss k (z - b)^2 / 2, whose class always has the same name."""

    class Steeper(NamedTuple):
        unused: float = 1.0

        def smoothness(self):
            return k

        def value(self, z, b):
            return k * (z - b) ** 2 / 2.0

        def grad(self, z, b):
            return k * (z - b)

        def conj(self, y, b):
            return y * y / 2.0 / k + b * y

        def prox_conj(self, y0, z, sigma, b):
            return (sigma * (z - b) + y0) / (1.0 + sigma / k)

    return Steeper()


def test_a_class_that_is_defined_again_is_another_class(data):
    """A notebook cell that was edited and run again."""
    for k in (1.0, 3.0, 1.0):
        found = sd.solve(sd.ERM(*data, steeper(k), sd.L2(0.1)), "sdca", tol=1e-12)
        known = sd.solve(sd.ERM(*data, sd.Squared(1.0 / k), sd.L2(0.1)), "sdca", tol=1e-12)
        assert found.certificate.primal == pytest.approx(known.certificate.primal, rel=1e-11)


class Pairs(NamedTuple):
    """Half the squared distance of two vectors, with block verbs only."""

    def smoothness(self):
        return 1.0

    def value_block(self, z, b):
        total = 0.0
        for k in range(z.shape[0]):
            total += (z[k] - b[k]) ** 2 / 2.0
        return total

    def grad_block(self, z, b, out):
        for k in range(z.shape[0]):
            out[k] = z[k] - b[k]

    def conj_block(self, y, b):
        total = 0.0
        for k in range(y.shape[0]):
            total += y[k] * y[k] / 2.0 + b[k] * y[k]
        return total

    def prox_conj_block(self, y0, z, sigma, b, out):
        for k in range(z.shape[0]):
            out[k] = (sigma * (z[k] - b[k]) + y0[k]) / (1.0 + sigma)


def test_a_loss_of_blocks_needs_no_more_than_four_verbs():
    rng = np.random.default_rng(0)
    blocks, b = [rng.standard_normal((5, 2)) for _ in range(12)], [rng.standard_normal(2) for _ in range(12)]
    values = []
    for loss in (Pairs(), sd.Squared()):
        result = sd.solve(sd.SeparableSaddle(blocks, loss, sd.L2(0.1), b=b), "adaspdc-balanced", tol=1e-10)
        assert result.status.ok
        values.append(result.certificate.primal)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


class Ball(NamedTuple):
    """lam |x|, the Euclidean norm of all of x, plus mu/2 |x|^2: not a sum over coordinates."""

    lam: float
    mu: float = 0.0

    def separable(self):
        return False

    def modulus(self):
        return self.mu

    def value(self, x):
        return self.lam * math.sqrt(float(x @ x)) + self.mu / 2.0 * float(x @ x)

    def conj(self, v):
        over = max(math.sqrt(float(v @ v)) - self.lam, 0.0)
        if self.mu == 0.0:
            return 0.0 if over <= 1e-14 * self.lam else math.inf
        return over * over / (2.0 * self.mu)

    def prox(self, v, tau):
        size = math.sqrt(float(v @ v))
        return v * max(0.0, 1.0 - tau * self.lam / size if size > 0.0 else 0.0) / (1.0 + tau * self.mu)


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_a_penalty_of_whole_vectors_needs_no_more_than_three_verbs(data, mu):
    X, b = data
    mine = sd.solve(sd.ERM(X, b, sd.Squared(), Ball(0.05, mu)), tol=1e-8, max_epochs=20000)
    group = sd.GroupL2(0.05, np.zeros(X.shape[1], int), mu)
    known = sd.solve(sd.ERM(X, b, sd.Squared(), group), tol=1e-8, max_epochs=20000)
    assert mine.status.ok and known.status.ok
    assert mine.certificate.primal == pytest.approx(known.certificate.primal, rel=1e-7)


def test_two_processes_never_give_two_kernels_one_file(tmp_path, monkeypatch):
    """Both look at the index before either writes: the later index forgets the earlier key, no file changes hands."""
    one, two, later = (object.__new__(_compile._OneFileEach) for _ in range(3))
    for each in (one, two, later):
        numba.core.caching.IndexDataCacheFile.__init__(each, str(tmp_path), "kernel", "stamp")
    one.save(("squared",), "code for squared")
    with monkeypatch.context() as stale:
        stale.setattr(two, "_load_index", dict)
        two.save(("logistic",), "code for logistic")
    with monkeypatch.context() as stale:
        stale.setattr(one, "_load_index", dict)
        one.save(("squared",), "code for squared")
    assert later.load(("squared",)) == "code for squared"
    assert later.load(("logistic",)) in (None, "code for logistic")
    assert len(list(tmp_path.glob("*.nbc"))) == 2


def test_kernels_are_kept_in_files_of_their_own():
    assert type(loss_means.kept._cache._cache_file) is _compile._OneFileEach


def test_parameters_of_a_users_term_may_be_checked(data):
    class Careful(Bend):
        __slots__ = ()

        def check(self):
            if not self.gamma > 0.0:
                raise ValueError(f"Careful(gamma=...) must be above 0, found {self.gamma}")

    with pytest.raises(ValueError, match="found -1"):
        sd.ERM(data[0], signs(data[1]), Careful(-1), sd.L2(0.1))


def test_defaults_are_right():
    f, g = Expectile(0.8), Lopsided(0.2, 0.05)
    for z, y, b in ((1.0, -0.3, 0.2), (-2.0, 0.7, 0.0), (0.5, 0.0, 0.5)):
        assert verbs.fenchel_young(f, z, y, b) == pytest.approx(value(f, z, b) + f.conj(y, b) - y * z, abs=1e-15)
    assert verbs.interval(f, 1.0) == verbs.reach(g) == (-math.inf, math.inf)
    assert (verbs.separable(g), verbs.affine(g), verbs.labels(f), verbs.outputs(f)) == (True, False, "real", 1)


# ---- compiled files ----------------------------------------------------------------------------------------------

SCRIPT = """
import math
from typing import NamedTuple
import numpy as np
import saddlery as sd

class Mine(NamedTuple):
    gamma: float = 1.0
    def smoothness(self):
        return 1.0 / self.gamma
    def value(self, z, b):
        return (z - b) * (z - b) / (2.0 * self.gamma)
    def grad(self, z, b):
        return (z - b) / self.gamma
    def conj(self, y, b):
        return self.gamma * y * y / 2.0 + b * y
    def prox_conj(self, y0, z, sigma, b):
        return (sigma * (z - b) + y0) / (1.0 + sigma * self.gamma)

rng = np.random.default_rng(0)
problem = sd.ERM(rng.standard_normal((20, 4)), rng.standard_normal(20), Mine(2), sd.L2(0.1))
result = sd.solve(problem, "sdca", tol=1e-8)
assert result.status.ok, result
print(result.certificate.primal.hex())
"""


def python(*arguments, **environment):
    """What another process prints."""
    env = {**os.environ, "SADDLERY_COMPILE": "1", "OMP_NUM_THREADS": "1", **environment}
    made = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=300)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def copied(folder):
    """The package, to be edited."""
    shutil.copytree(PACKAGE, folder / "saddlery", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "saddlery"


def kept(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_class_of_main_leaves_no_files_behind(tmp_path):
    """Kernels made for it cannot be found again: written to disk they would pile up, run by run."""
    copied(tmp_path)
    script, cache = tmp_path / "script.py", tmp_path / "cache"
    script.write_text(SCRIPT)
    env = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    first = python(str(script), **env)
    files = kept(cache)
    second = python(str(script), **env)
    assert first == second
    assert kept(cache) == files
    assert files, "kernels that know no term of the user are kept"
    assert not [name for name in files if "coordinates" in name or "loss_means" in name]


VALUE = """
import numpy as np
import saddlery as sd
print(sd.ERM(np.eye(3), np.zeros(3), sd.Squared(), sd.L2(1.0)).primal(np.ones(3)))
"""


def test_a_changed_term_is_compiled_again(tmp_path):
    """The kernel's own file does not change: by itself the compiler would not notice."""
    package = copied(tmp_path)
    cache = tmp_path / "cache"
    env = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    assert float(python("-c", VALUE, **env)) == 2.0  # 1/2 for each row, 1/2 for each coordinate, over 3 rows
    before = {path.name for path in cache.rglob("*.nbc")}
    assert before, "nothing was kept, so that nothing is tested"

    term = package / "terms" / "squared.py"
    text = term.read_text()
    edited = text.replace("return (z - b) * (z - b) / (2.0 * self.gamma)", "return (z - b) * (z - b) / self.gamma")
    assert edited != text
    term.write_text(edited)
    assert float(python("-c", VALUE, **env)) == 2.5
    assert {path.name for path in cache.rglob("*.nbc")} > before

    term.write_text(text)
    assert float(python("-c", VALUE, **env)) == 2.0


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path):
    """A read-only installation compiles once per process."""
    if os.name == "nt" or os.geteuid() == 0:
        blocked = tmp_path / "file"
        blocked.write_text("a file where the cache folder should be")
        folder = blocked / "cache"
    else:
        folder = tmp_path / "cache"
        folder.mkdir(mode=0o500)
    assert float(python("-c", VALUE, NUMBA_CACHE_DIR=str(folder), PYTHONPATH=str(PACKAGE.parent))) == 2.0
