"""The family of methods that make a dual step on rows drawn at random and a primal step after it.

A member says which rows are drawn and which steps are made (`plan`); everything else is here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import RESYNC, Need, State, bias_column, live, scale_of
from saddlery.data.rows import Dense
from saddlery.kernels.rows import Affine, Bias, Data, Stamped, affine_point, sweep, wake_all
from saddlery.problem import Problem
from saddlery.sampling import Replay, Sampler
from saddlery.steps import Scale, Steps
from saddlery.terms import _verbs

Array = NDArray[Any]
Memory = dict[str, Array]

HORIZON = 400.0  # -log Z that one stretch of time stamps may reach: e^-400 is still a normal number


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
        if self.batch_size != int(self.batch_size) or self.batch_size < 1:
            raise ValueError(f"batch_size must be a whole number, 1 or more, found {self.batch_size!r}")

    @property
    def replay(self) -> Replay | None:
        """The draws to be played, if any."""
        return self.sampler if isinstance(self.sampler, Replay) else None

    def plan(self, problem: Problem, scale: Scale, rows: Array, memory: Memory) -> Plan:
        """The member's rule and sampler, made once a run. `rows`: those of positive weight."""
        raise TypeError(f"{type(self).__name__} does not say which rows it draws and which steps it makes")

    def loss(self, problem: Problem) -> Any:
        """The loss whose dual step is made."""
        return problem.f

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x and y."""
        flat, x0 = problem.unpack(x)
        dual, d, q = problem.flat(y), problem.d, problem.q
        u = problem.coupling.force(dual)
        # one record (p, r, q, stamp) for each coordinate, or, where rows are dense, four vectors
        sleep = np.zeros((4, d) if _side_by_side(problem) else (d, 4))
        p, r, last, _ = sleep if _side_by_side(problem) else sleep.T
        p[:], r[:] = flat, u
        affine = _verbs.affine(problem.g)
        last[:] = 0.0 if affine else flat
        s = bias_column(problem)
        memory = {
            "sleep": sleep,
            "clock": np.array([1.0, 0.0, 1.0, 0.0, 0.0] if affine else [0.0, 0.0, 0.0, 0.0, 0.0]),
            "k": x0.copy(),
            "bias": np.zeros((4, q)),
        }
        memory["bias"][2] = s * dual.reshape(-1, q).sum(axis=0) / problem.n
        return State(np.array(x, dtype=np.float64), dual.reshape(problem.y_shape), memory)

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """About n row draws: n / m steps, or all the steps of a replay."""
        rows = live(problem)
        if "plan" not in state.scratch:
            state.scratch["plan"] = self.plan(problem, scale_of(problem, rows), rows, state.memory)
        plan = state.scratch["plan"]
        if isinstance(plan.sampler, Replay):
            draws = plan.sampler.table(problem.n)
        else:
            count = max(1, round(rows.size / self.batch_size))
            draws = plan.sampler.draw(rng, rows.size, count, self.batch_size)
            draws = draws if rows.size == problem.n else np.where(draws >= 0, rows[draws], -1)
        self.run(problem, state, plan.rule(draws))
        if problem.intercept:
            recentre(problem, state)
        state.epoch += 1
        state.passes += float((draws >= 0).sum()) / rows.size
        if state.epoch % RESYNC == 0:
            self.resync(problem, state)
        return state

    def resync(self, problem: Problem, state: State) -> None:
        """Make r = A'y / n anew."""
        memory, y = state.memory, state.y.reshape(-1)
        p, r, q, stamp = _fields(problem, memory)
        clock = memory["clock"]
        if _verbs.affine(problem.g):
            x = clock[0] * p - clock[1] * r
            q[:] = clock[2] * p + clock[3] * r + np.where(stamp == clock[4], q, 0.0) - x
            p[:], stamp[:] = x, clock[4]
            clock[:4] = 1.0, 0.0, 1.0, 0.0
        r[:] = problem.coupling.force(y)
        memory["bias"][2] = bias_column(problem) * y.reshape(-1, problem.q).sum(axis=0) / problem.n

    def run(self, problem: Problem, state: State, steps: Steps) -> None:
        """Make the steps, in stretches short enough for time stamps that underflow does not reach."""
        memory = state.memory
        coupling, y = problem.coupling, state.y.reshape(-1)
        data = Data(coupling.lines, coupling.blocks, self.loss(problem), problem.b, problem.c)
        bias = Bias(bias_column(problem), memory["k"], *memory["bias"])
        sleep = _fields(problem, memory)
        if _verbs.affine(problem.g):
            sweep(data, Affine(*sleep), y, steps, memory["clock"], bias)
            return
        decay = np.cumsum(np.log1p(problem.lam * steps.tau))
        first = 0
        while first < steps.tau.size:
            base = decay[first - 1] if first else 0.0
            last = max(first + 1, int(np.searchsorted(decay, base + HORIZON)))
            part = Steps(*(array[first:last] for array in steps))
            Z, U = _verbs.prefixes(problem.lam, part.tau)
            stamped = Stamped(*sleep, problem.g, part.tau, Z, U)
            sweep(data, stamped, y, part, memory["clock"], bias)
            wake_all(stamped, part.tau.size)
            memory["clock"][4] = 0.0
            first = last

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """The last x and y."""
        memory = state.memory
        sleep = _fields(problem, memory)
        x = np.empty(problem.d)
        if _verbs.affine(problem.g):
            affine_point(Affine(*sleep), memory["clock"], x)
        else:
            x[:] = sleep[0]
        state.x = problem.pack(x, bias_column(problem) * memory["bias"][0] + memory["k"])
        return state.x, state.y

    def extrapolated(self, problem: Problem, state: State) -> Array:
        """xbar, at which the next dual step looks."""
        memory = state.memory
        sleep = _fields(problem, memory)
        p, r, q, stamp = sleep
        clock = memory["clock"]
        if _verbs.affine(problem.g):
            bar = clock[2] * p + clock[3] * r + np.where(stamp == clock[4], q, 0.0)
        else:
            bar = p + clock[0] * (p - q)
        return problem.pack(np.asarray(bar), bias_column(problem) * memory["bias"][1] + memory["k"])


def _side_by_side(problem: Problem) -> bool:
    return isinstance(problem.coupling.lines, Dense)


def _fields(problem: Problem, memory: Memory) -> Array:
    """p, r, q and stamp of every coordinate, as the rows of an array."""
    return memory["sleep"] if _side_by_side(problem) else memory["sleep"].T


def recentre(problem: Problem, state: State) -> None:
    """Let the offset of the intercept follow it: k <- s x' + k, x' <- 0; see `bias_column`."""
    bias, k = state.memory["bias"], state.memory["k"]
    moved = bias_column(problem) * bias[0]
    if np.isfinite(moved).all() and math.isfinite(float(np.abs(k).max())):
        k += moved
        bias[1] -= bias[0]
        bias[0] = 0.0
