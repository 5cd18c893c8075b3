"""Every row once, in a new random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Permutation:
    """A random order for every pass. In practice ahead of independent draws; not what most proofs assume."""

    def probabilities(self, n: int) -> Array:
        return np.full(n, 1.0 / n)

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        if batch > n:
            raise ValueError(f"batch_size is {batch}, but only {n} rows can be drawn")
        if batch == 1 and steps == n:
            return rng.permutation(n).reshape(n, 1)
        whole = max(1, n // batch)  # batches that a pass is cut into
        passes = [rng.permutation(n)[: whole * batch].reshape(whole, batch) for _ in range(-(-steps // whole))]
        return np.concatenate(passes)[:steps].astype(np.int64)
