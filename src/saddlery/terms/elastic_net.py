"""g(x) = l1 |x| + l2/2 x^2,   g*(v) = soft(v, l1)^2 / (2 l2),   soft(v, a) = sign(v) max(|v| - a, 0)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery._compile import strict
from saddlery.terms._check import not_negative


@strict
def soft(v: float, a: float) -> float:
    """The soft threshold: v less its projection on [-a, a]. Without a branch, so that a loop of it vectorises."""
    return v - min(max(v, -a), a)


@strict
def asleep(x: float, r: float, l1: float, l2: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
    """x after the steps s .. t-1 of x <- soft(x - tau_k r, tau_k l1) / (1 + l2 tau_k).

    While the sign sg of x holds the path is A x - B v with v = r + sg l1, and monotone. It crosses zero only if
    sg v > 0. It stays there if |r| <= l1; if not, the first step that crosses is found by bisection, made explicitly,
    and the path goes on with the other sign, which never changes again.
    """
    while s < t:
        if x == 0.0:
            if abs(r) <= l1:
                return x
            sign = -1.0 if r > 0.0 else 1.0
        else:
            sign = 1.0 if x > 0.0 else -1.0
        v = r + sign * l1
        A = Z[t] / Z[s]
        end = A * x - (U[t] - A * U[s]) * v
        if not sign * end <= 0.0 or sign * v <= 0.0:  # NaN ends here too
            return end
        if abs(r) <= l1:
            return 0.0
        low, high = s, t  # the sign still holds at low, no longer at high
        while high - low > 1:
            middle = (low + high) // 2
            A = Z[middle] / Z[s]
            if sign * (A * x - (U[middle] - A * U[s]) * v) > 0.0:
                low = middle
            else:
                high = middle
        A = Z[low] / Z[s]
        x = A * x - (U[low] - A * U[s]) * v
        x = soft(x - tau[low] * r, tau[low] * l1) / (1.0 + l2 * tau[low])
        s = high
    return x


class L1L2(NamedTuple):
    """Elastic net, l1 |x|_1 + l2/2 |x|^2. l2-strongly convex."""

    l1: float
    l2: float

    def check(self) -> None:
        not_negative("L1L2", "l1", self.l1)
        not_negative("L1L2", "l2", self.l2)

    def modulus(self) -> float:
        return self.l2

    def value(self, x: float) -> float:
        return self.l1 * abs(x) + self.l2 * x * x / 2.0

    def reach(self) -> tuple[float, float]:
        return (-math.inf, math.inf) if self.l2 > 0.0 else (-self.l1, self.l1)

    def conj(self, v: float) -> float:
        s = soft(v, self.l1)
        if s == 0.0:
            return 0.0
        return s * s / (2.0 * self.l2) if self.l2 > 0.0 else math.inf

    def grad_conj(self, v: float) -> float:
        return soft(v, self.l1) * (1.0 / self.l2)

    def prox(self, v: float, tau: float) -> float:
        return soft(v, tau * self.l1) * (1.0 / (1.0 + self.l2 * tau))

    def prox_array(self, xp: Any, v: Any, tau: float) -> Any:
        return (v - xp.clip(v, -tau * self.l1, tau * self.l1)) / (1.0 + self.l2 * tau)

    def drift(self, x: float, r: float, tau: Any, Z: Any, U: Any, s: int, t: int) -> float:
        return asleep(x, r, self.l1, self.l2, tau, Z, U, s, t)

    def slack(self, x: float, v: float) -> float:
        """(l2 x - s)^2 / (2 l2) + l1 |x| - x (v - s), s = soft(v, l1); both >= 0."""
        near = min(max(v, -self.l1), self.l1)
        s = v - near
        kink = abs(x) * max(self.l1 - near if x > 0.0 else self.l1 + near, 0.0)
        e = self.l2 * x - s
        if e == 0.0:
            return kink
        return e * e / (2.0 * self.l2) + kink if self.l2 > 0.0 else math.inf
