"""SAGA (Defazio, Bach and Lacoste-Julien, 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._protocol import FIGURE, HERE, SEPARABLE, SMOOTH, Array, State, positive
from saddlery.algorithms._table import Table, even
from saddlery.kernels.table import Moves
from saddlery.problem import Problem
from saddlery.steps import Scale


@dataclass(frozen=True)
class SAGA(Table):
    """Draw i;  x+ = prox_g(x - tau (r + (f'(<a_i, x>) - y_i) a_i), tau);  y_i <- f'(<a_i, x>);  r = A'y / n.

    tau = `step` gamma / R^2, R = max_i R_i. The table starts as the y that the run starts from. Also for lam = 0, and
    as fast as the data are strongly convex without being told so.

    Parameters
    ----------
    step : float
        1/3 is the paper's.
    """

    step: float = 1.0 / 3.0
    name: ClassVar[str] = "saga"
    paper: ClassVar[str] = "Defazio, Bach and Lacoste-Julien 2014; a rival in Wang and Xiao 2017"
    proved: ClassVar[str] = (
        "linear, max(4n, 3 R^2 / (gamma mu)) steps for a factor e, P mu-strongly convex; O(1/t) else"
    )
    cost: ClassVar[str] = "O(nnz of the row) a step"
    needs = (SMOOTH, FIGURE, SEPARABLE, HERE)

    def __post_init__(self) -> None:
        positive("step", self.step)

    def moves(self, problem: Problem, scale: Scale, state: State, draws: Array) -> Moves:
        return even(problem, scale, draws, self.step * scale.gamma / scale.top**2, scale.share)
