"""How one solver went on one problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from saddlery.certificate import Certificate

Points = tuple[tuple[float, float], ...]  # (passes or seconds, relative gap)


@dataclass(frozen=True)
class Course:
    """How one solver went.

    Attributes
    ----------
    name : of the method; of a rival, the library's name before it. rival : is it another library's?
    reached : was tol certified? status : why it ended, a sentence.
    certificate : of its best point.
    epochs, passes : its work (a rival's epochs are its iterations; NaN passes where they cannot be counted).
    seconds : of the run, or of the rival's longest fit. seconds_to_tol : None where tol was not reached.
    by_passes, by_seconds : the best certified relative gap so far.
    notes : what the run had to say.
    """

    name: str
    rival: bool
    reached: bool
    status: str
    certificate: Certificate
    epochs: int
    passes: float
    seconds: float
    seconds_to_tol: float | None
    by_passes: Points = ()
    by_seconds: Points = ()
    notes: tuple[str, ...] = ()


def envelope(points: Sequence[tuple[float, float]]) -> Points:
    """Without the fits that took longer than one that came closer."""
    kept: list[tuple[float, float]] = []
    for point in reversed(points):
        if not kept or point[0] < kept[-1][0]:
            kept.append(point)
    return tuple(reversed(kept))
