"""f(z, b) = 0, (1 - bz)^2 / (2 gamma), 1 - gamma/2 - bz  for bz >= 1, in between, bz <= 1 - gamma;  b in {-1, 1}.

f*(y, b) = gamma y^2 / 2 + b y  for b y in [-1, 0].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery.terms._check import positive


class SmoothHinge(NamedTuple):
    """Hinge loss smoothed over a width of gamma. 1/gamma-smooth, not strongly convex. Labels -1 and 1."""

    gamma: float = 1.0

    def check(self) -> None:
        positive("SmoothHinge", "gamma", self.gamma)

    def smoothness(self) -> float:
        return 1.0 / self.gamma

    def labels(self) -> str:
        return "margin"

    def value(self, z: float, b: float) -> float:
        m = 1.0 - b * z
        if m <= 0.0:
            return 0.0
        return m * m / (2.0 * self.gamma) if m < self.gamma else m - self.gamma / 2.0

    def grad(self, z: float, b: float) -> float:
        return -b * min(max((1.0 - b * z) / self.gamma, 0.0), 1.0)

    def interval(self, b: float) -> tuple[float, float]:
        return min(-b, 0.0), max(-b, 0.0)

    def conj(self, y: float, b: float) -> float:
        s = -b * y
        return math.inf if s < 0.0 or s > 1.0 else self.gamma * s * s / 2.0 - s

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        s = -b * ((sigma * (z - b) + y0) * (1.0 / (1.0 + sigma * self.gamma)))
        return -b * min(max(s, 0.0), 1.0)

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        return -b * xp.clip((1.0 - b * z) / self.gamma, 0.0, 1.0)

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        return -b * xp.clip(-b * (sigma * (z - b) + y0) / (1.0 + sigma * self.gamma), 0.0, 1.0)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """gamma ((s - t)^2 / 2 + (t - t') (t' - s)) with t = (1 - bz) / gamma, t' = t clipped to [0, 1], s to t'."""
        s, t = -b * y, (1.0 - b * z) / self.gamma
        if s < 0.0 or s > 1.0:
            return math.inf
        near = min(max(t, 0.0), 1.0)
        return self.gamma * ((s - near) * (s - near) / 2.0 + (t - near) * (near - s))
