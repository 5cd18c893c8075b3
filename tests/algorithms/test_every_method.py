"""Every method reaches a gap of 1e-8 on every loss and penalty that its needs accept, and agrees with the rest.

The methods are found by looking; a new file in algorithms/, or a new term, joins by itself.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.algorithms import METHODS, missing
from saddlery.terms import LOSSES
from saddlery.terms import labels as kind_of

N, D = 24, 6
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)) * np.exp(0.5 * RNG.standard_normal(N))[:, None]
X[3] = 0.0
X[RNG.random((N, D)) < 0.3] = 0.0
REAL = X @ RNG.standard_normal(D) + 0.3 * RNG.standard_normal(N)
MARGIN = np.where(REAL > 0.0, 1.0, -1.0)
MARGIN[:3] *= -1.0
CLASS = RNG.integers(0, 3, N)
WEIGHTS = RNG.uniform(0.0, 2.0, N)
WEIGHTS[5] = 0.0

SUBLINEAR = ("svrg", "saga")  # where nothing is strongly convex

PARAMETERS = {"SmoothHinge": (0.5,), "Huber": (0.7,), "Softmax": (3,)}


def penalties(size: int):
    groups = np.arange(size) % 3
    return {
        "L2": sd.L2(0.02),
        "no penalty": sd.Zero(),
        "L1": sd.L1(0.05),
        "elastic net": sd.L1L2(0.03, 0.02),
        "box": sd.Box(-0.3, 0.4),
        "box, lam": sd.Box(0.1, 0.5, 0.05),
        "nonnegative": sd.NonNegative(),
        "nonnegative, lam": sd.NonNegative(0.03),
        "groups": sd.GroupL2(0.05, groups),
        "groups, lam": sd.GroupL2(0.05, groups, 0.03),
    }


def labels(loss):
    return {"real": REAL, "margin": MARGIN, "class": CLASS}[kind_of(loss)]


@pytest.mark.parametrize("variant", ["dense", "sparse", "intercept", "sparse, weights, intercept"])
@pytest.mark.parametrize("penalty", penalties(D))
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_reaches_the_gap_and_agrees(loss, penalty, variant):
    f = LOSSES[loss](*PARAMETERS.get(loss, ()))
    g = penalties(D * 3 if loss == "Softmax" else D)[penalty]
    data = sp.csr_array(X) if "sparse" in variant else X
    weights = WEIGHTS if "weights" in variant else None
    problem = sd.ERM(data, labels(f), f, g, intercept="intercept" in variant, weights=weights)
    if penalty == "no penalty" and loss != "Squared":
        pytest.skip("no bound is known: test_data_convexity.py says what is reached there")
    reached = {}
    for name, method in METHODS.items():
        if not missing(method, problem):
            tol = 1e-4 if name in SUBLINEAR and problem.lam == 0.0 else 1e-8
            result = sd.solve(problem, name, tol=tol, max_epochs=40000)
            assert result.status.ok, f"{name}: {result}"
            assert problem.certificate(result.x, result.y).relative_gap <= 1.01 * tol
            reached[name] = result.certificate
    for one in reached.values():  # every upper bound is above every lower bound
        for two in reached.values():
            assert one.primal >= two.dual - 1e-12 * abs(two.dual)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", [sd.Squared(), sd.Huber(0.7)], ids=["squared", "huber"])
def test_general_blocks(loss, sparse, q):
    rng = np.random.default_rng(2)
    blocks = [rng.standard_normal((8, q)) * np.exp(0.5 * rng.standard_normal()) for _ in range(20)]
    blocks[4] = rng.standard_normal((8, q + 1))  # blocks need not be of one width
    b = [rng.standard_normal(block.shape[1]) for block in blocks]
    problem = sd.SeparableSaddle(
        [sp.csc_array(a) for a in blocks] if sparse else blocks, loss, sd.L1L2(0.02, 0.05), b=b
    )
    values = []
    for name, method in METHODS.items():
        if not missing(method, problem):
            result = sd.solve(problem, name, tol=1e-8, max_epochs=20000)
            assert result.status.ok, f"{name}: {result}"
            values.append(result.certificate.primal)
    assert {"spdc", "adaspdc", "adaspdc-balanced", "pdcp"} <= {n for n, m in METHODS.items() if not missing(m, problem)}
    np.testing.assert_allclose(values, min(values), rtol=1e-7)
    assert [part.size for part in problem.split(result.y)] == [block.shape[1] for block in blocks]


@pytest.mark.parametrize("batch", [2, 5, 24])
@pytest.mark.parametrize("method", ["spdc", "adaspdc", "adaspdc-sigma"])
def test_batches(method, batch):
    for penalty in (sd.L2(0.02), sd.L1L2(0.03, 0.02)):
        problem = sd.ERM(sp.csr_array(X), MARGIN, sd.Logistic(), penalty, weights=np.where(WEIGHTS > 0.0, WEIGHTS, 0.1))
        result = sd.solve(problem, sd.method(method, batch_size=batch), tol=1e-8, max_epochs=20000)
        assert result.status.ok, str(result)


@pytest.mark.parametrize("method", ["spdc-nonuniform", "adaspdc-balanced", "ada-spdc", "df-spdc", "adf-spdc"])
def test_weighted_methods_refuse_batches(method):
    with pytest.raises(ValueError, match="batch_size must be 1"):
        sd.method(method, batch_size=2)


def test_float32_and_wide_indices_give_the_same_answer():
    exact = np.round(X * 64.0) / 64.0  # numbers that float32 holds exactly
    answers = []
    for data in (exact, exact.astype(np.float32), sp.csr_matrix(exact), sp.csr_array(exact.astype(np.float32))):
        answers.append(sd.solve(sd.ERM(data, REAL, sd.Squared(), sd.L2(0.02)), "sdca", tol=0, max_epochs=30).state.x)
    wide = sp.csr_array(exact)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    answers.append(sd.solve(sd.ERM(wide, REAL, sd.Squared(), sd.L2(0.02)), "sdca", tol=0, max_epochs=30).state.x)
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["sdca", "adasdca+", "adaspdc-balanced", "cd", "spdc", "sag", "pdcp"])
def test_weights_are_repeated_rows(method):
    counts = np.array([1 + i % 3 for i in range(N)])
    weighted = sd.ERM(X, MARGIN, sd.Logistic(), sd.L2(0.02), weights=counts)
    repeated = sd.ERM(np.repeat(X, counts, axis=0), np.repeat(MARGIN, counts), sd.Logistic(), sd.L2(0.02))
    one, two = (sd.solve(p, method, tol=1e-13, max_epochs=20000) for p in (weighted, repeated))
    np.testing.assert_allclose(one.x, two.x, rtol=1e-5, atol=1e-6)
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-12)


@pytest.mark.parametrize("method", ["sdca", "adasdca+", "adaspdc-balanced", "cd", "spdc", "pdcp"])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_an_intercept_is_not_penalised(method, shift):
    """Moving the labels moves the intercept and nothing else."""
    problem = sd.ERM(X, REAL + shift, sd.Squared(), sd.L2(0.05), intercept=True)
    result = sd.solve(problem, method, tol=1e-12, max_epochs=20000)
    assert result.status.ok
    centred, ones = X - X.mean(axis=0), np.ones(N)
    exact = np.linalg.solve(centred.T @ centred / N + 0.05 * np.eye(D), centred.T @ (REAL - REAL.mean()) / N)
    np.testing.assert_allclose(result.x[:-1], exact, atol=1e-4)
    assert result.x[-1] == pytest.approx(float(ones @ (REAL + shift - X @ exact)) / N, abs=1e-4)


@pytest.mark.parametrize("method", ["sdca", "iprox-sdca", "adaspdc", "adaspdc-balanced", "adaspdc-sigma"])
@pytest.mark.parametrize("loss", [sd.Squared(), sd.Logistic(), sd.SmoothHinge(0.5)], ids=lambda f: type(f).__name__)
def test_the_dual_point_of_an_empty_row_is_found_at_its_first_visit(loss, method):
    """Its prediction is 0 for ever, so y = f'(0); a step from the largest row would take thousands of visits."""
    data = X.copy()
    data[10:15] = 0.0
    problem = sd.ERM(data, labels(loss), loss, sd.L2(1e-4))
    result = sd.solve(problem, sd.method(method, sampler=sd.Replay(np.arange(N))))
    expected = problem.gradients(np.zeros(N))
    np.testing.assert_allclose(result.state.y[10:15], expected[10:15], rtol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_nonnegative_least_squares(seed, intercept):
    """No strong convexity, and a dual point that rounding keeps outside of its cone."""
    rng = np.random.default_rng(seed)
    for n, d in ((3, 1), (10, 1), (50, 5), (200, 30)):
        A = rng.standard_normal((n, d))
        b = A @ rng.standard_normal(d) + rng.standard_normal(n) if seed % 2 else np.sign(rng.standard_normal(n))
        result = sd.solve(sd.ERM(A, b, sd.Squared(), sd.NonNegative(), intercept=intercept), tol=1e-10)
        assert result.status.ok, str(result)


@pytest.mark.parametrize("width", [0.1, 0.7])
@pytest.mark.parametrize("method", ["sdca", "adasdca+", "adaspdc-balanced", "cd", "pdcp"])
def test_a_weighted_dual_point_at_the_end_of_its_interval_is_inside(method, width):
    """c w / c may be more than w by rounding."""
    problem = sd.ERM(X, 10.0 * REAL, sd.Huber(width), sd.L2(0.1), weights=WEIGHTS)
    assert sd.solve(problem, method, tol=1e-8, max_epochs=5000).status.ok


def test_needs_are_checked_and_named():
    hinge = sd.ERM(X, MARGIN, sd.Hinge(), sd.L2(0.1))
    with pytest.raises(ValueError, match=r"spdc cannot solve this problem.*gamma = 0.*methods that can: .*sdca"):
        sd.solve(hinge, "spdc")
    lasso = sd.ERM(X, REAL, sd.Squared(), sd.L1(0.1))
    with pytest.raises(ValueError, match=r"sdca cannot.*lam = 0.*methods that can: .*cd.*saga"):
        sd.solve(lasso, "sdca")
    groups = sd.ERM(X, REAL, sd.Squared(), sd.GroupL2(0.1, np.arange(D) % 2, 0.1))
    with pytest.raises(ValueError, match=r"sum over coordinates.*ada-bpd.*pdcp"):
        sd.solve(groups, "spdc")
    with pytest.raises(ValueError, match="no method 'sdca2'; did you mean 'sdca'"):
        sd.solve(lasso, "sdca2")
    with pytest.raises(TypeError, match="no parameter 'batch'; it has batch_size"):
        sd.method("spdc", batch=3)


def test_methods_describes_every_method():
    table = {info.name: info for info in sd.methods()}
    assert set(table) == set(METHODS)
    for info in table.values():
        assert info.paper
        assert info.proved
        assert info.cost
        assert METHODS[info.name].__doc__


def test_sag_starts_from_blocks_of_unequal_width():
    blocks = [np.ones((3, 1)), np.ones((3, 3)), np.eye(3)[:, :2]]
    problem = sd.SeparableSaddle(blocks, sd.Squared(), sd.L2(0.1), b=[[1.0], [1.0, 0.0, 2.0], [0.0, 1.0]])
    y = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    state = sd.method("sag").init(problem, np.zeros(3), y)
    np.testing.assert_array_equal(state.memory["seen"], [0.0, 1.0, 0.0])
    assert sd.solve(problem, "sag", tol=1e-8, max_epochs=5000).status.ok
