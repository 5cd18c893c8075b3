"""g(x) = 0,   g*(v) = 0 for v = 0 and infinite elsewhere."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Zero(NamedTuple):
    """No penalty."""

    def affine(self) -> bool:
        return True

    def value(self, x: float) -> float:
        return x - x  # 0, and NaN where x is no number

    def reach(self) -> tuple[float, float]:
        return 0.0, 0.0

    def conj(self, v: float) -> float:
        return 0.0 if v == 0.0 else math.inf

    def prox(self, v: float, tau: float) -> float:
        return v

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return v

    def shrink(self, v: float, tau: float, rho: float) -> float:
        return rho * v

    def slack(self, x: float, v: float) -> float:
        return x - x if v == 0.0 else math.inf
