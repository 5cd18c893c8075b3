"""What a sampler does."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Sampler(Protocol):
    """A record that draws.

    ``probabilities(n)`` gives p_i, the chance of row i of n to be drawn in one draw (None where the chances change
    as rows are drawn); ``draw(rng, n, steps, batch)`` gives an index array of shape (steps, batch), its rows without
    repetition, padded with -1.
    """

    def probabilities(self, n: int) -> Array | None: ...

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array: ...


def only_single(sampler: object, batch: int) -> None:
    """Refuse mini-batches for a sampler whose batches have no simple probabilities."""
    if batch > 1:
        raise ValueError(f"{type(sampler).__name__} draws one row at a time; batch_size must be 1, found {batch}")
