"""Designs from a seed: the papers' synthetic problems, planted solutions, an exact saddle point.

Everything is drawn by ``numpy.random.default_rng(seed)``: same arguments, same numbers. Targets are real for
the squared loss, labels -1 or 1 for the margin losses. Rows of X are samples.
"""

import operator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from saddlery.data.random_rows import counted
from saddlery.data.random_rows import random_csr as random_csr


class Design(NamedTuple):
    """Rows X (n x d), labels or targets b, and the planted x that they were made from (no minimiser)."""

    X: Any
    b: npt.NDArray[np.float64]
    x: npt.NDArray[np.float64]


class Saddle(NamedTuple):
    """Targets b, and the saddle point (x, y) of the problem that they make."""

    b: npt.NDArray[np.float64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]


def diagonal_ridge(n: int = 1000, d: int = 1000, *, seed: int = 0, decay: float = 2.0, noise: float = 1.0) -> Design:
    """Rows a ~ N(0, diag(j^-decay)), x all ones, b = <a, x> + noise N(0, 1).

    The defaults are the ridge regression of Zhu and Storkey (AdaSPDC, 2015, Section 4.1).
    """
    n, d = counted("n", n), counted("d", d)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1.0, d + 1) ** (-decay / 2)
    x = np.ones(d)
    return Design(X, X @ x + noise * rng.standard_normal(n), x)


def toeplitz_ridge(n: int = 5000, d: int = 3000, *, base: float = 2.0, length: float = 2.0, seed: int = 0) -> Design:
    """Rows a ~ N(0, Sigma) over the largest |a|, Sigma_ij = base^(-|i-j|/length); b = <a, x> + N(0, 1).

    x ~ N(0, I). The defaults are the ridge regression of Wang and Xiao (2017, Section 5). There the exponent
    is printed without its minus sign, which is no covariance, and how b is made is not said.
    """
    rng = np.random.default_rng(seed)
    X = _toeplitz_rows(n, d, base, length, rng)
    x = rng.standard_normal(d)
    return Design(X, X @ x + rng.standard_normal(n), x)


def toeplitz_logistic(
    n: int = 5000, d: int = 500, *, base: float = 2.0, length: float = 100.0, seed: int = 0
) -> Design:
    """Rows as in `toeplitz_ridge`, x ~ N(0, I), b in {-1, 1} with P(b = 1) = sigmoid(4 <a, x>).

    The defaults are the logistic regression of Wang and Xiao (2017, Section 5), its exponent corrected too.
    """
    rng = np.random.default_rng(seed)
    X = _toeplitz_rows(n, d, base, length, rng)
    x = rng.standard_normal(d)
    return Design(X, _signs(4 * (X @ x) + rng.logistic(size=X.shape[0])), x)  # P(logistic > -z) = sigmoid(z)


def _toeplitz_rows(n: int, d: int, base: float, length: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Rows in O(n d): a_1 = e_1, a_j = rho a_{j-1} + sqrt(1 - rho^2) e_j with rho = base^(-1/length)."""
    n, d = counted("n", n), counted("d", d)
    _check("base", base, base > 1, "above 1")
    _check("length", length, length > 0, "above 0")
    rho = base ** (-1 / length)
    columns = rng.standard_normal((d, n))
    columns[1:] *= np.sqrt(1 - rho**2)
    for j in range(1, d):
        columns[j] += rho * columns[j - 1]
    columns /= np.sqrt(np.einsum("ji,ji->i", columns, columns).max())
    return np.ascontiguousarray(columns.T)


def planted(
    n: int,
    d: int,
    *,
    loss: Literal["squared", "logistic", "smooth_hinge"] = "squared",
    density: float = 1.0,
    condition: float | None = 1.0,
    norm_spread: float = 0.0,
    nonzeros: int | None = None,
    noise: float = 0.1,
    seed: int = 0,
) -> Design:
    """General design around a planted x: dense or sparse, conditioned, with rows of unequal norm.

    Parameters
    ----------
    n, d : int
        Rows and columns. The mean of |a_i|^2 is about 1, before ``norm_spread``.
    loss : {"squared", "logistic", "smooth_hinge"}
        With z = X x and s = ``noise`` times its root mean square: b = z + s N(0, 1) for the squared loss,
        its sign for the smooth hinge, P(b = 1) = sigmoid(z/s) for the logistic loss.
    density : float
        1: X is an array. Below 1: a CSR array with round(density d), at least 1, entries in each row.
    condition : float or None
        Condition number of X'X (of XX' for n < d). Dense: exactly, by singular values of X that fall
        geometrically, the first sqrt(condition) times the last; None leaves independent Gaussian entries.
        Sparse: only roughly and for n >> d, by Gaussian columns scaled geometrically in that ratio.
    norm_spread : float
        Rows are then multiplied by exp(norm_spread N(0, 1)), which changes the condition number too.
    nonzeros : int, optional
        Nonzero entries of x, each N(0, 1). By default all d.
    noise : float
        See ``loss``; 0 gives b = z, or its sign.
    seed : int
        Seed.
    """
    n, d = counted("n", n), counted("d", d)
    nonzeros = d if nonzeros is None else operator.index(nonzeros)
    if loss not in ("squared", "logistic", "smooth_hinge"):
        raise ValueError(f"loss is {loss!r}; it must be 'squared', 'logistic' or 'smooth_hinge'")
    _check("density", density, 0 < density <= 1, "in (0, 1]")
    _check("condition", condition, condition is None or 1 <= condition < np.inf, "finite and at least 1, or None")
    _check("norm_spread", norm_spread, 0 <= norm_spread < np.inf, "finite and at least 0")
    _check("nonzeros", nonzeros, 0 <= nonzeros <= d, f"between 0 and d = {d}")
    _check("noise", noise, 0 <= noise < np.inf, "finite and at least 0")
    rng = np.random.default_rng(seed)
    spread = np.exp(norm_spread * rng.standard_normal(n))
    x = np.zeros(d)
    x[rng.choice(d, nonzeros, replace=False)] = rng.standard_normal(nonzeros)
    X = _planted_rows(n, d, density, condition, spread, rng)
    z = X @ x
    drawn = rng.logistic(size=n) if loss == "logistic" else rng.standard_normal(n)
    b = z + noise * np.sqrt(np.mean(z**2)) * drawn
    return Design(X, b if loss == "squared" else _signs(b), x)


def _check(name: str, value: float | None, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value}; it must be {allowed}")


def _planted_rows(
    n: int, d: int, density: float, condition: float | None, spread: Any, rng: np.random.Generator
) -> Any:
    if density < 1:
        X = random_csr(n, d, max(1, round(density * d)), seed=int(rng.integers(2**63)))
        scale = _geometric(d, condition or 1.0)
        X.data *= scale[X.indices] * np.repeat(spread, np.diff(X.indptr))
        return X
    if condition is None:
        return rng.standard_normal((n, d)) * (spread / d**0.5)[:, None]
    k = min(n, d)
    left, _ = np.linalg.qr(rng.standard_normal((n, k)))
    right, _ = np.linalg.qr(rng.standard_normal((d, k)))
    return (left * spread[:, None] * _geometric(k, condition) * np.sqrt(n / k)) @ right.T


def _geometric(count: int, condition: float) -> npt.NDArray[np.float64]:
    """Numbers of mean square 1 that fall geometrically, the first sqrt(condition) times the last."""
    fall = condition ** np.linspace(0.0, -0.5, count)
    return np.asarray(fall / np.sqrt(np.mean(fall**2)))


def exact_saddle(X: Any, *, loss: Literal["squared"] = "squared", lam: float, seed: int = 0) -> Saddle:
    """Targets b for which the saddle point of mean (<a_i, x> - b_i)^2 / 2 + lam/2 |x|^2 is known exactly.

    y ~ N(0, I); then x = -X'y/(n lam) and b = X x - y satisfy both optimality conditions by construction.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Rows.
    loss : {"squared"}
        The one loss whose dual variables are free.
    lam : float
        Modulus of the penalty, above 0.
    seed : int
        Seed.
    """
    if loss != "squared":
        raise ValueError(f"loss is {loss!r}; it must be 'squared', which leaves y free")
    _check("lam", lam, 0 < lam < np.inf, "finite and above 0")
    y = np.random.default_rng(seed).standard_normal(X.shape[0])
    x = X.T @ y / (-X.shape[0] * lam)
    return Saddle(X @ x - y, x, y)


def _signs(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where(z >= 0, 1.0, -1.0)
