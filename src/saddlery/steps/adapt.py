"""Estimates of the data's strong convexity Delta from how fast the gap falls (Wang and Xiao, 2017, Algorithms 3, 4).

After a period of T steps (randomised: T passes) in which the gap fell by exp(-k):

simple  (Algorithm 3)  Delta <- 2 Delta if exp(-k) < theta^T, else Delta / 2
robust  (Algorithm 4)  Delta <- 2 Delta if k is above the last rate that changed Delta by more than `low`,
                       Delta / 2 if it is below that rate by more than `high`, else as it is
sharp   (ours)         Delta <- 2 Delta if k >= 0.9 T log(1 + 2h), the accelerated rate that methods show on quadratics
                       (the proved rate, log(1 + h), is half of it), else Delta / 2

All are heuristics; what they choose decides the speed, never whether a certificate is right. Guards (`judged`):

- Delta stays between a floor and the upper bound |A|_F^2 / (gamma min(n, d)), from which it starts: from below, one
  that is too small cannot be told from a right one.
- After a period in which the gap grew Delta is never halved: it would make tau longer, and the gap grow again.
- robust compares logarithms of rates: rates near 1 hardly differ.
- The first period is a transient and judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Seen(NamedTuple):
    """What a period showed.

    k : fall of log gap over the period. steps : T. theta, h : those of the steps made, for one of the T.
    reference : the rate that `robust` compares with, over a period.
    """

    k: float
    steps: int
    theta: float
    h: float
    reference: float


class Verdict(NamedTuple):
    """The factor that Delta is multiplied by, and the new reference."""

    factor: float
    reference: float


@dataclass(frozen=True)
class Simple:
    """Algorithm 3. Runs away upwards where theta is pessimistic (as it mostly is); the upper bound holds it."""

    factor: float = 2.0

    def __call__(self, seen: Seen) -> Verdict:
        faster = seen.k > -seen.steps * math.log(seen.theta) if seen.theta > 0.0 else False
        return Verdict(self.factor if faster else 1.0 / self.factor, seen.reference)


@dataclass(frozen=True)
class Robust:
    """Algorithm 4 with its c = 0.95 and 1.5, applied to logarithms of rates."""

    low: float = 0.95
    high: float = 1.5

    def __call__(self, seen: Seen) -> Verdict:
        if seen.k >= seen.reference / self.low:
            return Verdict(2.0, seen.k)
        if seen.k <= seen.reference / self.high:
            return Verdict(0.5, seen.k)
        return Verdict(1.0, seen.reference)


@dataclass(frozen=True)
class Sharp:
    """Compares with the accelerated rate 1 / (1 + 2h) a step, with some slack."""

    slack: float = 0.9

    def __call__(self, seen: Seen) -> Verdict:
        return Verdict(2.0 if seen.k >= self.slack * seen.steps * math.log1p(2.0 * seen.h) else 0.5, seen.reference)


RULES: dict[str, Callable[[Seen], Verdict]] = {"simple": Simple(), "robust": Robust(), "sharp": Sharp()}

FLOOR = 1e-4  # of the upper bound, below which Delta never falls


def judged(rule: str, seen: Seen, Delta: float, fall: float, least: float, most: float) -> tuple[float, float]:
    """The next Delta, and the reference, by a rule and the guards. `fall`: of log gap, from end to end."""
    factor, reference = RULES[rule](seen)
    if fall < 0.0:  # the gap grew
        factor = max(factor, 1.0)
    return min(max(factor * Delta, least), most), reference
