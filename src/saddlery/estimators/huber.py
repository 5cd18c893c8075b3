"""Robust regression with a scale of its own: min over w, w0, sigma > 0 of

    sum_i s_i sigma (1 + H(r_i / sigma)) + alpha |w|^2,  r_i = <x_i, w> + w0 - y_i,  H(t) = t^2, beyond e 2 e |t| - e^2.

With h = H / 2 (the loss ``Huber(e)``), S the sum of the weights and x = w / sigma, this is S times

    P(w, sigma) = sigma (1 + 2 P_sigma(x)),   P_sigma(x) = (1/n) sum_i c_i h(<a_i, x> + x0 - b_i / sigma) + lam/2 |x|^2,

lam = alpha sigma / S: for a given sigma one of this library's problems. sigma H(r / sigma) is the perspective of H, so
P is convex in both, and its slope in sigma, w at its best, is 1 - q, q = (1/n) sum_i y_i^2 / c_i, y the dual point of
P_sigma. So q = 1 is solved for sigma, by the secant method in log q and log sigma within a bracket.

Certificate: v = 2 y is dual feasible if besides q <= 1, which scaling y by 1 / sqrt(q) brings about, and then

    P(w, sigma) - P* <= sigma (1 - q + 2 (P_sigma(x) - D_sigma(y))),   a sum of nonnegative terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from saddlery.certificate import Certificate, certify
from saddlery.data.rows import Rows
from saddlery.estimators._linear import Data, Linear, penalty_of
from saddlery.estimators._reach import How, Reached, reach
from saddlery.estimators._regression import Regression
from saddlery.problem import ERM, Problem
from saddlery.result import History, Status
from saddlery.terms.huber import Huber

Array = NDArray[Any]

LEAST = 10.0 * float(np.finfo(np.float64).eps)  # of sigma, as in scikit-learn
SOLVES = 60  # of problems with a given sigma, at most
EXACT = 1e-4  # times (log q)^2: how exactly P_sigma is solved, so that the next q is right to a hundredth of this one
LARGER = 4.0  # factor of sigma while there is no bracket, at most


class HuberRegressor(Regression):
    """Linear regression that is robust to outliers: scikit-learn's ``HuberRegressor``, with a certificate.

    Minimises sum_i s_i sigma (1 + H((<x_i, w> + w0 - y_i) / sigma)) + alpha |w|^2 over w, w0 and sigma > 0, with
    H(t) = t^2 for |t| <= epsilon, else 2 epsilon |t| - epsilon^2.

    Parameters
    ----------
    epsilon : float
        Errors beyond epsilon sigma count as those of outliers, linearly. 1 or more.
    max_iter : int
        Epochs at most.
    alpha : float
        Weight of the penalty; 0 for none.
    warm_start : bool
        Start from the last fit's coefficients, dual point and scale.
    fit_intercept : bool
        Fit w0, which is not penalised.
    tol : float
        Relative duality gap to reach.
    solver : str or method
        "auto", the name of a method of ``saddlery.methods()``, or ``saddlery.method(name, ...)``.
    random_state : int, RandomState or None
        Of the random draws, where a method makes any. None: 0.
    max_time : float, optional
        Seconds at most: the best coefficients so far, with their certificate.

    Attributes
    ----------
    scale_ : float
        sigma.
    outliers_ : array of bool
        The rows whose error is beyond epsilon sigma.
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        As of ``Ridge``; the certificate is about w, w0 and sigma together.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "epsilon": [Interval(Real, 1.0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 1000,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        solver: Any = "auto",
        random_state: Any = None,
        max_time: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.solver = solver
        self.random_state = random_state
        self.max_time = max_time

    scale_: float
    outliers_: Array

    @property
    def _flat(self) -> bool:
        return True

    def _family(self, data: Data) -> Family:
        alpha = float(self.alpha) / float(data.weights.sum())
        return Family(Rows.of(data.X), data.targets[:, 0], data.weights, float(self.epsilon), alpha, self.fit_intercept)

    def _problems(self, data: Data) -> list[Problem]:
        """The problem of the scale that is known, or is a first guess."""
        family = self._family(data)
        warm = self.warm_start and hasattr(self, "scale_")
        self._known = family, float(self.scale_) if warm else family.guess()
        return [family.at(self._known[1])]

    def _again(self, problems: list[Problem], data: Data) -> list[Problem]:
        return self._problems(data)

    def _solve(self, problems: Sequence[Problem], starts: Sequence[Any], how: How) -> list[Reached]:
        family, sigma = self._known
        del self._known
        start = starts[0]
        if start is not None:
            x, y = start if isinstance(start, tuple) else (start, None)
            start = x / sigma if y is None else (x / sigma, y / 2.0)
        reached, self._sigma = search(family, sigma, start, how)
        return [reached]

    def _keep(self, data: Data, problems: Sequence[Problem], reached: Sequence[Reached]) -> None:
        self.scale_ = self._sigma
        del self._sigma
        super()._keep(data, problems, reached)
        x = self._pack()[0]
        if data.X.dtype == np.float32:
            self.certificate_ = self._family(data).certified(self.scale_, x, [reached[0].y])
        error = np.abs(problems[0].predictions(x) - data.targets[:, 0])
        self.outliers_ = error > self.scale_ * self.epsilon

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """How far coefficients and scale are from the best for these data, at most: computed anew.

        Parameters
        ----------
        X, y, sample_weight
            The data of the fit, or others: the certificate is about the problem that they make.

        Returns
        -------
        Certificate
            In units of the mean loss.
        """
        check_is_fitted(self)
        data = self._data(X, y, sample_weight, reset=False)
        dual = self._duals()[0]
        return self._family(data).certified(float(self.scale_), self._pack()[0], [] if dual is None else [dual])


class Family:
    """The problems P_sigma: X, labels b, weights, epsilon, alpha / S."""

    def __init__(self, rows: Rows, b: Array, weights: Array, epsilon: float, alpha: float, intercept: bool) -> None:
        self.rows, self.b, self.weights, self.epsilon = rows, b, weights, epsilon
        self.alpha, self.intercept = alpha, intercept

    def at(self, sigma: float) -> Problem:
        """P_sigma."""
        penalty = penalty_of(0.0, self.alpha * sigma)
        return ERM(
            self.rows, self.b / sigma, Huber(self.epsilon), penalty, weights=self.weights, intercept=self.intercept
        )

    def guess(self) -> float:
        """A first scale: that of the labels themselves."""
        live = self.weights > 0.0
        centre = np.median(self.b[live]) if self.intercept else 0.0
        spread = float(np.sqrt(np.average((self.b[live] - centre) ** 2, weights=self.weights[live])))
        return max(spread, LEAST)

    @cached_property
    def scale(self) -> float:
        """The least P for coefficients of 0, by which gaps are divided."""
        c, b = self.weights / self.weights.mean(), np.abs(self.b)
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
        problem, x = self.at(sigma), w / sigma
        ys = [problem.gradients(problem.predictions(x)), *(v / 2.0 for v in duals if v.shape == problem.y_shape)]
        made = [self.bound(problem, sigma, x, y)[0] for y in ys]
        return min(made, key=lambda each: each.gap)

    def bound(self, problem: Problem, sigma: float, x: Array, y: Array) -> tuple[Certificate, Array]:
        """The certificate of (sigma x, sigma) by 2 y, scaled until it is feasible, and that y."""
        q = excess(problem, y)
        inner = certify(problem, x, y / math.sqrt(q) if q > 1.0 else y)
        slack = max(1.0 - excess(problem, inner.y), 0.0)
        made = inner.certificate
        primal = sigma * (1.0 + 2.0 * made.primal)
        gap = sigma * (slack + 2.0 * made.gap)
        local = sigma * (slack + 2.0 * made.local_gap)
        return Certificate(primal, primal - gap, gap, gap / self.scale, made.kind, local), inner.y


def excess(problem: Problem, y: Array) -> float:
    """q = (1/n) sum_i y_i^2 / c_i."""
    live = problem.c > 0.0
    return float((y[live] ** 2 / problem.c[live]).sum() / problem.n)


def search(family: Family, sigma: float, start: Any, how: How) -> tuple[Reached, float]:
    """Solve for sigma: q = 1. Returns what was reached for w = sigma x, v = 2 y, and sigma."""
    best: tuple[Reached, float] | None = None
    rows: list[tuple[float, ...]] = []
    low, high = LEAST, math.inf
    tried: list[tuple[float, float]] = []
    epochs, seconds, idle, notes, status = 0, 0.0, 0, [], Status.EPOCHS
    for _ in range(SOLVES):
        problem = family.at(sigma)
        exact = min(0.1 * how.tol, max(EXACT * tried[-1][1] ** 2, 1e-15)) if tried else 0.1 * how.tol
        inner = reach(problem, replace(how.less(epochs, seconds), tol=exact, exactly=bool(tried)), start)
        certificate, y = family.bound(problem, sigma, inner.x, inner.y)
        ends = inner.history.rows[-1]
        rows.append((epochs + ends[0], ends[1], ends[2], seconds + ends[3], *_figures(certificate)))
        epochs, seconds = epochs + inner.epochs, seconds + inner.seconds
        notes += [note for note in inner.notes if note not in notes]
        idle = 0 if best is None or certificate.gap < 0.5 * best[0].certificate.gap else idle + 1
        if best is None or certificate.better_than(best[0].certificate):
            best = replace(inner, x=sigma * inner.x, y=2.0 * y, certificate=certificate), sigma
        if best[0].certificate.relative_gap <= how.tol:
            status = Status.CONVERGED
        if not inner.converged and inner.status is not Status.STALLED:
            status = status if status.ok else inner.status
            break
        enough = (epochs == 0 and start is not None) or inner.method != "newton" or idle >= 2
        if (status.ok and enough) or best[0].certificate.gap == 0.0:
            break
        q = excess(problem, inner.y)
        low, high = (max(low, sigma), high) if q > 1.0 else (low, min(high, sigma))
        if (sigma == LEAST and q <= 1.0) or not high > low * (1.0 + 4e-16):
            break
        tried.append((math.log(sigma), math.log(max(q, 1e-300))))
        before, sigma = sigma, following(tried, low, high)
        start = inner.x * (before / sigma), inner.y
    assert best is not None
    reached, sigma = best
    if not status.ok and status is Status.EPOCHS and epochs < how.max_iter:
        status = Status.STALLED
    passes = 0.0
    for k, row in enumerate(rows):  # passes of the solves, added up
        passes += row[1]
        rows[k] = (row[0], passes, *row[2:])
    return replace(reached, status=status, epochs=epochs, seconds=seconds, history=History(rows), notes=notes), sigma


def _figures(certificate: Certificate) -> tuple[float, float, float]:
    return certificate.primal, certificate.dual, certificate.gap


def following(tried: list[tuple[float, float]], low: float, high: float) -> float:
    """The next sigma: by the secant of log q over log sigma, whose slope is -2 where no row is an outlier."""
    at, value = tried[-1]
    slope = -2.0
    if len(tried) > 1 and tried[-2][0] != at:
        seen = (value - tried[-2][1]) / (at - tried[-2][0])
        slope = seen if seen < -1e-3 else slope
    limit = math.log(LARGER) * (1.0 if high < math.inf and low > LEAST else len(tried))  # ever longer, with no bracket
    sigma = math.exp(at + max(-limit, min(limit, -value / slope)))
    if not low < sigma < high and low > LEAST and high < math.inf:
        sigma = math.sqrt(low * high)
    return max(sigma, LEAST)
