"""Rows with given chances, independently of the past, by an alias table: O(n) once, O(1) for a draw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import kernel
from saddlery.sampling._protocol import only_single

Array = NDArray[Any]

FEW = 5000


@dataclass(frozen=True, eq=False)
class Weighted:
    """p_i proportional to `weights` (nonnegative, not all 0)."""

    weights: Any

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or weights.min(initial=0.0) < 0.0 or not weights.any():
            raise ValueError("Weighted(weights=...) must be a vector of finite numbers, 0 or more, not all 0")
        object.__setattr__(self, "weights", weights / weights.max())  # its own: the caller may change his

    def probabilities(self, n: int) -> Array:
        if self.weights.size != n:
            raise ValueError(f"Weighted has chances for {self.weights.size} rows, but there are {n}")
        return np.asarray(self.weights / self.weights.sum())

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        weights = self.weights
        keep, alias = weights * (weights.size / weights.sum()), np.full(weights.size, int(np.argmax(weights)))
        make = alias_table if weights.size > FEW else alias_table.function  # compiling takes longer than a short loop
        make(keep, alias)
        return keep, alias

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        only_single(self, batch)
        self.probabilities(n)
        keep, alias = self._table
        chance = rng.random(steps)
        chance *= n
        column = np.minimum(chance.astype(np.int64), n - 1)  # the integer part says which column,
        chance -= column  # what is left whether it is kept
        given = np.flatnonzero(chance >= keep[column])
        column[given] = alias[column[given]]
        return column.reshape(steps, 1)


@kernel
def alias_table(keep: Array, alias: Array) -> None:
    """Walker's table by Vose's construction: column i keeps i with chance keep_i, else gives alias_i.

    `keep` comes as n p_i; `alias` comes as the heaviest row, which takes what rounding leaves over.
    """
    small, large = np.empty(keep.size, np.int64), np.empty(keep.size, np.int64)
    smalls, larges = 0, 0
    for i in range(keep.size):
        if keep[i] < 1.0:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        i, j = small[smalls], large[larges - 1]
        alias[i] = j
        keep[j] -= 1.0 - keep[i]
        if keep[j] < 1.0:
            larges -= 1
            small[smalls] = j
            smalls += 1
    for k in range(larges):
        keep[large[k]] = 1.0
