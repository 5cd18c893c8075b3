"""Logistic regression: min over w of C sum_i s_i f(<x_i, w> + w0, y_i) + r |w|_1 + (1 - r)/2 |w|^2."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from saddlery.data.rows import Rows
from saddlery.estimators._classification import Classification
from saddlery.estimators._linear import Data, Linear, _dense, penalty_of
from saddlery.estimators._reach import Reached
from saddlery.problem import ERM, Problem
from saddlery.terms.logistic import Logistic
from saddlery.terms.softmax import Softmax

Array = NDArray[Any]


class LogisticRegression(Classification):
    """Logistic regression, of two classes or several: scikit-learn's ``LogisticRegression``, with a certificate.

    Minimises C sum_i s_i f(<x_i, w> + w0, y_i) + l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2, f the logistic loss for two
    classes, and for more the multinomial one, or (multi_class="ovr") one logistic loss for each class.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}
        As in scikit-learn before 1.8; "deprecated": by `C` and `l1_ratio` alone. None is C=inf.
    C : float
        Weight of the losses: the smaller, the more is penalised; inf for no penalty.
    l1_ratio : float
        0: l2, 1: l1, between: elastic net.
    dual, intercept_scaling
        As in scikit-learn, so that a change of the import is enough; nothing depends on them here.
    tol : float
        Relative duality gap to reach.
    fit_intercept : bool
        Fit w0, which is not penalised, whatever the solver.
    class_weight : dict, "balanced" or None
        Factors of the weights of rows, by class.
    random_state : int, RandomState or None
        Of the random draws, where a method makes any. None: 0.
    solver : str or method
        "auto", the name of a method of ``saddlery.methods()``, or ``saddlery.method(name, ...)``. scikit-learn's names
        mean "auto", ``sag`` and ``saga`` too: for those of saddlery say ``saddlery.method("saga")``.
    max_iter : int
        Epochs at most.
    verbose : int
        Above 0: a progress bar.
    warm_start : bool
        Start from the last fit's coefficients and dual point.
    n_jobs : int, optional
        Classes that are fitted at the same time, for multi_class="ovr".
    multi_class : {"auto", "ovr", "multinomial"}
        For more than two classes; "auto": multinomial.
    max_time : float, optional
        Seconds at most: the best coefficients so far, with their certificate.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
        Of the multinomial loss, which several intercepts solve, the one whose sum is 0.
    n_iter_ : array of int
        Epochs, one number for each problem.
    dual_coef_, certificate_, converged_, history_, notes_, n_features_in_
        As of ``Ridge``, one row for each class, or one in all for two classes.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "multi_class": [StrOptions({"auto", "ovr", "multinomial"})],
    }

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: Any = "auto",
        max_iter: int = 1000,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        multi_class: str = "auto",
        max_time: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.multi_class = multi_class
        self.max_time = max_time

    @property
    def _multinomial(self) -> bool:
        return self.classes_.size > 2 and self.multi_class != "ovr"

    def _shares(self) -> tuple[float, float]:
        """What C and the penalty's name say: weights of |w|_1 and of |w|^2 / 2 beside sum_i s_i f."""
        ratio = {"l1": 1.0, "l2": 0.0}.get(str(self.penalty), self.l1_ratio)
        if ratio is None:
            if self.penalty == "elasticnet":
                raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
            ratio = 0.0
        if self.penalty is None and self.C not in (1.0, math.inf):
            warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=4)
        if self.penalty is None or math.isinf(self.C):
            return 0.0, 0.0
        return ratio / self.C, (1.0 - ratio) / self.C

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        l1, l2 = self._shares()
        loss = Softmax(self._present.size) if self._multinomial else Logistic()
        return loss, penalty_of(l1 / total, l2 / total)

    def _problems(self, data: Data) -> list[Problem]:
        if not self._multinomial:
            return super()._problems(data)
        codes, weights = data.targets[:, 0], data.weights
        self._present = self._with_rows(codes, weights)
        loss, penalty = self._terms(float(weights.sum()), 0)
        labels = np.minimum(np.searchsorted(self._present, codes), self._present.size - 1)
        return [ERM(Rows.of(data.X), labels, loss, penalty, weights=weights, intercept=self.fit_intercept)]

    def _unpack(self, points: Sequence[Array], dtype: Any) -> dict[str, Any]:
        if not self._multinomial:
            return super()._unpack(points, dtype)
        x = np.asarray(points[0])
        coef, ends = (x[:-1], x[-1]) if self.fit_intercept else (x, np.zeros(x.shape[1]))
        if self._shares() == (0.0, 0.0):  # nothing but the sum's being 0 chooses among equals
            coef = coef - coef.mean(axis=1, keepdims=True)
        return self._whole({"coef_": coef.T.astype(dtype, order="C"), "intercept_": (ends - ends.mean()).astype(dtype)})

    def _pack(self) -> list[Array]:
        if not self._multinomial or np.shape(self.coef_)[0] != self.classes_.size:
            return super()._pack()
        coef = np.asarray(_dense(self.coef_), dtype=np.float64)[self._present].T
        ends = np.asarray(self.intercept_, dtype=np.float64)[self._present]
        return [np.vstack([coef, ends]) if self.fit_intercept else coef.copy()]

    def _duals(self) -> list[Array | None]:
        if not self._multinomial:
            return super()._duals()
        return [None if getattr(self, "dual_coef_", None) is None else -np.asarray(self.dual_coef_).T]

    def _dual_coef(self, reached: Sequence[Reached]) -> Array:
        return -reached[0].y.T + 0.0 if self._multinomial else super()._dual_coef(reached)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if self._multinomial:
            return np.asarray(softmax(scores, axis=1))
        p = expit(scores)
        if p.ndim == 1:
            return np.column_stack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), 1.0 / p.shape[1]))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if self._multinomial:
            return np.asarray(log_softmax(scores, axis=1))
        if scores.ndim == 1:
            return np.asarray(-np.logaddexp(0.0, np.column_stack([scores, -scores])))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))
