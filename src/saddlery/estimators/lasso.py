"""The lasso and the elastic net: min over w of (1/2n) |y - Xw - w0|^2 + alpha (r |w|_1 + (1 - r)/2 |w|^2)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import Data, Linear, Self, penalty_of
from saddlery.estimators._reach import Reached
from saddlery.estimators._regression import MultiRegression
from saddlery.problem import Problem
from saddlery.terms.squared import Squared


class ElasticNet(MultiRegression):
    """Linear least squares with an l1 and an l2 penalty: scikit-learn's ``ElasticNet``, with a certificate.

    Minimises (1 / 2n) sum_i s_i (y_i - <x_i, w> - w0)^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2), weights s
    scaled to the mean 1.

    Parameters
    ----------
    alpha : float
        Weight of the penalty; 0 for none.
    l1_ratio : float
        1 for the lasso, 0 for an l2 penalty alone.
    fit_intercept : bool
        Fit w0, which is not penalised.
    precompute, copy_X, selection
        As in scikit-learn, so that a change of the import is enough; nothing depends on them here.
    max_iter : int
        Epochs at most.
    tol : float
        Relative duality gap to reach.
    warm_start : bool
        Start from the last fit's coefficients and dual point.
    positive : bool
        Only w >= 0.
    random_state : int, RandomState or None
        Of the random draws, where a method makes any. None: 0.
    solver : str or method
        "auto", the name of a method of ``saddlery.methods()``, or ``saddlery.method(name, ...)``.
    max_time : float, optional
        Seconds at most: the best coefficients so far, with their certificate.

    Attributes
    ----------
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        As of ``Ridge``.
    sparse_coef_ : sparse matrix
        coef_ without its zeros.
    dual_gap_ : float or array of shape (n_targets,)
        The gaps of the certificates, under the name that they have in scikit-learn.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "precompute": ["boolean", "array-like"],
        "selection": [StrOptions({"cyclic", "random"})],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_time: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        l1, l2 = self.alpha * self.l1_ratio, self.alpha * (1.0 - self.l1_ratio)
        return Squared(), penalty_of(l1, l2, self.positive)

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Used as it is where it is C-ordered or CSR, float64 or float32.
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            The same as repeating rows.
        check_input : bool
            As in scikit-learn; the data are checked whatever it says.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @property
    def sparse_coef_(self) -> Any:
        """coef_ without its zeros."""
        return sp.csr_matrix(self.coef_)

    def _keep(self, data: Data, problems: Sequence[Problem], reached: Sequence[Reached]) -> None:
        super()._keep(data, problems, reached)
        gaps = np.array([each.certificate.gap for each in reached])
        self.dual_gap_ = float(gaps[0]) if gaps.size == 1 else gaps


class Lasso(ElasticNet):
    """Linear least squares with an l1 penalty: scikit-learn's ``Lasso``, with a certificate.

    Minimises (1 / 2n) sum_i s_i (y_i - <x_i, w> - w0)^2 + alpha |w|_1, weights s scaled to the mean 1.

    Parameters and attributes: those of ``ElasticNet``, whose l1_ratio is 1.
    """

    _parameter_constraints = dict(ElasticNet._parameter_constraints)  # noqa: RUF012
    _parameter_constraints.pop("l1_ratio")

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_time: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time
