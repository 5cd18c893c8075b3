"""g(x) = lam/2 x^2 for lo <= x <= hi, infinite elsewhere."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery._compile import strict
from saddlery.terms._check import alone, not_negative


@strict
def clip(x: float, lo: float, hi: float) -> float:
    """The nearest point of [lo, hi]."""
    return lo if x < lo else (hi if x > hi else x)


@strict
def best(v: float, lo: float, hi: float, lam: float) -> float:
    """argmax of v x - lam/2 x^2 over [lo, hi]."""
    if lam > 0.0:
        return clip(v * (1.0 / lam), lo, hi)
    return hi if v > 0.0 else (lo if v < 0.0 else clip(0.0, lo, hi))


@strict
def conj_between(v: float, lo: float, hi: float, lam: float) -> float:
    """g*(v) = v x - lam/2 x^2 at the best x."""
    if v == 0.0 and lam == 0.0:
        return 0.0
    x = best(v, lo, hi, lam)
    return v * x - lam * x * x / 2.0 if lam > 0.0 else v * x


@strict
def slack_between(x: float, v: float, lo: float, hi: float, lam: float) -> float:
    """lam/2 (x - x')^2 + (x' - x) (v - lam x') with x' the best point for v; both >= 0 for x in [lo, hi]."""
    if not lo <= x <= hi:
        return math.inf
    if v == 0.0 and lam == 0.0:
        return 0.0
    near = best(v, lo, hi, lam)
    if lam == 0.0:
        return (near - x) * v
    kink = (near - x) * (v - lam * near)
    return lam * (x - near) * (x - near) / 2.0 + (0.0 if kink < 0.0 else kink)


@strict
def asleep_between(x: float, r: float, lo: float, hi: float, Z: Any, U: Any, s: int, t: int) -> float:
    """The unbounded path is monotone, so clipping its end is clipping every step."""
    A = Z[t] / Z[s]
    return clip(A * x - (U[t] - A * U[s]) * r, lo, hi)


class Box(NamedTuple):
    """lam/2 |x|^2 with lo <= x <= hi in every coordinate. lam-strongly convex."""

    lo: float
    hi: float
    lam: float = 0.0

    def check(self) -> None:
        not_negative("Box", "lam", self.lam)
        alone("Box", "lo", self.lo)
        alone("Box", "hi", self.hi)
        if not self.lo <= self.hi:
            raise ValueError(f"Box needs lo <= hi, found lo = {self.lo}, hi = {self.hi}")
        if not (self.lo < math.inf and self.hi > -math.inf):
            raise ValueError(f"Box holds no number: lo = {self.lo}, hi = {self.hi}")

    def modulus(self) -> float:
        return self.lam

    def value(self, x: float) -> float:
        return self.lam * x * x / 2.0 if self.lo <= x <= self.hi else math.inf

    def reach(self) -> tuple[float, float]:
        if self.lam > 0.0:
            return -math.inf, math.inf
        return -math.inf if self.lo > -math.inf else 0.0, math.inf if self.hi < math.inf else 0.0

    def conj(self, v: float) -> float:
        return conj_between(v, self.lo, self.hi, self.lam)

    def grad_conj(self, v: float) -> float:
        return best(v, self.lo, self.hi, self.lam)

    def prox(self, v: float, tau: float) -> float:
        return clip(v / (1.0 + self.lam * tau), self.lo, self.hi)

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return xp.clip(v / (1.0 + self.lam * tau), self.lo, self.hi)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        return asleep_between(x, r, self.lo, self.hi, Z, U, s, t)

    def slack(self, x: float, v: float) -> float:
        return slack_between(x, v, self.lo, self.hi, self.lam)
