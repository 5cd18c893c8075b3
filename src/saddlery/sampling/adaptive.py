"""Rows with chances that fall as they are drawn: the chance of a row is divided by `shrink` at each of its draws.

Equivalently, and faster than a tree: give every row a clock that rings first after an exponential time of rate w_i and,
after k rings, next after one of rate w_i / shrink^k. Clocks have no memory, so whichever rings next is row i with
probability proportional to its present rate, and the order of the first T rings has exactly the law of T draws.
Making rings up to a time and sorting them is O(n + T log T), in vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.sampling._protocol import only_single

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Adaptive:
    """p_i proportional to `weights`, p_i <- p_i / shrink after row i is drawn. All weights 0 means uniform."""

    weights: Any
    shrink: float = 10.0

    def __post_init__(self) -> None:
        if not self.shrink >= 1.0:
            raise ValueError(f"Adaptive(shrink=...) must be 1 or more, found {self.shrink}")

    def probabilities(self, n: int) -> None:
        return None

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        only_single(self, batch)
        rate = np.array(self.weights, dtype=np.float64)
        if rate.size != n:
            raise ValueError(f"Adaptive has chances for {rate.size} rows, but there are {n}")
        if not rate.max() > 0.0:
            rate[:] = 1.0
        with np.errstate(divide="ignore"):
            ring = rng.standard_exponential(n)
            ring /= rate  # a row of weight 0 never rings
        until, count = steps / rate.sum(), 0
        times, drawn = [], []
        while True:
            due = np.flatnonzero(ring <= until).astype(np.int32 if n < 2**31 else np.int64)
            while due.size:
                times.append(ring[due])
                drawn.append(due)
                count += due.size
                rate[due] /= self.shrink
                ring[due] += rng.standard_exponential(due.size) / rate[due]
                due = due[ring[due] <= until]
            if count >= steps:
                break
            until *= 1.5
        del rate, ring
        ticks = np.concatenate([_ticks(part, until) for part in times])
        del times
        order = _in_time(ticks)[:steps]
        return np.concatenate(drawn)[order].astype(np.int64).reshape(steps, 1)


def _ticks(times: Array, until: float) -> Array:
    """Times in [0, until] as 32-bit integers."""
    return np.asarray((times * (4294967295.0 / until)).astype(np.uint32))


def _in_time(ticks: Array) -> Array:
    """The order of ticks, by a radix sort: two stable sorts of 16 bits, which NumPy makes in O(n).

    Times that agree to 2^-32 of the whole keep their order, which no statistic can tell.
    """
    order = np.argsort((ticks & np.uint32(0xFFFF)).astype(np.uint16), kind="stable").astype(np.int32)
    high = (ticks >> np.uint32(16)).astype(np.uint16)[order]
    return np.asarray(order[np.argsort(high, kind="stable")])
