"""DF-BPD: BPD without a prox of the conjugate (Wang and Xiao, 2017, Algorithm 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from saddlery.algorithms._batch import Batch, Vectors, scales
from saddlery.algorithms._data_convexity import (
    check_kappa,
    check_mu,
    check_period,
    check_rule,
    constants,
    dual_free_start,
    first_estimate,
    known_square,
)
from saddlery.algorithms._protocol import CURVED, FIGURE, SMOOTH, Need, State
from saddlery.algorithms.ada_bpd import adapted
from saddlery.couplings.space import Here, There
from saddlery.problem import Problem
from saddlery.steps import convexity
from saddlery.steps.convexity import Step


@dataclass(frozen=True)
class DFBPD(Batch):
    """v <- (v + sigma A xbar) / (1 + sigma);  y = f'(v);  x+ = prox_g(x - tau A'y / n, tau);  xbar as in ``bpd``.

    The dual step of ``bpd`` with the Bregman divergence of f* in place of the square (Lemma 1). Theorem 3, S = n lam +
    Delta: tau = kappa (n/L) sqrt(gamma / S), sigma = (kappa/L) sqrt(gamma S), theta = max(theta_x, 1 / (1 + sigma/2)),
    theta_x = (1 - tau sigma (Delta/n) / (4 + 2 sigma)) / (1 + tau lam).

    It starts from v with f'(v) = y: v = f*'(y) for the squared loss; for others v = A x, and y = f'(v).

    Parameters
    ----------
    adapt : {"robust", "simple", "sharp"} or None
        Estimate Delta as ``ada-bpd`` does. None: Delta = delta mu^2.
    kappa : float
        1/2 is what the paper's appendix proves; Theorem 3 is printed with 1, which no test has found to fail.
    mu : float, optional
        For ``adapt=None``: see ``opt-bpd``.
    period : int, optional
        Of the adaptation: see ``ada-bpd``.
    """

    adapt: str | None = None
    kappa: float = 0.5
    mu: float | None = None
    period: int | None = None
    name: ClassVar[str] = "df-bpd"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 6 and Theorem 3"
    proved: ClassVar[str] = "linear with adapt=None and kappa=1/2; accelerated for lam not far below delta mu^2 / n"
    cost: ClassVar[str] = "O(nnz(A)) a step"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rule(self.adapt)
        check_kappa(self.kappa)
        check_mu(self.mu)
        check_period("period", self.period)

    @property
    def needs(self) -> tuple[Need, ...]:  # type: ignore[override]
        return (SMOOTH, FIGURE) if self.adapt else (SMOOTH, FIGURE, CURVED)

    def begin(self, problem: Problem, state: State) -> None:
        if self.adapt:
            state.memory["estimate"] = first_estimate(problem)
        else:
            s, _ = scales(problem, float(state.memory["norm"][0]))
            known_square(problem, state, self.mu, s)
        dual_free_start(problem, state)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        now = constants(problem, L)
        known = now.delta * float(state.memory["square"][0]) if "square" in state.memory else 0.0
        Delta = float(state.memory["estimate"][0]) if self.adapt else known
        return convexity.df_bpd(now, Delta, self.kappa)

    def answer(self, space: Here | There, w: Vectors, z: Any, sigma: float) -> Any:
        w["v"] = (w["v"] + sigma * z) / (1.0 + sigma)
        return space.grad(w["v"])

    def after(self, problem: Problem, state: State, w: Vectors, u: Any, step: Step) -> None:
        if self.adapt:
            adapted(problem, state, w, u, self.adapt, self.period, step)
