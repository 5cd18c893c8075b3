"""A term over an array: means of a loss over blocks, sums of a penalty over coordinates.

Blocks are consecutive lines of the coupling. ``Single`` says that every block is one line, and lets the scalar verbs
run; ``Blocks`` holds where each begins, and lets the block verbs run. Weights c multiply the loss of a block:
c f(z), whose conjugate is c f*(y / c).

Nothing here makes an array or assigns to a slice: Numba compiles what it would say if that failed, for seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import kernel, lean_verb, strict, verb
from saddlery.terms._verbs import (
    conj,
    conj_block,
    fenchel_young,
    fenchel_young_block,
    grad,
    grad_block,
    grad_conj,
    interval,
    project_block,
    prox,
    prox_conj,
    prox_conj_block,
    reach,
    slack,
    value,
    value_block,
)

Array = NDArray[Any]


class Single(NamedTuple):
    """Every block is one line with one label."""

    def bounds(self, i):
        return i, i + np.uint64(1)

    def measure(self, f, i, z, y, b, c, work):
        return value(f, z[i], b[i]), fenchel_young(f, z[i], y[i] / c, b[i])

    def dual(self, f, i, y, b, c, work):
        return conj(f, y[i] / c, b[i])

    def gradient(self, f, i, z, b, c, y):
        y[i] = c * grad(f, z[i], b[i])

    def project(self, f, i, y, b, c):
        low, high = interval(f, b[i])
        v = y[i] / c
        if v < low:
            y[i] = _times(c, low)
        elif v > high:
            y[i] = _times(c, high)

    def step(self, f, i, y, z, at, sigma, b, c, out, work):
        out[at] = c * prox_conj(f, y[i] / c, z[at], sigma, b[i])

    def slope(self, f, i, z, place, b, c, out, at):
        out[at] = c * grad(f, z[place], b[i])


class Blocks(NamedTuple):
    """Block i is the lines start[i] .. start[i + 1] - 1; `shared` blocks have one label, others one for each line."""

    start: Any
    width: int
    shared: bool

    def bounds(self, i):
        return np.uint64(self.start[i]), np.uint64(self.start[i + np.uint64(1)])

    def measure(self, f, i, z, y, b, c, work):
        first, last = bounds(self, i)
        label = _label(self, b, i, first, last)
        v = work[: last - first]
        for k in range(v.shape[0]):
            v[k] = y[first + np.uint64(k)] / c
        here = z[first:last]
        return value_block(f, here, label), fenchel_young_block(f, here, v, label)

    def dual(self, f, i, y, b, c, work):
        first, last = bounds(self, i)
        v = work[: last - first]
        for k in range(v.shape[0]):
            v[k] = y[first + np.uint64(k)] / c
        return conj_block(f, v, _label(self, b, i, first, last))

    def gradient(self, f, i, z, b, c, y):
        first, last = bounds(self, i)
        grad_block(f, z[first:last], _label(self, b, i, first, last), y[first:last])
        for k in range(first, last):
            y[k] *= c

    def project(self, f, i, y, b, c):
        first, last = bounds(self, i)
        for k in range(first, last):
            y[k] /= c
        project_block(f, y[first:last], _label(self, b, i, first, last))
        for k in range(first, last):
            y[k] *= c

    def step(self, f, i, y, z, at, sigma, b, c, out, work):
        first, last = bounds(self, i)
        end = at + (last - first)
        v, new = work[: last - first], out[at:end]
        for k in range(v.shape[0]):
            v[k] = y[first + np.uint64(k)] / c
        prox_conj_block(f, v, z[at:end], sigma, _label(self, b, i, first, last), new)
        for k in range(v.shape[0]):
            new[k] *= c

    def slope(self, f, i, z, place, b, c, out, at):
        first, last = bounds(self, i)
        new = out[at : at + (last - first)]
        grad_block(f, z[place : place + (last - first)], _label(self, b, i, first, last), new)
        for k in range(new.shape[0]):
            new[k] *= c


class DualFree(NamedTuple):
    """Blocks whose dual step needs no prox: v_i <- (v_i + sigma z) / (1 + sigma), y_i = c f'(v_i)."""

    blocks: Any
    v: Any

    def bounds(self, i):
        return bounds(self.blocks, i)

    def step(self, f, i, y, z, at, sigma, b, c, out, work):
        first, last = bounds(self.blocks, i)
        for k in range(first, last):
            self.v[k] = (self.v[k] + sigma * z[at + k - first]) / (1.0 + sigma)
        slope(self.blocks, f, i, self.v, first, b, c, out, at)


@strict
def _times(c, v):
    """c v, rounded such that division by c does not lead beyond v: that could be outside the domain of f*."""
    y = c * v
    return y if abs(y / c) <= abs(v) else np.nextafter(y, 0.0)


@strict
def _label(blocks, b, i, first, last):
    return b[i : i + np.uint64(1)] if blocks.shared else b[first:last]


@lean_verb
def bounds(blocks, i):
    """First and last (exclusive) line of block i."""


@verb
def measure(blocks, f, i, z, y, b, c, work):
    """f(z_i), and f(z_i) + f*(y_i / c) - <y_i / c, z_i>."""


@verb
def dual(blocks, f, i, y, b, c, work):
    """f*(y_i / c)."""


@verb
def gradient(blocks, f, i, z, b, c, y):
    """y_i = c f'(z_i)."""


@verb
def project(blocks, f, i, y, b, c):
    """Move y_i to where c f*(y_i / c) is finite."""


@verb
def step(blocks, f, i, y, z, at, sigma, b, c, out, work):
    """The dual step of block i, written to out[at:], from its predictions z[at:]. `work` is as long as a block.

    The loss is weighted by c: the new y_i is c v with v = prox_conj(y_i / c, z, sigma).
    """


@verb
def slope(blocks, f, i, z, place, b, c, out, at):
    """c f'(z_i) of block i, from its predictions z[place:], written to out[at:]."""


@kernel
def loss_means(blocks, f, z, y, b, c, work):
    """Means over blocks of c f(z) and of c FY(z, y / c), and the least FY, which is 0 or more if f* is right.

    Blocks of weight 0 count for nothing, and so does an FY below 0.
    """
    losses, gaps, least = 0.0, 0.0, 0.0
    for i in range(np.uint64(c.shape[0])):
        if c[i] > 0.0:
            a, e = measure(blocks, f, i, z, y, b, c[i], work)
            losses += c[i] * a
            if e < 0.0:
                least = min(least, e)
            else:
                gaps += c[i] * e
    return losses / c.shape[0], gaps / c.shape[0], least


@kernel
def conj_mean(blocks, f, y, b, c, work):
    """Mean over blocks of c f*(y / c)."""
    total = 0.0
    for i in range(np.uint64(c.shape[0])):
        if c[i] > 0.0:
            total += c[i] * dual(blocks, f, i, y, b, c[i], work)
    return total / c.shape[0]


@kernel
def gradients(blocks, f, z, b, c, y):
    """y_i = c_i f'(z_i) for every block."""
    for i in range(np.uint64(c.shape[0])):
        gradient(blocks, f, i, z, b, c[i], y)


@kernel
def gradients_back(f, y, b, c, z):
    """z_i = f*'(y_i / c_i): where f' is y_i / c_i, of losses that say so."""
    for i in range(np.uint64(y.shape[0])):
        z[i] = grad_conj(f, y[i] / c[i] if c[i] > 0.0 else 0.0, b[i])


@kernel
def feasible(blocks, f, y, b, c):
    """Move every y_i, in place, to where its conjugate is finite; y_i = 0 where the weight is 0."""
    for i in range(np.uint64(c.shape[0])):
        if c[i] > 0.0:
            project(blocks, f, i, y, b, c[i])
        else:
            first, last = bounds(blocks, i)
            for k in range(first, last):
                y[k] = 0.0


@kernel
def rooms(blocks, f, y, b, c, out):
    """How far y_i / c_i is from the ends of its interval, at most 1, times c_i."""
    for i in range(np.uint64(c.shape[0])):
        first, last = bounds(blocks, i)
        for k in range(first, last):
            if c[i] > 0.0:
                low, high = interval(f, b[k if b.shape[0] == y.shape[0] else i])
                v = y[k] / c[i]
                out[k] = c[i] * min(1.0, v - low, high - v)


@kernel
def steps_all(blocks, f, y, z, sigma, b, c, out, work):
    """out_i: the dual step of y_i at z_i with step sigma_i, for every block."""
    for i in range(np.uint64(c.shape[0])):
        first, last = bounds(blocks, i)
        if c[i] > 0.0:
            step(blocks, f, i, y, z, first, sigma[i], b, c[i], out, work)
        else:
            for k in range(first, last):
                out[k] = y[k]


@kernel
def penalty_sums(g, x, v):
    """Sums over coordinates of g(x) and of g(x) + g*(v) - x v, and the least of these: see `loss_means`."""
    values, gaps, least = 0.0, 0.0, 0.0
    for j in range(x.shape[0]):
        values += value(g, x[j])
        e = slack(g, x[j], v[j])
        if e < 0.0:
            least = min(least, e)
        else:
            gaps += e
    return values, gaps, least


@kernel
def near_sum(g, x, v, beta):
    """Sum over coordinates of g(x) + g*(p) - x p + beta/2 (x' - x)^2, x' = prox_g(x + v / beta, 1 / beta) and

    p = v - beta (x' - x), a subgradient of g at x' and so, but for rounding, where g* is finite.
    """
    total, (low, high) = 0.0, reach(g)
    for j in range(x.shape[0]):
        moved = prox(g, x[j] + v[j] / beta, 1.0 / beta) - x[j]
        e = slack(g, x[j], min(max(v[j] - beta * moved, low), high))
        total += (0.0 if e < 0.0 else e) + beta / 2.0 * moved * moved
    return total


@kernel
def conj_sum(g, v):
    """Sum over coordinates of g*(v)."""
    total = 0.0
    for j in range(v.shape[0]):
        total += conj(g, v[j])
    return total


@kernel
def prox_all(g, x, tau):
    """x_j <- prox_g(x_j, tau) for every coordinate."""
    for j in range(np.uint64(x.shape[0])):
        x[j] = prox(g, x[j], tau)
