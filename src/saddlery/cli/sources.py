"""Data, however they are given: a file of LIBSVM text, CSV, Parquet or npz, or the name of a known data set."""

from __future__ import annotations

import bz2
import difflib
import gzip
import lzma
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from saddlery.cli.columns import NO_TARGET, Columns
from saddlery.cli.csv_file import read_csv
from saddlery.cli.ends import refuse

FORMATS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "npz": (".npz",),
    "libsvm": (".libsvm", ".svm", ".svmlight", ".txt", ".dat"),
}
PACKED = (".gz", ".xz", ".bz2")
MAGIC: dict[bytes, Any] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}
LIBSVM_LINE = re.compile(rb"\s*[-+.0-9eE]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


class Data(NamedTuple):
    """X, the target y (None where there is none), a name for people, the names of X's columns where there are any."""

    X: Any
    y: Any
    name: str
    columns: list[str] | None = None


def read(
    said: str,
    *,
    target: str | None = None,
    drop: list[str] | None = None,
    form: str | None = None,
    d: int | None = None,
    keep: Sequence[str] = (),
) -> Data:
    """Data from a file, or by name.

    `target`, `drop` : columns of CSV and Parquet files. `form` : the format, else the ending says it. `d` : columns
    that X must have, where that is known. `keep` : names of the features, where they are known.
    """
    path = Path(said)
    if path.is_dir():
        refuse(f"{said} is a directory; data are a file, or the name of a known data set")
    if not path.exists():
        return _named(said)
    if path.stat().st_size == 0:
        refuse(f"{path} is empty")
    kind = form or _format(path)
    if kind not in FORMATS:
        refuse(f"there is no format {kind!r}; the formats are {', '.join(FORMATS)}")
    name = _stem(path)
    columns: list[str] | None = None
    if kind == "libsvm":
        X, y = _libsvm(path, target, drop, d)
    elif kind == "npz":
        X, y = _npz(path)
    else:
        X, y, columns = (_parquet if kind == "parquet" else _csv)(path, target, list(drop or []), keep)
    if X.shape[0] == 0:
        refuse(f"{path} holds no row")
    return Data(X, y, name, columns)


def _stem(path: Path) -> str:
    name = path.name
    for ending in (*PACKED, *(ending for endings in FORMATS.values() for ending in endings)):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name or path.name


def _format(path: Path) -> str:
    """By the ending; where that says nothing, LIBSVM text if the first line is of that form."""
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in PACKED]
    last = endings[-1] if endings else ""
    for kind, known in FORMATS.items():
        if last in known:
            return kind
    lines = [line for line in _unpacked(path, 1 << 16).splitlines() if line.strip()]
    if lines and LIBSVM_LINE.fullmatch(lines[0]):
        return "libsvm"
    known_endings = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    refuse(
        f"{path}: what format is this? Known endings are {known_endings}, text also with {', '.join(PACKED)}; or say "
        f"--format {'|'.join(FORMATS)}"
    )


def _unpacked(path: Path, most: int | None = None) -> bytes:
    """The bytes of a file (about `most` of them, if it is not compressed), decompressed."""
    try:
        with open(path, "rb") as file:
            packed = file.read(6)
            opener = next((made for magic, made in MAGIC.items() if packed.startswith(magic)), None)
            packed += file.read() if opener is not None or most is None else file.read(most)
        return bytes(opener(packed)) if opener is not None else packed
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        refuse(f"{path} is damaged or cut short: {error}")


def _named(said: str) -> Data:
    """A known data set."""
    from saddlery.data.fetch import datasets, load_dataset

    names = [info.name for info in datasets()]
    if said not in names:
        near = difflib.get_close_matches(said, names, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else " `saddlery datasets` lists those that are known."
        refuse(f"there is no file {said}, and no known data set of that name.{hint}")
    data = load_dataset(said)
    return Data(data.X, data.b, said)


def _libsvm(path: Path, target: str | None, drop: list[str] | None, d: int | None) -> tuple[Any, Any]:
    from saddlery.data.svmlight import read_svmlight

    if drop or target not in (None, NO_TARGET):
        refuse(
            f"{path} is LIBSVM text, whose target is the first word of a line: --target and --drop are for CSV and "
            "Parquet"
        )
    X, y = read_svmlight(path, n_features=d)
    return X, None if target == NO_TARGET else y


def _csv(path: Path, target: str | None, drop: list[str], keep: Sequence[str]) -> tuple[Any, Any, list[str]]:
    return read_csv(path, _unpacked(path), target, drop, keep)


def _parquet(path: Path, target: str | None, drop: list[str], keep: Sequence[str]) -> tuple[Any, Any, list[str]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        refuse(f"{path}: reading Parquet needs pyarrow; pip install 'saddlery[parquet]'")
    try:
        found = pyarrow.parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        refuse(f"{path} is not a Parquet file: {error}")
    columns = Columns.of(path, found.column_names, found.num_columns, target, drop, keep)
    X = np.empty((found.num_rows, len(columns.features)))
    for j, place in enumerate(columns.features):
        X[:, j] = _numeric(path, columns.called(place), found.column(place))
    y = None
    if columns.target is not None:
        column = found.column(columns.target)
        if column.null_count:
            row = next(k for k, value in enumerate(column.to_pylist(), 1) if value is None)
            refuse(f"{path}, row {row}, column {columns.called(columns.target)!r}: the target is missing")
        words = column.to_pylist()
        real = all(isinstance(word, (int, float)) for word in words)
        y = _numeric(path, columns.called(columns.target), column) if real else np.array([str(word) for word in words])
    return X, y, columns.names


def _numeric(path: Path, name: str, column: Any) -> Any:
    """A column of Parquet as finite numbers. What is not is looked for one by one."""
    if not column.null_count:
        quick = column.to_numpy()
        if quick.dtype.kind in "biuf" and np.isfinite(quick).all():
            return quick.astype(np.float64)
    values = column.to_pylist()
    for row, value in enumerate(values, 1):
        where = f"{path}, row {row}, column {name!r}"
        if value is None:
            refuse(f"{where}: a missing value; fill it in, leave the row out, or leave the column out (--drop)")
        try:
            number = float(value) if not isinstance(value, str) else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            refuse(f"{where}: {str(value)[:40]!r} is not a number; encode it, or leave the column out (--drop)")
        if not np.isfinite(number):
            refuse(f"{where}: {number} is not finite")
    return np.array([float(value) for value in values])


def _npz(path: Path) -> tuple[Any, Any]:
    """Arrays X and y (or b); or the parts of scipy.sparse.save_npz, and y."""
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, ValueError, EOFError, zlib.error) as error:
        refuse(f"{path} is not an npz file of plain arrays: {error}")
    except AttributeError:  # a single array, of np.save
        refuse(f"{path} is one array, not an npz file with X and y")
    y = next((parts[name] for name in ("y", "b") if name in parts), None)
    if "X" in parts:
        X = parts["X"]
    elif {"data", "indices", "indptr", "shape"} <= set(parts):
        import scipy.sparse as sp

        made = sp.csc_array if parts.get("format", np.array(b"csr")).item() in (b"csc", "csc") else sp.csr_array
        X = made((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    else:
        refuse(f"{path} holds {', '.join(sorted(parts)) or 'nothing'}; it must hold X and y, or a sparse matrix and y")
    return _checked(path, X, y)


def _checked(path: Path, X: Any, y: Any) -> tuple[Any, Any]:
    if X.ndim != 2 or np.dtype(X.dtype).kind not in "biuf":
        refuse(f"{path}: X must be a matrix of real numbers, found shape {X.shape} of {X.dtype}")
    values = X.data if hasattr(X, "indptr") else X
    if not np.isfinite(values).all():
        where = ""
        if values is X:
            row, column = np.argwhere(~np.isfinite(X))[0]
            where = f" at row {row + 1}, column {column + 1}"
        refuse(f"{path}: X holds {values[~np.isfinite(values)][0]}{where}; every number must be finite")
    if y is not None:
        if y.shape != (X.shape[0],):
            refuse(f"{path}: y must have one entry for each of the {X.shape[0]} rows of X, found shape {y.shape}")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            refuse(f"{path}: y holds {y[~np.isfinite(y)][0]} at row {int(np.argmin(np.isfinite(y))) + 1}")
    return X, y
