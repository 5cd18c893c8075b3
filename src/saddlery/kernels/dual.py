"""Exact minimisation over one coordinate at a time, of the dual or of the primal: one loop over lines of the matrix.

Line i of the matrix L moves the coordinate p_i, and every coordinate moves w = sum_i p_i l_i (scaled):

    slope = sum_k L_ik respond(w_k)        p_i <- move(p_i, slope)        w += change l_i

======== ============== ===================================== ==============================================
role     lines          w and its response                    move
======== ============== ===================================== ==============================================
DualStep rows of A      u = A'y / n, x_j = grad g*(-u_j)      y_i = c_i prox_conj(y_i / c_i, <a_i, x>, sigma_i)
                                                              with sigma_i = lam n / R_i^2: SDCA's exact step
Primal-  columns of A   z = A x, y_i = c_i f'(z_i + x0)       x_j = prox_g(x_j - tau_j <a_j, y> / n, tau_j)
Step                                                          with tau_j = n gamma / sum_i c_i a_ij^2
======== ============== ===================================== ==============================================

`own` holds three numbers for each line, `extra` what belongs to the intercept: see each role.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from saddlery._compile import helper, lean_kernel, lean_verb
from saddlery.data.rows import U, ahead, axpy, column, entry, prefetch, span
from saddlery.terms._verbs import grad, grad_conj, prox, prox_conj


class DualStep(NamedTuple):
    """Moves y. Of line i: own = (sigma_i, b_i, c_i). extra = (s, k, u0, 1/lam), a column of s's for an intercept

    whose coordinate is -u0 / lam, and an offset k.
    """

    f: Any
    g: Any

    def respond(self, k, w, extra):
        return grad_conj(self.g, -w)

    def move(self, y, slope, own, i, extra):
        c = own[i, 2]
        z = slope - extra[0] * extra[2] * extra[3] + extra[1]
        return c * prox_conj(self.f, y / c, z, own[i, 0], own[i, 1])

    def spread(self, change, own, i, extra):
        share = change * (1.0 / own.shape[0])
        extra[2] += extra[0] * share
        return share


class PrimalStep(NamedTuple):
    """Moves x. Of line j: own = (tau_j / n, tau_j, mean_j). extra = (x0,), the intercept.

    It follows every move exactly where mean_j is the mean of column j (squared loss: the best x0 falls by
    change * mean_j). Elsewhere mean_j is 0 and x0 is fitted between epochs.
    """

    f: Any
    g: Any
    b: Any
    c: Any

    def respond(self, k, w, extra):
        return self.c[k] * grad(self.f, w + extra[0], self.b[k])

    def move(self, x, slope, own, j, extra):
        return prox(self.g, x - own[j, 0] * slope, own[j, 1])

    def spread(self, change, own, j, extra):
        extra[0] -= change * own[j, 2]
        return change


@lean_verb
def respond(role, k, w, extra):
    """What the line meets at coordinate k."""


@lean_verb
def move(role, p, slope, own, i, extra):
    """The exact minimiser over coordinate i."""


@lean_verb
def spread(role, change, own, i, extra):
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


@helper
def meet(lines, i, j, role, w, extra):
    """sum_k L_jk respond(w_k), and <l_i, l_j>, of two dense lines."""
    first, last = span(lines, j)
    total, product = 0.0, 0.0
    for k in range(first, last):
        a = entry(lines, j, k)
        total += a * respond(role, k, w[k], extra)
        product += a * entry(lines, i, k)
    return total, product


@lean_kernel
def coordinates_ahead(lines, role, order, point, w, own, extra):
    """`coordinates` for dense lines and a linear response: the next slope is made while this step is on its way.

    After w += s l_i the slope of line j is what it was before, plus the response to s <l_i, l_j>.
    """
    last = order.shape[0] - 1
    slope = gather(lines, U(order[0]), role, w, extra)
    for t in range(order.shape[0]):
        i, j, soon = U(order[t]), U(order[t + 1 if t < last else last]), U(order[t + 8 if t + 8 < last else last])
        ahead(lines, soon)
        prefetch(point, soon)
        prefetch(own, U(3) * soon)
        before, product = meet(lines, i, j, role, w, extra)
        old = point[i]
        point[i] = move(role, old, slope, own, i, extra)
        step = spread(role, point[i] - old, own, i, extra)
        slope = before + respond(role, U(0), step * product, extra)
        axpy(lines, i, step, w)


@lean_kernel
def coordinates(lines, role, order, point, w, own, extra):
    """Move the coordinates of `order`, one after the other."""
    last = order.shape[0] - 1
    for t in range(order.shape[0]):
        i, soon = U(order[t]), U(order[t + 4 if t + 4 < last else last])
        ahead(lines, soon)
        prefetch(point, soon)
        prefetch(own, U(3) * soon)
        slope = gather(lines, i, role, w, extra)
        old = point[i]
        point[i] = move(role, old, slope, own, i, extra)
        change = point[i] - old
        if change != 0.0:
            axpy(lines, i, spread(role, change, own, i, extra), w)
