"""Every rival is told of the very problem: what it answers is certified, by our certificate, to be the minimiser."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.report.rival_solvers import rivals
from saddlery.report.rivals import ask

RNG = np.random.default_rng(0)
N, D = 60, 5
X = RNG.standard_normal((N, D))
REAL = X @ RNG.standard_normal(D) + 0.3 * RNG.standard_normal(N)
SIGNS = np.where(REAL + 0.5 * RNG.standard_normal(N) > 0.0, 1.0, -1.0)
CLASSES = (np.digitize(REAL, np.quantile(REAL, [0.3, 0.6]))).astype(float)
WEIGHTS = RNG.uniform(0.2, 2.0, N)

# loss, labels, penalty, intercept
CASES = {
    "logistic l2": (sd.Logistic(), SIGNS, sd.L2(0.05), False),
    "logistic l2 intercept": (sd.Logistic(), SIGNS, sd.L2(0.05), True),
    "logistic l1": (sd.Logistic(), SIGNS, sd.L1(0.02), False),
    "logistic elastic net": (sd.Logistic(), SIGNS, sd.L1L2(0.01, 0.03), True),
    "softmax": (sd.Softmax(3), CLASSES, sd.L2(0.05), True),
    "ridge": (sd.Squared(), REAL, sd.L2(0.05), False),
    "ridge intercept": (sd.Squared(), REAL, sd.L2(0.05), True),
    "lasso": (sd.Squared(), REAL, sd.L1(0.05), True),
    "elastic net": (sd.Squared(), REAL, sd.L1L2(0.05, 0.02), False),
    "nonnegative": (sd.Squared(), REAL, sd.NonNegative(0.02), False),
    "nonnegative l1": (sd.Squared(), REAL, sd.NonNegative(0.02, 0.01), False),
    "squared hinge": (sd.SquaredHinge(), SIGNS, sd.L2(0.05), False),
    "squared hinge l1": (sd.SquaredHinge(), SIGNS, sd.L1(0.02), False),
    "hinge": (sd.Hinge(), SIGNS, sd.L2(0.05), False),
    "smooth hinge": (sd.SmoothHinge(0.5), SIGNS, sd.L2(0.05), False),
    "absolute": (sd.Absolute(), REAL, sd.L2(0.05), False),
    "insensitive": (sd.EpsilonInsensitive(0.1), REAL, sd.L2(0.05), False),
    "squared insensitive": (sd.SquaredEpsilonInsensitive(0.1), REAL, sd.L2(0.05), False),
}


def gap(problem, x):
    """Of x, with the dual point of our own solution."""
    ours = sd.solve(problem, tol=1e-12, max_epochs=20_000)
    return problem.certificate(x, ours.y).relative_gap


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_rivals_solve_the_same_problem(name, matrix):
    loss, labels, penalty, intercept = CASES[name]
    problem = sd.ERM(matrix(X), labels, loss, penalty, intercept=intercept)
    found = rivals(problem)
    names = [rival.name for rival in found]
    assert names or name == "smooth hinge", "scikit-learn can solve this"
    assert len(set(names)) == len(names)
    for rival in found:
        answer = ask(rival, problem, 3000)
        assert answer.x.shape == problem.x_shape
        assert answer.seconds > 0.0
        assert gap(problem, answer.x) < 1e-5, rival.name


@pytest.mark.parametrize("name", ["logistic l2 intercept", "ridge", "squared hinge", "lasso"])
def test_rivals_are_told_of_weights(name):
    loss, labels, penalty, intercept = CASES[name]
    problem = sd.ERM(X, labels, loss, penalty, intercept=intercept, weights=WEIGHTS)
    found = rivals(problem)
    assert found
    for rival in found:
        assert rival.weighted
        assert gap(problem, ask(rival, problem, 3000).x) < 1e-5, rival.name


def test_one_iteration_is_not_the_end():
    """A budget is kept: else the curves would be flat."""
    problem = sd.ERM(X, SIGNS, sd.Logistic(), sd.L2(1e-4))
    saga = next(rival for rival in rivals(problem) if rival.name == "scikit-learn saga")
    few, many = ask(saga, problem, 2), ask(saga, problem, 2000)
    assert (few.iterations, few.x.size) == (2, D)
    assert gap(problem, few.x) > 100.0 * gap(problem, many.x)


def test_problems_without_rivals_have_none():
    blocks = sd.SeparableSaddle([X[:30].T, X[30:].T], sd.Squared(), sd.L2(0.1))
    groups = sd.ERM(X, REAL, sd.Squared(), sd.GroupL2(0.1, np.array([0, 0, 1, 1, 1])))
    huber = sd.ERM(X, REAL, sd.Huber(), sd.L2(0.1), intercept=True)
    assert [rivals(problem) for problem in (blocks, groups, huber)] == [[], [], []]


def test_liblinear_is_left_out_where_it_would_penalise_the_intercept():
    problem = sd.ERM(X, SIGNS, sd.SquaredHinge(), sd.L2(0.1), intercept=True)
    assert rivals(problem) == []
