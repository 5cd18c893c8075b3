"""SVRG: stochastic gradients with reduced variance (Johnson and Zhang, 2013; Xiao and Zhang, 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._protocol import FIGURE, HERE, SEPARABLE, SMOOTH, Array, State, positive
from saddlery.algorithms._table import Table, even
from saddlery.kernels.table import Moves
from saddlery.problem import Problem
from saddlery.steps import Scale


@dataclass(frozen=True)
class SVRG(Table):
    """Every m draws the snapshot a = x, y = f'(A a), r = A'y / n; in between

    draw i;  x+ = prox_g(x - tau (r + (f'(<a_i, x>) - y_i) a_i), tau),  tau = `step` gamma / R^2, m = `length` n.

    y is kept, so that a round of m = 2n draws costs three passes, the snapshot included. The snapshot is the last
    iterate (Johnson and Zhang's option I, which everybody uses); the proofs are for an average or a random one.

    Parameters
    ----------
    step : float
        0.1 is the papers'.
    length : float
        m / n; 2 is the papers'.
    """

    step: float = 0.1
    length: float = 2.0
    name: ClassVar[str] = "svrg"
    paper: ClassVar[str] = "Johnson and Zhang 2013, Xiao and Zhang 2014; a rival in Wang and Xiao 2017"
    proved: ClassVar[str] = (
        "linear for an averaged snapshot, n + R^2 / (gamma mu) steps (times a constant) for a factor e"
    )
    cost: ClassVar[str] = "O(nnz of the row) a step, a pass for a snapshot"
    needs = (SMOOTH, FIGURE, SEPARABLE, HERE)
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("step", self.step)
        positive("length", self.length, 1e6)

    def span(self, problem: Problem) -> int:
        return max(1, round(self.length * problem.drawn))

    def moves(self, problem: Problem, scale: Scale, state: State, draws: Array) -> Moves:
        return even(problem, scale, draws, self.step * scale.gamma / scale.top**2, scale.share)
