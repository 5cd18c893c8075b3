"""Rows with chances that fall as they are drawn: the chance of a row is divided by `shrink` at each of its draws.

Equivalently, and faster than a tree: give every row a clock that rings first after an exponential time of rate w_i and,
after k rings, next after one of rate w_i / shrink^k. Clocks have no memory, so whichever rings next is row i with
probability proportional to its present rate, and the order of the first T rings has exactly the law of T draws.
Making rings up to a time and sorting them is O(n + T log T), in vectors.

Where few rows have a chance every one of them is drawn many times, and rates fall below what a float holds. Then the
times of many rings of each are made at once, as logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.sampling._protocol import only_single
from saddlery.sampling.weighted import Weighted

Array = NDArray[Any]

OFTEN = 8  # draws for each row that has a chance, from which on many rings are made at once
FLAT = 1e-100  # ratio of two chances, and 1 / shrink, below which rates are kept as logarithms


@dataclass(frozen=True, eq=False)
class Adaptive:
    """p_i proportional to `weights`, p_i <- p_i / shrink after row i is drawn. All weights 0 means uniform."""

    weights: Any
    shrink: float = 10.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.shrink < math.inf:
            raise ValueError(f"Adaptive(shrink=...) must be a finite number, 1 or more, found {self.shrink}")
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or weights.size == 0 or not 0.0 <= weights.min() <= weights.max() < math.inf:
            raise ValueError("Adaptive(weights=...) must be a vector of finite numbers, 0 or more")

    def probabilities(self, n: int) -> None:
        return None

    def draw(self, rng: np.random.Generator, n: int, steps: int, batch: int = 1) -> Array:
        only_single(self, batch)
        rate = np.array(self.weights, dtype=np.float64)
        if rate.size != n:
            raise ValueError(f"Adaptive has chances for {rate.size} rows, but there are {n}")
        top = rate.max()
        if top > 0.0:
            rate /= top
        else:
            rate[:] = 1.0
        if self.shrink == 1.0:
            return Weighted(rate).draw(rng, n, steps)
        some = np.flatnonzero(rate)
        if steps > OFTEN * some.size or rate[some].min() < FLAT or 1.0 / self.shrink < FLAT:
            return some[_many_rings(rng, np.log(rate[some]), math.log(self.shrink), steps)].reshape(steps, 1)
        return _rings(rng, rate, self.shrink, steps).reshape(steps, 1)


def _rings(rng: np.random.Generator, rate: Array, shrink: float, steps: int) -> Array:
    """Whose clocks ring first, `steps` times. Changes `rate`."""
    n, count, since, out = rate.size, 0, 0.0, []
    with np.errstate(divide="ignore"):
        ring = rng.standard_exponential(n)
        ring /= rate  # a row of weight 0 never rings
    while count < steps:
        until = since + (steps - count) / rate.sum()  # so many rings are expected until then, or fewer, as rates fall
        due, times, drawn = np.flatnonzero(ring <= until).astype(np.int32 if n < 2**31 else np.int64), [], []
        while due.size:
            times.append(ring[due])
            drawn.append(due)
            count += due.size
            rate[due] /= shrink
            ring[due] += rng.standard_exponential(due.size) / rate[due]
            due = due[ring[due] <= until]
        if drawn:
            order = _in_time(np.concatenate(times), since, until)
            out.append(np.concatenate(drawn)[order])
        since = until
    del rate, ring
    return np.concatenate(out)[:steps].astype(np.int64)


def _many_rings(rng: np.random.Generator, rate: Array, shrink: float, steps: int) -> Array:
    """The same from the logarithms of few rates and of shrink. Changes `rate`.

    Ring k of row i comes at T_ik = sum_{j<=k} E_ij shrink^j / w_i. Rings are made for every row up to about the same
    time; those before the first moment at which some row has none left are kept, and from there all starts anew (clocks
    have no memory).
    """
    n, left, out = rate.size, steps, []
    most, rank = 1 + (1 << 22) // n, np.arange(1, n + 1)
    while left > 0:
        level = ((np.sort(rate)[::-1].cumsum() - shrink * left) / rank).max()  # sum max(rate - level, 0) = shrink left
        rounds = np.minimum(np.ceil(np.maximum(rate - level, 0.0) / shrink).astype(np.int64) + 4, most)
        place = np.arange(rounds.max())
        waits = np.log(rng.standard_exponential((n, place.size))) + shrink * place - rate[:, None]
        times = np.logaddexp.accumulate(waits, axis=1)
        end = times[np.arange(n), rounds - 1].min()
        made = (times <= end) & (place < rounds[:, None])
        rows, rate = np.nonzero(made)[0], rate - shrink * made.sum(axis=1)
        out.append(rows[np.argsort(times[made], kind="stable")][:left])
        left -= out[-1].size
    return np.concatenate(out)


def _in_time(times: Array, since: float, until: float) -> Array:
    """The order of times between two, by a radix sort: two stable sorts of 16 bits, which NumPy makes in O(n).

    Times that agree to 2^-32 of the whole keep their order, which no statistic can tell: the row of the highest rate
    rings after at least 1/n of it, on average.
    """
    ticks = ((times - since) * (4294967295.0 / (until - since))).astype(np.uint32)
    order = np.argsort((ticks & np.uint32(0xFFFF)).astype(np.uint16), kind="stable").astype(np.int32)
    high = (ticks >> np.uint32(16)).astype(np.uint16)[order]
    return np.asarray(order[np.argsort(high, kind="stable")])
