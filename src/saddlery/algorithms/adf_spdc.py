"""ADF-SPDC: adaptive and dual-free (Wang and Xiao, 2017, Algorithm 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saddlery.algorithms._data_spdc import Adaptive
from saddlery.algorithms._protocol import FIGURE, HERE, SEPARABLE, SMOOTH


@dataclass(frozen=True)
class ADFSPDC(Adaptive):
    """The update and the steps of ``df-spdc``, Delta judged anew every T passes as in ``ada-spdc``; lam >= 0."""

    name: ClassVar[str] = "adf-spdc"
    paper: ClassVar[str] = "Wang and Xiao 2017, Algorithm 7 with Algorithm 3 or 4, or ours"
    proved: ClassVar[str] = "nothing beyond df-spdc: the estimate is a heuristic"
    cost: ClassVar[str] = "O(nnz of the row) a step, half a pass for a look at the gap"
    dual_free: ClassVar[bool] = True
    needs = (SMOOTH, FIGURE, SEPARABLE, HERE)
