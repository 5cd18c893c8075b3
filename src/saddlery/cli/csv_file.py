"""A CSV file as numbers: delimiter and header not told but seen, what is broken named by file, line and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.cli.columns import Columns, is_number, missing_word
from saddlery.cli.ends import refuse

Array = NDArray[Any]
DELIMITERS = ",;\t"
LONGEST = 1 << 27  # characters of a cell: what is quoted and longer is a quote that was not closed


class Layout(NamedTuple):
    """How a file is laid out: its delimiter, the names of its columns (None: no header), how many there are."""

    delimiter: str
    names: list[str] | None
    width: int


def read_csv(
    path: Path, text: bytes, target: str | None, drop: list[str], keep: Sequence[str] = ()
) -> tuple[Array, Any, list[str]]:
    """X, the target (as words where one of them is no number; None where there is none), and names of X's columns."""
    try:
        body = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(f"{path} is not text in UTF-8: byte {error.start} is {text[error.start]:#04x}")
    layout = _layout(path, body)
    columns = Columns.of(path, layout.names, layout.width, target, drop, keep)
    numbers = _quickly(body, layout)
    if numbers is not None:
        return numbers[:, columns.features], columns.target_of(numbers), columns.names
    X, words = _carefully(path, body, layout, columns)
    return X, words, columns.names


def _rows(body: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST)
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, skipinitialspace=True)
    return ((reader.line_num, row) for row in reader if row and any(cell.strip() for cell in row))


def _layout(path: Path, body: str) -> Layout:
    """The delimiter that the first line has most of, and whether that line is a header."""
    first = next((line for line in body.splitlines() if line.strip()), None)
    if first is None:
        refuse(f"{path} is empty")
    delimiter = max(DELIMITERS, key=first.count)
    rows = _rows(body, delimiter)
    try:
        head = next(rows)[1]
        below = next(rows, (0, None))[1]
    except csv.Error as error:
        refuse(f"{path}: {error}")
    named = _is_header(head, below)
    if named and below is None:
        refuse(f"{path} has a header and no row below it")
    names = [cell.strip() or f"column {k}" for k, cell in enumerate(head, 1)] if named else None
    return Layout(delimiter, names, len(head))


def _is_header(head: list[str], below: list[str] | None) -> bool:
    """Is one of its cells a word that stands above a number?

    Numbers may be names too, but only 0, 1, 2, ...: with others a row is one of data, and its word is what is wrong.
    """
    numbers = [cell.strip() for cell in head if is_number(cell)]
    if numbers not in ([str(k + start) for k in range(len(numbers))] for start in (0, 1)):
        return False
    if below is None:
        return not numbers
    pairs = zip(head, below, strict=False)
    return any(not is_number(up) and not missing_word(up.strip()) and is_number(cell) for up, cell in pairs)


def _quickly(body: str, layout: Layout) -> Array | None:
    """All of it by NumPy's reader; None where anything is not a finite number."""
    lines: IO[str] = io.StringIO(body)
    if layout.names is not None:
        for line in lines:
            if line.strip():
                break
    try:
        numbers = np.loadtxt(lines, delimiter=layout.delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return numbers if numbers.shape[1] == layout.width and np.isfinite(numbers).all() else None


def _carefully(path: Path, body: str, layout: Layout, columns: Columns) -> tuple[Array, Any]:
    """Row by row: the target may be words; the first cell that is not what it must be is named."""
    rows = _rows(body, layout.delimiter)
    if layout.names is not None:
        next(rows)
    kept: list[list[float]] = []
    words: list[str] = []
    try:
        for line, row in rows:
            if len(row) != layout.width:
                refuse(f"{path}, line {line}: {len(row)} columns, where the first line has {layout.width}")
            kept.append([_number(path, line, columns.called(k), row[k]) for k in columns.features])
            if columns.target is not None:
                word = row[columns.target].strip()
                if missing_word(word):
                    refuse(f"{path}, line {line}, column {columns.called(columns.target)!r}: the target is missing")
                words.append(word)
    except csv.Error as error:
        refuse(f"{path}: {error}")
    X = np.array(kept, dtype=np.float64).reshape(len(kept), len(columns.features))
    return X, columns.numbers_or_words(words) if columns.target is not None else None


def _number(path: Path, line: int, name: str, cell: str) -> float:
    where, word = f"{path}, line {line}, column {name!r}", cell.strip()
    if missing_word(word):
        refuse(f"{where}: {word!r} is a missing value; fill it in, leave the row out, or leave the column out (--drop)")
    if not is_number(word):
        refuse(f"{where}: {word[:40]!r} is not a number; encode it as numbers, or leave the column out (--drop)")
    number = float(word)
    if not np.isfinite(number):
        refuse(f"{where}: {word!r} is not finite")
    return number
