"""A bound without a penalty and without strong convexity: logistic, Huber, softmax, ... of few columns.

g = 0: y is dual feasible only if A'y = 0 (with a column of ones in A for an intercept, as everywhere below).

1. y = c f'(z), and y' = y - R A w with A'R A w = A'y: R_i is the room that y_i has in the domain of f*, so that y'
   stays inside if it is near, times gamma f''(z_i), so that y moves where that costs least. What is left,
   u = A'y' / n, is rounding, which a bound of the solution makes harmless:

       P(x) - P* <= (1/n) sum_i c_i FY(z_i, y'_i / c_i) + <x, u> + rho |u|   if |x*| <= rho.

2. rho: with s_i half the room of y'_i,  c f(z) >= y'_i z + s_i |z| - F_i,  F_i = max of c f*((y'_i +- s_i) / c), and so

       P(x*) >= <u, x*> + (1/n) sum_i s_i |<a_i, x*>| - F >= (sqrt(l) / n - |u|) |x*| - F,   l = lambda_min(A'S^2 A),

   whence rho = (P(x) + F) / (sqrt(l) / n - |u|). Softmax: instead of |z_i| the range of z_i, at least
   2/sqrt(K) |z_i - mean|; F <= 0; and x* of the solutions the one whose rows have mean 0.

No bound (None) where the room is not enough or A has not full rank: no solution then need exist.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from saddlery.couplings.spectrum import within_reach
from saddlery.problem import Problem
from saddlery.terms._sums import Single, feasible, rooms
from saddlery.terms.softmax import Softmax

Array = NDArray[Any]

RANK = 1e-13  # smallest over largest eigenvalue, with unit columns, below which A counts as not of full rank
MOST = 0.5  # of its room: how far y may be moved


class Bound(NamedTuple):
    """P(x) - P* <= gap, by the dual point y."""

    gap: float
    y: Array


def bound(problem: Problem, x: Array, x0: Array, z: Array) -> Bound | None:
    """A bound for x, x0 with the predictions z."""
    scalar = isinstance(problem.coupling.blocks, Single)
    if not (scalar or isinstance(problem.f, Softmax)) or not within_reach(problem.coupling):
        return None
    A = columns(problem)
    n, q = A.shape[0], problem.q
    size = np.sqrt(_gram(A, np.ones(n)).diagonal())
    if not size.all():
        return None
    y, bent = problem.gradients(z).reshape(-1), _bent(problem, z)
    feasible(problem.coupling.blocks, problem.f, y, problem.b, problem.c)  # c f' / c need not be f' to the last digit
    Y = y.reshape(n, q)
    for _ in range(2):  # once more for what rounding left
        room = _rooms(problem, Y)
        w = _solved(_gram(A, room * bent), size, np.asarray(A.T @ Y))
        if w is None:
            return None
        move = (room * bent)[:, None] * np.asarray(A @ w)
        if (np.abs(move).max(axis=1) > MOST * room).any():
            return None
        Y = Y - move
    u = np.asarray(A.T @ Y) / n
    rho = _radius(problem, A, Y, u, problem.losses(z, np.zeros(z.size))[0])
    fitted = problem.losses(z, Y.reshape(-1))[1]
    if rho is None or not math.isfinite(fitted):
        return None
    long = np.concatenate([x, x0]) if problem.intercept else x
    gap = fitted + float(long @ u.reshape(-1)) + rho * float(np.linalg.norm(u))
    return Bound(max(gap, 0.0), Y.reshape(-1))


def columns(problem: Problem) -> Any:
    """A in double precision, with the column of ones."""
    if "dense, with ones" not in problem.made:
        A = problem.coupling.rows.matrix()
        A = np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
        problem.made["dense, with ones"] = np.hstack([A, np.ones((A.shape[0], 1))]) if problem.intercept else A
    return problem.made["dense, with ones"]


def _gram(A: Array, weights: Array) -> Array:
    return np.asarray(A.T @ (weights[:, None] * A))


def _solved(M: Array, size: Array, right: Array) -> Array | None:
    """M^-1 right; None where M is singular. size: of the columns, by which all is scaled."""
    unit = M / np.outer(size, size)
    scale = float(np.abs(unit).max())
    values, vectors = la.eigh(unit / scale) if scale > 0.0 else (np.zeros(1), np.zeros((1, 1)))
    if values[0] <= RANK * values[-1]:
        return None
    inner = vectors @ ((vectors.T @ (right / size[:, None])) / values[:, None])
    return np.asarray(inner / scale / size[:, None])


def _bent(problem: Problem, z: Array) -> Array:
    """gamma f''(z_i), by central differences; 1 for softmax."""
    if isinstance(problem.f, Softmax):
        return np.ones(problem.n)
    step = 6e-6 * (1.0 + np.abs(z))
    rise = problem.gradients(z + step) - problem.gradients(z - step)
    live = np.maximum(problem.c, 1e-300)
    return np.clip(problem.gamma * rise.reshape(-1) / (2.0 * step * live), 0.0, 1.0)


def _rooms(problem: Problem, Y: Array) -> Array:
    """How far every y_i may move, at most c_i, within the domain of c_i f*(. / c_i)."""
    if isinstance(problem.f, Softmax):
        shares = Y.copy()
        shares[np.arange(Y.shape[0]), problem.b.astype(np.int64)] += problem.c
        return np.asarray(np.maximum(shares.min(axis=1), 0.0))
    room = np.zeros(Y.size)
    rooms(problem.coupling.blocks, problem.f, Y.reshape(-1), problem.b, problem.c, room)
    return np.asarray(np.maximum(room, 0.0))


def _radius(problem: Problem, A: Array, Y: Array, u: Array, primal: float) -> float | None:
    """rho."""
    n, s = A.shape[0], MOST * _rooms(problem, Y)
    least = float(la.eigvalsh(_gram(A, s * s), subset_by_index=[0, 0])[0])
    least -= 1e-15 * A.shape[1] * float(np.einsum("ij,ij,i->", A, A, s * s))  # rounding of the eigenvalue
    if least <= 0.0:
        return None
    steep, most = math.sqrt(least) / n, 0.0
    if isinstance(problem.f, Softmax):
        steep *= 2.0 / math.sqrt(problem.q)
    else:
        most = _highest(problem, Y[:, 0], s)
    steep -= float(np.linalg.norm(u))
    return max(primal + most, 0.0) / steep if steep > 0.0 and math.isfinite(most) else None


def _highest(problem: Problem, y: Array, s: Array) -> float:
    """At least F: since f* >= -f(0), the maximum of the two ends is at most their sum and f(0) once more."""
    nothing = np.zeros(y.size)
    (value, up, _), (_, down, _) = (problem.losses(nothing, y + sign * s) for sign in (1.0, -1.0))
    return up + down - value
