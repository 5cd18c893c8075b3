"""The linear system of a Newton step, (H + lam) dx = r, H = A' diag(B) A / n: by columns, rows, or least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from saddlery.algorithms._model import solved
from saddlery.problem import Problem
from saddlery.terms import _verbs

Array = NDArray[Any]

DENSE = 2_000_000  # entries up to which a sparse matrix is made dense


def size(problem: Problem) -> int:
    """Rows of the linear system of a step: coordinates of x, or, where the penalty is L2, lines if these are fewer."""
    columns = problem.d + problem.q * problem.intercept
    return min(columns, problem.coupling.m) if _verbs.affine(problem.g) and problem.lam > 0.0 else columns


def quadratic(problem: Problem) -> bool:
    """Is f'' the same everywhere? Then f is as smooth as it is convex."""
    return problem.gamma * _verbs.modulus(problem.f) == 1.0


def matrix(problem: Problem) -> tuple[Any, Array]:
    """The rows in double precision, beside an intercept less their mean, where they are dense; and that mean row."""
    if "rows" not in problem.made:
        A, c = problem.coupling.rows.matrix(), problem.c
        A = A.toarray() if sparse(A) and A.shape[0] * A.shape[1] <= DENSE else A
        A = A.astype(np.float64) if A.dtype != np.float64 else A
        means = np.zeros(A.shape[1])
        if problem.intercept and not sparse(A):
            means = c @ A / problem.n
            A = A - means
        problem.made["rows"] = A, means
    made: tuple[Any, Array] = problem.made["rows"]
    return made


def shifted(problem: Problem, x: Array, means: Array) -> Array:
    """x with the intercepts that it has beside rows less `means`: A x + x0 = (A - 1 m') x + (x0 + m'x)."""
    q, d = problem.q, problem.d
    return np.concatenate([x[:d], x[d:] + means @ x[:d].reshape(-1, q)]) if problem.intercept else x


def turned(problem: Problem, u: Array, means: Array) -> Array:
    """The force u in those coordinates."""
    d = problem.d
    return np.concatenate([u[:d] - np.outer(means, u[d:]).reshape(-1), u[d:]]) if problem.intercept else u.copy()


def sparse(A: Any) -> bool:
    """Is A a matrix of SciPy's?"""
    return bool(sp.issparse(A))


def hessian(problem: Problem, A: Any, B: Array) -> Array:
    """A' diag(B) A / n with a column of ones for the intercept, for q outputs in the order of x."""
    q, n = problem.q, problem.n
    if "with ones" not in problem.made:
        problem.made["with ones"] = _with_ones(A, n) if problem.intercept else (A, A.T.tocsr() if sparse(A) else A.T)
    A, transposed = problem.made["with ones"]
    k, blocks = A.shape[1], B.reshape(n, q, q)
    H = np.empty((k, q, k, q))
    for a in range(q):
        for b in range(a + 1):
            part = transposed @ _weighted(A, blocks[:, a, b])
            H[:, a, :, b] = H[:, b, :, a] = (part.toarray() if sparse(A) else part) / n
    return H.reshape(k * q, k * q)


def _with_ones(A: Any, n: int) -> tuple[Any, Any]:
    """A with a column of ones, and its transpose."""
    if not sparse(A):
        long = np.hstack([A, np.ones((n, 1))])
        return long, long.T
    long = sp.hstack([A, sp.csr_array(np.ones((n, 1)))]).tocsr()
    return long, long.T.tocsr()


def _weighted(A: Any, weights: Array) -> Any:
    """diag(weights) A."""
    if not sparse(A):
        return A * weights[:, None]
    return sp.csr_array((A.data * np.repeat(weights, np.diff(A.indptr)), A.indices, A.indptr), shape=A.shape)


def decomposes(A: Any) -> bool:
    """Is A small enough to be decomposed? Else the normal equations are taken."""
    return not sparse(A) and A.size <= DENSE


def least_squares(problem: Problem, A: Array, x: Array, y: Array, u: Array) -> Array:
    """The minimum for a quadratic f: with B = diag(sqrt c) A = U S V' and t = B x - gamma y / sqrt c,

    x+ = V S / (S^2 + n gamma lam) U't; for lam = 0 that of least norm. Right also for a tiny lam, or one of 0.
    """
    if "decomposed" not in problem.made:
        root = np.sqrt(problem.c)
        problem.made["decomposed"] = root, *la.svd(root[:, None] * A, full_matrices=False, check_finite=False)
    root, U, S, V = problem.made["decomposed"]
    d, weight = problem.d, problem.n * problem.gamma * problem.lam
    t = root * (A @ x[:d]) - problem.gamma * np.divide(y, root, out=np.zeros(y.size), where=root > 0.0)
    rank = np.finfo(np.float64).eps * max(A.shape) * S.max(initial=0.0) < S if weight == 0.0 else S > 0.0
    back = np.divide(S, S * S + weight, out=np.zeros(S.size), where=rank)
    return np.concatenate([V.T @ (back * (U.T @ t)), x[d:] - problem.gamma * u[d:]])


def linear(problem: Problem, A: Any, B: Array, r: Array) -> Array:
    """(H + lam)^-1 r, lam on the penalised coordinates."""
    if size(problem) == r.size:
        H = hessian(problem, A, B)
        H[np.diag_indices(problem.d)] += problem.lam
        return solved(H, r)
    return by_rows(problem, A, B, r)


def by_rows(problem: Problem, A: Any, B: Array, r: Array) -> Array:
    """(H + lam)^-1 r = (r - R'(n lam + R R')^-1 R r) / lam with R'R = n H; the intercepts by elimination."""
    n, q, d, lam = problem.n, problem.q, problem.d, problem.lam
    blocks = B.reshape(n, q, q)
    G = np.sqrt(blocks) if q == 1 else roots(blocks)
    K = (A @ A.T).toarray() if sparse(A) else A @ A.T
    flat = G.reshape(n * q, q)
    M = ((flat @ flat.T).reshape(n, q, n, q) * K[:, None, :, None]).reshape(n * q, n * q)
    M[np.diag_indices_from(M)] += n * lam
    rights = [r[:d]]
    if problem.intercept:
        rights += [np.asarray(A.T @ blocks[:, :, k]).reshape(-1) / n for k in range(q)]
    V = np.array(rights).T  # one right side a column
    forward = np.array([np.einsum("iak,ik->ia", G, np.asarray(A @ v.reshape(-1, q))).reshape(-1) for v in V.T]).T
    inner = solved(M, forward)
    back = [np.asarray(A.T @ np.einsum("iak,ia->ik", G, w.reshape(n, q))).reshape(-1) for w in inner.T]
    made = (V - np.array(back).T) / lam
    if not problem.intercept:
        return np.asarray(made[:, 0])
    corner = blocks.sum(axis=0) / n - V[:, 1:].T @ made[:, 1:]
    last = solved((corner + corner.T) / 2.0, r[d:] - V[:, 1:].T @ made[:, 0])
    return np.concatenate([made[:, 0] - made[:, 1:] @ last, last])


def roots(B: Array) -> Array:
    """Symmetric square roots of positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(B)
    made: Array = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
    return made
