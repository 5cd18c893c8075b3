"""PDCP: the primal-dual method of Chambolle and Pock (2011), all rows in every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._batch import Batch
from saddlery.algorithms._protocol import DUAL, SMOOTH, STRONG, State
from saddlery.problem import Problem
from saddlery.steps.convexity import Step


@dataclass(frozen=True)
class PDCP(Batch):
    """y <- prox_conj(y, A xbar, sigma);  x+ = prox_g(x - tau A'y / n, tau);  xbar = x+ + theta (x+ - x).

    Zhu and Storkey, equations 6 to 8. With mu = 2 sqrt(n lam gamma) / L, L = |A|: tau = mu / (2 lam),
    sigma = mu / (2 gamma) (for each y_i), theta = 1 / (1 + mu).

    An epoch is one step, one pass over the data. Also for penalties that are not sums over coordinates.
    """

    name: ClassVar[str] = "pdcp"
    paper: ClassVar[str] = "Chambolle and Pock 2011; Zhu and Storkey 2015, equations 6 to 8"
    proved: ClassVar[str] = "linear, L / sqrt(n lam gamma) passes for a factor e"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs = (SMOOTH, STRONG, DUAL)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        n, lam, gamma = problem.n, problem.lam, problem.gamma
        mu = 2.0 * math.sqrt(n * lam * gamma) / L
        return Step(mu / (2.0 * lam), mu / (2.0 * gamma), 1.0 / (1.0 + mu), 0.0)
