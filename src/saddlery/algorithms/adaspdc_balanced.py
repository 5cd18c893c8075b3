"""AdaSPDC with probabilities and steps that give every row the same rate (ours)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import DUAL, HERE, SEPARABLE, SMOOTH, STRONG
from saddlery.problem import Problem
from saddlery.sampling import Weighted
from saddlery.sampling._protocol import only_single
from saddlery.steps import Scale
from saddlery.steps.balanced import balanced


@dataclass(frozen=True)
class AdaSPDCBalanced(PrimalDual):
    """The update of ``spdc`` with dy_i weighted by 1 / (n p_i), and

    p_i = (1 + sqrt(1 + 4 c_i K)) / (2K), c_i = 2 tau R_i^2 / (n gamma), tau = 1 / (2 lam (K - 1)), sum p = 1,
    sigma_i = n p_i / (4 tau R_i^2), theta = 1 - 1/K. One row a step: for batches the steps are not derived.
    """

    name: ClassVar[str] = "adaspdc-balanced"
    paper: ClassVar[str] = "ours: Zhu and Storkey 2015 made provable on rows of any norms"
    proved: ClassVar[str] = "linear, K <= n + Rbar sqrt(n / (lam gamma)) steps (large K) for a factor e"
    cost: ClassVar[str] = "O(nnz of the row) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, DUAL, HERE)

    def __post_init__(self) -> None:
        super().__post_init__()
        only_single(self, self.batch_size)

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        rule, p = balanced(scale, problem.live)
        return Plan(rule, self.sampler or Weighted(p))
