"""f(z, b) = max(0, |z - b| - epsilon);   f*(y, b) = b y + epsilon |y| for |y| <= 1. Not smooth: gamma = 0."""

from __future__ import annotations

import math
from typing import NamedTuple

from saddlery.terms._check import not_negative
from saddlery.terms.elastic_net import soft


class EpsilonInsensitive(NamedTuple):
    """Absolute error beyond a free `epsilon`: support vector regression. Not smooth (gamma = 0)."""

    epsilon: float = 0.0

    def check(self) -> None:
        not_negative("EpsilonInsensitive", "epsilon", self.epsilon)

    def value(self, z: float, b: float) -> float:
        r = abs(z - b) - self.epsilon
        return 0.0 if r < 0.0 else r

    def grad(self, z: float, b: float) -> float:
        r = z - b
        return 1.0 if r > self.epsilon else (-1.0 if r < -self.epsilon else r * 0.0)

    def interval(self, b: float) -> tuple[float, float]:
        return -1.0, 1.0

    def conj(self, y: float, b: float) -> float:
        return math.inf if abs(y) > 1.0 else b * y + self.epsilon * abs(y)

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return min(max(soft(y0 + sigma * (z - b), sigma * self.epsilon), -1.0), 1.0)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """With r = z - b and s = |y|: max(0, |r| - epsilon) + epsilon s - r y, each case without cancellation."""
        r, s = z - b, abs(y)
        if s > 1.0:
            return math.inf
        along = r if y > 0.0 else (-r if y < 0.0 else abs(r))  # r in the direction of y
        if along > self.epsilon:
            return (along - self.epsilon) * (1.0 - s)
        return max(0.0, -along - self.epsilon) + s * (self.epsilon - along)
