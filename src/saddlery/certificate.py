"""How far a point is from the best there is: a bound, or nothing.

For any x and any dual feasible y, P(x) - P* <= P(x) - D(y). The gap is computed on the original problem from a
repaired dual point, as a sum of nonnegative terms,

    P(x) - D(y) = (1/n) sum_i c_i FY(z_i, y_i / c_i) + [ g(x) + g*(-u) + <x, u> ],   z = A x + x0,  u = A'y / n,

each a Fenchel-Young inequality, so that it has no cancellation floor. Repairs, each of which leaves an optimal y alone:

1. y_i / c_i is moved to where f* is finite, if it is not there.
2. Intercept: sum_i y_i = 0 by scaling down the heavier sign (for classes: each class by the stationary distribution
   of the Markov chain that the class sums make).
3. g* finite only on an interval (lam = 0, l1): y is scaled down until u is in it. Finite only on a half line
   (lam = 0, x >= 0): y is moved along W A w, W the room that each y_i has in its interval, until u is in it; or to 0.
4. g* finite only at 0 (no penalty): no finite gap. Where f is delta-strongly convex and A has full column rank and few
   columns, P is mu-strongly convex with mu = delta lambda_min(A'CA) / n, and P(x) - P* <= |grad P(x)|^2 / (2 mu):
   kind "strong".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.problem import Problem
from saddlery.terms import _verbs
from saddlery.terms._sums import Single, conj_sum, feasible, rooms

Array = NDArray[Any]

REPAIRS = 10  # attempts to move a dual point into a cone
ROUNDING = 1e-9  # of the objective: a negative part of the gap that is larger is no rounding error


@dataclass(frozen=True)
class Certificate:
    """P(x) is at most `gap` above the minimum.

    Attributes
    ----------
    primal : P(x).
    dual : primal - gap, a lower bound of the minimum. Minus infinity where there is no bound.
    gap : bound of P(x) - P*; infinite where there is none.
    relative_gap : gap / P(0), or, where P(0) is not finite and positive, gap / max(|primal|, |dual|).
    kind : "exact" (a dual point), "strong" (a proven modulus of P), "none" (no bound).
    local_gap : a figure that is not a bound, for kind "none"; NaN elsewhere.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kind: str = "exact"
    local_gap: float = math.nan

    def __str__(self) -> str:
        if not math.isfinite(self.gap):
            return f"no bound: objective {self.primal:.10g}, no finite dual value"
        return (
            f"objective {self.primal:.10g} is at most {self.gap:.2e} above the minimum "
            f"(relative gap {self.relative_gap:.2e}, {self.kind})"
        )


class Certified(NamedTuple):
    """A certificate and the points that it is about: x, and the repaired dual point y, both in a user's shape."""

    certificate: Certificate
    x: Array
    y: Array


def certify(problem: Problem, x: Any, y: Any) -> Certified:
    """The certificate of x and y. Nothing about y is trusted: it is repaired here."""
    flat, x0 = problem.unpack(x)
    dual = problem.flat(y)
    if not problem.c.all():
        dual[problem.coupling.spread(problem.c) == 0.0] = 0.0
    if problem.intercept:
        _balance(problem, dual)
    z, u = problem.coupling.both(flat, dual)
    if problem.intercept:
        z += np.tile(x0, z.size // problem.q)
    losses, loss_gap, least = problem.losses(z, dual)
    if loss_gap == math.inf and math.isfinite(losses):
        feasible(problem.coupling.blocks, problem.f, dual, problem.b, problem.c)
        if problem.intercept:
            _balance(problem, dual)
        u = problem.coupling.force(dual)
        _, loss_gap, least = problem.losses(z, dual)
    moved = _into_reach(problem, dual, u, flat)
    if moved is not None:
        dual, u = moved
        _, loss_gap, least = problem.losses(z, dual)
    value, penalty_gap, smallest = problem.penalty(flat, -u)
    _convex(problem, losses + value, least, smallest)
    made = _certificate(problem, losses + value, loss_gap + penalty_gap)
    if not math.isfinite(made.gap) and math.isfinite(made.primal):
        made = _strong(problem, z, made.primal) or made
    return Certified(made, problem.pack(flat, x0), dual.reshape(problem.y_shape))


def relative(problem: Problem, primal: float, gap: float) -> float:
    """The gap in units of P(0), or of the larger of the two objective values."""
    if gap == 0.0 or not math.isfinite(gap):
        return gap
    return gap / (problem.scale or max(abs(primal), abs(primal - gap)))


def _convex(problem: Problem, primal: float, least_loss: float, least_penalty: float) -> None:
    """Refuse a negative Fenchel-Young term that is more than rounding, in units of the objective."""
    unit = ROUNDING * (problem.scale or abs(primal))
    for term, least, verb in ((problem.f, least_loss, "fenchel_young"), (problem.g, least_penalty, "slack")):
        if least < -unit:
            raise ValueError(
                f"a part of the gap is negative ({least:.1e}), which cannot be for convex terms: conj is not the "
                f"conjugate of value in {type(term).__name__}, or numbers as small as these are lost in cancellation, "
                f"and it needs a method {verb}"
            )


def _certificate(problem: Problem, primal: float, gap: float, kind: str = "exact") -> Certificate:
    if not math.isfinite(gap) or math.isnan(primal):
        return Certificate(primal, -math.inf, math.inf, math.inf, "none")
    return Certificate(primal, primal - gap, gap, relative(problem, primal, gap), kind)


# ---- repairs -----------------------------------------------------------------------------------------------------


def _balance(problem: Problem, y: Array) -> None:
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


def _into_reach(problem: Problem, y: Array, u: Array, x: Array) -> tuple[Array, Array] | None:
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
            _balance(problem, kept)
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


# ---- no penalty, strongly convex loss ----------------------------------------------------------------------------


def _strong(problem: Problem, z: Array, primal: float) -> Certificate | None:
    """P* >= P(x) - |grad P(x)|^2 / (2 mu), where nothing is penalised."""
    if problem.curvature == 0.0 or not _verbs.separable(problem.g) or _verbs.reach(problem.g) != (0.0, 0.0):
        return None
    y = problem.gradients(z)
    slope = problem.coupling.force(y)
    mean = float(y.mean()) if problem.intercept else 0.0
    gap = (float(slope @ slope) + mean * mean) / (2.0 * problem.curvature)
    return _certificate(problem, primal, gap, "strong")
