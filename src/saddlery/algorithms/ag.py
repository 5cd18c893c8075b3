"""AG: Nesterov's accelerated gradient method for the primal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlery.algorithms._batch import Batch, Vectors
from saddlery.algorithms._protocol import FIGURE, SMOOTH, State
from saddlery.couplings.space import Here, There
from saddlery.problem import Problem
from saddlery.steps.convexity import Step


@dataclass(frozen=True)
class AG(Batch):
    """y = f'(A xbar);  x+ = prox_g(xbar - t A'y / n, t);  xbar = x+ + theta (x+ - x).

    t = n gamma / L^2. lam > 0: theta = (1 - sqrt q) / (1 + sqrt q), q = lam / (lam + 1/t) (Nesterov 2004, with lam as
    the modulus, as Wang and Xiao use it). lam = 0: theta_k = (s_k - 1) / s_{k+1}, s_{k+1} = (1 + sqrt(1 + 4 s_k^2)) / 2
    (Beck and Teboulle 2009). The dual point that is certified is f'(A x).

    Parameters
    ----------
    restart : bool
        For lam = 0: start the momentum anew when it points uphill, <xbar - x+, x+ - x> > 0 (O'Donoghue and Candes
        2015), a heuristic, which makes use of strong convexity that nobody told of. False: the method as proved.
    """

    restart: bool = True
    name: ClassVar[str] = "ag"
    paper: ClassVar[str] = "Nesterov 2004, Beck and Teboulle 2009; a rival in Wang and Xiao 2017"
    proved: ClassVar[str] = "linear for lam > 0, L / sqrt(n lam gamma) passes for a factor e; O(1/t^2) for lam = 0"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs = (SMOOTH, FIGURE)
    from_bar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.restart, bool):
            raise ValueError(f"restart must be True or False, found {self.restart!r}")

    def begin(self, problem: Problem, state: State) -> None:
        state.memory["s"] = np.ones(1)

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        t = problem.n * problem.gamma / L**2
        if problem.lam > 0.0:
            root = math.sqrt(problem.lam / (problem.lam + 1.0 / t))
            return Step(t, 0.0, (1.0 - root) / (1.0 + root), 0.0)
        s = float(state.memory["s"][0])
        following = (1.0 + math.sqrt(1.0 + 4.0 * s * s)) / 2.0
        state.memory["s"][0] = following
        return Step(t, 0.0, (s - 1.0) / following, 0.0)

    def answer(self, space: Here | There, w: Vectors, z: Any, sigma: float) -> Any:
        return space.grad(z)

    def after(self, problem: Problem, state: State, w: Vectors, u: Any, step: Step) -> None:
        if self.restart and problem.lam == 0.0 and w["uphill"]:
            state.memory["s"][0] = 1.0

    def iterate(self, problem: Problem, state: State) -> tuple[Any, Any]:
        x, _ = super().iterate(problem, state)
        state.y = problem.gradients(state.memory["z"] + np.tile(state.memory["k"], state.memory["z"].size // problem.q))
        return x, state.y
