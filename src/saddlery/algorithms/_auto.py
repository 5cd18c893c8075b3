"""What ``method="auto"`` stands for: a first choice, and when to leave it for the next.

1. f smooth, lam > 0, one prediction a row: ``adasdca+``, which on most problems that are not badly conditioned needs
   the least time of all. Its speed on badly conditioned ones varies: some (text, wide data, separable classes) it
   solves in ten epochs, others never. So its gaps are watched. Where, after a trial, the epochs that they predict cost
   more than twice those that are *proved* for ``adaspdc-balanced``, the run goes on from the best point with the next
   choice: ``cd`` where there are at most half as many columns as rows, which does not mind how columns are scaled,
   watched in the same way; and then, or at once, ``adaspdc-balanced``. The factor, the bounds on columns, the price of
   epochs and the length of trials are measured, not derived: a heuristic.
2. f not smooth, lam > 0: ``sdca``.
3. Several predictions a row, or blocks: ``adaspdc-balanced``.
4. lam = 0: ``cd``. 5. A penalty that is not a sum over coordinates: ``pdcp``.

Never a method that cannot solve the problem.
"""

from __future__ import annotations

import math

from saddlery.algorithms import METHODS, able
from saddlery.algorithms._protocol import missing, scale_of
from saddlery.problem import Problem
from saddlery.terms.squared import Squared

ORDER = ("adasdca+", "sdca", "adaspdc-balanced", "cd", "pdcp")
FACTOR = 2.0  # predicted cost of a choice over the proved cost of the last that makes it leave
PACE = {"adasdca+": 1.0, "cd": 5.0}  # epochs that cost as much as one of adaspdc-balanced; cd: for a linear response
SHARE = {"adasdca+": 0.05, "cd": 0.33}  # of the proved cost of the last, down to a millionth, that a trial may take
LEAST, MOST = 6, 40  # epochs of a trial
MUCH = 10_000_000  # entries up to which a copy of the data by columns, for cd, is taken for granted


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


def following(problem: Problem, name: str) -> str | None:
    """Name of the choice after `name`; None after the last."""
    if name == "adasdca+":
        thin = problem.d <= problem.n / 2 and problem.coupling.rows.stored <= MUCH
        return "cd" if thin and not missing(METHODS["cd"], problem) else "adaspdc-balanced"
    return "adaspdc-balanced" if name == "cd" and problem.lam > 0.0 else None


def slow(problem: Problem, name: str, epochs: int, rate: float) -> bool:
    """Is a factor e in 1 / rate epochs, as seen in a trial, so much dearer than what is proved for the last choice?

    That is K / n epochs of ``adaspdc-balanced`` with K <= n + sum_i sqrt(R_i^2 / (n lam gamma)).
    """
    scale = scale_of(problem)
    proved = 1.0 + float(scale.R.sum()) / (scale.n * math.sqrt(scale.n * scale.lam * scale.gamma))
    pace = 1.0 if name == "cd" and not isinstance(problem.f, Squared) else PACE[name]
    trial = min(max(LEAST, SHARE[name] * pace * proved * math.log(1e6)), MOST)
    return epochs >= trial and rate * pace * FACTOR * proved < 1.0
