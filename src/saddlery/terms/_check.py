"""Parameters that a term refuses, in one sentence each."""

from __future__ import annotations

import math

import numpy as np


def alone(owner: str, name: str, number: float) -> None:
    """Refuse an array where one number belongs."""
    if np.ndim(number) > 0:
        raise TypeError(f"{owner}({name}=...) must be one number, found an array of shape {np.shape(number)}")


def positive(owner: str, name: str, number: float) -> None:
    """Refuse a parameter that is not a finite number above 0."""
    alone(owner, name, number)
    if not (number > 0.0 and math.isfinite(number)):
        raise ValueError(f"{owner}({name}=...) must be a finite number above 0, found {number}")


def not_negative(owner: str, name: str, number: float) -> None:
    """Refuse a parameter that is not a finite number from 0 up."""
    alone(owner, name, number)
    if not (number >= 0.0 and math.isfinite(number)):
        raise ValueError(f"{owner}({name}=...) must be a finite number, 0 or more, found {number}")
