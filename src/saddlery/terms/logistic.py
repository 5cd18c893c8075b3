"""f(z, b) = log(1 + exp(-b z)), b in {-1, 1};   f*(y, b) = s log s + (1 - s) log(1 - s) with s = -b y in [0, 1]."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from saddlery._compile import strict


@strict
def softplus(t: float) -> float:
    """log(1 + exp(t)) for every t."""
    return math.log1p(math.exp(-abs(t))) + max(t, 0.0)


@strict
def excess(s: float, log_p: float, p: float) -> float:
    """s log(s / p) - (s - p) >= 0 without cancellation: p h(e / p), e = s - p, h(r) = (1 + r) log1p(r) - r."""
    e = s - p
    if e > p:  # far apart, or p underflowed: no division by p
        return s * (math.log(s) - log_p) - e
    if p == 0.0:
        return 0.0
    r = e / p
    if abs(r) < 0.03:  # sum_k (-1)^k r^k / (k (k - 1))
        return p * r * r * (1 / 2 - r * (1 / 6 - r * (1 / 12 - r * (1 / 20 - r * (1 / 30 - r * (1 / 42 - r / 56))))))
    if r <= -1.0:
        return p
    return p * ((1.0 + r) * math.log1p(r) - r)


class Logistic(NamedTuple):
    """Logistic loss. 1/4-smooth, not strongly convex. Labels -1 and 1."""

    def smoothness(self) -> float:
        return 0.25

    def labels(self) -> str:
        return "margin"

    def value(self, z: float, b: float) -> float:
        return softplus(-b * z)

    def grad(self, z: float, b: float) -> float:
        m = b * z
        if m > 0.0:
            e = math.exp(-m)
            return -b * (e / (1.0 + e))
        return -b / (1.0 + math.exp(m))

    def interval(self, b: float) -> tuple[float, float]:
        return min(-b, 0.0), max(-b, 0.0)

    def conj(self, y: float, b: float) -> float:
        s = -b * y
        if s < 0.0 or s > 1.0:
            return math.inf
        left = 0.0 if s == 0.0 else s * math.log(s)
        return left if s == 1.0 else left + (1.0 - s) * math.log1p(-s)

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        """Newton in the logit u of s = -b y, from the side on which it is monotone and cannot overshoot.

        G(u) = u + c + (S(u) - s0) / sigma, c = b z, s0 = -b y0, S the logistic function, is increasing, and convex for
        u < 0. The problem is flipped, (s0, c) -> (1 - s0, -c), where its root is positive.
        """
        c, s0, inverse = b * z, -b * y0, 1.0 / sigma
        flip = c + (0.5 - s0) * inverse < 0.0
        if flip:
            c, s0 = -c, 1.0 - s0
        u = min(0.0, s0 * inverse - c)
        for _ in range(100):
            e = math.exp(u)
            q = 1.0 / (1.0 + e)
            step = (u + c + (e * q - s0) * inverse) / (1.0 + e * q * q * inverse)
            u -= step
            if not abs(step) > 1e-9 * (1.0 + abs(u)):  # the next step would be below its square
                break
        e = math.exp(u)
        return -b / (1.0 + e) if flip else -b * (e / (1.0 + e))

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        e = xp.exp(-xp.abs(b * z))
        return -b * xp.where(b * z > 0.0, e, 1.0) / (1.0 + e)

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        """`prox_conj` for all rows at once, until the last of them has arrived."""
        inverse, c, s0 = 1.0 / sigma, b * z, -b * y0
        flip = c + (0.5 - s0) * inverse < 0.0
        c, s0 = xp.where(flip, -c, c), xp.where(flip, 1.0 - s0, s0)
        u = xp.clip(s0 * inverse - c, None, 0.0)
        for _ in range(100):
            e = xp.exp(u)
            q = 1.0 / (1.0 + e)
            step = (u + c + (e * q - s0) * inverse) / (1.0 + e * q * q * inverse)
            u = u - step
            if not bool(xp.any(xp.abs(step) > 1e-9 * (1.0 + xp.abs(u)))):
                break
        e = xp.exp(u)
        return -b * xp.where(flip, 1.0 / (1.0 + e), e / (1.0 + e))

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """Kullback-Leibler divergence of s = -b y from p = 1 / (1 + exp(b z)), as two nonnegative terms."""
        m, s = b * z, -b * y
        if s < 0.0 or s > 1.0:
            return math.inf
        log_p, log_q = -softplus(m), -softplus(-m)
        return excess(s, log_p, math.exp(log_p)) + excess(1.0 - s, log_q, math.exp(log_q))
