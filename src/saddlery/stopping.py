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

    epoch and seconds of this run; the certificate of the last iterate; that of the best point; `moved`: the epoch at
    which the best gap, the lowest objective or the highest lower bound last moved; `runaway`: an objective above which
    the iterates have run away; `rarest`: epochs between two draws of the row that is drawn most rarely.
    """

    epoch: int
    seconds: float
    certificate: Certificate
    best: Certificate
    moved: int
    runaway: float
    rarest: float = 1.0


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
    """Nothing has moved by more than rounding for `patience` epochs and a `share` of the run: a heuristic.

    Slow is not stalled: what creeps is ended by a budget.
    """

    patience: int = 100
    share: float = 0.5

    def __call__(self, seen: Progress) -> Status | None:
        quiet = seen.epoch - seen.moved
        wait = max(self.patience, self.share * seen.epoch, 10.0 * seen.rarest)
        return Status.STALLED if quiet >= wait else None


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
