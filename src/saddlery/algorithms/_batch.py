"""The family of methods that look at all rows in every step: two products with A, and vectors.

    y+ = answer(zbar, sigma)      zbar = A xbar, as (1 + theta) A x+ - theta A x: one product with A a step
    x+ = prox_g(base - tau A'y+ / n, tau)
    xbar = x+ + theta (x+ - x)

A member says what the dual answer is, from where x moves (x itself, or xbar), and with which steps. Everything is
written over the arrays of whatever library holds A: see ``couplings/space.py``.

L = |A| is an estimate. Since A x is at hand, |A (x+ - x)| <= L |x+ - x| is checked in every step for nothing; where it
fails L is proved too small, is made larger, and the run says so.

Intercept: x0 = s x' + k as in `bias_column`, with s such that n s^2 = (L/2)^2, and L then sqrt(L^2 + n s^2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlery.algorithms._protocol import Need, State
from saddlery.couplings.space import Here, There
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.steps.convexity import Step

Array = Any
Vectors = dict[str, Any]

LARGER = 1.1  # times what a step proved L to be at least


@dataclass(frozen=True)
class Batch:
    """Parameters of every member.

    Parameters
    ----------
    L : float, optional
        The norm of A (with weights, of diag(sqrt(c)) A), if you know it. By default a power iteration, times 1.02.
    """

    L: float | None = None
    needs: ClassVar[tuple[Need, ...]] = ()
    from_bar: ClassVar[bool] = False  # does x move from xbar?

    def __post_init__(self) -> None:
        if self.L is not None and not (isinstance(self.L, (int, float, np.number)) and 0.0 < self.L < math.inf):
            raise ValueError(f"L must be a finite number above 0, or None, found {self.L!r}")

    @property
    def replay(self) -> Replay | None:
        """Nothing is drawn."""
        return None

    # ---- what a member says

    def steps(self, problem: Problem, state: State, L: float) -> Step:
        """tau, sigma, theta."""
        raise TypeError(f"{type(self).__name__} does not say which steps it makes")

    def answer(self, space: Here | There, w: Vectors, z: Array, sigma: float) -> Array:
        """The new y."""
        return space.dual_step(w["y"], z, sigma)

    def begin(self, problem: Problem, state: State) -> None:
        """Arrays of the member's own in the memory."""

    def after(self, problem: Problem, state: State, w: Vectors, u: Array, step: Step) -> None:
        """What a member does after a step that led to w with the force u: adapt, for one."""

    # ---- what all do

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x and y."""
        flat, x0 = problem.unpack(x)
        z = problem.coupling.predictions(flat)
        memory = {
            "x": flat.copy(),
            "z": z,
            "zbar": z.copy(),
            "k": x0.copy(),
            "b": np.zeros(problem.q),
        }
        memory |= {"bar": flat.copy()} if self.from_bar else {}
        state = State(np.array(x, dtype=np.float64), problem.flat(y).reshape(problem.y_shape), memory)
        state.memory["norm"] = np.array([self._norm(problem, state)])
        self.begin(problem, state)
        return state

    def _norm(self, problem: Problem, state: State) -> float:
        if self.L is not None:
            return float(self.L)
        L, passes = problem.norm()
        state.passes += passes
        return L or 1.0

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """One step: one pass over the data."""
        space, w, memory = problem.space, self._vectors(problem, state), state.memory
        s, L = scales(problem, float(memory["norm"][0]))
        step = self.steps(problem, state, L)
        z = space.shifted(w["zbar"], s * memory["b"] + memory["k"]) if problem.intercept else w["zbar"]
        w["y"] = self.answer(space, w, z, step.sigma)
        u = space.back(w["y"])
        base = w["bar"] if self.from_bar else w["x"]
        x = space.prox(base - step.tau * u, step.tau)
        z = space.forward(x)
        dx, dz = x - w["x"], z - w["z"]
        self._check(state, space, x, dx, dz)
        dz *= step.theta
        dz += z
        w["x"], w["z"], w["zbar"] = x, z, dz
        if self.from_bar:
            w["uphill"] = space.inner(base - x, dx) > 0.0
            w["bar"] = x + step.theta * dx
        if problem.intercept:
            self._move_intercept(problem, memory, space.column_sums(w["y"]) / problem.n, s, step)
        state.epoch += 1
        state.passes += 1.0
        self.after(problem, state, w, u, step)
        return state

    def _move_intercept(self, problem: Problem, memory: Vectors, slope: Array, s: float, step: Step) -> None:
        """x' <- (base - tau s sum y / n) / (1 + lam tau), k <- k + s x', x' <- 0: "b" is xbar' after that."""
        base = memory["b"] if self.from_bar else 0.0
        new = (base - step.tau * s * slope) / (1.0 + problem.lam * step.tau)
        memory["k"] += s * new
        memory["b"] = step.theta * new

    def _check(self, state: State, space: Here | There, x: Array, dx: Array, dz: Array) -> None:
        """Is |A dx| <= L |dx|? If not L was too small. (Steps that are mostly rounding tell nothing.)"""
        length, image, L = space.norm2(dx), space.norm2(dz, weighted=True), float(state.memory["norm"][0])
        told = length > 1e-12 * space.norm2(x) and length > 1e-280
        if told and image > L * L * length * (1.0 + 1e-9) and math.isfinite(image):
            found = LARGER * math.sqrt(image / length)
            state.memory["norm"][0] = found
            state.notes.append(f"|A| was taken to be {L:.4g}, which a step proved too small; from there on {found:.4g}")

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """The last x and y."""
        memory, space = state.memory, problem.space
        for name, vector in state.scratch.get("vectors", {}).items():
            if name == "uphill":
                continue
            got = np.array(space.get(vector), dtype=np.float64)
            if name == "y":
                state.y = got.reshape(problem.y_shape)
            else:
                memory[name] = got
        state.x = problem.pack(memory["x"], memory["k"])
        return state.x, state.y

    def _vectors(self, problem: Problem, state: State) -> Vectors:
        """The vectors of the state beside A."""
        if "vectors" not in state.scratch:
            names = [name for name in ("x", "z", "zbar", "v", "bar") if name in state.memory]
            made = {name: problem.space.put(state.memory[name]) for name in names}
            state.scratch["vectors"] = made | {"y": problem.space.put(state.y.reshape(-1))}
        vectors: Vectors = state.scratch["vectors"]
        return vectors


def scales(problem: Problem, L: float) -> tuple[float, float]:
    """The entry s of the column that stands for the intercept, and the norm of A with that column."""
    if not problem.intercept:
        return 0.0, L
    return L / (2.0 * math.sqrt(problem.n)), L * math.sqrt(1.25)
