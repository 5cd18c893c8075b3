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
        given = np.asarray(self.indices) if isinstance(self.indices, np.ndarray) else None
        if given is not None and given.ndim == 1 and given.dtype.kind in "iu":  # single rows: no Python for each
            table = given.astype(np.int64).reshape(-1, 1)
        else:
            batches = [list(dict.fromkeys(np.atleast_1d(batch).tolist())) for batch in self.indices]
            table = np.full((len(batches), max((len(batch) for batch in batches), default=1)), -1, dtype=np.int64)
            for t, batch in enumerate(batches):
                if not all(isinstance(i, int) and 0 <= i < n for i in batch):
                    raise ValueError(f"Replay holds rows outside 0 .. {n - 1}: {batch} at place {t}")
                table[t, : len(batch)] = batch
            return table
        if table.size and not (table.min() >= 0 and table.max() < n):
            raise ValueError(f"Replay holds rows outside 0 .. {n - 1}: from {table.min()} to {table.max()}")
        return table

    def probabilities(self, n: int) -> None:
        return None

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        raise RuntimeError("Replay is played by solve, from its table")
