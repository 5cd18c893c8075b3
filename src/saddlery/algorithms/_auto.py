"""What ``method="auto"`` stands for: a first choice, and when to leave it for a second.

1. f smooth, lam > 0, one prediction a row: ``adasdca+``, which on most problems that are not badly conditioned needs
   the least time of all. Its speed on badly conditioned ones varies: some (text, wide data, separable classes) it
   solves in ten epochs, others never. So its gaps are watched, and where the epochs that they predict are more than
   twice those that are *proved* for ``adaspdc-balanced``, the run goes on from the best point with the second choice:
   ``cd`` where the rows are dense and few columns stand against many rows, ``adaspdc-balanced`` otherwise. The factor
   and the bounds on columns are measured, not derived: a heuristic.
2. f not smooth, lam > 0: ``sdca``.
3. Several predictions a row, or blocks: ``adaspdc-balanced``.
4. lam = 0: ``cd``. 5. A penalty that is not a sum over coordinates: ``pdcp``.

Never a method that cannot solve the problem.
"""

from __future__ import annotations

import math

from saddlery.algorithms import METHODS, able
from saddlery.algorithms._protocol import missing, scale_of
from saddlery.data.rows import Dense
from saddlery.problem import Problem

ORDER = ("adasdca+", "sdca", "adaspdc-balanced", "cd", "pdcp")
WATCH = 6  # epochs after which the gaps of the first choice are looked at
FACTOR = 2.0  # predicted epochs of the first choice over proved epochs of the second that make it leave
FEW = 100  # columns up to which coordinate descent over them is the second choice, if rows are dense and 10 times more


def choose(problem: Problem) -> str:
    """Name of the first choice."""
    for name in ORDER:
        if not missing(METHODS[name], problem):
            return name
    others = able(problem)
    if others:
        return others[0]
    lacking = dict.fromkeys(sentence for name in ORDER for sentence in missing(METHODS[name], problem))
    raise ValueError(f"no method can solve this problem; each needs some of: {'; '.join(lacking)}")


def second(problem: Problem, first: str) -> tuple[str, float]:
    """Name of the second choice, and the epochs in which ``adaspdc-balanced`` is proved to gain a factor e.

    K / n with K <= n + sum_i sqrt(R_i^2 / (n lam gamma)). Infinite where there is no second choice.
    """
    if first != "adasdca+":
        return first, math.inf
    scale = scale_of(problem)
    epochs = 1.0 + float(scale.R.sum()) / (scale.n * math.sqrt(scale.n * scale.lam * scale.gamma))
    thin = isinstance(problem.coupling.rows.view, Dense) and problem.d <= min(FEW, problem.n / 10)
    return ("cd" if thin and not missing(METHODS["cd"], problem) else "adaspdc-balanced"), epochs


def leave(rate: float, proved: float) -> bool:
    """Is a factor e in 1 / rate epochs, as seen, so much slower than what is proved for the second choice?"""
    return rate * FACTOR * proved < 1.0
