"""DF-SPDC: SPDC without a prox of the conjugate (Wang and Xiao, 2017, Algorithm 7 without its adaptation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._data_spdc import Told
from saddlery.algorithms._protocol import CURVED, FIGURE, HERE, SEPARABLE, SMOOTH


@dataclass(frozen=True)
class DFSPDC(Told):
    """Draw k;  v_k <- (v_k + sigma <a_k, xbar>) / (1 + sigma);  y_k = f'(v_k);  x, r, xbar as in ``spdc``.

    Theorem 4 with S = n lam + Delta, Delta = delta mu^2: tau = (kappa/R) sqrt(gamma / S), sigma = (kappa/R)
    sqrt(gamma S), theta = max(theta_x, theta_y), theta_x = (1 - tau sigma Delta / (n (4 + 2 sigma))) / (1 + tau lam),
    theta_y = (1 + (1 - 1/n) h) / (1 + h), h = sigma / 2. For the squared loss these are the iterates of ``spdc``.

    It starts from v with f'(v) = y: v = f*'(y) for the squared loss; for others v = A x, and y = f'(v).
    Corrected: r starts as A'y / n; the left side of the theorem has (1/2) D(y*, y).

    Parameters
    ----------
    mu : float, optional
        The smallest singular value of A that is not 0. By default computed exactly, where rows or columns are at most
        1000 and it takes seconds, and the run says so.
    """

    name: ClassVar[str] = "df-spdc"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 7 and Theorem 4"
    proved: ClassVar[str] = "linear; n + 8 R sqrt(n / (lam gamma)) steps for a factor e where mu = 0"
    cost: ClassVar[str] = "O(nnz of the row) a step"
    dual_free: ClassVar[bool] = True
    needs = (SMOOTH, FIGURE, CURVED, SEPARABLE, HERE)
