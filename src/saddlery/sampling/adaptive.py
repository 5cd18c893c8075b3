"""Rows with chances that fall as they are drawn: the chance of a row is divided by `shrink` at each of its draws.

Equivalently, and faster than a tree: give every row a clock that rings first after an exponential time of rate w_i and,
after k rings, next after one of rate w_i / shrink^k. Clocks have no memory, so whichever rings next is row i with
probability proportional to its present rate, and the order of the first T rings has exactly the law of T draws.
Making rings up to a time and sorting them is O(n + T).

Where few rows have a chance every one of them is drawn many times, and rates fall below what a float holds. Then the
times of many rings of each are made at once, as logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import lean_kernel
from saddlery.sampling._protocol import only_single
from saddlery.sampling.weighted import Weighted

Array = NDArray[Any]

OFTEN = 8  # draws for each row that has a chance, from which on many rings are made at once
AMPLE = 1.5  # rings that a round is for, over those still wanted, if rates did not fall
SOME, MANY = 100, 1 << 18  # waits that are drawn at once, at least and at most
FLAT = 1e-100  # ratio of two chances, and 1 / shrink, below which rates are kept as logarithms


@dataclass(frozen=True, eq=False)
class Adaptive:
    """p_i proportional to `weights`, p_i <- p_i / shrink after row i is drawn. All weights 0 means uniform."""

    weights: Any
    shrink: float = 10.0

    def __post_init__(self) -> None:
        if not (isinstance(self.shrink, (int, float, np.number)) and 1.0 <= self.shrink < math.inf):
            raise ValueError(f"Adaptive(shrink=...) must be a finite number, 1 or more, found {self.shrink!r}")
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
    """Whose clocks ring first, `steps` times. Changes `rate`.

    In rounds, because rates fall: of a few more than are still wanted if they did not. Within a round rings are never
    denser than at its start, so that buckets of equal length sort them.
    """
    count, out, slow = 0, [], rate
    np.divide(1.0, rate, out=slow, where=rate > 0.0)  # the mean wait; a row of chance 0 waits for ever
    slow[slow == 0.0] = np.inf
    ring, since = slow * rng.standard_exponential(slow.size), 0.0
    while count < steps:
        until, place = since + AMPLE * (steps - count) / (1.0 / slow).sum(), np.zeros(2, np.int64)
        times, rows = [], []
        while place[0] < slow.size:
            waits = rng.standard_exponential(min(max(steps - count, SOME), MANY))
            made = np.empty(waits.size), np.empty(waits.size, np.int32 if slow.size < 2**31 else np.int64)
            rings(ring, slow, shrink, until, waits, *made, place)
            times.append(made[0][: place[1]])
            rows.append(made[1][: place[1]])
            count += int(place[1])
        out.append(_sorted(np.concatenate(times), np.concatenate(rows), since, until))
        since = until
    del slow, ring
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


def _sorted(times: Array, rows: Array, since: float, until: float) -> Array:
    """The rows in the order of their times, by buckets of equal length, about one for each."""
    first, order = np.zeros(times.size + 2, np.int32 if times.size < 2**31 else np.int64), np.empty_like(rows)
    into_buckets(times, rows, since, until, first, np.empty_like(times), order)
    return order


@lean_kernel
def rings(
    ring: Array, slow: Array, shrink: float, until: float, waits: Array, times: Array, rows: Array, place: Array
) -> None:
    """Note the rings up to a time, row by row from row place[0], until the waits are used up: place[1] of them."""
    count = np.uint64(0)
    for i in range(np.uint64(place[0]), np.uint64(ring.shape[0])):
        while ring[i] <= until:
            if count == np.uint64(waits.shape[0]):
                place[0], place[1] = i, count
                return
            times[count], rows[count] = ring[i], i
            slow[i] *= shrink
            ring[i] += slow[i] * waits[count]
            count += np.uint64(1)
    place[0], place[1] = ring.shape[0], count


@lean_kernel
def into_buckets(
    times: Array, rows: Array, since: float, until: float, first: Array, sorted_times: Array, order: Array
) -> None:
    """Count, place, and sort by insertion what is in one bucket. `first` comes as zeros."""
    scale = times.shape[0] / (until - since)
    for k in range(np.uint64(times.shape[0])):
        first[np.uint64((times[k] - since) * scale) + np.uint64(1)] += 1
    for p in range(np.uint64(1), np.uint64(first.shape[0])):
        first[p] += first[p - np.uint64(1)]
    for k in range(np.uint64(times.shape[0])):
        bucket = np.uint64((times[k] - since) * scale)
        at = np.uint64(first[bucket])
        first[bucket] += 1
        sorted_times[at], order[at] = times[k], rows[k]
    for k in range(np.uint64(1), np.uint64(times.shape[0])):
        time, row, at = sorted_times[k], order[k], np.uint64(k)
        while at > np.uint64(0) and sorted_times[at - np.uint64(1)] > time:
            sorted_times[at], order[at] = sorted_times[at - np.uint64(1)], order[at - np.uint64(1)]
            at -= np.uint64(1)
        sorted_times[at], order[at] = time, row
