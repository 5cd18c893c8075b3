"""SPDC: stochastic primal-dual coordinate descent (Zhang and Xiao, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._data_convexity import check_kappa, check_mu, known_square
from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import (
    CURVED,
    DUAL,
    FIGURE,
    HERE,
    SEPARABLE,
    SMOOTH,
    STRONG,
    Array,
    Need,
    State,
    bias_column,
)
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.sampling._protocol import only_single
from saddlery.steps import Scale
from saddlery.steps.data_spdc import data_spdc
from saddlery.steps.spdc import zhang_xiao
from saddlery.terms import _verbs


@dataclass(frozen=True)
class SPDC(PrimalDual):
    """Uniform rows, constant steps from the largest row norm R.

    Draw a set S of m rows uniformly;
    y_i <- prox_conj(y_i, <a_i, xbar>, sigma), i in S;  x+ = prox_g(x - tau (r + (1/m) sum_S a_i dy_i), tau);
    r <- r + (1/n) sum_S a_i dy_i;  xbar = x+ + theta (x+ - x), with
    sigma = k / (2R), tau = 1 / (2Rk), k = sqrt(n lam / (m gamma)), theta = 1 - 1 / (n/m + R sqrt((n/m) / (lam gamma))).

    With ``steps="data"`` those of Wang and Xiao's Theorem 2, m = 1, also for lam = 0: S = n lam + Delta,
    Delta = delta mu^2, sigma = (kappa/R) sqrt(S / gamma), tau = (kappa/R) sqrt(gamma / S),
    theta = max(theta_x, theta_y), theta_x = (1 - tau sigma Delta / (2n (sigma + 4 delta))) / (1 + tau lam),
    theta_y = (1 + (1 - 1/n) h) / (1 + h), h = sigma gamma / 2. (Corrected: r starts as A'y / n.)

    Parameters
    ----------
    steps : {"zhang-xiao", "data"}
    mu : float, optional
        For "data": the smallest singular value of A that is not 0. By default computed exactly, where rows or columns
        are at most 1000 and it takes seconds, and the run says so.
    kappa : float
        For "data": 1/4 is proved; 1/2 is what "zhang-xiao" amounts to.
    """

    steps: str = "zhang-xiao"
    mu: float | None = None
    kappa: float = 0.25
    name: ClassVar[str] = "spdc"
    paper: ClassVar[str] = "Zhang and Xiao 2015; Zhu and Storkey 2015, equations 9 to 15 with R_i = R"
    proved: ClassVar[str] = "linear, n/m + R sqrt((n/m) / (lam gamma)) steps for a factor e"
    cost: ClassVar[str] = "O(nnz of the rows drawn) a step"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps not in ("zhang-xiao", "data"):
            raise ValueError(f"steps must be 'zhang-xiao' or 'data', found {self.steps!r}")
        check_kappa(self.kappa)
        check_mu(self.mu)
        if self.steps == "data":
            only_single(self, self.batch_size)

    @property
    def needs(self) -> tuple[Need, ...]:  # type: ignore[override]
        return (SMOOTH, *((CURVED, FIGURE) if self.steps == "data" else (STRONG,)), SEPARABLE, DUAL, HERE)

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        state = super().init(problem, x, y)
        if self.steps == "data":
            known_square(problem, state, self.mu, bias_column(problem))
        return state

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        if self.steps == "data":
            delta = _verbs.modulus(problem.f)
            rule, _ = data_spdc(scale, delta, delta * float(memory["square"][0]), self.kappa)
        else:
            rule = zhang_xiao(scale, self.batch_size)
        return Plan(rule, self.sampler or Uniform())
