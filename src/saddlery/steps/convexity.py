"""Steps that use the strong convexity of the data (Wang and Xiao, 2017, Theorems 1 to 4, as corrected).

With L = |A|, R = max_i |a_i|, Delta = delta mu^2, mu^2 = lambda_min(A'A), S = n lam + Delta:

======= ======================== ======================== ================================================ =============
method  tau                      sigma                    theta_x (1 + tau lam)                            h
======= ======================== ======================== ================================================ =============
bpd     (n/L) sqrt(gamma/S)      (1/L) sqrt(S/gamma)      1 - Delta / ((delta + 2 sigma) L^2)              sigma gamma/2
df-bpd  kappa (n/L) sqrt(gam/S)  (kappa/L) sqrt(gamma S)  1 - tau sigma (Delta/n) / (4 + 2 sigma)          sigma/2
spdc    (kappa/R) sqrt(gamma/S)  (kappa/R) sqrt(S/gamma)  1 - tau sigma Delta / (2n (sigma + 4 delta))     sigma gamma/2
df-spdc (kappa/R) sqrt(gamma/S)  (kappa/R) sqrt(gamma S)  1 - tau sigma Delta / (n (4 + 2 sigma))          sigma/2
======= ======================== ======================== ================================================ =============

theta_y = 1 / (1 + h), of the randomised ones (1 + (1 - 1/n) h) / (1 + h); theta = max(theta_x, theta_y). Where delta is
0 and Delta is an estimate of what the loss is locally, theta_x cannot be had and theta = theta_y.

Proved: kappa = 1/2 for df-bpd (the paper prints 1, its appendix proves 1/2), kappa = 1/4 for spdc and df-spdc.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Constants(NamedTuple):
    """The numbers of a problem that these steps depend on: `size` is L for the batch methods, R for the others."""

    n: int
    lam: float
    gamma: float
    delta: float
    size: float

    def total(self, Delta: float) -> float:
        """S = n lam + Delta, n times the strong convexity of P as it is taken to be."""
        return self.n * self.lam + Delta


class Step(NamedTuple):
    """tau, sigma, theta, and h, with which 1 / (1 + h) is theta_y (a step, or n steps of a randomised method)."""

    tau: float
    sigma: float
    theta: float
    h: float


def bpd(now: Constants, Delta: float) -> Step:
    """Theorem 1."""
    n, L, S = now.n, now.size, now.total(Delta)
    tau, sigma = n / L * math.sqrt(now.gamma / S), math.sqrt(S / now.gamma) / L
    fall = Delta / ((now.delta + 2.0 * sigma) * L**2)
    return _with_theta(now, Delta, tau, sigma, fall, sigma * now.gamma / 2.0, 0.0)


def df_bpd(now: Constants, Delta: float, kappa: float) -> Step:
    """Theorem 3."""
    n, L, S = now.n, now.size, now.total(Delta)
    tau, sigma = kappa * n / L * math.sqrt(now.gamma / S), kappa * math.sqrt(now.gamma * S) / L
    fall = tau * sigma * (Delta / n) / (4.0 + 2.0 * sigma)
    return _with_theta(now, Delta, tau, sigma, fall, sigma / 2.0, 0.0)


def spdc(now: Constants, Delta: float, kappa: float) -> Step:
    """Theorem 2."""
    n, R, S = now.n, now.size, now.total(Delta)
    tau, sigma = kappa / R * math.sqrt(now.gamma / S), kappa / R * math.sqrt(S / now.gamma)
    fall = tau * sigma * Delta / (2.0 * n * (sigma + 4.0 * now.delta))
    return _with_theta(now, Delta, tau, sigma, fall, sigma * now.gamma / 2.0, 1.0 - 1.0 / n)


def df_spdc(now: Constants, Delta: float, kappa: float) -> Step:
    """Theorem 4."""
    n, R, S = now.n, now.size, now.total(Delta)
    tau, sigma = kappa / R * math.sqrt(now.gamma / S), kappa / R * math.sqrt(now.gamma * S)
    fall = tau * sigma * Delta / (n * (4.0 + 2.0 * sigma))
    return _with_theta(now, Delta, tau, sigma, fall, sigma / 2.0, 1.0 - 1.0 / n)


def _with_theta(now: Constants, Delta: float, tau: float, sigma: float, fall: float, h: float, stay: float) -> Step:
    """theta = max(theta_x, theta_y), at most 1."""
    theta_y = (1.0 + stay * h) / (1.0 + h)
    known = now.delta > 0.0 or Delta == 0.0
    theta_x = max(1.0 - fall, 0.0) / (1.0 + tau * now.lam) if known else 0.0
    return Step(tau, sigma, min(max(theta_x, theta_y), 1.0), h)
