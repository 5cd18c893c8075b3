"""The linear problem.

    P(x) = (1/n) sum_i c_i f(<a_i, x> + x0, b_i) + g(x)
    D(y) = -(1/n) sum_i c_i f*(y_i / c_i, b_i) - g*(-A'y / n)        sum_i y_i = 0 where there is an intercept x0

Rows a_i of A, labels b, weights c of mean 1, a loss f and a penalty g. Problems are records: they know no algorithm.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlery.couplings.rows import RowCoupling
from saddlery.couplings.space import Here, There, space
from saddlery.couplings.spectrum import eigenvalues, norm, smallest, within_reach
from saddlery.data.placed import Placed
from saddlery.data.rows import Rows, locked
from saddlery.inputs import bound, fits, labels, one_loss, term, weights_of, whole_blocks
from saddlery.terms import _verbs
from saddlery.terms._sums import conj_mean, conj_sum, gradients, loss_means, penalty_sums

if TYPE_CHECKING:
    from saddlery.certificate import Certificate

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """What every linear problem is made of. Made by :class:`ERM` and :class:`SeparableSaddle`.

    Attributes
    ----------
    coupling : the lines of A and their blocks.
    f, g : loss and penalty.
    b : labels. c : weights, one for each block, of mean 1.
    intercept : is the last entry (row) of x an unpenalised intercept?
    radius : a bound of |x*|, the intercept left out, if the user knows one.
    """

    coupling: RowCoupling
    f: Any
    g: Any
    b: Array
    c: Array
    intercept: bool = False
    radius: float | None = None

    # ---- sizes and moduli

    @property
    def n(self) -> int:
        """Terms of the sum."""
        return self.coupling.n

    @property
    def d(self) -> int:
        """Length of the penalised part of x, as a flat vector."""
        return self.coupling.d

    @property
    def q(self) -> int:
        """Outputs: columns of x."""
        return self.coupling.q

    @property
    def x_shape(self) -> tuple[int, ...]:
        """Shape of x."""
        rows = self.d // self.q + self.intercept
        return (rows,) if self.q == 1 else (rows, self.q)

    @property
    def y_shape(self) -> tuple[int, ...]:
        """Shape of y."""
        return (self.coupling.m,) if self.q == 1 else (self.n, self.q)

    @cached_property
    def lam(self) -> float:
        """Strong convexity of g."""
        return _verbs.modulus(self.g)

    @cached_property
    def gamma(self) -> float:
        """Strong convexity of f*."""
        return _verbs.gamma(self.f)

    @cached_property
    def squares(self) -> Array:
        """R_i^2 = c_i |A_i|^2: with y = sqrt(c) y', methods are unchanged by weights."""
        return self.coupling.squares if (self.c == 1.0).all() else np.asarray(self.c * self.coupling.squares)

    @cached_property
    def curvature(self) -> float:
        """A proven modulus of the loss part of P: delta lambda_min(A'CA) / n, a little less for rounding.

        With an intercept A has a column of ones more. 0 where it is not known, as for more than 1000 columns.
        """
        delta, full = _verbs.modulus(self.f), self.d + self.intercept <= self.coupling.m
        if delta == 0.0 or self.q > 1 or not full or not within_reach(self.coupling):
            return 0.0
        values = eigenvalues(self.coupling, self.c, float(self.intercept))
        return delta * max(0.0, float(values[0]) - 4e-16 * values.size * float(values[-1])) / self.n

    def smallest_square(self, ones: float = 0.0) -> float:
        """mu^2, the smallest eigenvalue of A'CA that is not 0; NaN where it would be too much work.

        `ones`: with a column of that number beside A. Eigenvalues that are 0 do not count for x in the range of A'.
        """
        if not within_reach(self.coupling):
            return math.nan
        return smallest(eigenvalues(self.coupling, self.c, ones))

    @cached_property
    def hidden_most(self) -> float:
        """|A|_F^2 / (gamma min(n, d)): an upper bound, for free, of the strong convexity mu^2 / gamma in the data."""
        total = float(self.coupling.spread(self.c)[:: self.q] @ self.coupling.rows.squares())
        return max(total, 1e-300) / ((self.gamma or 1.0) * (min(self.coupling.m, self.d) // self.q))

    @cached_property
    def space(self) -> Here | There:
        """Where the vectors of batch methods live: beside X."""
        return space(self.coupling, self.f, self.g, self.b, self.c)

    def norm(self) -> tuple[float, int]:
        """An upper estimate of L = |diag(sqrt(c)) A|, made once, and the passes that it took now."""
        known = "_norm" in self.__dict__
        return self._norm[0], 0 if known else self._norm[1]

    @cached_property
    def _norm(self) -> tuple[float, int]:
        return norm(self.coupling, self.c)

    @cached_property
    def live(self) -> Any:
        """Blocks of positive weight, the only ones that are ever drawn: an index array, or all as a slice."""
        return slice(None) if self.c.all() else np.flatnonzero(self.c)

    @cached_property
    def drawn(self) -> int:
        """How many blocks have positive weight."""
        return int(np.count_nonzero(self.c))

    def __repr__(self) -> str:
        rows, columns = self.coupling.rows.shape
        extra = ", intercept" if self.intercept else ""
        return f"<{type(self).__name__}: {rows} x {columns}, {self.f}, {type(self.g).__name__}{extra}>"

    # ---- x and y as a user sees them, and flat

    def unpack(self, x: Any) -> tuple[Array, Array]:
        """The penalised part of x as a flat vector, and the q intercepts (zeros where there are none)."""
        array = np.asarray(x, dtype=np.float64)
        if array.shape != self.x_shape:
            raise ValueError(f"x must have shape {self.x_shape}, found {array.shape}")
        flat = np.ascontiguousarray(array).reshape(-1)
        return (flat[: self.d], flat[self.d :].copy()) if self.intercept else (flat, np.zeros(self.q))

    def pack(self, x: Array, x0: Array) -> Array:
        """The inverse of `unpack`."""
        joined = np.concatenate([x, x0]) if self.intercept else x
        return np.asarray(joined + 0.0).reshape(self.x_shape)  # + 0: no -0 among the coefficients

    def flat(self, y: Any) -> Array:
        """A copy of y as a flat vector."""
        array = np.array(y, dtype=np.float64)
        if array.shape != self.y_shape:
            raise ValueError(f"y must have shape {self.y_shape}, found {array.shape}")
        return np.ascontiguousarray(array).reshape(-1)

    # ---- the functions of section 2

    def predictions(self, x: Any) -> Array:
        """A x + x0, in the shape of y: one number for each row, or one for each row and output."""
        flat, x0 = self.unpack(x)
        z = self.coupling.predictions(flat)
        return np.asarray(z + np.tile(x0, z.size // self.q) if self.intercept else z).reshape(self.y_shape)

    def gradients(self, z: Array) -> Array:
        """y_i = c_i f'(z_i): the dual point that belongs to predictions."""
        y = np.zeros(z.size)
        gradients(self.coupling.blocks, self.f, z.reshape(-1), self.b, self.c, y)
        return y.reshape(self.y_shape)

    def penalty(self, x: Array, v: Array) -> tuple[float, float, float]:
        """g(x); g(x) + g*(v) - <x, v>, a sum of nonnegative terms; the least of these terms."""
        if _verbs.separable(self.g):
            a, e, least = penalty_sums(self.g, x, v)
            return float(a), float(e), float(least)
        slack = getattr(self.g, "slack", None)
        value = float(self.g.value(x))
        e = float(slack(x, v) if slack else _verbs.nonnegative(value, float(self.g.conj(v)), float(x @ v)))
        return value, max(e, 0.0) if e < 0.0 else e, min(e, 0.0)

    def losses(self, z: Array, y: Array) -> tuple[float, float, float]:
        """Means of c f(z) and of c (f(z) + f*(y / c)) - y z, a sum of nonnegative terms; the least of these terms."""
        a, e, least = loss_means(self.coupling.blocks, self.f, z, y, self.b, self.c, np.empty(self.coupling.widest))
        return float(a), float(e), float(least)

    def primal(self, x: Any) -> float:
        """P(x)."""
        flat, _ = self.unpack(x)
        z = self.predictions(x).reshape(-1)
        return self.losses(z, np.zeros(z.size))[0] + self.penalty(flat, np.zeros(self.d))[0]

    def dual(self, y: Any) -> float:
        """D(y): minus infinity where y is not dual feasible (beyond rounding, for the intercept's constraint)."""
        flat = self.flat(y)
        if flat[self.coupling.spread(self.c) == 0.0].any():
            return -math.inf
        if self.intercept:
            sums = np.abs(flat.reshape(-1, self.q).sum(axis=0))
            if np.any(sums > 1e-13 * np.abs(flat).sum()):
                return -math.inf
        v = -self.coupling.force(flat)
        conjugate = conj_sum(self.g, v) if _verbs.separable(self.g) else self.g.conj(v)
        return -float(
            conj_mean(self.coupling.blocks, self.f, flat, self.b, self.c, np.empty(self.coupling.widest))
        ) - float(conjugate)

    @cached_property
    def scale(self) -> float | None:
        """P(0), by which gaps are divided, where it is finite and positive."""
        value = self.primal(np.zeros(self.x_shape))
        return value if math.isfinite(value) and value > 0.0 else None

    def certificate(self, x: Any, y: Any) -> Certificate:
        """How far x is from the best there is, at most: see :mod:`saddlery.certificate`."""
        from saddlery.certificate import certify  # the one import along the arrows: see DESIGN, the house

        return certify(self, x, y).certificate

    @cached_property
    def made(self) -> dict[str, Any]:
        """What methods have made of data and loss, whatever the penalty is: shared with `with_penalty`."""
        return {}

    def with_penalty(self, penalty: Any) -> Problem:
        """The same data and loss with another penalty: what is known of the data (columns, norms) is shared."""
        g = term("penalty", penalty)
        fits(g, self.d)
        other = Problem(self.coupling, self.f, g, self.b, self.c, self.intercept, self.radius)
        other.__dict__["made"] = self.made
        for name in ("_norm", "squares", "live", "drawn"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the data, the terms and the options: two problems with one fingerprint are the same."""
        digest = hashlib.blake2b(digest_size=16)
        view = self.coupling.rows.view
        view = (view.matrix(),) if isinstance(view, Placed) else view
        digest.update(
            repr(
                (type(self.f), self.f, type(self.g), self.g, self.intercept, self.radius, self.coupling.rows.shape)
            ).encode()
        )
        starts = getattr(self.coupling.blocks, "start", np.zeros(0))
        for array in (*view, self.b, self.c, starts):
            digest.update(str(array.dtype).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return digest.hexdigest()


class ERM(Problem):
    """Regularised empirical risk: min_x (1/n) sum_i c_i f(<a_i, x>, b_i) + g(x).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, k)
        Rows a_i. Dense C order and CSR, 32- or 64-bit, read-only or memory-mapped, are used as they are.
    b : array of shape (n,)
        Labels: real, in {-1, 1} for margin losses, in 0 .. K - 1 for ``Softmax(K)``.
    loss, penalty
        Terms: ``Logistic()``, ``L1L2(0.1, 0.01)``, or an instance of your own NamedTuple class.
    weights : array of shape (n,), optional
        Nonnegative; rescaled to mean 1. A row of weight 0 is never drawn.
    intercept : bool
        If true x has one more entry (for ``Softmax`` one more row), the last, which is not penalised.
    radius : float, optional
        A bound of the Euclidean norm of the solution (without its intercept), if you know one. It makes the gap finite
        where nothing else does: without a penalty, kind "ball". What it says is then only as true as the bound is.
    """

    def __init__(
        self,
        X: Any,
        b: Any,
        loss: Any,
        penalty: Any,
        *,
        weights: Any = None,
        intercept: bool = False,
        radius: float | None = None,
    ) -> None:
        f, g = term("loss", loss), term("penalty", penalty)
        rows = Rows.of(X)
        n = rows.shape[0]
        coupling = RowCoupling.of_rows(rows, _verbs.outputs(f))
        c = weights_of(weights, n)
        super().__init__(coupling, f, g, labels(b, n, f, c, intercept), c, bool(intercept), bound(radius))
        fits(g, self.d)


class SeparableSaddle(Problem):
    """General blocks: min_x max_y g(x) + (1/n) sum_i ( <A_i y_i, x> - f_i*(y_i, b_i) ).

    Parameters
    ----------
    blocks : sequence of n arrays or sparse matrices A_i, each d x q_i
    losses : a loss, or a sequence of n equal ones
        Losses, not conjugates: of a block, f is a function of the vector z_i = A_i'x. ``Huber`` is that of the
        Euclidean norm |z_i - b_i|; a loss that only knows numbers is summed over the entries of the block.
    penalty : a penalty
    b : sequence of n vectors of length q_i, optional
        Labels; zeros if not given.

    y is one vector, the y_i one after the other; ``split(y)`` takes it apart.
    """

    def __init__(self, blocks: Sequence[Any], losses: Any, penalty: Any, b: Any = None) -> None:
        f, g = term("losses", one_loss(losses, len(blocks))), term("penalty", penalty)
        whole_blocks(blocks, b, f)
        coupling = RowCoupling.of_blocks(blocks)
        flat = np.zeros(coupling.m) if b is None else np.concatenate([np.asarray(part) for part in b])
        c = locked(np.ones(coupling.n))
        super().__init__(coupling, f, g, labels(flat, coupling.m, f, np.ones(coupling.m), False, "lines"), c)
        fits(g, self.d)

    def split(self, y: Any) -> list[Array]:
        """The blocks y_i of y."""
        return np.split(self.flat(y), self.coupling.blocks.start[1:-1])
