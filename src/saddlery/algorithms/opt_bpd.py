"""Opt-BPD: BPD told how strongly convex the data make the problem (Wang and Xiao, 2017, Theorem 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._batch import Batch, scales
from saddlery.algorithms._data_convexity import check_mu, constants, known_square
from saddlery.algorithms._protocol import CURVED, DUAL, FIGURE, SMOOTH, State
from saddlery.problem import Problem
from saddlery.steps import convexity
from saddlery.steps.convexity import Step


@dataclass(frozen=True)
class OptBPD(Batch):
    """The update of ``bpd`` with Delta = delta mu^2, S = n lam + Delta:

    tau = (n/L) sqrt(gamma / S), sigma = (1/L) sqrt(S / gamma), theta = max(theta_x, 1 / (1 + sigma gamma / 2)),
    theta_x = (1 - Delta / ((delta + 2 sigma) L^2)) / (1 + tau lam).

    Also for lam = 0, where delta > 0. A loss with delta = 0 leaves it ``bpd``.

    Parameters
    ----------
    mu : float, optional
        Smallest singular value of A that is not 0 (of diag(sqrt(c)) A). By default it is computed exactly, where rows
        or columns are at most 1000 and it takes seconds, and the run says so; elsewhere it must be given.
    """

    mu: float | None = None
    name: ClassVar[str] = "opt-bpd"
    paper: ClassVar[str] = "Wang and Xiao 2017, Theorem 1"
    proved: ClassVar[str] = "linear; accelerated for lam > 0 or a badly conditioned loss"
    cost: ClassVar[str] = "O(nnz(A)) a step; once, where mu is not given, the eigenvalues of A'A or AA'"
    needs = (SMOOTH, FIGURE, CURVED, DUAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mu(self.mu)

    def begin(self, problem: Problem, state: State) -> None:
        s, _ = scales(problem, float(state.memory["norm"][0]))
        known_square(problem, state, self.mu, s)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        now = constants(problem, L)
        return convexity.bpd(now, now.delta * float(state.memory["square"][0]))
