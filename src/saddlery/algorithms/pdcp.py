"""PDCP: the primal-dual method of Chambolle and Pock (2011), all rows in every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import CERTIFIED, DUAL, SMOOTH, Need, State, bias_column
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.terms import _verbs
from saddlery.terms._sums import prox_all, steps_all

Array = NDArray[Any]


@dataclass(frozen=True)
class PDCP:
    """y <- prox_conj(y, A xbar, sigma);  x+ = prox_g(x - tau A'y / n, tau);  xbar = x+ + theta (x+ - x).

    Zhu and Storkey, equations 6 to 8. With mu = 2 sqrt(n lam gamma) / L, L = |A|: tau = mu / (2 lam),
    sigma = mu / (2 gamma) (for each y_i), theta = 1 / (1 + mu). With lam = 0: tau = n gamma / L^2, sigma = 1 / gamma,
    theta = 1, which keep tau sigma L^2 = n.
    L is estimated from below by power iteration and multiplied by 1.02.

    An epoch is one step, one pass over the data. The one method here for penalties that are not sums over coordinates.
    """

    name: ClassVar[str] = "pdcp"
    paper: ClassVar[str] = "Chambolle and Pock 2011; Zhu and Storkey 2015, equations 6 to 8"
    proved: ClassVar[str] = "linear for lam > 0, L / sqrt(n lam gamma) passes for a factor e; O(1/t) for lam = 0"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs: ClassVar[tuple[Need, ...]] = (SMOOTH, DUAL, CERTIFIED)

    @property
    def replay(self) -> Replay | None:
        """Nothing is drawn."""
        return None

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        flat, x0 = problem.unpack(x)
        memory = {"x": flat.copy(), "bar": flat.copy(), "k": x0.copy(), "bias": np.zeros((2, problem.q))}
        return State(np.array(x, dtype=np.float64), problem.flat(y).reshape(problem.y_shape), memory)

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """One step."""
        tau, sigma, theta = self._steps(problem, state)
        coupling, memory, y, s = problem.coupling, state.memory, state.y.reshape(-1), bias_column(problem)
        bias, k = memory["bias"], memory["k"]
        z = coupling.predictions(memory["bar"])
        if problem.intercept:
            z += np.tile(s * bias[1] + k, z.size // problem.q)
        steps_all(coupling.blocks, problem.f, y, z, sigma, problem.b, problem.c)
        x = memory["x"] - tau * coupling.force(y)
        if _verbs.separable(problem.g):
            prox_all(problem.g, x, tau)
        else:
            x = problem.g.prox(x, tau)
        memory["bar"][:] = x + theta * (x - memory["x"])
        memory["x"][:] = x
        if problem.intercept:
            new = (bias[0] - tau * s * y.reshape(-1, problem.q).sum(axis=0) / problem.n) / (1.0 + problem.lam * tau)
            bias[1] = theta * (new - bias[0])
            k += s * new
            bias[0] = 0.0  # recentred: see `bias_column`
        state.epoch += 1
        state.passes += 1.0
        return state

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        memory = state.memory
        state.x = problem.pack(memory["x"], bias_column(problem) * memory["bias"][0] + memory["k"])
        return state.x, state.y

    def _steps(self, problem: Problem, state: State) -> tuple[float, Array, float]:
        if "norm" not in state.memory:
            L, passes = problem.coupling.norm(problem.c, bias_column(problem))
            state.memory["norm"], state.passes = np.array([L or 1.0]), state.passes + passes
        if "steps" not in state.scratch:
            n, lam, gamma, L = problem.n, problem.lam, problem.gamma, float(state.memory["norm"][0])
            if lam > 0.0:
                mu = 2.0 * math.sqrt(n * lam * gamma) / L
                tau, sigma, theta = mu / (2.0 * lam), mu / (2.0 * gamma), 1.0 / (1.0 + mu)
            else:
                tau, sigma, theta = n * gamma / L**2, 1.0 / gamma, 1.0
            state.scratch["steps"] = tau, np.full(n, sigma), theta
        tau, sigmas, theta = state.scratch["steps"]
        return tau, sigmas, theta
