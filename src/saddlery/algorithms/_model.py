"""The quadratic model of a Newton step: min over x of <r, x - x0> + (x - x0)'H(x - x0) / 2 + g(x).

H is dense. Sweeps of coordinate descent, which always come closer, and between them the linear system of the
coordinates that are free (where the prox is not stuck), which ends it: for a piecewise quadratic g the pieces settle
after a few rounds, and the system is then the exact answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from saddlery._compile import lean_kernel
from saddlery.terms._sums import penalty_sums
from saddlery.terms._verbs import prox

Array = NDArray[Any]

WORK = 1e9  # entries of H that sweeps may touch in all, beyond the least there are
SWEEPS, ROUNDS, TRIES = 5, 60, 6  # of coordinate descent between two linear systems; of both; of lengths of a move
FEW = 400  # loose coordinates at most of which the null space is looked for
CLOSE = 1e-7  # of the first distance from the solution: that of a model whose pieces have settled
SINGULAR = 1e-14  # a pivot, or an eigenvalue, of a matrix with ones on its diagonal that is taken for 0


def minimise(g: Any, lam: float, H: Array, r: Array, x: Array, free: int, wide: bool = False) -> Array:
    """The minimiser; the last `free` coordinates (intercepts) carry no penalty, others one of modulus lam.

    `wide`: has H less rank than rows? Not finite where there is no minimiser.
    """
    model = Model(g, lam, H, np.maximum(np.diagonal(H), SINGULAR * max(float(np.diagonal(H).max()), 1e-300)), free)
    x, r = x.copy(), r.copy()
    first = model.off(x, model.pieces(x, r)[0])
    left = WORK / x.size**2
    for number in range(ROUNDS):
        times = min(SWEEPS << number // 5, max(SWEEPS, int(left)))  # more where the system does not end it soon
        left -= times
        sweep(g, H, model.diagonal, x, r, model.last, times)
        x, r = model.slide(x, r) if wide else (x, r)
        p, loose, bend = model.pieces(x, r)
        if not loose.any():
            break
        system = H[np.ix_(loose, loose)]
        system[np.diag_indices_from(system)] += bend[loose]
        move = np.zeros(x.size)
        move[loose] = solved(system, (p - x)[loose] * (model.diagonal + bend)[loose])
        ahead, r_ahead, settled = model.along(x, r, move)
        if not np.isfinite(ahead).all():
            return ahead
        x, r, before = ahead, r_ahead, loose
        p, loose, _ = model.pieces(x, r)
        if settled and np.array_equal(loose, before) and model.off(x, p) <= CLOSE * first:
            break
    return x


@dataclass(frozen=True)
class Model:
    """<r, dx> + dx'H dx / 2 + g, and the numbers that the rounds share."""

    g: Any
    lam: float
    H: Array
    diagonal: Array
    free: int

    @property
    def last(self) -> int:
        """Coordinates that carry a penalty."""
        return self.diagonal.size - self.free

    def pieces(self, x: Array, r: Array) -> tuple[Array, Array, Array]:
        """p = prox(x - r / diag, 1 / diag), which of its coordinates are not stuck, and the curvature of g there."""
        p, slope = np.empty(x.size), np.empty(x.size)
        slopes(self.g, self.diagonal, x, r, self.last, p, slope)
        loose = slope > 0.0
        bend = (1.0 / np.where(loose, slope, 1.0) - 1.0) * self.diagonal  # the prox's slope is 1 / (1 + bend / diag)
        penalised = np.arange(x.size) < self.last
        return p, loose, np.where(bend > 1.001 * self.lam + 1e-6 * self.diagonal, bend, self.lam * penalised)

    def slide(self, x: Array, r: Array) -> tuple[Array, Array]:
        """Along the null space of the loose part of H, where the model is as steep as g, until coordinates are 0.

        Where there are more loose coordinates than H has rank no linear system says which of them to leave: with an l1
        penalty all but as many as the rank become 0, one after the other.
        """
        if self.lam > 0.0 or prox(self.g, 1e-12, 1.0) != 0.0 or prox(self.g, -1e-12, 1.0) != 0.0:
            return x, r  # strongly convex, or without a kink at 0
        for _ in range(2 * x.size):
            p, loose, _ = self.pieces(x, r)
            steep = self.diagonal * (x - p)  # of the model and g together
            enters = loose & (x == 0.0) & (np.arange(x.size) < self.last)
            d = self._aside(loose & ~enters, steep)
            if d is None and enters.any():  # one more, the one that wants it most
                first = int(np.argmax(np.where(enters, np.abs(steep) / np.sqrt(self.diagonal), -1.0)))
                d = self._aside((loose & ~enters) | (np.arange(x.size) == first), steep)
            if d is None:
                break
            ahead = np.flatnonzero((x * d < 0.0) & (np.arange(x.size) < self.last))
            if not ahead.size:
                break
            steps = -x[ahead] / d[ahead]
            t = float(steps.min())
            moved = x + t * d
            moved[ahead[steps <= t * (1.0 + 1e-14)]] = 0.0
            step = moved - x
            bent = self.H @ step
            gained = penalties(self.g, moved, self.last) - penalties(self.g, x, self.last)
            if not float(r @ step) + float(step @ bent) / 2.0 + gained < 0.0:
                break
            x, r = moved, r + bent
        return x, r

    def _aside(self, some: Array, steep: Array) -> Array | None:
        """Downhill along the null space of some of H's rows and columns; None where that is no way down."""
        k = int(some.sum())
        if k < 2 or k > FEW:
            return None
        scale = 1.0 / np.sqrt(self.diagonal[some])
        values, vectors = la.eigh(self.H[np.ix_(some, some)] * scale[:, None] * scale, check_finite=False)
        null = vectors[:, values <= 1e-12 * k]
        ahead = null.T @ (scale * steep[some])
        if not float(ahead @ ahead) > 1e-16 * float(np.square(scale * steep[some]).sum()) + 1e-300:
            return None
        d = np.zeros(some.size)
        d[some] = -scale * (null @ ahead)
        return d

    def off(self, x: Array, p: Array) -> float:
        """How far x is from solving the model: max sqrt(diag) |x - p|."""
        return float((np.sqrt(self.diagonal) * np.abs(x - p)).max())

    def along(self, x: Array, r: Array, move: Array) -> tuple[Array, Array, bool]:
        """As far along a move as the model falls, coordinates that get stuck on the way put where they do."""
        was, t = penalties(self.g, x, self.last), 1.0
        for _ in range(TRIES):
            ahead = x + t * move
            p, loose, _ = self.pieces(ahead, r + t * (self.H @ move))
            ahead = np.where(loose, ahead, p)
            step = ahead - x
            bent = self.H @ step
            change = float(r @ step) + float(step @ bent) / 2.0 + penalties(self.g, ahead, self.last) - was
            if change <= 1e-15 * abs(was):
                return ahead, r + bent, t == 1.0
            t /= 4.0
        return x, r, False


def penalties(g: Any, x: Array, last: int) -> float:
    """The sum of g over the coordinates that carry it."""
    return float(penalty_sums(g, x[:last], np.zeros(last))[0])


def solved(H: Array, r: Array) -> Array:
    """H^-1 r, r a vector or columns, H positive semidefinite; where H is singular to rounding, the least solution.

    Least after H is scaled to ones on its diagonal.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    scale[np.diagonal(H) <= 0.0] = 0.0
    unit, right = H * scale[:, None] * scale, (scale * r.T).T
    try:
        factor = la.cho_factor(unit, lower=True, check_finite=False)
    except la.LinAlgError:
        factor = None  # singular
    if factor is not None and np.diagonal(factor[0]).min() ** 2 > SINGULAR:
        made = la.cho_solve(factor, right, check_finite=False)
        made += la.cho_solve(factor, right - unit @ made, check_finite=False)
        return np.asarray((scale * made.T).T)
    values, vectors = la.eigh(unit, check_finite=False)
    kept = values > SINGULAR * values.size
    made = vectors[:, kept] @ ((vectors[:, kept].T @ right).T / values[kept]).T
    return np.asarray((scale * made.T).T)


@lean_kernel
def sweep(g, H, diagonal, x, r, last, times):  # type: ignore[no-untyped-def]
    """Coordinate descent: x_j <- prox_g(x_j - r_j / H_jj, 1 / H_jj), r += H dx."""
    for _ in range(times):
        for j in range(x.shape[0]):
            h = diagonal[j]
            new = x[j] - r[j] / h
            if j < last:
                new = prox(g, new, 1.0 / h)
            step = new - x[j]
            if step != 0.0:
                x[j] = new
                for k in range(x.shape[0]):
                    r[k] += step * H[j, k]


@lean_kernel
def slopes(g, diagonal, x, r, last, p, slope):  # type: ignore[no-untyped-def]
    """p_j = prox_g(v_j, t), v_j = x_j - t r_j, t = 1 / H_jj, and the prox's slope at v_j, by differences."""
    for j in range(x.shape[0]):
        t = 1.0 / diagonal[j]
        v = x[j] - r[j] * t
        p[j], slope[j] = v, 1.0
        if j < last:
            p[j] = prox(g, v, t)
            e = 1e-7 * (abs(v) + 1e-30)
            slope[j] = (prox(g, v + e, t) - prox(g, v - e, t)) / (2.0 * e)
