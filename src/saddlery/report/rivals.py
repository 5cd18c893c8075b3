"""Solvers of other libraries beside ours: what is asked of them, and what they answer.

Rivals are asked for a number of iterations, with their own tolerance next to nothing: what they reach is for our
certificate to say. Which of them can solve a problem is in ``rival_solvers.py``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from saddlery.problem import Problem

Array = NDArray[Any]


class Rival(NamedTuple):
    """A solver of another library.

    Attributes
    ----------
    name, library : "scikit-learn saga", "scikit-learn".
    make : iterations -> an estimator that has not been fitted.
    direct : has it no iterations to grow?
    passes : passes over the data that an iteration costs, where that is known.
    weighted : does its fit take weights of the rows?
    """

    name: str
    library: str
    make: Callable[[int], Any]
    direct: bool = False
    passes: float | None = None
    weighted: bool = True


class Answer(NamedTuple):
    """What a rival returned: x in the problem's shape, the seconds of its fit, the iterations that it made."""

    x: Array
    seconds: float
    iterations: int


def ask(rival: Rival, problem: Problem, iterations: int) -> Answer:
    """Fit it, with a clock. Its warnings that it is not at its end are no news here."""
    X, b = problem.coupling.rows.matrix(), np.array(problem.b)
    X = np.array(X) if isinstance(X, np.ndarray) else sp.csr_matrix(X, copy=True)  # what it may write on, and knows
    weights = {"sample_weight": np.array(problem.c)} if (problem.c != 1.0).any() else {}
    made = rival.make(iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        made.fit(X, b, **weights)
        seconds = time.perf_counter() - began
    return Answer(_x(problem, made), seconds, _iterations(made, iterations))


def _x(problem: Problem, made: Any) -> Array:
    """Coefficients and intercept in the shape of the problem's x."""
    coef = np.atleast_2d(np.asarray(made.coef_, dtype=np.float64)).T
    if problem.intercept:
        coef = np.vstack([coef, np.atleast_1d(np.asarray(made.intercept_, dtype=np.float64))])
    return np.ascontiguousarray(coef).reshape(problem.x_shape)


def _iterations(made: Any, asked: int) -> int:
    said = getattr(made, "n_iter_", None)
    return asked if said is None else int(np.max(said))
