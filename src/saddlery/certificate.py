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

No penalty: g* is finite only at 0, and the gap only where A'y = 0. Then what can be had, the smallest of

- P(x) - P* <= |grad P(x)|^2 / (2 mu), where P is mu-strongly convex with mu = delta lambda_min(A'CA) / n > 0, which is
  known where f is delta-strongly convex and A has full column rank and few columns: kind "strong";
- (1/n) sum_i c_i FY + <x, u> + B |u|, where the user knows that |x*| <= B: kind "ball";
- P(x) + (1/n) sum_i c_i f*(0), since y = 0 is feasible: kind "exact", where it is at most a thousandth of P(0), that
  is, where the rows can be fitted (nearly) exactly;

and else no bound: kind "localised", whose `local_gap` is the gap of P(.) + beta/2 |. - x|^2, beta = `Problem.nearness`.
It goes to 0 as x and y go to a solution, and P(x) - P* <= (1 + beta / m) local_gap if P is m-strongly convex.
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
    kind : "exact" (a dual point), "strong" (a proven modulus of P), "ball" (the user's bound of the solution);
        "localised" (no bound: `local_gap` is a figure of how far the point is from solving the problem), "none" (x is
        no point of the problem).
    local_gap : for kind "localised"; NaN elsewhere.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kind: str = "exact"
    local_gap: float = math.nan

    @property
    def figure(self) -> float:
        """The gap, or, where there is none, the localised one: what tells a better point, not how good it is."""
        return self.gap if math.isfinite(self.gap) or math.isnan(self.local_gap) else self.local_gap

    def __str__(self) -> str:
        if not math.isfinite(self.gap):
            local = f", localised gap {self.local_gap:.2e}, which bounds nothing" if self.kind == "localised" else ""
            return f"no bound: objective {self.primal:.10g}, no finite dual value{local}"
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
    if math.isfinite(made.primal) and (not math.isfinite(made.gap) or _says_nothing(problem, made, dual)):
        made, dual = _otherwise(problem, Point(flat, z, dual, u), made.primal, loss_gap)
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


# ---- no penalty ----------------------------------------------------------------------------------------------------

FITTED = 1e-3  # of P(0): a bound by y = 0 that is larger says nothing of use


class Point(NamedTuple):
    """x, its predictions z, the repaired y and its force u."""

    x: Array
    z: Array
    y: Array
    u: Array


def _says_nothing(problem: Problem, made: Certificate, y: Array) -> bool:
    """Is it only that y = 0 is feasible without a penalty, at a point that is far from fitting the rows?"""
    return not y.any() and _free(problem) and made.gap > FITTED * (problem.scale or 0.0)


def _free(problem: Problem) -> bool:
    """Is nothing penalised?"""
    return _verbs.separable(problem.g) and _verbs.reach(problem.g) == (0.0, 0.0)


def _otherwise(problem: Problem, at: Point, primal: float, loss_gap: float) -> tuple[Certificate, Array]:
    """The certificate where the gap of y is infinite, and the y that it is of."""
    found = []
    if _free(problem):
        found = [(_strong(problem, at.z), "strong"), (_ball(problem, at, loss_gap), "ball")]
        zero = np.zeros_like(at.y)
        fitted = problem.losses(at.z, zero)[1]
        if fitted <= FITTED * (problem.scale or 0.0):
            found.append((fitted, "exact"))
    gap, kind = min(found, default=(math.inf, ""), key=lambda each: each[0])
    if gap < math.inf:
        return _certificate(problem, primal, gap, kind), zero if kind == "exact" else at.y
    local = problem.near_gap(at.x, at.z, at.y, at.u, problem.nearness)
    return Certificate(primal, -math.inf, math.inf, math.inf, "localised", local), at.y


def _strong(problem: Problem, z: Array) -> float:
    """P(x) - P* <= |grad P(x)|^2 / (2 mu)."""
    if problem.curvature == 0.0:
        return math.inf
    y = problem.gradients(z).reshape(-1)
    slope = problem.coupling.force(y)
    mean = float(y.mean()) if problem.intercept else 0.0
    return (float(slope @ slope) + mean * mean) / (2.0 * problem.curvature)


def _ball(problem: Problem, at: Point, loss_gap: float) -> float:
    """P* >= min_{|x| <= B} <x, u> - (1/n) sum_i c_i f*, if |x*| <= B."""
    if problem.radius is None:
        return math.inf
    return max(loss_gap + float(at.x @ at.u) + problem.radius * float(np.linalg.norm(at.u)), 0.0)
