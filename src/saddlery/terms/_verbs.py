"""What can be asked of a term: a convex function of one number, or of one block of numbers.

A term is a ``NamedTuple`` whose fields are its parameters (floats or arrays) and whose methods are plain Python.
A *loss* f(z, b) of a prediction z and a label b writes

    value(self, z, b)      grad(self, z, b)      conj(self, y, b) = sup_z  y z - f(z, b)
    prox_conj(self, y0, z, sigma, b) = argmin_y  f*(y, b) - z y + (y - y0)^2 / (2 sigma)

and a *penalty* g(x), applied to every coordinate, writes

    value(self, x)         conj(self, v) = sup_x  v x - g(x)
    prox(self, v, tau) = argmin_x  g(x) + (x - v)^2 / (2 tau)

Everything else has a default here. Methods that end in ``_array`` are for arrays of another library (xp is its
namespace): ``grad_array(self, xp, z, b)``, ``prox_conj_array(self, xp, y0, z, sigma, b)``,
``prox_array(self, xp, v, tau)``. A term without them works there too, by way of this machine's memory.

The verbs below are resolved when a kernel is compiled, so that kernels never know a concrete term. In a method, other
methods of the same term are called as verbs: ``grad(self, z, b)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery._compile import instead, strict, verb

Array = NDArray[Any]
Term = Any  # a NamedTuple with some of the methods above; checked by `needs`, not by inheritance


@strict
def nonnegative(primal: float, dual: float, product: float) -> float:
    """primal + dual - product, where a negative sum is mostly rounding, and then 0.

    One that is more than the rounding of these three is left as it is: whether it is that of what they were made of, or
    a wrong formula, tells the size of the whole objective. See `certificate`.
    """
    gap = primal + dual - product
    return 0.0 if 0.0 > gap > -1e-9 * (abs(primal) + abs(dual) + abs(product)) else gap


# ---- losses, one number ------------------------------------------------------------------------------------------


@verb
def value(term: Term, *args: Any) -> float:
    """f(z, b), or g(x)."""


@verb
def grad(f: Term, z: float, b: float) -> float:
    """f'(z, b), or some subgradient."""


@verb
def conj(term: Term, *args: Any) -> float:
    """f*(y, b), or g*(v); infinite outside its domain."""


@verb
def prox_conj(f: Term, y0: float, z: float, sigma: float, b: float) -> float:
    """argmin_y f*(y, b) - z y + (y - y0)^2 / (2 sigma): the one dual step of every method."""


@verb
def interval(f: Term, b: float) -> tuple[float, float]:
    """The interval of y on which f*(y, b) is finite."""
    return -np.inf, np.inf


@verb
def fenchel_young(f: Term, z: float, y: float, b: float) -> float:
    """f(z, b) + f*(y, b) - y z >= 0. Terms of this library write it without cancellation."""
    return nonnegative(value(f, z, b), conj(f, y, b), y * z)


# ---- losses, one block -------------------------------------------------------------------------------------------
# The default block is a sum over its components, each with its own label.


@verb
def value_block(f: Term, z: Array, b: Array) -> float:
    """f(z, b) of a vector z."""
    total = 0.0
    for k in range(z.shape[0]):
        total += value(f, z[k], b[k])
    return total


@verb
def grad_block(f: Term, z: Array, b: Array, out: Array) -> None:
    """The gradient of f at the vector z, written to `out`."""
    for k in range(z.shape[0]):
        out[k] = grad(f, z[k], b[k])


@verb
def conj_block(f: Term, y: Array, b: Array) -> float:
    """f*(y, b) of a vector y."""
    total = 0.0
    for k in range(y.shape[0]):
        total += conj(f, y[k], b[k])
    return total


@verb
def prox_conj_block(f: Term, y0: Array, z: Array, sigma: float, b: Array, out: Array) -> None:
    """argmin_y f*(y, b) - <z, y> + |y - y0|^2 / (2 sigma), written to `out`."""
    for k in range(z.shape[0]):
        out[k] = prox_conj(f, y0[k], z[k], sigma, b[k])


@verb
def project_block(f: Term, y: Array, b: Array) -> None:
    """Move y, in place, to a point where f*(y, b) is finite (the nearest one, up to rounding)."""
    for k in range(y.shape[0]):
        low, high = interval(f, b[k])
        if y[k] < low:
            y[k] = low
        elif y[k] > high:
            y[k] = high


@verb
def fenchel_young_block(f: Term, z: Array, y: Array, b: Array) -> float:
    """f(z, b) + f*(y, b) - <y, z> >= 0."""
    total = 0.0
    for k in range(z.shape[0]):
        total += fenchel_young(f, z[k], y[k], b[k])
    return total


@instead(fenchel_young_block, "value_block")
def _fenchel_young_of_a_block(f: Term, z: Array, y: Array, b: Array) -> float:
    product = 0.0
    for k in range(z.shape[0]):
        product += y[k] * z[k]
    return nonnegative(value_block(f, z, b), conj_block(f, y, b), product)


# ---- penalties, one coordinate -----------------------------------------------------------------------------------


@verb
def prox(g: Term, v: float, tau: float) -> float:
    """argmin_x g(x) + (x - v)^2 / (2 tau)."""


@verb
def grad_conj(term: Term, v: float, *label: float) -> float:
    """argmax_x v x - g(x), for a strongly convex g. Default: the prox with a step of 1e15, right to about 1e-15.

    Of a strongly convex loss, with its label: argmax_z v z - f(z, b), the z with f'(z, b) = v. No default.
    """
    return prox(term, 1e15 * v, 1e15)


@verb
def reach(g: Term) -> tuple[float, float]:
    """The interval of v on which g*(v) is finite."""
    return -np.inf, np.inf


@verb
def slack(g: Term, x: float, v: float) -> float:
    """g(x) + g*(v) - v x >= 0. Terms of this library write it without cancellation."""
    return nonnegative(value(g, x), conj(g, v), v * x)


@verb
def drift(g: Term, x: float, r: float, tau: Array, Z: Array, U: Array, s: int, t: int) -> float:
    """Where a coordinate is after it slept through the steps s, ..., t - 1 under the constant force r.

    Each step is x <- prox_g(x - tau_k r, tau_k). Default: replay them, until not even a step a million times as long
    would move x. Penalties that hold lam/2 x^2 may use the prefix arrays Z, U of `prefixes`: without their other part,
    x_t = A x_s - B r with A = Z[t] / Z[s] and B = U[t] - A U[s].
    """
    for k in range(s, t):
        moved = prox(g, x - tau[k] * r, tau[k])
        if moved == x and prox(g, x - 1e6 * tau[k] * r, 1e6 * tau[k]) == x:
            return x
        x = moved
    return x


@verb
def shrink(g: Term, v: float, tau: float, rho: float) -> float:
    """prox_g(v, tau), or, where the prox is linear, rho v with a factor that a method may choose (SAG does)."""
    return prox(g, v, tau)


def prefixes(lam: float, tau: Array) -> tuple[Array, Array]:
    """Z_t = prod_{k<t} rho_k and U_{t+1} = rho_t (U_t + tau_t) with rho_k = 1 / (1 + lam tau_k)."""
    rho = 1.0 / (1.0 + lam * tau)
    Z = np.concatenate([[1.0], np.cumprod(rho)])
    U = np.concatenate([[0.0], Z[1:] * np.cumsum(tau / Z[:-1])])
    return Z, U


# ---- traits: facts of one line -----------------------------------------------------------------------------------


def _trait(term: Term, name: str, default: Any) -> Any:
    method = getattr(type(term), name, None)
    return default if method is None else method(term)


def modulus(term: Term) -> float:
    """Strong convexity: delta of a loss, lam of a penalty. 0 where the term does not say."""
    return float(_trait(term, "modulus", 0.0))


def smoothness(f: Term) -> float:
    """Lipschitz constant 1/gamma of f'. Infinite where the term does not say."""
    return float(_trait(f, "smoothness", math.inf))


def gamma(f: Term) -> float:
    """Strong convexity of f*: 1 / smoothness."""
    return 1.0 / smoothness(f)


def separable(g: Term) -> bool:
    """Is the penalty a sum over coordinates? Methods that touch one row at a time need it."""
    return bool(_trait(g, "separable", True))


def affine(g: Term) -> bool:
    """Is prox_g linear, prox(v, tau) = v / (1 + lam tau)? Then sleeping coordinates cost two numbers in all."""
    return bool(_trait(g, "affine", False))


def labels(f: Term) -> str:
    """What b may hold: "real", "margin" (-1 or 1), or "class" (0 .. n_classes - 1)."""
    return str(_trait(f, "labels", "real"))


def outputs(f: Term) -> int:
    """Predictions per row: 1, or the number of classes of a loss that only has block verbs."""
    return int(_trait(f, "outputs", 1))


def normal(term: Term) -> Term:
    """The same term with every number a float and every array contiguous, so that kernels meet one type.

    A term may check its own parameters in a method ``check``, called here.
    """
    if not (isinstance(term, tuple) and hasattr(term, "_fields")):
        raise TypeError(
            f"a loss or penalty is an instance of a NamedTuple class such as Logistic() or L2(0.1), found {term!r}"
        )
    parts = [_normal_part(type(term).__name__, name, part) for name, part in zip(term._fields, term, strict=True)]
    made = type(term)(*parts)
    check = getattr(type(made), "check", None)
    if check is not None:
        check(made)
    return made


def _normal_part(owner: str, name: str, part: Any) -> Any:
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        return normal(part)
    if isinstance(part, (str, bytes)) or part is None:
        raise TypeError(f"{owner}({name}=...) must be a number or an array, found {part!r}")
    array = np.asarray(part)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{owner}({name}=...) must be a number or an array of numbers, found {part!r}")
    if array.ndim == 0:
        return float(array)
    return np.ascontiguousarray(array, dtype=np.int64 if array.dtype.kind in "biu" else np.float64)
