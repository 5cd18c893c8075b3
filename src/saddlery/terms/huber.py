"""f(z, b) = r^2 / 2 where |r| <= width, else width |r| - width^2 / 2, with r = z - b.

f*(y, b) = |y|^2 / 2 + <b, y> for |y| <= width. Of a vector, |.| is the Euclidean norm.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

from saddlery._compile import strict
from saddlery.terms._check import positive

Array = NDArray[Any]


@strict
def distance(z: Array, b: Array) -> float:
    """|z - b| of two vectors."""
    total = 0.0
    for k in range(z.shape[0]):
        total += (z[k] - b[k]) * (z[k] - b[k])
    return math.sqrt(total)


class Huber(NamedTuple):
    """Huber's loss, quadratic up to `width` and linear beyond. 1-smooth, not strongly convex."""

    width: float = 1.0

    def check(self) -> None:
        positive("Huber", "width", self.width)

    def smoothness(self) -> float:
        return 1.0

    def value(self, z: float, b: float) -> float:
        r = abs(z - b)
        return r * r / 2.0 if r <= self.width else self.width * (r - self.width / 2.0)

    def grad(self, z: float, b: float) -> float:
        return min(max(z - b, -self.width), self.width)

    def interval(self, b: float) -> tuple[float, float]:
        return -self.width, self.width

    def conj(self, y: float, b: float) -> float:
        return math.inf if abs(y) > self.width else y * y / 2.0 + b * y

    def prox_conj(self, y0: float, z: float, sigma: float, b: float) -> float:
        return min(max((sigma * (z - b) + y0) * (1.0 / (1.0 + sigma)), -self.width), self.width)

    def grad_array(self, xp: Any, z: Any, b: Any) -> Any:
        return xp.clip(z - b, -self.width, self.width)

    def prox_conj_array(self, xp: Any, y0: Any, z: Any, sigma: float, b: Any) -> Any:
        return xp.clip((sigma * (z - b) + y0) / (1.0 + sigma), -self.width, self.width)

    def fenchel_young(self, z: float, y: float, b: float) -> float:
        """(y - r')^2 / 2 + (r - r') (r' - y) with r = z - b, r' = r clipped to the width."""
        if abs(y) > self.width:
            return math.inf
        r = z - b
        near = min(max(r, -self.width), self.width)
        return (y - near) * (y - near) / 2.0 + (r - near) * (near - y)

    # ---- of a block: the Euclidean ball in place of the interval

    def value_block(self, z: Array, b: Array) -> float:
        r = distance(z, b)
        return r * r / 2.0 if r <= self.width else self.width * (r - self.width / 2.0)

    def grad_block(self, z: Array, b: Array, out: Array) -> None:
        scale = self.width / max(distance(z, b), self.width)
        for k in range(z.shape[0]):
            out[k] = scale * (z[k] - b[k])

    def conj_block(self, y: Array, b: Array) -> float:
        square, inner = 0.0, 0.0
        for k in range(y.shape[0]):
            square += y[k] * y[k]
            inner += b[k] * y[k]
        return math.inf if math.sqrt(square) > self.width * (1.0 + 4e-16 * y.shape[0]) else square / 2.0 + inner

    def prox_conj_block(self, y0: Array, z: Array, sigma: float, b: Array, out: Array) -> None:
        square = 0.0
        for k in range(z.shape[0]):
            out[k] = (sigma * (z[k] - b[k]) + y0[k]) / (1.0 + sigma)
            square += out[k] * out[k]
        scale = self.width / max(math.sqrt(square), self.width)
        for k in range(z.shape[0]):
            out[k] *= scale

    def project_block(self, y: Array, b: Array) -> None:
        square = 0.0
        for k in range(y.shape[0]):
            square += y[k] * y[k]
        scale = self.width / max(math.sqrt(square), self.width)
        for k in range(y.shape[0]):
            y[k] *= scale

    def fenchel_young_block(self, z: Array, y: Array, b: Array) -> float:
        """|y - r'|^2 / 2 + <r - r', r' - y> with r = z - b, r' = its projection on the ball; both terms >= 0."""
        scale = self.width / max(distance(z, b), self.width)
        square, inner, size = 0.0, 0.0, 0.0
        for k in range(z.shape[0]):
            size += y[k] * y[k]
            r = z[k] - b[k]
            near = scale * r
            square += (y[k] - near) * (y[k] - near)
            inner += (r - near) * (near - y[k])
        if math.sqrt(size) > self.width * (1.0 + 4e-16 * y.shape[0]):
            return math.inf
        return square / 2.0 + (0.0 if inner < 0.0 else inner)
