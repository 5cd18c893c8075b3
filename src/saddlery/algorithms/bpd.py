"""BPD: the primal-dual method with all rows in every step (Wang and Xiao, 2017, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._batch import Batch
from saddlery.algorithms._data_convexity import constants
from saddlery.algorithms._protocol import DUAL, SMOOTH, STRONG, State
from saddlery.problem import Problem
from saddlery.steps import convexity
from saddlery.steps.convexity import Step


@dataclass(frozen=True)
class BPD(Batch):
    """y <- prox_conj(y, A xbar, sigma);  x+ = prox_g(x - tau A'y / n, tau);  xbar = x+ + theta (x+ - x).

    Theorem 1 with mu = 0: lam is all the strong convexity there is. tau = (n/L) sqrt(gamma / (n lam)),
    sigma = (1/L) sqrt(n lam / gamma), theta = max(1 / (1 + tau lam), 1 / (1 + sigma gamma / 2)).
    (The paper's y is y/n here, its sigma is sigma/n, its gamma n gamma.)
    """

    name: ClassVar[str] = "bpd"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 1 and Theorem 1"
    proved: ClassVar[str] = "linear, 2 L / sqrt(n lam gamma) passes for a factor e"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs = (SMOOTH, STRONG, DUAL)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        return convexity.bpd(constants(problem, L), 0.0)
