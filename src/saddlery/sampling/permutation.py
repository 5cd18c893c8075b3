"""Every row once, in a new random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import lean_kernel

Array = NDArray[Any]

FEW = 5000  # rows up to which NumPy's own permutation takes less time than compiling a loop would


@dataclass(frozen=True)
class Permutation:
    """A random order for every pass. In practice ahead of independent draws; not what most proofs assume."""

    def probabilities(self, n: int) -> Array:
        return np.full(n, 1.0 / n)

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        if batch > n:
            raise ValueError(f"batch_size is {batch}, but only {n} rows can be drawn")
        if batch == 1 and steps == n:
            return _permutation(rng, n).reshape(n, 1)
        whole = max(1, n // batch)  # batches that a pass is cut into
        passes = [_permutation(rng, n)[: whole * batch].reshape(whole, batch) for _ in range(-(-steps // whole))]
        return np.concatenate(passes)[:steps].astype(np.int64)


def _permutation(rng: np.random.Generator, n: int) -> Array:
    """0 .. n-1 in a random order."""
    order = np.arange(n)
    if n <= FEW:
        rng.shuffle(order)
    else:
        shuffle(order, rng.random(n))
    return order


@lean_kernel
def shuffle(order: Array, chances: Array) -> None:
    """Fisher and Yates: from the last place down, each gets one of those up to it.

    A place k is right to a share of k 2^-53: no statistic can tell. (u (k + 1) never rounds up to k + 1 for u < 1.)
    """
    for k in range(np.uint64(order.shape[0] - 1), np.uint64(0), -1):
        other = np.uint64(chances[k] * (k + 1.0))
        order[k], order[other] = order[other], order[k]
