"""K x = A x / n, for rows, rows with several outputs, and general blocks of rows.

All of them are *lines*, which a kernel multiplies with a flat vector, and *blocks* of consecutive lines, one for each
term of the sum over data:

    z = A x          z_i the lines of block i
    u = A'y / n      the force of the data on x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from saddlery._compile import kernel
from saddlery.data.placed import Placed
from saddlery.data.rows import Dense, Outputs, Rows, U, axpy, column, dot, products, span
from saddlery.terms._sums import Blocks, Single, bounds

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RowCoupling:
    """Lines of a matrix, gathered in blocks.

    Attributes
    ----------
    rows : the matrix as given. lines : the view that kernels use. blocks : ``Single`` or ``Blocks``.
    n : number of blocks. m : number of lines. d : length of x as a flat vector. q : outputs per row.
    """

    rows: Rows
    lines: Any
    blocks: Any
    n: int
    m: int
    d: int
    q: int = 1

    @classmethod
    def of_rows(cls, rows: Rows, outputs: int) -> RowCoupling:
        """One block for each row; with several outputs, x is rows.shape[1] x outputs."""
        n, d = rows.shape
        if outputs == 1:
            return cls(rows, rows.view, Single(), n, n, d)
        start = np.arange(n + 1, dtype=np.int64) * outputs
        lines = rows.view if isinstance(rows.view, Placed) else Outputs(rows.view, outputs)
        return cls(rows, lines, Blocks(start, outputs, True), n, n * outputs, d * outputs, outputs)

    @classmethod
    def of_blocks(cls, blocks: Sequence[Any]) -> RowCoupling:
        """General blocks A_i, each d x q_i: their transposes, stacked."""
        sparse = any(sp.issparse(block) for block in blocks)
        sizes = [np.shape(block)[1] for block in blocks]
        stacked = sp.hstack(blocks, format="csc").T if sparse else np.hstack([np.asarray(a) for a in blocks]).T
        rows = Rows.of(stacked, "blocks")
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(rows, rows.view, Blocks(start, int(max(sizes)), False), len(sizes), int(start[-1]), rows.shape[1])

    @property
    def widest(self) -> int:
        """Lines of the widest block."""
        return 1 if isinstance(self.blocks, Single) else int(self.blocks.width)

    def both(self, x: Array, y: Array) -> tuple[Array, Array]:
        """A x and A'y / n in one pass over the data."""
        return self._products(x, y, True, True)

    def predictions(self, x: Array) -> Array:
        """A x."""
        return self._products(x, np.empty(self.m), True, False)[0] if x.any() else np.zeros(self.m)

    def force(self, y: Array) -> Array:
        """A'y / n."""
        return self._products(np.empty(0), y, False, True)[1] if y.any() else np.zeros(self.d)

    def _products(self, x: Array, y: Array, forward: bool, back: bool) -> tuple[Array, Array]:
        if isinstance(self.lines, Placed):
            return self._elsewhere(x, y, forward, back)
        if self._blas:
            X, shape = self.rows.view.X, (-1,) if self.q == 1 else (-1, self.q)
            with np.errstate(all="ignore"):  # what is not finite is looked at where it is used
                z = (X @ x.reshape(shape)).reshape(-1) if forward else np.empty(0)
                u = (X.T @ y.reshape(shape)).reshape(-1) if back else np.zeros(0)
        else:
            z, u = np.empty(self.m if forward else 0), np.zeros(self.d if back else 0)
            products(self.lines, x, y, z, u, forward, back)
        u /= self.n
        return z, u

    @cached_property
    def _blas(self) -> bool:
        """Are products NumPy's? Of single precision it would make a copy, and sum in it."""
        return isinstance(self.rows.view, Dense) and self.rows.view.X.dtype == np.float64

    def _elsewhere(self, x: Array, y: Array, forward: bool, back: bool) -> tuple[Array, Array]:
        """The products beside a matrix of another library."""
        view, shape = self.lines, (-1,) if self.q == 1 else (-1, self.q)
        z = view.get(view.forward(view.put(x.reshape(shape)))).reshape(-1) if forward else np.empty(0)
        u = view.get(view.back(view.put(y.reshape(shape)))).reshape(-1) / self.n if back else np.zeros(0)
        return z, u

    def spread(self, weights: Array) -> Array:
        """A number for every block, repeated for every line of it."""
        return weights if isinstance(self.blocks, Single) else np.repeat(weights, np.diff(self.blocks.start))

    @cached_property
    def columns(self) -> Rows:
        """The matrix by columns: made when first asked for, then kept."""
        return self.rows.columns()

    @cached_property
    def squares(self) -> Array:
        """|A_i|^2, the squared spectral norm of every block."""
        if self.q > 1 or isinstance(self.blocks, Single):
            with np.errstate(over="ignore"):
                squares = self.rows.squares()
            if not np.isfinite(squares).all():
                i = int(np.argmin(np.isfinite(squares)))
                raise ValueError(f"X: the squared norm of row {i} is beyond what a float holds; divide X by a number")
            return squares
        sizes = np.diff(self.blocks.start)
        out = np.empty(self.n)
        for size in np.unique(sizes):
            members = np.flatnonzero(sizes == size)
            gram = np.zeros((members.size, size, size))
            grams(self.lines, self.blocks, members, gram, np.zeros(self.d))
            out[members] = np.linalg.eigvalsh(gram)[:, -1]
        return np.asarray(np.maximum(out, 0.0))


@kernel
def grams(lines: Any, blocks: Any, members: Array, gram: Array, work: Array) -> None:
    """gram[p] = A_i'A_i for the blocks i = members[p], by laying one line at a time out in `work` (zeros)."""
    for p in range(members.shape[0]):
        first, last = bounds(blocks, U(members[p]))
        for i in range(first, last):
            axpy(lines, i, 1.0, work)
            for j in range(first, last):
                gram[p, i - first, j - first] = dot(lines, j, work)
            lo, hi = span(lines, i)
            for k in range(lo, hi):
                work[column(lines, i, k)] = 0.0
