"""The root of a monotone function of one number."""

from __future__ import annotations

import math
from collections.abc import Callable


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero in [low, high], where the function changes sign, to rounding: false position with halving (Illinois).

    A step of bisection follows where the bracket has not shrunk by half in three steps.
    """
    f_low, f_high = function(low), function(high)
    if f_low == 0.0 or f_high == 0.0:
        return low if f_low == 0.0 else high
    width, slow = high - low, 0
    for _ in range(300):
        middle = low + (high - low) * (f_low / (f_low - f_high))
        if slow >= 3 or not low < middle < high:
            middle, slow = low + (high - low) / 2.0, 0
        value = function(middle)
        if value == 0.0 or math.isnan(value) or not low < middle < high:
            return middle
        if (value > 0.0) == (f_high > 0.0):
            high, f_high, f_low = middle, value, f_low / 2.0
        else:
            low, f_low, f_high = middle, value, f_high / 2.0
        slow = 0 if high - low < width / 2.0 else slow + 1
        width = min(width, high - low) if slow == 0 else width
    return low + (high - low) / 2.0
