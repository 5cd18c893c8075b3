"""LIBSVM text to (X, b) and back, exactly.

A file holds one row of X and its label b_i per line, ``label index:value index:value ...``, indices
counted from 1 and ascending. Values are correctly rounded, a broken line is an error that names the file
and the line, and what `write_svmlight` wrote is read back bit for bit. The format is that of the LIBSVM
data collection (Chang and Lin, LIBSVM: a library for support vector machines, 2011) and of SVMlight,
whose ``qid:N`` and ``#`` comments are skipped.
"""

import bz2
import gzip
import io
import lzma
import operator
import os
import re
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from saddlery.data.svmlight_lines import DIGITS, Rows, block_rows, row_fault, row_lines

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 1 << 22  # characters parsed at once: bounds the temporary arrays
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


def float_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return float32 or float64 as a NumPy dtype; anything else is a ValueError."""
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype is {kind}; it must be float32 or float64")
    return kind


def read_svmlight(
    path: str | os.PathLike[str], *, n_features: int | None = None, dtype: npt.DTypeLike = np.float64
) -> tuple["csr_array[Any]", npt.NDArray[np.float64]]:
    """Read a LIBSVM file, plain or compressed by gzip, bzip2 or xz (told from its first bytes).

    Parameters
    ----------
    path : str or path
        The file.
    n_features : int, optional
        Number of columns d, by default the largest index. Pass it where the last columns may be unused.
    dtype : dtype, default float64
        Type of the values, float32 or float64. Labels are float64 always.

    Returns
    -------
    X : csr_array of shape (n, d)
        Stored zeros are kept. Indices are int32 where d and the number of entries are below 2^31, else
        int64.
    b : ndarray of shape (n,)

    Raises
    ------
    ValueError
        A broken line (the message names file, line and word), no row at all, damaged compression.
    """
    kind = float_dtype(dtype)
    d = None if n_features is None else operator.index(n_features)
    if d is not None and not 0 < d < 10**DIGITS:
        raise ValueError(f"n_features is {n_features}; it must be None or lie between 1 and 10^{DIGITS} - 1")
    blocks: list[Rows] = []
    line = 1
    for text in _text_blocks(path):
        rows = block_rows(text, d, kind)
        if rows is None:
            raise _fault(path, text, line, d, kind)
        blocks.append(rows)
        line += text.count(b"\n")
    if not any(rows.labels.size for rows in blocks):
        raise ValueError(f"{os.fspath(path)} holds no row; a row is a line 'label index:value ...'")
    return _assembled(path, blocks, d)


def _text_blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines, line ends made newlines and comments removed."""
    with open(path, "rb") as raw:
        start = raw.read(6)
        raw.seek(3 if start.startswith(b"\xef\xbb\xbf") else 0)  # past the byte order mark of some editors
        opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
        binary = cast(BinaryIO, raw if opener is None else opener(raw))
        lines = io.TextIOWrapper(binary, encoding="latin-1", newline=None)  # any line end
        while True:
            try:
                text = (lines.read(_BLOCK) + lines.readline()).encode("latin-1")
            except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # the machine's fault, not the file's
                raise ValueError(f"{os.fspath(path)} is damaged or cut short: {error}") from error
            if not text:
                return
            yield re.sub(rb"#[^\n]*", b"", text) if b"#" in text else text


def _fault(
    path: str | os.PathLike[str], text: bytes, first: int, n_features: int | None, dtype: np.dtype[Any]
) -> Exception:
    for number, line in enumerate(text.split(b"\n"), first):
        if fault := row_fault(line, n_features, dtype):
            return ValueError(f"{os.fspath(path)}, line {number}: {fault}")
    return AssertionError(f"{os.fspath(path)}: fast and slow reading disagree after line {first}")


def _assembled(
    path: str | os.PathLike[str], blocks: list[Rows], n_features: int | None
) -> tuple["csr_array[Any]", npt.NDArray[np.float64]]:
    from scipy.sparse import csr_array

    columns = np.concatenate([rows.columns for rows in blocks])
    d = n_features or int(columns.max(initial=-1)) + 1
    if d == 0:
        raise ValueError(f"{os.fspath(path)} has no entry in any row, so d is unknown; pass n_features")
    index = np.int32 if max(columns.size, d) < 2**31 else np.int64
    indptr = np.concatenate([[0], *(rows.sizes for rows in blocks)]).cumsum().astype(index)
    values = np.concatenate([rows.values for rows in blocks])
    labels = np.concatenate([rows.labels for rows in blocks])
    return csr_array((values, columns.astype(index, copy=False), indptr), shape=(labels.size, d)), labels


def write_svmlight(path: str | os.PathLike[str], X: Any, b: npt.ArrayLike) -> None:
    """Write (X, b) as LIBSVM text, in the shortest decimals that are read back exactly.

    The file appears whole or not at all: it is written beside its place under another name, then renamed.

    Parameters
    ----------
    path : str or path
        The file. The endings .gz, .bz2 and .xz compress it.
    X : array or sparse array of shape (n, d)
        Finite. Of a sparse X every stored entry is written, zeros too; of a dense X the nonzero ones. The
        file does not say d: pass it as ``n_features`` when reading if the last columns may have no entry.
    b : array of shape (n,)
        Finite labels.
    """
    from scipy.sparse import csr_array

    rows = csr_array(X)  # shares the arrays of a CSR matrix
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    labels = np.asarray(b)
    if rows.ndim != 2 or rows.shape[0] == 0 or labels.shape != (rows.shape[0],):
        raise ValueError(f"X has shape {rows.shape} and b {labels.shape}; they must be (n, d) and (n,), n > 0")
    text = row_lines(_exact("b", labels), rows.indptr, rows.indices, _exact("X", rows.data))
    place = Path(path)
    part = place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as raw, _compressed(raw, place.suffix) as out:
            out.writelines(text)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)


def _exact(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return values as float64 if that keeps every one, else raise."""
    with np.errstate(invalid="ignore"):
        numbers = np.real(values).astype(np.float64)
        kept = np.array_equal(numbers.astype(values.dtype), values, equal_nan=True)
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} has {numbers[~np.isfinite(numbers)][0]}; every number must be finite")
    if not kept:
        raise ValueError(f"{name} is {values.dtype} with numbers that float64 cannot hold; round them first")
    return numbers


def _compressed(raw: BinaryIO, ending: str) -> Any:
    if ending == ".gz":
        return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)  # no name, no time: same data, same bytes
    if ending in (".bz2", ".xz"):
        return bz2.open(raw, "wb") if ending == ".bz2" else lzma.open(raw, "wb")
    return raw
