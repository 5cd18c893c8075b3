"""One view of the rows of a matrix, dense or sparse, in memory or on disk.

A kernel never knows how the data are stored. It asks for the stored entries of a row,

    for k in range(*span(rows, i)):   j = column(rows, i, k);   a = entry(rows, i, k)

or for the two operations that these make, ``dot`` and ``axpy``. A view holds the arrays that it was given: nothing is
copied when rows are contiguous (dense C order, CSR; 32- or 64-bit indices; 32- or 64-bit floats; read-only;
``numpy.memmap``). Other layouts are brought into one of these once, and ``Rows.copied`` says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from saddlery._compile import COMPILED, helper, lean_kernel, lean_verb
from saddlery.data.placed import Placed, placed

Array = NDArray[Any]
U = np.uint64  # an index cast to unsigned needs no test for negative values: half the time of a sparse loop


class Dense(NamedTuple):
    """Rows of a C-ordered array."""

    X: Array

    def span(self, i):
        return U(0), U(self.X.shape[1])

    def column(self, i, k):
        return U(k)

    def entry(self, i, k):
        return self.X[i, k]

    def ahead(self, i):
        d = U(self.X.shape[1])
        for k in range(i * d, (i + U(1)) * d, U(64 // self.X.itemsize)):  # 64 bytes: a line of the cache
            prefetch(self.X, k)


class Sparse(NamedTuple):
    """Rows of a CSR matrix in canonical form."""

    start: Array
    columns: Array
    values: Array

    def span(self, i):
        return U(self.start[i]), U(self.start[i + U(1)])

    def column(self, i, k):
        return U(self.columns[k])

    def entry(self, i, k):
        return self.values[k]

    def ahead(self, i):
        for k in range(U(self.start[i]), U(self.start[i + U(1)]), U(8)):
            prefetch(self.values, k)
            prefetch(self.columns, k)


class Outputs(NamedTuple):
    """Line i * q + k is row i of `rows` acting on column k of a d x q unknown, stored as a vector of length d * q."""

    rows: Any
    q: int

    def span(self, line):
        return span(self.rows, line // U(self.q))

    def column(self, line, k):
        q = U(self.q)
        return column(self.rows, line // q, k) * q + line % q

    def entry(self, line, k):
        return entry(self.rows, line // U(self.q), k)

    def ahead(self, line):
        ahead(self.rows, line // U(self.q))


@lean_verb
def span(rows, i):
    """First and last (exclusive) position of the stored entries of row i."""


@lean_verb
def column(rows, i, k):
    """Column of the entry at position k of row i."""


@lean_verb
def entry(rows, i, k):
    """Value of the entry at position k of row i."""


@lean_verb
def ahead(rows, i):
    """Ask the memory for row i, which is needed soon."""


@helper
def dot(rows, i, x):
    """<a_i, x>."""
    first, last = span(rows, i)
    total = 0.0
    for k in range(first, last):
        total += entry(rows, i, k) * x[column(rows, i, k)]
    return total


@helper
def axpy(rows, i, c, x):
    """Add c a_i to x."""
    first, last = span(rows, i)
    for k in range(first, last):
        x[column(rows, i, k)] += c * entry(rows, i, k)


if COMPILED:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(context, array, k):
        """Hint that element k of the flat array is needed soon."""

        def generate(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
            hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            builder.call(hint, [place, word(0), word(3), word(1)])  # to read, keep in every cache, data
            return context.get_dummy_value()

        return types.void(array, k), generate

else:

    def prefetch(array, k):
        """Means nothing outside compiled code."""


@lean_kernel
def products(rows, x, y, z, u, forward, back):
    """z = A x (if `forward`) and u += A'y (if `back`), in one pass over the data."""
    last = U(y.shape[0] - 1)
    for i in range(U(y.shape[0])):
        ahead(rows, i + U(2) if i + U(2) < last else last)
        if forward:
            z[i] = dot(rows, i, x)
        if back and y[i] != 0.0:
            axpy(rows, i, y[i], u)


class Rows(NamedTuple):
    """A checked matrix: the view that kernels use, its shape, and whether it had to be copied."""

    view: Any
    shape: tuple[int, int]
    stored: int
    copied: bool

    @classmethod
    def of(cls, X: Any, name: str = "X") -> Rows:
        """View X by rows. Raises ValueError or TypeError when it is not a finite, non-empty matrix."""
        if isinstance(X, Rows):
            return X
        elsewhere = placed(X)
        if elsewhere is not None:
            return _placed(elsewhere, name)
        view, copied = _sparse(X, name) if sp.issparse(X) else _dense(X, name)
        n, d = np.shape(X) if isinstance(view, Dense) else X.shape
        shape = (int(n), int(d))
        stored = int(view.values.size) if isinstance(view, Sparse) else shape[0] * shape[1]
        values = view.values if isinstance(view, Sparse) else view.X
        _finite(values, view, name)
        return cls(view, shape, stored, copied)

    def squares(self) -> Array:
        """|a_i|^2 for every row, summed in double precision, a slice of the data at a time."""
        out, view = np.zeros(self.shape[0]), self.view
        if isinstance(view, Placed):
            return view.squares()
        step = max(1, (1 << 18) * self.shape[0] // max(self.stored, 1))
        for first in range(0, self.shape[0], step):
            rows = slice(first, first + step)
            if isinstance(view, Dense):
                part = view.X[rows].astype(np.float64)
                out[rows] = np.einsum("ij,ij->i", part, part)
                continue
            start = view.start[first : first + step + 1].astype(np.int64)
            part = view.values[start[0] : start[-1]].astype(np.float64)
            full = np.flatnonzero(np.diff(start))
            if full.size:
                out[first + full] = np.add.reduceat(part * part, start[full] - start[0])
        return out

    def columns(self) -> Rows:
        """The same matrix viewed by columns: a copy in the other order."""
        if isinstance(self.view, Sparse):
            return Rows.of(self.matrix().T.tocsr())._replace(copied=True)
        return Rows.of(np.ascontiguousarray(self.view.X.T))._replace(copied=True)

    def matrix(self) -> Any:
        """The matrix as NumPy or SciPy know it, sharing memory where it lies in this machine's."""
        if isinstance(self.view, Placed):
            return self.view.matrix()
        if isinstance(self.view, Sparse):
            return sp.csr_array((self.view.values, self.view.columns, self.view.start), shape=self.shape)
        return self.view.X


def unmasked(X: Any, name: str) -> Array:
    """X as an array of NumPy's. What a mask hides has no value: such arrays are refused."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(f"{name} has {np.ma.count_masked(X)} masked entries; fill them in, or leave their rows out")
    return np.asarray(X)


def locked(array: Any) -> Array:
    """A read-only plain view, so that kernels meet one type whether or not the caller's array can be written."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _placed(view: Placed, name: str) -> Rows:
    shape = tuple(view.X.shape)
    if len(shape) != 2:
        raise ValueError(f"{name} must be a matrix of two dimensions, found shape {shape}")
    _not_empty(shape, name)
    if not view.xp.isdtype(view.X.dtype, "real floating"):
        raise TypeError(f"{name} must hold real floating-point numbers, found dtype {view.X.dtype}")
    if not view.finite():
        raise ValueError(f"{name} holds NaN or infinity; only finite numbers are allowed")
    return Rows(view, (int(shape[0]), int(shape[1])), int(shape[0] * shape[1]), False)


def _dense(X: Any, name: str) -> tuple[Dense, bool]:
    array = unmasked(X, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix of two dimensions, found shape {array.shape}; for one feature use "
            f"{name}.reshape(-1, 1)"
        )
    _not_empty(array.shape, name)
    kept = _floats(array, name)
    contiguous = np.ascontiguousarray(kept)
    return Dense(locked(contiguous)), not (hasattr(X, "__array__") and np.shares_memory(contiguous, array))


def _sparse(X: Any, name: str) -> tuple[Sparse, bool]:
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix of two dimensions, found shape {X.shape}")
    _not_empty(X.shape, name)
    if X.format in ("csr", "csc"):
        _indices(X.indptr, X.indices, X.data.size, X.shape[X.format == "csr"], X.format.upper(), name)
    elif X.format == "coo":
        _places(X, name)
    rows = X.tocsr()
    if X.format not in ("csr", "csc", "coo"):  # BSR, say, whose own indices were not looked at
        _indices(rows.indptr, rows.indices, rows.data.size, rows.shape[1], X.format.upper(), name)
    if not rows.has_canonical_format:  # sorted indices, no entry twice: row norms need it
        rows = rows.copy()
        rows.sum_duplicates()
    values = _floats(rows.data, name)
    start, columns = rows.indptr, rows.indices
    if start.dtype != columns.dtype or start.dtype not in (np.dtype("int32"), np.dtype("int64")):
        start, columns = start.astype(np.int64), columns.astype(np.int64)
    copied = values.size > 0 and not (hasattr(X, "data") and np.shares_memory(values, X.data))
    return Sparse(locked(start), locked(columns), locked(values)), copied


def _places(X: Any, name: str) -> None:
    """Refuse a COO matrix with entries outside of it."""
    for axis, (places, size) in enumerate(zip(X.coords, X.shape, strict=True)):
        if places.size and (places.min() < 0 or places.max() >= size):
            raise ValueError(
                f"{name} is not a valid COO matrix: indices from {places.min()} to {places.max()} along axis {axis}, "
                f"allowed 0 to {size - 1}; if 32-bit indices overflowed, build it with 64-bit indices"
            )


def _indices(start: Array, columns: Array, stored: int, d: int, kind: str, name: str) -> None:
    """Refuse a CSR or CSC matrix whose indices are not those of one, before anything follows them."""
    if start[0] != 0 or start[-1] != stored or np.any(np.diff(start) < 0):
        raise ValueError(
            f"{name} is not a valid {kind} matrix: its indptr does not rise from 0 to the number of entries, "
            f"{stored}; this happens when 32-bit indices overflow: build it with 64-bit indices"
        )
    if columns.size and (columns.min() < 0 or columns.max() >= d):
        raise ValueError(
            f"{name} is not a valid {kind} matrix: indices from {columns.min()} to {columns.max()}, allowed 0 to "
            f"{d - 1}; if 32-bit indices overflowed, build it with 64-bit indices"
        )


def _not_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(f"{name} is empty: shape {shape}; at least one row and one column are needed")


def _floats(array: Array, name: str) -> Array:
    if array.dtype in (np.dtype("float32"), np.dtype("float64")):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float32 if array.dtype == np.dtype("float16") else np.float64)
    raise TypeError(f"{name} must hold real numbers, found dtype {array.dtype}")


def _finite(values: Array, view: Any, name: str) -> None:
    """Raise when a value is NaN or infinite, and say where. Works in slices: no array of the size of the data."""
    flat, step = values.reshape(-1), 1 << 20
    for first in range(0, flat.size, step):
        part = flat[first : first + step]
        with np.errstate(over="ignore", invalid="ignore"):  # the sum tells, mostly; where it overflows, look closer
            if np.isfinite(part.sum(dtype=np.float64)) or np.isfinite(part).all():
                continue
        k = first + int(np.argmin(np.isfinite(part)))
        if isinstance(view, Sparse):
            row, col = int(np.searchsorted(view.start, k, side="right")) - 1, int(view.columns[k])
        else:
            row, col = divmod(k, values.shape[1])
        raise ValueError(f"{name} holds {flat[k]} at row {row}, column {col}; only finite numbers are allowed")
