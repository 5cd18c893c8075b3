"""Ada-SPDC: SPDC that estimates the strong convexity of the data as it goes (Wang and Xiao, 2017, Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._data_spdc import Adaptive
from saddlery.algorithms._protocol import DUAL, FIGURE, HERE, SEPARABLE, SMOOTH


@dataclass(frozen=True)
class AdaSPDC(Adaptive):
    """The update of ``spdc`` with ``steps="data"``, Delta judged anew every T passes by the gap's rate.

    The rate is that of the regression of Section 3.1, log rho = sum_t t log(gap_t / gap_0) / sum_t t^2; rules and
    guards are those of ``ada-bpd``. Where delta = 0 Delta is a local quantity, and theta is theta_y. Also for lam = 0.

    Corrected: r starts as A'y / n; a period has the T + 1 gaps that end at the newest.
    """

    name: ClassVar[str] = "ada-spdc"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 5 with Algorithm 3 or 4, or ours"
    proved: ClassVar[str] = "nothing beyond spdc: the estimate is a heuristic"
    cost: ClassVar[str] = "O(nnz of the row) a step, half a pass for a look at the gap"
    needs = (SMOOTH, FIGURE, SEPARABLE, DUAL, HERE)
