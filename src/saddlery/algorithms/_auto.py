"""The first choice of a method for a problem."""

from __future__ import annotations

from saddlery.algorithms import METHODS, able
from saddlery.algorithms._protocol import missing
from saddlery.problem import Problem

ORDER = ("adaspdc-balanced", "adasdca+", "sdca", "cd", "pdcp")


def choose(problem: Problem) -> str:
    """Name of the method that ``method="auto"`` stands for. Never one that cannot solve the problem.

    1. lam > 0 and one prediction a row: ``adasdca+``.
    """
    for name in ORDER:
        if name in METHODS and not missing(METHODS[name], problem):
            return name
    return able(problem)[0]
