"""Where a run starts: what a user gives as `start`, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import State
from saddlery.problem import Problem
from saddlery.result import Result
from saddlery.terms import _verbs

Array = NDArray[Any]


def point(problem: Problem, start: Any) -> tuple[Array, Array]:
    """x and y of a start."""
    if start is None:
        # the point of the domain of g nearest to 0
        x = np.full(problem.d, _verbs.prox(problem.g, 0.0, 0.0) if _verbs.separable(problem.g) else 0.0)
        return problem.pack(x, np.zeros(problem.q)), np.zeros(problem.y_shape)
    if isinstance(start, (Result, State)):
        x, y = start.x, start.y
    elif isinstance(start, tuple):
        if len(start) != 2:
            raise ValueError(f"start must be a Result, a State, (x, y) or x, found a tuple of length {len(start)}")
        x, y = start
    else:
        x, y = start, None
    for part in (x, y):
        if np.asarray(part if part is not None else 0.0).dtype.kind not in "biuf":
            raise TypeError(f"start must be a Result, a State, (x, y) or x, found {part!r}")
    flat, x0 = problem.unpack(x)
    dual = problem.flat(problem.gradients(problem.predictions(x)) if y is None else y)
    for name, array in (("x", flat), ("x", x0), ("y", dual)):
        if not np.isfinite(array).all():
            raise ValueError(f"start: {name} holds NaN or infinity; only finite numbers are allowed")
    return problem.pack(flat, x0), dual.reshape(problem.y_shape)
