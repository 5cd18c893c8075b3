"""SPDC: stochastic primal-dual coordinate descent (Zhang and Xiao, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import DUAL, SEPARABLE, SMOOTH, STRONG
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.steps import Scale
from saddlery.steps.spdc import zhang_xiao


@dataclass(frozen=True)
class SPDC(PrimalDual):
    """Uniform rows, constant steps from the largest row norm R.

    Draw a set S of m rows uniformly;
    y_i <- prox_conj(y_i, <a_i, xbar>, sigma), i in S;  x+ = prox_g(x - tau (r + (1/m) sum_S a_i dy_i), tau);
    r <- r + (1/n) sum_S a_i dy_i;  xbar = x+ + theta (x+ - x), with
    sigma = k / (2R), tau = 1 / (2Rk), k = sqrt(n lam / (m gamma)), theta = 1 - 1 / (n/m + R sqrt((n/m) / (lam gamma))).
    """

    name: ClassVar[str] = "spdc"
    paper: ClassVar[str] = "Zhang and Xiao 2015; Zhu and Storkey 2015, equations 9 to 15 with R_i = R"
    proved: ClassVar[str] = "linear, n/m + R sqrt((n/m) / (lam gamma)) steps for a factor e"
    cost: ClassVar[str] = "O(nnz of the rows drawn) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, DUAL)

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        return Plan(zhang_xiao(scale, self.batch_size), self.sampler or Uniform())
