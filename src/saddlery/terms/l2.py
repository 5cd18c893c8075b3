"""g(x) = lam/2 x^2,   g*(v) = v^2 / (2 lam)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery.terms._check import not_negative


class L2(NamedTuple):
    """Squared Euclidean norm, lam/2 |x|^2. lam-strongly convex; lam = 0 is allowed and means no penalty."""

    lam: float

    def check(self) -> None:
        not_negative("L2", "lam", self.lam)

    def modulus(self) -> float:
        return self.lam

    def affine(self) -> bool:
        return True

    def value(self, x: float) -> float:
        return self.lam * x * x / 2.0

    def reach(self) -> tuple[float, float]:
        return (-math.inf, math.inf) if self.lam > 0.0 else (0.0, 0.0)

    def conj(self, v: float) -> float:
        if v == 0.0:
            return 0.0
        return v * v / (2.0 * self.lam) if self.lam > 0.0 else math.inf

    def grad_conj(self, v: float) -> float:
        return v * (1.0 / self.lam)

    def prox(self, v: float, tau: float) -> float:
        return v / (1.0 + self.lam * tau)

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return v / (1.0 + self.lam * tau)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        A = Z[t] / Z[s]
        return A * x - (U[t] - A * U[s]) * r

    def shrink(self, v: float, tau: float, rho: float) -> float:
        return rho * v

    def slack(self, x: float, v: float) -> float:
        e = self.lam * x - v
        if e == 0.0:
            return 0.0
        return e * e / (2.0 * self.lam) if self.lam > 0.0 else math.inf
