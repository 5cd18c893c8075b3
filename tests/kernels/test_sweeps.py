"""The compiled loops against their ten-line versions: dense, slow, one statement for each line of the method.

Coordinates that sleep, stretches that underflow, every layout of the data: nothing of it may change a number. Tolerance
1e-11 where hundreds of steps multiply rounding errors, against the largest entry.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.algorithms._primal_dual import recentre
from saddlery.algorithms._protocol import bias_column
from saddlery.steps import Steps
from saddlery.terms import _verbs as verbs
from saddlery.terms import grad, grad_conj, prox, prox_conj

N, D = 14, 6


def example(seed=0, n=N, d=D):
    """Numbers that 32 bits hold exactly; an empty row, a full row, an empty column, rows of unequal norm."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-16, 17, (n, d)) / 8.0
    X[rng.random((n, d)) < 0.6] = 0.0
    X[3] = 0.0
    X[5] = rng.integers(1, 9, d) / 8.0
    X[:, 4] = 0.0
    X[7] *= 4.0
    return X


def targets(f, n=N, seed=1):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n) if verbs.labels(f) == "margin" else rng.integers(-8, 9, n) / 4.0


LAYOUTS = {
    "dense": lambda X: X,
    "CSR": sp.csr_array,
    "CSR, int64": lambda X: wide(sp.csr_array(X)),
    "dense, float32": lambda X: X.astype(np.float32),
    "CSR, float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


def wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def close(found, expected, rel=1e-11):
    assert np.shape(found) == np.shape(expected)
    assert np.isfinite(expected).all()
    assert np.abs(found - expected).max() <= rel * np.abs(expected).max() + 1e-14


# ---- the slow versions -------------------------------------------------------------------------------------------


def slow_dual(X, b, f, g, c, y, order, lam, column=0.0, offset=0.0):
    """SDCA: the exact maximiser over one y_i; a column of s's for an intercept (lam/2), beside an offset."""
    n, y = len(b), y.copy()
    for i in order:
        x = np.array([grad_conj(g, -v) for v in X.T @ y / n])
        x0 = -column * y.sum() / n / lam
        square = c[i] * (X[i] @ X[i] + column**2)
        sigma = lam * n / square if square else 1e15
        y[i] = c[i] * prox_conj(f, y[i] / c[i], X[i] @ x + column * x0 + offset, sigma, b[i])
    x = np.array([grad_conj(g, -v) for v in X.T @ y / n])
    return x, y, offset - column**2 * y.sum() / n / lam


def slow_primal(X, b, f, g, c, x, order, gamma):
    """Coordinate descent on the bound that smoothness gives."""
    n, x = len(b), x.copy()
    for j in order:
        y = c * [grad(f, z, t) for z, t in zip(X @ x, b, strict=True)]
        square = c @ X[:, j] ** 2
        tau = n * gamma / square if square else 1e15
        x[j] = prox(g, x[j] - tau * (X[:, j] @ y) / n, tau)
    return x


def slow_primal_dual(lines, blocks, f, g, b, c, x, y, steps, r=None, bar=None, offset=0.0):
    """One primal-dual step for every row of draws. `g` is a penalty, or one for every coordinate."""
    n, x, y = len(blocks), x.copy(), y.copy()
    r = lines.T @ y / n if r is None else r.copy()
    bar = x.copy() if bar is None else bar
    many = g if isinstance(g, list) else [g] * len(x)
    for t, tau in enumerate(steps.tau):
        dy, moved = np.zeros(len(y)), np.zeros(len(y))
        for k, i in enumerate(steps.draws[t]):
            if i >= 0 and c[i] > 0.0:
                part = blocks[i]
                new = dual_step(f, y[part] / c[i], lines[part] @ bar + offset, steps.sigma[t, k], b, i, part)
                dy[part] = c[i] * new - y[part]
                moved[part] = steps.weight[t, k] * dy[part]
        force = r + lines.T @ moved
        new = np.array([prox(p, v, tau) for p, v in zip(many, x - tau * force, strict=True)])
        r, y = r + lines.T @ dy / n, y + dy
        bar, x = new + steps.theta[t] * (new - x), new
    return x, y, bar, r


def dual_step(f, y0, z, sigma, b, i, part):
    if hasattr(f, "prox_conj_block") and (len(z) > 1 or not hasattr(f, "prox_conj")):
        out = np.empty(len(z))
        verbs.prox_conj_block(f, y0, z, sigma, b[i : i + 1] if verbs.outputs(f) > 1 else b[part], out)
        return out
    return np.array([prox_conj(f, *args, sigma, t) for *args, t in zip(y0, z, b[part], strict=True)])


def singles(n):
    return [slice(i, i + 1) for i in range(n)]


# ---- steps of any kind -------------------------------------------------------------------------------------------


def any_steps(n, lam, count=60, batch=3, seed=0, tau=(-2.0, -0.3)):
    """Batches of unequal size; sigma, tau, theta and weights that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    draws = np.stack([rng.permutation(n)[:batch] for _ in range(count)])
    for t in range(0, count, 3):
        draws[t, rng.integers(1, batch + 1) :] = -1
    tau = 10.0 ** rng.uniform(*tau, count)
    shape = draws.shape
    return Steps(
        draws,
        10.0 ** rng.uniform(-1.0, 0.5, shape),
        rng.uniform(0.2, 1.0, shape) / batch,
        tau,
        1.0 / (1.0 + lam * tau),
        rng.uniform(0.0, 1.0, count),
    )


def start(problem, seed=2):
    rng = np.random.default_rng(seed)
    x = np.array([verbs.prox(problem.g, v, 0.0) for v in rng.standard_normal(int(np.prod(problem.x_shape)))])
    y = 0.5 * rng.standard_normal(problem.coupling.m)
    return x.reshape(problem.x_shape), y.reshape(problem.y_shape)


def compiled(problem, x, y, *parts):
    """x, y, xbar after the steps of every part, one kernel call or more for each."""
    method = sd.method("spdc")
    state = method.init(problem, x, y)
    for steps in parts:
        method.run(problem, state, steps)
    found = method.iterate(problem, state)
    return found[0].copy(), found[1].copy(), method.extrapolated(problem, state)


def compare(problem, X, steps, rel=1e-11):
    """One problem without an intercept, all that comes out."""
    x, y = start(problem)
    found = compiled(problem, x, y, steps)
    blocks = singles(problem.n)
    expected = slow_primal_dual(X, blocks, problem.f, problem.g, problem.b, problem.c, x, y, steps)
    for a, e in zip(found, expected[:3], strict=True):
        close(a, e, rel)


# ---- primal-dual: layouts, penalties, losses ---------------------------------------------------------------------


class Lopsided(NamedTuple):
    """A user's penalty that leaves sleep to the default."""

    up: float = 0.6
    down: float = 0.2

    def modulus(self):
        return min(self.up, self.down)

    def value(self, x):
        return (self.up if x > 0.0 else self.down) * x * x / 2.0

    def conj(self, v):
        return v * v / (2.0 * (self.up if v > 0.0 else self.down))

    def prox(self, v, tau):
        return v / (1.0 + tau * (self.up if v > 0.0 else self.down))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("g", [sd.L2(0.3), sd.L1L2(0.15, 0.3)], ids=str)
def test_every_layout_makes_the_same_steps(layout, g):
    X, f = example(), sd.Squared()
    problem = sd.ERM(LAYOUTS[layout](X), targets(f), f, g)
    compare(problem, X, any_steps(N, problem.lam))


@pytest.mark.parametrize(
    "g", [sd.Box(-0.5, 0.25, 0.3), sd.NonNegative(0.3), sd.L1L2(0.4, 1e-6), Lopsided()], ids=lambda g: type(g).__name__
)
def test_every_penalty_sleeps_as_it_steps(g):
    X, f = example(), sd.Squared()
    problem = sd.ERM(sp.csr_array(X), targets(f), f, g)
    compare(problem, X, any_steps(N, problem.lam))


@pytest.mark.parametrize("f", [sd.Logistic(), sd.SmoothHinge(0.5)], ids=str)
def test_losses_with_weights(f):
    """Of weight 0, very small and large; no step moves a row of weight 0 from where it was."""
    X, g = example(), sd.L2(0.3)
    weights = np.ones(N)
    weights[[0, 5]], weights[1], weights[2] = 0.0, 1e-3, 5.0
    problem = sd.ERM(X, targets(f), f, g, weights=weights)
    x, y = start(problem)
    y = problem.gradients(problem.predictions(x)) * 0.5
    steps = any_steps(N, problem.lam)
    found = compiled(problem, x, y, steps)
    expected = slow_primal_dual(X, singles(N), f, g, problem.b, problem.c, x, y, steps)
    for a, e in zip(found, expected[:3], strict=True):
        close(a, e)
    assert (found[1][[0, 5]] == y[[0, 5]]).all()


@pytest.mark.parametrize("g", [sd.L2(0.3), sd.L1L2(0.05, 0.3)], ids=str)
@pytest.mark.parametrize("layout", ["dense", "CSR"])
def test_steps_in_two_calls_are_steps_in_one(layout, g):
    """What sleeps between calls wakes where it would have; xbar too."""
    X, f = example(), sd.Squared()
    problem = sd.ERM(LAYOUTS[layout](X), targets(f), f, g)
    steps = any_steps(N, problem.lam)
    whole = compiled(problem, *start(problem), steps)
    parts = [Steps(*(a[s] for a in steps)) for s in (slice(0, 1), slice(1, 17), slice(17, None))]
    for a, e in zip(compiled(problem, *start(problem), *parts), whole, strict=True):
        close(a, e, 1e-13)


@pytest.mark.parametrize("g", [sd.L2(0.3), sd.L1L2(0.05, 0.3)], ids=str)
def test_a_weight_beside_1_over_n_is_undone_in_the_next_step(g):
    """r gets 1/n of dy, whatever weight the step of x takes it with: a batch drawn twice sees each of them."""
    X, f = example(), sd.Squared()
    problem = sd.ERM(X, targets(f), f, g)
    steps = any_steps(N, problem.lam, count=8)
    steps = steps._replace(draws=np.repeat(steps.draws[:4], 2, axis=0), weight=5.0 * steps.weight)
    compare(problem, X, steps)


# ---- blocks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "g"), [("dense", sd.L2(0.3)), ("CSR", sd.L2(0.3)), ("dense", sd.L1L2(0.05, 0.3))], ids=str
)
def test_softmax(layout, g):
    X, classes = example(), 3
    labels = np.random.default_rng(3).integers(0, classes, N)
    weights = np.linspace(0.0, 2.0, N)
    problem = sd.ERM(LAYOUTS[layout](X), labels, sd.Softmax(classes), g, weights=weights)
    x, _ = start(problem)
    y = problem.gradients(np.zeros(N * classes)).reshape(N, classes)
    steps = any_steps(N, problem.lam)
    found = compiled(problem, x, y, steps)
    lines = np.kron(X, np.eye(classes))
    blocks = [slice(i * classes, (i + 1) * classes) for i in range(N)]
    expected = slow_primal_dual(lines, blocks, problem.f, g, problem.b, problem.c, x.reshape(-1), y.reshape(-1), steps)
    for a, e in zip(found, expected[:3], strict=True):
        close(a.reshape(-1), e)


@pytest.mark.parametrize("make", [np.array, sp.csc_array])
def test_blocks_of_unequal_size(make):
    rng = np.random.default_rng(4)
    sizes = [1, 3, 2, 3, 1, 2, 2]
    matrices = [rng.integers(-8, 9, (D, q)) / 8.0 for q in sizes]
    matrices[2][:] = 0.0
    b = [rng.standard_normal(q) for q in sizes]
    problem = sd.SeparableSaddle([make(A) for A in matrices], sd.Huber(0.5), sd.L2(0.3), b)
    x, y = start(problem)
    steps = any_steps(len(sizes), 0.3)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    blocks = [slice(p, q) for p, q in itertools.pairwise(edges)]
    found = compiled(problem, x, y, steps)
    expected = slow_primal_dual(
        np.hstack(matrices).T, blocks, problem.f, problem.g, np.concatenate(b), problem.c, x, y, steps
    )
    for a, e in zip(found, expected[:3], strict=True):
        close(a, e)


# ---- intercept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", [sd.L2(0.3), sd.L1L2(0.05, 0.3)], ids=str)
def test_an_intercept_is_a_column_with_a_moving_offset(g):
    """x0 = s x' + k: a column of s's, lam/2 x'^2, and k that follows x0 between epochs, x' starting from 0 again."""
    X, f = example(), sd.Squared()
    problem = sd.ERM(X, targets(f), f, g, intercept=True)
    x, y = start(problem)
    s = bias_column(problem)
    assert s == pytest.approx(math.sqrt((X**2).sum() / N), rel=1e-14)
    lines, many = np.column_stack([X, np.full(N, s)]), [g] * D + [sd.L2(g[-1])]
    parts = [any_steps(N, problem.lam, seed=seed, count=20) for seed in (0, 1, 2)]

    method = sd.method("spdc")
    state = method.init(problem, x, y)
    at, bar, r, offset = np.append(x[:-1], 0.0), None, None, x[-1]
    for steps in parts:
        method.run(problem, state, steps)
        recentre(problem, state)
        at, y, bar, r = slow_primal_dual(lines, singles(N), f, many, problem.b, problem.c, at, y, steps, r, bar, offset)
        close(method.iterate(problem, state)[0], np.append(at[:-1], offset + s * at[-1]))
        offset += s * at[-1]
        bar[-1] -= at[-1]
        at[-1] = 0.0
    close(state.y, y)
    close(method.extrapolated(problem, state), np.append(bar[:-1], offset + s * bar[-1]))


# ---- underflow ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "CSR"])
@pytest.mark.parametrize("g", [sd.L2(1e3), sd.L1L2(0.05, 1e3)], ids=str)
def test_products_of_many_shrinkages_do_not_underflow(layout, g):
    """Z = prod 1 / (1 + lam tau) would be 1e-500 and less; r of a coordinate that sleeps all along is not lost."""
    X, f = example(), sd.Squared()
    problem = sd.ERM(LAYOUTS[layout](X), 1e3 * targets(f), f, g)
    steps = any_steps(N, problem.lam, count=250, tau=(-1.0, 1.0))
    assert np.log10(steps.rho).sum() < -400.0
    compare(problem, X, steps)


def test_a_shrinkage_of_a_million():
    """xbar is made of numbers lam tau times as large as itself: of the 16 digits 6 are lost, and no more."""
    X, f, g = example(), sd.Squared(), sd.L2(1.0)
    problem = sd.ERM(X, targets(f), f, g)
    steps = any_steps(N, 1.0, count=12)
    tau = steps.tau.copy()
    tau[[3, 4, 9]] = 1e6, 3e5, 1e6
    compare(problem, X, steps._replace(tau=tau, rho=1.0 / (1.0 + tau)), rel=1e-9)


def test_nan_spreads_to_where_it_is_seen():
    """What is not a number comes out as such: nothing assumes that it is not there."""
    X, f = example(), sd.Squared()
    for g in (sd.L2(0.3), sd.L1L2(0.15, 0.3)):
        problem = sd.ERM(X, targets(f), f, g)
        x, y = start(problem)
        steps = any_steps(N, problem.lam)
        steps.sigma[-1, 0] = math.nan
        found = compiled(problem, x, y, steps)
        assert np.isnan(found[0]).any() and np.isnan(found[1]).any()
        x[0] = math.nan
        found = compiled(problem, x, y, any_steps(N, problem.lam))
        assert np.isnan(found[0][0])


# ---- through solve: methods and their draws ----------------------------------------------------------------------


def replayed(problem, name, draws, begin=None, **parameters):
    """The state after given draws."""
    method = sd.method(name, sampler=sd.Replay(draws), **parameters)
    result = sd.solve(problem, method, tol=0.0, start=begin)
    assert result.status is sd.Status.REPLAYED and result.epochs == 1
    return result.state


def rows_drawn(n=N, count=50, seed=5):
    return np.random.default_rng(seed).integers(0, n, count)


def table(name, n, lam, gamma, R, batches, m=1):
    """Steps as the papers have them (see each module of steps), written out a second time."""
    top, mean = R.max(), R.mean()
    k = math.sqrt(n * lam / (m * gamma))
    if name == "spdc-nonuniform":
        p = 0.5 / n + 0.5 * R / R.sum()
        tau, theta = 0.5 / (2 * mean * k), 1 - 1 / (2 * n + 2 * mean * math.sqrt(n / (lam * gamma)))
        sigma, weight = 0.5 * k / (2 * mean) / (n * p), 1 / (n * p)
    else:
        tau = 1 / (2 * top * k)
        theta = 1 - 1 / (n / m + top * math.sqrt(n / m / (lam * gamma)))
        sigma = k / (2 * R) if name == "adaspdc" else np.full(R.size, k / (2 * top))
        sigma = 1 / (4 * tau * R**2) if name == "adaspdc-sigma" else sigma
        weight = np.full(R.size, 1 / m)
    taus, thetas = np.full(len(batches), tau), np.full(len(batches), theta)
    if name == "adaspdc":
        largest = np.array([R[batch].max() for batch in batches])
        taus = 1 / (2 * largest * k)
        thetas = 1 - 1 / (n / m + largest * math.sqrt(n / m / (lam * gamma)))
    wide = max(map(len, batches))
    draws = np.array([[*batch, *[-1] * (wide - len(batch))] for batch in batches])
    return Steps(draws, sigma[draws], weight[draws], taus, 1 / (1 + lam * taus), thetas)


@pytest.mark.parametrize("name", ["spdc", "spdc-nonuniform", "adaspdc", "adaspdc-sigma"])
def test_methods_make_the_steps_of_their_papers(name):
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b = targets(f)
    problem = sd.ERM(X, b, f, g)
    R = np.sqrt((X * X).sum(axis=1))
    empty = R == 0.0
    assert empty.any()
    R[empty] = R.max() if name != "spdc-nonuniform" else 0.0
    batches = [[i] for i in rows_drawn()]
    m = 1 if name == "spdc-nonuniform" else 3
    if m == 3:  # batches of three, and some that are not full
        batches[::4] = [[i, (i + 1) % N, (i + 5) % N] for (i,) in batches[::4]]
    x, y = start(problem)
    state = replayed(problem, name, batches, (x, y), batch_size=m)
    steps = table(name, N, 0.05, 1.0, R, batches, m)
    if name in ("adaspdc", "adaspdc-sigma"):  # whose dual steps grow without bound as R_i falls to 0
        steps = steps._replace(sigma=np.where((steps.draws >= 0) & empty[steps.draws], 1e15, steps.sigma))
    expected = slow_primal_dual(X, singles(N), f, g, b, np.ones(N), x, y, steps)
    close(state.x, expected[0])
    close(state.y, expected[1])


def test_a_batch_takes_the_steps_of_its_size():
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b = targets(f)
    rows = rows_drawn(count=30)
    batches = [[i, (i + 3) % N, (i + 7) % N] for i in rows]
    state = replayed(sd.ERM(X, b, f, g), "spdc", batches, batch_size=3)
    top, k = np.sqrt((X * X).sum(axis=1)).max(), math.sqrt(N * 0.05 / 3.0)
    tau, theta = 1 / (2 * top * k), 1 - 1 / (N / 3.0 + top * math.sqrt(N / 3.0 / 0.05))
    count, shape = len(batches), np.shape(batches)
    steps = Steps(
        np.array(batches),
        np.full(shape, k / (2 * top)),
        np.full(shape, 1 / 3.0),
        np.full(count, tau),
        np.full(count, 1 / (1 + 0.05 * tau)),
        np.full(count, theta),
    )
    expected = slow_primal_dual(X, singles(N), f, g, b, np.ones(N), np.zeros(D), np.zeros(N), steps)
    close(state.x, expected[0])
    close(state.y, expected[1])


def test_weights_leave_methods_unchanged():
    """With y = sqrt(c) y' a weighted problem is one with rows sqrt(c) a: steps from sqrt(c) |a| over the live rows."""
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b, weights = targets(f), np.linspace(0.0, 2.0, N)
    problem = sd.ERM(X, b, f, g, weights=weights)
    c = problem.c
    assert c.mean() == pytest.approx(1.0, rel=1e-15)
    batches = [[i] for i in rows_drawn()]
    state = replayed(problem, "spdc", batches)
    live = N - 1
    R = np.sqrt(c * (X * X).sum(axis=1) * live / N)
    steps = table("spdc", live, 0.05, 1.0, R, batches)
    steps = steps._replace(weight=steps.weight * live / N)
    expected = slow_primal_dual(X, singles(N), f, g, b, c, np.zeros(D), np.zeros(N), steps)
    close(state.x, expected[0])
    close(state.y, expected[1])
    assert state.y[0] == 0.0


@pytest.mark.parametrize("name", ["spdc", "adaspdc", "sdca", "sag"])
def test_rows_of_weight_0_are_as_if_they_were_not_there(name):
    """n, means and norms are those of the live rows: the same problem without them, in other units of y."""
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b, weights = targets(f), np.ones(N)
    dead = [0, 5, 9]
    weights[dead] = 0.0
    live = np.flatnonzero(weights)
    draws = rows_drawn(live.size)
    whole = replayed(sd.ERM(X, b, f, g, weights=weights), name, live[draws])
    part = replayed(sd.ERM(X[live], b[live], f, g), name, draws)
    close(whole.x, part.x)
    close(whole.y[live] * live.size / N, part.y)
    assert not whole.y[dead].any()


def test_a_row_twice_in_a_batch_counts_once():
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    problem = sd.ERM(X, targets(f), f, g)
    twice = replayed(problem, "spdc", [(1, 1, 7), (7, 2, 7, 2), (4,), (5, 5)], batch_size=2)
    once = replayed(problem, "spdc", [(1, 7), (7, 2), (4,), (5,)], batch_size=2)
    np.testing.assert_array_equal(twice.x, once.x)
    np.testing.assert_array_equal(twice.y, once.y)


def test_a_row_of_weight_0_in_a_replay_moves_nothing():
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    weights = np.ones(N)
    weights[2] = 0.0
    problem = sd.ERM(X, targets(f), f, g, weights=weights)
    for name in ("sdca", "iprox-sdca"):
        one, other = replayed(problem, name, [1, 2, 4, 2]), replayed(problem, name, [1, 4])
        np.testing.assert_array_equal(one.x, other.x)
    state = replayed(problem, "spdc", [(1, 2), (4, 2, 6)], batch_size=3)
    np.testing.assert_array_equal(state.x, replayed(problem, "spdc", [(1,), (4, 6)], batch_size=3).x)


# ---- the dual loop -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sdca_on_every_layout(layout):
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b, order = targets(f), rows_drawn()
    problem = sd.ERM(LAYOUTS[layout](X), b, f, g)
    y = 0.5 * np.random.default_rng(6).standard_normal(N)
    state = replayed(problem, "sdca", order, (np.zeros(D), y))
    expected = slow_dual(X, b, f, g, np.ones(N), y, order, 0.05)
    close(state.x, expected[0])
    close(state.y, expected[1])


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (sd.Squared(), sd.L1L2(0.1, 0.05)),
        (sd.Logistic(), sd.L2(0.05)),
        (sd.Hinge(), sd.L2(0.05)),
        (sd.Squared(), sd.Box(-0.3, 0.2, 0.05)),
        (sd.Squared(), sd.NonNegative(0.05)),
    ],
    ids=str,
)
def test_sdca_with_weights(f, g):
    X, b, order = example(), targets(f), rows_drawn()
    weights = np.linspace(0.1, 2.0, N)
    problem = sd.ERM(X, b, f, g, weights=weights)
    state = replayed(problem, "sdca", order)
    expected = slow_dual(X, b, f, g, problem.c, np.zeros(N), order, 0.05)
    close(state.x, expected[0])
    close(state.y, expected[1])


def test_sdca_with_an_intercept():
    """A column of s's, penalised around an offset that follows it."""
    X, f, g = example(), sd.Squared(), sd.L2(0.05)
    b, order = targets(f), rows_drawn()
    problem = sd.ERM(X, b, f, g, intercept=True)
    begin = np.append(np.zeros(D), 0.7)
    state = replayed(problem, "sdca", order, (begin, np.zeros(N)))
    s = bias_column(problem)
    x, y, x0 = slow_dual(X, b, f, g, np.ones(N), np.zeros(N), order, 0.05, s, 0.7)
    close(state.y, y)
    close(state.x[:-1], x)
    # after the epoch the offset has followed: x0 stands where it would, s x' beside it is what the next epoch moves
    method = sd.method("sdca", sampler=sd.Replay(order))
    again = method.init(problem, begin, np.zeros(N))
    method.move(problem, again, order)
    assert method.iterate(problem, again)[0][-1] == pytest.approx(x0, rel=1e-11)


# ---- the primal loop ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "CSR", "CSR, int64", "CSR, float32"])
def test_cd_on_every_layout(layout):
    X, f, g = example(), sd.Squared(), sd.L1(0.1)
    b, order = targets(f), rows_drawn(D, 30)
    problem = sd.ERM(LAYOUTS[layout](X), b, f, g)
    x = np.random.default_rng(7).standard_normal(D)
    state = replayed(problem, "cd", order, x)
    expected = slow_primal(X, b, f, g, np.ones(N), x, order, 1.0)
    close(state.x, expected)
    close(state.y, X @ expected - b)


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (sd.Logistic(), sd.L1L2(0.02, 0.05)),
        (sd.SmoothHinge(0.5), sd.NonNegative()),
        (sd.Squared(2.0), sd.Box(-0.3, 0.2)),
    ],
    ids=str,
)
def test_cd_with_weights(f, g):
    X, b, order = example(), targets(f), rows_drawn(D, 30)
    weights = np.linspace(0.0, 2.0, N)
    problem = sd.ERM(X, b, f, g, weights=weights)
    state = replayed(problem, "cd", order)
    begin = np.full(D, prox(g, 0.0, 0.0))
    close(state.x, slow_primal(X, b, f, g, problem.c, begin, order, verbs.gamma(f)))


def test_cd_with_an_intercept_is_cd_on_centred_columns():
    """The squared loss with the best intercept at every step: subtract weighted means from X and b."""
    X, f, g = example(), sd.Squared(), sd.L1(0.02)
    b, order = targets(f), rows_drawn(D, 30)
    problem = sd.ERM(X, b, f, g, weights=np.linspace(0.5, 2.0, N), intercept=True)
    c = problem.c
    means, level = c @ X / N, c @ b / N
    state = replayed(problem, "cd", order)
    live = [j for j in order if np.ptp(X[:, j]) > 0.0]
    expected = slow_primal(X - means, b - level, f, g, c, np.zeros(D), live, 1.0)
    close(state.x, np.append(expected, level - means @ expected))
