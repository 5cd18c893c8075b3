"""SAG: stochastic average gradient (Schmidt, Le Roux and Bach, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import LINEAR, SMOOTH, STRONG, State
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.sampling._protocol import only_single
from saddlery.steps import Scale, Steps
from saddlery.terms._verbs import Explicit


@dataclass(frozen=True, eq=False)
class _Averaging:
    """x+ = (1 - eta lam) x - (eta / #seen) sum_seen y_i a_i as steps of the primal-dual kernel."""

    eta: float
    scale: Scale
    seen: NDArray[Any]

    def __call__(self, draws: NDArray[Any]) -> Steps:
        count, flat = draws.shape[0], draws[:, 0]
        _, first = np.unique(flat, return_index=True)
        new = np.zeros(count, dtype=np.int64)
        new[first[self.seen[flat[first]] == 0.0]] = 1
        seen = self.seen.sum() + np.cumsum(new)
        self.seen[flat] = 1.0
        rho = np.full(count, 1.0 - self.eta * self.scale.lam)
        tau = self.eta * self.scale.n / seen / rho
        weight = np.full(draws.shape, self.scale.share / self.scale.n)
        return Steps(draws, np.ones(draws.shape), weight, tau, rho, np.zeros(count))


@dataclass(frozen=True)
class SAG(PrimalDual):
    """Keeps y_i = f'(<a_i, x>) of the last visit of every row, and steps along their average.

    Draw i; y_i <- f'(<a_i, x>); x <- (1 - eta lam) x - (eta / #seen) sum_seen y_j a_j, eta = `step` / L,
    L = max_i R_i^2 / gamma + lam (as printed in Zhu and Storkey, section 4, the square and gamma are missing).
    On the primal-dual kernel: the dual step goes all the way (sigma infinite), theta = 0, weight 1/n.

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
    needs = (SMOOTH, STRONG, LINEAR)

    def __post_init__(self) -> None:
        super().__post_init__()
        only_single(self, self.batch_size)
        if not self.step > 0.0:
            raise ValueError(f"step must be above 0, found {self.step}")

    def loss(self, problem: Problem) -> Any:
        return Explicit(problem.f)

    def init(self, problem: Problem, x: NDArray[Any], y: NDArray[Any]) -> State:
        state = super().init(problem, x, y)
        state.memory["seen"] = (state.y.reshape(problem.n, -1) != 0.0).any(axis=1).astype(np.float64)
        return state

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        L = scale.top**2 / scale.gamma + scale.lam
        return Plan(_Averaging(self.step / L, scale, memory["seen"]), self.sampler or Uniform())
