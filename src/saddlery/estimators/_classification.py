"""Linear classification: classes as labels -1 and 1, one problem for two classes or for each of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from saddlery.data.rows import Rows
from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import FLOATS, SPARSE, Data, Linear, Self, weights_of
from saddlery.problem import ERM, Problem

Array = NDArray[Any]

NEVER = 40.0  # below the least intercept: that of a class that has no row, whose probability is to be nothing


class Classification(ClassifierMixin, Linear):
    """A label for each row; one-vs-rest for several classes, unless an estimator says otherwise."""

    _present: Array

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        X, y = validate_data(self, X, y, accept_sparse=SPARSE, dtype=FLOATS, reset=reset)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        weights = weights_of(sample_weight, X)
        present = np.unique(y[weights > 0.0])
        if present.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                f"one class: {present.tolist()[0]!r}"
            )
        if reset:
            self.classes_ = np.unique(y)
        codes = np.searchsorted(self.classes_, y)
        codes[codes == self.classes_.size] = 0
        if not np.array_equal(self.classes_[codes], y):
            raise ValueError(f"y holds labels that the model was not fitted with; its classes are {self.classes_}")
        return Data(X, codes.reshape(-1, 1), weights * self._class_weights(y)[codes], self.classes_)

    def _class_weights(self, y: Array) -> Array:
        """A factor for each class."""
        return np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=y), dtype=np.float64)

    def _problems(self, data: Data) -> list[Problem]:
        rows, total, codes = Rows.of(data.X), float(data.weights.sum()), data.targets[:, 0]
        made: list[Problem] = []
        self._present = self._with_rows(codes, data.weights)
        for k in [1] if self.classes_.size == 2 else self._present:
            loss, penalty = self._terms(total, len(made))
            labels = np.where(codes == k, 1.0, -1.0)
            made.append(ERM(rows, labels, loss, penalty, weights=data.weights, intercept=self.fit_intercept))
        return made

    def _with_rows(self, codes: Array, weights: Array) -> Array:
        """Classes to be fitted: beside an intercept those that have rows, for others there is no minimum."""
        every = np.arange(self.classes_.size)
        return np.unique(codes[weights > 0.0]) if self.fit_intercept else every

    def _unpack(self, points: Sequence[Array], dtype: Any) -> dict[str, Any]:
        made = super()._unpack(points, dtype)
        return self._whole(made) if self.classes_.size > 2 else made

    def _whole(self, made: dict[str, Any]) -> dict[str, Any]:
        """With classes that have no row: coefficients 0 and an intercept that no other is below."""
        if self._present.size == self.classes_.size:
            return made
        coef = np.zeros((self.classes_.size, made["coef_"].shape[1]), dtype=made["coef_"].dtype)
        ends = np.full(self.classes_.size, made["intercept_"].min() - NEVER, dtype=coef.dtype)
        coef[self._present], ends[self._present] = made["coef_"], made["intercept_"]
        return {"coef_": coef, "intercept_": ends}

    def _pack(self) -> list[Array]:
        points = super()._pack()
        return points if len(points) != self.classes_.size else [points[k] for k in self._present]

    def _epochs(self, epochs: list[int]) -> Any:
        return np.array(epochs, dtype=np.int32)

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Used as it is where it is C-ordered or CSR, float64 or float32.
        y : array of shape (n_samples,)
            A label for each row, of any kind.
        sample_weight : array of shape (n_samples,), optional
            The same as repeating rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> Array:
        """Confidence scores: X coef_' + intercept_.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes (above 0: the second), else (n_samples, n_classes)
        """
        scores = self._decision(X)
        return scores.reshape(-1) if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The class of the highest score.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def sparsify(self: Self) -> Self:
        """Keep coef_ as a sparse matrix: less memory where most of it is 0. Returns self."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self: Self) -> Self:
        """Undo ``sparsify``. Returns self."""
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if hasattr(self.coef_, "toarray") else self.coef_
        return self
