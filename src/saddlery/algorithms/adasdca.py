"""AdaSDCA (Csiba, Qu and Richtarik, 2015, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._dual_ascent import DualAscent
from saddlery.algorithms._protocol import DUAL, HERE, SCALAR, SEPARABLE, SMOOTH, STRONG, State
from saddlery.problem import Problem


@dataclass(frozen=True)
class AdaSDCA(DualAscent):
    """SDCA with p_i^t proportional to abs(kappa_i^t) sqrt(R_i^2 + n lam gamma) in every step (equation 14).

    kappa_i = f'(<a_i, x>) - y_i, the dual residue. All residues are computed anew before every draw, O(nnz(A)): a
    method for theory and for measuring ``adasdca+`` against. An epoch is n draws and costs n + 1 passes.
    """

    name: ClassVar[str] = "adasdca"
    paper: ClassVar[str] = "Csiba, Qu and Richtarik 2015, Algorithm 1"
    proved: ClassVar[str] = "linear, at least the rate of iprox-sdca (quadratic losses of curvature 1/gamma)"
    cost: ClassVar[str] = "O(nnz(A)) a step"
    needs = (SMOOTH, STRONG, SEPARABLE, SCALAR, DUAL, HERE)

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        if self.sampler is not None:
            return super().epoch(problem, state, rng)
        roots = np.sqrt(self.squares(problem) + problem.n * problem.lam * problem.gamma)
        enough = state.scratch.get("enough", bool)
        for _ in range(problem.drawn):
            if enough():  # an epoch is n passes: a budget ends it between two draws
                break
            heights = np.cumsum(self.residues(problem, state) * roots)
            if not heights[-1] > 0.0:  # every residue is 0: the point is optimal
                break
            i = min(int(np.searchsorted(heights, rng.random() * heights[-1], side="right")), problem.n - 1)
            self.move(problem, state, np.array([i]))
            state.passes += 1.0 + 1.0 / problem.drawn
        self.finish(problem, state)
        return state

    def draws(self, problem: Problem, state: State, rng: np.random.Generator) -> NDArray[Any]:
        drawn: NDArray[Any] = self.sampler.draw(rng, problem.drawn, problem.drawn)
        return np.asarray(drawn[:, 0])
