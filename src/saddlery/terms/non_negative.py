"""g(x) = lam/2 x^2 for x >= 0, infinite elsewhere."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery.terms._check import not_negative
from saddlery.terms.box import asleep_between, best, clip, conj_between, slack_between


class NonNegative(NamedTuple):
    """lam/2 |x|^2 with x >= 0 in every coordinate. lam-strongly convex."""

    lam: float = 0.0

    def check(self) -> None:
        not_negative("NonNegative", "lam", self.lam)

    def modulus(self) -> float:
        return self.lam

    def value(self, x: float) -> float:
        return self.lam * x * x / 2.0 if x >= 0.0 else math.inf

    def reach(self) -> tuple[float, float]:
        return -math.inf, math.inf if self.lam > 0.0 else 0.0

    def conj(self, v: float) -> float:
        return conj_between(v, 0.0, math.inf, self.lam)

    def grad_conj(self, v: float) -> float:
        return best(v, 0.0, math.inf, self.lam)

    def prox(self, v: float, tau: float) -> float:
        return clip(v / (1.0 + self.lam * tau), 0.0, math.inf)

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return xp.clip(v / (1.0 + self.lam * tau), 0.0, None)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        return asleep_between(x, r, 0.0, math.inf, Z, U, s, t)

    def slack(self, x: float, v: float) -> float:
        return slack_between(x, v, 0.0, math.inf, self.lam)
