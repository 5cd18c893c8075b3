"""The lines of LIBSVM text: ``label index:value index:value ...`` to arrays, and what is wrong with a line.

`block_rows` parses megabytes of whole lines with a fixed number of NumPy calls, and only says that something
in them is at fault; `row_fault` knows the same rules word by word and says what. `row_lines` is the way back.
None of them knows of files.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

DIGITS = 18  # an index of so many digits fits int64 whatever they are
_QID_AFTER_LABEL = re.compile(rb"(?m)^([ \t\v\f]*[^\s:]+[ \t\v\f]+)qid:-?[0-9]+(?!\S)")


class Rows(NamedTuple):
    """Consecutive rows: their labels and sizes, then columns (from 0) and values of all entries in order."""

    labels: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]
    columns: npt.NDArray[Any]
    values: npt.NDArray[Any]


def block_rows(text: bytes, n_features: int | None, dtype: np.dtype[Any]) -> Rows | None:
    """Parse whole lines (ended by newlines, without comments) at once; None if any of them is at fault."""
    if b"_" in text:  # float() would take 1_000
        return None
    if b"qid:" in text:
        text = _QID_AFTER_LABEL.sub(rb"\1", text)
    char = np.frombuffer(bytearray(text), np.uint8)
    solid = (char != 32) & (char - np.uint8(9) > 4)  # blanks are those of bytes.split: 32 and 9 to 13
    edge = np.flatnonzero(np.diff(solid, prepend=False, append=False))
    start, end = edge[0::2], edge[1::2]
    line = np.searchsorted(np.flatnonzero(char == 10), start)
    head = np.diff(line, prepend=-1) != 0
    begin, colon = start[~head], np.flatnonzero(char == 58)
    # as many colons as pairs, the k-th inside the k-th pair: then every pair has one, and no label any
    if colon.size != begin.size or not (np.all(begin < colon) and np.all(colon + 1 < end[~head])):
        return None
    columns = _indices_taken(char, begin, colon)
    numbers = _numbers(char.tobytes().split())
    if columns is None or numbers is None:
        return None
    with np.errstate(over="ignore"):
        values = numbers[~head].astype(dtype)
    follows = np.diff(line[~head], prepend=-1) == 0  # not the first entry of its row
    ascending = np.all(np.diff(columns, prepend=0)[follows] > 0) and np.all(columns >= 1)
    finite = np.all(np.isfinite(numbers)) and np.all(np.isfinite(values))
    largest = int(columns.max(initial=0))
    if not (ascending and finite) or (n_features is not None and largest > n_features):
        return None
    columns -= 1
    sizes = np.diff(np.flatnonzero(np.append(head, True))) - 1
    return Rows(numbers[head], sizes, columns.astype(np.int32) if largest < 2**31 else columns, values)


def _indices_taken(
    char: npt.NDArray[np.uint8], begin: npt.NDArray[np.intp], colon: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64] | None:
    """Read the digits before every colon, from the right, leaving blanks behind; None if not digits."""
    length = colon - begin
    longest = int(length.max(initial=0))
    if longest > DIGITS:
        return None
    columns = np.zeros(colon.size, np.int64)
    for place in range(longest):
        live = np.flatnonzero(length > place)
        at = colon[live] - 1 - place
        digit = char[at] - np.uint8(48)
        if np.any(digit > 9):
            return None
        columns[live] += digit * np.int64(10**place)
        char[at] = 32
    char[colon] = 32
    return columns


def _numbers(words: list[bytes]) -> npt.NDArray[np.float64] | None:
    try:
        return np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        return None


def row_fault(line: bytes, n_features: int | None, dtype: np.dtype[Any]) -> str | None:
    """Say what is wrong with a line, or None: the rules of `block_rows`, one word after the other."""
    words = line.split()
    if not words:
        return None
    if fault := _number_fault(words[0], np.dtype(np.float64)):
        return f"label {_shown(words[0])} {fault}; a line is 'label index:value index:value ...'"
    pairs = words[2:] if len(words) > 1 and re.fullmatch(rb"qid:-?[0-9]+", words[1]) else words[1:]
    last = 0
    for pair in pairs:
        head, _, tail = pair.partition(b":")
        if not re.fullmatch(rb"-?[0-9]+", head) or not tail or b":" in tail:
            return f"{_shown(pair)} is not an index:value pair"
        if len(head) > DIGITS:
            return f"the index in {_shown(pair)} overflows; it may have {DIGITS} digits"
        if int(head) < 1:
            return f"the index in {_shown(pair)} is below 1; indices are counted from 1"
        if int(head) <= last:
            return f"the index in {_shown(pair)} does not exceed {last} before it; indices must ascend"
        if n_features is not None and int(head) > n_features:
            return f"the index in {_shown(pair)} exceeds n_features = {n_features}"
        if fault := _number_fault(tail, dtype):
            return f"the value in {_shown(pair)} {fault}"
        last = int(head)
    return None


def _number_fault(word: bytes, dtype: np.dtype[Any]) -> str | None:
    number = _numbers([word])
    if number is None or b"_" in word:
        return "is not a number"
    with np.errstate(over="ignore"):
        return None if np.all(np.isfinite(number.astype(dtype))) else f"is not finite in {dtype}"


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "...")


def row_lines(
    labels: npt.NDArray[np.float64],
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    values: npt.NDArray[np.float64],
) -> Iterator[bytes]:
    """Yield the line of every row of a CSR matrix, in the shortest decimals that are read back exactly."""
    for i, label in enumerate(labels.tolist()):
        entries = slice(indptr[i], indptr[i + 1])
        columns = (indices[entries].astype(np.int64) + 1).tolist()
        pairs = zip(columns, values[entries].tolist(), strict=True)
        yield " ".join([_decimal(label), *(f"{j}:{_decimal(value)}" for j, value in pairs)]).encode() + b"\n"


def _decimal(number: float) -> str:
    return repr(number).removesuffix(".0")
