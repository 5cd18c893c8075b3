"""The lasso and the elastic net with alpha (and l1_ratio) chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions

from saddlery.estimators._complaint import complain
from saddlery.estimators._folds import fold_paths, routed, router
from saddlery.estimators._heard import with_callbacks
from saddlery.estimators._linear import Data, Linear, Self
from saddlery.estimators._regression import Regression
from saddlery.estimators.lasso import ElasticNet
from saddlery.estimators.path import grid_of, strongest_first

Array = NDArray[Any]

SHARED = (  # with the estimator that is chosen
    "fit_intercept",
    "max_iter",
    "tol",
    "positive",
    "random_state",
    "solver",
    "max_time",
)


class ElasticNetCV(Regression):
    """``ElasticNet`` with alpha, and of several given ones l1_ratio, chosen by cross-validation.

    In every fold a path of models is fitted, each from the primal and dual solution of the one before. What is chosen
    has the least mean over folds of the (weighted) mean squared error; it is fitted again to all data.

    Parameters
    ----------
    l1_ratio : float or list of float
    eps : float
        The least alpha over the largest, where `alphas` is a number.
    alphas : int or array
        Values of alpha, or how many: from the least alpha for which all coefficients are 0, down.
    fit_intercept, max_iter, tol, positive, random_state, solver, max_time
        As of ``ElasticNet``; `max_time` is for one path, and again for the last fit.
    precompute, copy_X, selection
        As in scikit-learn, so that a change of the import is enough; nothing depends on them here.
    cv : int, splitter, iterable or None
        As in scikit-learn; None: five folds.
    verbose : int
        Above 0: a progress bar for each fit.
    n_jobs : int, optional
        Folds that are fitted at the same time.

    Attributes
    ----------
    alpha_ : float
    l1_ratio_ : float
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared errors on the test folds.
    coef_, intercept_, dual_coef_, dual_gap_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        Those of the last fit, as of ``ElasticNet``.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "eps": [Interval(Real, 0, None, closed="neither")],
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "precompute": ["boolean", StrOptions({"auto"}), "array-like"],
        "cv": ["cv_object"],
        "selection": [StrOptions({"cyclic", "random"})],
    }

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_time: float | None = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time

    def _model(self, l1_ratio: float) -> ElasticNet:
        """The estimator that is chosen."""
        return ElasticNet(l1_ratio=l1_ratio, **{name: getattr(self, name) for name in SHARED})

    def _ratios(self) -> Array:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        if not ((ratios >= 0.0) & (ratios <= 1.0)).all():
            raise ValueError(f"l1_ratio must hold numbers from 0 to 1, found {self.l1_ratio!r}")
        return ratios

    def _grid(self, model: ElasticNet, data: Data) -> Array:
        """Values of alpha, falling."""
        if isinstance(self.alphas, (int, np.integer)):
            return grid_of(model, data, int(self.alphas), float(self.eps))
        for place, alpha in enumerate(self.alphas):
            if not isinstance(alpha, (Real, np.number)):
                raise TypeError(f"alphas[{place}] must be an instance of float, not {type(alpha).__name__}")
            if alpha < 0.0:
                raise ValueError(f"alphas[{place}] == {alpha}, must be >= 0.0.")
        return strongest_first("alpha", np.asarray(self.alphas, dtype=np.float64))

    alpha_: float
    l1_ratio_: float

    @with_callbacks
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha, and fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Of the fits, and of the errors within a test fold.
        **params
            Metadata for the splitter, with metadata routing.

        Returns
        -------
        self
        """
        self._validate_params()
        data = self._data(X, y, sample_weight, reset=True)
        split, _ = routed(self, "fit", sample_weight, params)
        folds = list(check_cv(self.cv).split(data.X, data.targets[:, 0], **split))
        models = [self._model(float(ratio)) for ratio in self._ratios()]
        alphas = [self._grid(model, data) for model in models]

        def error(model: Linear, test: Array) -> float:
            errors = (model._decision(data.X[test]) - data.targets[test, 0]) ** 2
            weights = data.weights[test]
            return float(np.average(errors, weights=weights)) if weights.any() else float(errors.mean())

        grids = [[{"l1_ratio": m.l1_ratio, "alpha": a} for a in each] for m, each in zip(models, alphas, strict=True)]
        base = ElasticNet(**{name: getattr(self, name) for name in SHARED})
        paths = fold_paths(base, data, folds, grids, error, self.n_jobs)
        errors = np.array([[fold.scores for fold in each] for each in paths])  # l1_ratio, fold, alpha
        means = errors.mean(axis=1)
        ratio, place = np.unravel_index(int(np.argmin(means)), means.shape)
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self.alphas_ = np.array(alphas) if len(alphas) > 1 and isinstance(self.alphas, Integral) else alphas[0]
        self.alpha_, self.l1_ratio_ = float(alphas[ratio][place]), float(models[ratio].l1_ratio)
        failed = [one for each in paths for fold in each for one in fold.failed]
        self._take(models[ratio].set_params(alpha=self.alpha_).fit(X, y, sample_weight))
        if failed and self.converged_:
            complain(f"{type(self).__name__} (in cross-validation)", failed, self._how())
        return self

    def _problems(self, data: Data) -> list[Any]:
        model = self._model(self.l1_ratio_)
        model.alpha = self.alpha_
        return model._problems(data)

    def get_metadata_routing(self) -> Any:
        """What metadata goes where: see scikit-learn's user guide."""
        return router(self, check_cv(self.cv))


class LassoCV(ElasticNetCV):
    """``Lasso`` with alpha chosen by cross-validation.

    Parameters and attributes: those of ``ElasticNetCV``, whose l1_ratio is 1.
    """

    _parameter_constraints = dict(ElasticNetCV._parameter_constraints)  # noqa: RUF012
    _parameter_constraints.pop("l1_ratio")

    l1_ratio = 1.0

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        copy_X: bool = True,
        cv: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_time: float | None = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time
