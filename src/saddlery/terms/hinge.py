"""f(z, b) = max(0, 1 - bz), b in {-1, 1};   f*(y, b) = b y for b y in [-1, 0]. Not smooth: gamma = 0."""

from __future__ import annotations

import math
from typing import NamedTuple


class Hinge(NamedTuple):
    """Hinge loss. Not smooth (gamma = 0): methods whose steps divide by gamma refuse it. Labels -1 and 1."""

    def labels(self) -> str:
        return "margin"

    def value(self, z: float, b: float) -> float:
        m = 1.0 - b * z
        return 0.0 if m < 0.0 else m

    def grad(self, z: float, b: float) -> float:
        return -b if b * z < 1.0 else 0.0 * b * z

    def interval(self, b: float) -> tuple[float, float]:
        return min(-b, 0.0), max(-b, 0.0)

    def conj(self, y: float, b: float) -> float:
        s = -b * y
        return math.inf if s < 0.0 or s > 1.0 else -s

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return -b * min(max(-b * (y0 + sigma * (z - b)), 0.0), 1.0)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        s, t = -b * y, 1.0 - b * z
        if s < 0.0 or s > 1.0:
            return math.inf
        return t * (1.0 - s) if t > 0.0 else -t * s
