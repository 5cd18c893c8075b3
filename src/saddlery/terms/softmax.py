"""f(z, b) = log sum_k exp(z_k) - z_b, b in 0 .. K - 1;   f*(y, b) = sum_k s_k log s_k, s = y + e_b in the simplex.

f is 1/2-smooth in the Euclidean norm. It has block verbs only; a label is handed to them as an array of one number.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

from saddlery._compile import strict
from saddlery.terms.logistic import excess

Array = NDArray[Any]


@strict
def log_sum_exp(z: Array) -> float:
    """log sum_k exp(z_k)."""
    top = z[0]
    for k in range(1, z.shape[0]):
        top = z[k] if not z[k] <= top else top  # NaN stays
    total = 0.0
    for k in range(z.shape[0]):
        total += math.exp(z[k] - top)
    return top + math.log(total)


@strict
def omega(t: float, inverse: float) -> float:
    """The root l of l + exp(l) * inverse = t.

    With l' = l + log(inverse) it is l' + exp(l') = t + log(inverse): Newton on a convex increasing function, from a
    point right of the root, so monotone.
    """
    if inverse == 0.0:
        return t
    shift = math.log(inverse)
    t += shift
    root = math.log(t) if t > 1.0 else min(t, 0.0)
    for _ in range(100):
        e = math.exp(root)
        step = (root + e - t) / (1.0 + e)
        root -= step
        if not abs(step) > 1e-9 * (1.0 + abs(root)):
            break
    return root - shift


class Softmax(NamedTuple):
    """Multinomial logistic loss over `n_classes` classes. 1/2-smooth. x is d x K, y is n x K, labels 0 .. K - 1."""

    n_classes: int

    def check(self) -> None:
        if self.n_classes < 2 or self.n_classes != int(self.n_classes):
            raise ValueError(f"Softmax(n_classes=...) must be a whole number, 2 or more, found {self.n_classes:g}")

    def smoothness(self) -> float:
        return 0.5

    def labels(self) -> str:
        return "class"

    def outputs(self) -> int:
        return int(self.n_classes)

    def value_block(self, z: Array, b: Array) -> float:
        return log_sum_exp(z) - z[int(b[0])]

    def grad_block(self, z: Array, b: Array, out: Array) -> None:
        total = log_sum_exp(z)
        for k in range(z.shape[0]):
            out[k] = math.exp(z[k] - total)
        out[int(b[0])] -= 1.0

    def conj_block(self, y: Array, b: Array) -> float:
        total, value = 0.0, 0.0
        for k in range(y.shape[0]):
            s = y[k] + (1.0 if k == int(b[0]) else 0.0)
            if s < -4e-16 * (4 + y.shape[0]):
                return math.inf
            total += s
            if s > 0.0 or math.isnan(s):
                value += s * math.log(s)
        return math.inf if abs(total - 1.0) > 4e-16 * (4 + y.shape[0]) else value

    def project_block(self, y: Array, b: Array) -> None:
        """s = y + e_b with its negative entries removed, scaled to sum 1."""
        label, total = int(b[0]), 0.0
        y[label] += 1.0
        for k in range(y.shape[0]):
            y[k] = max(y[k], 0.0)
            total += y[k]
        for k in range(y.shape[0]):
            y[k] = y[k] / total if total > 0.0 else 1.0 / y.shape[0]
        rest = 0.0  # y_b = s_b - 1 = -(sum of the others), exact also where s_b is nearly 1
        for k in range(y.shape[0]):
            if k != label:
                rest += y[k]
        y[label] = -rest

    def prox_conj_block(self, y0: Array, z: Array, sigma: float, b: Array, out: Array) -> None:
        """log s_k + s_k / sigma = t_k + nu, t = z + (y0 + e_b) / sigma, with nu such that sum_k s_k = 1.

        The sum rises with nu: Newton in nu on log sum_k s_k (concave), kept inside a bracket.
        """
        inverse, label, classes = 1.0 / sigma, int(b[0]), z.shape[0]
        top = -math.inf
        for k in range(classes):
            out[k] = z[k] + (y0[k] + (1.0 if k == label else 0.0)) * inverse
            top = max(top, out[k])
        high = inverse - top  # the largest s_k is 1
        low = inverse / classes - math.log(classes) - top  # the largest s_k is 1/K
        nu = high
        for _ in range(200):
            total, slope = 0.0, 0.0
            for k in range(z.shape[0]):
                s = math.exp(omega(out[k] + nu, inverse))
                total += s
                slope += s / (1.0 + s * inverse)
            if total > 1.0:
                high = min(high, nu)
            else:
                low = max(low, nu)
            step = math.log(total) * total / slope
            new = nu - step
            if not (low <= new <= high):
                new = (low + high) / 2.0
            moved = abs(new - nu)
            nu = new
            if not moved > 1e-15 * (1.0 + abs(nu)):
                break
        total, rest = 0.0, 0.0
        for k in range(classes):
            out[k] = math.exp(omega(out[k] + nu, inverse))
            total += out[k]
        for k in range(classes):
            out[k] /= total  # 1 up to rounding, which at extreme arguments is more than the last digit
            if k != label:
                rest += out[k]
        out[label] = -rest

    def fenchel_young_block(self, z: Array, y: Array, b: Array) -> float:
        """Kullback-Leibler divergence of s = y + e_b from softmax(z), as K nonnegative terms."""
        norm, total, value = log_sum_exp(z), 0.0, 0.0
        for k in range(z.shape[0]):
            s = y[k] + (1.0 if k == int(b[0]) else 0.0)
            if s < -4e-16 * (4 + y.shape[0]):
                return math.inf
            total += s
            value += excess(0.0 if s < 0.0 else s, z[k] - norm, math.exp(z[k] - norm))
        return math.inf if abs(total - 1.0) > 4e-16 * (4 + y.shape[0]) else value
