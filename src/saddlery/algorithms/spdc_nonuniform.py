"""SPDC with weighted sampling (Zhang and Xiao, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import DUAL, HERE, SEPARABLE, SMOOTH, STRONG
from saddlery.problem import Problem
from saddlery.sampling import Weighted
from saddlery.sampling._protocol import only_single
from saddlery.steps import Scale
from saddlery.steps.nonuniform import nonuniform


@dataclass(frozen=True)
class SPDCNonuniform(PrimalDual):
    """Half of the chance of a row uniform, half proportional to its norm; steps from the mean norm.

    The update is that of ``spdc`` with p_i = 1/(2n) + R_i / (2 sum R), dy_i weighted by 1 / (n p_i), and the steps of
    :mod:`saddlery.steps.nonuniform`. One row a step: for batches the steps are not derived.
    """

    name: ClassVar[str] = "spdc-nonuniform"
    paper: ClassVar[str] = "Zhang and Xiao 2015, parameters derived again; a rival in Zhu and Storkey 2015"
    proved: ClassVar[str] = "linear, 2n + 2 Rbar sqrt(n / (lam gamma)) steps for a factor e"
    cost: ClassVar[str] = "O(nnz of the row) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, DUAL, HERE)

    def __post_init__(self) -> None:
        super().__post_init__()
        only_single(self, self.batch_size)

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        rule, p = nonuniform(scale, problem.live)
        return Plan(rule, self.sampler or Weighted(p))
