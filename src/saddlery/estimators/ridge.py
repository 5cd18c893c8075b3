"""Ridge regression, and classification by it: min over w of sum_i s_i (y_i - <x_i, w> - w0)^2 + alpha |w|^2."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from saddlery.data.rows import Rows
from saddlery.estimators._classification import Classification
from saddlery.estimators._linear import FLOATS, SPARSE, Data, Linear, penalty_of, weights_of
from saddlery.estimators._regression import MultiRegression
from saddlery.problem import ERM
from saddlery.terms.squared import Squared

Array = NDArray[Any]


class Ridge(MultiRegression):
    """Linear least squares with an l2 penalty: scikit-learn's ``Ridge``, with a certificate.

    Minimises sum_i s_i (y_i - <x_i, w> - w0)^2 + alpha |w|^2.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,)
        Weight of the penalty; 0 for none.
    fit_intercept : bool
        Fit w0, which is not penalised.
    copy_X : bool
        As in scikit-learn; X is never written to here, whatever it says.
    max_iter : int, optional
        Epochs at most; None: 1000.
    tol : float
        Relative duality gap to reach.
    solver : str or method
        "auto", the name of a method of ``saddlery.methods()``, or ``saddlery.method(name, ...)``. scikit-learn's names
        mean "auto", ``sag`` and ``saga`` too: for those of saddlery say ``saddlery.method("saga")``.
    positive : bool
        Only w >= 0.
    random_state : int, RandomState or None
        Of the random draws, where a method makes any. None: 0.
    warm_start : bool
        Start from the last fit's coefficients and dual point.
    max_time : float, optional
        Seconds at most: the best coefficients so far, with their certificate.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    dual_coef_ : array of shape (n_samples,) or (n_targets, n_samples)
        Minus the dual point y: for alpha > 0 coef_ is proportional to X' dual_coef_.
    certificate_ : Certificate
        In units of the mean loss; of several targets the sum.
    converged_ : bool
        Is the relative gap at most tol?
    n_iter_ : array of int
        Epochs, one number for each target.
    history_ : History, or a list of one for each target
    notes_ : list of str
        What the run had to say.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        solver: Any = "auto",
        positive: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        max_time: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.max_time = max_time

    def _problems(self, data: Data) -> list[Any]:
        check_alphas(self.alpha, data.targets.shape[1])
        return super()._problems(data)

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        alphas = np.asarray(self.alpha, dtype=np.float64).reshape(-1)
        return Squared(), penalty_of(0.0, alphas[min(target, alphas.size - 1)] / total, self.positive)

    def _epochs(self, epochs: list[int]) -> Any:
        return np.array(epochs, dtype=np.int32)


def check_alphas(alpha: Any, targets: int) -> None:
    """One number, or one for each target; all 0 or more."""
    alphas = np.asarray(alpha, dtype=np.float64).reshape(-1)
    if alphas.size not in (1, targets):
        raise ValueError(f"Number of targets and number of penalties do not correspond: {alphas.size} != {targets}")
    if not (np.isfinite(alphas).all() and (alphas >= 0.0).all()):
        raise ValueError(f"alpha must be finite and 0 or more, found {alpha!r}")


class RidgeClassifier(Classification):
    """Classification by ridge regression on targets -1 and 1, one for each class: scikit-learn's, with a certificate.

    Minimises, for each class (one for two classes), sum_i s_i (t_i - <x_i, w> - w0)^2 + alpha |w|^2.

    Parameters
    ----------
    alpha, fit_intercept, copy_X, max_iter, tol, solver, positive, random_state, warm_start, max_time
        As of ``Ridge``.
    class_weight : dict, "balanced" or None
        Factors of the weights of rows, by class.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        As of ``Ridge``, one row for each class, or one in all for two classes.
    """

    _parameter_constraints = dict(Ridge._parameter_constraints)  # noqa: RUF012

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        class_weight: Any = None,
        solver: Any = "auto",
        positive: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        max_time: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.max_time = max_time

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        y = y if hasattr(y, "tocsr") else np.asarray(y)
        if y.ndim < 2 or y.shape[1] < 2 or type_of_target(y, input_name="y") != "multilabel-indicator":
            self._labels = False
            return super()._data(X, y, sample_weight, reset)
        X, y = validate_data(self, X, y, accept_sparse=SPARSE, dtype=FLOATS, reset=reset, multi_output=True)
        if self.class_weight is not None:
            raise ValueError("class_weight has no meaning for several labels at once; use sample_weight")
        self._labels, y = True, np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        if reset:
            self.classes_ = np.arange(y.shape[1])
        return Data(X, np.where(y > 0, 1.0, -1.0), weights_of(sample_weight, X), flat=False)

    def _problems(self, data: Data) -> list[Any]:
        if not self._labels:
            check_alphas(self.alpha, 1 if self.classes_.size == 2 else self.classes_.size)
            return super()._problems(data)
        self._present = np.arange(self.classes_.size)
        check_alphas(self.alpha, data.targets.shape[1])
        rows, total = Rows.of(data.X), float(data.weights.sum())
        made: list[Any] = []
        for k, b in enumerate(data.targets.T):
            loss, penalty = self._terms(total, k)
            made.append(ERM(rows, b, loss, penalty, weights=data.weights, intercept=self.fit_intercept))
        return made

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        alphas = np.asarray(self.alpha, dtype=np.float64).reshape(-1)
        return Squared(), penalty_of(0.0, alphas[min(target, alphas.size - 1)] / total, self.positive)

    def predict(self, X: Any) -> Array:
        """The class of the highest score; of several labels at once, which are there.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_labels)
        """
        if not getattr(self, "_labels", False):
            return super().predict(X)
        return np.asarray((self.decision_function(X).reshape(-1, self.classes_.size) > 0.0).astype(np.int64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
