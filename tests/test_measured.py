"""What the papers and the design promise of methods, measured on real data and on the papers' designs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd


def real(name):
    """A real data set, where it is at hand: nothing is downloaded in tests."""
    try:
        return sd.load_dataset(name)
    except (FileNotFoundError, ConnectionError) as error:
        pytest.skip(f"{name} is not here: {error}")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No downloads: the folder SADDLERY_DATA, or nothing."""
    monkeypatch.setenv("SADDLERY_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "pooch.retrieve", lambda *given, **more: (_ for _ in ()).throw(OSError("tests do not download"))
    )


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("seed", range(5))
def test_adasdca_plus_on_w8a_within_15_epochs(seed):
    """Smooth hinge, a column of ones, lam = 1/n, option I, shrink 10, to an absolute gap of 1e-6."""
    data = real("w8a")
    n = data.X.shape[0]
    X = sp.hstack([data.X, np.ones((n, 1))], format="csr")
    problem = sd.ERM(X, data.b, sd.SmoothHinge(), sd.L2(1.0 / n))
    method = sd.method("adasdca+", option="I", shrink=10)
    result = sd.solve(problem, method, tol=0.0, max_epochs=15, every=1, seed=seed)
    assert result.certificate.gap <= 1e-6
    x, y = result.x, result.y
    assert problem.primal(x) - problem.dual(y) == pytest.approx(result.certificate.gap, abs=1e-12)


def above(problem, minimum, method, seed):
    """P(x) - P* of the last iterate after 300 passes."""
    result = sd.solve(problem, method, tol=0.0, max_epochs=300, every=300, seed=seed)
    return problem.primal(result.state.x) - minimum


@pytest.mark.slow
def test_adaspdc_is_far_ahead_of_spdc_on_the_papers_ridge():
    """n = d = 1000, Sigma_jj = j^-2, lam = 1e-6, 300 passes, the mean of 10 seeds: 50 times below both rivals."""
    left = []
    for seed in range(10):
        design = sd.synthetic.diagonal_ridge(seed=seed)
        problem = sd.ERM(design.X, design.b, sd.Squared(), sd.L2(1e-6))
        A, n = design.X, 1000
        minimum = problem.primal(np.linalg.solve(A.T @ A / n + 1e-6 * np.eye(1000), A.T @ design.b / n))
        methods = (sd.method("adaspdc", fallback=None), "spdc", "spdc-nonuniform")
        left.append([above(problem, minimum, method, seed) for method in methods])
    ours, spdc, nonuniform = np.mean(left, axis=0)
    assert min(left[0]) > 0.0
    assert 50.0 * ours <= spdc
    assert 50.0 * ours <= nonuniform


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("heart_scale", sd.Logistic()),
        ("german.numer_scale", sd.SmoothHinge(0.5)),
        ("australian", sd.SquaredHinge()),
        ("mushrooms", sd.Logistic()),
        ("abalone_scale", sd.Squared()),
        ("housing", sd.Huber(1.0)),
        ("reuters-money-fx", sd.Logistic()),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_auto_certifies_real_problems_as_they_come(name, loss, intercept):
    """Columns not scaled, rows of any norm, lam = mean |a_i|^2 / (100 n); and cd and pdcp do not contradict it."""
    data = real(name)
    n = data.X.shape[0]
    lam = 0.01 * float(data.X.multiply(data.X).sum()) / n**2
    problem = sd.ERM(data.X, data.b, loss, sd.L2(lam), intercept=intercept)
    result = sd.solve(problem, tol=1e-6, max_epochs=3000)
    assert result.status.ok, str(result)
    other = sd.solve(problem, "cd", tol=1e-6, max_epochs=50)
    assert other.certificate.primal >= result.certificate.dual
    assert result.certificate.primal >= other.certificate.dual


@pytest.fixture(scope="module")
def ridges():
    """The module of the benchmark, which knows how to count passes."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    try:
        yield importlib.import_module("data_convexity")
    finally:
        sys.path.pop(0)


@pytest.mark.slow
def test_adaptation_on_the_papers_ridge(ridges):
    """n = 5000, d = 3000, lam = 1e-4/n, to P - P* <= 1e-8: sharp and untuned against told, and against SAGA."""
    made = sd.synthetic.toeplitz_ridge(seed=0)
    design = ridges.Ridge("", made.X, made.b)
    told = design.passes("opt-bpd", {"mu": design.mu}, 1e-4, 1500)
    assert design.passes("ada-bpd", {"adapt": "sharp"}, 1e-4, 1500) <= 1.0 * told < 1500
    assert design.passes("bpd", {}, 1e-4, 1500) == np.inf
    saga = design.passes("saga", {}, 1e-4, 1500)
    for method in ("ada-spdc", "adf-spdc"):
        assert design.passes(method, {"adapt": "sharp"}, 1e-4, 1500) <= 0.6 * saga


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("scale", ["deviation", "range"])
def test_adaptation_on_cpuact(ridges, scale):
    """Columns scaled, lam = 1e-4/n: untuned, at most 1.2 times the passes of SAGA."""
    data = real("cpuact")
    X = data.X.toarray()
    size = X.std(axis=0) if scale == "deviation" else np.abs(X).max(axis=0)
    design = ridges.Ridge("", X / np.where(size > 0.0, size, 1.0), data.b)
    saga = design.passes("saga", {}, 1e-4, 1500)
    for method in ("ada-spdc", "adf-spdc"):
        assert design.passes(method, {"adapt": "sharp"}, 1e-4, 1500) <= 1.2 * saga < 400
