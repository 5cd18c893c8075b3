"""f(z, b) = max(0, |z - b| - epsilon)^2 / 2;   f*(y, b) = y^2 / 2 + b y + epsilon |y|."""

from __future__ import annotations

from typing import Any, NamedTuple

from saddlery.terms._check import not_negative
from saddlery.terms.elastic_net import soft


class SquaredEpsilonInsensitive(NamedTuple):
    """Squared error beyond a free `epsilon`: support vector regression. 1-smooth; strongly convex for epsilon = 0."""

    epsilon: float = 0.0

    def check(self) -> None:
        not_negative("SquaredEpsilonInsensitive", "epsilon", self.epsilon)

    def smoothness(self) -> float:
        return 1.0

    def modulus(self) -> float:
        return 0.0 if self.epsilon > 0.0 else 1.0

    def value(self, z: float, b: float) -> float:
        r = abs(z - b) - self.epsilon
        return 0.0 if r < 0.0 else r * r / 2.0

    def grad(self, z: float, b: float) -> float:
        return soft(z - b, self.epsilon)

    def conj(self, y: float, b: float) -> float:
        return y * y / 2.0 + b * y + self.epsilon * abs(y)

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return soft(y0 + sigma * (z - b), sigma * self.epsilon) * (1.0 / (1.0 + sigma))

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        r = z - b
        return r - xp.clip(r, -self.epsilon, self.epsilon)

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        v = y0 + sigma * (z - b)
        return (v - xp.clip(v, -sigma * self.epsilon, sigma * self.epsilon)) / (1.0 + sigma)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """(y - s)^2 / 2 + epsilon |y| - (r - s) y with r = z - b, s = soft(r, epsilon); both >= 0."""
        r = z - b
        near = min(max(r, -self.epsilon), self.epsilon)
        s = r - near
        return (y - s) * (y - s) / 2.0 + abs(y) * (self.epsilon - near if y > 0.0 else self.epsilon + near)
