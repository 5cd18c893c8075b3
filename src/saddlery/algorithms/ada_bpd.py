"""Ada-BPD: BPD that estimates the strong convexity of the data as it goes (Wang and Xiao, 2017, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlery.algorithms._batch import Batch, Vectors
from saddlery.algorithms._data_convexity import (
    GAP,
    PASSED,
    check_period,
    check_rule,
    constants,
    first_estimate,
    gap_to_read,
    learn,
    length,
    settled,
)
from saddlery.algorithms._protocol import DUAL, FIGURE, SMOOTH, State
from saddlery.problem import Problem
from saddlery.steps import convexity
from saddlery.steps.convexity import Step

PERIOD = 10  # the paper's


@dataclass(frozen=True)
class AdaBPD(Batch):
    """The update and the steps of ``opt-bpd`` with an estimate of Delta = delta mu^2, judged anew every T steps.

    Where delta = 0 Delta is what the loss's curvature makes of mu^2 where the iterates are, and theta is theta_y. The
    estimate starts from its upper bound |A|_F^2 / (gamma min(n, d)). Rules and guards: `saddlery.steps.adapt`. For
    lam = 0, where the gap is infinite, the rate is read from the gap of P(.) + beta/2 |. - x|^2 with a small beta.

    Corrected: xbar starts at x; a period has the T + 1 gaps that end at the newest; rates are compared as logarithms.

    Parameters
    ----------
    adapt : {"robust", "simple", "sharp"}
        Algorithm 4 (the paper's choice), Algorithm 3, or ours, which is far ahead of both.
    period : int, optional
        T. By default the paper's 10, or more where the rate that is hoped for needs longer to show: a safeguard, since
        every change of Delta can multiply the potential of the proofs by sqrt 2, and many of them have made the method
        diverge. A number switches it off.
    """

    adapt: str = "robust"
    period: int | None = None
    name: ClassVar[str] = "ada-bpd"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 2, with Algorithm 3 or 4, or ours"
    proved: ClassVar[str] = "nothing beyond bpd: the estimate is a heuristic"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs = (SMOOTH, FIGURE, DUAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rule(self.adapt, may_be_none=False)
        check_period("period", self.period)

    def begin(self, problem: Problem, state: State) -> None:
        state.memory["estimate"] = first_estimate(problem)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        return convexity.bpd(constants(problem, L), float(state.memory["estimate"][0]))

    def after(self, problem: Problem, state: State, w: Vectors, u: Any, step: Step) -> None:
        adapted(problem, state, w, u, self.adapt, self.period, step)


def adapted(problem: Problem, state: State, w: Vectors, u: Any, rule: str, asked: int | None, step: Step) -> None:
    """Look at the gap after the first step and at the end of every period."""
    memory, space = state.memory["estimate"], problem.space
    memory[PASSED] += 1.0
    period = length(memory, asked, PERIOD, settled(step))
    if np.isfinite(memory[GAP]) and memory[PASSED] < period:
        return
    z = w["z"] if not problem.intercept else space.shifted(w["z"], state.memory["k"])
    x, z, y, u = (space.get(vector) for vector in (w["x"], z, w["y"], u))
    learn(problem, memory, gap_to_read(problem, x, z, y, u), period, rule, step)
