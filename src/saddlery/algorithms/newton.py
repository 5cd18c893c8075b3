"""Newton's method for problems with few columns or few rows: deterministic, and exact to rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._model import minimise
from saddlery.algorithms._protocol import FIGURE, HERE, SEPARABLE, Need, State
from saddlery.algorithms._system import (
    decomposes,
    hessian,
    least_squares,
    linear,
    matrix,
    quadratic,
    shifted,
    size,
    turned,
)
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.terms import _verbs

Array = NDArray[Any]

# What follows, and the numbers of `_raise_or_lower`, are heuristics: they change how soon, not what is reached.
MOST = 3000  # rows of the linear system
HALVINGS = 30  # of a step
GROWTH = 4.0  # of sigma, with each new centre
STEEPEST = 1e3  # sigma at most, over its unit: y = y_k + sigma (z - ...) is right to sigma times rounding
CLOSE = 1e-3  # of the longest step for this y_k: one so short ends it, and y_k is taken anew


SMALL = Need(
    f"at most {MOST} columns",
    lambda p: size(p) <= MOST,
    lambda p: f"at most {MOST} columns (with L2: columns or rows), but a step solves {size(p)} equations",
)
EASED = Need(
    "rows; for several predictions gamma > 0",
    lambda p: p.coupling.m == p.n * p.q and (p.gamma > 0.0 or p.q == 1),
    lambda p: (
        f"a smooth loss where a row has several predictions, but {type(p.f).__name__} has gamma = 0"
        if p.coupling.m == p.n * p.q
        else "rows, but this problem has general blocks"
    ),
)
KNOWN = Need(
    FIGURE.name,
    lambda p: FIGURE.holds(p) and (p.gamma > 0.0 or p.lam > 0.0 or not _half_line(p)),
    FIGURE.missing,
)


def _half_line(problem: Problem) -> bool:
    """Is g* finite on a half line? Then a y at the ends of its interval is not repaired."""
    low, high = _verbs.reach(problem.g)
    return (low == 0.0) != (high == 0.0)


@dataclass(frozen=True)
class Newton:
    """x <- argmin over v of <u, v - x> + (v - x)'H(v - x) / 2 + g(v),  u = A'y / n,  y_i = c_i f'(z_i),
    H = A' diag(c f''(z)) A / n; then as far towards it as P falls (t = 1, 1/2, 1/4, ...).

    Where little of a step can be made c f'' is raised to a floor (a safeguard, that of Levenberg and Marquardt).
    f'' is taken by central differences of f' (of piecewise quadratic losses an element of the generalised derivative).
    Beside an intercept dense rows are taken less their mean, which changes nothing but rounding.
    For a quadratic f and L2 one singular value decomposition serves every step and every lam.
    For L2 the model is one linear system, of columns or of rows, whichever are fewer; else `_model` minimises it.

    f not smooth: f is replaced by the smooth f_k(z) = max_y y z - f*(y) - |y - y_k|^2 / (2 sigma), whose y is the dual
    step prox_conj(y_k, z, sigma), and y_k <- y when that is nearly solved: the proximal point method on the dual, which
    is the method of multipliers (Rockafellar 1976).

    Parameters
    ----------
    sigma : float
        Of the proximal point method, at its start, in units of 1 / P(0): larger after each of its steps.
    """

    sigma: float = 1.0
    name: ClassVar[str] = "newton"
    paper: ClassVar[str] = (
        "Lee, Sun and Saunders 2014 (proximal Newton); of none of the five papers: for small problems"
    )
    proved: ClassVar[str] = (
        "descent; for smooth f locally quadratic, or superlinear; else what is of the proximal point method"
    )
    cost: ClassVar[str] = "O(n d^2 + d^3) a step, d columns or, for L2, min(n, d)"
    needs: ClassVar[tuple[Need, ...]] = (SEPARABLE, HERE, SMALL, EASED, KNOWN)

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma, (int, float, np.number)) and 0.0 < self.sigma < math.inf):
            raise ValueError(f"sigma must be a finite number above 0, found {self.sigma!r}")

    @property
    def replay(self) -> Replay | None:
        """Nothing is drawn."""
        return None

    def init(self, problem: Problem, x: Array, y: Array) -> State:
        """Start from any x; where f is not smooth from any y too."""
        flat, x0 = problem.unpack(x)
        memory = {
            "x": np.concatenate([problem.space.prox(flat, 0.0), x0 if problem.intercept else x0[:0]]),
            "floor": np.zeros(1),
        }
        if problem.gamma == 0.0:
            memory |= {"centre": problem.flat(y), "sigma": np.array([float(self.sigma) / unit(problem), 0.0])}
        return State(np.array(x, dtype=np.float64), problem.flat(y).reshape(problem.y_shape), memory)

    def epoch(self, problem: Problem, state: State, rng: np.random.Generator) -> State:
        """One step."""
        d, x, memory = problem.d, state.memory["x"], state.memory
        loss = Loss(problem, memory)
        z = predictions(problem, x)
        y = loss.slope(z)
        u = np.concatenate([problem.coupling.force(y), sums(problem, y)])
        A, means = matrix(problem)
        at, r = shifted(problem, x, means), turned(problem, u, means)
        if _verbs.affine(problem.g) and quadratic(problem) and decomposes(A):
            aim, cost = least_squares(problem, A, at, y, u), size(problem)
        elif _verbs.affine(problem.g):
            r[:d] += problem.lam * x[:d]
            aim, cost = at - linear(problem, A, loss.curvature(z), r), size(problem)
        else:
            H = self._hessian(problem, A, loss, z)
            wide = x.size > problem.coupling.m
            aim, cost = minimise(problem.g, problem.lam, H, r, at, x.size - d, wide), d
            aim[:d] = problem.space.prox(aim[:d], 0.0)  # rounding can lead out of the domain
        aim = shifted(problem, aim, -means)
        memory["x"], t, gain = _towards(problem, loss, x, aim, z, u)
        _raise_or_lower(memory["floor"], t, gain)
        if problem.gamma == 0.0:
            self._recentre(problem, memory, loss, float(np.abs(memory["x"] - x).max()) if t == 1.0 else math.inf)
        state.epoch += 1
        state.passes += 2.0 + cost / problem.q  # two products, and H, which is as much work as it has columns
        return state

    def _hessian(self, problem: Problem, A: Any, loss: Loss, z: Array) -> Array:
        """H, which for a quadratic f is made once."""
        if not quadratic(problem):
            return hessian(problem, A, loss.curvature(z))
        if "hessian" not in problem.made:
            problem.made["hessian"] = hessian(problem, A, loss.curvature(z))
        made: Array = problem.made["hessian"]
        return made

    def _recentre(self, problem: Problem, memory: dict[str, Array], loss: Loss, moved: float) -> None:
        """y_k <- y once a step moves x little, of what the first one for this y_k moved it."""
        sigma, first = memory["sigma"]
        if moved <= CLOSE * first:
            memory["centre"] = loss.slope(predictions(problem, memory["x"]))
            sigma, first = min(GROWTH * sigma, STEEPEST / unit(problem)), 0.0
        elif moved < math.inf:
            first = max(first, moved)
        memory["sigma"] = np.array([sigma, first])

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """x, and the y that belongs to its predictions."""
        x = state.memory["x"]
        state.x = problem.pack(x[: problem.d], x[problem.d :])
        state.y = Loss(problem, state.memory).slope(predictions(problem, x)).reshape(problem.y_shape)
        return state.x, state.y


def unit(problem: Problem) -> float:
    """P(0), the size of predictions for losses that grow like |z|; 1 where it is not known."""
    return problem.scale or 1.0


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss of all rows, or the smooth one that stands for it."""

    problem: Problem
    memory: dict[str, Array]

    def slope(self, z: Array) -> Array:
        """y_i = c_i f'(z_i)."""
        if self.problem.gamma > 0.0:
            return self.problem.gradients(z).reshape(-1)
        made: Array = self.problem.space.dual_step(self.memory["centre"], z, float(self.memory["sigma"][0]))
        return made

    def value(self, z: Array) -> float:
        """Its mean: where y is the maximiser, y z - f*(y) - ..., by Fenchel-Young at the given f."""
        if self.problem.gamma > 0.0:
            return self.problem.losses(z, np.zeros(z.size))[0]
        y, centre, sigma = self.slope(z), self.memory["centre"], float(self.memory["sigma"][0])
        losses, gap, _ = self.problem.losses(z, y)
        live = self.problem.c > 0.0
        return losses - gap - float(((y - centre)[live] ** 2 / self.problem.c[live]).sum()) / (2.0 * sigma * live.size)

    def curvature(self, z: Array) -> Array:
        """c_i f''(z_i) as numbers, or as matrices of q x q, by central differences of the slope.

        At least the floor times the most that it can be.
        """
        q = self.problem.q
        if q == 1 and quadratic(self.problem):
            return self.problem.c / self.problem.gamma
        Z = z.reshape(-1, q)
        step = 6e-6 * (1.0 + np.abs(Z).max(axis=1))
        made = np.empty((Z.shape[0], q, q))
        for k in range(q):
            e = np.zeros((Z.shape[0], q))
            e[:, k] = step
            rise = self.slope((Z + e).reshape(-1)) - self.slope((Z - e).reshape(-1))
            made[:, :, k] = rise.reshape(-1, q) / (2.0 * step)[:, None]
        most = 1.0 / self.problem.gamma if self.problem.gamma > 0.0 else float(self.memory["sigma"][0])
        least = float(self.memory["floor"][0]) * most * self.problem.c
        if q == 1:
            return np.asarray(np.maximum(made[:, 0, 0], least))
        return np.asarray((made + made.transpose(0, 2, 1)) / 2.0 + least[:, None, None] * np.eye(q))


def predictions(problem: Problem, x: Array) -> Array:
    """A x + x0 of the long x, whose last entries are the intercepts."""
    z = problem.coupling.predictions(x[: problem.d])
    return z + np.tile(x[problem.d :], z.size // problem.q) if problem.intercept else z


def sums(problem: Problem, y: Array) -> Array:
    """The force on the intercepts: the sum of every output's y, over n."""
    return y.reshape(-1, problem.q).sum(axis=0) / problem.n if problem.intercept else np.zeros(0)


def _towards(problem: Problem, loss: Loss, x: Array, aim: Array, z: Array, u: Array) -> tuple[Array, float, float]:
    """As far from x towards the aim as P falls: the point, which part t of the way it is, P's fall over the model's."""
    d, move = problem.d, aim - x
    lost = _verbs.affine(problem.g) and not move.any() and u.any()  # no curvature at all, no penalty
    if lost or not np.isfinite(aim).all():
        return x, 0.0, 0.0
    along, before = predictions(problem, move), loss.value(z)
    was, t = problem.penalty(x[:d], np.zeros(d))[0], 1.0
    slope = float(u @ move) + problem.penalty(aim[:d], np.zeros(d))[0] - was  # of P, at most
    if abs(slope) <= 1e-13 * abs(before + was):  # below rounding
        return aim, 1.0, 1.0
    for _ in range(HALVINGS):
        ahead = aim if t == 1.0 else x + t * move
        change = loss.value(z + t * along) - before + problem.penalty(ahead[:d], np.zeros(d))[0] - was
        if change <= 1e-4 * t * slope:
            return ahead, t, change / (slope * (t - t * t / 2.0))
        t /= 2.0
    return x, 0.0, 0.0


def _raise_or_lower(floor: Array, t: float, gain: float) -> None:
    """The floor of the curvature: higher where P fell by much less than the model said, lower where it did not."""
    if t == 0.0:
        floor[0] = min(max(100.0 * floor[0], 1e-2), 1.0)
    elif t < 0.2 or gain < 0.25:
        floor[0] = min(max(4.0 * floor[0], 1e-3), 1.0)
    elif t == 1.0 and gain > 0.5:
        floor[0] = floor[0] / 4.0 if floor[0] > 1e-6 else 0.0
