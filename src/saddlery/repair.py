"""Dual points moved to where the dual is finite, each repair such that an optimal y stays where it is.

1. Intercept: sum_i y_i = 0 by scaling down the heavier sign (for classes: each class by the stationary distribution
   of the Markov chain that the class sums make).
2. g* finite only on an interval (lam = 0, l1): y is scaled down until u is in it. Finite only on a half line
   (lam = 0, x >= 0): y is moved along W A w, W the room that each y_i has in its interval, until u is in it; or to 0.
   Where that cone has no interior (a column and its negative, say) it cannot be reached but at 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.problem import Problem
from saddlery.terms import _verbs
from saddlery.terms._sums import Single, conj_sum, feasible, rooms

Array = NDArray[Any]

REPAIRS = 10  # attempts to move a dual point into a cone


def balance(problem: Problem, y: Array) -> None:
    """Make every output's y sum to 0, in place, by scaling within the (star-shaped) domain of f*."""
    if isinstance(problem.coupling.blocks, Single):
        up, down = float(y[y > 0.0].sum()), -float(y[y < 0.0].sum())
        heavy = y > 0.0 if up > down else y < 0.0
        y[heavy] *= min(up, down) / max(up, down, 1e-300)
        left = float(y.sum())  # what rounding leaves over, taken from the largest of its sign
        if left != 0.0:
            k = int(np.argmax(np.sign(left) * y))
            y[k] -= left if abs(left) < abs(y[k]) else 0.0
        return
    classes, labels = problem.q, problem.b.astype(np.int64)
    rows = y.reshape(-1, classes)
    flow = np.zeros((classes, classes))
    np.add.at(flow, labels, rows)
    shares = _stationary(flow)
    rows *= (shares / max(shares.max(), 1e-300))[labels, None]


def _stationary(flow: Array) -> Array:
    """pi >= 0, not 0, with pi @ flow = 0 for a matrix of nonnegative off-diagonal entries whose rows sum to 0.

    Elimination without subtractions (Grassmann, Taksar and Heyman), so that every entry is right to rounding.
    """
    G = np.maximum(flow, 0.0)
    np.fill_diagonal(G, 0.0)
    first = 0
    for k in range(G.shape[0] - 1, 0, -1):
        leaving = G[k, :k].sum()
        if leaving == 0.0:  # k leads to none of 0 .. k-1
            first = k
            break
        G[:k, k] /= leaving
        G[:k, :k] += np.outer(G[:k, k], G[k, :k])
        np.fill_diagonal(G[:k, :k], 0.0)
    pi = np.zeros(G.shape[0])
    pi[first] = 1.0
    for k in range(first + 1, G.shape[0]):
        pi[k] = pi[:k] @ G[:k, k]
    return pi


def into_reach(problem: Problem, y: Array, u: Array, x: Array) -> tuple[Array, Array] | None:
    """(y, u) moved to where g*(-u) is finite; None where it already is, or where no way is known."""
    if not _verbs.separable(problem.g):
        own = getattr(problem.g, "reach_scale", None)
        scale = float(own(-u)) if own else _finite_scale(problem, -u)
    elif getattr(type(problem.g), "reach", None) is None:
        scale = _finite_scale(problem, -u)
    else:
        low, high = _verbs.reach(problem.g)
        if (low == 0.0) != (high == 0.0):
            return _into_cone(problem, y, u, x, 1.0 if high == 0.0 else -1.0)
        top, bottom = float((-u).max()), float((-u).min())
        scale = min(1.0, high / top if top > high else 1.0, low / bottom if bottom < low else 1.0)
    if scale == 1.0 or scale == 0.0:
        return None
    scale *= 1.0 - 1e-13  # inside, also when A'y is summed in another order
    return y * scale, u * scale


def _finite_scale(problem: Problem, v: Array) -> float:
    """The largest s in [0, 1] for which g*(s v) is finite, of a penalty that does not say where it is: by bisection."""

    def finite(scale: float) -> bool:
        g, at = problem.g, scale * v
        return math.isfinite(conj_sum(g, at) if _verbs.separable(g) else g.conj(at))

    low, high = 0.0, 1.0
    if finite(1.0):
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if finite(middle) else (low, middle)
    return low


def _into_cone(problem: Problem, y: Array, u: Array, x: Array, sign: float) -> tuple[Array, Array] | None:
    """Move y so that sign * u >= 0: y + sign W (A w + w0), A'W(A w + w0) / n = missing, its sum 0 for the intercept.

    w is nonzero where something is missing or x is; other coordinates of u that fall below 0 by the move join them, and
    all is done again. A little more than what is missing is asked for, and never less than what rounding can undo.
    Where that fails, y = 0, which is in every cone.
    """
    missing = np.maximum(-sign * u, 0.0)
    if not missing.any():
        return None
    coupling = problem.coupling
    size = np.sqrt(float(coupling.squares.sum())) * float(np.linalg.norm(y)) / problem.n
    most = max(float(missing.max()), 1e-14 * size)
    support = (missing > 0.0) | (x != 0.0)
    room = np.zeros(coupling.m)
    rooms(coupling.blocks, problem.f, y, problem.b, problem.c, room)
    for _ in range(REPAIRS):
        kept = y + sign * _move(problem, np.where(support, missing + 0.1 * most, 0.0), support, room, 0.05 * most)
        feasible(coupling.blocks, problem.f, kept, problem.b, problem.c)
        if problem.intercept:
            balance(problem, kept)
        force = coupling.force(kept)
        wrong = sign * force < 0.0
        if not wrong.any():
            return kept, force
        if not (wrong & ~support).any():
            break
        support |= wrong
    return np.zeros_like(y), np.zeros_like(u)


def _move(problem: Problem, aim: Array, support: Array, room: Array, close: float) -> Array:
    """W (A w + w0) whose force on the support is about `aim`, by conjugate gradients: a rough solution will do."""
    coupling, q = problem.coupling, problem.q

    def move(w: Array) -> Array:
        ends = np.tile(w[-q:], coupling.m // q) if problem.intercept else 0.0
        return np.asarray(room * (coupling.predictions(w[:-q]) + ends))

    def image(w: Array) -> Array:
        moved = move(w)
        sums = moved.reshape(-1, q).sum(axis=0) / problem.n if problem.intercept else np.zeros(q)
        return np.concatenate([np.where(support, coupling.force(moved), 0.0), sums])

    residual = np.concatenate([aim, np.zeros(q)])
    w, direction, square = np.zeros(residual.size), residual.copy(), float(residual @ residual)
    steepest = 0.0
    for _ in range(100):
        ahead = image(direction)
        bend = float(direction @ ahead)
        steepest = max(steepest, bend / square)
        if not bend > 1e-13 * steepest * float(direction @ direction):  # no way on but along what moves nothing
            break
        step = square / bend
        w += step * direction
        residual -= step * ahead
        last, square = square, float(residual @ residual)
        if np.abs(residual[:-q]).max() + 100.0 * np.abs(residual[-q:]).max() <= close:
            break
        direction = residual + square / last * direction
    return move(w)
