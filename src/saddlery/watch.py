"""What a run has seen of its method, by which the method is judged.

Only certificates that were due count, so that a run that was cut short and goes on is judged as if it had never
stopped. Epochs are those of this call; those of calls that it goes on from are 0 and below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from saddlery.certificate import Certificate

CLOSER = 1e-3  # of the bracket around the minimum, or of the gap: what counts as progress
MOTION = 1e-6  # of the bracket: what counts as motion
ROUNDING = 1e-15  # of the objective: what does not
STIR = 1e-13  # of the objective: what is no motion of an iterate


@dataclass
class Watch:
    """Epochs at which things happened, and what to compare with.

    Attributes
    ----------
    due : epoch of the next certificate.
    since : epoch at which the method took over.
    improved : epoch at which the bracket around the minimum last closed by a thousandth.
    moved : epoch at which the best gap, the lowest objective or the highest lower bound last moved at all.
    stirred : epoch at which the objective or the gap of the iterate last changed by more than rounding.
    runaway : an objective above which the iterates have run away.
    fallen : did the method take over from another?
    gaps : (epoch, gap) of the certificates since then.
    tried : the speeds of methods that were left.
    """

    due: int = 0
    since: int = 0
    improved: int = 0
    moved: int = 0
    stirred: int = 0
    runaway: float = math.inf
    fallen: bool = False
    lowest: float = math.inf
    highest: float = -math.inf
    mark: float = math.inf
    trace: tuple[float, float, float] = (math.inf, math.inf, math.inf)
    last: tuple[float, float] = (math.inf, math.inf)
    gaps: list[tuple[int, float]] = field(default_factory=list)
    tried: dict[str, float] = field(default_factory=dict)

    def see(self, epoch: int, made: Certificate, best: float) -> None:
        """Note a certificate and the best gap so far."""
        self.gaps = [*self.gaps, (epoch, made.figure)]
        self.lowest, self.highest = min(self.lowest, made.primal), max(self.highest, made.dual)
        bracket = self.lowest - self.highest if self.highest > -math.inf else self.lowest
        if bracket < self.mark - CLOSER * abs(self.mark) or self.mark == math.inf:
            self.mark, self.improved = bracket, epoch
        gap, low, high = self.trace
        step = max(MOTION * abs(bracket) if self.highest > -math.inf else 0.0, ROUNDING * abs(self.lowest))
        if best < gap * (1.0 - CLOSER) or self.lowest < low - step or -self.highest < high - step:
            self.trace, self.moved = (best, self.lowest, -self.highest), epoch
        primal, figure = self.last
        least = STIR * abs(made.primal)
        if not (abs(made.primal - primal) <= least and abs(made.figure - figure) <= max(least, CLOSER * figure)):
            self.last, self.stirred = (made.primal, made.figure), epoch

    def rate(self) -> float:
        """Fall of the logarithm of the gap an epoch, over the later half of the certificates; 0 if it does not fall."""
        seen = [(epoch, gap) for epoch, gap in self.gaps if 0.0 < gap < math.inf]
        if len(seen) < 2:
            return 0.0
        (e0, g0), (e1, g1) = seen[len(seen) // 2 - (len(seen) == 2)], seen[-1]
        return max(0.0, math.log(g0 / g1) / (e1 - e0)) if e1 > e0 else 0.0

    def last_rate(self) -> float:
        """The same over the last two certificates."""
        return replace(self, gaps=self.gaps[-2:]).rate()

    def start_anew(self, epoch: int) -> None:
        """Another method takes over."""
        self.fallen, self.since, self.improved, self.moved, self.stirred = True, epoch, epoch, epoch, epoch
        self.gaps = []

    def shifted(self, epochs: int) -> Watch:
        """As a run sees it that goes on after so many epochs."""
        return replace(
            self,
            due=self.due - epochs,
            since=self.since - epochs,
            improved=self.improved - epochs,
            moved=self.moved - epochs,
            stirred=self.stirred - epochs,
            gaps=[(epoch - epochs, gap) for epoch, gap in self.gaps],
        )
