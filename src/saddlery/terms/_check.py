"""Parameters that a term refuses, in one sentence each."""

from __future__ import annotations

import math


def positive(owner: str, name: str, number: float) -> None:
    """Refuse a parameter that is not a finite number above 0."""
    if not (number > 0.0 and math.isfinite(number)):
        raise ValueError(f"{owner}({name}=...) must be a finite number above 0, found {number}")


def not_negative(owner: str, name: str, number: float) -> None:
    """Refuse a parameter that is not a finite number from 0 up."""
    if not (number >= 0.0 and math.isfinite(number)):
        raise ValueError(f"{owner}({name}=...) must be a finite number, 0 or more, found {number}")
