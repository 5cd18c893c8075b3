"""AdaSPDC as published (Zhu and Storkey, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import DUAL, HERE, SEPARABLE, SMOOTH, STRONG
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.steps import Scale
from saddlery.steps.adaptive import Published


@dataclass(frozen=True)
class AdaSPDC(PrimalDual):
    """Uniform rows, steps from the norms of the rows drawn.

    Algorithm 1: the update of ``spdc`` with sigma_i = k / (2 R_i), tau^t = 1 / (2 R^t k), R^t = max_{i in S_t} R_i,
    theta^t = 1 - 1 / (n/m + R^t sqrt((n/m) / (lam gamma))) (equations 10, 12, 15).

    Corrected: phi* for phi in equation 9; on an empty row, where the steps as printed are infinite, y goes all the way
    and x takes the step of the largest row.
    Theorem 1 is false as stated: on rows of very unequal norm the method can diverge (squared loss) or stall (bounded
    y). ``solve`` notices, goes back to the best point, and goes on with `fallback`.

    Parameters
    ----------
    fallback : str or None
        Method to go on with; ``"auto"`` is ``adaspdc-balanced``, with batches ``adaspdc-sigma``. None: the published
        method bare.
    """

    fallback: str | None = "auto"
    name: ClassVar[str] = "adaspdc"
    paper: ClassVar[str] = "Zhu and Storkey 2015, Algorithm 1"
    proved: ClassVar[str] = (
        "nothing for rows of unequal norm (Theorem 1 is false as stated); that of spdc for equal ones"
    )
    cost: ClassVar[str] = "O(nnz of the rows drawn) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, DUAL, HERE)

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        return Plan(Published(scale, self.batch_size), self.sampler or Uniform())
