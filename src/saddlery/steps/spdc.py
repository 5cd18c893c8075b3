"""SPDC: constant steps from the largest row (Zhang and Xiao; Zhu and Storkey, their comparison).

    k = sqrt(n lam / (m gamma)),  R = max_i R_i
    sigma = k / (2 R),  tau = 1 / (2 R k),  theta = 1 - 1 / (n/m + R sqrt((n/m) / (lam gamma)))

Proved: E|x^t - x*|^2 falls by theta in every step.
"""

from __future__ import annotations

import math

import numpy as np

from saddlery.steps._arrays import Fixed, Scale


def zhang_xiao(scale: Scale, m: int = 1) -> Fixed:
    """The rule for batches of m rows drawn uniformly."""
    k = math.sqrt(scale.n * scale.lam / (m * scale.gamma))
    R, per = scale.top, scale.n / m
    theta = 1.0 - 1.0 / (per + R * math.sqrt(per / (scale.lam * scale.gamma)))
    ones = np.ones(scale.R.size)
    return Fixed(ones * (k / (2.0 * R)), ones * (scale.share / m), 1.0 / (2.0 * R * k), theta, scale.lam)
