"""What an algorithm is: a frozen record of parameters, what it needs, and one epoch. No loop, no tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from saddlery.data.placed import Placed
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.steps import Scale
from saddlery.terms import _verbs
from saddlery.terms._sums import Single

Array = NDArray[Any]


@dataclass
class State:
    """All that a method remembers: hand it back and it goes on as if it had never stopped.

    Attributes
    ----------
    x, y : the last iterate, in a user's shape (brought up to date by ``Algorithm.iterate``).
    memory : the method's own arrays, by name.
    epoch, passes : epochs made, and passes over the data that they cost.
    random : state of the generator of random numbers.
    method : name of the method that this is the state of.
    notes : what the method wants to say to the user.
    problem : the problem that this is the state of, where it is known.
    scratch : what can be made again from the problem and the parameters (step rules, tables); not part of the state.
    """

    x: Array
    y: Array
    memory: dict[str, Array]
    epoch: int = 0
    passes: float = 0.0
    random: dict[str, Any] = field(default_factory=dict)
    method: str = ""
    notes: list[str] = field(default_factory=list)
    problem: Any = field(default=None, repr=False)
    scratch: dict[str, Any] = field(default_factory=dict, repr=False)

    def copy(self) -> State:
        """The state, sharing nothing that changes."""
        memory = {name: array.copy() for name, array in self.memory.items()}
        random, notes = dict(self.random), list(self.notes)
        return replace(self, x=self.x.copy(), y=self.y.copy(), memory=memory, random=random, notes=notes, scratch={})


@dataclass(frozen=True)
class Need:
    """A condition on a problem, its name, and the sentence that says what is missing."""

    name: str
    holds: Callable[[Problem], bool]
    missing: Callable[[Problem], str]


def _unsaid(f: Any) -> str:
    known = type(f).__module__.startswith("saddlery.") or hasattr(f, "smoothness")
    return "" if known else " (does it lack a method smoothness?)"


SMOOTH = Need(
    "gamma > 0",
    lambda p: p.gamma > 0.0,
    lambda p: f"a smooth loss (gamma > 0), but {type(p.f).__name__} has gamma = 0{_unsaid(p.f)}",
)
STRONG = Need(
    "lam > 0",
    lambda p: p.lam > 0.0,
    lambda p: f"a strongly convex penalty (lam > 0), but {type(p.g).__name__} has lam = 0",
)
SEPARABLE = Need(
    "separable penalty",
    lambda p: _verbs.separable(p.g),
    lambda p: f"a penalty that is a sum over coordinates, but {type(p.g).__name__} is not",
)
SCALAR = Need(
    "one prediction a row",
    lambda p: isinstance(p.coupling.blocks, Single),
    lambda p: "one prediction for each row, but this problem has blocks",
)
DUAL = Need(
    "prox_conj",
    lambda p: hasattr(p.f, "prox_conj") or hasattr(p.f, "prox_conj_block"),
    lambda p: f"a loss with prox_conj(self, y0, z, sigma, b), but {type(p.f).__name__} has none",
)
LINEAR = Need(
    "penalty L2",
    lambda p: _verbs.affine(p.g),
    lambda p: f"the penalty L2, whose prox is linear, but found {type(p.g).__name__}",
)
CURVED = Need(
    "lam > 0 or delta > 0",
    lambda p: p.lam > 0.0 or _verbs.modulus(p.f) > 0.0,
    lambda p: (
        f"some strong convexity to be told of, but {type(p.g).__name__} has lam = 0 and {type(p.f).__name__} is not "
        "strongly convex"
    ),
)
HERE = Need(
    "rows here",
    lambda p: not isinstance(p.coupling.rows.view, Placed),
    lambda p: "rows that NumPy or SciPy hold, but X is an array of another library",
)
CERTIFIED = Need(
    "a known bound",
    lambda p: p.lam > 0.0 or _has_bound(p),
    lambda p: (
        f"an answer that can be certified, but for {type(p.g).__name__} with {type(p.f).__name__} no bound is known"
    ),
)


FIGURE = Need(
    "a known bound, or no penalty",
    lambda p: p.lam > 0.0 or _has_bound(p) or (_verbs.separable(p.g) and _verbs.reach(p.g) == (0.0, 0.0)),
    CERTIFIED.missing,
)


def _has_bound(p: Problem) -> bool:
    if not _verbs.separable(p.g):
        return True
    low, high = _verbs.reach(p.g)
    if low == high == 0.0:
        return p.curvature > 0.0
    return isinstance(p.coupling.blocks, Single) or (low < 0.0 < high)  # of a half line only scalar losses are repaired


class Algorithm(Protocol):
    """A frozen record of parameters with these names."""

    name: ClassVar[str]
    paper: ClassVar[str]
    proved: ClassVar[str]
    cost: ClassVar[str]

    @property
    def needs(self) -> tuple[Need, ...]: ...

    @property
    def replay(self) -> Replay | None: ...

    def init(self, problem: Problem, x: Array, y: Array) -> State: ...

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State: ...

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]: ...


def missing(algorithm: Algorithm | type[Algorithm], problem: Problem) -> list[str]:
    """What the algorithm (a class: with its default parameters) needs and the problem lacks."""
    algorithm = algorithm() if isinstance(algorithm, type) else algorithm
    return [need.missing(problem) for need in algorithm.needs if not need.holds(problem)]


def positive(name: str, number: Any, most: float = np.finfo(np.float64).max) -> None:
    """A parameter that must be a finite number above 0, and no larger than `most`."""
    if isinstance(number, bool) or not (isinstance(number, (int, float, np.number)) and 0.0 < number <= most):
        limit = f", {most:g} at most" if most < 1e300 else ""
        raise ValueError(f"{name} must be a finite number above 0{limit}, found {number!r}")


RESYNC = 50  # epochs after which sums that are updated step by step are made anew, so that rounding cannot build up


def bias_column(problem: Problem) -> float:
    """The entry s of the column that stands for an intercept; 0 where there is none.

    Every method treats an unpenalised intercept in one way, an outer proximal term: x0 = s x' + k, where x' carries the
    penalty lam/2 x'^2 and the offset k follows x0 (`k <- x0, x' <- 0` after an epoch), so that at the end nothing is
    penalised. s is the root mean square of the row norms: a column like the others. A heuristic; the certificate is
    that of the original problem.
    """
    if not problem.intercept:
        return 0.0
    mean = float((problem.squares @ np.ones(problem.n)) / problem.n)
    return float(np.sqrt(mean)) if mean > 0.0 else 1.0


def scale_of(problem: Problem) -> Scale:
    """The numbers that steps depend on, over the live rows."""
    share = problem.drawn / problem.n
    squares = (problem.squares + problem.c * bias_column(problem) ** 2) * share
    return Scale(problem.drawn, problem.lam, problem.gamma, np.sqrt(squares), share)


def rows_of(problem: Problem, drawn: Array) -> Array:
    """Row numbers, from numbers among the live rows (and -1)."""
    return drawn if isinstance(problem.live, slice) else np.where(drawn >= 0, problem.live[drawn], -1)
