"""IProx-SDCA: SDCA with importance sampling (Zhao and Zhang, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._dual_ascent import DualAscent
from saddlery.algorithms._protocol import State
from saddlery.problem import Problem
from saddlery.sampling import Weighted


@dataclass(frozen=True)
class IProxSDCA(DualAscent):
    """SDCA with p_i proportional to R_i^2 + n lam gamma (Csiba, Qu and Richtarik, equation 12).

    With gamma = 0 an empty row would have the chance 0 and keep a wrong y_i; it gets the chance of the smallest row.
    """

    name: ClassVar[str] = "iprox-sdca"
    paper: ClassVar[str] = "Zhao and Zhang 2015; a rival in Csiba, Qu and Richtarik 2015"
    proved: ClassVar[str] = "linear, n + mean R^2 / (lam gamma) steps for a factor e"
    cost: ClassVar[str] = "O(nnz of the row) a step"

    def draws(self, problem: Problem, state: State, rng: np.random.Generator) -> NDArray[Any]:
        if "sampler" not in state.scratch:
            state.scratch["sampler"] = self.sampler or Weighted(
                importance(self.squares(problem), problem)[problem.live]
            )
        drawn: NDArray[Any] = state.scratch["sampler"].draw(rng, problem.drawn, problem.drawn)
        return np.asarray(drawn[:, 0])


def importance(squares: NDArray[Any], problem: Problem) -> NDArray[Any]:
    """R_i^2 + n lam gamma."""
    weights = squares + problem.n * problem.lam * problem.gamma
    if not weights.all():
        positive = weights[weights > 0.0]
        weights[weights == 0.0] = positive.min() if positive.size else 1.0
    return np.asarray(weights)
