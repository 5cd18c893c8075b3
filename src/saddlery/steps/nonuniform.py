"""SPDC with weighted sampling (Zhang and Xiao), its parameters derived again.

    p_i = (1 - a) / n + a R_i / sum_j R_j,  a = 1/2,  Rbar = mean_i R_i,  k = sqrt(n lam / gamma)
    sigma_i = (a k / (2 Rbar)) / (n p_i),  tau = a / (2 Rbar k)
    theta = 1 - 1 / (n / (1 - a) + (Rbar / a) sqrt(n / (lam gamma)))
    the step of x takes dy_i with weight 1 / (n p_i), which keeps it unbiased

Batches: m draws in a batch would need the second moment of their sum; not derived here, so m = 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.steps._arrays import Fixed, Scale


def nonuniform(scale: Scale, live: Any, a: float = 0.5) -> tuple[Fixed, NDArray[Any]]:
    """The rule, and the probabilities of the live rows."""
    n, R = scale.n, scale.R
    mean = float(R[live].mean()) or 1.0
    p = np.zeros(R.size)
    p[live] = (1.0 - a) / n + a * R[live] / (n * mean)
    p[live] /= p[live].sum()
    k = math.sqrt(n * scale.lam / scale.gamma)
    relative = np.where(p > 0.0, n * p, 1.0)
    theta = 1.0 - 1.0 / (n / (1.0 - a) + (mean / a) * math.sqrt(n / (scale.lam * scale.gamma)))
    rule = Fixed((a * k / (2.0 * mean)) / relative, scale.share / relative, a / (2.0 * mean * k), theta, scale.lam)
    return rule, p[live]
