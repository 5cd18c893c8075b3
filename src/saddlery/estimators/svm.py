"""Linear support vector machines: min over w of |w|^2 / 2 + C sum_i s_i f(<x_i, w> + w0, y_i)."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from saddlery.estimators._classification import Classification
from saddlery.estimators._linear import Data, Linear, penalty_of
from saddlery.estimators._regression import Regression
from saddlery.problem import Problem
from saddlery.terms.epsilon_insensitive import EpsilonInsensitive
from saddlery.terms.hinge import Hinge
from saddlery.terms.smooth_hinge import SmoothHinge
from saddlery.terms.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from saddlery.terms.squared_hinge import SquaredHinge

MARGINS = {  # C f: f as a term of this library, and how many of it there are in scikit-learn's
    "squared_hinge": (SquaredHinge(), 2.0),
    "hinge": (Hinge(), 1.0),
    "smooth_hinge": (SmoothHinge(1.0), 1.0),
}


class LinearSVC(Classification):
    """Linear support vector classification: scikit-learn's ``LinearSVC``, with a certificate.

    Minimises R(w) + C sum_i s_i f(y_i (<x_i, w> + w0)), with R = |w|^2 / 2 or |w|_1, for each class (one for two
    classes). The intercept is not penalised: scikit-learn's coefficients are these for a large `intercept_scaling`.

    Parameters
    ----------
    penalty : {"l2", "l1"}
    loss : {"squared_hinge", "hinge", "smooth_hinge"}
        max(0, 1 - m)^2; max(0, 1 - m); 0, (1 - m)^2 / 2, 1/2 - m for m above 1, between, below 0.
    C : float
        Weight of the losses: the smaller, the more is penalised.
    multi_class : {"ovr"}
        One problem for each class. Crammer and Singer's is not there.
    fit_intercept : bool
        Fit w0.
    class_weight : dict, "balanced" or None
        Factors of the weights of rows, by class.
    verbose : int
        Above 0: a progress bar.
    random_state : int, RandomState or None
        Of the random draws, where a method makes any. None: 0.
    max_iter : int
        Epochs at most.
    tol : float
        Relative duality gap to reach.
    dual, intercept_scaling
        As in scikit-learn, so that a change of the import is enough; nothing depends on them here.
    solver : str or method
        "auto", the name of a method of ``saddlery.methods()``, or ``saddlery.method(name, ...)``.
    warm_start : bool
        Start from the last fit's coefficients and dual point.
    max_time : float, optional
        Seconds at most: the best coefficients so far, with their certificate.
    n_jobs : int, optional
        Classes that are fitted at the same time.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        As of ``Ridge``, one row for each class, or one in all for two classes.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge", "smooth_hinge"})],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "multi_class": [StrOptions({"ovr"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: Any = "auto",
        warm_start: bool = False,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _problems(self, data: Data) -> list[Problem]:
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError(
                "Unsupported set of arguments: The combination of penalty='l1' and loss='hinge' is not supported, "
                f"Parameters: penalty='l1', loss='hinge', dual={self.dual}; take loss='squared_hinge' or 'smooth_hinge'"
            )
        return super()._problems(data)

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        loss, times = MARGINS[self.loss]
        weight = 1.0 / (self.C * times * total)
        return loss, penalty_of(weight, 0.0) if self.penalty == "l1" else penalty_of(0.0, weight)

    def _epochs(self, epochs: list[int]) -> Any:
        return max(epochs)


class LinearSVR(Regression):
    """Linear support vector regression: scikit-learn's ``LinearSVR``, with a certificate.

    Minimises |w|^2 / 2 + C sum_i s_i f(y_i - <x_i, w> - w0). The intercept is not penalised: scikit-learn's
    coefficients are these for a large `intercept_scaling`.

    Parameters
    ----------
    epsilon : float
        What an error may be for nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        max(0, |r| - epsilon), or its square.
    C, fit_intercept, verbose, random_state, max_iter, tol, dual, intercept_scaling, solver, warm_start, max_time
        As of ``LinearSVC``.

    Attributes
    ----------
    coef_, intercept_, dual_coef_, certificate_, converged_, n_iter_, history_, notes_, n_features_in_
        As of ``Ridge``.
    """

    _parameter_constraints = {  # noqa: RUF012
        **Linear._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-6,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: Any = "auto",
        warm_start: bool = False,
        max_time: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.max_time = max_time

    def _terms(self, total: float, target: int) -> tuple[Any, Any]:
        if self.loss == "epsilon_insensitive":
            return EpsilonInsensitive(float(self.epsilon)), penalty_of(0.0, 1.0 / (self.C * total))
        return SquaredEpsilonInsensitive(float(self.epsilon)), penalty_of(0.0, 1.0 / (2.0 * self.C * total))

    def _unpack(self, points: Any, dtype: Any) -> dict[str, Any]:
        made = super()._unpack(points, dtype)
        made["intercept_"] = made["coef_"].dtype.type(made["intercept_"]).reshape(1)
        return made

    @property
    def _flat(self) -> bool:
        return True
