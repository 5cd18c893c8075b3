"""The family of methods that take the noise of one row's gradient away by a table of the others' gradients.

    x+ = prox_g(x - tau (r + w (c_i f'(<a_i, x>) - y_i) a_i), tau),  r = A'y / n

A member says which steps it makes, and whether its table learns at every step (SAG, SAGA) or is a snapshot, taken
anew every m draws for the price of a pass (SVRG, Katyusha).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._primal_dual import FADED, STRETCH, dense_steps, stretches
from saddlery.algorithms._protocol import RESYNC, Need, State, bias_column, rows_of, scale_of
from saddlery.data.rows import Dense
from saddlery.kernels.rows import Alone, Awake, Data, Stamped, wake_all
from saddlery.kernels.table import Moves, Pair, replace
from saddlery.problem import Problem
from saddlery.sampling import Replay, Uniform
from saddlery.steps import Scale
from saddlery.terms import _verbs

Array = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Parameters of every member.

    Parameters
    ----------
    sampler : Sampler, optional
        Replaces the uniform draws. Steps stay the method's.
    """

    sampler: Any = None
    needs: ClassVar[tuple[Need, ...]] = ()
    learns: ClassVar[bool] = True

    @property
    def replay(self) -> Replay | None:
        """The draws to be played, if any."""
        return self.sampler if isinstance(self.sampler, Replay) else None

    # ---- what a member says

    def moves(self, problem: Problem, scale: Scale, state: State, draws: Array) -> Moves:
        """The steps for these rows."""
        raise TypeError(f"{type(self).__name__} does not say which steps it makes")

    def span(self, problem: Problem) -> int:
        """m, the draws from one snapshot to the next; 0 for a table that learns."""
        return 0

    # ---- what all do

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x; y is the table, of those that learn."""
        flat, x0 = problem.unpack(x)
        dual, s = problem.flat(y), bias_column(problem)
        memory = {"sleep": self._store(problem), "clock": np.array([1.0, 0.0, 0.0, 0.0, 0.0])}
        memory["bias"] = np.zeros((6, problem.q))
        memory["bias"][0], memory["bias"][5] = x0, s
        memory["since"] = np.zeros(1)
        state = State(np.array(x, dtype=np.float64), dual.reshape(problem.y_shape), memory)
        self._place(problem, state, flat)
        return state

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """n draws, or all the draws of a replay."""
        if "scale" not in state.scratch:
            state.scratch["scale"] = scale_of(problem)
        if self.replay is not None:
            drawn = self.replay.table(problem.n)
            if drawn.shape[1] > 1:
                raise ValueError(f"Replay holds a batch of {drawn.shape[1]} rows, but this method takes one row a step")
            draws = drawn[:, 0]
        else:
            sampler = self.sampler or Uniform()
            draws = rows_of(problem, sampler.draw(rng, problem.drawn, problem.drawn)[:, 0])
        since, first = state.memory["since"], 0
        while first < draws.size:
            most, m = draws.size - first, self.span(problem)
            if m and since[0] == 0.0:
                self.snapshot(problem, state)
            last = first + min(most, STRETCH, int(m - since[0]) if m else most)
            self.run(problem, state, self.moves(problem, state.scratch["scale"], state, draws[first:last]))
            since[0] = (since[0] + last - first) % m if m else 0.0
            first = last
        if problem.intercept:
            self.recentre(problem, state)
        state.epoch += 1
        state.passes += draws.size / problem.drawn
        if self.learns and state.epoch % RESYNC == 0:
            self._place(problem, state, self.point(problem, state))
        return state

    def snapshot(self, problem: Problem, state: State) -> None:
        """y = c f'(A x), r = A'y / n: one pass."""
        x, _ = self.iterate(problem, state)
        state.y = problem.gradients(problem.predictions(x))
        state.passes += 1.0
        self._place(problem, state, problem.unpack(x)[0])

    def run(self, problem: Problem, state: State, moves: Moves) -> None:
        """Make the steps."""
        memory, coupling, y = state.memory, problem.coupling, state.y.reshape(-1)
        data = Data(coupling.lines, coupling.blocks, problem.f, problem.b, problem.c)
        S, clock, bias, learns = memory["sleep"], memory["clock"], memory["bias"], float(self.learns)
        work = np.empty((2, coupling.widest))
        if dense_steps(problem):
            alone = isinstance(coupling.lines, Dense) and coupling.widest == 1
            clock[3] = 0.0  # no product with x is made yet
            x, r, bar, extra = S
            replace(data, (Alone if alone else Awake)(x, r, bar, extra, problem.g), y, moves, learns, clock, bias, work)
            return
        for part in stretches(moves):
            if _verbs.affine(problem.g):
                if clock[0] < FADED:
                    self._rebase(S.T, clock)
                replace(data, Pair(S.T), y, part, learns, clock, bias, work)
            else:
                stamped = Stamped(S.T, problem.g, part.tau, *_verbs.prefixes(problem.lam, part.tau))
                clock[0] = 0.0  # theta
                replace(data, stamped, y, part, learns, clock, bias, work)
                wake_all(stamped, part.tau.size)
                clock[4] = 0.0

    def point(self, problem: Problem, state: State) -> Array:
        """x, without its intercept."""
        S, clock = state.memory["sleep"], state.memory["clock"]
        if dense_steps(problem):
            return np.array(S[0])
        return clock[0] * S[:, 0] - clock[1] * S[:, 1] if _verbs.affine(problem.g) else np.array(S[:, 0])

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """The last x, and the table."""
        bias = state.memory["bias"]
        state.x = problem.pack(self.point(problem, state), bias[5] * bias[1] + bias[0])
        return state.x, state.y

    def recentre(self, problem: Problem, state: State) -> None:
        """Let the offset of the intercept follow it: see `bias_column`."""
        bias = state.memory["bias"]
        if np.isfinite(bias).all():
            bias[0] += bias[5] * bias[1]
            bias[1] = 0.0

    def _store(self, problem: Problem) -> Array:
        """The numbers of every coordinate: beside each other, where rows are sparse."""
        if dense_steps(problem):
            return np.zeros((4, problem.d))
        return np.zeros((problem.d, 2 if _verbs.affine(problem.g) else 4))

    def _place(self, problem: Problem, state: State, x: Array) -> None:
        """Make r anew, and start from x."""
        memory, y = state.memory, state.y.reshape(-1)
        S = memory["sleep"] if dense_steps(problem) else memory["sleep"].T
        S[:] = 0.0
        S[0], S[1] = x, problem.coupling.force(y)
        if S.shape[0] > 2:
            S[2] = x
        memory["clock"][:] = 1.0, 0.0, 0.0, 0.0, 0.0
        memory["bias"][3] = memory["bias"][5] * y.reshape(-1, problem.q).sum(axis=0) / problem.n

    def _rebase(self, S: Array, clock: Array) -> None:
        """Start again from Z = 1, U = 0 with the same x."""
        S[0] = clock[0] * S[0] - clock[1] * S[1]
        clock[:2] = 1.0, 0.0


def even(problem: Problem, scale: Scale, draws: Array, tau: float, weight: float) -> Moves:
    """The same step every time."""
    rho = 1.0 / (1.0 + scale.lam * tau)
    return Moves(draws, np.full(draws.size, weight), np.full(draws.size, tau), np.full(draws.size, rho))
