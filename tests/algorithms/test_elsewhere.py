"""The batch methods on matrices of other array libraries: the same iterates, and nothing else needs a second copy.

``array_api_strict`` has nothing but the standard: what runs there runs on any library that follows it. The tests with
PyTorch run where it is installed: `make torch`.
"""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import saddlery as sd
from saddlery.algorithms import METHODS, missing

N, D = 60, 7
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
REAL = X @ RNG.standard_normal(D) + 0.3 * RNG.standard_normal(N)
MARGIN = np.where(REAL > 0.0, 1.0, -1.0)
MARGIN[:5] *= -1.0
CLASS = RNG.integers(0, 3, N)
WEIGHTS = RNG.uniform(0.0, 2.0, N)
WEIGHTS[3] = 0.0

LOSSES = (
    (sd.Squared(), REAL),
    (sd.Logistic(), MARGIN),
    (sd.SmoothHinge(0.5), MARGIN),
    (sd.SquaredHinge(), MARGIN),
    (sd.Huber(0.5), REAL),
    (sd.Softmax(3), CLASS),
)
BATCH = {"ada-bpd", "ag", "bpd", "df-bpd", "opt-bpd", "pdcp"}


@pytest.fixture(params=["array_api_strict", "torch"])
def place(request):
    """What makes an array of the library from one of NumPy's."""
    if request.param == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: `make torch` installs it and runs these tests")
    library = importlib.import_module(request.param)
    return library.asarray


def penalties(size):
    groups = sd.GroupL2(0.1, np.arange(size) % 3, 0.1)
    return (
        sd.L2(0.01),
        sd.L1L2(0.02, 0.01),
        sd.L1(0.05),
        sd.Box(-0.3, 0.3, 0.1),
        sd.NonNegative(0.1),
        sd.Zero(),
        groups,
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("loss", "b"), LOSSES, ids=lambda f: type(f).__name__ if hasattr(f, "_fields") else "")
def test_the_same_iterates(place, loss, b, intercept, kind):
    for penalty in penalties(D * (3 if isinstance(loss, sd.Softmax) else 1)):
        options = {"weights": WEIGHTS, "intercept": intercept}
        there = sd.ERM(place(X.astype(kind)), b, loss, penalty, **options)
        here = sd.ERM(X.astype(kind), b, loss, penalty, **options)
        able = {name for name, method in METHODS.items() if not missing(method, there)}
        assert able == BATCH & {name for name, method in METHODS.items() if not missing(method, here)}
        for name in able:
            one, two = (sd.solve(p, name, max_epochs=30, tol=0.0, every=30) for p in (there, here))
            np.testing.assert_allclose(one.state.x, two.state.x, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(one.state.y, two.state.y, rtol=1e-9, atol=1e-11)
            assert isinstance(one.x, np.ndarray) and one.certificate.primal == pytest.approx(two.certificate.primal)


def test_auto_and_certificates(place):
    problem = sd.ERM(place(X), MARGIN, sd.Logistic(), sd.L2(1e-3))
    result = sd.solve(problem, tol=1e-9)
    assert result.status.ok and result.method in BATCH
    known = sd.ERM(X, MARGIN, sd.Logistic(), sd.L2(1e-3)).certificate(result.x, result.y)
    assert known.gap == pytest.approx(result.certificate.gap, rel=1e-4, abs=1e-13)


def test_a_run_goes_on_bit_for_bit(place, tmp_path):
    problem = sd.ERM(place(X), REAL, sd.Huber(0.5), sd.L2(1e-3))
    method = sd.method("ada-bpd", adapt="sharp")
    whole = sd.solve(problem, method, tol=0.0, max_epochs=40)
    first = sd.solve(problem, method, tol=0.0, max_epochs=17)
    np.testing.assert_array_equal(sd.solve(problem, method, tol=0.0, max_epochs=23, start=first).state.x, whole.state.x)


def test_what_only_knows_rows_here_says_so(place):
    with pytest.raises(ValueError, match=r"rows that NumPy or SciPy hold.*methods that can: ada-bpd, ag, bpd"):
        sd.solve(sd.ERM(place(X), MARGIN, sd.Logistic(), sd.L2(1e-3)), "sdca")


def test_bad_matrices_are_refused(place):
    holes = X.copy()
    holes[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        sd.ERM(place(holes), REAL, sd.Squared(), sd.L2(1.0))
    with pytest.raises(TypeError, match="real floating-point"):
        sd.ERM(place(np.arange(6).reshape(3, 2)), np.zeros(3), sd.Squared(), sd.L2(1.0))
    with pytest.raises(ValueError, match="two dimensions"):
        sd.ERM(place(X[0]), np.zeros(3), sd.Squared(), sd.L2(1.0))


def test_no_other_library_is_loaded_for_numpys_arrays():
    """Nor does saddlery load one by itself."""
    assert "torch" not in sys.modules or importlib.util.find_spec("torch") is not None
    assert sd.ERM(X, REAL, sd.Squared(), sd.L2(1.0)).coupling.rows.view.X is not None
