"""f(z, b) = |z - b|;   f*(y, b) = b y for |y| <= 1. Not smooth: gamma = 0."""

from __future__ import annotations

import math
from typing import NamedTuple


class Absolute(NamedTuple):
    """Absolute error. Not smooth (gamma = 0): methods whose steps divide by gamma refuse it."""

    def value(self, z: float, b: float) -> float:
        return abs(z - b)

    def grad(self, z: float, b: float) -> float:
        return 1.0 if z > b else (-1.0 if z < b else (z - b) * 0.0)

    def interval(self, b: float) -> tuple[float, float]:
        return -1.0, 1.0

    def conj(self, y: float, b: float) -> float:
        return math.inf if abs(y) > 1.0 else b * y

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return min(max(y0 + sigma * (z - b), -1.0), 1.0)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        r = z - b
        if abs(y) > 1.0:
            return math.inf
        return r * (1.0 - y) if r > 0.0 else -r * (1.0 + y)
