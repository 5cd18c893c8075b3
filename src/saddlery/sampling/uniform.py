"""Every row, or every batch of m rows, with the same chance, independently of the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Uniform:
    """p_i = 1/n. A batch is a uniformly random set of m rows."""

    def probabilities(self, n: int) -> Array:
        return np.full(n, 1.0 / n)

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        if batch == 1:
            return rng.integers(0, n, size=(steps, 1))
        if batch > n:
            raise ValueError(f"batch_size is {batch}, but only {n} rows can be drawn")
        if 4 * batch * batch <= n:  # repetitions are rare: draw again the batches that have one
            drawn = rng.integers(0, n, size=(steps, batch))
            while True:
                ordered = np.sort(drawn, axis=1)
                again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
                if again.size == 0:
                    return drawn
                drawn[again] = rng.integers(0, n, size=(again.size, batch))
        return np.stack([rng.choice(n, batch, replace=False) for _ in range(steps)])
