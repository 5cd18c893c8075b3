"""The quadratic model of a Newton step: min over x of <r, x - x0> + (x - x0)'H(x - x0) / 2 + g(x).

H is dense. Sweeps of coordinate descent, which always come closer, and between them the linear system of the
coordinates that are free (where the prox is not stuck), which ends it: for a piecewise quadratic g the pieces settle
after a few rounds, and the system is then the exact answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from saddlery._compile import lean_kernel
from saddlery.terms._sums import penalty_sums
from saddlery.terms._verbs import prox

Array = NDArray[Any]

SWEEPS, ROUNDS = 5, 60  # of coordinate descent between two linear systems; of both
SINGULAR = 1e-14  # a pivot, or an eigenvalue, of a matrix with ones on its diagonal that is taken for 0


def minimise(g: Any, lam: float, H: Array, r: Array, x: Array, free: int) -> Array:
    """The minimiser; the last `free` coordinates (intercepts) carry no penalty, others one of modulus lam.

    Not finite where there is none.
    """
    x, r = x.copy(), r.copy()
    diagonal = np.maximum(np.diagonal(H), SINGULAR * max(float(np.diagonal(H).max(initial=0.0)), 1e-300))
    is_free = np.arange(x.size) >= x.size - free
    last, p, slope = x.size - free, np.empty(x.size), np.empty(x.size)
    for _ in range(ROUNDS):
        sweep(g, H, diagonal, x, r, last, SWEEPS)
        pieces(g, diagonal, x, r, last, p, slope)
        loose = slope > 0.0
        if not (x != p).any() or not loose.any():
            break
        bend = (1.0 / slope[loose] - 1.0) * diagonal[loose]  # of g: its prox has the slope 1 / (1 + bend / diagonal)
        bend = np.where(bend > 1.001 * lam + 1e-6 * diagonal[loose], bend, lam * ~is_free[loose])
        H_loose = H[np.ix_(loose, loose)]
        H_loose[np.diag_indices_from(H_loose)] += bend
        move = np.zeros(x.size)
        move[loose] = solved(H_loose, (p - x)[loose] * (diagonal[loose] + bend))
        moved = r + H @ move
        ahead, p_ahead = np.empty(x.size), np.empty(x.size)
        pieces(g, diagonal, x + move, moved, last, p_ahead, ahead)
        if ((ahead > 0.0) == loose).all() and np.abs(x + move - p_ahead).max() <= np.abs(x - p).max():
            x, r = x + move, moved
            break
        x, r = _backwards(g, H, r, x, move, last)
    return x


def _backwards(g: Any, H: Array, r: Array, x: Array, move: Array, last: int) -> tuple[Array, Array]:
    """As far along a move as the model falls, halving; nowhere if it does not."""
    bent, was, t = H @ move, penalties(g, x, last), 1.0
    for _ in range(8):
        ahead = x + t * move
        if t * float(r @ move) + t * t * float(move @ bent) / 2.0 + penalties(g, ahead, last) - was < 0.0:
            return ahead, r + t * bent
        t /= 2.0
    return x, r


def penalties(g: Any, x: Array, last: int) -> float:
    """The sum of g over the coordinates that carry it."""
    return float(penalty_sums(g, x[:last], np.zeros(last))[0])


def solved(H: Array, r: Array) -> Array:
    """H^-1 r, r a vector or columns, H positive semidefinite; where H is singular to rounding, the least solution.

    Least after H is scaled to ones on its diagonal.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scale[np.diagonal(H) <= 0.0] = 0.0
    unit, right = H * scale[:, None] * scale, (scale * r.T).T
    try:
        factor = la.cho_factor(unit, lower=True, check_finite=False)
        if np.diagonal(factor[0]).min() ** 2 > SINGULAR:
            made = la.cho_solve(factor, right, check_finite=False)
            made += la.cho_solve(factor, right - unit @ made, check_finite=False)
            return np.asarray((scale * made.T).T)
    except la.LinAlgError:
        made = right  # singular
    values, vectors = la.eigh(unit, check_finite=False)
    kept = values > SINGULAR * values.size
    made = vectors[:, kept] @ ((vectors[:, kept].T @ right).T / values[kept]).T
    return np.asarray((scale * made.T).T)


@lean_kernel
def sweep(g, H, diagonal, x, r, last, times):  # type: ignore[no-untyped-def]
    """Coordinate descent: x_j <- prox_g(x_j - r_j / H_jj, 1 / H_jj), r += H dx."""
    for _ in range(times):
        for j in range(x.shape[0]):
            h = diagonal[j]
            new = x[j] - r[j] / h
            if j < last:
                new = prox(g, new, 1.0 / h)
            step = new - x[j]
            if step != 0.0:
                x[j] = new
                for k in range(x.shape[0]):
                    r[k] += step * H[j, k]


@lean_kernel
def pieces(g, diagonal, x, r, last, p, slope):  # type: ignore[no-untyped-def]
    """p_j = prox_g(v_j, t), v_j = x_j - t r_j, t = 1 / H_jj, and the prox's slope at v_j, by differences."""
    for j in range(x.shape[0]):
        t = 1.0 / diagonal[j]
        v = x[j] - r[j] * t
        p[j], slope[j] = v, 1.0
        if j < last:
            p[j] = prox(g, v, t)
            e = 1e-7 * (abs(v) + 1e-30)
            slope[j] = (prox(g, v + e, t) - prox(g, v - e, t)) / (2.0 * e)
