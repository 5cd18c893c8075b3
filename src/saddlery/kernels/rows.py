"""Primal-dual steps on rows drawn at random: the one loop under SPDC, AdaSPDC, their relatives, and SAG.

Step t draws a batch S of blocks and makes, with its own sigma_i, tau, rho, theta and weights w_i,

    y_i+ = c_i prox_conj(y_i / c_i, <A_i, xbar>, sigma_i), i in S          dy_i = y_i+ - y_i
    x+   = prox_g(x - tau F, tau)           F = r + sum_S w_i A_i dy_i      (l2: x+ = rho (x - tau F))
    r   += (1/n) sum_S A_i dy_i
    xbar = x+ + theta (x+ - x)

On dense data every coordinate takes part in every step (``Awake``, ``Alone``): S holds x, r, xbar, and what a batch
adds to r.

On sparse data a step costs O(nnz of the rows drawn): the coordinates that it does not touch sleep. There are two ways
to sleep, both exact for steps that vary. A coordinate has four numbers, S[0..3, j] = (p, r, q, stamp), beside each
other in memory.

``Affine`` (prox_g linear): x = Z p - U r for every coordinate, with two scalars Z <- rho Z, U <- rho (U + tau).
Since x+ - x = (1 - 1/rho) x+ - tau F, also xbar = A p + B r + q with two scalars A, B, where q is nonzero on the rows
of the last batch only, which their time stamp tells. clock = (Z, U, A, B, t).

``Stamped`` (any g): p is x_j as it was at the time stamp, and the verb ``drift`` brings it up to date; q is x_j one
step before, and, while a batch is added up (stamp t + 1/2), what it adds to r. clock = (last theta, _, _, _, t).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saddlery._compile import helper, lean_kernel, lean_verb
from saddlery.data.rows import U, ahead, column, dot, entry, prefetch, span
from saddlery.terms._sums import bounds, step
from saddlery.terms._verbs import drift, prox, shrink


class Data(NamedTuple):
    """What is given: lines, blocks, loss, labels, weights."""

    lines: Any
    blocks: Any
    f: Any
    b: Any
    c: Any


class Awake(NamedTuple):
    """Dense rows. x, r, xbar, and the force of the batch beside r."""

    x: Any
    r: Any
    bar: Any
    extra: Any
    g: Any

    def reach(self, lines, i, clock):
        return dot(lines, i, self.bar)

    def advance(self, tau, rho, theta, clock):
        pass

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        push(lines, i, share * dy, self.r, (w - share) * dy, self.extra)

    def settle(self, lines, i, tau, clock):
        pass

    def finish(self, tau, rho, theta):
        step_all(self.g, self.x, self.r, self.bar, self.extra, tau, rho, theta)


class Alone(NamedTuple):
    """`Awake` for batches of one dense line: the line's force, the step, and <l, xbar> of the next line in one pass.

    clock[3] is 1 + the line whose product with xbar is clock[4]. xbar itself is written in the last step of a sweep
    only, whose next line is its own. (`extra` stays 0.)
    """

    x: Any
    r: Any
    bar: Any
    extra: Any
    g: Any

    def reach(self, lines, i, clock):
        return clock[4] if clock[3] == i + U(1) else dot(lines, i, self.bar)

    def advance(self, tau, rho, theta, clock):
        pass

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        if soon == i:
            land(self.g, lines, i, self.x, self.r, self.bar, share * dy, w * dy, tau, rho, theta)
            clock[3] = 0.0
        else:
            clock[4] = leap(self.g, lines, i, soon, self.x, self.r, share * dy, w * dy, tau, rho, theta)
            clock[3] = soon + U(1)

    def settle(self, lines, i, tau, clock):
        pass

    def finish(self, tau, rho, theta):
        pass


class Affine(NamedTuple):
    """x = Z p - U r."""

    S: Any

    def reach(self, lines, i, clock):
        S, now, A, B = self.S, clock[4], clock[2], clock[3]
        first, last = span(lines, i)
        total = 0.0
        for k in range(first, last):
            j = column(lines, i, k)
            fresh = S[2, j] if S[3, j] == now else 0.0
            total += entry(lines, i, k) * (A * S[0, j] + B * S[1, j] + fresh)
        return total

    def advance(self, tau, rho, theta, clock):
        alpha = 1.0 + theta * (1.0 - 1.0 / rho)
        clock[0] *= rho
        clock[1] = rho * (clock[1] + tau)
        clock[2] = alpha * clock[0]
        clock[3] = -alpha * clock[1] - theta * tau
        clock[4] += 1.0

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        S, now = self.S, clock[4]
        add = (clock[1] * share - rho * tau * w) / clock[0] * dy  # so that Z p - U r is x+ with the new r
        force, fresh = share * dy, -theta * tau * (w - share) * dy
        first, last = span(lines, i)
        for k in range(first, last):
            j, a = column(lines, i, k), entry(lines, i, k)
            S[0, j] += add * a
            S[1, j] += force * a
            S[2, j] = fresh * a + (S[2, j] if S[3, j] == now else 0.0)
            S[3, j] = now

    def settle(self, lines, i, tau, clock):
        pass

    def finish(self, tau, rho, theta):
        pass


class Stamped(NamedTuple):
    """x_j at the time S[3, j]; tau, Z, U of every step of the stretch (see `prefixes`)."""

    S: Any
    g: Any
    tau: Any
    Z: Any
    U: Any

    def reach(self, lines, i, clock):
        S, now, theta = self.S, np.int64(clock[4]), clock[0]
        first, last = span(lines, i)
        total = 0.0
        for k in range(first, last):
            j = column(lines, i, k)
            wake(self, j, now)
            total += entry(lines, i, k) * (S[0, j] + theta * (S[0, j] - S[2, j]))
        return total

    def advance(self, tau, rho, theta, clock):
        clock[0] = theta
        clock[4] += 1.0

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        S, open_ = self.S, clock[4] - 0.5
        first, last = span(lines, i)
        for k in range(first, last):
            j, a = column(lines, i, k), entry(lines, i, k)
            S[1, j] += share * dy * a
            S[2, j] = (w - share) * dy * a + (S[2, j] if S[3, j] == open_ else 0.0)
            S[3, j] = open_

    def settle(self, lines, i, tau, clock):
        S, now = self.S, clock[4]
        first, last = span(lines, i)
        for k in range(first, last):
            j = column(lines, i, k)
            if S[3, j] < now:
                before = S[0, j]
                S[0, j] = prox(self.g, before - tau * (S[1, j] + S[2, j]), tau)
                S[2, j] = before
                S[3, j] = now

    def finish(self, tau, rho, theta):
        pass


@lean_verb
def reach(sleep, lines, i, clock):
    """<l_i, xbar>; wakes the coordinates of line i."""


@lean_verb
def advance(sleep, tau, rho, theta, clock):
    """Move time on by a step."""


@lean_verb
def pile(sleep, lines, i, soon, dy, w, share, tau, rho, theta, clock):
    """Add line i's part of the force of a batch; after `advance`. `soon` is the first line of the next batch."""


@lean_verb
def settle(sleep, lines, i, tau, clock):
    """Move the coordinates of line i under the force of the batch."""


@lean_verb
def finish(sleep, tau, rho, theta):
    """Move all coordinates, where all take part in every step."""


@helper
def push(lines, i, a, r, b, extra):
    """r += a l_i and extra += b l_i."""
    first, last = span(lines, i)
    for k in range(first, last):
        j, entry_ = column(lines, i, k), entry(lines, i, k)
        r[j] += a * entry_
        extra[j] += b * entry_


@helper
def step_all(g, x, r, bar, extra, tau, rho, theta):
    """x+ = prox_g(x - tau (r + extra), tau), xbar = x+ + theta (x+ - x), for every coordinate."""
    for j in range(U(x.shape[0])):
        before = x[j]
        new = shrink(g, before - tau * (r[j] + extra[j]), tau, rho)
        x[j] = new
        bar[j] = new + theta * (new - before)
        extra[j] = 0.0


@helper
def land(g, lines, i, x, r, bar, a, b, tau, rho, theta):
    """x+ = prox_g(x - tau (r + b l_i), tau), r += a l_i, xbar = x+ + theta (x+ - x)."""
    first, last = span(lines, i)
    for k in range(first, last):
        j, entry_ = column(lines, i, k), entry(lines, i, k)
        before = x[j]
        new = shrink(g, before - tau * (r[j] + b * entry_), tau, rho)
        r[j] += a * entry_
        x[j] = new
        bar[j] = new + theta * (new - before)


@helper
def leap(g, lines, i, soon, x, r, a, b, tau, rho, theta):
    """`land`, but for xbar, of which only <l_soon, xbar> is returned."""
    first, last = span(lines, i)
    total = 0.0
    for k in range(first, last):
        j, entry_ = column(lines, i, k), entry(lines, i, k)
        before = x[j]
        new = shrink(g, before - tau * (r[j] + b * entry_), tau, rho)
        r[j] += a * entry_
        x[j] = new
        total += entry(lines, soon, k) * (new + theta * (new - before))
    return total


@helper
def wake(sleep, j, now):
    """Bring coordinate j to time now, and q to now - 1."""
    S = sleep.S
    slept = np.int64(S[3, j])
    if slept < now:
        x, r = S[0, j], S[1, j]
        if slept < now - 1:
            x = drift(sleep.g, x, r, sleep.tau, sleep.Z, sleep.U, slept, now - 1)
        tau = sleep.tau[now - 1]
        S[2, j] = x
        S[0, j] = prox(sleep.g, x - tau * r, tau)
        S[3, j] = now


@lean_kernel
def wake_all(sleep, now):
    """Bring every coordinate to time `now`, and start counting anew."""
    S = sleep.S
    for j in range(U(S.shape[1])):
        wake(sleep, j, now)
        S[3, j] = 0.0


@lean_kernel
def sweep(data, sleep, y, steps, clock, bias, work):
    """One step for every row of ``steps.draws`` (padded with -1).

    The rows of `bias`, one column for each output, are an intercept s x + k with lam/2 x^2: k, x, its xbar, its r, what
    the batch adds to r, and s. `work` has three rows as long as the lines of the widest batch.
    """
    lines, blocks, f, b, c = data.lines, data.blocks, data.f, data.b, data.c
    draws, share, outputs = steps.draws, 1.0 / c.shape[0], U(bias.shape[1])
    batch, final = draws.shape[1], draws.shape[0] - 1
    wide = U(work.shape[1] // batch)
    z, change, free = work[0], work[1], bias[5, 0] != 0.0
    for t in range(draws.shape[0]):
        for k in range(batch):
            soon = draws[t + 6 if t + 6 < final else final, k]
            if soon >= 0:
                ahead(lines, bounds(blocks, U(soon))[0])
                prefetch(y, soon)
                prefetch(b, soon)
                prefetch(c, soon)
            i, at = U(draws[t, k]), U(k) * wide
            if draws[t, k] < 0:
                continue
            first, last = bounds(blocks, i)
            for line in range(first, last):
                seen = reach(sleep, lines, line, clock)
                if free:
                    o = (line - first) % outputs
                    seen += bias[5, o] * bias[2, o] + bias[0, o]
                z[at + line - first] = seen
                change[at + line - first] = y[line]
            if c[i] > 0.0:
                step(blocks, f, i, y, z, at, steps.sigma[t, k], b, c[i], change, work[2])
            for line in range(first, last):
                new = change[at + line - first]
                change[at + line - first] = new - y[line]
                y[line] = new
        tau, rho, theta = steps.tau[t], steps.rho[t], steps.theta[t]
        advance(sleep, tau, rho, theta, clock)
        later = bounds(blocks, U(max(draws[t + 1 if t < final else final, 0], 0)))[0]
        for k in range(batch):
            i, at, w = U(draws[t, k]), U(k) * wide, steps.weight[t, k]
            if draws[t, k] < 0:
                continue
            first, last = bounds(blocks, i)
            for line in range(first, last):
                dy = change[at + line - first]
                pile(sleep, lines, line, later, dy, w, share, tau, rho, theta, clock)
                if free:
                    o = (line - first) % outputs
                    bias[3, o] += bias[5, o] * share * dy
                    bias[4, o] += bias[5, o] * (w - share) * dy
        for k in range(batch):
            if draws[t, k] >= 0:
                first, last = bounds(blocks, U(draws[t, k]))
                for line in range(first, last):
                    settle(sleep, lines, line, tau, clock)
        finish(sleep, tau, rho, theta)
        for o in range(outputs if free else U(0)):
            before = bias[1, o]
            bias[1, o] = rho * (before - tau * (bias[3, o] + bias[4, o]))
            bias[2, o] = bias[1, o] + theta * (bias[1, o] - before)
            bias[4, o] = 0.0
