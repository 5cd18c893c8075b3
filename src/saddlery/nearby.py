"""The gap of a nearby problem, P(.) + beta/2 |. - x|^2: finite for every y, also where P has no penalty.

    (1/n) sum_i c_i FY(z_i, y_i / c_i) + [ g(x) + g*(p) - <x, p> + beta/2 |x' - x|^2 ],   z = A x + x0,  u = A'y / n,

with x' = prox_g(x - u / beta, 1 / beta) and p = -u - beta (x' - x), a subgradient of g at x': nonnegative terms. It
goes to 0 as (x, y) goes to a saddle point, and bounds nothing but P(x) less the minimum of that problem. The weight of
an intercept is 1e-4 of the largest curvature that it can meet.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.problem import Problem
from saddlery.terms import _verbs
from saddlery.terms._sums import feasible, near_sum

Array = NDArray[Any]

NEAR = 1e-4  # of the largest curvature


def nearness(problem: Problem) -> float:
    """beta: small against what the data can have of strong convexity."""
    return NEAR * problem.hidden_most / problem.n


def near_gap(problem: Problem, x: Array, z: Array, y: Array, u: Array, beta: float) -> float:
    """The gap at x and y; the exact one of P for beta = 0."""
    f, g = problem.f, problem.g
    gap = problem.losses(z, y)[1]
    if gap == math.inf:  # y is outside of the domain of f* by rounding
        y = np.array(y)
        feasible(problem.coupling.blocks, f, y, problem.b, problem.c)
        gap = problem.losses(z, y)[1]
    if beta == 0.0:
        gap += problem.penalty(x, -u)[1]
    elif _verbs.separable(g):
        gap += float(near_sum(g, x, -u, beta))
    else:
        moved = g.prox(x - u / beta, 1.0 / beta) - x
        gap += problem.penalty(x, -u - beta * moved)[1] + beta / 2.0 * float(moved @ moved)
    if problem.intercept:
        slope = y.reshape(-1, problem.q).sum(axis=0) / problem.n
        gap += (problem.gamma or 1.0) / (2.0 * NEAR) * float(slope @ slope)
    return gap
