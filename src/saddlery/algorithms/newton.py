"""Newton's method for problems with few columns or few rows: deterministic, and exact to rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from saddlery.algorithms._model import minimise, solved
from saddlery.algorithms._protocol import FIGURE, HERE, SEPARABLE, Need, State
from saddlery.problem import Problem
from saddlery.sampling import Replay
from saddlery.terms import _verbs

Array = NDArray[Any]

MOST = 3000  # rows of the linear system
HALVINGS = 30
DENSE = 2_000_000  # entries up to which a sparse matrix is made dense
GROWTH = 4.0  # of sigma, with each new centre
CLOSE = 1e-3  # times the start's: the slope at which the nearest smooth loss is taken anew


def size(problem: Problem) -> int:
    """Rows of the linear system of a step: coordinates of x, or, where the penalty is L2, lines if these are fewer."""
    columns = problem.d + problem.q * problem.intercept
    return min(columns, problem.coupling.m) if _verbs.affine(problem.g) and problem.lam > 0.0 else columns


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
        Of the proximal point method, at its start; ten times as large after each of its steps.
    """

    sigma: float = 1.0
    name: ClassVar[str] = "newton"
    paper: ClassVar[str] = (
        "Lee, Sun and Saunders 2014 (proximal Newton); of none of the five papers: for small problems"
    )
    proved: ClassVar[str] = "descent; locally quadratic for twice differentiable f, else superlinear"
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
            memory |= {"centre": problem.flat(y), "sigma": np.array([float(self.sigma), 0.0])}
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
        if _verbs.affine(problem.g) and quadratic(problem) and not sparse(A):
            aim, cost = least_squares(problem, A, at, y, u), size(problem)
        elif _verbs.affine(problem.g):
            r[:d] += problem.lam * x[:d]
            aim, cost = at - linear(problem, A, loss.curvature(z), r), size(problem)
        else:
            H = self._hessian(problem, A, loss, z)
            aim, cost = minimise(problem.g, problem.lam, H, r, at, x.size - d), d
            aim[:d] = problem.space.prox(aim[:d], 0.0)  # rounding can lead out of the domain
        aim = shifted(problem, aim, -means)
        memory["x"], t = _towards(problem, loss, x, aim, z, u)
        _raise_or_lower(memory["floor"], t)
        if problem.gamma == 0.0:
            self._recentre(problem, memory, loss, float(np.abs(memory["x"] - x).max()) if t == 1.0 else math.inf)
        state.epoch += 1
        state.passes += 2.0 + cost / problem.q
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
            sigma, first = min(GROWTH * sigma, 1e6), 0.0
        elif moved < math.inf:
            first = max(first, moved)
        memory["sigma"] = np.array([sigma, first])

    def iterate(self, problem: Problem, state: State) -> tuple[Array, Array]:
        """x, and the y that belongs to its predictions."""
        x = state.memory["x"]
        state.x = problem.pack(x[: problem.d], x[problem.d :])
        state.y = Loss(problem, state.memory).slope(predictions(problem, x)).reshape(problem.y_shape)
        return state.x, state.y


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


def quadratic(problem: Problem) -> bool:
    """Is f'' the same everywhere? Then f is as smooth as it is convex."""
    return problem.gamma * _verbs.modulus(problem.f) == 1.0


def matrix(problem: Problem) -> tuple[Any, Array]:
    """The rows in double precision, beside an intercept less their mean, where they are dense; and that mean row."""
    if "rows" not in problem.made:
        A, c = problem.coupling.rows.matrix(), problem.c
        A = A.toarray() if sparse(A) and A.shape[0] * A.shape[1] <= DENSE else A
        A = A.astype(np.float64) if A.dtype != np.float64 else A
        means = np.zeros(A.shape[1])
        if problem.intercept and not sparse(A):
            means = c @ A / problem.n
            A = A - means
        problem.made["rows"] = A, means
    made: tuple[Any, Array] = problem.made["rows"]
    return made


def predictions(problem: Problem, x: Array) -> Array:
    """A x + x0 of the long x, whose last entries are the intercepts."""
    z = problem.coupling.predictions(x[: problem.d])
    return z + np.tile(x[problem.d :], z.size // problem.q) if problem.intercept else z


def sums(problem: Problem, y: Array) -> Array:
    """The force on the intercepts: the sum of every output's y, over n."""
    return y.reshape(-1, problem.q).sum(axis=0) / problem.n if problem.intercept else np.zeros(0)


def shifted(problem: Problem, x: Array, means: Array) -> Array:
    """x with the intercepts that it has beside rows less `means`: A x + x0 = (A - 1 m') x + (x0 + m'x)."""
    q, d = problem.q, problem.d
    return np.concatenate([x[:d], x[d:] + means @ x[:d].reshape(-1, q)]) if problem.intercept else x


def turned(problem: Problem, u: Array, means: Array) -> Array:
    """The force u in those coordinates."""
    d = problem.d
    return np.concatenate([u[:d] - np.outer(means, u[d:]).reshape(-1), u[d:]]) if problem.intercept else u.copy()


def sparse(A: Any) -> bool:
    """Is A a matrix of SciPy's?"""
    return bool(sp.issparse(A))


def hessian(problem: Problem, A: Any, B: Array) -> Array:
    """A' diag(B) A / n with a column of ones for the intercept, for q outputs in the order of x."""
    q, n = problem.q, problem.n
    if problem.intercept:
        A = sp.hstack([A, sp.csr_array(np.ones((n, 1)))]).tocsr() if sparse(A) else np.hstack([A, np.ones((n, 1))])
    k, blocks = A.shape[1], B.reshape(n, q, q)
    H = np.empty((k, q, k, q))
    for a in range(q):
        for b in range(a + 1):
            weighted = A.multiply(blocks[:, a, b, None]).tocsr() if sparse(A) else A * blocks[:, a, b, None]
            part = A.T @ weighted
            part = part.toarray() if sparse(A) else part
            H[:, a, :, b] = H[:, b, :, a] = part / n
    return H.reshape(k * q, k * q)


def least_squares(problem: Problem, A: Array, x: Array, y: Array, u: Array) -> Array:
    """The minimum for a quadratic f: with B = diag(sqrt c) A = U S V' and t = B x - gamma y / sqrt c,

    x+ = V S / (S^2 + n gamma lam) U't; for lam = 0 that of least norm. Right also for a tiny lam, or one of 0.
    """
    if "decomposed" not in problem.made:
        root = np.sqrt(problem.c)
        problem.made["decomposed"] = root, *la.svd(root[:, None] * A, full_matrices=False, check_finite=False)
    root, U, S, V = problem.made["decomposed"]
    d, weight = problem.d, problem.n * problem.gamma * problem.lam
    t = root * (A @ x[:d]) - problem.gamma * np.divide(y, root, out=np.zeros(y.size), where=root > 0.0)
    rank = np.finfo(np.float64).eps * max(A.shape) * S.max(initial=0.0) < S if weight == 0.0 else S > 0.0
    back = np.divide(S, S * S + weight, out=np.zeros(S.size), where=rank)
    return np.concatenate([V.T @ (back * (U.T @ t)), x[d:] - problem.gamma * u[d:]])


def linear(problem: Problem, A: Any, B: Array, r: Array) -> Array:
    """(H + lam)^-1 r, lam on the penalised coordinates."""
    if size(problem) == r.size:
        H = hessian(problem, A, B)
        H[np.diag_indices(problem.d)] += problem.lam
        return solved(H, r)
    return by_rows(problem, A, B, r)


def by_rows(problem: Problem, A: Any, B: Array, r: Array) -> Array:
    """(H + lam)^-1 r = (r - R'(n lam + R R')^-1 R r) / lam with R'R = n H; the intercepts by elimination."""
    n, q, d, lam = problem.n, problem.q, problem.d, problem.lam
    blocks = B.reshape(n, q, q)
    G = np.sqrt(blocks) if q == 1 else roots(blocks)
    K = (A @ A.T).toarray() if sparse(A) else A @ A.T
    flat = G.reshape(n * q, q)
    M = ((flat @ flat.T).reshape(n, q, n, q) * K[:, None, :, None]).reshape(n * q, n * q)
    M[np.diag_indices_from(M)] += n * lam
    rights = [r[:d]]
    if problem.intercept:
        rights += [np.asarray(A.T @ blocks[:, :, k]).reshape(-1) / n for k in range(q)]
    V = np.array(rights).T  # one right side a column
    forward = np.array([np.einsum("iak,ik->ia", G, np.asarray(A @ v.reshape(-1, q))).reshape(-1) for v in V.T]).T
    inner = solved(M, forward)
    back = [np.asarray(A.T @ np.einsum("iak,ia->ik", G, w.reshape(n, q))).reshape(-1) for w in inner.T]
    made = (V - np.array(back).T) / lam
    if not problem.intercept:
        return np.asarray(made[:, 0])
    corner = blocks.sum(axis=0) / n - V[:, 1:].T @ made[:, 1:]
    last = solved((corner + corner.T) / 2.0, r[d:] - V[:, 1:].T @ made[:, 0])
    return np.concatenate([made[:, 0] - made[:, 1:] @ last, last])


def roots(B: Array) -> Array:
    """Symmetric square roots of positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(B)
    made: Array = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
    return made


def _towards(problem: Problem, loss: Loss, x: Array, aim: Array, z: Array, u: Array) -> tuple[Array, float]:
    """As far from x towards the aim as P falls: the point, and which part t of the way that is."""
    d, move = problem.d, aim - x
    if not np.isfinite(aim).all():
        return x, 0.0
    along, before = predictions(problem, move), loss.value(z)
    was, t = problem.penalty(x[:d], np.zeros(d))[0], 1.0
    slope = float(u @ move) + problem.penalty(aim[:d], np.zeros(d))[0] - was  # of P, at most
    for _ in range(HALVINGS):
        ahead = aim if t == 1.0 else x + t * move
        change = loss.value(z + t * along) - before + problem.penalty(ahead[:d], np.zeros(d))[0] - was
        if change <= 1e-4 * t * slope or abs(slope) <= 1e-13 * abs(before + was):  # falls; below rounding
            return ahead, t
        t /= 2.0
    return x, 0.0


def _raise_or_lower(floor: Array, t: float) -> None:
    """The floor of the curvature, by the part t of the last move that was made: higher where that was little."""
    if t == 1.0:
        floor[0] = floor[0] / 10.0 if floor[0] > 1e-8 else 0.0
    elif t < 0.2:
        floor[0] = min(max(10.0 * floor[0], 1e-3), 1.0)
