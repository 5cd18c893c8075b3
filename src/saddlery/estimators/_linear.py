"""What all linear estimators share: data checked, problems made and solved, answers kept, recomputed and saved.

An estimator says which problems its data and parameters make (`_problems`), how an x becomes its coefficients and back
(`_unpack`, `_pack`), and no more. A fit is one problem, or one for each class or target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from saddlery.algorithms import METHODS, method
from saddlery.certificate import Certificate
from saddlery.estimators import _saved
from saddlery.estimators._complaint import complain, within
from saddlery.estimators._heard import CallbackSupportMixin, Ears
from saddlery.estimators._reach import THEIRS, How, Reached, certified, reach, together
from saddlery.problem import Problem
from saddlery.result import Status
from saddlery.terms.elastic_net import L1L2
from saddlery.terms.l1 import L1
from saddlery.terms.l2 import L2
from saddlery.terms.non_negative import NonNegative
from saddlery.terms.zero import Zero

Array = NDArray[Any]
Self = TypeVar("Self", bound="Linear")

FLOATS = [np.float64, np.float32]
SPARSE = ["csr", "csc"]


class Data(NamedTuple):
    """Checked data: the targets of the problems, a column each, and the weights of rows (their sum matters)."""

    X: Any
    targets: Array
    weights: Array
    classes: Array | None = None
    flat: bool = True  # is y a vector?

    def rows(self, some: Array) -> Data:
        """Some of the rows."""
        return self._replace(X=self.X[some], targets=self.targets[some], weights=self.weights[some])


def penalty_of(l1: float, l2: float, positive: bool = False) -> Any:
    """l1 |x|_1 + l2/2 |x|^2, and x >= 0 if positive, as the simplest term that says so."""
    if positive:
        return NonNegative(float(l2), float(l1))
    if l1 == 0.0:
        return L2(float(l2)) if l2 > 0.0 else Zero()
    return L1L2(float(l1), float(l2)) if l2 > 0.0 else L1(float(l1))


class Linear(CallbackSupportMixin, BaseEstimator):
    """A model whose predictions are X coef_ + intercept_."""

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 - read by scikit-learn's checks
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "max_time": [Interval(Real, 0.0, None, closed="left"), None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
        "copy_X": ["boolean"],
        "positive": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    coef_: Any
    intercept_: Any
    dual_coef_: Any
    n_iter_: Any
    history_: Any
    certificate_: Certificate
    converged_: bool
    solver_: str
    notes_: list[str]
    classes_: Array
    n_features_in_: int

    # ---- what an estimator says

    def _problems(self, data: Data) -> list[Problem]:
        """The problems, one for each target."""
        raise TypeError(f"{type(self).__name__} does not say which problems it solves")

    def _again(self, problems: list[Problem], data: Data) -> list[Problem]:
        """The problems that other parameters make of the same data; `problems`: those of before, if there are any."""
        if not problems:
            return self._problems(data)
        total = float(data.weights.sum())
        return [problem.with_penalty(self._terms(total, k)[1]) for k, problem in enumerate(problems)]

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        """Loss and penalty of a target; `total`: the sum of the weights."""
        raise TypeError(f"{type(self).__name__} does not say which terms it is made of")

    def _unpack(self, points: Sequence[Array], dtype: Any) -> dict[str, Any]:
        """coef_ and intercept_ of the points that solve the problems."""
        flat = np.array([x[:-1] if self.fit_intercept else x for x in points])
        ends = np.array([x[-1] if self.fit_intercept else 0.0 for x in points])
        one = self._flat
        return {
            "coef_": (flat[0] if one else flat).astype(dtype),
            "intercept_": ends.astype(dtype)[0] if one else ends.astype(dtype),
        }

    def _pack(self) -> list[Array]:
        """The points x of the fitted coefficients."""
        coef = np.atleast_2d(np.asarray(_dense(self.coef_), dtype=np.float64))
        if not self.fit_intercept:
            return list(coef)
        ends = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64).reshape(-1), (coef.shape[0],))
        return [np.append(row, end) for row, end in zip(coef, ends, strict=True)]

    def _data(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        """The data, checked; attributes about them are set only if `reset`."""
        raise TypeError(f"{type(self).__name__} does not say which data it takes")

    def _adopt(self, data: Data) -> None:
        """Take over what `_data` learned of data that another estimator has checked."""
        self.n_features_in_ = data.X.shape[1]
        self._one_target = data.flat
        if data.classes is not None:
            self.classes_ = data.classes

    def _take(self, model: Linear) -> None:
        """The fitted attributes of the model that was chosen become this one's."""
        own = ("n_features_in_", "feature_names_in_")
        fitted = {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_") and k not in own}
        self.__dict__.update(fitted)

    # ---- what all do

    @property
    def _flat(self) -> bool:
        """Is coef_ a vector, not a matrix?"""
        return False

    def _how(self, callback: Any = None) -> How:
        solver = getattr(self, "solver", "auto")
        self._check_solver(solver)
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        return How(
            tol=float(self.tol),
            max_iter=1000 if self.max_iter is None else int(self.max_iter),
            max_time=self.max_time,
            solver=solver,
            seed=0 if seed is None else int(seed),
            progress=bool(getattr(self, "verbose", False)),
            callback=callback,
        )

    def _check_solver(self, solver: Any) -> None:
        if isinstance(solver, str) and solver != "auto" and solver not in THEIRS:
            method(solver)  # says which there are
        elif not isinstance(solver, str) and type(solver) not in METHODS.values():
            raise TypeError(
                f"solver must be 'auto', the name of a method or saddlery.method(name, ...), found {solver!r}"
            )

    def _fit(self: Self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, make the problems, solve them, keep the answers."""
        self._validate_params()
        data = self._data(X, y, sample_weight, reset=True)
        problems = self._problems(data)
        starts = self._starts(problems)
        with Ears(self, X, y, sample_weight) as ears:
            heard = ears.of(lambda row: self._unpack([row.x], data.X.dtype)) if len(problems) == 1 else None
            how = self._how(heard)
            reached = self._solve(problems, starts, how)
            self._keep(data, problems, reached)
        complain(type(self).__name__, list(zip(problems, reached, strict=True)), how)
        if any(each.status is Status.INTERRUPTED for each in reached) and within("sklearn.model_selection"):
            raise KeyboardInterrupt  # the search is to end, not only this fit
        return self

    def _solve(self, problems: Sequence[Problem], starts: Sequence[Any], how: How) -> list[Reached]:
        """One after the other, each with what is left of the time, or several at once."""
        jobs = getattr(self, "n_jobs", None)
        if jobs not in (None, 1) and len(problems) > 1:
            calls = (delayed(reach)(p, how, s) for p, s in zip(problems, starts, strict=True))
            return list(Parallel(n_jobs=jobs, prefer="threads")(calls))
        done: list[Reached] = []
        for k, (problem, start) in enumerate(zip(problems, starts, strict=True)):
            left = how.less(0, sum(each.seconds for each in done))
            done.append(reach(problem, left.share(len(problems) - k), start))
            if done[-1].status is Status.INTERRUPTED and len(problems) > 1:
                raise KeyboardInterrupt
        return done

    def _starts(self, problems: Sequence[Problem]) -> list[Any]:
        """x and y of the last fit, where they fit, if it is to be gone on from."""
        nothing: list[Any] = [None] * len(problems)
        if not getattr(self, "warm_start", False) or not hasattr(self, "coef_"):
            return nothing
        points, duals = self._pack(), self._duals()
        if len(points) != len(problems) or any(x.shape != p.x_shape for x, p in zip(points, problems, strict=True)):
            return nothing
        if not all(np.isfinite(x).all() for x in points):
            return nothing
        return [
            (x, y) if y is not None and y.shape == p.y_shape else x
            for x, y, p in zip(points, duals, problems, strict=True)
        ]

    def _duals(self) -> list[Array | None]:
        """The dual points y of the last fit."""
        kept = getattr(self, "dual_coef_", None)
        return [None] * len(self._pack()) if kept is None else [-row for row in np.atleast_2d(kept)]

    def _dual_coef(self, reached: Sequence[Reached]) -> Array:
        rows = -np.array([each.y for each in reached]) + 0.0
        return rows[0] if self._flat else rows

    def _keep(self, data: Data, problems: Sequence[Problem], reached: Sequence[Reached]) -> None:
        for name, value in self._unpack([each.x for each in reached], data.X.dtype).items():
            setattr(self, name, value)
        self.dual_coef_ = self._dual_coef(reached)
        if data.X.dtype == np.float32:  # coefficients are rounded: what is certified is what is kept
            for each, problem, x in zip(reached, problems, self._pack(), strict=True):
                each.certificate = self._certified(data, problem, x, each.y)
                if each.converged and each.certificate.relative_gap > self.tol:
                    each.status = Status.STALLED
        self.certificate_ = together([each.certificate for each in reached], [each.scale for each in reached])
        self.converged_ = all(each.converged for each in reached)
        self.history_ = reached[0].history if len(reached) == 1 else [each.history for each in reached]
        self.n_iter_ = self._epochs([each.epochs for each in reached])
        self.solver_ = reached[0].method
        self.notes_ = list(dict.fromkeys(note for each in reached for note in each.notes))

    def _certified(self, data: Data, problem: Problem, x: Array, y: Array) -> Certificate:
        """The certificate of coefficients as they are kept."""
        return certified(problem, x, y)

    def _epochs(self, epochs: list[int]) -> Any:
        return max(epochs)

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """How far the coefficients are from the best for these data, at most: computed anew, trusting nothing stored.

        Parameters
        ----------
        X, y, sample_weight
            The data of the fit, or others: the certificate is about the problem that they make.

        Returns
        -------
        Certificate
            In units of the mean loss; of several problems (classes, targets) the sum. A lower bound that the kept
            dual point gives is checked before it is used.
        """
        check_is_fitted(self)
        data = self._data(X, y, sample_weight, reset=False)
        problems, points, duals = self._problems(data), self._pack(), self._duals()
        if len(points) != len(problems):
            raise ValueError(f"y makes {len(problems)} problems, but the model has coefficients for {len(points)}")
        made = []
        for problem, x, dual in zip(problems, points, duals, strict=True):
            fitting = dual if dual is not None and dual.shape == problem.y_shape and np.isfinite(dual).all() else None
            made.append(certified(problem, x, fitting))
        return together(made, [problem.scale or math.nan for problem in problems])

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that holds numbers and names only: see :func:`saddlery.load`."""
        _saved.save(self, path)

    def to_sklearn(self) -> Any:
        """The fitted estimator of scikit-learn with these coefficients."""
        from saddlery.estimators._theirs import translated

        check_is_fitted(self)
        return translated(self)

    def _decision(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=SPARSE, reset=False)
        scores = X @ self.coef_.T + self.intercept_
        return np.asarray(scores.toarray() if hasattr(scores, "toarray") else scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def weights_of(sample_weight: Any, X: Any) -> Array:
    """Weights of rows, checked: 1 if there are none."""
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight is 0 for every row; at least one must be positive")
    return weights


def _dense(coef: Any) -> Any:
    return coef.toarray() if hasattr(coef, "toarray") else coef
