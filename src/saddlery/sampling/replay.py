"""Given rows, in a given order: for tests, and to compare methods on the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Replay:
    """Plays rows, or tuples of rows (a row repeated within a tuple counts once), and ends the run when they are played.

    Replaces the draw only: weights and steps stay the method's.
    """

    indices: Sequence[Any]

    def table(self, n: int) -> Array:
        """Every draw as a row of an array, padded with -1."""
        batches = [list(dict.fromkeys(np.atleast_1d(batch).tolist())) for batch in self.indices]
        flat = [i for batch in batches for i in batch]
        if any(i != int(i) or not 0 <= i < n for i in flat):
            raise ValueError(f"Replay holds rows outside 0 .. {n - 1}")
        out = np.full((len(batches), max((len(batch) for batch in batches), default=1)), -1, dtype=np.int64)
        for t, batch in enumerate(batches):
            out[t, : len(batch)] = batch
        return out

    def probabilities(self, n: int) -> None:
        return None

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        raise RuntimeError("Replay is played by solve, from its table")
