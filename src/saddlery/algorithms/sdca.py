"""SDCA: stochastic dual coordinate ascent (Shalev-Shwartz and Zhang, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._dual_ascent import DualAscent
from saddlery.algorithms._protocol import State
from saddlery.problem import Problem
from saddlery.sampling import Permutation, Uniform


@dataclass(frozen=True)
class SDCA(DualAscent):
    """Maximises the dual exactly over one y_i at a time.

    y_i <- prox_conj(y_i, <a_i, x>, lam n / R_i^2);  u += dy_i a_i / n;  x = grad g*(-u).

    Parameters
    ----------
    order : {"permutation", "uniform"}
        Every row once in a new random order (the default: faster in practice), or independent uniform rows (proved).
    """

    order: str = "permutation"
    name: ClassVar[str] = "sdca"
    paper: ClassVar[str] = "Shalev-Shwartz and Zhang 2013; a rival in Csiba, Qu and Richtarik 2015"
    proved: ClassVar[str] = (
        "linear with order='uniform', n + max R^2 / (lam gamma) steps for a factor e; O(1/t) if gamma = 0"
    )
    cost: ClassVar[str] = "O(nnz of the row) a step"

    def __post_init__(self) -> None:
        if self.order not in ("permutation", "uniform"):
            raise ValueError(f"order must be 'permutation' or 'uniform', found {self.order!r}")

    def draws(self, problem: Problem, state: State, rng: np.random.Generator) -> NDArray[Any]:
        sampler = self.sampler or (Permutation() if self.order == "permutation" else Uniform())
        return np.asarray(sampler.draw(rng, problem.drawn, problem.drawn)[:, 0])
