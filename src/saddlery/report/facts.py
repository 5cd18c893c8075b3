"""A problem in numbers and in a formula, as a reader of a report wants to see it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from saddlery.problem import Problem

# loss: the formula of f(z, b), with z for <a_i, x> and b for b_i
LOSSES = {
    "Squared": "½ (z − b)²",
    "Logistic": "log(1 + exp(−b z))",
    "SmoothHinge": "smooth hinge of b z",
    "SquaredHinge": "½ max(0, 1 − b z)²",
    "Huber": "Huber function of z − b",
    "Softmax": "log Σₖ exp zₖ − z_b",
    "Hinge": "max(0, 1 − b z)",
    "Absolute": "|z − b|",
    "EpsilonInsensitive": "max(0, |z − b| − ε)",
    "SquaredEpsilonInsensitive": "½ max(0, |z − b| − ε)²",
}
PENALTIES = {
    "L2": "(λ/2) ‖x‖²",
    "L1": "λ₁ ‖x‖₁",
    "L1L2": "λ₁ ‖x‖₁ + (λ₂/2) ‖x‖²",
    "Zero": "0",
    "Box": "[lo ≤ x ≤ hi] + (λ/2) ‖x‖²",
    "NonNegative": "[x ≥ 0] + λ₁ ‖x‖₁ + (λ/2) ‖x‖²",
    "GroupL2": "α Σ_groups ‖x_group‖ + (λ/2) ‖x‖²",
}


class Facts(NamedTuple):
    """What there is to know of a linear problem.

    Attributes
    ----------
    n, d, q : rows, columns, predictions a row. stored : stored entries. sparse : are zeros left out?
    loss, penalty : the terms with their parameters. loss_formula, penalty_formula : as text.
    intercept : is there an unpenalised one? at_zero : P(0), by which gaps are divided, NaN where it is not.
    condition : n lam / mean |a_i|^2; hard problems are those below a hundredth. NaN where it means nothing.
    """

    n: int
    d: int
    q: int
    stored: int
    sparse: bool
    loss: str
    penalty: str
    loss_formula: str
    penalty_formula: str
    intercept: bool
    at_zero: float
    condition: float

    @classmethod
    def of(cls, problem: Problem) -> Facts:
        """The facts of a problem."""
        rows = problem.coupling.rows
        (n, d), f, g = rows.shape, problem.f, problem.g
        mean = float(np.mean(problem.squares))
        return cls(
            n,
            d,
            problem.q,
            rows.stored,
            rows.stored < n * d,
            term(f),
            term(g),
            LOSSES.get(type(f).__name__, f"{type(f).__name__} of z and b"),
            PENALTIES.get(type(g).__name__, f"{type(g).__name__} of x"),
            problem.intercept,
            problem.scale or math.nan,
            problem.n * problem.lam / mean if mean > 0.0 else math.nan,
        )


def term(made: Any) -> str:
    """``L2(lam=0.001)``: a term with those of its parameters that are not as they are if nobody says otherwise."""
    usual = made._field_defaults
    pairs = zip(made._fields, made, strict=True)
    inner = ", ".join(f"{name}={_short(value)}" for name, value in pairs if not _same(value, usual.get(name)))
    return f"{type(made).__name__}({inner})" if inner else type(made).__name__


def _same(value: Any, usual: Any) -> bool:
    return isinstance(value, (int, float)) and isinstance(usual, (int, float)) and value == usual


def _short(value: Any) -> str:
    if isinstance(value, (int, float, np.number)):
        return f"{float(value):g}"
    size = getattr(value, "size", None)
    return f"{size} numbers" if size is not None else str(value)[:40]
