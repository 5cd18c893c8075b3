"""AdaSDCA+ (Csiba, Qu and Richtarik, 2015, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._dual_ascent import DualAscent
from saddlery.algorithms._protocol import DUAL, HERE, SCALAR, SEPARABLE, SMOOTH, STRONG, State
from saddlery.algorithms.iprox_sdca import importance
from saddlery.problem import Problem
from saddlery.sampling import Adaptive


@dataclass(frozen=True)
class AdaSDCAPlus(DualAscent):
    """SDCA with chances that are set at the start of an epoch and divided by `shrink` as rows are drawn.

    At the start of an epoch of n draws, option I: p_i proportional to abs(kappa_i) sqrt(R_i^2 + n lam gamma) with the
    residues kappa_i = f'(<a_i, x>) - y_i (equation 14; the printed Algorithm 2 lacks the absolute value);
    option II: to R_i^2 + n lam gamma (equation 12). After a draw of row i: p_i <- p_i / m.

    Parameters
    ----------
    option : {"I", "II"}
        I looks at all rows once an epoch (one pass more) and is far ahead on most problems.
    shrink : float
        m of the paper; 10 is its choice.
    """

    option: str = "I"
    shrink: float = 10.0
    name: ClassVar[str] = "adasdca+"
    paper: ClassVar[str] = "Csiba, Qu and Richtarik 2015, Algorithm 2"
    proved: ClassVar[str] = "nothing beyond dual ascent in every step (a heuristic form of adasdca)"
    cost: ClassVar[str] = "O(nnz of the row) a step, a pass an epoch for option I"
    needs = (SMOOTH, STRONG, SEPARABLE, SCALAR, DUAL, HERE)

    def __post_init__(self) -> None:
        if str(self.option) not in ("I", "II"):
            raise ValueError(f"option must be 'I' or 'II', found {self.option!r}")
        if not (isinstance(self.shrink, (int, float, np.number)) and 1.0 <= self.shrink < np.inf):
            raise ValueError(f"shrink must be a finite number, 1 or more, found {self.shrink!r}")

    def draws(self, problem: Problem, state: State, rng: np.random.Generator) -> NDArray[Any]:
        sampler = self.sampler or Adaptive(self.weights(problem, state)[problem.live], self.shrink)
        return np.asarray(sampler.draw(rng, problem.drawn, problem.drawn)[:, 0])

    def weights(self, problem: Problem, state: State) -> NDArray[Any]:
        """What the chances at the start of an epoch are proportional to."""
        if "roots" not in state.scratch:
            weights = importance(self.squares(problem), problem)
            state.scratch["roots"] = weights if self.option == "II" else np.sqrt(weights, out=weights)
        roots: NDArray[Any] = state.scratch["roots"]
        if self.option == "II":
            return roots
        state.passes += 1.0
        residues = self.residues(problem, state)
        residues *= roots
        return residues
