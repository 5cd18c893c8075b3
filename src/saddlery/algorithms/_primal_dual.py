"""The family of methods that make a dual step on rows drawn at random and a primal step after it.

A member says which rows are drawn and which steps are made (`plan`); everything else is here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import RESYNC, Need, State, bias_column, rows_of, scale_of
from saddlery.data.rows import Dense
from saddlery.kernels.rows import Affine, Alone, Awake, Data, Stamped, sweep, wake_all
from saddlery.problem import Problem
from saddlery.sampling import Replay, Sampler
from saddlery.steps import Scale, Steps
from saddlery.terms import _verbs

Array = NDArray[Any]
Memory = dict[str, Array]

WAKING = 60
STRETCH = 1 << 16  # draws for which steps are laid out at a time, so that memory stays small
HORIZON = 300.0  # -log Z that one stretch of steps may reach,
FADED = 1e-100  # from a Z that is not below this: e^-300 1e-100 is still a normal number


class Plan(NamedTuple):
    """A rule that turns rows drawn into steps, and the sampler that draws them among the live rows."""

    rule: Any
    sampler: Sampler


@dataclass(frozen=True)
class PrimalDual:
    """Parameters of every member.

    Parameters
    ----------
    batch_size : int
        Rows in a step (m). 1 is best in passes; more is worth it only where steps are made in parallel.
    sampler : Sampler, optional
        Replaces the method's own draws. Weights and steps stay the method's.
    """

    batch_size: int = 1
    sampler: Any = None
    needs: ClassVar[tuple[Need, ...]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            raise ValueError(f"batch_size must be a whole number, 1 or more, found {self.batch_size!r}")

    @property
    def replay(self) -> Replay | None:
        """The draws to be played, if any."""
        return self.sampler if isinstance(self.sampler, Replay) else None

    def plan(self, problem: Problem, scale: Scale, memory: Memory) -> Plan:
        """The member's rule and sampler, made once a run."""
        raise TypeError(f"{type(self).__name__} does not say which rows it draws and which steps it makes")

    def blocks(self, problem: Problem, state: State) -> Any:
        """The blocks whose dual step is made."""
        return problem.coupling.blocks

    def after(self, problem: Problem, state: State) -> None:
        """What a member does after an epoch: adapt, for one."""

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x and y."""
        flat, x0 = problem.unpack(x)
        dual, d, q, s = problem.flat(y), problem.d, problem.q, bias_column(problem)
        # four numbers for each coordinate, beside each other where rows are sparse: see kernels/rows.py
        memory = {"sleep": np.zeros((4, d)) if dense_steps(problem) else np.zeros((d, 4))}
        S, affine = _fields(problem, memory), _verbs.affine(problem.g)
        S[0], S[1] = flat, problem.coupling.force(dual)
        S[2] = 0.0 if affine and not dense_steps(problem) else flat
        memory["clock"] = np.array([1.0, 0.0, 1.0, 0.0, 0.0]) if affine else np.zeros(5)
        memory["bias"] = np.zeros((6, q))
        memory["bias"][0], memory["bias"][5] = x0, s
        memory["bias"][3] = s * dual.reshape(-1, q).sum(axis=0) / problem.n
        return State(np.array(x, dtype=np.float64), dual.reshape(problem.y_shape), memory)

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """About n row draws: n / m steps, or all the steps of a replay."""
        if "plan" not in state.scratch:
            state.scratch["plan"] = self.plan(problem, scale_of(problem), state.memory)
        plan = state.scratch["plan"]
        if isinstance(plan.sampler, Replay):
            draws = plan.sampler.table(problem.n)
            if draws.shape[1] > self.batch_size:
                rows = "one row" if self.batch_size == 1 else f"{self.batch_size} rows"
                raise ValueError(
                    f"Replay holds a batch of {draws.shape[1]} rows, but {type(self).name} takes {rows} a step "  # type: ignore[attr-defined]
                    f"(batch_size={self.batch_size})"
                )
        else:
            count = max(1, round(problem.drawn / self.batch_size))
            draws = rows_of(problem, plan.sampler.draw(rng, problem.drawn, count, self.batch_size))
        for first in range(0, draws.shape[0], STRETCH):
            self.run(problem, state, plan.rule(draws[first : first + STRETCH]))
        if problem.intercept:
            recentre(problem, state)
        state.epoch += 1
        state.passes += float((draws >= 0).sum()) / problem.drawn
        if state.epoch % RESYNC == 0:
            self.resync(problem, state)
        self.after(problem, state)
        return state

    def resync(self, problem: Problem, state: State) -> None:
        """Make r = A'y / n anew."""
        memory, y = state.memory, state.y.reshape(-1)
        if _verbs.affine(problem.g) and not dense_steps(problem):
            rebase(_fields(problem, memory), memory["clock"])
        _fields(problem, memory)[1] = problem.coupling.force(y)
        memory["bias"][3] = memory["bias"][5] * y.reshape(-1, problem.q).sum(axis=0) / problem.n

    def run(self, problem: Problem, state: State, steps: Steps) -> None:
        """Make the steps."""
        memory, coupling, y = state.memory, problem.coupling, state.y.reshape(-1)
        data = Data(coupling.lines, self.blocks(problem, state), problem.f, problem.b, problem.c)
        S, clock, bias = _fields(problem, memory), memory["clock"], memory["bias"]
        work = np.empty((3, steps.draws.shape[1] * coupling.widest))
        if dense_steps(problem):
            alone = steps.draws.shape[1] == 1 and isinstance(coupling.lines, Dense) and coupling.widest == 1
            clock[3] = 0.0  # no product with xbar is made yet
            x, r, bar, extra = S
            sweep(data, (Alone if alone else Awake)(x, r, bar, extra, problem.g), y, steps, clock, bias, work)
            return
        for part in stretches(steps):
            if _verbs.affine(problem.g):
                if clock[0] < FADED:
                    rebase(S, clock)
                sweep(data, Affine(S), y, part, clock, bias, work)
            else:
                stamped = Stamped(S, problem.g, part.tau, *_verbs.prefixes(problem.lam, part.tau))
                sweep(data, stamped, y, part, clock, bias, work)
                wake_all(stamped, part.tau.size)
                clock[4] = 0.0

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """The last x and y."""
        S, clock, bias = _fields(problem, state.memory), state.memory["clock"], state.memory["bias"]
        asleep = _verbs.affine(problem.g) and not dense_steps(problem)
        x = clock[0] * S[0] - clock[1] * S[1] if asleep else S[0]
        state.x = problem.pack(x, bias[5] * bias[1] + bias[0])
        return state.x, state.y

    def force(self, problem: Problem, state: State) -> Array:
        """r = A'y / n."""
        return np.array(_fields(problem, state.memory)[1])

    def extrapolated(self, problem: Problem, state: State) -> Array:
        """xbar, at which the next dual step looks."""
        S, clock, bias = _fields(problem, state.memory), state.memory["clock"], state.memory["bias"]
        if dense_steps(problem):
            bar = S[2]
        elif _verbs.affine(problem.g):
            bar = clock[2] * S[0] + clock[3] * S[1] + np.where(S[3] == clock[4], S[2], 0.0)
        else:
            bar = S[0] + clock[0] * (S[0] - S[2])
        return problem.pack(bar, bias[5] * bias[2] + bias[0])


def stretches(steps: Any) -> Iterator[Any]:
    """The steps in parts short enough that Z = prod rho does not underflow: one part, almost always."""
    decay = -np.log(steps.rho).cumsum()
    if decay[-1] <= HORIZON:
        yield steps
        return
    first = 0
    while first < decay.size:
        last = max(first + 1, int(np.searchsorted(decay, (decay[first - 1] if first else 0.0) + HORIZON)))
        yield type(steps)(*(array[first:last] for array in steps))
        first = last


def rebase(S: Array, clock: Array) -> None:
    """Start again from Z = 1, U = 0 with the same x and xbar."""
    x = clock[0] * S[0] - clock[1] * S[1]
    bar = clock[2] * S[0] + clock[3] * S[1] + np.where(S[3] == clock[4], S[2], 0.0)
    S[0], S[2], S[3] = x, bar - x, clock[4]
    clock[:4] = 1.0, 0.0, 1.0, 0.0


def recentre(problem: Problem, state: State) -> None:
    """Let the offset of the intercept follow it: k <- s x + k, x <- 0; see `bias_column`."""
    bias = state.memory["bias"]
    if np.isfinite(bias).all():
        bias[0] += bias[5] * bias[1]
        bias[2] -= bias[1]
        bias[1] = 0.0


def dense_steps(problem: Problem) -> bool:
    """Does every coordinate take part in every step?

    Where rows are dense; and where the prox is not linear and rows are not very sparse, because to wake a coordinate
    costs as much as to move `WAKING` of them (measured).
    """
    rows, linear = problem.coupling.rows, _verbs.affine(problem.g)
    if isinstance(problem.coupling.lines, Dense):
        return True
    return not linear and problem.coupling.d * problem.coupling.rows.shape[0] <= WAKING * rows.stored * problem.q


def _fields(problem: Problem, memory: Memory) -> Array:
    """The four numbers of every coordinate, as the rows of an array."""
    return memory["sleep"] if dense_steps(problem) else memory["sleep"].T
