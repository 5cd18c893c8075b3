"""Designs: what each claims of its numbers, measured."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from saddlery.data import random_rows
from saddlery.data.synthetic import (
    diagonal_ridge,
    exact_saddle,
    planted,
    random_csr,
    toeplitz_logistic,
    toeplitz_ridge,
)

LOSSES = ["squared", "logistic", "smooth_hinge"]
SMALL = {
    "diagonal_ridge": lambda seed: diagonal_ridge(20, 10, seed=seed),
    "toeplitz_ridge": lambda seed: toeplitz_ridge(20, 10, seed=seed),
    "toeplitz_logistic": lambda seed: toeplitz_logistic(20, 10, seed=seed),
    "planted": lambda seed: planted(20, 10, seed=seed),
    "planted, Gaussian": lambda seed: planted(20, 10, condition=None, seed=seed),
    "planted, sparse": lambda seed: planted(20, 10, density=0.3, norm_spread=1.0, seed=seed),
    "exact_saddle": lambda seed: exact_saddle(np.eye(5), lam=1.0, seed=seed),
    "random_csr": lambda seed: random_csr(20, 10, 3, seed=seed),
}


def flat(record):
    """All numbers of a record or matrix in one list."""
    parts = (record.data, record.indices, record.indptr) if issparse(record) else record
    return [number for part in parts for number in (flat(part) if issparse(part) else np.ravel(part).tolist())]


@pytest.mark.parametrize("name", SMALL)
def test_a_seed_means_its_numbers(name):
    assert flat(SMALL[name](3)) == flat(SMALL[name](3))
    assert flat(SMALL[name](3)) != flat(SMALL[name](4))


@pytest.mark.parametrize("decay", [0.0, 2.0])
def test_diagonal_ridge(decay):
    X, b, x = diagonal_ridge(20_000, 6, decay=decay, noise=0.5)
    assert np.array_equal(x, np.ones(6)) and X.flags.c_contiguous
    covariance = X.T @ X / len(X)
    assert np.allclose(covariance, np.diag(np.arange(1.0, 7) ** -decay), atol=5 / np.sqrt(len(X)))
    assert abs(np.std(b - X @ x) - 0.5) < 0.02 and abs(np.mean(b - X @ x)) < 0.02


def test_the_defaults_are_the_papers():
    assert diagonal_ridge().X.shape == (1000, 1000)
    assert toeplitz_ridge().X.shape == (5000, 3000)
    assert toeplitz_logistic().X.shape == (5000, 500)


@pytest.mark.parametrize("make", [toeplitz_ridge, toeplitz_logistic])
@pytest.mark.parametrize(("base", "length"), [(2.0, 2.0), (2.0, 100.0), (3.0, 0.5)])
def test_toeplitz_rows(make, base, length):
    X, _, x = make(40_000, 8, base=base, length=length, seed=1)
    assert X.flags.c_contiguous and x.shape == (8,)
    assert abs(np.linalg.norm(X, axis=1).max() - 1) < 1e-12
    gap = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    covariance = X.T @ X / len(X)
    scale = np.trace(covariance) / 8
    assert np.allclose(covariance / scale, base ** (-gap / length), atol=5 / np.sqrt(len(X)))


def test_toeplitz_ridge_adds_unit_noise():
    X, b, x = toeplitz_ridge(20_000, 5)
    assert abs(np.std(b - X @ x) - 1) < 0.02 and abs(np.mean((b - X @ x) * (X @ x))) < 0.02


def test_toeplitz_logistic_labels_have_the_stated_probabilities():
    X, b, x = toeplitz_logistic(20_000, 5, seed=2)
    assert set(b) == {-1.0, 1.0}
    z = X @ x
    expected = np.tanh(2 * z)  # E[b] = 2 sigmoid(4 z) - 1
    for weight in (np.ones_like(z), z, z**2):
        error, deviation = np.sum(weight * (b - expected)), np.sqrt(np.sum(weight**2 * (1 - expected**2)))
        assert abs(error) < 4 * deviation


@pytest.mark.parametrize(("n", "d"), [(30, 12), (12, 30), (15, 15), (1, 4), (4, 1), (1, 1)])
@pytest.mark.parametrize("condition", [1.0, 100.0, 1e12])
def test_planted_dense_condition(n, d, condition):
    X, b, x = planted(n, d, condition=condition)
    s = np.linalg.svd(X, compute_uv=False)
    assert np.isclose((s[0] / s[-1]) ** 2, condition if min(n, d) > 1 else 1, rtol=1e-3)
    assert np.allclose(np.diff(np.log(s), 2), 0, atol=1e-4)
    assert np.isclose(np.sum(X**2), n) and b.shape == (n,) and x.shape == (d,)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_planted_labels(loss, density):
    X, b, x = planted(3000, 50, loss=loss, density=density, noise=0.5, condition=None, seed=1)
    z = X @ x
    spread = 0.5 * np.sqrt(np.mean(z**2))
    if loss == "squared":
        assert np.isclose(np.std(b - z), spread, rtol=0.1)
    else:
        assert set(b) == {-1.0, 1.0}
        clear = np.abs(z) > 4 * spread
        assert np.mean(b[clear] == np.sign(z[clear])) > 0.95
        assert 0.6 < np.mean(b == np.sign(z)) < 0.95
    exact = planted(3000, 50, loss=loss, density=density, noise=0.0, condition=None, seed=1)
    expected = exact.X @ exact.x
    assert np.array_equal(exact.b, expected if loss == "squared" else np.where(expected >= 0, 1.0, -1.0))


def test_planted_logistic_labels_have_the_stated_probabilities():
    X, b, x = planted(20_000, 10, loss="logistic", noise=0.7)
    z = X @ x
    expected = np.tanh(z / (0.7 * np.sqrt(np.mean(z**2))) / 2)
    for weight in (np.ones_like(z), z):
        error, deviation = np.sum(weight * (b - expected)), np.sqrt(np.sum(weight**2 * (1 - expected**2)))
        assert abs(error) < 4 * deviation


@pytest.mark.parametrize("nonzeros", [0, 1, 7, 20, None])
def test_planted_nonzeros(nonzeros):
    _, b, x = planted(30, 20, nonzeros=nonzeros)
    assert np.count_nonzero(x) == (20 if nonzeros is None else nonzeros)
    assert np.isfinite(b).all()


@pytest.mark.parametrize("density", [1.0, 0.1])
def test_planted_row_norms(density):
    plain = planted(2000, 100, density=density, condition=None)
    spread = planted(2000, 100, density=density, condition=None, norm_spread=1.5)
    norms = [np.sqrt((X * X).sum(axis=1)) for X in (plain.X, spread.X)]
    assert np.isclose(np.mean(norms[0] ** 2), 1, atol=0.1)
    assert np.array_equal(plain.x, spread.x)
    factors = np.log(norms[1] / norms[0])  # the same design, its rows multiplied
    assert abs(np.mean(factors)) < 0.15 and abs(np.std(factors) - 1.5) < 0.1


def test_planted_sparse_rows_and_columns():
    X, _, _ = planted(40_000, 20, density=0.2, condition=1e4)
    assert isinstance(X, csr_array) and X.has_canonical_format
    assert set(np.diff(X.indptr)) == {4}
    scales = np.sqrt((X * X).sum(axis=0))
    assert np.isclose(scales[0] / scales[-1], 100, rtol=0.1)
    assert np.allclose(np.diff(np.log(scales)), -np.log(100) / 19, atol=0.06)
    s = np.linalg.svd(X.toarray(), compute_uv=False)
    assert 0.5 < (s[0] / s[-1]) ** 2 / 1e4 < 2
    assert planted(5, 10, density=1e-9).X.nnz == 5
    assert planted(3, 10**6, density=2e-5).X.nnz == 60


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, "loss is 'hinge'; it must be 'squared', 'logistic' or 'smooth_hinge'"),
        ({"density": 0.0}, r"density is 0.0; it must be in \(0, 1\]"),
        ({"density": 1.5}, "density is 1.5; it must be in"),
        ({"density": np.nan}, "density is nan; it must be in"),
        ({"condition": 0.5}, "condition is 0.5; it must be finite and at least 1, or None"),
        ({"condition": np.inf}, "condition is inf; it must be finite"),
        ({"norm_spread": -1.0}, "norm_spread is -1.0; it must be finite and at least 0"),
        ({"nonzeros": 6}, "nonzeros is 6; it must be between 0 and d = 5"),
        ({"nonzeros": -1}, "nonzeros is -1; it must be between 0"),
        ({"noise": np.nan}, "noise is nan; it must be finite and at least 0"),
    ],
)
def test_planted_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        planted(4, 5, **settings)


@pytest.mark.parametrize("make", [diagonal_ridge, toeplitz_ridge, toeplitz_logistic, planted])
@pytest.mark.parametrize(("n", "d", "name"), [(0, 3, "n is 0"), (3, -1, "d is -1")])
def test_empty_designs_are_refused(make, n, d, name):
    with pytest.raises(ValueError, match=f"{name}; it must be at least 1"):
        make(n, d)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base": 1.0}, "base is 1.0; it must be above 1"),
        ({"length": 0.0}, "length is 0.0; it must be above 0"),
    ],
)
@pytest.mark.parametrize("make", [toeplitz_ridge, toeplitz_logistic])
def test_what_is_no_covariance_is_refused(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(4, 3, **settings)


@pytest.mark.parametrize(("n", "d"), [(30, 8), (8, 30), (1, 1)])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("lam", [1e-6, 0.1, 10.0])
def test_exact_saddle(n, d, layout, lam):
    X = np.random.default_rng(5).standard_normal((n, d)) * (np.arange(n) % 4 > 0)[:, None]  # with rows of zeros
    b, x, y = exact_saddle(layout(X), lam=lam)
    assert b.shape == y.shape == (n,) and x.shape == (d,)
    assert np.allclose(X @ x - b, y, rtol=1e-12, atol=1e-10 * np.abs(b).max())  # y is f' at x
    assert np.allclose(lam * x + X.T @ y / n, 0, atol=1e-14)  # x minimises over y
    if lam > 1e-3:
        assert np.allclose(np.linalg.solve(X.T @ X / n + lam * np.eye(d), X.T @ b / n), x)


def test_exact_saddle_refuses():
    with pytest.raises(ValueError, match="loss is 'logistic'; it must be 'squared', which leaves y free"):
        exact_saddle(np.eye(2), loss="logistic", lam=1.0)
    for lam in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=f"lam is {lam}; it must be finite and above 0"):
            exact_saddle(np.eye(2), lam=lam)


@pytest.mark.parametrize(("n", "d", "k"), [(50, 20, 3), (50, 20, 10), (50, 20, 11), (50, 20, 20), (1, 1, 1), (9, 9, 1)])
@pytest.mark.parametrize("chunk", [1, 30, 1 << 20])
def test_random_csr_has_distinct_ascending_columns(monkeypatch, n, d, k, chunk):
    monkeypatch.setattr(random_rows, "_CHUNK", chunk)
    X = random_csr(n, d, k)
    columns = X.indices.reshape(n, k)
    assert X.shape == (n, d) and X.nnz == n * k and set(np.diff(X.indptr)) == {k}
    assert (np.diff(columns, axis=1) > 0).all() and columns.min() >= 0 and columns.max() < d
    assert X.has_canonical_format


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_random_csr_draws_every_subset_equally_often(k):
    n = 60_000
    drawn = random_csr(n, 5, k, seed=k).indices.reshape(n, k)
    subsets = list(itertools.combinations(range(5), k))
    counts = np.array([np.all(drawn == subset, axis=1).sum() for subset in subsets])
    expected = n / len(subsets)
    assert counts.sum() == n
    assert np.sum((counts - expected) ** 2 / expected) < 30  # chi-square with at most 9 degrees of freedom


def test_random_csr_values_are_gaussian():
    values = random_csr(20_000, 300, 9).data * 3
    moments = [np.mean(values**power) for power in (1, 2, 3, 4)]
    assert np.allclose(moments, [0, 1, 0, 3], atol=0.1)


def test_random_csr_types_do_not_change_the_matrix():
    X = random_csr(40, 30, 7)
    other = random_csr(40, 30, 7, dtype=np.float32, index_dtype=np.int64)
    assert X.dtype == np.float64 and X.indices.dtype == X.indptr.dtype == np.int32
    assert other.dtype == np.float32 and other.indices.dtype == other.indptr.dtype == np.int64
    assert np.array_equal(X.indices, other.indices) and np.array_equal(X.data.astype(np.float32), other.data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 5, 1), "n is 0; it must be at least 1"),
        ((5, 0, 1), "d is 0; it must be at least 1"),
        ((5, 5, 0), "per_row is 0; it must be at least 1"),
        ((5, 5, 6), "per_row is 6; it may be at most d = 5"),
        ((2**27, 100, 16), f"index_dtype is int32, too narrow for {2**31} entries in 100 columns; use int64"),
        ((1, 2**31, 1), "index_dtype is int32, too narrow"),
    ],
)
def test_random_csr_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        random_csr(*arguments)


def test_random_csr_refuses_other_types():
    with pytest.raises(ValueError, match="dtype is int64; it must be float32 or float64"):
        random_csr(2, 2, 1, dtype=np.int64)
    with pytest.raises(ValueError, match="index_dtype is uint32; it must be int32 or int64"):
        random_csr(2, 2, 1, index_dtype=np.uint32)
