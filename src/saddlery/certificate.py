"""How far a point is from the best there is: a bound, or nothing.

For any x and any dual feasible y, P(x) - P* <= P(x) - D(y). The gap is computed on the original problem from a
repaired dual point, as a sum of nonnegative terms,

    P(x) - D(y) = (1/n) sum_i c_i FY(z_i, y_i / c_i) + [ g(x) + g*(-u) + <x, u> ],   z = A x + x0,  u = A'y / n,

each a Fenchel-Young inequality, so that it has no cancellation floor. Repairs, each of which leaves an optimal y alone:

y_i / c_i is moved to where f* is finite, and y to where g*(-u) is and the intercept's sum_i y_i = 0 (``repair.py``).

No penalty: g* is finite only at 0, and the gap only where A'y = 0. Then what can be had, the smallest of

- P(x) - P* <= |grad P(x)|^2 / (2 mu), where P is mu-strongly convex with mu = delta lambda_min(A'CA) / n > 0, which is
  known where f is delta-strongly convex and A has full column rank and few columns: kind "strong";
- (1/n) sum_i c_i FY + <x, u> + B |u|, where the user knows that |x*| <= B, or where that can be proved (few columns,
  near the solution: ``unpenalised.py``): kind "ball";
- P(x) + (1/n) sum_i c_i f*(0), since y = 0 is feasible: kind "exact", where it is at most a thousandth of P(0), that
  is, where the rows can be fitted (nearly) exactly;

and else no bound: kind "localised", whose `local_gap` is the gap of P(.) + beta/2 |. - x|^2, a small beta
(``nearby.py``). It goes to 0 as x and y go to a solution, and P(x) - P* <= (1 + beta / m) local_gap if P is m-strongly
convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.nearby import near_gap, nearness
from saddlery.problem import Problem
from saddlery.repair import balance, into_reach
from saddlery.terms import _verbs
from saddlery.terms._sums import feasible
from saddlery.unpenalised import bound

Array = NDArray[Any]

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
    kind : "exact" (a dual point), "strong" (a proven modulus of P), "ball" (a bound of the solution, the user's or
        proved); "localised" (no bound: `local_gap` is a figure of how far the point is from solving the problem),
        "none" (x is no point of the problem).
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

    def better_than(self, other: Certificate) -> bool:
        """By the gap; where neither has one by the localised gap, or else by the objective."""
        if math.isfinite(self.gap) or math.isfinite(other.gap):
            return self.gap < other.gap
        if math.isfinite(self.local_gap) or math.isfinite(other.local_gap):
            return self.local_gap < other.local_gap or math.isnan(other.local_gap)
        return self.primal < other.primal or math.isnan(other.primal)

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
        balance(problem, dual)
    z, u = problem.coupling.both(flat, dual)
    if problem.intercept:
        z += np.tile(x0, z.size // problem.q)
    losses, loss_gap, least = problem.losses(z, dual)
    if loss_gap == math.inf and math.isfinite(losses):
        feasible(problem.coupling.blocks, problem.f, dual, problem.b, problem.c)
        if problem.intercept:
            balance(problem, dual)
        u = problem.coupling.force(dual)
        _, loss_gap, least = problem.losses(z, dual)
    moved = into_reach(problem, dual, u, flat)
    if moved is not None:
        dual, u = moved
        _, loss_gap, least = problem.losses(z, dual)
    value, penalty_gap, smallest = problem.penalty(flat, -u)
    _convex(problem, losses + value, least, smallest)
    made = _certificate(problem, losses + value, loss_gap + penalty_gap)
    if math.isfinite(made.primal) and (not math.isfinite(made.gap) or _says_nothing(problem, made, dual)):
        made, dual = _otherwise(problem, Point(flat, x0, z, dual, u), made.primal, loss_gap)
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


# ---- no penalty ----------------------------------------------------------------------------------------------------

NEAR = 1e-2  # of P(0): a localised gap from which on a bound is looked for that costs more to find
FITTED = 1e-3  # of P(0): a bound by y = 0 that is larger says nothing of use


class Point(NamedTuple):
    """x and its intercepts, their predictions z, the repaired y and its force u."""

    x: Array
    x0: Array
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
    local = near_gap(problem, at.x, at.z, at.y, at.u, nearness(problem))
    if _free(problem) and local <= NEAR * (problem.scale or 0.0):
        proved = bound(problem, at.x, at.x0, at.z)
        if proved is not None:
            return _certificate(problem, primal, proved.gap, "ball"), proved.y
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
