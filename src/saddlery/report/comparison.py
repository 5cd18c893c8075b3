"""Which method solves this problem, how fast, and how surely? One problem, many solvers, one certificate.

    compare(problem) -> Comparison: for every solver its gaps against passes and against seconds

Nobody is believed: our methods and the solvers of other libraries are measured by one certificate. What is compiled on
first use is compiled before, by a run of one epoch that is not counted, and every run starts from a problem that
remembers nothing of the run before. Other libraries return no dual point; a rival's x is certified by the better of
two: that of its own gradients, and the best that any of our methods found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from saddlery.algorithms import Algorithm, able, method, missing
from saddlery.problem import Problem
from saddlery.report.bench import Bench
from saddlery.report.course import Course
from saddlery.report.facts import Facts
from saddlery.report.machine import Machine
from saddlery.report.rival_solvers import rivals as candidates

Say = Callable[[str], None]

USUAL = ("auto", "newton", "adasdca+", "sdca", "cd", "adaspdc-balanced", "ada-spdc:adapt=sharp", "spdc", "saga")


@dataclass(frozen=True)
class Comparison:
    """Solvers on one problem, the problem, and the machine.

    Attributes
    ----------
    title : what was solved. facts : the problem in numbers and in a formula.
    courses : ours and rivals, the fastest to tol first. lowest, highest : of objectives and of lower bounds found.
    tol, max_time, seed : what was asked. interrupted : was it cut short by Ctrl-C?
    """

    title: str
    facts: Facts
    courses: tuple[Course, ...]
    lowest: float
    highest: float
    tol: float
    max_time: float
    seed: int | None
    machine: Machine
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings; None for what is infinite or not known."""
        plain = asdict(self)
        plain["machine"] = self.machine._asdict()
        plain["facts"] = self.facts._asdict()
        return dict(finite(plain))


def finite(value: Any) -> Any:
    """The same with None in the place of numbers that JSON does not know."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def compare(
    problem: Problem,
    methods: Sequence[str | Algorithm] | str | None = None,
    *,
    rivals: bool = True,
    tol: float = 1e-6,
    max_time: float = 10.0,
    seed: int | None = 0,
    title: str = "",
    say: Say | None = None,
) -> Comparison:
    """Run methods, and installed rivals that can solve this very problem, and measure them all by one certificate.

    Parameters
    ----------
    problem : ERM or SeparableSaddle
    methods : sequence of names or method objects, "all" or None
        Names may carry parameters: ``"ada-spdc:adapt=sharp"``. None: a usual few of those that can solve the problem.
    rivals : bool
        Ask solvers of scikit-learn, and of skglm, celer and lightning where they are installed.
    tol : float
        Relative gap to reach.
    max_time : float
        Seconds for each solver. All fits of one rival, at growing numbers of iterations, take four times that at most.
    seed : int or None
        Of the methods' draws.
    title : str
        A name for the problem.
    say : callable, optional
        Called with the name of each solver as its turn comes.

    Returns
    -------
    Comparison
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be an ERM or a SeparableSaddle, found {type(problem).__name__}")
    if not (isinstance(max_time, (int, float)) and 0.0 < max_time < math.inf):
        raise ValueError(f"max_time must be seconds, above 0, found {max_time!r}")
    bench = Bench(problem, tol, max_time, seed, say or (lambda _: None))
    asked = chosen(problem, methods)
    others = candidates(problem) if rivals else []
    interrupted = False
    try:
        for name, algorithm in asked.items():
            bench.run(name, algorithm)
        for rival in others:
            bench.ask(rival)
    except KeyboardInterrupt:
        interrupted = True
    courses = sorted(bench.courses, key=_rank)
    libraries = sorted({rival.library for rival in others})
    return Comparison(
        title or repr(problem),
        Facts.of(problem),
        tuple(courses),
        bench.lowest,
        bench.highest,
        tol,
        max_time,
        seed,
        Machine.here().with_libraries(libraries),
        interrupted,
    )


def _rank(course: Course) -> tuple[float, float]:
    """Those that reached tol by their seconds, then the others by their gap."""
    to_tol = math.inf if course.seconds_to_tol is None else course.seconds_to_tol
    gap = course.certificate.relative_gap
    return to_tol, math.inf if math.isnan(gap) else gap


# ---- which methods


def chosen(problem: Problem, methods: Sequence[str | Algorithm] | str | None) -> dict[str, str | Algorithm]:
    """The methods by the names that the report calls them; an error, before any work, for one that cannot."""
    possible = able(problem)
    if methods is None or methods == "all":
        names = ["auto", *possible] if methods == "all" else [name for name in USUAL if _possible(name, possible)]
        return {name: parsed(name) for name in names}
    if isinstance(methods, str) or not list(methods):
        raise ValueError(f'methods must be a list of names or method objects, "all" or None, found {methods!r}')
    made: dict[str, str | Algorithm] = {}
    for each in methods:
        algorithm = parsed(each) if isinstance(each, str) else each
        lacking = [] if isinstance(algorithm, str) else missing(algorithm, problem)
        name = each if isinstance(each, str) else each.name
        if lacking:
            advice = f"methods that can: {', '.join(possible)}" if possible else "no method here can"
            raise ValueError(f"{name} cannot solve this problem: it needs {'; and '.join(lacking)}. {advice}")
        made[name if name not in made else f"{name}, {sum(n.startswith(name) for n in made) + 1}"] = algorithm
    return made


def _possible(name: str, possible: Sequence[str]) -> bool:
    return (name == "auto" and bool(possible)) or name.partition(":")[0] in possible


def parsed(name: str) -> str | Algorithm:
    """``"ada-spdc:adapt=sharp:kappa=0.5"`` as a method object; "auto" as it is."""
    if name == "auto":
        return name
    head, *pairs = name.split(":")
    parameters: dict[str, Any] = {}
    for pair in pairs:
        key, equals, said = pair.partition("=")
        if not equals:
            raise ValueError(f"{name!r}: parameters of a method are written {head}:name=value, found {pair!r}")
        parameters[key] = value(said)
    return method(head, **parameters)


def value(text: str) -> Any:
    """A number, True, False, None, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "False": False, "None": None}.get(text, text)
