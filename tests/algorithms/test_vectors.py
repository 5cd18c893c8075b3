"""Trajectories of every coordinate method on problems given by formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from vectors import ASCENTS, BATCHES, OPTIMA, PROBLEMS, STEPS, batches, data, rows, stream

import saddlery as sd

CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def problem(name: str, storage: str = "dense") -> sd.Problem:
    spread, loss, labels = PROBLEMS[name]
    arrays = data(spread)
    A = arrays[0] if storage == "dense" else sp.csr_array(arrays[0])
    return sd.ERM(A, arrays[labels], loss, sd.L2(0.05))


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize(("name", "method"), STEPS)
def test_forty_primal_dual_steps(name, method, storage):
    p = problem(name, storage)
    made = sd.method(method, sampler=sd.Replay(rows(40)))
    result = sd.solve(p, made, tol=0)
    assert result.status is sd.Status.REPLAYED
    x, y = result.state.x, result.state.y
    found = (p.primal(x), p.dual(y), x[0], made.extrapolated(p, result.state)[0])
    np.testing.assert_allclose(found, STEPS[name, method], **CLOSE)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_three(name):
    p = problem(name)
    result = sd.solve(p, sd.method("adaspdc", batch_size=3, sampler=sd.Replay(batches(20, 3))))
    found = (p.primal(result.x), p.dual(result.y), result.x[0])
    np.testing.assert_allclose(found, BATCHES[name], **CLOSE)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sdca(name):
    p = problem(name)
    result = sd.solve(p, sd.method("sdca", sampler=sd.Replay(rows(40))))
    np.testing.assert_allclose((p.primal(result.x), p.dual(result.y)), ASCENTS[name, "sdca"], **CLOSE)


def inverted(weights: np.ndarray, chance: float) -> int:
    """The row whose stretch of the cumulative weights, in index order, holds the chance."""
    return int(np.searchsorted(np.cumsum(weights), chance * weights.sum(), side="right"))


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_adasdca_plus(name, option):
    """The method's own weights at the start of each epoch, divided by 10 as rows are drawn by inversion."""
    p, chances = problem(name), iter(stream(36) / 2**31)
    plus = sd.method("adasdca+", option=option, shrink=10)
    state = plus.init(p, np.zeros(6), np.zeros(12))
    for _ in range(3):
        weights, drawn = plus.weights(p, state).copy(), []
        for _ in range(12):
            drawn.append(inverted(weights, next(chances)))
            weights[drawn[-1]] /= 10.0
        state = sd.method("adasdca+", sampler=sd.Replay(drawn)).epoch(p, state, None)
    x, y = plus.iterate(p, state)
    np.testing.assert_allclose((p.primal(x), p.dual(y)), ASCENTS[name, option], **CLOSE)


@pytest.mark.parametrize("name", PROBLEMS)
def test_adasdca(name):
    class Chances:
        """A generator that plays the stream."""

        def __init__(self):
            self.left = list(stream(36) / 2**31)

        def random(self):
            return self.left.pop(0)

    p, method, rng = problem(name), sd.method("adasdca"), Chances()
    state = method.init(p, np.zeros(6), np.zeros(12))
    for _ in range(3):
        state = method.epoch(p, state, rng)
    x, y = method.iterate(p, state)
    np.testing.assert_allclose((p.primal(x), p.dual(y)), ASCENTS[name, "adasdca"], **CLOSE)


@pytest.mark.parametrize("name", OPTIMA)
def test_optimum(name):
    result = sd.solve(problem(name), "adaspdc-balanced", tol=1e-14, max_epochs=5000)
    assert result.certificate.primal == pytest.approx(OPTIMA[name], rel=1e-12)


@pytest.mark.parametrize("method", ["spdc", "spdc-nonuniform", "adaspdc", "adaspdc-balanced", "adaspdc-sigma", "sag"])
def test_saddle_point_is_a_fixed_point(method):
    A = data()[0]
    b, x, y = sd.synthetic.exact_saddle(A, loss="squared", lam=0.05, seed=1)
    p = sd.ERM(A, b, sd.Squared(), sd.L2(0.05))
    result = sd.solve(p, sd.method(method, sampler=sd.Replay(rows(200))), start=(x, y))
    np.testing.assert_allclose(result.x, x, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(result.y, y, rtol=1e-9, atol=1e-11)


def test_general_blocks_of_one_line_are_rows():
    A, targets, _ = data()
    erm = sd.ERM(A, targets, sd.Huber(), sd.L2(0.05))
    blocks = sd.SeparableSaddle([row[:, None] for row in A], sd.Huber(), sd.L2(0.05), b=[[t] for t in targets])
    for method in ("spdc", "adaspdc", "adaspdc-balanced"):
        made = sd.method(method, sampler=sd.Replay(rows(40)))
        one, two = sd.solve(erm, made), sd.solve(blocks, made)
        np.testing.assert_allclose(one.x, two.x, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(one.y, two.y, rtol=1e-12, atol=1e-14)
        assert one.certificate.gap == pytest.approx(two.certificate.gap, rel=1e-9)
