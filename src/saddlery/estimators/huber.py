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

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from saddlery.certificate import Certificate
from saddlery.data.rows import Rows
from saddlery.estimators._linear import Data, Linear
from saddlery.estimators._reach import How, Reached
from saddlery.estimators._regression import Regression
from saddlery.estimators._scales import Family, search
from saddlery.problem import Problem

Array = NDArray[Any]


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
            w, v = start if isinstance(start, tuple) else (start, None)
            x = family.inward(w, sigma)
            start = x if v is None else (x, v / 2.0)
        reached, self._sigma = search(family, sigma, start, how)
        return [reached]

    def _keep(self, data: Data, problems: Sequence[Problem], reached: Sequence[Reached]) -> None:
        self.scale_ = self._sigma
        del self._sigma
        super()._keep(data, problems, reached)
        x = self._pack()[0]
        error = np.abs(problems[0].predictions(x) - data.targets[:, 0])
        self.outliers_ = error > self.scale_ * self.epsilon

    def _certified(self, data: Data, problem: Problem, x: Array, y: Array) -> Certificate:
        return self._family(data).certified(self.scale_, x, [y])

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
