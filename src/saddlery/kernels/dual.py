"""Exact minimisation over one coordinate at a time, of the dual or of the primal: one loop over lines of the matrix.

Line i of the matrix L moves the coordinate p_i, and every coordinate moves w = sum_i p_i l_i (scaled):

    slope = sum_k L_ik respond(w_k)        p_i <- move(p_i, slope, size_i)        w += change l_i

======== ============== ===================================== ==============================================
role     lines          w and its response                    move
======== ============== ===================================== ==============================================
DualStep rows of A      u = A'y / n, x_j = grad g*(-u_j)      y_i = c_i prox_conj(y_i / c_i, <a_i, x>, sigma_i)
                                                              with sigma_i = lam n / R_i^2: SDCA's exact step
Primal-  columns of A   z = A x, y_i = c_i f'(z_i + x0)       x_j = prox_g(x_j - tau_j <a_j, y> / n, tau_j)
Step                                                          with tau_j = n gamma / sum_i c_i a_ij^2
======== ============== ===================================== ==============================================

`extra` holds what belongs to the intercept: see each role.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from saddlery._compile import helper, kernel, verb
from saddlery.data.rows import U, ahead, axpy, column, entry, prefetch, span
from saddlery.terms._verbs import grad, grad_conj, prox, prox_conj


class DualStep(NamedTuple):
    """Moves y. extra = (s, k, u0, 1/lam): a column of s's whose coordinate is -u0 / lam, and an offset k."""

    f: Any
    g: Any
    b: Any
    c: Any

    def respond(self, k, w, extra):
        return grad_conj(self.g, -w)

    def live(self, i):
        return self.c[i] > 0.0

    def hint(self, i):
        prefetch(self.b, i)
        prefetch(self.c, i)

    def move(self, i, y, slope, size, extra):
        z = slope - extra[0] * extra[2] * extra[3] + extra[1]
        return self.c[i] * prox_conj(self.f, y / self.c[i], z, size, self.b[i])

    def spread(self, i, change, extra):
        extra[2] += extra[0] * change / self.b.shape[0]
        return change / self.b.shape[0]


class PrimalStep(NamedTuple):
    """Moves x. extra = (x0,): the intercept, which follows every move exactly where `mean` holds column means.

    (Squared loss: the best x0 falls by change * mean_j. Elsewhere `mean` is 0 and x0 is fitted between epochs.)
    """

    f: Any
    g: Any
    b: Any
    c: Any
    mean: Any

    def respond(self, k, w, extra):
        return self.c[k] * grad(self.f, w + extra[0], self.b[k])

    def live(self, j):
        return True

    def hint(self, j):
        prefetch(self.mean, j)

    def move(self, j, x, slope, size, extra):
        return prox(self.g, x - size * slope / self.b.shape[0], size)

    def spread(self, j, change, extra):
        extra[0] -= change * self.mean[j]
        return change


@verb
def respond(role, k, w, extra):
    """What the line meets at coordinate k."""


@verb
def live(role, i):
    """May line i move?"""


@verb
def hint(role, i):
    """Ask the memory for what the role needs of line i."""


@verb
def move(role, i, p, slope, size, extra):
    """The exact minimiser over coordinate i."""


@verb
def spread(role, i, change, extra):
    """Note the change of coordinate i; returns the multiple of line i that w moves by."""


@helper
def gather(lines, i, role, w, extra):
    """sum_k L_ik respond(w_k)."""
    first, last = span(lines, i)
    total = 0.0
    for k in range(first, last):
        j = column(lines, i, k)
        total += entry(lines, i, k) * respond(role, j, w[j], extra)
    return total


@kernel
def coordinates(lines, role, order, point, w, sizes, extra):
    """Move the coordinates of `order`, one after the other."""
    last = order.shape[0] - 1
    for t in range(order.shape[0]):
        i, soon = U(order[t]), U(order[min(t + 2, last)])
        ahead(lines, soon)
        prefetch(point, soon)
        prefetch(sizes, soon)
        hint(role, soon)
        if live(role, i):
            slope = gather(lines, i, role, w, extra)
            change = move(role, i, point[i], slope, sizes[i], extra) - point[i]
            if change != 0.0:
                point[i] += change
                axpy(lines, i, spread(role, i, change, extra), w)
