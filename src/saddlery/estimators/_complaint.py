"""Not converged: one warning, the same for every estimator and every method.

What was reached, what was asked, what it took, how much it would take at the rate seen, and one thing to do.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from saddlery.estimators._reach import How, Reached
from saddlery.problem import Problem
from saddlery.result import History, Status


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
        return f"Set max_time={_seconds(1.3 * needed * run.seconds / run.epochs)}."
    if run.status is Status.EPOCHS and needed is not None and needed <= 100 * max(how.max_iter, 1):
        return f"Set max_iter={math.ceil(1.3 * needed)}."
    if run.status is Status.EPOCHS and run.epochs < 50:
        return f"Set max_iter={max(10 * how.max_iter, 100)}."
    if run.status is Status.TIME:
        return f"Set max_time={_seconds(10.0 * max(run.seconds, 0.1))}."
    return f"A larger penalty is easier, and so is a larger tol, such as {_round(2.0 * run.certificate.relative_gap)}."


def within(package: str) -> bool:
    """Does a caller belong to the package?"""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__", "").startswith(package):
            return True
    return False


def _seconds(number: float) -> str:
    return f"{number:.2g}" if number < 10.0 else f"{math.ceil(number)}"


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
