"""Linear regression: what models of a number, or of several, share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from saddlery.data.rows import Rows
from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import FLOATS, SPARSE, Data, Linear, Self, weights_of
from saddlery.estimators._reach import Reached
from saddlery.problem import ERM, Problem

Array = NDArray[Any]


class Regression(RegressorMixin, Linear):
    """One target."""

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        given = {"accept_sparse": SPARSE, "dtype": FLOATS, "reset": reset, "y_numeric": True}
        X, y = validate_data(self, X, y, multi_output=isinstance(self, MultiOutputMixin), **given)
        if reset:
            self._one_target = y.ndim == 1
        targets = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
        return Data(X, targets, weights_of(sample_weight, X), flat=y.ndim == 1)

    def _problems(self, data: Data) -> list[Problem]:
        rows, total = Rows.of(data.X), float(data.weights.sum())
        made: list[Problem] = []
        for k, b in enumerate(data.targets.T):
            loss, penalty = self._terms(total, k)
            made.append(ERM(rows, b, loss, penalty, weights=data.weights, intercept=self.fit_intercept))
        return made

    @property
    def _flat(self) -> bool:
        return bool(getattr(self, "_one_target", True))

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Used as it is where it is C-ordered or CSR, float64 or float32.
        y : array of shape (n_samples,), or (n_samples, n_targets) where several targets can be fitted
        sample_weight : array of shape (n_samples,), optional
            The same as repeating rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """X coef_ + intercept_.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._decision(X)


class MultiRegression(MultiOutputMixin, Regression):
    """One target or several, each a problem of its own."""

    def _unpack(self, points: Sequence[Array], dtype: Any) -> dict[str, Any]:
        made = super()._unpack(points, dtype)
        if len(points) == 1:
            made["coef_"] = made["coef_"].reshape(-1)
        if not self.fit_intercept:
            made["intercept_"] = 0.0
        return made

    def _dual_coef(self, reached: Sequence[Reached]) -> Array:
        made = super()._dual_coef(reached)
        return made.reshape(-1) if len(reached) == 1 else made
