"""What steps need to know of a matrix: its largest and its smallest singular value, and cheap bounds of these.

L = |diag(sqrt(w)) A|          R <= L <= |A|_F <= sqrt(n) R
mu^2 = lambda_min(A'WA)        mu^2 <= |A|_F^2 / min(n, d), also of the smallest that is not 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from saddlery.couplings.rows import RowCoupling

Array = NDArray[Any]

SAFETY = 1.02  # the power iteration approaches a norm from below; steps use the estimate times this
SMALL = 1000  # order of a Gram matrix up to which its eigenvalues are computed without being asked for,
WORK = 3e10  # and the multiplications that making it may take: seconds


def norm(coupling: RowCoupling, weights: Array, *, most: int = 100, seed: int = 0) -> tuple[float, int]:
    """An upper estimate of L, and the passes that it took: a power iteration on A'WA, times a margin of 2 %.

    The estimate after k passes is the best that the vectors x, A'WA x, ..., (A'WA)^k x know (Lanczos), not only the
    last of them, which takes a fifth of the passes for the same digits. It approaches L from below, and ends when a
    pass adds less than one part in 10^3; the margin stands for what is then missing (measured: 1.2 % at most). It is no
    bound: methods that use it check |A dx| <= L |dx| as they go. A start without a part in the top singular vector has
    probability 0.
    """
    x = np.random.default_rng(seed).standard_normal(coupling.d)
    x /= np.linalg.norm(x)
    before, spread = np.zeros(coupling.d), coupling.spread(weights)
    diagonal, beside, top = list[float](), list[float](), 0.0
    while len(diagonal) < most:
        image = coupling.force(spread * coupling.predictions(x)) * coupling.n
        diagonal.append(float(x @ image))
        last, top = top, float(eigvalsh_tridiagonal(diagonal, beside)[-1])
        image -= diagonal[-1] * x + (beside[-1] * before if beside else 0.0)
        size = float(np.linalg.norm(image))
        if not (top > last * (1.0 + 2e-3) and size > 1e-12 * top):
            break
        beside.append(size)
        before, x = x, image / size
    return SAFETY * float(np.sqrt(top)), len(diagonal)


def within_reach(coupling: RowCoupling) -> bool:
    """Are the eigenvalues of the smaller Gram matrix little enough work to be computed without being asked for?"""
    order = min(coupling.m, coupling.d) // coupling.q
    return order <= SMALL and float(coupling.rows.stored) * order <= WORK


def eigenvalues(coupling: RowCoupling, weights: Array, ones: float = 0.0) -> Array:
    """The min(n, d) eigenvalues of A'WA that need not be 0, rising; `ones`: with a column of that number beside A.

    From the smaller of the two Gram matrices, in double precision: O(n d min(n, d)).
    """
    A = coupling.rows.matrix().astype(np.float64)
    root = np.sqrt(coupling.spread(weights)[:: coupling.q])
    A = A * root[:, None] if isinstance(A, np.ndarray) else A.multiply(root[:, None]).tocsr()
    tall = A.shape[0] >= A.shape[1] + (ones > 0.0)
    gram = A.T @ A if tall else A @ A.T
    gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    if ones > 0.0 and tall:
        side = ones * np.asarray(A.T @ root).reshape(-1, 1)
        gram = np.block([[gram, side], [side.T, np.full((1, 1), ones**2 * float(root @ root))]])
    elif ones > 0.0:
        gram = gram + ones**2 * np.outer(root, root)
    return np.asarray(np.linalg.eigvalsh(gram))


def smallest(values: Array) -> float:
    """The smallest of rising eigenvalues that is not 0 up to rounding; 0 where all are."""
    positive = values[values > 1e-13 * values.size * max(float(values[-1]), 0.0)]
    return float(positive[0]) if positive.size else 0.0
