"""From a problem to coefficients: the one way in which every estimator solves.

1. ``solver="auto"``, small problems: ``newton``, until the gap is at most tol, and on to rounding. What is random or
   unfinished is thereby out of the answer: weights and repeated rows, dense and sparse data give the same. Larger ones
   with few columns: ``newton`` until the gap is at most tol.
2. Others: the method asked for, or the choice of ``saddlery.solve``.
3. Not converged: one warning, the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms import METHODS, Algorithm, missing
from saddlery.algorithms._auto import proved
from saddlery.algorithms._system import quadratic, size
from saddlery.certificate import Certificate, certify
from saddlery.loop import solve
from saddlery.problem import ERM, Problem
from saddlery.result import History, Result, Row, Status
from saddlery.terms import _verbs

Array = NDArray[Any]

SMALL = 100_000  # stored entries up to which a problem is finished to rounding
PATIENCE, SLOWLY = 3, 15  # certificates without progress that end the way to rounding; where f is not smooth
ROUNDING = 1e-24  # of P(0): a gap that ends it too
WARM: set[Any] = set()  # kinds of problems that this process has compiled
LARGEST = 30_000_000  # entries of dense data of which Newton's method may make copies
HEAVY = 1.0  # seconds, about, that a step of it may take where epochs are not foreseen
SHORT = 40  # epochs of its trial on data that are not small
TRIAL = 200  # epochs of Newton's method after which another is tried, should it not be there
FINISH = 200  # epochs of Newton's method at most, on the way from tol to rounding
WEAKEST = ("none", "localised", "ball", "strong", "exact")  # kinds of certificates, the weakest first
THEIRS = (  # what scikit-learn's estimators call their solvers: here, auto
    "lbfgs",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
    "svd",
    "cholesky",
    "lsqr",
    "sparse_cg",
)


@dataclass(frozen=True)
class How:
    """How to solve: what the parameters of an estimator say."""

    tol: float = 1e-6
    max_iter: int = 1000
    max_time: float | None = None
    solver: str | Algorithm = "auto"
    seed: int | None = 0
    progress: bool = False
    exactly: bool = False  # go on to rounding also from a start that meets tol, and take the last iterate
    finish: bool = True  # go on to rounding at all
    callback: Callable[[Row], Any] | None = None

    @property
    def auto(self) -> bool:
        """Is the method to be chosen here?"""
        return isinstance(self.solver, str) and self.solver in ("auto", *THEIRS)

    def less(self, epochs: int, seconds: float) -> How:
        """What is left of the budgets."""
        left = None if self.max_time is None else max(self.max_time - seconds, 0.0)
        return replace(self, max_iter=max(self.max_iter - epochs, 0), max_time=left)

    def share(self, parts: int) -> How:
        """One of equal shares of the time."""
        return self if self.max_time is None else replace(self, max_time=self.max_time / parts)


@dataclass
class Reached:
    """x and y, how far they are from the best, and what it took."""

    x: Array
    y: Array
    certificate: Certificate
    status: Status
    epochs: int
    seconds: float
    history: History
    method: str
    notes: list[str] = field(default_factory=list)
    scale: float = math.nan

    @property
    def converged(self) -> bool:
        """Is the gap at most what was asked for?"""
        return self.status.ok


def reach(problem: Problem, how: How, start: Any = None) -> Reached:
    """Solve one problem."""
    auto = how.auto
    if how.max_time is not None and how.max_iter > 0:
        warm_up(problem, how)
    if auto and finishes(problem):
        return _small(problem, how, start)
    if auto and few_columns(problem, how.tol):
        return _small(problem, replace(how, finish=False), start, SHORT)
    return _of(problem, _solve(problem, "auto" if auto else how.solver, how, start))


def warm_up(problem: Problem, how: How) -> None:
    """Compile, or load, what a run of this kind calls, so that the time that is given is not spent on it."""
    kind = (type(problem.f), type(problem.g), type(problem.coupling.rows.view), str(how.solver), problem.intercept)
    if kind in WARM or problem.q > 50:
        return
    WARM.add(kind)
    _, places = np.unique(problem.b, return_index=True)
    some = np.sort(places[: max(8, problem.q)])  # a row of every class
    rows = problem.coupling.rows.matrix()[some]
    little = ERM(rows, problem.b[some], problem.f, problem.g, intercept=problem.intercept)
    for method in ("newton", "auto") if how.auto else (how.solver,):
        if not (method == "newton" and missing(METHODS["newton"], little)):
            solve(little, method, tol=0.0, max_epochs=2)


def few_columns(problem: Problem, tol: float) -> bool:
    """Are Newton's steps, which grow with the square of the columns, cheaper than the epochs that are proved to do?

    A heuristic, by times measured on nine sets of real data. Where columns can be 0 (l1, box) epochs are many, and
    nothing is proved of how many: then always, if a step is not much work.
    """
    if missing(METHODS["newton"], problem) or problem.gamma == 0.0:
        return False
    n, stored, step = problem.n, problem.coupling.rows.stored, step_seconds(problem)
    if stored > n * problem.d / problem.q / 2 and stored > LARGEST:
        return False
    if problem.lam == 0.0 or not _verbs.affine(problem.g):
        return step <= HEAVY
    steps = 2 if quadratic(problem) else 8
    q = problem.q
    epoch = 6e-9 * stored * q + (3e-8 if q == 1 else 3e-7 * q) * n
    return steps * step < proved(problem) * math.log(1.0 / max(tol, 1e-15)) * epoch


def step_seconds(problem: Problem) -> float:
    """What a step of Newton's method takes, about."""
    n, k, q, stored = problem.n, size(problem), problem.q, problem.coupling.rows.stored
    dense = stored > n * problem.d / q / 2
    product = n * float(k) * k * 2e-10 if dense else stored * (stored / n) * q * q * 3e-9
    return product + k**3 * 1e-10 + n * q * 1e-7 + 2e-5 * q * q + 5e-4


def _small(problem: Problem, how: How, start: Any, first: int = TRIAL) -> Reached:
    """Newton's method; where it does not get there soon, the choice of `solve`, and Newton's again from there."""
    trial = replace(how, max_iter=min(how.max_iter, first))
    reached = _newton(problem, trial, start)
    for again in (False, True):
        left = how.less(reached.epochs, reached.seconds)
        spent = left.max_iter == 0 or left.max_time == 0.0
        if reached.converged or spent or reached.status in (Status.INTERRUPTED, Status.CALLBACK, Status.TIME):
            break
        here = reached.x, reached.y
        last = _newton(problem, left, here) if again else _of(problem, _solve(problem, "auto", left, here))
        reached = _joined(reached, last)
    if reached.converged and reached.method != "newton" and how.finish:
        left = replace(how.less(0, reached.seconds), exactly=True)
        last = _newton(problem, left, (reached.x, reached.y))
        reached = _joined(reached, last) if last.converged else reached
    return reached


def finishes(problem: Problem) -> bool:
    """Is the problem small enough to be finished by Newton's method?"""
    stored = problem.coupling.rows.stored
    return stored <= SMALL and not missing(METHODS["newton"], problem) and step_seconds(problem) <= HEAVY


def _newton(problem: Problem, how: How, start: Any) -> Reached:
    """To tol, and, unless it was met at once, to rounding."""
    first = _solve(problem, "newton", how, start, every=1)
    reached = _of(problem, first)
    if not (first.status.ok and how.finish) or (first.epochs == 0 and not how.exactly):
        return reached
    left = replace(how.less(0, first.seconds), max_iter=FINISH, tol=0.0)
    patience = PATIENCE if problem.gamma > 0.0 else SLOWLY
    left = replace(left, callback=Enough(how.callback, patience, ROUNDING * (problem.scale or 0.0)))
    result = _solve(problem, "newton", left, first, every=1)
    last, stopped = _of(problem, result), result.status
    joined = _joined(reached, last)
    if how.exactly:  # gaps at rounding say less of where y is than that the last step was one of Newton's
        certificate, x, y = certify(problem, result.state.x, result.state.y)
        joined = replace(joined, x=x, y=y, certificate=certificate)
    joined.status = Status.CONVERGED if stopped is not Status.INTERRUPTED else stopped
    return joined


class Enough:
    """A callback that ends a run whose gap has stopped to fall: `patience` certificates that did not halve it.

    Or once it is at most `enough`: since the distance of x goes with the root of the gap, x is then right to rounding.
    """

    def __init__(self, callback: Callable[[Row], Any] | None, patience: int, enough: float) -> None:
        self.callback, self.patience, self.enough = callback, patience, enough
        self.least, self.idle = math.inf, 0

    def __call__(self, row: Row) -> bool:
        again = row["epoch"] == 0.0  # where the run to tol has ended: heard already
        asked = self.callback is not None and not again and bool(self.callback(row))
        self.idle = 0 if row["gap"] < 0.5 * self.least else self.idle + 1
        self.least = min(self.least, row["gap"])
        return asked or self.idle >= self.patience or self.least <= self.enough


def _solve(problem: Problem, method: str | Algorithm, how: How, start: Any = None, every: int | str = "auto") -> Result:
    return solve(
        problem,
        method,
        tol=how.tol,
        max_epochs=how.max_iter,
        max_time=how.max_time,
        seed=how.seed,
        start=start,
        every=every,
        callback=how.callback,
        progress=how.progress,
    )


def _of(problem: Problem, result: Result) -> Reached:
    return Reached(
        result.x,
        result.y,
        result.certificate,
        result.status,
        result.epochs,
        result.seconds,
        result.history,
        result.method,
        list(result.notes),
        problem.scale or math.nan,
    )


def _joined(first: Reached, last: Reached) -> Reached:
    """The second run after the first, as one."""
    ends = first.history.rows[-1]
    later = [
        (row[0] + ends[0], row[1] + ends[1], row[2] + ends[2], row[3] + first.seconds, *row[4:])
        for row in last.history.rows[last.history.rows[0][0] == 0 :]
    ]
    best = last if not first.certificate.better_than(last.certificate) else first
    return replace(
        last,
        x=best.x,
        y=best.y,
        certificate=best.certificate,
        epochs=first.epochs + last.epochs,
        seconds=first.seconds + last.seconds,
        history=History([*first.history.rows, *later]),
        notes=[*first.notes, *last.notes],
    )


def certified(problem: Problem, x: Array, y: Array | None) -> Certificate:
    """The certificate of x, by its own dual point, and by y, where there is one, if that is better."""
    found = [certify(problem, x, problem.gradients(problem.predictions(x))).certificate]
    if y is not None:
        found.append(certify(problem, x, y).certificate)
    best = found[0]
    for each in found[1:]:
        best = each if each.better_than(best) else best
    return best


def together(certificates: Sequence[Certificate], scales: Sequence[float]) -> Certificate:
    """That of several problems that have nothing in common but their data: the sums, the weakest kind."""
    if len(certificates) == 1:
        return certificates[0]
    primal = sum(each.primal for each in certificates)
    gap = sum(each.gap for each in certificates)
    scale = sum(
        size if math.isfinite(size) else max(abs(each.primal), abs(each.dual))
        for each, size in zip(certificates, scales, strict=True)
    )
    kind = min((each.kind for each in certificates), key=WEAKEST.index)
    local = sum(each.figure for each in certificates) if kind == "localised" else math.nan
    relative = gap / scale if gap > 0.0 and math.isfinite(gap) else gap
    return Certificate(primal, primal - gap, gap, relative, kind, local)
