"""Reasons to stop: what a run has seen -> a status, or None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from saddlery.certificate import Certificate
from saddlery.result import Status


@dataclass
class Progress:
    """What the rules look at.

    epoch, seconds : of this run. certificate : of the last iterate. best : of the best point.
    moved : epoch at which the best gap, the lowest objective or the highest lower bound last moved.
    stirred : epoch at which the iterate's certificate last changed by more than rounding.
    runaway : an objective above which the iterates have run away.
    rarest : epochs between two draws of the row that is drawn most rarely.
    slowest : epochs in which a method like this one is proved to come closer by a factor e, where that is known.
    """

    epoch: int
    seconds: float
    certificate: Certificate
    best: Certificate
    moved: int
    stirred: int
    runaway: float
    rarest: float = 1.0
    slowest: float = 1.0


class Rule(Protocol):
    """A reason to stop."""

    def __call__(self, seen: Progress) -> Status | None: ...


@dataclass(frozen=True)
class NonFinite:
    """The iterates ran away: the objective is not a number, or far above that of the start."""

    def __call__(self, seen: Progress) -> Status | None:
        primal = seen.certificate.primal
        return Status.DIVERGED if math.isnan(primal) or (seen.epoch > 0 and primal > seen.runaway) else None


@dataclass(frozen=True)
class Gap:
    """The relative gap of the best point is at most tol. tol = 0 never stops."""

    tol: float

    def __call__(self, seen: Progress) -> Status | None:
        return Status.CONVERGED if self.tol > 0.0 and seen.best.relative_gap <= self.tol else None


@dataclass(frozen=True)
class Stalled:
    """Nothing moves, or the method goes in circles: a heuristic.

    Nothing moves: the iterate's certificate has not changed by more than rounding for `patience` epochs and a `share`
    of the run. In circles: it changes, but nothing has come closer for so long and ten times what is proved to be
    enough for a factor e. Slow is not stalled: what creeps is ended by a budget.
    """

    patience: int = 100
    share: float = 0.5

    def __call__(self, seen: Progress) -> Status | None:
        wait = max(self.patience, self.share * seen.epoch, 10.0 * seen.rarest)
        still, circles = seen.epoch - max(seen.stirred, seen.moved), seen.epoch - seen.moved
        return Status.STALLED if still >= wait or circles >= max(wait, 10.0 * seen.slowest) else None


@dataclass(frozen=True)
class Time:
    """The time budget is spent."""

    max_time: float

    def __call__(self, seen: Progress) -> Status | None:
        return Status.TIME if seen.seconds >= self.max_time else None


@dataclass(frozen=True)
class Epochs:
    """The epochs are made."""

    max_epochs: int

    def __call__(self, seen: Progress) -> Status | None:
        return Status.EPOCHS if seen.epoch >= self.max_epochs else None


def first(rules: Sequence[Rule], seen: Progress) -> Status | None:
    """The first rule that has something to say."""
    return next((status for rule in rules if (status := rule(seen)) is not None), None)
