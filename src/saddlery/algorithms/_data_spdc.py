"""What Ada-SPDC, DF-SPDC and ADF-SPDC share: one row a step on the kernel of SPDC, and an estimate of Delta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlery.algorithms._data_convexity import (
    GAP,
    PASSED,
    check_kappa,
    check_mu,
    check_period,
    check_rule,
    dual_free_start,
    first_estimate,
    gap_to_read,
    known_square,
    learn,
    length,
)
from saddlery.algorithms._primal_dual import Memory, Plan, PrimalDual
from saddlery.algorithms._protocol import Array, State, bias_column, scale_of
from saddlery.problem import Problem
from saddlery.sampling import Uniform
from saddlery.sampling._protocol import only_single
from saddlery.steps import Scale
from saddlery.steps.data_spdc import data_spdc
from saddlery.terms import _verbs
from saddlery.terms._sums import DualFree

PERIOD = {"sharp": (3, 3)}  # T and passes between looks, where not the paper's T = 10 and, for half the price, 2


@dataclass(frozen=True)
class DataSPDC(PrimalDual):
    """Parameters of every member.

    Parameters
    ----------
    kappa : float
        1/4 is proved. On rows that are not nearly parallel 1/2 halves the passes (measured).
    """

    kappa: float = 0.25
    dual_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        only_single(self, self.batch_size)
        check_kappa(self.kappa)

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        state = super().init(problem, x, y)
        if self.dual_free:
            dual_free_start(problem, state)
            self.resync(problem, state)
        return state

    def blocks(self, problem: Problem, state: State) -> Any:
        blocks = problem.coupling.blocks
        return DualFree(blocks, state.memory["v"]) if self.dual_free else blocks

    def Delta(self, problem: Problem, memory: Memory) -> float:
        """What the steps take the data's strong convexity to be."""
        raise TypeError(f"{type(self).__name__} does not say how strongly convex the data are")

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        delta = _verbs.modulus(problem.f)
        rule, _ = data_spdc(scale, delta, self.Delta(problem, memory), self.kappa, self.dual_free)
        return Plan(rule, self.sampler or Uniform())


@dataclass(frozen=True)
class Told(DataSPDC):
    """Of those that are told mu, or compute it."""

    mu: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mu(self.mu)

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        state = super().init(problem, x, y)
        known_square(problem, state, self.mu, bias_column(problem))
        return state

    def Delta(self, problem: Problem, memory: Memory) -> float:
        return _verbs.modulus(problem.f) * float(memory["square"][0])


@dataclass(frozen=True)
class Adaptive(DataSPDC):
    """Of those that estimate Delta as they go.

    Parameters
    ----------
    adapt : {"robust", "simple", "sharp"}
        Algorithm 4 (the paper's choice), Algorithm 3, or ours, which is far ahead of both.
    period : int, optional
        T, passes between judgements. By default the paper's 10, for "sharp" 3 (measured), and twice as many where the
        gap has grown tenfold: a safeguard. A number switches it off.
    every : int, optional
        Passes between looks at the gap, each of which costs half a pass; by default 2, for "sharp" 3.
    """

    adapt: str = "robust"
    period: int | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rule(self.adapt, may_be_none=False)
        check_period("period", self.period)
        check_period("every", self.every)

    @property
    def usual(self) -> tuple[int, int]:
        """T, and the passes between looks, where neither is asked for."""
        return PERIOD.get(self.adapt, (10, 2))

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        state = super().init(problem, x, y)
        state.memory["estimate"] = first_estimate(problem)
        return state

    def Delta(self, problem: Problem, memory: Memory) -> float:
        return float(memory["estimate"][0])

    def after(self, problem: Problem, state: State) -> None:
        """Every so many passes, look at the gap: z = A x is half a pass."""
        estimate, (usual, every) = state.memory["estimate"], self.usual
        every = self.every or min(every, self.period or usual)
        estimate[PASSED] += 1.0
        period = length(estimate, self.period, usual)
        if np.isfinite(estimate[GAP]) and estimate[PASSED] % every and estimate[PASSED] < period:
            return
        x, y = self.iterate(problem, state)
        (flat, _), z = problem.unpack(x), problem.predictions(x).reshape(-1)
        state.passes += 0.5
        gap = gap_to_read(problem, flat, z, y.reshape(-1), self.force(problem, state))
        scale, before = scale_of(problem), float(estimate[0])
        _, step = data_spdc(scale, _verbs.modulus(problem.f), before, self.kappa, self.dual_free)
        learn(problem, estimate, gap, period, self.adapt, step._replace(theta=step.theta**scale.n))
        if estimate[0] != before:
            state.scratch.pop("plan")
