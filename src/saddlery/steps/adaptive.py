"""AdaSPDC (Zhu and Storkey, equations 10, 12, 15), and its repaired form for uniform sampling.

As published, for a batch S_t of m rows, k = sqrt(n lam / (m gamma)), R^t = max_{i in S_t} R_i:

    sigma_i = k / (2 R_i),  tau^t = 1 / (2 R^t k),  theta^t = 1 - 1 / (n/m + R^t sqrt((n/m) / (lam gamma)))

(R_i = 0: y_i goes all the way, tau and theta are those of the largest row.)

Their Theorem 1 is false as stated: with rows of unequal norm (mean square: from a ratio of about 1.8; almost surely:
from about 4) and nearly orthogonal, a long step of x on a small row is met by a large row, and the method diverges or
stalls.

`sigma_only` keeps tau and theta of SPDC (from the largest row) and takes the largest dual step that its proof allows,
sigma_i = 1 / (4 tau R_i^2): the guaranteed rate of SPDC, with longer steps on every smaller row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.steps._arrays import FREE, Fixed, Scale, Steps
from saddlery.steps.spdc import zhang_xiao


@dataclass(frozen=True, eq=False)
class Published:
    """The rule as published. No guarantee: see above."""

    scale: Scale
    m: int = 1

    def __call__(self, draws: NDArray[Any]) -> Steps:
        n, lam, gamma, share = self.scale.n, self.scale.lam, self.scale.gamma, self.scale.share
        norms = np.append(self.scale.norms, 0.0)  # place -1, the padding, is never the largest
        full = np.append(self.scale.R > 0.0, True)[draws]
        k, per = math.sqrt(n * lam / (self.m * gamma)), n / self.m
        R = norms[draws]
        top = R.max(axis=1)
        tau = 1.0 / (2.0 * top * k)
        theta = 1.0 - 1.0 / (per + top * math.sqrt(per / (lam * gamma)))
        sigma = np.where(full, k / (2.0 * np.where(draws >= 0, R, 1.0)), FREE)
        return Steps(draws, sigma, np.full(draws.shape, share / self.m), tau, 1.0 / (1.0 + lam * tau), theta)


def sigma_only(scale: Scale, m: int = 1) -> Fixed:
    """tau, theta of SPDC; sigma_i = 1 / (4 tau R_i^2)."""
    rule = zhang_xiao(scale, m)
    sigma = scale.unless_empty(1.0 / (4.0 * rule.tau * scale.norms**2))
    return Fixed(sigma, rule.weight, rule.tau, rule.theta, scale.lam)
