"""Newton's method for small problems: exact to rounding, from anywhere, whatever the scale of the columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp

import saddlery as sd
from saddlery.algorithms._model import minimise, solved
from saddlery.algorithms._system import size
from saddlery.algorithms.newton import MOST
from saddlery.terms import _verbs, labels

RNG = np.random.default_rng(3)


def problem(loss, penalty, n=60, d=8, intercept=True, sparse=False, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(2.0 * rng.standard_normal(d))
    X[rng.random(X.shape) < 0.2] = 0.0
    z = X @ (rng.standard_normal(d) / np.abs(X).max(axis=0)) + rng.standard_normal(n)
    kind = {"margin": np.where(z > 0.0, 1.0, -1.0), "class": np.digitize(z, [-0.5, 0.5]), "real": 2.0 * z}
    b = kind[labels(loss)]
    c = rng.uniform(0.0, 2.0, n) if weighted else None
    return sd.ERM(sp.csr_array(X) if sparse else X, b, loss, penalty, intercept=intercept, weights=c)


LOSSES = [
    sd.Squared(),
    sd.Squared(2.5),
    sd.Logistic(),
    sd.SmoothHinge(0.5),
    sd.SquaredHinge(),
    sd.Huber(0.7),
    sd.SquaredEpsilonInsensitive(0.3),
    sd.Softmax(3),
]
PENALTIES = [
    sd.L2(1e-3),
    sd.L1L2(0.02, 1e-3),
    sd.NonNegative(1e-2, 0.01),
    sd.Box(-0.2, 0.3, 1e-3),
    sd.L1(0.03),
    sd.Box(-0.2, 0.3),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(60, 8), (30, 90)])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_exact_to_rounding_in_a_few_steps(loss, penalty, shape, sparse):
    p = problem(loss, penalty, *shape, sparse=sparse)
    slow = isinstance(loss, sd.SmoothHinge) and shape[0] < shape[1]  # flat and linear pieces, hardly any between them
    found = sd.solve(p, "newton", tol=1e-12, max_epochs=300 if slow else 60, every=1)
    assert found.status.ok, str(found)
    assert p.certificate(found.x, found.y).relative_gap <= 1.1e-12


@pytest.mark.parametrize("penalty", [sd.L2(1e-3), sd.L1L2(0.02, 1e-3), sd.L1(0.05)], ids=str)
@pytest.mark.parametrize("loss", [sd.Hinge(), sd.Absolute(), sd.EpsilonInsensitive(0.2)], ids=str)
def test_losses_that_are_not_smooth_by_proximal_points(loss, penalty):
    p = problem(loss, penalty)
    found = sd.solve(p, "newton", tol=1e-7, max_epochs=400)
    assert found.status.ok, str(found)
    started = sd.solve(p, sd.method("newton", sigma=30.0), tol=1e-7, max_epochs=400, start=(found.x, found.y))
    assert started.status.ok and started.epochs == 0


@pytest.mark.parametrize("far", [0.0, 1e2, 1e6])
def test_it_comes_from_far(far):
    p = problem(sd.Logistic(), sd.L2(1e-4))
    start = far * np.random.default_rng(0).standard_normal(p.x_shape)
    assert sd.solve(p, "newton", tol=1e-10, max_epochs=200, start=start).status.ok


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_columns_far_from_zero_cost_nothing_beside_an_intercept(offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    b = np.sign(X[:, 0] + rng.standard_normal(80))
    near, far = (sd.ERM(X + k, b, sd.Logistic(), sd.L2(0.01), intercept=True) for k in (0.0, offset))
    near, far = sd.solve(near, "newton", tol=1e-12), sd.solve(far, "newton", tol=1e-12)
    np.testing.assert_allclose(far.x[:-1], near.x[:-1], rtol=1e-7)


def test_least_squares_of_least_norm():
    X = RNG.standard_normal((20, 50))
    b = RNG.standard_normal(20)
    for lam in (0.0, 1e-18):
        found = sd.solve(sd.ERM(X, b, sd.Squared(), sd.L2(lam)), "newton", tol=1e-12)
        np.testing.assert_allclose(found.x, np.linalg.lstsq(X, b, rcond=None)[0], rtol=1e-8)


def test_the_system_is_of_rows_where_they_are_fewer_and_the_same():
    wide = problem(sd.Logistic(), sd.L2(0.01), 20, 60)
    assert size(wide) == 20
    x = sd.solve(wide, "newton", tol=1e-13).x
    other = problem(sd.Logistic(), sd.L1L2(0.0, 0.01), 20, 60)  # the same penalty, minimised by columns
    assert size(other) == 61
    np.testing.assert_allclose(sd.solve(other, "newton", tol=1e-13).x, x, atol=1e-7 * np.abs(x).max())


def test_what_is_too_large_is_refused():
    X = sp.random_array((5, MOST + 10), density=0.01, rng=0, format="csr")
    p = sd.ERM(X, RNG.standard_normal(5), sd.Squared(), sd.L1L2(0.1, 0.1))
    with pytest.raises(ValueError, match=f"at most {MOST} columns"):
        sd.solve(p, "newton")
    with pytest.raises(ValueError, match="sigma must be"):
        sd.method("newton", sigma=0.0)
    blocks = [RNG.standard_normal((4, 2)) for _ in range(6)]
    with pytest.raises(ValueError, match="general blocks"):
        sd.solve(sd.SeparableSaddle(blocks, sd.Squared(), sd.L2(0.1), b=[np.ones(2)] * 6), "newton")


def test_solved_takes_singular_matrices():
    A = RNG.standard_normal((6, 4)) @ RNG.standard_normal((4, 6))
    H = A.T @ A
    r = H @ RNG.standard_normal(6)
    np.testing.assert_allclose(H @ solved(H, r), r, rtol=1e-6, atol=1e-6 * np.abs(r).max())
    np.testing.assert_allclose(solved(np.zeros((2, 2)), np.ones(2)), 0.0)
    scales = np.diag(np.logspace(-8, 8, 6))
    full = scales @ la.hilbert(6) @ scales
    x = RNG.standard_normal(6) / np.diag(scales)
    np.testing.assert_allclose(solved(full, full @ x), x, rtol=1e-6)


@pytest.mark.parametrize("g", [sd.L1(0.3), sd.L1L2(0.2, 0.1), sd.NonNegative(0.0, 0.1), sd.Box(-0.1, 0.2)], ids=str)
@pytest.mark.parametrize("condition", [1.0, 1e6])
def test_the_model_is_minimised(g, condition):
    """Against coordinate descent until nothing moves."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((30, 7)) * np.logspace(0, math.log10(condition) / 2.0, 7)
    H, r = A.T @ A / 30, rng.standard_normal(7) * np.logspace(0, math.log10(condition) / 2.0, 7)
    x0 = np.array([_verbs.prox(g, 0.0, 1.0)] * 7)
    made = minimise(g, _verbs.modulus(g), H, r, x0, 1)
    slow = x0.copy()
    for _ in range(20_000):
        for j in range(7):
            v = slow[j] - (r + H @ (slow - x0))[j] / H[j, j]
            slow[j] = v if j == 6 else _verbs.prox(g, v, 1.0 / H[j, j])
        if condition == 1.0 and _ > 2000:
            break

    def value(x):
        e = x - x0
        return r @ e + e @ H @ e / 2.0 + sum(_verbs.value(g, t) for t in x[:-1])

    assert value(made) <= value(slow) + 1e-9 * abs(value(slow))
