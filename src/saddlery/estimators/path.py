"""Models along a line of penalties, each solved from where the last one ended: primal and dual point."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from saddlery.certificate import Certificate
from saddlery.estimators._complaint import complain
from saddlery.estimators._linear import Data, Linear, penalty_of
from saddlery.estimators._reach import How, Reached, reach
from saddlery.problem import ERM, Problem
from saddlery.result import Status

Array = NDArray[Any]

TINY = float(np.finfo(np.float64).resolution)
FEWEST = 1e-3  # of l1 that the first penalty of a path is reckoned with, where l1_ratio is less


@dataclass(frozen=True)
class Path:
    """A regularisation path.

    Attributes
    ----------
    parameter : "alpha" or "C".
    values : its values, from the strongest penalty to the weakest.
    coef, intercept : those of the models, the first axis that of the values.
    certificates : how far each model is from its best, at most.
    epochs, seconds : what each model took.
    converged : did it reach tol?
    """

    parameter: str
    values: Array
    coef: Array
    intercept: Array
    certificates: list[Certificate]
    epochs: Array
    seconds: Array
    converged: Array

    def __repr__(self) -> str:
        worst = max(each.relative_gap for each in self.certificates)
        first, last = self.values[0], self.values[-1]
        return (
            f"<Path: {self.parameter} from {first:.3g} to {last:.3g}, {self.values.size} models, gaps <= {worst:.1e}>"
        )


def regularization_path(
    model: Linear,
    X: Any,
    y: Any,
    *,
    values: Any = None,
    n_values: int = 100,
    eps: float = 1e-3,
    sample_weight: Any = None,
) -> Path:
    """Fit a model for a line of values of `alpha` or `C`, each from the solution of the one before.

    Parameters
    ----------
    model : estimator
        Its other parameters are used, and it is left as it is.
    X, y, sample_weight
        As for ``fit``.
    values : array, optional
        Of `alpha` or `C`. By default `n_values` of them, evenly on a logarithmic scale, from the least penalty for
        which every coefficient is 0 (for l2: a thousand times that of l1) to `eps` times that.
    n_values, eps
        See `values`.

    Returns
    -------
    Path
    """
    parameter = parameter_of(model)
    made: Linear = clone(model)
    made._validate_params()
    data = made._data(X, y, sample_weight, reset=True)
    grid = strongest_first(parameter, grid_of(made, data, n_values, eps) if values is None else _checked(values))
    coef, ends, certificates, epochs, seconds, converged = [], [], [], [], [], []
    failed: list[tuple[Problem, Reached]] = []
    for problems, reached in along(made, data, [{parameter: value} for value in grid]):
        coef.append(np.array(made.coef_))
        ends.append(np.array(made.intercept_))
        certificates.append(made.certificate_)
        epochs.append(sum(each.epochs for each in reached))
        seconds.append(sum(each.seconds for each in reached))
        converged.append(made.converged_)
        failed += [(p, r) for p, r in zip(problems, reached, strict=True) if not r.converged]
    if failed:
        complain(f"The path of {type(model).__name__}", failed, made._how())
    return Path(
        parameter,
        grid,
        np.array(coef),
        np.array(ends),
        certificates,
        np.array(epochs),
        np.array(seconds),
        np.array(converged),
    )


def parameter_of(model: Any) -> str:
    """The parameter that says how much is penalised."""
    known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    found = [name for name in ("alpha", "C") if name in known]
    if not found or not isinstance(model, Linear) or not hasattr(model, "warm_start"):
        raise TypeError(f"a path needs an estimator of saddlery's with alpha or C, found {model!r}")
    return found[0]


def strongest_first(parameter: str, values: Array) -> Array:
    """From much penalty to little: alpha falls, C rises."""
    return np.sort(values)[:: -1 if parameter == "alpha" else 1].copy()


def _checked(values: Any) -> Array:
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 1 or grid.size == 0 or not (grid >= 0.0).all():
        raise ValueError(f"values must be a vector of numbers, 0 or more, found {values!r}")
    return grid


def along(
    model: Linear, data: Data, settings: Sequence[dict[str, Any]], finish: bool = True
) -> Iterator[tuple[list[Problem], list[Reached]]]:
    """Fit a model for each of the settings, each from the last; after each its attributes are those of that fit.

    `finish`: small problems to rounding, not only to tol (where a loss is quadratic the one leads to the other).
    """
    problems: list[Problem] = []
    how = replace(model._how(), finish=finish)
    began = time.perf_counter()
    for number, each in enumerate(settings):
        model.set_params(**each, warm_start=True)
        problems = model._again(problems, data)
        left = how.less(0, time.perf_counter() - began).share(len(settings) - number)
        reached = model._solve(problems, model._starts(problems), left)
        model._keep(data, problems, reached)
        yield problems, reached
        if any(one.status is Status.INTERRUPTED for one in reached):
            raise KeyboardInterrupt


def grid_of(model: Linear, data: Data, n_values: int, eps: float) -> Array:
    """Values from the one for which all coefficients are 0, to the penalty eps times it."""
    if not (isinstance(n_values, (int, np.integer)) and n_values >= 1 and 0.0 < eps < np.inf):
        raise ValueError(f"n_values must be 1 or more and eps above 0, found {n_values!r} and {eps!r}")
    parameter = parameter_of(model)
    steep = steepest(model, data)
    model.set_params(**{parameter: 1.0})
    unit = unit_of(model, data)
    most = steep / unit
    if not most > TINY:  # every model is that of the intercept alone
        return np.full(int(n_values), TINY if parameter == "alpha" else 1.0 / TINY)
    falling: Array = np.geomspace(most, eps * most, int(n_values))
    return falling if parameter == "alpha" else 1.0 / falling


def unit_of(model: Linear, data: Data) -> float:
    """How much l1 there is for alpha = 1 or C = 1, or would be, were it the thousandth part of the penalty."""
    g = model._problems(data)[0].g
    l1, l2 = float(getattr(g, "l1", 0.0)), float(getattr(g, "l2", getattr(g, "lam", 0.0)))
    return max(l1, FEWEST * (l1 + l2))


def steepest(model: Linear, data: Data) -> float:
    """max_j |u_j|, u the force where all coefficients are 0 and the intercept is the best for that."""
    steep = 0.0
    for problem in model._problems(data):
        x = np.zeros(problem.x_shape)
        if problem.intercept:
            labels, c = problem.b, problem.c
            nothing = ERM(np.zeros((problem.n, 1)), labels, problem.f, penalty_of(0.0, 1.0), weights=c, intercept=True)
            x[-1] = reach(nothing, How(tol=1e-10)).x[-1]
        u = problem.coupling.force(problem.gradients(problem.predictions(x)).reshape(-1))
        u = np.maximum(-u, 0.0) if getattr(model, "positive", False) else np.abs(u)
        steep = max(steep, float(u.max()))
    return steep
