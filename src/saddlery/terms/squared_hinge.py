"""f(z, b) = max(0, 1 - bz)^2 / 2, b in {-1, 1};   f*(y, b) = y^2 / 2 + b y for b y <= 0."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class SquaredHinge(NamedTuple):
    """Squared hinge loss. 1-smooth, not strongly convex. Labels -1 and 1."""

    def smoothness(self) -> float:
        return 1.0

    def labels(self) -> str:
        return "margin"

    def value(self, z: float, b: float) -> float:
        m = 1.0 - b * z
        return 0.0 if m < 0.0 else m * m / 2.0

    def grad(self, z: float, b: float) -> float:
        return -b * max(1.0 - b * z, 0.0)

    def interval(self, b: float) -> tuple[float, float]:
        return (-math.inf, 0.0) if b > 0.0 else (0.0, math.inf)

    def conj(self, y: float, b: float) -> float:
        return math.inf if b * y > 0.0 else y * y / 2.0 + b * y

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return -b * max(-b * ((sigma * (z - b) + y0) * (1.0 / (1.0 + sigma))), 0.0)

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        return -b * xp.clip(1.0 - b * z, 0.0, None)

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        return -b * xp.clip(-b * (sigma * (z - b) + y0) / (1.0 + sigma), 0.0, None)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """(s - t')^2 / 2 + (t - t') (t' - s) with t = 1 - bz, t' = max(t, 0), s = -b y."""
        s, t = -b * y, 1.0 - b * z
        if s < 0.0:
            return math.inf
        near = max(t, 0.0)
        return (s - near) * (s - near) / 2.0 + (near - t) * s
