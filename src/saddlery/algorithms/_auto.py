"""What ``method="auto"`` stands for: a first choice, and when to leave it for the next.

1. f smooth, lam > 0, one prediction a row: ``adasdca+``, which on most problems that are not badly conditioned needs
   the least time of all. Its speed on badly conditioned ones varies: some (text, wide data, separable classes) it
   solves in ten epochs, others never. So its gaps are watched. Where, after a trial, the epochs that they predict cost
   more than twice those that are *proved* for ``adaspdc-balanced``, the run goes on from the best point with the next
   choice, which is watched in the same way, and then the next:
   ``ada-spdc`` with sharp adaptation and kappa = 1/2, where K / n, the epochs proved for a factor e, are many: lam is
   then so small that strong convexity in the data, if there is any, decides, and this finds it. It is left also where
   the end is far off and ``cd`` has not been tried;
   ``cd`` where there are at most half as many columns as rows, which does not mind how columns are scaled. It is left
   for what was faster, or is proved to be;
   ``ada-spdc`` again, if it was faster than what is proved for ``adaspdc-balanced``, which is the last; and from there
   ``cd`` for good, should it only creep.
   The factor, the bounds on columns, the price of epochs and the length of trials are measured: a heuristic.
2. f not smooth, lam > 0: ``sdca``.
3. Several predictions a row, or blocks: ``adaspdc-balanced``, or first, as above, ``ada-spdc``.
4. lam = 0: ``cd`` where a bound is known (l1, box, few columns), else ``ada-spdc`` with sharp adaptation.
5. A penalty that is not a sum over coordinates, or rows that another library holds: ``ada-bpd`` with sharp adaptation.

Never a method that cannot solve the problem.
"""

from __future__ import annotations

import math
from typing import Any

from saddlery.algorithms import Algorithm, able, method
from saddlery.algorithms._protocol import missing, scale_of
from saddlery.problem import Problem
from saddlery.terms.squared import Squared

ORDER = ("adasdca+", "sdca", "adaspdc-balanced", "cd", "ada-spdc", "ada-bpd")
SETTINGS: dict[str, dict[str, Any]] = {"ada-spdc": {"adapt": "sharp", "kappa": 0.5}, "ada-bpd": {"adapt": "sharp"}}
FACTOR = 2.0  # predicted cost of a choice over the proved cost of the last that makes it leave
PACE = {"adasdca+": 1.0, "ada-spdc": 1.2, "cd": 5.0}  # epochs as dear as one of the last; cd: for a linear response
SHARE = {"adasdca+": 0.05, "ada-spdc": 0.1, "cd": 0.33}  # of the proved cost, down to a millionth, of a trial
LEAST, MOST = 6, {"adasdca+": 40, "ada-spdc": 120, "cd": 40}  # epochs of a trial
FAR, CREEP = 500.0, 20_000.0  # epochs to a millionth from which on ada-spdc is left for cd, the first and second time
LONG = 500  # epochs of the second trial
AGAIN = ", again"  # marks the speed of a method that was left for the second time
MANY = 30.0  # epochs proved for a factor e from which on the data's strong convexity is looked for
MUCH = 10_000_000  # entries up to which a copy of the data by columns, for cd, is taken for granted


def chosen(name: str) -> Algorithm:
    """The method as auto uses it."""
    return method(name, **SETTINGS.get(name, {}))


def choose(problem: Problem) -> Algorithm:
    """The first choice."""
    for name in ORDER:
        if not missing(chosen(name), problem):
            early = name == "adaspdc-balanced" and proved(problem) >= MANY and not missing(chosen("ada-spdc"), problem)
            return chosen("ada-spdc" if early else name)
    others = able(problem)
    if others:
        return method(others[0])
    lacking = dict.fromkeys(sentence for name in ORDER for sentence in missing(chosen(name), problem))
    raise ValueError(f"no method can solve this problem; each needs some of: {'; '.join(lacking)}")


def following(problem: Problem, name: str, tried: dict[str, float]) -> Algorithm | None:
    """The choice after `name`; None after the last. `tried`: the speeds of those that were left."""
    if problem.lam == 0.0 or name not in PACE or name + AGAIN in tried or "ada-spdc" + AGAIN in tried:
        return None
    thin = problem.d <= problem.n / 2 and problem.coupling.rows.stored <= MUCH and not missing(chosen("cd"), problem)
    if name in tried:  # ada-spdc, which was faster than cd
        return chosen("cd") if thin else None
    again = tried.get("ada-spdc", 0.0) >= 1.0 / (FACTOR * proved(problem))
    names = [
        *(["ada-spdc"] if name == "adasdca+" and proved(problem) >= MANY else []),
        *(["cd"] if name != "cd" and thin else []),
        *(["ada-spdc"] if name == "cd" and again else []),
        "adaspdc-balanced",
    ]
    return next((chosen(other) for other in names if not missing(chosen(other), problem)), None)


def proved(problem: Problem) -> float:
    """Epochs of ``adaspdc-balanced`` for a factor e: K / n with K <= n + sum_i sqrt(R_i^2 / (n lam gamma))."""
    scale = scale_of(problem)
    return 1.0 + float(scale.R.sum()) / (scale.n * math.sqrt(scale.n * scale.lam * scale.gamma))


def pace(problem: Problem, name: str) -> float:
    """PACE, which for cd is that of a linear response."""
    return 1.0 if name == "cd" and not isinstance(problem.f, Squared) else PACE[name]


def speed(problem: Problem, name: str, rate: float) -> float:
    """What the rate of an epoch is worth beside other choices: PACE says how."""
    return rate / pace(problem, name)


def slow(problem: Problem, name: str, epochs: int, rate: float, tried: dict[str, float]) -> bool:
    """Is a trial over, and was what it showed slower than what is proved for the last choice, or was seen before?"""
    if name in tried:
        return epochs >= LONG and speed(problem, name, rate) < math.log(1e6) / CREEP
    if epochs < min(max(LEAST, SHARE[name] * pace(problem, name) * proved(problem) * math.log(1e6)), MOST[name]):
        return False
    least = 1.0 / (FACTOR * proved(problem))
    if name == "cd":
        least = max(least, tried.get("ada-spdc", 0.0))
    elif name == "ada-spdc":
        following_is_cd = getattr(following(problem, name, tried), "name", "") == "cd"
        least = max(least, math.log(1e6) / FAR if following_is_cd else 0.0)
    return speed(problem, name, rate) < least
