"""Coordinate descent over columns: the dual loop with the roles of x and y exchanged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import lean_kernel
from saddlery.algorithms._protocol import CERTIFIED, HERE, RESYNC, SCALAR, SEPARABLE, SMOOTH, Need, State
from saddlery.data.rows import Rows, U, column, entry, span
from saddlery.kernels.dual import PrimalStep, coordinates
from saddlery.problem import Problem
from saddlery.sampling import Permutation, Replay, Uniform
from saddlery.steps._root import root
from saddlery.terms._sums import prox_all
from saddlery.terms.squared import Squared

Array = NDArray[Any]


@dataclass(frozen=True)
class CD:
    """Minimises over one x_j at a time; also without strong convexity (lam = 0).

    x_j <- prox_g(x_j - tau_j <a_j, y> / n, tau_j);  z += dx_j a_j;  y_i = c_i f'(z_i),
    with tau_j = n gamma / sum_i c_i a_ij^2.

    Exact minimisation for the squared loss; for others, of the quadratic upper bound that 1/gamma-smoothness gives.
    Intercept: for the squared loss it follows every step exactly (implicit centring); for others it is fitted exactly
    between epochs. Needs the columns of X: a copy, unless X is given as CSC or in Fortran order.

    Parameters
    ----------
    order : {"permutation", "cyclic", "uniform"}
    sampler : Sampler, optional
        Replaces the order; its indices are columns.
    """

    order: str = "permutation"
    sampler: Any = None
    name: ClassVar[str] = "cd"
    paper: ClassVar[str] = (
        "ours: SDCA's loop over columns; the method of Fu 1998, Friedman et al. 2010, Richtarik and Takac 2014"
    )
    proved: ClassVar[str] = "linear for lam > 0 with order='uniform', O(1/t) for lam = 0"
    cost: ClassVar[str] = "O(nnz of the column) a step"
    needs: ClassVar[tuple[Need, ...]] = (SMOOTH, SEPARABLE, SCALAR, CERTIFIED, HERE)

    def __post_init__(self) -> None:
        if self.order not in ("permutation", "cyclic", "uniform"):
            raise ValueError(f"order must be 'permutation', 'cyclic' or 'uniform', found {self.order!r}")

    @property
    def replay(self) -> Replay | None:
        """The columns to be played, if any."""
        return self.sampler if isinstance(self.sampler, Replay) else None

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x; y follows from it."""
        flat, x0 = problem.unpack(x)
        point = flat.copy()
        if point.any():
            prox_all(problem.g, point, 0.0)  # into the domain of g
        memory = {"point": point, "z": problem.coupling.predictions(point), "extra": x0.copy()}
        state = State(np.array(x, dtype=np.float64), np.zeros(problem.n), memory)
        self._fit_intercept(problem, state)
        return state

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """Every column once, or all the draws of a replay."""
        d = problem.d
        if self.replay is not None:
            table = self.replay.table(d)
            order = table[table >= 0]
        elif self.sampler is not None:
            order = self.sampler.draw(rng, d, d)[:, 0]
        elif self.order == "cyclic":
            order = np.arange(d)
        else:
            order = (Permutation() if self.order == "permutation" else Uniform()).draw(rng, d, d)[:, 0]
        memory, role = state.memory, PrimalStep(problem.f, problem.g, problem.b, problem.c)
        lines, own = self._columns(problem, state)
        coordinates(lines.view, role, order, memory["point"], memory["z"], own, memory["extra"])
        self._fit_intercept(problem, state)
        state.epoch += 1
        state.passes += order.size / d
        if state.epoch % RESYNC == 0:
            memory["z"][:] = problem.coupling.predictions(memory["point"])
        return state

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """x, and y_i = c_i f'(z_i)."""
        memory = state.memory
        state.x = problem.pack(memory["point"], memory["extra"])
        state.y = problem.gradients(memory["z"] + memory["extra"][0])
        return state.x, state.y

    def _columns(self, problem: Problem, state: State) -> tuple[Rows, Array]:
        """The columns, and for each tau_j / n, tau_j, and the mean that the intercept follows (0 where it does not)."""
        if "columns" not in state.scratch:
            lines = problem.coupling.columns
            squares, mean = np.empty(problem.d), np.empty(problem.d)
            column_moments(lines.view, problem.c, squares, mean)
            if problem.intercept and isinstance(problem.f, Squared):
                squares = np.maximum(squares - problem.n * mean**2, 1e-8 * squares)
            else:
                mean[:] = 0.0
            tau = np.where(squares > 0.0, problem.n * problem.gamma / np.where(squares > 0.0, squares, 1.0), 1e15)
            state.scratch["columns"] = lines, np.stack([tau / problem.n, tau, mean], axis=1)
        lines, own = state.scratch["columns"]
        return lines, own

    def _fit_intercept(self, problem: Problem, state: State) -> None:
        """The x0 for which sum_i y_i = 0, the root of an increasing function."""
        if problem.intercept:
            z, extra = state.memory["z"], state.memory["extra"]
            extra[0] = fit(lambda x0: float(problem.gradients(z + x0).mean()), float(extra[0]), problem.gamma)


def fit(slope: Callable[[float], float], start: float, step: float) -> float:
    """The zero of an increasing function of slope at most 1 / step: steps that double find a bracket."""
    here, value = start, slope(start)
    if value == 0.0 or not math.isfinite(value):
        return here
    sign = -1.0 if value > 0.0 else 1.0
    move = step * abs(value)
    for _ in range(200):
        there = here + sign * move
        if slope(there) * value <= 0.0:
            return root(slope, min(here, there), max(here, there))
        here, move = there, 2.0 * move
    return here


@lean_kernel
def column_moments(lines: Any, c: Array, squares: Array, mean: Array) -> None:
    """sum_i c_i a_ij^2 and sum_i c_i a_ij / n."""
    for j in range(U(squares.shape[0])):
        first, last = span(lines, j)
        square, total = 0.0, 0.0
        for k in range(first, last):
            a, w = entry(lines, j, k), c[column(lines, j, k)]
            square += w * a * a
            total += w * a
        squares[j], mean[j] = square, total / c.shape[0]
