"""What rules are made from and what they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


FREE = 1e15  # the longest dual step, of empty rows: all the way, up to rounding


class Scale(NamedTuple):
    """The numbers of a problem that steps depend on.

    n live rows (of weight above 0), lam, gamma, R_i = sqrt(c_i) |A_i| of every row with weights of mean 1 over the
    live rows, and `share`, the live rows' share of all rows, by which the weights of a step are multiplied.
    """

    n: int
    lam: float
    gamma: float
    R: Array
    share: float

    @property
    def top(self) -> float:
        """Largest R_i; 1 where all rows are empty."""
        top = float(self.R.max())
        return top if top > 0.0 else 1.0

    @property
    def norms(self) -> Array:
        """R_i, the largest in place of 0: an empty row would have x step as far as it likes."""
        return np.where(self.R > 0.0, self.R, self.top)

    def unless_empty(self, sigma: Array) -> Array:
        """Dual steps that grow without bound as R_i falls to 0, and there are `FREE`."""
        return np.where(self.R > 0.0, sigma, FREE)


class Steps(NamedTuple):
    """One row for each step, one column for each block of its batch. x+ = rho (x - tau F) where prox_g is linear."""

    draws: Array
    sigma: Array
    weight: Array
    tau: Array
    rho: Array
    theta: Array


@dataclass(frozen=True, eq=False)
class Fixed:
    """tau and theta the same in every step; sigma and the weight of dy_i in the step of x by row."""

    sigma: Array
    weight: Array
    tau: float
    theta: float
    lam: float

    def __call__(self, draws: Array) -> Steps:
        count = draws.shape[0]
        rho = 1.0 / (1.0 + self.lam * self.tau)
        return Steps(
            draws,
            self.sigma[draws],
            self.weight[draws],
            np.full(count, self.tau),
            np.full(count, rho),
            np.full(count, self.theta),
        )
