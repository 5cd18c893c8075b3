"""Gradient steps whose noise a table takes away: the one loop under SAG, SAGA, SVRG and Katyusha.

Step t draws a row (a block) i and moves x against the force on it, of which the table y holds most:

    new = c_i f'(<A_i, x>)        dy = new - y_i        x+ = prox_g(x - tau (r + w A_i dy), tau),  r = A'y / n

With a table that *learns* (SAG, SAGA) y_i = new and r += A_i dy / n; one that does not is a snapshot (SVRG, Katyusha).
Rows sleep as in :mod:`saddlery.kernels.rows`; xbar = x here. Two more ways to sleep, both for sparse rows:

``Pair``   prox_g linear: x = Z p - U r, and (p, r) beside each other are all that a coordinate needs.
``Linked`` Katyusha, which looks at x = t1 z + t2 a + (1 - t1 - t2) y and makes, with theta = 1 + tau lam,

    z+ = prox_g(z - tau F, tau)        y+ = x + t1 (z+ - z)        s+ = s / theta + y+

a coordinate has (z, y, s, r, a, stamp, F - r, -), a the anchor, s what becomes the next. While it sleeps, F = r, and
with g linear k steps are linear in (z, y, s, r, a), with coefficients that depend on k only: see `powers`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saddlery._compile import helper, lean_kernel, lean_verb
from saddlery.data.rows import U, ahead, column, entry, prefetch, span
from saddlery.kernels.rows import advance, finish, pile, reach, settle
from saddlery.terms._sums import bounds, slope
from saddlery.terms._verbs import prox


class Moves(NamedTuple):
    """One entry for each step. x+ = rho (x - tau F) where prox_g is linear."""

    draws: Any
    weight: Any
    tau: Any
    rho: Any


class Pair(NamedTuple):
    """x = Z p - U r, clock = (Z, U)."""

    S: Any

    def reach(self, lines, i, clock):
        S, Z, minus_U = self.S, clock[0], -clock[1]
        first, last = span(lines, i)
        total = 0.0
        for k in range(first, last):
            j = column(lines, i, k)
            total += entry(lines, i, k) * (Z * S[0, j] + minus_U * S[1, j])
        return total

    def advance(self, tau, rho, theta, clock):
        clock[0] *= rho
        clock[1] = rho * (clock[1] + tau)

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        S, force = self.S, share * dy
        add = (clock[1] * share - rho * tau * w) / clock[0] * dy  # so that Z p - U r is x+ with the new r
        first, last = span(lines, i)
        for k in range(first, last):
            j, a = column(lines, i, k), entry(lines, i, k)
            S[0, j] += add * a
            S[1, j] += force * a

    def settle(self, lines, i, tau, clock):
        pass

    def finish(self, tau, rho, theta):
        pass


class Linked(NamedTuple):
    """Katyusha's coordinates at the time of their stamp; `powers` brings them up to date. clock[4]: the time."""

    S: Any
    g: Any
    t1: Any
    t2: Any
    theta: Any
    powers: Any

    def reach(self, lines, i, clock):
        S, now, t1, t2 = self.S, np.int64(clock[4]), self.t1, self.t2
        first, last = span(lines, i)
        total = 0.0
        for k in range(first, last):
            j = column(lines, i, k)
            rouse(S, self.powers, j, now)
            total += entry(lines, i, k) * (t1 * S[0, j] + t2 * S[4, j] + (1.0 - t1 - t2) * S[1, j])
        return total

    def advance(self, tau, rho, theta, clock):
        clock[4] += 1.0

    def pile(self, lines, i, soon, dy, w, share, tau, rho, theta, clock):
        S = self.S
        first, last = span(lines, i)
        for k in range(first, last):
            S[6, column(lines, i, k)] += w * dy * entry(lines, i, k)

    def settle(self, lines, i, tau, clock):
        S, now = self.S, clock[4]
        first, last = span(lines, i)
        for k in range(first, last):
            j = column(lines, i, k)
            if S[5, j] < now:
                new = prox(self.g, S[0, j] - tau * (S[3, j] + S[6, j]), tau)
                link(S, self.t1, self.t2, self.theta, j, new, now)

    def finish(self, tau, rho, theta):
        pass

    def bias_at(self, bias, o, clock):
        S, j = self.S, U(self.S.shape[1] - bias.shape[1]) + o
        return self.t1 * S[0, j] + self.t2 * S[4, j] + (1.0 - self.t1 - self.t2) * S[1, j]

    def bias_pile(self, bias, o, dy, w, share):
        S = self.S
        S[6, U(S.shape[1] - bias.shape[1]) + o] += bias[5, o] * w * dy

    def bias_step(self, bias, o, tau, rho, clock):
        S, j = self.S, U(self.S.shape[1] - bias.shape[1]) + o
        new = rho * (S[0, j] - tau * (S[3, j] + S[6, j]))
        link(S, self.t1, self.t2, self.theta, j, new, clock[4])


@lean_verb
def bias_at(sleep, bias, o, clock):
    """x' of the intercept s x' + k: see `sweep` in kernels/rows.py for the rows of `bias`."""
    return bias[1, o]


@lean_verb
def bias_pile(sleep, bias, o, dy, w, share):
    """What a row adds to the force on it."""
    bias[3, o] += bias[5, o] * share * dy
    bias[4, o] += bias[5, o] * (w - share) * dy


@lean_verb
def bias_step(sleep, bias, o, tau, rho, clock):
    """Its step."""
    bias[1, o] = rho * (bias[1, o] - tau * (bias[3, o] + bias[4, o]))
    bias[4, o] = 0.0


@helper
def link(S, t1, t2, theta, j, new, now):
    """z+ = new, and y+, s+."""
    y = t1 * new + t2 * S[4, j] + (1.0 - t1 - t2) * S[1, j]  # x + t1 (z+ - z)
    S[0, j] = new
    S[1, j] = y
    S[2, j] = S[2, j] / theta + y
    S[5, j] = now
    S[6, j] = 0.0


@helper
def rouse(S, powers, j, now):
    """Bring coordinate j to time now."""
    slept = now - np.int64(S[5, j])
    if slept > 0:
        P = powers[slept]
        z, y, s, r, a = S[0, j], S[1, j], S[2, j], S[3, j], S[4, j]
        S[0, j] = P[0] * z + P[1] * r
        S[1, j] = P[2] * y + P[3] * z + P[4] * r + P[5] * a
        S[2, j] = P[6] * s + P[7] * y + P[8] * z + P[9] * r + P[10] * a
        S[5, j] = now


@lean_kernel
def rouse_all(sleep, count, now):
    """Bring `count` coordinates to time `now` (an intercept that is none does not move), and start counting anew."""
    S = sleep.S
    for j in range(U(count)):
        rouse(S, sleep.powers, j, now)
        S[5, j] = 0.0


@lean_kernel
def powers(out, t1, t2, theta, tau, rho):
    """Row k: how (z, r), (y, z, r, a) and (s, y, z, r, a) make z, y and s after k steps of sleep."""
    t3 = 1.0 - t1 - t2
    for m in range(11):
        out[0, m] = 0.0
    out[0, 0] = out[0, 2] = out[0, 6] = 1.0
    for k in range(out.shape[0] - 1):
        last, P = out[k], out[k + 1]
        P[0], P[1] = rho * last[0], rho * (last[1] - tau)
        P[2], P[3], P[4], P[5] = t3 * last[2], t1 * P[0] + t3 * last[3], t1 * P[1] + t3 * last[4], t2 + t3 * last[5]
        P[6] = last[6] / theta
        for m in range(4):
            P[7 + m] = last[7 + m] / theta + P[2 + m]


@lean_kernel
def replace(data, sleep, y, moves, learns, clock, bias, work):
    """One step for every row of ``moves.draws``. `learns`: 1 for a table that learns, 0 for a snapshot."""
    lines, blocks, f, b, c = data.lines, data.blocks, data.f, data.b, data.c
    draws, share, outputs = moves.draws, learns / c.shape[0], U(bias.shape[1])
    z, change, free, final = work[0], work[1], bias[5, 0] != 0.0, moves.draws.shape[0] - 1
    for t in range(draws.shape[0]):
        soon = U(draws[t + 6 if t + 6 < final else final])
        ahead(lines, bounds(blocks, soon)[0])
        prefetch(y, soon)
        prefetch(b, soon)
        i, later = U(draws[t]), bounds(blocks, U(draws[t + 1 if t < final else final]))[0]
        first, last = bounds(blocks, i)
        tau, rho, w = moves.tau[t], moves.rho[t], moves.weight[t]
        for line in range(first, last):
            seen = reach(sleep, lines, line, clock)
            if free:
                o = (line - first) % outputs
                seen += bias[5, o] * bias_at(sleep, bias, o, clock) + bias[0, o]
            z[line - first] = seen
        slope(blocks, f, i, z, U(0), b, c[i], change, U(0))
        for line in range(first, last):
            new = change[line - first]
            change[line - first] = new - y[line]
            if learns > 0.0:
                y[line] = new
        advance(sleep, tau, rho, 0.0, clock)
        for line in range(first, last):
            dy = change[line - first]
            pile(sleep, lines, line, later, dy, w, share, tau, rho, 0.0, clock)
            if free:
                bias_pile(sleep, bias, (line - first) % outputs, dy, w, share)
        for line in range(first, last):
            settle(sleep, lines, line, tau, clock)
        finish(sleep, tau, rho, 0.0)
        for o in range(outputs if free else U(0)):
            bias_step(sleep, bias, o, tau, rho, clock)
