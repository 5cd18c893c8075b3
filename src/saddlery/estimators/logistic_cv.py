"""Logistic regression with C (and l1_ratio) chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import _check_method_params

from saddlery.estimators._complaint import complain
from saddlery.estimators._folds import Fold, fold_paths, knowing, routed, router
from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import Data, Self
from saddlery.estimators._reach import certified, together
from saddlery.estimators.logistic import LogisticRegression

Array = NDArray[Any]

SHARED = (
    "fit_intercept",
    "tol",
    "max_iter",
    "class_weight",
    "random_state",
    "solver",
    "verbose",
    "multi_class",
    "max_time",
)


class LogisticRegressionCV(LogisticRegression):
    """``LogisticRegression`` with C, and of several given ones l1_ratio, chosen by cross-validation.

    In every fold a path of models is fitted, from the smallest C up, each from the primal and dual solution of the one
    before.

    Parameters
    ----------
    Cs : int or array
        Values of C, or how many from 1e-4 to 1e4, evenly on a logarithmic scale.
    l1_ratios : array or None
        Values of l1_ratio; None: 0, and no axis for it in the attributes.
    cv : int, splitter, iterable or None
        As in scikit-learn; None: five folds, stratified.
    scoring : str, callable or None
        What is to be large; None: accuracy.
    refit : bool
        Fit the C of the best mean score again to all data. If False, coefficients are means over folds, each with the
        C that is best there, and `certificate_` says how far these means are from the best for all data.
    n_jobs : int, optional
        Folds that are fitted at the same time.
    use_legacy_attributes : bool
        Shapes of C_, l1_ratio_, coefs_paths_, scores_ and n_iter_ as in scikit-learn before 1.10 (True), or as after.
    penalty, fit_intercept, dual, solver, tol, max_iter, class_weight, verbose, intercept_scaling, random_state
        As of ``LogisticRegression``.
    multi_class, max_time
        As of ``LogisticRegression``; `max_time` is for one path, and again for the last fit.

    Attributes
    ----------
    C_, l1_ratio_, Cs_, l1_ratios_, coefs_paths_, scores_, n_iter_
        As in scikit-learn: what was chosen, from what, with which coefficients, scores and epochs.
    classes_, coef_, intercept_, dual_coef_, certificate_, converged_, history_, notes_, n_features_in_
        Those of the last fit, as of ``LogisticRegression``.
    """

    _parameter_constraints = {  # noqa: RUF012
        **{
            k: v
            for k, v in LogisticRegression._parameter_constraints.items()
            if k not in ("C", "l1_ratio", "warm_start")
        },
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "l1_ratios": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "refit": ["boolean"],
        "use_legacy_attributes": ["boolean"],
    }

    __metadata_request__score = {"sample_weight": UNUSED}  # noqa: RUF012 - `sample_weight` is for the scorer

    C_: Any
    l1_ratio_: Any
    coefs_paths_: Any
    scores_: Any
    n_iter_: Any
    dual_coef_: Any

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str | None = "deprecated",
        scoring: Any = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = True,
        multi_class: str = "auto",
        max_time: float | None = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.multi_class = multi_class
        self.max_time = max_time

    def _model(self, C: float = 1.0, l1_ratio: float = 0.0) -> LogisticRegression:
        return LogisticRegression(C=C, l1_ratio=l1_ratio, **{name: getattr(self, name) for name in SHARED})

    def _ratios(self) -> list[float]:
        if self.penalty in ("l1", "l2"):
            return [1.0 if self.penalty == "l1" else 0.0]
        given = self.l1_ratios
        if given is None and self.penalty == "elasticnet":
            raise ValueError("l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios=None)")
        ratios = [0.0] if given is None else list(given)
        if not ratios or any(isinstance(r, str) or r is None or not 0.0 <= r <= 1.0 for r in ratios):
            raise ValueError(f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={given!r})")
        return [float(r) for r in ratios]

    def _values(self) -> Array:
        if isinstance(self.Cs, (int, np.integer)):
            return np.logspace(-4, 4, int(self.Cs))
        values = np.asarray(self.Cs, dtype=np.float64)
        if values.ndim != 1 or values.size == 0 or not (values > 0.0).all():
            raise ValueError(f"Cs must be a number or a vector of numbers above 0, found {self.Cs!r}")
        return values

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C, and fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        **params
            Metadata for splitter and scorer, with metadata routing.

        Returns
        -------
        self
        """
        self._validate_params()
        split, scored = routed(self, "fit", sample_weight, params)
        values, ratios, scorer = self._values(), self._ratios(), self._get_scorer()
        data = self._data(X, y, sample_weight, reset=True)
        labels = data.targets[:, 0]
        folds = list(check_cv(self.cv, labels, classifier=True).split(data.X, labels, **split))
        order = np.argsort(values, kind="stable")  # C rises along a path

        scorer = knowing(scorer, self.classes_)

        def score(model: Any, test: Array) -> float:
            given = _check_method_params(data.X, scored, indices=test)
            return float(scorer(model, data.X[test], self.classes_[labels[test]], **given))

        grids = [[{"l1_ratio": ratio, "C": values[k]} for k in order] for ratio in ratios]
        base = self._model()
        paths = fold_paths(base, data, folds, grids, score, self.n_jobs)
        back = np.argsort(order)
        scores = np.array([[fold.scores[back] for fold in each] for each in paths])  # l1_ratio, fold, C
        self.Cs_, self.l1_ratios_ = values, np.array(ratios)
        if self.refit:
            means = scores.mean(axis=1).T  # C, l1_ratio: the order in which the first of several bests is meant
            place, ratio = np.unravel_index(int(np.argmax(means)), means.shape)
            self._refit(base.set_params(C=float(values[place]), l1_ratio=ratios[ratio]), X, y, sample_weight)
        else:
            self._average(data, paths, scores, back)
        self._describe(paths, scores, back)
        failed = [one for each in paths for fold in each for one in fold.failed]
        if failed and self.converged_:
            complain(f"{type(self).__name__} (in cross-validation)", failed, self._how())
        return self

    def _refit(self, model: LogisticRegression, X: Any, y: Any, sample_weight: Any) -> None:
        model.fit(X, y, sample_weight)
        self._chosen = float(model.C), float(model.l1_ratio or 0.0)
        self._take(model)

    def _average(self, data: Data, paths: list[list[Fold]], scores: Array, back: Array) -> None:
        """Means over folds of what is best in each."""
        best = [np.unravel_index(int(np.argmax(each.T)), each.T.shape) for each in np.moveaxis(scores, 1, 0)]
        picked = [(paths[r][k], back[c]) for k, (c, r) in enumerate(best)]
        self.coef_ = np.mean([fold.coef[at] for fold, at in picked], axis=0)
        self.intercept_ = np.mean([fold.intercept[at] for fold, at in picked], axis=0)
        self._chosen = (
            float(np.mean([self.Cs_[c] for c, _ in best])),
            float(np.mean([self.l1_ratios_[r] for _, r in best])),
        )
        self.C_, self.l1_ratio_ = self._chosen
        self.dual_coef_ = None
        model = self._model(*self._chosen)
        model._adopt(data)
        model.coef_, model.intercept_, model.dual_coef_ = self.coef_, self.intercept_, None
        problems = model._problems(data)
        made = [certified(p, x, None) for p, x in zip(problems, model._pack(), strict=True)]
        self.certificate_ = together(made, [p.scale or np.nan for p in problems])
        self.converged_, self.history_, self.notes_ = False, [], ["coefficients are means over folds"]

    def _describe(self, paths: list[list[Fold]], scores: Array, back: Array) -> None:
        """The attributes that tell what was tried, in the shapes of scikit-learn's."""
        coef = np.array([[fold.coef[back] for fold in each] for each in paths])  # l1_ratio, fold, C, class, column
        if self.fit_intercept:
            ends = np.array([[fold.intercept[back] for fold in each] for each in paths])
            coef = np.concatenate([coef, ends[..., None]], axis=-1)
        coef, scores = np.moveaxis(coef, 0, 1), np.moveaxis(scores, 0, 1)
        epochs = np.moveaxis(np.array([[fold.epochs[back] for fold in each] for each in paths]), 0, 1)
        C, ratio = self._chosen
        if not self.use_legacy_attributes:
            self.C_, self.l1_ratio_ = float(C), float(ratio)
            self.coefs_paths_, self.scores_, self.n_iter_ = coef, scores, epochs
            return
        rows = coef.shape[3]
        labels = self.classes_[-rows:] if rows == 1 else self.classes_
        self.C_, self.l1_ratio_ = np.full(rows, C), np.full(rows, ratio)

        def axes(array: Array) -> Array:
            return array[:, 0] if self.l1_ratios is None else np.swapaxes(array, 1, 2)

        self.coefs_paths_ = {label: axes(coef[:, :, :, k]) for k, label in enumerate(labels)}
        self.scores_ = dict.fromkeys(labels, axes(scores))
        self.n_iter_ = axes(epochs)[None]

    def _problems(self, data: Data) -> list[Any]:
        C = float(np.asarray(self.C_).reshape(-1)[0])
        model = self._model(C, float(np.asarray(self.l1_ratio_).reshape(-1)[0]))
        model.classes_ = self.classes_
        problems = model._problems(data)
        self._present = getattr(model, "_present", np.arange(self.classes_.size))
        return problems

    def _get_scorer(self) -> Any:
        return get_scorer(self.scoring or "accuracy")

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """The score that C was chosen by.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        **params
            Metadata for the scorer, with metadata routing.

        Returns
        -------
        float
        """
        if sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        weight = params.pop("sample_weight", None)
        _, scored = routed(self, "score", weight, params) if weight is not None or params else ({}, {})
        return float(self._get_scorer()(self, X, y, **scored))

    def get_metadata_routing(self) -> Any:
        """What metadata goes where: see scikit-learn's user guide."""
        return router(self, check_cv(self.cv, classifier=True), self._get_scorer())


__all__ = ["LogisticRegressionCV"]
