"""A dense matrix of another array library (array API: PyTorch, CuPy, JAX, ...), left where it lies.

Nothing is moved but vectors of n or d numbers. Products are made in double precision whatever the matrix holds, a slice
of it at a time, so that what is computed from them is as exact as for NumPy's arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SLICE = 1 << 24  # numbers that are converted at once


class Placed(NamedTuple):
    """A matrix, its namespace, and its device."""

    X: Any
    xp: Any
    device: Any

    def put(self, array: Any) -> Any:
        """A vector of NumPy's as one beside the matrix."""
        return self.xp.asarray(np.array(array, dtype=np.float64), device=self.device)

    def get(self, array: Any) -> NDArray[Any]:
        """The way back."""
        import array_api_compat as compat

        if compat.is_torch_array(array) or compat.is_cupy_array(array):
            array = compat.to_device(array, "cpu")
        try:  # by the protocol for moving, or else as NumPy's arrays are made
            array = np.from_dlpack(array)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            array = np.asarray(array)
        return np.array(array, dtype=np.float64)

    def forward(self, x: Any) -> Any:
        """X x, for a vector or a matrix x beside X."""
        parts = [part @ x for _, part in self._slices()]
        return parts[0] if len(parts) == 1 else self.xp.concat(parts)

    def back(self, y: Any) -> Any:
        """X' y."""
        total = None
        for rows, part in self._slices():
            made = self.xp.matrix_transpose(part) @ y[rows, ...]
            total = made if total is None else total + made
        return total

    def squares(self) -> NDArray[Any]:
        """|a_i|^2 for every row."""
        parts = [self.xp.sum(part * part, axis=1) for _, part in self._slices()]
        return np.concatenate([self.get(part) for part in parts])

    def finite(self) -> bool:
        """Is there no NaN and no infinity?"""
        return all(bool(self.xp.all(self.xp.isfinite(part))) for _, part in self._slices())

    def matrix(self) -> NDArray[Any]:
        """All of it as NumPy's."""
        return self.get(self.X)

    def _slices(self) -> Iterator[tuple[slice, Any]]:
        n, d = self.X.shape
        if self.X.dtype == self.xp.float64:
            yield slice(0, n), self.X
            return
        step = max(1, SLICE // d)
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            yield rows, self.xp.astype(self.X[rows, :], self.xp.float64)


def placed(X: Any) -> Placed | None:
    """The matrix, where it is an array of a library other than NumPy."""
    if isinstance(X, np.ndarray) or not hasattr(X, "dtype") or hasattr(X, "tocsr"):
        return None
    import array_api_compat as compat

    if not compat.is_array_api_obj(X) or compat.is_numpy_array(X):
        return None
    return Placed(X, compat.array_namespace(X), compat.device(X))
