"""From numbers to places on paper: a linear or a logarithmic axis, its ticks and their labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

TICKS = 5  # about as many as an axis wants
HIGHEST = 10.0  # relative gap that is drawn: what a method says before its first steps is no news
WIDE = 20.0  # of the ends of curves, largest over smallest: from there on a linear axis shows only the slowest


class Axis(NamedTuple):
    """Numbers from `low` to `high`, laid out from `first` to `last`."""

    low: float
    high: float
    first: float
    last: float
    log: bool

    def place(self, number: float) -> float:
        """Where a number lies; what is beyond the axis lies on its end."""
        low, high, value = self._scaled(self.low), self._scaled(self.high), self._scaled(number)
        share = 0.0 if high == low else (value - low) / (high - low)
        return self.first + min(max(share, 0.0), 1.0) * (self.last - self.first)

    def _scaled(self, number: float) -> float:
        if not self.log:
            return number
        return math.log10(number) if number > 0.0 else -math.inf

    def ticks(self, most: int = TICKS) -> list[float]:
        """Round numbers, or powers of ten, about as many as asked."""
        return self._powers(most) if self.log else self._steps(most)

    def _steps(self, most: int) -> list[float]:
        rough = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * k for k in (1.0, 2.0, 5.0, 10.0) if unit * k >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]

    def _powers(self, most: int) -> list[float]:
        low, high = math.log10(self.low), math.log10(self.high)
        if high - low < 2.0:  # too few powers: 1, 2, 5 of each
            first = math.floor(low)
            many = [k * 10.0**e for e in range(first, math.ceil(high) + 1) for k in (1.0, 2.0, 5.0)]
            return [tick for tick in many if self.low * 0.999 <= tick <= self.high * 1.001]
        every = max(1, math.ceil((high - low) / most))
        return [10.0**e for e in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1) if e % every == 0]


def across(ends: list[float], starts: list[float], first: float, last: float) -> Axis:
    """The axis of passes or seconds, for curves that begin (above 0) and end there."""
    far = max(ends, default=1.0) or 1.0
    near = min((end for end in ends if end > 0.0), default=far)
    if far / near <= WIDE or not starts:
        return Axis(0.0, far, first, last, False)
    return Axis(min(starts), far, first, last, True)


def down(gaps: list[float], tol: float, first: float, last: float) -> Axis:
    """The axis of gaps, whole powers of ten, from the largest to a little below tol, or to the smallest."""
    positive = [gap for gap in gaps if gap > 0.0] or [1.0]
    floor = tol / 1000.0 if tol > 0.0 else 0.0
    low = max(min(positive), floor) if floor > 0.0 else min(positive)
    low = min(low, tol / 10.0) if tol > 0.0 else low
    bottom, top = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(max(positive)) - 1e-9)
    return Axis(10.0**bottom, min(10.0 ** max(top, bottom + 1), HIGHEST), last, first, True)


Label = Callable[[float], str]
