"""g(x) = l1 |x|,   g*(v) = 0 for |v| <= l1."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery.terms._check import not_negative
from saddlery.terms.elastic_net import asleep, soft


class L1(NamedTuple):
    """l1 |x|_1. Not strongly convex."""

    l1: float

    def check(self) -> None:
        not_negative("L1", "l1", self.l1)

    def value(self, x: float) -> float:
        return self.l1 * abs(x)

    def reach(self) -> tuple[float, float]:
        return -self.l1, self.l1

    def conj(self, v: float) -> float:
        return 0.0 if abs(v) <= self.l1 else math.inf

    def prox(self, v: float, tau: float) -> float:
        return soft(v, tau * self.l1)

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return v - xp.clip(v, -tau * self.l1, tau * self.l1)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        return asleep(x, r, self.l1, 0.0, tau, Z, U, s, t)

    def slack(self, x: float, v: float) -> float:
        return abs(x) * (self.l1 - v if x > 0.0 else self.l1 + v) if abs(v) <= self.l1 else math.inf
