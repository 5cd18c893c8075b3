"""Balanced AdaSPDC: probabilities and steps such that every row has the same guaranteed rate (ours).

With tau constant and dy_i weighted by 1 / (n p_i), the cross terms of the proof need sigma_i <= n p_i / (4 tau R_i^2),
and row i then contracts at the rate 1 - 1/K_i, K_i = 1/p_i + 2 tau R_i^2 / (n gamma p_i^2). All K_i equal K for

    p_i = (1 + sqrt(1 + 4 c_i K)) / (2 K),  c_i = 2 tau R_i^2 / (n gamma),  sum_i p_i = 1,  tau = 1 / (2 lam (K - 1))

which also makes K the rate of x; theta = 1 - 1/K. K <= n + Rbar sqrt(n / (lam gamma)), roughly: the mean of the row
norms where SPDC has the largest. K is found exactly, as a root in one variable. Batches: not derived, so m = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.steps._arrays import Fixed, Scale
from saddlery.steps._root import root

Array = NDArray[Any]


def _probabilities(scale: Scale, squares: Array, K: float) -> Array:
    tau = 1.0 / (2.0 * scale.lam * (K - 1.0))
    c = 2.0 * tau * squares / (scale.n * scale.gamma)
    return np.asarray((1.0 + np.sqrt(1.0 + 4.0 * c * K)) / (2.0 * K))


def balanced(scale: Scale, live: Any) -> tuple[Fixed, Array]:
    """The rule, and the probabilities of the live rows."""
    squares = scale.R[live] ** 2
    spread = float(np.sqrt(squares).mean()) * np.sqrt(scale.n / (scale.lam * scale.gamma))
    low, high = float(max(scale.n, 1 + 1e-9)), float(2.0 * (scale.n + spread) + 2.0)
    if squares.any():
        K = root(lambda K: float(_probabilities(scale, squares, K).sum()) - 1.0, low, high)
    else:
        K = max(low, 2.0)
    p = _probabilities(scale, squares, K)
    p /= p.sum()
    tau = 1.0 / (2.0 * scale.lam * (K - 1.0))
    relative, sigma = np.ones(scale.R.size), np.ones(scale.R.size)
    relative[live] = scale.n * p
    sigma[live] = relative[live] / (4.0 * tau * scale.norms[live] ** 2)
    return Fixed(scale.unless_empty(sigma), scale.share / relative, tau, 1.0 - 1.0 / K, scale.lam), p
