"""From a problem to coefficients: the one way in which every estimator solves.

1. ``solver="auto"``, small problems: ``newton``, until the gap is at most tol, and on to rounding. What is random or
   unfinished is thereby out of the answer: weights and repeated rows, dense and sparse data give the same.
2. Others: the method asked for, or the choice of ``saddlery.solve``.
3. Not converged: one warning, the same for all.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from saddlery.algorithms import METHODS, Algorithm, missing
from saddlery.certificate import Certificate, certify
from saddlery.loop import solve
from saddlery.problem import Problem
from saddlery.result import History, Result, Row, Status

Array = NDArray[Any]

SMALL = 100_000  # stored entries up to which a problem is finished to rounding
PATIENCE, SLOWLY = 2, 15  # certificates without progress that end the way to rounding; where f is not smooth
ROUNDING = 1e-24  # of P(0): a gap that ends it too
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
    auto = isinstance(how.solver, str) and (how.solver == "auto" or how.solver in THEIRS)
    if auto and finishes(problem):
        return _small(problem, how, start)
    return _of(problem, _solve(problem, "auto" if auto else how.solver, how, start))


def _small(problem: Problem, how: How, start: Any) -> Reached:
    """Newton's method; where it does not get there soon, the choice of `solve`, and Newton's again from there."""
    trial = replace(how, max_iter=min(how.max_iter, TRIAL))
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
    return problem.coupling.rows.stored <= SMALL and not missing(METHODS["newton"], problem)


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


# ---- not converged -------------------------------------------------------------------------------------------------


def complain(name: str, runs: Sequence[tuple[Problem, Reached]], how: How) -> None:
    """One warning for all that did not converge: what was reached, what was asked, what it took, what to do."""
    worst = [(problem, run) for problem, run in runs if not run.converged]
    if not worst:
        return
    problem, run = max(worst, key=lambda pair: pair[1].certificate.relative_gap)
    of = f" ({len(worst)} of {len(runs)} problems; the worst)" if len(runs) > 1 else ""
    gap = run.certificate.relative_gap
    said = f"relative gap {gap:.1e}" if math.isfinite(gap) else f"{_local(run)}no bound of the gap is known"
    needed = epochs_to(run.history, gap, how.tol)
    ahead = f"about {needed:,} epochs in all at the rate seen" if needed is not None else "no rate can be read yet"
    warnings.warn(
        f"{name} did not converge{of}: {said}, asked tol={how.tol:g}, after {run.epochs} epochs and {run.seconds:.3g} "
        f"s of {run.method}; {ahead}. {advice(problem, run, how, needed)}",
        ConvergenceWarning,
        stacklevel=_outside(),
    )


def _outside() -> int:
    """How far up the caller is who is in neither package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("saddlery", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


def _local(run: Reached) -> str:
    return f"localised gap {run.certificate.local_gap:.1e}, " if math.isfinite(run.certificate.local_gap) else ""


def epochs_to(history: History, gap: float, tol: float) -> int | None:
    """Epochs that the whole run would take to tol, at the rate of the later half of its gaps; None if none is seen."""
    epoch, gaps = history["epoch"].astype(np.float64), np.minimum.accumulate(history["gap"])
    seen = np.isfinite(gaps) & (gaps > 0.0)
    epoch, gaps = epoch[seen], gaps[seen]
    if epoch.size < 2 or not 0.0 < tol < gap < math.inf:
        return None
    middle = int(np.searchsorted(epoch, (epoch[0] + epoch[-1]) / 2.0))
    middle = min(middle, epoch.size - 2)
    fallen, made = math.log(gaps[middle] / gaps[-1]), float(epoch[-1] - epoch[middle])
    return math.ceil(epoch[-1] + math.log(gap / tol) * made / fallen) if fallen > 1e-9 and made > 0.0 else None


def advice(problem: Problem, run: Reached, how: How, needed: int | None) -> str:
    """One concrete thing to do."""
    if run.status is Status.INTERRUPTED:
        return "It was interrupted: fit again with warm_start=True to go on."
    if run.certificate.kind == "localised":
        return "Nothing is penalised: a little penalty (a finite C, alpha above 0) makes a bound."
    if run.status is Status.STALLED:
        return f"Rounding does not allow more: set tol={_round(2.0 * run.certificate.relative_gap)}."
    ratio = _unequal(problem)
    if ratio > 1e3 and (needed is None or needed > 5 * run.epochs):
        return f"Columns differ in size by {ratio:.0e}: scale them, with StandardScaler or MaxAbsScaler."
    if run.status is Status.TIME and needed is not None and run.epochs:
        return f"Set max_time={_round(1.3 * needed * run.seconds / run.epochs)}."
    if run.status is Status.EPOCHS and needed is not None and needed <= 100 * max(how.max_iter, 1):
        return f"Set max_iter={math.ceil(1.3 * needed)}."
    if run.status is Status.EPOCHS and run.epochs < 50:
        return f"Set max_iter={max(10 * how.max_iter, 100)}."
    if run.status is Status.TIME:
        return f"Set max_time={_round(10.0 * max(run.seconds, 0.1))}."
    return f"A larger penalty is easier, and so is a larger tol, such as {_round(2.0 * run.certificate.relative_gap)}."


def _round(number: float) -> str:
    return f"{number:.1g}" if math.isfinite(number) else "1e-2"


def _unequal(problem: Problem) -> float:
    """The largest over the smallest root mean square of the columns that are not 0."""
    matrix = problem.coupling.rows.matrix()
    if not hasattr(matrix, "multiply"):
        squares = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
    else:
        squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).reshape(-1)
    squares = squares[squares > 0.0]
    return float(np.sqrt(squares.max() / squares.min())) if squares.size else 1.0
