"""The problems behind ``HuberRegressor``: one for each scale sigma, one certificate for all, the search for sigma.

    P(w, sigma) = sigma (1 + 2 P_sigma(x)),   P_sigma(x) = (1/n) sum_i c_i h(<a_i, x> + x0 - b_i / sigma) + lam/2 |x|^2

with h the loss ``Huber(e)``, x = w / sigma, lam = alpha sigma / S. See ``huber.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.certificate import Certificate, certify
from saddlery.data.rows import Rows
from saddlery.estimators._linear import penalty_of
from saddlery.estimators._reach import How, Reached, reach
from saddlery.problem import ERM, Problem
from saddlery.result import History, Status
from saddlery.terms.huber import Huber
from saddlery.unpenalised import bound as free
from saddlery.unpenalised import columns

Array = NDArray[Any]

LEAST = 10.0 * float(np.finfo(np.float64).eps)  # of sigma, as in scikit-learn
SOLVES = 100  # of problems with a given sigma, at most
EXACT = 1e-4  # times (log q)^2: how exactly P_sigma is solved, so that the next q is right to a hundredth of this one
IDLE = 6  # solves that did not halve the gap, after which it is taken for that of rounding
LARGER = 4.0  # factor of sigma while there is no bracket, at most


class Family:
    """The problems P_sigma: X, labels b, weights, epsilon, alpha / S.

    Beside an intercept labels are taken less their median, so that b / sigma stays small where the fit is perfect.
    """

    def __init__(self, rows: Rows, b: Array, weights: Array, epsilon: float, alpha: float, intercept: bool) -> None:
        live = weights > 0.0
        self.shift = float(np.median(b[live])) if intercept else 0.0
        self.rows, self.b, self.weights, self.epsilon = rows, b - self.shift, weights, epsilon
        self.alpha, self.intercept = alpha, intercept
        self.made: dict[str, Any] = {}  # of rows and weights, which every sigma shares

    def at(self, sigma: float) -> Problem:
        """P_sigma."""
        loss, penalty = Huber(self.epsilon), penalty_of(0.0, self.alpha * sigma)
        problem = ERM(self.rows, self.b / sigma, loss, penalty, weights=self.weights, intercept=self.intercept)
        problem.__dict__["made"] = self.made
        return problem

    def inward(self, w: Array, sigma: float) -> Array:
        """x of P_sigma, from coefficients (with their intercept)."""
        x = np.array(w, dtype=np.float64)
        x[-1] -= self.shift if self.intercept else 0.0
        return np.asarray(x / sigma)

    def outward(self, x: Array, sigma: float) -> Array:
        """The coefficients that x of P_sigma stands for."""
        w = sigma * x
        w[-1] += self.shift if self.intercept else 0.0
        return np.asarray(w)

    def guess(self) -> float:
        """A first scale: that of the labels themselves."""
        return max(float(np.sqrt(np.average(self.b**2, weights=self.weights))), LEAST)

    @cached_property
    def scale(self) -> float:
        """The least P for coefficients of 0, by which gaps are divided."""
        c, b = self.weights / self.weights.mean(), np.abs(self.b + self.shift)
        low, high = math.log(LEAST), math.log(max(float(b.max()), LEAST)) + 1.0
        for _ in range(100):  # 1 - q rises with sigma
            middle = (low + high) / 2.0
            q = float(np.mean(c * np.minimum(b / math.exp(middle), self.epsilon) ** 2))
            low, high = (middle, high) if q > 1.0 else (low, middle)
        t = b / math.exp(high)
        losses = np.where(t <= self.epsilon, t * t, 2.0 * self.epsilon * t - self.epsilon**2)
        return math.exp(high) * float(np.mean(c * (1.0 + losses)))

    def certified(self, sigma: float, w: Array, duals: Sequence[Array]) -> Certificate:
        """The best certificate that the dual points v, and that of the predictions, make."""
        problem, x = self.at(sigma), self.inward(w, sigma)
        ys = [problem.gradients(problem.predictions(x)), *(v / 2.0 for v in duals if v.shape == problem.y_shape)]
        made = [self.bound(problem, sigma, x, y)[0] for y in ys]
        return min(made, key=lambda each: each.gap)

    def bound(self, problem: Problem, sigma: float, x: Array, y: Array) -> tuple[Certificate, Array]:
        """The certificate of (sigma x, sigma) by 2 y, scaled until it is feasible, and that y."""
        if problem.lam == 0.0:
            return self._free(problem, sigma, x, y)
        q = excess(problem, y)
        inner = certify(problem, x, y / math.sqrt(q) if q > 1.0 else y)  # repairs make y smaller, and q
        slack = (sigma - LEAST) * (1.0 - excess(problem, inner.y))
        if slack < -1e-12 * sigma:  # so that this cannot be
            return self._certificate(problem, sigma, x, math.inf), inner.y
        gap = max(slack, 0.0) + 2.0 * sigma * inner.certificate.gap
        return self._certificate(problem, sigma, x, gap), inner.y

    def _free(self, problem: Problem, sigma: float, x: Array, y: Array) -> tuple[Certificate, Array]:
        """Without a penalty: y moved to A'y = 0 and scaled; what is left of u = A'y / n by a bound of |w*|.

        That bound, with y^ = y / 2 and s_i = c_i / 2, for which q(y^ + s) <= 1 and |y^| + s <= epsilon c:
        P(w*, sigma*) >= 2 <u^, w*> + (1/n) sum_i c_i |r_i| - (2/n) sum_i y^_i b_i,  |r_i| >= |<a_i, w*>| - |b_i|, and
        (1/n) sum_i c_i |<a_i, w*>| >= sqrt(lambda_min(A'C^2 A)) |w*| / n.
        """
        flat, x0 = problem.unpack(x)
        moved = free(problem, flat, x0, problem.predictions(x).reshape(-1))
        if moved is None:
            return self._certificate(problem, sigma, x, math.inf), y
        y = moved.y / math.sqrt(max(excess(problem, moved.y), 1.0))
        A, n, b = columns(problem), problem.n, self.b
        u, long = A.T @ y / n, np.concatenate([flat, x0]) if problem.intercept else flat
        least = float(np.linalg.eigvalsh(A.T @ ((problem.c**2)[:, None] * A))[0])
        least -= 1e-15 * A.shape[1] * float(np.einsum("ij,ij,i->", A, A, problem.c**2))
        steep = math.sqrt(max(least, 0.0)) / n - float(np.linalg.norm(u))
        primal = sigma * (1.0 + 2.0 * problem.primal(x))
        fixed = abs(float(y @ b)) / n + float(problem.c @ np.abs(b)) / n
        fitted = problem.losses(problem.predictions(x).reshape(-1), y)[1]
        slack = (sigma - LEAST) * max(1.0 - excess(problem, y), 0.0)
        gap = math.inf
        if steep > 0.0:
            gap = slack + 2.0 * sigma * (fitted + float(long @ u))
            gap = max(gap, 0.0) + 2.0 * float(np.linalg.norm(u)) * (primal + fixed) / steep
        return self._certificate(problem, sigma, x, gap, "ball"), y

    def _certificate(self, problem: Problem, sigma: float, x: Array, gap: float, kind: str = "exact") -> Certificate:
        primal = sigma * (1.0 + 2.0 * problem.primal(x))
        if not math.isfinite(gap):
            return Certificate(primal, -math.inf, math.inf, math.inf, "localised")
        return Certificate(primal, primal - gap, gap, gap / max(self.scale, LEAST), kind)


def excess(problem: Problem, y: Array) -> float:
    """q = (1/n) sum_i y_i^2 / c_i."""
    live = problem.c > 0.0
    return float((y[live] ** 2 / problem.c[live]).sum() / problem.n)


@dataclass
class Search:
    """The search for q = 1: what was tried, (log sigma, log q), and the bracket that it makes."""

    low: float = math.log(LEAST)
    high: float = math.inf
    tried: list[tuple[float, float]] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def see(self, sigma: float, q: float) -> None:
        """Note a q; q falls where sigma rises."""
        at = math.log(sigma)
        self.tried.append((at, math.log(max(q, 1e-300))))
        if q > 1.0:
            self.low = max(self.low, at)
        else:
            self.high = min(self.high, at)
        self.widths.append(self.high - self.low)

    @property
    def over(self) -> bool:
        """Is there nothing left of the bracket?"""
        return not self.high - self.low > 4e-16 * max(1.0, abs(self.low))

    def following(self) -> float:
        """The next sigma: by the secant, whose slope is -2 where no row is an outlier; by halves where that is slow."""
        at, value = self.tried[-1]
        slope = -2.0
        if len(self.tried) > 1 and self.tried[-2][0] != at:
            slope = min((value - self.tried[-2][1]) / (at - self.tried[-2][0]), -1e-2)
        step, count = abs(value / slope), len(self.tried)
        if min(each[1] for each in self.tried) > 0.0:  # no end above: up, by steps that grow
            aim = self.low + min(max(step, 0.01 * 2.0**count), math.log(LARGER) * count)
        elif max(each[1] for each in self.tried) <= 0.0:  # none below
            aim = self.high - min(max(step, 0.01 * 2.0**count if count > 6 else 0.0), math.log(LARGER) * count)
        else:
            slow = count > 3 and self.widths[-1] > 0.5 * self.widths[-4]
            aim = at - value / slope
            if (slow and abs(value) > 1e-7) or not self.low < aim < self.high:
                aim = (self.low + self.high) / 2.0
        return max(math.exp(max(aim, math.log(LEAST))), LEAST)


def search(family: Family, sigma: float, start: Any, how: How) -> tuple[Reached, float]:
    """Solve for sigma: q = 1. Returns what was reached for w = sigma x, v = 2 y, and sigma."""
    best: tuple[Reached, float] | None = None
    rows: list[tuple[float, ...]] = []
    seen, status = Search(), Status.EPOCHS
    epochs, seconds, passes, idle = 0, 0.0, 0.0, 0
    notes: list[str] = []
    for _ in range(SOLVES):
        problem = family.at(sigma)
        least = 1e-15 if family.alpha > 0.0 else 1e-8  # rounding in u does more where only a ball bounds w
        exact = min(0.1 * how.tol, max(EXACT * seen.tried[-1][1] ** 2, least)) if seen.tried else 0.1 * how.tol
        inner = reach(problem, replace(how.less(epochs, seconds), tol=exact, exactly=bool(seen.tried)), start)
        certificate, y = family.bound(problem, sigma, inner.x, inner.y)
        ends = inner.history.rows[-1]
        passes += ends[1]
        figures = certificate.primal, certificate.dual, certificate.gap
        rows.append((epochs + ends[0], passes, ends[2], seconds + ends[3], *figures))
        epochs, seconds = epochs + inner.epochs, seconds + inner.seconds
        notes += [note for note in inner.notes if note not in notes]
        idle = 0 if best is None or certificate.gap < 0.5 * best[0].certificate.gap else idle + 1
        if best is None or certificate.better_than(best[0].certificate):
            best = replace(inner, x=family.outward(inner.x, sigma), y=2.0 * y, certificate=certificate), sigma
        if best[0].certificate.relative_gap <= how.tol:
            status = Status.CONVERGED
        if not inner.converged and inner.status is not Status.STALLED and inner.certificate.kind != "localised":
            status = status if status.ok else inner.status
            break
        enough = (epochs == 0 and start is not None) or inner.method != "newton" or idle >= IDLE
        if (status.ok and enough) or best[0].certificate.gap == 0.0 or epochs >= how.max_iter:
            break
        q = excess(problem, inner.y)
        seen.see(sigma, q)
        if (sigma == LEAST and q <= 1.0) or seen.over:
            status = status if status.ok else Status.STALLED
            break
        before, sigma = sigma, seen.following()
        start = inner.x * (before / sigma), inner.y
    assert best is not None
    reached, sigma = best
    return replace(reached, status=status, epochs=epochs, seconds=seconds, history=History(rows), notes=notes), sigma
