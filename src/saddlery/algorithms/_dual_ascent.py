"""The family of methods that maximise the dual exactly over one coordinate at a time: SDCA and its samplings.

    z = <a_i, x>,  x = grad g*(-u);     y_i <- c_i prox_conj(y_i / c_i, z, lam n / R_i^2);     u += dy_i a_i / n

(The AdaSDCA paper's alpha is -y, its w is x, its v_i is R_i^2, its lam g is our g.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import lean_kernel
from saddlery.algorithms._protocol import (
    DUAL,
    HERE,
    RESYNC,
    SCALAR,
    SEPARABLE,
    STRONG,
    Need,
    State,
    bias_column,
    rows_of,
)
from saddlery.data.rows import Dense, U, ahead
from saddlery.kernels.dual import DualStep, coordinates, coordinates_ahead, gather
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.steps import FREE
from saddlery.terms import _verbs
from saddlery.terms._verbs import grad, grad_conj

Array = NDArray[Any]


@dataclass(frozen=True)
class DualAscent:
    """Parameters of every member.

    Parameters
    ----------
    sampler : Sampler, optional
        Replaces the method's own draws.
    """

    sampler: Any = None
    needs: ClassVar[tuple[Need, ...]] = (STRONG, SEPARABLE, SCALAR, DUAL, HERE)

    @property
    def replay(self) -> Replay | None:
        """The draws to be played, if any."""
        return self.sampler if isinstance(self.sampler, Replay) else None

    def draws(self, problem: Problem, state: State, rng: np.random.Generator) -> Array:
        """The live rows of the next epoch, one after the other."""
        raise TypeError(f"{type(self).__name__} does not say which rows it draws")

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any y; x follows from it, but for the intercept, which is taken from x."""
        dual = problem.flat(y)
        s, (_, x0) = bias_column(problem), problem.unpack(x)
        extra = np.array([s, x0[0], s * dual.sum() / problem.n, 1.0 / problem.lam])
        return State(np.array(x, dtype=np.float64), dual, {"u": problem.coupling.force(dual), "extra": extra})

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """n draws, or all the draws of a replay."""
        if self.replay is not None:
            order = self.replay.table(problem.n)
            order = order[(order >= 0) & (problem.c[order] > 0.0)]
        else:
            order = rows_of(problem, self.draws(problem, state, rng))
        self.move(problem, state, order)
        state.passes += order.size / problem.drawn
        self.finish(problem, state)
        return state

    def move(self, problem: Problem, state: State, order: Array) -> None:
        """Maximise over the coordinates of `order`, one after the other."""
        memory, role, lines = state.memory, DualStep(problem.f, problem.g), problem.coupling.lines
        loop = coordinates_ahead if isinstance(lines, Dense) and _verbs.affine(problem.g) else coordinates
        if order.size:
            loop(lines, role, order, state.y, memory["u"], self.own(problem, state), memory["extra"])

    def finish(self, problem: Problem, state: State) -> None:
        """End an epoch: let the intercept's offset follow it, and keep u honest."""
        memory = state.memory
        extra = memory["extra"]
        if problem.intercept and np.isfinite(extra).all():
            extra[1] -= extra[0] * extra[2] * extra[3]  # k <- x0 = k - s u0 / lam: see `bias_column`
        state.epoch += 1
        if state.epoch % RESYNC == 0:
            memory["u"][:] = problem.coupling.force(state.y)
            extra[2] = extra[0] * state.y.sum() / problem.n

    def squares(self, problem: Problem) -> Array:
        """v_i = R_i^2, the intercept's column included."""
        s = bias_column(problem)
        return np.asarray(problem.squares + problem.c * s**2) if s > 0.0 else problem.squares

    def own(self, problem: Problem, state: State) -> Array:
        """For every row sigma_i = lam n / R_i^2, with which the dual step is the exact maximiser, b_i and c_i."""
        if "own" not in state.scratch:
            squares = self.squares(problem)
            own = np.empty((problem.n, 3))
            with np.errstate(divide="ignore"):
                own[:, 0] = np.minimum(problem.lam * problem.n / squares, FREE)
            own[:, 1], own[:, 2] = problem.b, problem.c
            state.scratch["own"] = own
        made: Array = state.scratch["own"]
        return made

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """x = grad g*(-u), and y."""
        memory = state.memory
        if _verbs.affine(problem.g):
            x = memory["u"] * (-1.0 / problem.lam)
        else:
            x = np.empty(problem.d)
            respond_all(problem.g, memory["u"], x)
        s, k, u0, inverse = memory["extra"]
        state.x = problem.pack(x, np.array([k - s * u0 * inverse]))
        return state.x, state.y

    def residues(self, problem: Problem, state: State) -> Array:
        """abs(kappa_i) of every row: f'(<a_i, x>) - y_i, in the scale in which gamma is uniform under weights."""
        out = np.zeros(problem.n)
        role, memory = DualStep(problem.f, problem.g), state.memory
        residues(problem.coupling.lines, role, state.y, memory["u"], self.own(problem, state), memory["extra"], out)
        return out


@lean_kernel
def respond_all(g: Any, u: Array, x: Array) -> None:
    """x = grad g*(-u)."""
    for j in range(U(x.shape[0])):
        x[j] = grad_conj(g, -u[j])


@lean_kernel
def residues(lines: Any, role: Any, y: Array, w: Array, own: Array, extra: Array, out: Array) -> None:
    """out_i = |c_i f'(z_i) - y_i| / sqrt(c_i)."""
    last = U(out.shape[0] - 1)
    for i in range(U(out.shape[0])):
        ahead(lines, i + U(2) if i + U(2) < last else last)
        c = own[i, 2]
        if c > 0.0:
            z = gather(lines, i, role, w, extra) - extra[0] * extra[2] * extra[3] + extra[1]
            out[i] = abs(c * grad(role.f, z, own[i, 1]) - y[i]) / np.sqrt(c)
