"""SPDC and DF-SPDC with the strong convexity of the data (Wang and Xiao, 2017, Theorems 2, 4) as steps of the kernel.

Uniform rows, one a step: every row has the same sigma, and dy_i goes into the step of x with the weight 1. Formulas:
:mod:`saddlery.steps.convexity`, with R = max_i R_i.
"""

from __future__ import annotations

import numpy as np

from saddlery.steps._arrays import Fixed, Scale
from saddlery.steps.convexity import Constants, Step, df_spdc, spdc


def data_spdc(scale: Scale, delta: float, Delta: float, kappa: float, dual_free: bool = False) -> tuple[Fixed, Step]:
    """The rule, and the step that it makes. Delta: over all rows; over the live ones it is their share of that."""
    now = Constants(scale.n, scale.lam, scale.gamma, delta, scale.top)
    step = (df_spdc if dual_free else spdc)(now, scale.share * Delta, kappa)
    ones = np.ones(scale.R.size)
    return Fixed(ones * step.sigma, ones * scale.share, step.tau, step.theta, scale.lam), step
