"""The best that a run has seen.

P(x) - P* <= P(x) - D(y) whatever x and y are, so the x of one epoch may be certified by the y of another: where lam is
tiny the lower bounds of most iterates are worthless, and one good one is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from saddlery.certificate import Certified, certify
from saddlery.problem import Problem

WORTH = 0.9  # of the best gap: what the best x and the best y must promise to be certified together


@dataclass
class Kept:
    """`pair`: the best certified point. `low`, `high`: those of the lowest objective and of the highest lower bound."""

    pair: Certified
    low: Certified
    high: Certified

    @property
    def furthest(self) -> Certified:
        """Where another method goes on: a gap can be least where no progress is made (x = 0, y = 0, for a tiny lam)."""
        return self.low if self.low.certificate.primal < self.pair.certificate.primal else self.pair

    @classmethod
    def first(cls, now: Certified) -> Kept:
        return cls(now, now, now)

    def see(self, problem: Problem, now: Certified) -> int:
        """Take note of a certified point; returns the certificates that this took."""
        made, before = now.certificate, (self.low, self.high)
        if made.better_than(self.pair.certificate):
            self.pair = now
        if made.primal < self.low.certificate.primal or math.isnan(self.low.certificate.primal):
            self.low = now
        if made.dual > self.high.certificate.dual:
            self.high = now
        promised = self.low.certificate.primal - self.high.certificate.dual
        same = before[0] is self.low and before[1] is self.high
        if same or not (1e-12 * abs(made.primal) < promised < WORTH * self.pair.certificate.gap):
            return 0
        both = certify(problem, self.low.x, self.high.y)
        if both.certificate.better_than(self.pair.certificate):
            self.pair = both
        return 1
