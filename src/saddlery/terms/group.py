"""g(x) = alpha sum_G |x_G| + lam/2 |x|^2,   g*(v) = sum_G max(0, |v_G| - alpha)^2 / (2 lam).

Not a sum over coordinates: its methods take whole vectors.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.terms._check import not_negative

Array = NDArray[Any]


class GroupL2(NamedTuple):
    """Group lasso, alpha sum_G |x_G|_2 + lam/2 |x|^2. `groups` gives the group, 0 .. m - 1, of every coordinate."""

    alpha: float
    groups: Any
    lam: float = 0.0

    def check(self) -> None:
        not_negative("GroupL2", "alpha", self.alpha)
        not_negative("GroupL2", "lam", self.lam)
        groups = np.asarray(self.groups)
        if groups.ndim != 1 or groups.size == 0 or groups.dtype.kind not in "iu" or groups.min() < 0:
            raise ValueError(
                "GroupL2(groups=...) must be a vector that gives a group number, 0 or more, for every coordinate, "
                f"found shape {groups.shape}, dtype {groups.dtype}"
            )
        if groups.max() >= groups.size:
            raise ValueError(
                f"GroupL2(groups=...) has the group number {groups.max()} for {groups.size} coordinates; number the "
                "groups 0, 1, ... without gaps (np.unique(groups, return_inverse=True)[1] does)"
            )

    def modulus(self) -> float:
        return self.lam

    def separable(self) -> bool:
        return False

    def norms(self, x: Array) -> Array:
        """|x_G| for every group."""
        return np.sqrt(np.bincount(self.groups, weights=x * x))

    def value(self, x: Array) -> float:
        return float(self.alpha * self.norms(x).sum() + self.lam / 2.0 * (x @ x))

    def conj(self, v: Array) -> float:
        over = np.maximum(self.norms(v) - self.alpha, 0.0)
        if (over <= 1e-14 * self.alpha).all():
            return 0.0
        return float(over @ over) / (2.0 * self.lam) if self.lam > 0.0 else math.inf

    def reach_scale(self, v: Array) -> float:
        """The largest s in [0, 1] for which g*(s v) is finite."""
        return 1.0 if self.lam > 0.0 else min(1.0, self.alpha / max(float(self.norms(v).max()), 1e-300))

    def shrink(self, v: Array, a: float) -> Array:
        """v_G max(0, 1 - a / |v_G|)."""
        norms = self.norms(v)
        scale = np.maximum(norms - a, 0.0) / np.where(norms > 0.0, norms, 1.0)
        return np.asarray(v * scale[self.groups])

    def prox(self, v: Array, tau: float) -> Array:
        return self.shrink(v, tau * self.alpha) / (1.0 + self.lam * tau)

    def grad_conj(self, v: Array) -> Array:
        return self.shrink(v, self.alpha) / self.lam

    def slack(self, x: Array, v: Array) -> float:
        """|lam x - s|^2 / (2 lam) + sum_G (alpha |x_G| - <x_G, v_G - s_G>), s = shrink(v, alpha); all >= 0.

        v_G - s_G = m e with e = v_G / |v_G| and m = min(|v_G|, alpha), and |x| - <x, e> = |x - |x| e|^2 / (2 |x|).
        """
        sizes, lengths = self.norms(v), self.norms(x)
        if self.lam == 0.0 and (sizes > self.alpha * (1.0 + 1e-14)).any():
            return math.inf
        m, e = np.minimum(sizes, self.alpha), v / np.where(sizes > 0.0, sizes, 1.0)[self.groups]
        bend = self.norms(x - lengths[self.groups] * e) ** 2 / np.where(lengths > 0.0, 2.0 * lengths, 1.0)
        total = float(((self.alpha - m) * lengths + m * bend).sum())
        e = self.lam * x - (sizes - m)[self.groups] * e
        return total + float(e @ e) / (2.0 * self.lam) if self.lam > 0.0 else total
