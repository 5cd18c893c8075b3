"""f(z, b) = (z - b)^2 / (2 gamma),   f*(y, b) = gamma y^2 / 2 + b y."""

from __future__ import annotations

from typing import Any, NamedTuple

from saddlery.terms._check import positive


class Squared(NamedTuple):
    """Squared loss (z - b)^2 / (2 gamma). 1/gamma-smooth and 1/gamma-strongly convex."""

    gamma: float = 1.0

    def check(self) -> None:
        positive("Squared", "gamma", self.gamma)

    def modulus(self) -> float:
        return 1.0 / self.gamma

    def smoothness(self) -> float:
        return 1.0 / self.gamma

    def value(self, z: float, b: float) -> float:
        return (z - b) * (z - b) / (2.0 * self.gamma)

    def grad(self, z: float, b: float) -> float:
        return (z - b) / self.gamma

    def conj(self, y: float, b: float) -> float:
        return self.gamma * y * y / 2.0 + b * y

    def grad_conj(self, y: float, b: float) -> float:
        """f*'(y), the prediction whose slope is y."""
        return self.gamma * y + b

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return (sigma * (z - b) + y0) * (1.0 / (1.0 + sigma * self.gamma))  # it does not wait for z to divide

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        return (z - b) / self.gamma

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        return (sigma * (z - b) + y0) / (1.0 + sigma * self.gamma)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        e = z - b - self.gamma * y
        return e * e / (2.0 * self.gamma)
