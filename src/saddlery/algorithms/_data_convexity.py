"""What the methods of Wang and Xiao (2017) share, batch and randomised: constants, mu, and the estimate Delta.

Delta   the strong convexity that the data add, n times that of P: delta mu^2, or an estimate of what it is here
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import State
from saddlery.nearby import near_gap, nearness
from saddlery.problem import Problem
from saddlery.steps.adapt import FLOOR, RULES, Seen, judged
from saddlery.steps.convexity import Constants, Step
from saddlery.terms import _verbs
from saddlery.terms._sums import gradients_back

Array = NDArray[Any]


def constants(problem: Problem, size: float) -> Constants:
    """n, lam, gamma, delta, and L or R."""
    return Constants(problem.n, problem.lam, problem.gamma, _verbs.modulus(problem.f), size)


def check_mu(mu: float | None) -> None:
    """A singular value, or None."""
    if mu is not None and not (isinstance(mu, (int, float, np.number)) and 0.0 <= mu < math.inf):
        raise ValueError(f"mu must be a finite number, 0 or more, or None, found {mu!r}")


def check_rule(adapt: str | None, may_be_none: bool = True) -> None:
    """A rule of adaptation, or None."""
    if not ((isinstance(adapt, str) and adapt in RULES) or (adapt is None and may_be_none)):
        allowed = ", ".join(map(repr, RULES)) + (", or None" if may_be_none else "")
        raise ValueError(f"adapt must be one of {allowed}, found {adapt!r}")


def check_period(name: str, period: Any) -> None:
    """A whole number of steps or passes, or None."""
    if period is not None and (isinstance(period, bool) or not (isinstance(period, (int, np.integer)) and period >= 1)):
        raise ValueError(f"{name} must be a whole number, 1 or more, or None, found {period!r}")


def check_kappa(kappa: Any) -> None:
    """A factor of steps."""
    if not (isinstance(kappa, (int, float, np.number)) and 0.0 < kappa < math.inf):
        raise ValueError(f"kappa must be a finite number above 0, found {kappa!r}")


def dual_free_start(problem: Problem, state: State) -> None:
    """v with y = f'(v): f*'(y) where the loss has that (`grad_conj`), else v = A x, and y = f'(v)."""
    if hasattr(problem.f, "grad_conj"):
        y = state.y.reshape(-1)
        state.memory["v"] = np.empty(y.size)
        gradients_back(problem.f, y, problem.b, problem.coupling.spread(problem.c), state.memory["v"])
    else:
        state.memory["v"] = problem.predictions(state.x).reshape(-1)
        state.y = problem.gradients(state.memory["v"])


def known_square(problem: Problem, state: State, mu: float | None, ones: float) -> None:
    """Keep mu^2 in the memory: as given, or computed and said so."""
    square, delta = 0.0 if mu is None else float(mu) ** 2, _verbs.modulus(problem.f)
    if mu is None and delta > 0.0:
        square = problem.smallest_square(ones)
        if math.isnan(square):
            raise ValueError(
                f"mu is not given, and to compute it for {problem.coupling.m} rows and {problem.d} columns is too much "
                "work: give mu, the smallest singular value of X, or use an adaptive method, "
                'ada-bpd or adf-spdc with adapt="sharp", which needs none'
            )
        state.notes.append(
            f"mu = {math.sqrt(square):.4g}, the smallest singular value of X that is not 0, was computed"
        )
    if problem.lam == 0.0 and delta * square == 0.0:
        raise ValueError(
            "lam = 0 and mu = 0: there is no strong convexity to be told of. Use an adaptive method, ada-bpd or "
            'adf-spdc with adapt="sharp", or give mu'
        )
    state.memory["square"] = np.array([square])


class Estimate(NamedTuple):
    """What an adaptive method remembers, as an array in the memory (see `estimate`).

    Delta : the estimate. gap : at the start of the period, NaN before the first look. reference : of ``robust``.
    passed : steps (randomised: passes) of the period so far. periods : whole ones so far.
    tops, bottoms : sum t log(gap_0 / gap_t) and sum t^2 over the looks of the period.
    lowest : gap at the end of a period. stretch : factor that periods are made longer by, see `length`.
    """

    Delta: float
    gap: float
    reference: float
    passed: float
    periods: float
    tops: float
    bottoms: float
    lowest: float
    stretch: float


GAP, PASSED, STRETCH = (Estimate._fields.index(name) for name in ("gap", "passed", "stretch"))
GREW, LONGEST = 10.0, 64.0  # of the lowest gap: what makes periods twice as long (a heuristic), and how long at most


def first_estimate(problem: Problem) -> Array:
    """From above: from below, one that is too small cannot be told from a right one."""
    start = Estimate(problem.hidden_most, math.nan, math.nan, 0.0, 0.0, 0.0, 0.0, math.inf, 1.0)
    return np.array(start, dtype=np.float64)


def length(memory: Array, asked: int | None, usual: int, least: int = 1) -> int:
    """Steps (passes) of a period: as asked, or the usual number, stretched where the gap has grown, and `least`."""
    return asked if asked is not None else max(math.ceil(usual * float(memory[STRETCH])), least)


def settled(step: Step) -> int:
    """Steps after which a change of Delta has done no harm.

    It multiplies the potential of the proofs by up to sqrt 2, which falls as much in so many steps at the rate that is
    hoped for, 1 / (1 + 2h).
    """
    return math.ceil(math.log(2.0) / 2.0 / math.log1p(2.0 * step.h))


def gap_to_read(problem: Problem, x: Array, z: Array, y: Array, u: Array) -> float:
    """The gap that the rate is read from; made finite by a little strong convexity where lam has less."""
    return near_gap(problem, x, z, y, u, max(0.0, nearness(problem) - problem.lam))


def learn(problem: Problem, memory: Array, gap: float, period: int, rule: str, step: Step) -> None:
    """Note a gap; at the end of a period, judge Delta by the rate of the period (Section 3.1's regression).

    log rho = sum_t t log(gap_t / gap_0) / sum_t t^2 for each step (pass), of those looked at.
    """
    now = Estimate(*memory.tolist())
    if not (0.0 < gap < math.inf):  # nothing can be read from it
        memory[:] = now._replace(gap=math.nan, passed=0.0, tops=0.0, bottoms=0.0)
        return
    if math.isnan(now.gap):
        memory[:] = now._replace(gap=gap, passed=0.0, tops=0.0, bottoms=0.0)
        return
    fall = math.log(now.gap / gap)
    now = now._replace(tops=now.tops + now.passed * fall, bottoms=now.bottoms + now.passed**2)
    if now.passed < period:
        memory[:] = now
        return
    Delta, reference = now.Delta, now.reference
    lowest, stretch = min(now.lowest, gap), now.stretch
    if gap > GREW * now.lowest:
        lowest, stretch = gap, min(2.0 * stretch, LONGEST)
    if now.periods > 0.0:  # the first is a transient and judges nothing
        k = now.tops / now.bottoms * now.passed
        seen = Seen(k, int(now.passed), step.theta, step.h, k if math.isnan(reference) else reference)
        Delta, reference = judged(rule, seen, Delta, fall, FLOOR * problem.hidden_most, problem.hidden_most)
    memory[:] = Estimate(Delta, gap, reference, 0.0, now.periods + 1.0, 0.0, 0.0, lowest, stretch)
