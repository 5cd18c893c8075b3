"""What a problem is given, checked before any work: the argument, what was found, what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.data.rows import locked, unmasked
from saddlery.terms import LOSSES, PENALTIES, _verbs

Array = NDArray[Any]

LARGEST = 1e150  # its square, and sums of such squares, are still finite


def one_loss(losses: Any, n: int) -> Any:
    """The loss that all blocks have."""
    if hasattr(losses, "_fields"):
        return losses
    listed = list(losses)
    if len(listed) != n:
        raise ValueError(f"losses must be one loss or one for each of the {n} blocks, found {len(listed)}")
    first = listed[0]
    if any(type(other) is not type(first) or tuple(other) != tuple(first) for other in listed[1:]):
        raise ValueError("losses differ from block to block; one loss for all of them is what is supported")
    return first


def term(name: str, term: Any) -> Any:
    known = LOSSES if name.startswith("loss") else PENALTIES
    if isinstance(term, type):
        raise TypeError(f"{name} must be an instance, found the class {term.__name__}: write {term.__name__}(...)")
    if not (isinstance(term, tuple) and hasattr(term, "_fields")):
        raise TypeError(f"{name} must be one of {', '.join(sorted(known))} or your own NamedTuple term, found {term!r}")
    if type(term) in (PENALTIES if known is LOSSES else LOSSES).values():
        raise TypeError(f"{name} must be one of {', '.join(sorted(known))}, found {term!r}: were the two exchanged?")
    _complete(name, term, known is LOSSES)
    return _verbs.normal(term)


WRITES = {
    True: ("value(self, z, b)", "grad(self, z, b)", "conj(self, y, b)"),
    False: ("value(self, x)", "conj(self, v)", "prox(self, v, tau)"),
}


def _complete(name: str, term: Any, loss: bool) -> None:
    """Does a term of a user's have what no method can do without?"""
    verbs = {said: said.partition("(")[0] for said in WRITES[loss]}
    lacking = [
        said for said, verb in verbs.items() if not (hasattr(term, verb) or (loss and hasattr(term, f"{verb}_block")))
    ]
    if lacking:
        raise TypeError(f"{name}: {type(term).__name__} has no method {', '.join(lacking)}, which every {name} writes")


def whole_blocks(blocks: Any, b: Any, f: Any) -> None:
    """Are these matrices of d rows each, with a vector of labels for every one?"""
    if len(blocks) == 0:
        raise ValueError("blocks is empty; at least one matrix is needed")
    shapes = [np.shape(block) for block in blocks]
    if any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"blocks must be matrices with the same number of rows, found shapes {shapes[:5]}")
    if _verbs.outputs(f) > 1:
        raise ValueError(f"{type(f).__name__} makes its own blocks: use ERM with it")
    widths = [shape[1] for shape in shapes]
    if 0 in widths:
        raise ValueError(f"block {widths.index(0)} has no column; every block needs one at least")
    given = [(width,) for width in widths] if b is None else [np.shape(part) for part in b]
    if given != [(width,) for width in widths]:
        raise ValueError(f"b must hold a vector for every block, of lengths {widths[:5]} ..., found {given[:5]} ...")


def bound(radius: Any) -> float | None:
    """A bound of the norm of the solution, or None."""
    if radius is not None and not (isinstance(radius, (int, float, np.number)) and 0.0 <= radius < np.inf):
        raise ValueError(f"radius must be a finite number, 0 or more, or None, found {radius!r}")
    return None if radius is None else float(radius)


def fits(g: Any, d: int) -> None:
    groups = getattr(g, "groups", None)
    if groups is not None and len(groups) != d:
        raise ValueError(f"{type(g).__name__} gives groups for {len(groups)} coordinates, but x has {d}")


def vector(values: Any, n: int, name: str, of: str = "rows") -> Array:
    array = unmasked(values, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, found dtype {array.dtype}")
    if array.shape != (n,):
        raise ValueError(f"{name} must be a vector of length {n}, the number of {of}, found shape {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        k = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"{name} holds {array[k]} at position {k}; only finite numbers are allowed")
    return array


def weights_of(weights: Any, n: int) -> Array:
    if weights is None:
        return locked(np.ones(n))
    array = vector(weights, n, "weights")
    if array.min() < 0.0:
        k = int(np.argmin(array))
        raise ValueError(f"weights holds {array[k]} at position {k}; weights must be 0 or more")
    if array.max() == 0.0:
        raise ValueError("weights are all 0; at least one must be positive")
    array = array / array.max()
    return locked(array / array.mean())


def labels(b: Any, n: int, f: Any, c: Array, intercept: bool, of: str = "rows") -> Array:
    array = vector(b, n, "b", of)
    if np.abs(array).max() > LARGEST:
        raise ValueError(
            f"b holds numbers up to {np.abs(array).max():.1e}, whose squares overflow; divide b by a number"
        )
    kind, name = _verbs.labels(f), type(f).__name__
    present = np.unique(array[c > 0.0]) if kind != "real" else np.zeros(2)
    if kind == "margin" and not np.isin(array, (-1.0, 1.0)).all():
        found = np.unique(array)
        raise ValueError(
            f"labels of {name} must be -1 and 1, found {found[:6].tolist()}; for two classes u, v use "
            "np.where(labels == v, 1, -1)"
        )
    if kind == "class":
        classes = _verbs.outputs(f)
        if not ((array == np.floor(array)) & (array >= 0) & (array < classes)).all():
            raise ValueError(
                f"labels of {name}({classes}) must be whole numbers from 0 to {classes - 1}, "
                f"found {np.unique(array)[:6].tolist()}"
            )
        absent = np.setdiff1d(np.arange(classes), present)
        if intercept and present.size > 1 and absent.size:
            raise ValueError(
                f"no row has the label {absent[0]} of {name}({classes}): its intercept then falls without end; use "
                f"{name}({present.size}) with labels 0 to {present.size - 1}, or intercept=False"
            )
    if intercept and present.size < 2:
        of = "" if c.all() else " of the rows of weight above 0"
        raise ValueError(
            f"labels{of} are all {present[0]:g}: with an intercept the loss {name} then has no minimum; two classes "
            "are needed, or intercept=False"
        )
    return locked(array)
