"""AdaSPDC that adapts its dual steps only (ours)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import DUAL, HERE, SEPARABLE, SMOOTH, STRONG
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.steps import Scale
from saddlery.steps.adaptive import sigma_only


@dataclass(frozen=True)
class AdaSPDCSigma(PrimalDual):
    """Uniform rows; tau and theta of ``spdc``, sigma_i = 1 / (4 tau R_i^2), the largest that its proof allows."""

    name: ClassVar[str] = "adaspdc-sigma"
    paper: ClassVar[str] = "ours: Zhu and Storkey 2015 with the step of x from the largest row, so that the proof holds"
    proved: ClassVar[str] = "linear, the rate of spdc"
    cost: ClassVar[str] = "O(nnz of the rows drawn) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, DUAL, HERE)

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        return Plan(sigma_only(scale, self.batch_size), self.sampler or Uniform())
