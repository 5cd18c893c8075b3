"""Katyusha: SVRG with momentum (Allen-Zhu, 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from saddlery.algorithms._primal_dual import STRETCH
from saddlery.algorithms._protocol import HERE, SEPARABLE, SMOOTH, STRONG, Array, Need, State, positive
from saddlery.algorithms._table import Table, even
from saddlery.data.rows import Sparse
from saddlery.kernels.rows import Data
from saddlery.kernels.table import Linked, Moves, powers, replace, rouse_all
from saddlery.problem import Problem
from saddlery.steps import Scale
from saddlery.terms import _verbs
from saddlery.terms._sums import prox_all

ASLEEP = Need(
    "penalty L2, or dense rows",
    lambda p: _verbs.affine(p.g) or not isinstance(p.coupling.rows.view, Sparse),
    lambda p: (
        f"the penalty L2 where rows are sparse (its sleeping coordinates follow no closed form with "
        f"{type(p.g).__name__}); give X as a dense array"
    ),
)


class Weights(NamedTuple):
    """tau_1, tau_2, alpha and theta = 1 + alpha lam."""

    t1: float
    t2: float
    alpha: float
    theta: float


@dataclass(frozen=True)
class Katyusha(Table):
    """Every m = `length` n draws the anchor a, y = f'(A a), r = A'y / n; in between, draw i and

    x = t1 z + t2 a + (1 - t1 - t2) w;  z+ = prox_g(z - alpha (r + (f'(<a_i, x>) - y_i) a_i), alpha);
    w+ = x + t1 (z+ - z)  (option II),

    with L = R^2 / gamma, t2 = 1/2, t1 = min(sqrt(2 n lam / (3 L)), 1/2), alpha = 1 / (3 t1 L). The next anchor is the
    mean of the w with weights theta^j, theta = 1 + alpha lam. What is certified is w.

    Parameters
    ----------
    length : float
        m / n; 2 is the paper's.
    """

    length: float = 2.0
    name: ClassVar[str] = "katyusha"
    paper: ClassVar[str] = "Allen-Zhu 2016, option II; a rival in Wang and Xiao 2017"
    proved: ClassVar[str] = "linear, n + R sqrt(n / (lam gamma)) steps (times a constant) for a factor e"
    cost: ClassVar[str] = "O(nnz of the row) a step, a pass for a snapshot"
    needs = (SMOOTH, STRONG, SEPARABLE, ASLEEP, HERE)
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("length", self.length, 1e6)

    def span(self, problem: Problem) -> int:
        return max(1, round(self.length * problem.drawn))

    def weights(self, scale: Scale) -> Weights:
        """The paper's, with m = 2n in t1 = sqrt(m lam / (3 L))."""
        L = scale.top**2 / scale.gamma
        t1 = min(math.sqrt(self.length * scale.n * scale.lam / (3.0 * L)), 0.5)
        alpha = 1.0 / (3.0 * t1 * L)
        return Weights(t1, 0.5, alpha, 1.0 + alpha * scale.lam)

    def moves(self, problem: Problem, scale: Scale, state: State, draws: Array) -> Moves:
        return even(problem, scale, draws, self.weights(scale).alpha, scale.share)

    def run(self, problem: Problem, state: State, moves: Moves) -> None:
        memory, coupling, y = state.memory, problem.coupling, state.y.reshape(-1)
        data = Data(coupling.lines, coupling.blocks, problem.f, problem.b, problem.c)
        w = self.weights(state.scratch["scale"])
        if "powers" not in state.scratch:
            count = min(STRETCH, self.span(problem)) + 1 if isinstance(coupling.rows.view, Sparse) else 2
            table = state.scratch["powers"] = np.empty((count, 11))
            powers(table, w.t1, w.t2, w.theta, w.alpha, 1.0 / w.theta)
        sleep = Linked(memory["sleep"].T, problem.g, w.t1, w.t2, w.theta, state.scratch["powers"])
        replace(data, sleep, y, moves, 0.0, memory["clock"], memory["bias"], np.empty((2, coupling.widest)))
        rouse_all(sleep, problem.d + problem.q * problem.intercept, moves.draws.size)
        memory["clock"][4] = 0.0

    def snapshot(self, problem: Problem, state: State) -> None:
        """The anchor becomes the weighted mean; y = c f'(A a), r = A'y / n: one pass."""
        memory, bias = state.memory, state.memory["bias"]
        w, S, d = self.weights(state.scratch["scale"]), state.memory["sleep"], problem.d
        if memory["mean"][0]:
            S[:, 4] = S[:, 2] / total(w.theta, self.span(problem))
        memory["mean"][0] = 1.0
        anchor = problem.pack(S[:d, 4], bias[5] * S[d:, 4] + bias[0])
        state.y = problem.gradients(problem.predictions(anchor))
        state.passes += 1.0
        y = state.y.reshape(-1)
        S[:d, 3] = problem.coupling.force(y)
        S[d:, 3] = bias[5] * y.reshape(-1, problem.q).sum(axis=0) / problem.n
        S[:, 2] = 0.0

    def recentre(self, problem: Problem, state: State) -> None:
        """Let the offset of the intercept follow w: see `bias_column`. Only between two rounds."""
        bias, S, d = state.memory["bias"], state.memory["sleep"], problem.d
        if state.memory["since"][0] == 0.0 and np.isfinite(S[d:]).all():
            shift = S[d:, 1].copy()
            bias[0] += bias[5] * shift
            S[d:, :2] -= shift[:, None]
            S[d:, 4] -= shift
            w = self.weights(state.scratch["scale"])
            S[d:, 2] -= total(w.theta, self.span(problem)) * shift

    def point(self, problem: Problem, state: State) -> Array:
        return np.array(state.memory["sleep"][: problem.d, 1])

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        bias, S, d = state.memory["bias"], state.memory["sleep"], problem.d
        x = self.point(problem, state)
        if not _verbs.affine(problem.g):
            prox_all(problem.g, x, 0.0)  # a mean of points of the domain of g is outside of it by rounding only
        state.x = problem.pack(x, bias[5] * S[d:, 1] + bias[0])
        return state.x, state.y

    def _store(self, problem: Problem) -> Array:
        """z, w, s, r, a, stamp, F - r, -: beside each other; the intercepts last."""
        return np.zeros((problem.d + problem.q, 8))

    def _place(self, problem: Problem, state: State, x: Array) -> None:
        S = state.memory["sleep"]
        S[: problem.d, 0] = S[: problem.d, 1] = S[: problem.d, 4] = x
        state.memory["mean"] = np.zeros(1)


def total(theta: float, m: int) -> float:
    """1 + 1/theta + ... + 1/theta^(m-1)."""
    fall = math.log(theta)
    return math.expm1(-m * fall) / math.expm1(-fall) if fall > 0.0 else float(m)
