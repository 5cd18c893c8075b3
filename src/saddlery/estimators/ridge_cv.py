"""Ridge regression with alpha chosen by cross-validation, by default leaving out one row at a time.

Of one left out: y_i - prediction_(-i) = (y_i - prediction_i) / (1 - h_i), h_i = s_i / S + |T_i (L + alpha)^(-1/2)|^2,
with B = diag(sqrt s) (X - mean), B'B = V L V', T = B V: one decomposition serves every alpha (Golub, Heath and Wahba
1979). With fewer rows than columns both are taken from B B' = Q L Q', as alpha times (B B' + alpha)^(-1), without
cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_method_params

from saddlery.estimators._complaint import complain
from saddlery.estimators._folds import fold_paths, routed, router
from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import Data, Linear, Self
from saddlery.estimators._regression import MultiRegression
from saddlery.estimators.path import strongest_first
from saddlery.estimators.ridge import Ridge

Array = NDArray[Any]


class RidgeCV(MultiRegression):
    """``Ridge`` with alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : array or float
        Values of alpha; above 0 where cv is None.
    fit_intercept : bool
        Fit w0, which is not penalised.
    scoring : str, callable or None
        What is to be large; None: minus the mean squared error where cv is None, else R^2.
    cv : int, splitter, iterable or None
        None: each row is left out once, by a formula: one decomposition of X for all alphas, no fits. Else a path of
        models in every fold, each from the primal and dual solution of the one before.
    gcv_mode : {"auto", "svd", "eigen"}, optional
        As in scikit-learn, so that a change of the import is enough; nothing depends on it here.
    store_cv_results : bool
        Keep `cv_results_`, where cv is None.
    alpha_per_target : bool
        An alpha for each target, where cv is None.
    tol, solver, max_iter, max_time, random_state
        As of ``Ridge``.
    n_jobs : int, optional
        Folds that are fitted at the same time.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
    best_score_ : float or array of shape (n_targets,)
    cv_results_ : array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared errors of rows left out, or, with `scoring`, their predictions.
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        Those of the last fit, as of ``Ridge``.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "alphas": ["array-like", Interval(Real, 0, None, closed="neither")],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        tol: float = 1e-6,
        solver: Any = "auto",
        max_iter: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _model(self, alpha: Any = 1.0) -> Ridge:
        names = ("fit_intercept", "tol", "solver", "max_iter", "max_time", "random_state")
        return Ridge(alpha, **{name: getattr(self, name) for name in names})

    def _grid(self) -> Array:
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        if alphas.size == 0:
            raise ValueError("alphas is empty; at least one number is needed")
        for place, alpha in enumerate(alphas):
            if not (alpha > 0.0 if self.cv is None else alpha >= 0.0):
                raise ValueError(f"alphas[{place}] == {alpha}, must be {'>' if self.cv is None else '>='} 0.0.")
        return alphas

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha, and fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
        **params
            Metadata for splitter and scorer, with metadata routing.

        Returns
        -------
        self
        """
        self._validate_params()
        data = self._data(X, y, sample_weight, reset=True)
        alphas = self._grid()
        split, scored = routed(self, "fit", sample_weight, params)
        if self.cv is None:
            self._leave_one_out(data, alphas, scored)
        else:
            self._cross_validate(data, alphas, split, scored)
        model = self._model(self.alpha_).fit(X, y, sample_weight)
        self._take(model)
        return self

    def _scorer(self) -> Any:
        return None if self.scoring is None else check_scoring(self, scoring=self.scoring)

    def _leave_one_out(self, data: Data, alphas: Array, scored: dict[str, Any]) -> None:
        left_out = left_out_errors(data, self.fit_intercept)
        scorer = self._scorer()
        errors = np.array([left_out(alpha) for alpha in alphas])  # alpha, row, target
        if scorer is None:
            squares = data.weights[None, :, None] * errors**2
            scores = -squares.mean(axis=1)
            kept = squares
        else:
            kept = data.targets[None] - errors
            scores = np.array([self._score(scorer, data, each, scored) for each in kept])
        if not self.alpha_per_target or data.targets.shape[1] == 1:
            means = scores.mean(axis=1)
            best = int(np.argmax(means))
            self.alpha_, self.best_score_ = float(alphas[best]), float(means[best])
        else:
            places = np.argmax(scores, axis=0)
            self.alpha_, self.best_score_ = alphas[places], scores[places, np.arange(places.size)]
        if self.store_cv_results:
            moved = np.moveaxis(kept, 0, 2)
            self.cv_results_ = moved[:, 0, :] if self._flat else moved

    def _score(self, scorer: Any, data: Data, predictions: Array, scored: dict[str, Any]) -> Array:
        """The score for each target, or of all."""
        if self.alpha_per_target:
            pairs = zip(predictions.T, data.targets.T, strict=True)
            return np.array([scorer(Given(), mine, true, **scored) for mine, true in pairs])
        flat = data.targets.shape[1] == 1
        mine, true = (predictions[:, 0], data.targets[:, 0]) if flat else (predictions, data.targets)
        return np.array([scorer(Given(), mine, true, **scored)])

    def _cross_validate(self, data: Data, alphas: Array, split: dict[str, Any], scored: dict[str, Any]) -> None:
        if self.store_cv_results:
            raise ValueError("cv!=None and store_cv_results=True are incompatible")
        if self.alpha_per_target:
            raise ValueError("cv!=None and alpha_per_target=True are incompatible")
        scorer = check_scoring(self._model(), scoring=self.scoring)
        targets = data.targets[:, 0] if self._flat else data.targets
        folds = list(check_cv(self.cv).split(data.X, targets, **split))
        falling = strongest_first("alpha", alphas)
        grid = [{"alpha": alpha} for alpha in falling]

        def score(model: Linear, test: Array) -> float:
            given = _check_method_params(data.X, scored, indices=test)
            return float(scorer(model, data.X[test], targets[test], **given))

        paths = fold_paths(self._model(), data, folds, [grid], score, self.n_jobs)[0]
        means = np.array([fold.scores for fold in paths]).mean(axis=0)
        first = int(np.argmax([means[np.flatnonzero(falling == alpha)[0]] for alpha in alphas]))
        self.alpha_ = float(alphas[first])
        self.best_score_ = float(means.max())
        failed = [one for fold in paths for one in fold.failed]
        if failed:
            complain(f"{type(self).__name__} (in cross-validation)", failed, self._how())

    def _problems(self, data: Data) -> list[Any]:
        return self._model(self.alpha_)._problems(data)

    def get_metadata_routing(self) -> Any:
        """What metadata goes where: see scikit-learn's user guide."""
        if self.scoring is None:
            return router(self, check_cv(self.cv), get_scorer("r2").set_score_request(sample_weight=True))
        return router(self, check_cv(self.cv), check_scoring(self._model(), scoring=self.scoring))


class Given:
    """An estimator whose predictions are given, for scorers that want one."""

    _estimator_type = "regressor"

    def predict(self, X: Any) -> Any:
        """What was given."""
        return X

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True))


def left_out_errors(data: Data, intercept: bool) -> Callable[[float], Array]:
    """alpha -> the errors of rows, each predicted by a model that was fitted without it; 0 for rows of weight 0."""
    live = np.flatnonzero(data.weights)
    X, Y, s = data.X[live], data.targets[live], data.weights[live]
    roots, total, tall = np.sqrt(s), float(s.sum()), live.size > data.X.shape[1]
    mean = np.asarray((s @ X) / total if intercept else np.zeros(X.shape[1]), dtype=np.float64)
    middle = (s @ Y) / total if intercept else np.zeros(Y.shape[1])
    centred = roots[:, None] * (Y - middle)
    T, values = by_columns(X, roots, mean) if tall else by_rows(X, roots, mean, intercept)
    inner = T.T @ centred
    own = s / total if intercept and tall else np.zeros(s.size)

    def errors(alpha: float) -> Array:
        shrunk = 1.0 / (values + alpha)
        if tall:
            errors, rest = centred - T @ (inner * shrunk[:, None]), 1.0 - own - (T * T) @ shrunk
        else:  # both over alpha
            errors, rest = T @ (inner * shrunk[:, None]), (T * T) @ shrunk
        made = np.zeros(data.targets.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            made[live] = errors / (rest * roots)[:, None]
        return made

    return errors


def by_columns(X: Any, roots: Array, mean: Array) -> tuple[Array, Array]:
    """T = B V and L of B'B = V L V', B = diag(roots) (X - mean); a sparse X stays sparse."""
    if hasattr(X, "tocsr"):
        scaled = X.astype(np.float64).multiply(roots[:, None]).tocsr()
        edge = scaled.T @ roots
        gram = (scaled.T @ scaled).toarray() - np.outer(edge, mean) - np.outer(mean, edge)
        gram += float(roots @ roots) * np.outer(mean, mean)
        values, vectors = la.eigh(gram)
        return scaled @ vectors - np.outer(roots, mean @ vectors), np.maximum(values, 0.0)
    B = roots[:, None] * (np.asarray(X, dtype=np.float64) - mean)
    values, vectors = la.eigh(B.T @ B)
    return B @ vectors, np.maximum(values, 0.0)


def by_rows(X: Any, roots: Array, mean: Array, intercept: bool) -> tuple[Array, Array]:
    """Q and L of B B' = Q L Q'; beside an intercept without its direction, the roots', which is not penalised."""
    dense = X.toarray() if hasattr(X, "tocsr") else X
    B = roots[:, None] * (np.asarray(dense, dtype=np.float64) - mean)
    gram = B @ B.T
    if not intercept:
        values, vectors = la.eigh(gram)
        return vectors, np.maximum(values, 0.0)
    unit = roots / np.linalg.norm(roots)
    above = 2.0 * float(np.trace(gram)) + 1.0  # its eigenvalue is 0: made the largest, it is the last
    values, vectors = la.eigh(gram + above * np.outer(unit, unit))
    return vectors[:, :-1], np.maximum(values[:-1], 0.0)
