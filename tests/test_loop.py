"""The loop: it goes on exactly, survives what happens to runs, and says why it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery import checkpoint as disk

EXACT = ["sdca", "iprox-sdca", "adasdca+", "adasdca", "cd", "pdcp", "spdc", "adaspdc-balanced", "adaspdc", "sag"]


def problem(n=60, d=8, seed=0, penalty=None, intercept=False, spread=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(spread * rng.standard_normal(n))[:, None]
    b = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    return sd.ERM(X, b, sd.Logistic(), penalty or sd.L2(0.01), intercept=intercept)


def same(one, two):
    """Are two results of the same bits, whatever the clock said?"""
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.y, two.y)
    assert one.certificate == two.certificate
    for name, array in one.state.memory.items():
        assert np.array_equal(array, two.state.memory[name]), name
    assert one.state.random == two.state.random


# ---- determinism and going on --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EXACT)
def test_same_seed_same_bits(method):
    p = problem()
    same(sd.solve(p, method, tol=0, max_epochs=7, seed=3), sd.solve(p, method, tol=0, max_epochs=7, seed=3))


def test_another_seed_other_draws():
    p = problem()
    one, two = (sd.solve(p, "sdca", tol=0, max_epochs=3, seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.state.x, two.state.x)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", EXACT)
def test_a_result_goes_on_exactly(method, intercept):
    """55 epochs at once are 30 and 25: across the epoch at which sums are made anew, too."""
    penalty = sd.L2(0.01)
    whole = sd.solve(problem(penalty=penalty, intercept=intercept), method, tol=0, max_epochs=55, every=5)
    p = problem(penalty=penalty, intercept=intercept)
    part = sd.solve(p, method, tol=0, max_epochs=30, every=5)
    rest = sd.solve(p, method, tol=0, max_epochs=25, every=5, start=part)
    assert np.array_equal(whole.state.x, rest.state.x)
    assert np.array_equal(whole.state.y, rest.state.y)
    assert whole.state.random == rest.state.random
    assert (whole.state.epoch, whole.state.passes) == (rest.state.epoch, pytest.approx(rest.state.passes))
    from_state = sd.solve(p, method, tol=0, max_epochs=25, every=5, start=part.state)
    assert np.array_equal(whole.state.x, from_state.state.x)


def hard():
    """A problem on which auto leaves its first choice at epoch 14 or so."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 100)) + 2.0
    b = X @ rng.standard_normal(100) + rng.standard_normal(300)
    return sd.ERM(X, b, sd.Squared(), sd.L2(3e-3 * 500.0 / 300))


@pytest.mark.parametrize("parts", [(7, 33), (25, 15), (1, 39), (20, 10, 10)], ids=str)
@pytest.mark.parametrize("method", ["auto", "adaspdc"])
def test_a_run_that_changes_its_method_goes_on_exactly(method, parts):
    """Also where it was cut between two certificates, or after another method took over."""
    p = hard() if method == "auto" else wild(sd.Squared(), 2.3)
    whole = sd.solve(p, method, tol=0, max_epochs=40)
    assert whole.method == {"auto": "cd", "adaspdc": "adaspdc-balanced"}[method]
    part = None
    for epochs in parts:
        part = sd.solve(p, method, tol=0, max_epochs=epochs, start=part)
    assert part.method == whole.method
    same(part, whole)


def test_no_epoch_is_made_beyond_the_last():
    """Not even where a method gives way at the last certificate."""
    for epochs in range(1, 30):
        assert sd.solve(wild(sd.Squared(), 2.3), "adaspdc", tol=0, max_epochs=epochs).epochs == epochs
        assert sd.solve(hard(), "auto", tol=0, max_epochs=epochs, every=1).epochs == epochs


def test_what_converged_has_converged_whatever_the_callback_says():
    result = sd.solve(problem(), "sdca", tol=1e-3, every=1, callback=lambda row: row["gap"] < 1e-4)
    assert result.status is sd.Status.CONVERGED


def test_elastic_net_goes_on_exactly():
    p = problem(penalty=sd.L1L2(0.02, 0.01))
    whole = sd.solve(p, "adaspdc", tol=0, max_epochs=12)
    part = sd.solve(p, "adaspdc", tol=0, max_epochs=5)
    same_x = sd.solve(p, "adaspdc", tol=0, max_epochs=7, start=part)
    assert np.array_equal(whole.state.x, same_x.state.x)


def test_a_start_is_left_alone():
    p = problem()
    part = sd.solve(p, "spdc", tol=0, max_epochs=5)
    before = {name: array.copy() for name, array in part.state.memory.items()}
    sd.solve(p, "spdc", tol=0, max_epochs=5, start=part)
    for name, array in before.items():
        assert np.array_equal(array, part.state.memory[name])


def test_a_solved_problem_takes_no_epoch():
    p = problem()
    done = sd.solve(p, tol=1e-9)
    assert done.status.ok
    for start in (done, (done.x, done.y)):
        again = sd.solve(p, "sdca", tol=1e-9, start=start)
        assert again.epochs == 0
        assert again.status is sd.Status.CONVERGED


def test_a_result_of_another_problem_is_a_warm_start():
    near, far = problem(penalty=sd.L2(0.011)), problem(penalty=sd.L2(0.01))
    start = sd.solve(near, "sdca", tol=1e-10)
    warm, cold = sd.solve(far, "sdca", tol=1e-8, start=start), sd.solve(far, "sdca", tol=1e-8)
    assert warm.status.ok
    assert warm.epochs < cold.epochs
    only_x = sd.solve(far, "sdca", tol=1e-8, start=start.x)
    assert only_x.status.ok


def test_the_cadence_does_not_change_the_iterates():
    p = problem()
    one, two = (sd.solve(p, "adaspdc-balanced", tol=0, max_epochs=20, every=every) for every in (1, 20))
    assert np.array_equal(one.state.x, two.state.x)


# ---- ends ----------------------------------------------------------------------------------------------------------


def test_converged_means_the_gap_is_there():
    for tol in (1e-3, 1e-6, 1e-10):
        result = sd.solve(problem(), tol=tol)
        assert result.status is sd.Status.CONVERGED
        assert result.certificate.relative_gap <= tol
        p = problem()
        assert p.certificate(result.x, result.y).gap == pytest.approx(result.certificate.gap, rel=1e-6, abs=1e-16)


def test_epochs():
    result = sd.solve(problem(), "sag", tol=1e-12, max_epochs=3)
    assert result.status is sd.Status.EPOCHS
    assert result.epochs == 3
    assert result.history["epoch"][-1] == 3
    assert not result.status.ok
    assert "max_epochs" in str(result.status)


def test_no_epochs_is_a_certificate():
    result = sd.solve(problem(), max_epochs=0)
    assert (result.epochs, result.status) == (0, sd.Status.EPOCHS)
    assert result.certificate.gap > 0.0


def test_time_budget():
    began = time.perf_counter()
    result = sd.solve(problem(n=2000, d=50, penalty=sd.L2(1e-7)), "sdca", tol=1e-14, max_epochs=10**6, max_time=0.3)
    assert result.status is sd.Status.TIME
    assert time.perf_counter() - began < 5.0
    assert np.isfinite(result.certificate.gap)


def test_callback_sees_the_history_and_stops():
    seen = []

    def stop(row):
        seen.append(row)
        return len(seen) == 4

    result = sd.solve(problem(), "sdca", tol=1e-12, every=2, callback=stop)
    assert result.status is sd.Status.CALLBACK
    assert [row["epoch"] for row in seen] == [0, 2, 4, 6]
    assert list(seen[-1]) == list(result.history)
    assert seen[-1]["gap"] == result.history["gap"][-1]


def test_truth_and_whole_numbers_of_numpy_count():
    result = sd.solve(problem(), "sdca", tol=1e-12, every=np.int64(2), callback=lambda row: np.bool_(row["epoch"] > 5))
    assert result.status is sd.Status.CALLBACK
    assert result.history["epoch"].tolist() == [0, 2, 4, 6]


def test_a_replay_is_played_whatever_the_callback_says():
    made = sd.method("sdca", sampler=sd.Replay([0, 1, 2]))
    result = sd.solve(problem(), made, callback=lambda row: True)
    assert result.status is sd.Status.REPLAYED and result.epochs == 1


def test_a_start_is_kept_where_the_method_makes_worse_of_it():
    """Dual ascent has no x of its own; the one that it makes of y may be far from the one given."""
    rng = np.random.default_rng(0)
    p = sd.ERM(rng.standard_normal((50, 8)), rng.standard_normal(50), sd.Squared(), sd.L2(1e-6))
    good = sd.solve(p, "cd", tol=1e-9)
    for start in (good, (good.x, good.y)):
        kept = sd.solve(p, "sdca", tol=1e-12, start=start, max_epochs=0)
        assert kept.certificate.gap <= good.certificate.gap * (1.0 + 1e-9)


def test_a_state_of_another_problem_is_a_start_like_others():
    one, two = problem(), problem(seed=1)
    state = sd.solve(one, "pdcp", tol=1e-3).state
    assert sd.solve(two, "pdcp", tol=1e-8, start=state, max_epochs=5000).status.ok
    sparse = sd.ERM(sp.csr_array(one.coupling.rows.matrix()), one.b, one.f, one.g)
    state = sd.solve(one, "spdc", tol=1e-3).state
    assert sd.solve(sparse, "spdc", tol=1e-8, start=state, max_epochs=5000).status.ok


def test_results_and_problems_are_shown_in_lines():
    p = problem()
    assert repr(p) == "<ERM: 60 x 8, Logistic(), L2>"
    assert len(repr(sd.solve(p)).splitlines()) <= 3


def test_a_callback_that_returns_something_true_but_not_true_goes_on():
    assert sd.solve(problem(), "sdca", callback=lambda row: "text").status.ok


def test_tol_0_never_stops_on_gap_or_stall():
    p = problem(n=12, d=3)
    result = sd.solve(p, "sdca", tol=0, max_epochs=900)
    assert (result.status, result.epochs) == (sd.Status.EPOCHS, 900)


def test_stalled():
    result = sd.solve(problem(n=12, d=3), "sdca", tol=1e-40, max_epochs=10**5)
    assert result.status is sd.Status.STALLED or result.certificate.gap == 0.0
    assert result.epochs < 5000


def test_a_row_that_is_rarely_drawn_is_no_stall():
    """The dual residue of one small row is all that is left, and it comes once in thousands of draws."""
    p = sd.ERM([[1.0], [0.8], [0.01]], [1.0, -1.0, 1.0], sd.Hinge(), sd.L2(0.1))
    assert sd.solve(p, "iprox-sdca", tol=1e-8, max_epochs=100000).status.ok


def test_a_time_budget_ends_an_epoch_of_n_passes():
    rng = np.random.default_rng(0)
    p = sd.ERM(rng.standard_normal((4000, 100)), np.sign(rng.standard_normal(4000)), sd.Logistic(), sd.L2(1e-2))
    sd.solve(p, "adasdca", tol=0.5, max_time=0.01)
    result = sd.solve(p, "adasdca", tol=1e-12, max_time=0.1)
    assert result.status is sd.Status.TIME
    assert result.seconds < 0.5
    assert 0.0 < result.history["passes"][-1] < 4000.0


def test_history_columns_and_costs():
    result = sd.solve(problem(), "adasdca+", tol=0, max_epochs=6, every=1)
    history = result.history
    assert list(history) == ["epoch", "passes", "certificate_passes", "seconds", "primal", "dual", "gap"]
    assert history["epoch"].tolist() == list(range(7))
    np.testing.assert_allclose(history["passes"], 2.0 * np.arange(7))  # the residues of option I are a pass
    assert history["certificate_passes"].tolist() == list(range(1, 8))
    assert (np.diff(history["seconds"]) >= 0.0).all()
    np.testing.assert_allclose(history["primal"] - history["dual"], history["gap"], rtol=1e-9, atol=1e-15)
    pandas = pytest.importorskip("pandas")
    assert isinstance(history.to_pandas(), pandas.DataFrame)
    assert len(sd.solve(problem(), history=False).history["gap"]) <= 2
    with pytest.raises(KeyError, match="no column 'loss'"):
        history["loss"]


def test_auto_cadence_costs_little():
    """Certificates at every sixth epoch's worth of work or rarer, but for the last ones before tol."""
    result = sd.solve(problem(n=400, d=40, penalty=sd.L2(1e-5)), "spdc", tol=0, max_epochs=300)
    assert 300 / 40 <= result.history["gap"].size <= 300 / 3


def test_the_best_point_is_kept():
    p = problem(spread=1.5, penalty=sd.L2(1e-4))
    result = sd.solve(p, sd.method("adaspdc", fallback=None), tol=1e-12, max_epochs=60, every=1)
    assert result.certificate.gap == result.history["gap"].min()


def test_progress_bar(capsys):
    sd.solve(problem(), "sdca", progress=True)
    assert "epoch" in capsys.readouterr().err


# ---- published AdaSPDC, which can fail -----------------------------------------------------------------------------


def wild(loss, spread):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 150))
    R = np.exp(spread * rng.standard_normal(400))
    X *= (R / np.linalg.norm(X, axis=1))[:, None]
    z = X @ rng.standard_normal(150)
    b = np.where(z > 0.0, 1.0, -1.0) if loss.__class__.__name__ in ("Logistic", "SmoothHinge") else z
    return sd.ERM(X, b, loss, sd.L2(0.1 * float(np.mean(R**2)) / 400))


@pytest.mark.parametrize("spread", [1.0, 2.3])
@pytest.mark.parametrize(
    "loss", [sd.Squared(), sd.SmoothHinge(), sd.Logistic(), sd.Huber()], ids=lambda f: type(f).__name__
)
def test_unequal_rows(loss, spread):
    p = wild(loss, spread)
    assert sd.solve(p, "adaspdc-balanced", tol=1e-8, max_epochs=300).status.ok
    bare = sd.solve(p, sd.method("adaspdc", fallback=None), tol=1e-8, max_epochs=300)
    assert bare.status.ok == (bare.certificate.relative_gap <= 1e-8)
    assert p.certificate(bare.x, bare.y).relative_gap == pytest.approx(bare.certificate.relative_gap, rel=1e-6)
    assert sd.solve(p, "adaspdc", tol=1e-8, max_epochs=400).status.ok


def test_divergence_is_noticed_and_said():
    p = wild(sd.Squared(), 2.3)
    bare = sd.solve(p, sd.method("adaspdc", fallback=None), tol=1e-8, max_epochs=300)
    assert bare.status is sd.Status.DIVERGED
    assert np.isfinite(bare.x).all()
    assert bare.certificate.primal <= p.primal(np.zeros(150)) * (1.0 + 1e-12)
    saved = sd.solve(p, "adaspdc", tol=1e-8, max_epochs=400)
    assert saved.status.ok
    assert saved.method == "adaspdc-balanced"
    assert any("adaspdc-balanced" in note for note in saved.notes)
    batches = sd.solve(p, sd.method("adaspdc", batch_size=2), tol=1e-3, max_epochs=2000)
    assert batches.method in ("adaspdc", "adaspdc-sigma")


def test_overflow_is_divergence_not_success():
    p = wild(sd.Squared(), 2.3)
    bare = sd.solve(p, sd.method("adaspdc", fallback=None), tol=1e-8, max_epochs=400, every=400)
    assert bare.status is sd.Status.DIVERGED
    assert np.isfinite(bare.x).all()


def test_replay_never_falls_back_and_ends_when_played():
    p = wild(sd.Squared(), 2.3)
    result = sd.solve(p, sd.method("adaspdc", sampler=sd.Replay(np.arange(4000) % 400)), tol=1e-2)
    assert result.status is sd.Status.REPLAYED
    assert result.method == "adaspdc"
    assert result.notes == []
    assert np.array_equal(result.x, result.state.x)


def test_auto_changes_its_mind_where_the_gaps_say_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 30)) @ np.diag(np.linspace(1.0, 0.05, 30))
    p = sd.ERM(X, X @ rng.standard_normal(30) + rng.standard_normal(3000), sd.Squared(), sd.L2(1e-7))
    result = sd.solve(p, tol=1e-8, max_epochs=20000)
    assert result.status.ok
    assert result.method == "ada-spdc"  # the data are strongly convex, and lam is not
    assert any(note.startswith("auto:") for note in result.notes)
    mild = sd.ERM(X, p.b, sd.Squared(), sd.L2(3e-3 * float((X**2).sum()) / 3000**2))
    result = sd.solve(mild, tol=1e-8, max_epochs=20000)
    assert result.status.ok and result.method == "cd"
    spread = np.exp(2.0 * rng.standard_normal(60))[:, None]  # rows of very unequal norm, and more columns than rows
    wide = sd.ERM(rng.standard_normal((60, 100)) * spread, rng.standard_normal(60), sd.Squared(), sd.L2(1e-3))
    result = sd.solve(wide, tol=1e-8, max_epochs=20000)
    assert result.status.ok and result.method == "adaspdc-balanced"


@pytest.mark.parametrize("lam", [1e-4, 1e-8])
def test_auto_leaves_a_hopeless_choice_within_some_epochs(lam):
    """However long it would take the last choice: what is proved for it says nothing where lam is tiny."""
    rng = np.random.default_rng(0)
    X, b = rng.standard_normal((10, 5)), rng.standard_normal(10)
    result = sd.solve(sd.ERM(X, 10.0 * b, sd.Huber(), sd.Box(-0.3, 0.5, lam)), tol=1e-8)
    assert result.status.ok and result.epochs < 200
    scaled = sd.ERM(rng.standard_normal((50, 3)) * [1e6, 1.0, 1e-6], rng.standard_normal(50), sd.Squared(), sd.L2(0.1))
    result = sd.solve(scaled, tol=1e-8)
    assert result.status.ok and result.epochs < 200


@pytest.mark.parametrize(
    ("loss", "penalty", "first"),
    [
        (sd.Logistic(), sd.L2(0.1), "adasdca+"),
        (sd.Hinge(), sd.L2(0.1), "sdca"),
        (sd.Logistic(), sd.L1(0.1), "cd"),
        (sd.Logistic(), sd.GroupL2(0.1, [0, 0, 1, 1]), "ada-bpd"),
        (sd.Softmax(2), sd.L2(0.1), "adaspdc-balanced"),
    ],
)
def test_auto_chooses_what_can_solve(loss, penalty, first):
    rng = np.random.default_rng(0)
    b = rng.integers(0, 2, 30)
    p = sd.ERM(rng.standard_normal((30, 4)), b if isinstance(loss, sd.Softmax) else 2.0 * b - 1.0, loss, penalty)
    result = sd.solve(p, tol=1e-7, max_epochs=20000)
    assert result.method == first
    assert result.status.ok


def test_auto_says_when_nothing_can():
    p = sd.ERM(np.ones((3, 2)), [1.0, -1.0, 1.0], sd.Hinge(), sd.GroupL2(0.1, [0, 0]))
    with pytest.raises(ValueError, match=r"no method can solve this problem.*lam > 0"):
        sd.solve(p)


# ---- Ctrl-C, checkpoints, kill -9 ----------------------------------------------------------------------------------


def test_ctrl_c_returns_the_best_point():
    p = problem(n=500, d=20, penalty=sd.L2(1e-9))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    result = sd.solve(p, "sdca", tol=0, max_epochs=10**7, max_time=20.0)
    assert result.status is sd.Status.INTERRUPTED
    assert p.certificate(result.x, result.y).gap == pytest.approx(result.certificate.gap, rel=1e-6)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # the handler is back


def test_checkpoint_resumes_bit_for_bit(tmp_path):
    p, path = problem(intercept=True), tmp_path / "run.npz"
    for method in ("adasdca+", "adaspdc-sigma", "cd"):
        whole = sd.solve(p, method, tol=0, max_epochs=40, every=3)
        sd.solve(p, method, tol=0, max_epochs=17, every=3, checkpoint=path)
        resumed = sd.solve(p, method, tol=0, max_epochs=40, every=3, checkpoint=path)
        assert np.array_equal(whole.state.x, resumed.state.x)
        assert whole.state.random == resumed.state.random
        assert resumed.epochs == 40
        path.unlink()


SCRIPT = """
import json, sys
import numpy as np
import saddlery as sd

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 40))
b = np.where(X @ rng.standard_normal(40) + rng.standard_normal(3000) > 0, 1.0, -1.0)
problem = sd.ERM(X, b, sd.Logistic(), sd.L2(1e-6))
path = sys.argv[1] if len(sys.argv) > 1 else None
result = sd.solve(problem, "adaspdc-balanced", tol=0, max_epochs=400, every=4, checkpoint=path)
print(json.dumps([result.x.tobytes().hex(), result.y.tobytes().hex(), result.certificate.gap, result.epochs,
                  result.history["gap"].tolist()]))
"""


def test_kill_9_and_resume_is_the_uninterrupted_run(tmp_path):
    def run(*arguments):
        return subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stdout=subprocess.PIPE, env={**os.environ})

    whole = json.loads(run().communicate(timeout=120)[0])
    path, kills = tmp_path / "run.npz", 0
    for _ in range(3):
        process = run(str(path))
        began = time.monotonic()
        size = -1.0
        while process.poll() is None and time.monotonic() - began < 60.0:
            stamp = path.stat().st_mtime if path.exists() else -1.0
            if stamp != size and size > 0.0:  # it has moved on since the last checkpoint that was seen
                time.sleep(0.05)
                process.kill()
                kills += 1
                break
            size = stamp
            time.sleep(0.01)
        process.communicate()
    assert kills > 0, "the run ended before it could be killed"
    assert [name.name for name in tmp_path.iterdir() if name.suffix == ".npz"] == ["run.npz"]
    resumed = json.loads(run(str(path)).communicate(timeout=120)[0])
    assert resumed == whole


def test_a_fallback_survives_a_checkpoint(tmp_path):
    p, path = wild(sd.Squared(), 2.3), tmp_path / "run.npz"
    whole = sd.solve(p, "adaspdc", tol=1e-8, max_epochs=400)
    sd.solve(p, "adaspdc", tol=1e-8, max_epochs=whole.epochs - 2, checkpoint=path)
    resumed = sd.solve(p, "adaspdc", tol=1e-8, max_epochs=400, checkpoint=path)
    assert resumed.method == whole.method == "adaspdc-balanced"
    assert resumed.notes == whole.notes
    assert resumed.status.ok


def test_checkpoints_of_others_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    sd.solve(problem(), "sdca", max_epochs=3, checkpoint=path)
    with pytest.raises(ValueError, match="of another problem"):
        sd.solve(problem(seed=1), "sdca", checkpoint=path)
    with pytest.raises(ValueError, match="of another problem"):
        sd.solve(problem(penalty=sd.L2(0.02)), "sdca", checkpoint=path)
    with pytest.raises(ValueError, match="run of sdca"):
        sd.solve(problem(), "spdc", checkpoint=path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="not a checkpoint that can be read"):
        sd.solve(problem(), "sdca", checkpoint=path)
    np.savez(path, meta=np.frombuffer(b"[1]", dtype=np.uint8))
    with pytest.raises(ValueError, match="not a checkpoint that can be read"):
        sd.solve(problem(), "sdca", checkpoint=path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(ValueError, match="not a checkpoint that can be read"):
        sd.solve(problem(), "sdca", checkpoint=path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="not a checkpoint that can be read"):
        sd.solve(problem(), "sdca", checkpoint=path)
    path.write_text("not an archive")
    with pytest.raises(ValueError, match="not a checkpoint that can be read"):
        sd.solve(problem(), "sdca", checkpoint=path)


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    sd.solve(problem(), "sdca", tol=0, max_epochs=3, checkpoint=path)
    good = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.np, "savez", full)
    result = sd.solve(problem(), "sdca", tol=0, max_epochs=9, checkpoint=path)
    assert result.epochs == 9
    assert any("could not be written" in note for note in result.notes)
    assert path.read_bytes() == good
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_threads_may_solve_side_by_side():
    p = problem()
    alone = sd.solve(p, "sdca", tol=0, max_epochs=20)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(sd.solve(p, "sdca", tol=0, max_epochs=20))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for result in found:
        assert np.array_equal(result.state.x, alone.state.x)


# ---- what is at its end, and what only creeps


@pytest.mark.parametrize("method", ["spdc", "adaspdc-balanced", "bpd"])
def test_slow_is_not_stalled(method):
    """Badly conditioned rows of equal norm: hundreds of epochs for a factor e, and the gap may rise before it falls."""
    rng = np.random.default_rng(0)
    X, b = rng.standard_normal((100, 80)), rng.standard_normal(100)
    for k in (1e-5, 1e-7):
        problem = sd.ERM(X, b, sd.Huber(), sd.L2(k * np.mean((X**2).sum(axis=1)) / 100))
        assert sd.solve(problem, method, max_epochs=600).status is sd.Status.EPOCHS


@pytest.mark.parametrize("seed", range(4))
def test_auto_goes_on_bit_for_bit_wherever_it_was_cut(seed, tmp_path):
    """Also where the cut is at the certificate at which another method takes over, or just before it."""
    rng = np.random.default_rng(seed)
    problem = sd.ERM(rng.standard_normal((60, 15)), rng.standard_normal(60), sd.Squared(), sd.L2(1e-3), intercept=True)
    whole = sd.solve(problem, tol=1e-30, max_epochs=40)
    assert whole.method != "adasdca+"
    for cut in range(1, 40):
        first = sd.solve(problem, tol=1e-30, max_epochs=cut, checkpoint=tmp_path / f"{cut}.npz")
        np.testing.assert_array_equal(
            sd.solve(problem, tol=1e-30, max_epochs=40 - cut, start=first).state.x, whole.state.x
        )
        again = sd.solve(problem, tol=1e-30, max_epochs=40, checkpoint=tmp_path / f"{cut}.npz")
        np.testing.assert_array_equal(again.state.x, whole.state.x)


@pytest.mark.parametrize("method", ["cd", "pdcp", "auto"])
@pytest.mark.parametrize("options", [{}, {"max_epochs": 5}, {"max_time": 0.0}], ids=str)
def test_a_run_on_disk_that_is_at_its_end_stays_there(method, options, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    problem = sd.ERM(X, np.sign(rng.standard_normal(200)), sd.Logistic(), sd.L2(1e-2))
    runs = [sd.solve(problem, method, checkpoint=tmp_path / "run.npz", **options) for _ in range(3)]
    assert len({run.status for run in runs}) == len({run.epochs for run in runs}) == 1
    for run in runs[1:]:
        np.testing.assert_array_equal(run.history["epoch"], runs[0].history["epoch"])
        np.testing.assert_array_equal(run.x, runs[0].x)


def test_a_checkpoint_is_of_its_sampler_too(tmp_path):
    problem = sd.ERM(np.eye(5), np.arange(5.0), sd.Squared(), sd.L2(0.1))
    path = tmp_path / "run.npz"
    sd.solve(problem, sd.method("sdca", sampler=sd.Weighted(np.arange(1.0, 6.0))), max_epochs=2, tol=0, checkpoint=path)
    with pytest.raises(ValueError, match="is the checkpoint of a run of sdca"):
        sd.solve(problem, "sdca", checkpoint=path)


@pytest.mark.parametrize("sampler", [3, sd.Uniform, "uniform"])
def test_what_is_no_sampler_is_refused(sampler):
    with pytest.raises(TypeError, match="sampler must be a sampler such as"):
        sd.method("sdca", sampler=sampler)


# ---- auto, where lam is tiny


class Bare(NamedTuple):
    """The squared loss, of which nobody says what the prox of the conjugate is."""

    def smoothness(self):
        return 1.0

    def value(self, z, b):
        return (z - b) * (z - b) / 2.0

    def grad(self, z, b):
        return z - b

    def conj(self, y, b):
        return y * y / 2.0 + b * y


def test_auto_never_hands_over_to_a_method_that_cannot():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 15)) + 5.0 * rng.standard_normal((60, 1))
    X *= np.exp(1.5 * rng.standard_normal(60))[:, None]
    problem = sd.ERM(X, X @ rng.standard_normal(15) + rng.standard_normal(60), Bare(), sd.L2(1e-2))
    result = sd.solve(problem, tol=1e-8, max_epochs=500)
    assert result.method == "cd" and result.status in (sd.Status.CONVERGED, sd.Status.EPOCHS)


@pytest.mark.parametrize("lam", [1e-4, 1e-8])
def test_auto_on_columns_of_very_different_scale(lam):
    """Only cd does not mind; what is proved for the others says nothing."""
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((400, 12)) + 1.0) * 10.0 ** rng.uniform(-2, 2.5, 12)
    problem = sd.ERM(X, X @ rng.standard_normal(12) + rng.standard_normal(400), sd.Squared(), sd.L2(lam))
    assert sd.solve(problem, tol=1e-6, max_epochs=20000).status.ok


@pytest.mark.parametrize("lam", [1e-6, 1e-8])
def test_auto_on_softmax_with_a_tiny_penalty(lam):
    rng = np.random.default_rng(0)
    problem = sd.ERM(rng.standard_normal((200, 10)), rng.integers(0, 3, 200), sd.Softmax(3), sd.L2(lam))
    result = sd.solve(problem, max_epochs=300)
    assert result.status.ok


def test_the_best_x_is_certified_by_the_best_y_of_another_epoch():
    """With a tiny lam most lower bounds are worthless, and the pair of the smallest gap is x = 0, y = 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    b = np.where(X @ rng.standard_normal(10) + 0.1 * rng.standard_normal(200) > 0.0, 1.0, -1.0)
    problem = sd.ERM(X, b, sd.Logistic(), sd.L2(1e-9))
    result = sd.solve(problem, "saga", tol=1e-12, max_epochs=200)
    made = problem.certificate(result.x, result.y)
    assert made.gap == pytest.approx(result.certificate.gap, rel=1e-9)
    assert result.certificate.primal <= 1.2 * min(result.history["primal"])  # a new pair is made where it is worth it
    assert result.certificate.relative_gap < 0.2
