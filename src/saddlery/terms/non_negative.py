"""g(x) = l1 x + lam/2 x^2 for x >= 0, infinite elsewhere."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery.terms._check import not_negative
from saddlery.terms.box import asleep_between, best, clip, conj_between, slack_between


class NonNegative(NamedTuple):
    """lam/2 |x|^2 + l1 sum_j x_j with x >= 0 in every coordinate. lam-strongly convex."""

    lam: float = 0.0
    l1: float = 0.0

    def check(self) -> None:
        not_negative("NonNegative", "lam", self.lam)
        not_negative("NonNegative", "l1", self.l1)

    def modulus(self) -> float:
        return self.lam

    def value(self, x: float) -> float:
        return self.l1 * x + self.lam * x * x / 2.0 if x >= 0.0 else math.inf

    def reach(self) -> tuple[float, float]:
        return -math.inf, math.inf if self.lam > 0.0 else self.l1

    def conj(self, v: float) -> float:
        return conj_between(v - self.l1, 0.0, math.inf, self.lam)

    def grad_conj(self, v: float) -> float:
        return best(v - self.l1, 0.0, math.inf, self.lam)

    def prox(self, v: float, tau: float) -> float:
        return clip((v - tau * self.l1) / (1.0 + self.lam * tau), 0.0, math.inf)

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return xp.clip((v - tau * self.l1) / (1.0 + self.lam * tau), 0.0, None)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        return asleep_between(x, r + self.l1, 0.0, math.inf, Z, U, s, t)

    def slack(self, x: float, v: float) -> float:
        return slack_between(x, v - self.l1, 0.0, math.inf, self.lam)
