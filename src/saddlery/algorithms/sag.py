"""SAG: stochastic average gradient (Schmidt, Le Roux and Bach, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from saddlery.algorithms._protocol import HERE, LINEAR, SMOOTH, STRONG, Array, State, positive
from saddlery.algorithms._table import Table
from saddlery.kernels.table import Moves
from saddlery.problem import Problem
from saddlery.steps import Scale


@dataclass(frozen=True)
class SAG(Table):
    """Keeps y_i = f'(<a_i, x>) of the last visit of every row, and steps along their average.

    Draw i; y_i <- f'(<a_i, x>); x <- (1 - eta lam) x - (eta / #seen) sum_seen y_j a_j, eta = `step` / L,
    L = max_i R_i^2 / gamma + lam (as printed in Zhu and Storkey, section 4, the square and gamma are missing).
    In the kernel's terms: weight 1/n, tau = eta n / (#seen rho), rho = 1 - eta lam.

    Parameters
    ----------
    step : float
        eta L. 1/16 is proved; 1/4 and 1 are the other choices of Zhu and Storkey.
    """

    step: float = 1.0 / 16.0
    name: ClassVar[str] = "sag"
    paper: ClassVar[str] = "Schmidt, Le Roux and Bach 2013; a rival in Zhu and Storkey 2015"
    proved: ClassVar[str] = "linear, max(8n, 16 L / lam) steps for a factor e, with step = 1/16"
    cost: ClassVar[str] = "O(nnz of the row) a step"
    needs = (SMOOTH, STRONG, LINEAR, HERE)

    def __post_init__(self) -> None:
        positive("step", self.step)

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        state = super().init(problem, x, y)
        state.memory["seen"] = _nonzero(problem, state)
        return state

    def moves(self, problem: Problem, scale: Scale, state: State, draws: Array) -> Moves:
        eta, seen = self.step / (scale.top**2 / scale.gamma + scale.lam), state.memory["seen"]
        new, before = np.zeros(draws.size), seen.sum()
        if before < scale.n:
            _, first = np.unique(draws, return_index=True)
            new[first[seen[draws[first]] == 0.0]] = 1.0
            seen[draws] = 1.0
        count = before + np.cumsum(new)
        rho = np.full(draws.size, 1.0 - eta * scale.lam)
        return Moves(draws, np.full(draws.size, scale.share / scale.n), eta * scale.n / count / rho, rho)


def _nonzero(problem: Problem, state: State) -> Array:
    """1 for every block whose part of the table is not 0."""
    starts = getattr(problem.coupling.blocks, "start", np.arange(problem.n + 1))[:-1]
    return (np.add.reduceat(np.abs(state.y.reshape(-1)), starts) > 0.0).astype(np.float64)
