"""Primal-dual steps on rows drawn at random: the one loop under SPDC, AdaSPDC, their relatives, and SAG.

Step t draws a batch S of blocks and makes, with its own sigma_i, tau, rho, theta and weights w_i,

    y_i+ = c_i prox_conj(y_i / c_i, <A_i, xbar>, sigma_i), i in S          dy_i = y_i+ - y_i
    x+   = prox_g(x - tau F, tau)           F = r + sum_S w_i A_i dy_i      (l2: x+ = rho (x - tau F))
    r   += (1/n) sum_S A_i dy_i
    xbar = x+ + theta (x+ - x)

On sparse data a step costs O(nnz of the rows drawn): the coordinates that it does not touch sleep. There are two ways
to sleep, both exact for steps that vary. The four numbers of a coordinate lie beside each other in memory.

``Affine`` (prox_g linear): x = Z p - U r for every coordinate, with two scalars Z <- rho Z, U <- rho (U + tau).
Since x+ - x = (1 - 1/rho) x+ - tau F, also xbar = A p + B r + q with two scalars A, B, where q is nonzero on the rows
of the last batch only, which their time stamp tells.

``Stamped`` (any g): x_j is as it was at the time stamp_j, and the verb ``drift`` brings it up to date; q_j is x_j one
step before. An intercept is a further column of s's with penalty lam/2, and an offset k: see `Bias`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saddlery._compile import helper, kernel, verb
from saddlery.data.rows import U, ahead, column, entry, prefetch, span
from saddlery.terms._sums import bounds, step, widest
from saddlery.terms._verbs import drift, prox


class Data(NamedTuple):
    """What is given: lines, blocks, loss, labels, weights."""

    lines: Any
    blocks: Any
    f: Any
    b: Any
    c: Any


class Bias(NamedTuple):
    """An intercept for each output, x0 = s x + k with lam/2 x^2; its xbar, its force r, and what a batch adds to r."""

    s: float
    k: Any
    x: Any
    xbar: Any
    r: Any
    extra: Any


class Affine(NamedTuple):
    """x = Z p - U r. clock = (Z, U, A, B, t)."""

    p: Any
    r: Any
    q: Any
    stamp: Any

    def reach(self, lines, i, now, clock):
        return _reach_affine(self, lines, i, now, clock[2], clock[3])

    def advance(self, tau, rho, theta, clock):
        clock[0] *= rho
        clock[1] = rho * (clock[1] + tau)
        if clock[0] < 1e-100:
            _rebase(self, clock)
        alpha = 1.0 + theta * (1.0 - 1.0 / rho)
        clock[2] = alpha * clock[0]
        clock[3] = -alpha * clock[1] - theta * tau
        clock[4] += 1.0

    def clear(self, lines, i):
        pass

    def pile(self, lines, i, dy, w, share, steps, t, clock):
        """After `advance`: p so that Z p - U r is x+, with r the new force."""
        tau, rho, theta = steps.tau[t], steps.rho[t], steps.theta[t]
        add = (clock[1] * share - rho * tau * w) / clock[0] * dy
        _pile_affine(self, lines, i, add, share * dy, -theta * tau * (w - share) * dy, clock[4])

    def settle(self, lines, i, steps, t, clock):
        pass

    def land(self, lines, i, dy, w, share, steps, t, clock):
        pile(self, lines, i, dy, w, share, steps, t, clock)


class Stamped(NamedTuple):
    """x_j at time stamp_j. clock = (theta of the last step, _, _, _, t)."""

    p: Any
    r: Any
    q: Any
    stamp: Any
    g: Any
    tau: Any
    Z: Any
    U: Any

    def reach(self, lines, i, now, clock):
        return _reach_stamped(self, lines, i, np.int64(now), clock[0])

    def advance(self, tau, rho, theta, clock):
        clock[0] = theta
        clock[4] += 1.0

    def clear(self, lines, i):
        first, last = span(lines, i)
        for k in range(first, last):
            self.q[column(lines, i, k)] = 0.0

    def pile(self, lines, i, dy, w, share, steps, t, clock):
        first, last = span(lines, i)
        for k in range(first, last):
            j, a = column(lines, i, k), entry(lines, i, k)
            self.q[j] += (w - share) * dy * a
            self.r[j] += share * dy * a

    def settle(self, lines, i, steps, t, clock):
        tau = steps.tau[t]
        first, last = span(lines, i)
        for k in range(first, last):
            j = column(lines, i, k)
            if self.stamp[j] < clock[4]:
                before = self.p[j]
                self.p[j] = prox(self.g, before - tau * (self.r[j] + self.q[j]), tau)
                self.q[j] = before
                self.stamp[j] = clock[4]

    def land(self, lines, i, dy, w, share, steps, t, clock):
        tau = steps.tau[t]
        first, last = span(lines, i)
        for k in range(first, last):
            j, a = column(lines, i, k), entry(lines, i, k)
            before, r = self.p[j], self.r[j]
            self.p[j] = prox(self.g, before - tau * (r + w * dy * a), tau)
            self.q[j] = before
            self.r[j] = r + share * dy * a
            self.stamp[j] = clock[4]


@verb
def reach(sleep, lines, i, now, clock):
    """<l_i, xbar>; wakes the coordinates of line i."""


@verb
def advance(sleep, tau, rho, theta, clock):
    """Move time on by a step."""


@verb
def clear(sleep, lines, i):
    """Make room on line i for the force of a batch."""


@verb
def pile(sleep, lines, i, dy, w, share, steps, t, clock):
    """Add line i's part of the force of a batch."""


@verb
def settle(sleep, lines, i, steps, t, clock):
    """Move the coordinates of line i under the force of the batch."""


@verb
def land(sleep, lines, i, dy, w, share, steps, t, clock):
    """`clear`, `pile` and `settle` in one pass, for a batch of one line."""


@helper
def _reach_affine(sleep, lines, i, now, A, B):
    first, last = span(lines, i)
    total = 0.0
    for k in range(first, last):
        j = column(lines, i, k)
        fresh = sleep.q[j] if sleep.stamp[j] == now else 0.0
        total += entry(lines, i, k) * (A * sleep.p[j] + B * sleep.r[j] + fresh)
    return total


@helper
def _pile_affine(sleep, lines, i, add, force, fresh, now):
    first, last = span(lines, i)
    for k in range(first, last):
        j, a = column(lines, i, k), entry(lines, i, k)
        sleep.p[j] += add * a
        sleep.r[j] += force * a
        sleep.q[j] = fresh * a + (sleep.q[j] if sleep.stamp[j] == now else 0.0)
        sleep.stamp[j] = now


@helper
def _rebase(sleep, clock):
    for j in range(sleep.p.shape[0]):
        sleep.p[j] = clock[0] * sleep.p[j] - clock[1] * sleep.r[j]
    clock[0], clock[1] = 1.0, 0.0


@helper
def _wake(sleep, j, now):
    """Bring coordinate j to time now, and q_j to now - 1."""
    slept = np.int64(sleep.stamp[j])
    if slept < now:
        r, x = sleep.r[j], sleep.p[j]
        if slept < now - 1:
            x = drift(sleep.g, x, r, sleep.tau, sleep.Z, sleep.U, slept, now - 1)
        tau = sleep.tau[now - 1]
        sleep.q[j] = x
        sleep.p[j] = prox(sleep.g, x - tau * r, tau)
        sleep.stamp[j] = now


@helper
def _reach_stamped(sleep, lines, i, now, theta):
    first, last = span(lines, i)
    total = 0.0
    for k in range(first, last):
        j = column(lines, i, k)
        _wake(sleep, j, now)
        x = sleep.p[j]
        total += entry(lines, i, k) * (x + theta * (x - sleep.q[j]))
    return total


@helper
def look_ahead(data, y, draws, t, k):
    """Ask the memory for the block that the next step draws in place k."""
    soon = draws[min(t + 1, draws.shape[0] - 1), k]
    if soon >= 0:
        ahead(data.lines, bounds(data.blocks, U(soon))[0])
        prefetch(y, soon)
        prefetch(data.b, soon)
        prefetch(data.c, soon)


@helper
def dual_step(data, sleep, y, sigma, i, at, z, change, clock, bias):
    """Move y_i, leave dy_i in change[at:]; returns the number of lines of block i."""
    first, last = bounds(data.blocks, i)
    outputs = U(bias.x.shape[0])
    for line in range(first, last):
        o = (line - first) % outputs
        offset = bias.s * bias.xbar[o] + bias.k[o]
        z[at + line - first] = reach(sleep, data.lines, line, clock[4], clock) + offset
    step(data.blocks, data.f, i, y, z, at, sigma, data.b, data.c[i], change)
    for line in range(first, last):
        new = change[at + line - first]
        change[at + line - first] = new - y[line]
        y[line] = new
    return last - first


@helper
def bias_pile(bias, k, dy, w, share):
    """The part of one line in the force on the intercept: r as for x, and (w - share) s dy beside it."""
    o = k % U(bias.x.shape[0])
    bias.r[o] += share * bias.s * dy
    bias.extra[o] += (w - share) * bias.s * dy


@helper
def bias_step(bias, tau, rho, theta):
    """x+ = rho (x - tau F), xbar = x+ + theta (x+ - x), for the intercept."""
    for o in range(U(bias.x.shape[0])):
        before = bias.x[o]
        bias.x[o] = rho * (before - tau * (bias.r[o] + bias.extra[o]))
        bias.xbar[o] = bias.x[o] + theta * (bias.x[o] - before)
        bias.extra[o] = 0.0


@kernel
def wake_all(sleep, now):
    """Bring every coordinate to time `now`, and start counting anew."""
    for j in range(U(sleep.p.shape[0])):
        _wake(sleep, j, now)
        sleep.stamp[j] = 0.0


@kernel
def affine_point(sleep, clock, x):
    """x = Z p - U r."""
    for j in range(U(x.shape[0])):
        x[j] = clock[0] * sleep.p[j] - clock[1] * sleep.r[j]


@kernel
def sweep(data, sleep, y, steps, clock, bias):
    """One step for every row of ``steps.draws`` (padded with -1)."""
    share, batch, wide = 1.0 / data.c.shape[0], steps.draws.shape[1], widest(data.blocks)
    z, change = np.empty(batch * wide), np.empty(batch * wide)
    members, places = np.empty(batch, np.uint64), np.empty(batch, np.uint64)
    for t in range(steps.draws.shape[0]):
        size, lines = 0, U(0)
        for k in range(batch):
            look_ahead(data, y, steps.draws, t, k)
            drawn = steps.draws[t, k]
            if drawn >= 0 and data.c[U(drawn)] > 0.0:
                members[size], places[size] = U(drawn), U(k)
                size += 1
                lines += dual_step(data, sleep, y, steps.sigma[t, k], U(drawn), U(k * wide), z, change, clock, bias)
        advance(sleep, steps.tau[t], steps.rho[t], steps.theta[t], clock)
        alone = lines == U(1)
        if not alone:
            for k in range(size):
                for line in range(*bounds(data.blocks, members[k])):
                    clear(sleep, data.lines, line)
        for k in range(size):
            first, last = bounds(data.blocks, members[k])
            at, w = places[k] * U(wide) - first, steps.weight[t, places[k]]
            for line in range(first, last):
                dy = change[at + line]
                if alone:
                    land(sleep, data.lines, line, dy, w, share, steps, t, clock)
                else:
                    pile(sleep, data.lines, line, dy, w, share, steps, t, clock)
                bias_pile(bias, line - first, dy, w, share)
        if not alone:
            for k in range(size):
                for line in range(*bounds(data.blocks, members[k])):
                    settle(sleep, data.lines, line, steps, t, clock)
        bias_step(bias, steps.tau[t], steps.rho[t], steps.theta[t])
