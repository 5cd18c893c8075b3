"""Random sparse rows: X (n x d) with equally many entries in every row, up to many gigabytes."""

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from saddlery.data.svmlight import float_dtype

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CHUNK = 1 << 20  # entries drawn at once; part of what a seed means


def counted(name: str, value: int) -> int:
    """Return value as an int if it is at least 1, else raise."""
    if operator.index(value) < 1:
        raise ValueError(f"{name} is {value}; it must be at least 1")
    return operator.index(value)


def random_csr(
    n: int,
    d: int,
    per_row: int,
    *,
    seed: int = 0,
    dtype: npt.DTypeLike = np.float64,
    index_dtype: npt.DTypeLike = np.int32,
) -> "csr_array[Any]":
    """Sparse X: ``per_row`` distinct uniform columns in each row, ascending, values N(0, 1)/sqrt(per_row).

    Drawn in chunks, in O(n per_row) time and little memory beyond X itself. The types do not change the
    matrix, but for rounding.

    Parameters
    ----------
    n, d, per_row : int
        Rows, columns, entries of each row.
    seed : int
        Seed.
    dtype, index_dtype : dtype
        float32 or float64; int32 or int64.
    """
    from scipy.sparse import csr_array

    n, d, per_row = counted("n", n), counted("d", d), counted("per_row", per_row)
    kind, index = float_dtype(dtype), np.dtype(index_dtype)
    if per_row > d:
        raise ValueError(f"per_row is {per_row}; it may be at most d = {d}")
    if index not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ValueError(f"index_dtype is {index}; it must be int32 or int64")
    if max(d, n * per_row) > np.iinfo(index).max:
        raise ValueError(f"index_dtype is {index}, too narrow for {n * per_row} entries in {d} columns; use int64")
    rng = np.random.default_rng(seed)
    columns, values = np.empty((n, per_row), index), np.empty((n, per_row), kind)
    rows = max(1, _CHUNK // per_row)
    for first in range(0, n, rows):
        count = min(rows, n - first)
        columns[first : first + count] = _distinct_columns(count, d, per_row, rng)
        values[first : first + count] = rng.standard_normal((count, per_row)) / np.sqrt(per_row)
    indptr = np.arange(0, n * per_row + 1, per_row, dtype=index)
    return csr_array((values.ravel(), columns.ravel(), indptr), shape=(n, d))


def _distinct_columns(rows: int, d: int, k: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a uniform k-subset of 0..d-1, ascending, for each row.

    Repeated draws are replaced until none is left. No step tells one column from another, so every subset is
    equally likely. For k > d/2 the complement is drawn, so that at least half of the replacements are new.
    """
    if 2 * k > d:
        kept = np.ones((rows, d), bool)
        if k < d:
            np.put_along_axis(kept, _distinct_columns(rows, d, d - k, rng), False, axis=1)
        return np.nonzero(kept)[1].reshape(rows, k)
    columns = np.sort(rng.integers(d, size=(rows, k)), axis=1)
    at = np.arange(rows)  # rows that may hold a repetition
    while at.size:
        repeated = np.diff(columns[at], axis=1, prepend=-1) == 0
        again = repeated.any(axis=1)
        at, repeated = at[again], repeated[again]
        drawn = columns[at]
        drawn[repeated] = rng.integers(d, size=int(repeated.sum()))
        columns[at] = np.sort(drawn, axis=1)
    return columns
