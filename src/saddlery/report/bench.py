"""The measuring of solvers, one after the other, on one problem.

Each starts from the problem as if nobody had solved it before; compiled and imported is what it needs beforehand.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms import Algorithm, able, method
from saddlery.certificate import Certificate
from saddlery.loop import solve
from saddlery.problem import Problem
from saddlery.report.course import Course, Points, envelope
from saddlery.report.rivals import Answer, Rival, ask
from saddlery.result import Result, Status

Array = NDArray[Any]
Timed = TypeVar("Timed", Result, Answer)

LEAVES = ("adasdca+", "adaspdc-balanced", "adaspdc-sigma", "ada-spdc", "cd", "sdca", "newton")  # what auto may go to
FEW = 25  # certificates below which a run is made again with one after every epoch, for the curve against passes
GROWTH = 1.5  # of a rival's iterations, from fit to fit
SHORT, TIMES = 0.1, 3  # seconds below which a run is made so many times, of which the fastest counts
CANCELLED = 1e-12  # of the objective: what is left of a difference below it is rounding
PATIENCE = 4.0  # times max_time: what all fits of one rival together may take


def afresh(problem: Problem) -> Problem:
    """The same problem, that remembers nothing that a run made of it: norms, eigenvalues, columns."""
    made, coupling = copy.copy(problem), copy.copy(problem.coupling)
    for thing in (made, coupling):
        for kind in type(thing).__mro__:
            for name, value in vars(kind).items():
                if isinstance(value, cached_property):
                    thing.__dict__.pop(name, None)
    made.__dict__["coupling"] = coupling
    return made


@dataclass
class Bench:
    """Runs one solver after the other, and remembers the best dual point."""

    problem: Problem
    tol: float
    max_time: float
    seed: int | None
    say: Callable[[str], None]
    courses: list[Course] = field(default_factory=list)
    lowest: float = math.inf
    highest: float = -math.inf
    y: Array | None = None
    interrupted: bool = False  # Ctrl-C: a run of ours ends with what it has, and then the comparison does

    def run(self, name: str, algorithm: str | Algorithm) -> None:
        """One of ours."""
        self.say(name)
        self._warm(algorithm)
        result = self._fastest(lambda: self._solve(algorithm, every="auto", max_epochs=10**9))
        rows = len(result.history.rows)
        detailed = result
        if rows < FEW and result.epochs >= rows and not self.interrupted:
            detailed = self._solve(algorithm, every=1, max_epochs=result.epochs)
        self._note(result.certificate)
        if result.certificate.dual >= self.highest:
            self.y = result.y
        by_passes, by_seconds = self._curve(detailed, "passes"), self._curve(result, "seconds")
        to_tol = float(result.history["seconds"][-1])  # a run ends where it reaches tol
        self.courses.append(
            Course(
                name,
                False,
                result.status.ok,
                str(result.status),
                result.certificate,
                detailed.epochs,
                float(detailed.history["passes"][-1]),
                result.seconds,
                to_tol if result.status.ok else None,
                by_passes,
                by_seconds,
                tuple(note.removeprefix(f"{name}: ") for note in result.notes),
            )
        )
        if self.interrupted:
            raise KeyboardInterrupt

    def _warm(self, algorithm: str | Algorithm) -> None:
        """Compile what the run will use, and what it may go over to."""
        solve(afresh(self.problem), algorithm, max_epochs=1, seed=self.seed)
        possible = able(self.problem)
        if algorithm == "auto":
            names = [name for name in LEAVES if name in possible]
        else:
            fallback = getattr(algorithm, "fallback", None)
            names = [] if fallback is None else [name for name in LEAVES[1:3] if name in possible]
        for name in names:
            sharp = {"adapt": "sharp"} if name == "ada-spdc" else {}
            solve(afresh(self.problem), method(name, **sharp), max_epochs=1, seed=self.seed)

    def _fastest(self, run: Callable[[], Timed]) -> Timed:
        """Of a few runs, where one is so short that whatever else the machine does would tell."""
        made = run()
        if made.seconds < SHORT:
            for _ in range(TIMES - 1):
                again = run()
                made = again if again.seconds < made.seconds and not self.interrupted else made
        return made

    def _solve(self, algorithm: str | Algorithm, every: int | str, max_epochs: int) -> Result:
        result = solve(
            afresh(self.problem),
            algorithm,
            tol=self.tol,
            max_epochs=max_epochs,
            max_time=self.max_time,
            seed=self.seed,
            every=every,
        )
        self.interrupted = self.interrupted or result.status is Status.INTERRUPTED
        return result

    def _curve(self, result: Result, column: str) -> Points:
        """The best relative gap so far: of one certificate, or of the best x with the best y, as `solve` has it."""
        unit, history = self._unit(result.certificate), result.history
        gaps, lowest = np.fmin.accumulate(history["gap"]), np.fmin.accumulate(history["primal"])
        pairs = lowest - np.fmax.accumulate(history["dual"])
        exact = pairs > CANCELLED * np.abs(lowest)  # below, a difference says nothing
        gaps = np.fmin(gaps, np.where(exact, pairs, np.inf))
        if gaps.size:
            gaps[-1] = min(gaps[-1], result.certificate.gap)
        points = zip(history[column].tolist(), (gaps / unit).tolist(), strict=True)
        return tuple((place, gap) for place, gap in points if math.isfinite(gap))

    def _unit(self, certificate: Certificate) -> float:
        """What gaps are divided by."""
        size = max(abs(certificate.primal), abs(certificate.dual))
        return self.problem.scale or (size if 0.0 < size < math.inf else 1.0)

    def _note(self, certificate: Certificate) -> None:
        self.lowest = min(self.lowest, certificate.primal)
        self.highest = max(self.highest, certificate.dual)

    # ---- rivals

    def ask(self, rival: Rival) -> None:
        """A rival, at growing numbers of iterations, each fit from the start."""
        self.say(rival.name)
        try:
            self._grow(rival)
        except Exception as error:  # a rival's fault, of whatever kind, is no reason to lose all the others
            said = f"Failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            nothing = Certificate(math.nan, -math.inf, math.inf, math.inf, "none")
            self.courses.append(Course(rival.name, True, False, said, nothing, 0, math.nan, 0.0, None))

    def _grow(self, rival: Rival) -> None:
        ask(rival, self.problem, 1)  # imports, compilation
        budget, spent, status = 1, 0.0, ""
        best: Certificate | None = None
        by_iterations: list[tuple[float, float]] = []
        by_seconds: list[tuple[float, float]] = []
        while not status:
            answer = self._fastest(functools.partial(ask, rival, self.problem, budget))
            spent += answer.seconds
            made = self._certify(answer.x)
            best = made if best is None or made.better_than(best) else best
            if math.isfinite(best.relative_gap):
                by_seconds.append((answer.seconds, best.relative_gap))
                by_iterations.append((float(answer.iterations), best.relative_gap))
            status = self._ended(rival, best, answer.iterations, answer.seconds, spent, budget)
            left = self.max_time / max(answer.seconds, 1e-9)
            budget = max(budget + 1, int(budget * min(GROWTH, left)))
        assert best is not None
        reached = best.relative_gap <= self.tol
        passes = math.nan if rival.passes is None else answer.iterations * rival.passes
        work = () if rival.passes is None else tuple((k * rival.passes, gap) for k, gap in by_iterations)
        self.courses.append(
            Course(
                rival.name,
                True,
                reached,
                status,
                best,
                answer.iterations,
                passes,
                answer.seconds,
                answer.seconds if reached else None,
                work,
                envelope(by_seconds),
            )
        )

    def _certify(self, x: Array) -> Certificate:
        """With the dual point of its gradients, or the best that we have: what says more for it."""
        problem = self.problem
        made = problem.certificate(x, problem.gradients(problem.predictions(x)))
        if self.y is not None:
            other = problem.certificate(x, self.y)
            made = other if other.better_than(made) else made
        self._note(made)
        return made

    def _ended(
        self, rival: Rival, best: Certificate, iterations: int, seconds: float, spent: float, budget: int
    ) -> str:
        if best.relative_gap <= self.tol:
            return str(Status.CONVERGED)
        if rival.direct:
            return "Ended: a direct solver, which has no iterations to add."
        if iterations < budget:
            return "Ended by itself: more iterations change nothing."
        if seconds * 1.1 >= self.max_time or spent >= PATIENCE * self.max_time:
            return str(Status.TIME)
        return ""
