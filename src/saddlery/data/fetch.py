"""Real data sets by name: found or downloaded, parsed, and verified before anyone sees them.

`load_dataset` looks in the folder that the environment variable ``SADDLERY_DATA`` names, then in the download
cache, then in the LIBSVM data collection. What counts as the right file is its contents, not its bytes: the
parsed (X, b) must have the fingerprint that the table ``sets.json`` records, however the text is compressed
or formatted.
"""

import difflib
import hashlib
import json
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from saddlery.data.svmlight import float_dtype, read_svmlight

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ENDINGS = ("", ".xz", ".gz", ".bz2")
_SLICE = 1 << 20  # numbers hashed at once


class Dataset(NamedTuple):
    """A data set: X (n x d), labels or targets b, its name and what it is in a line."""

    X: "csr_array[Any]"
    b: npt.NDArray[np.float64]
    name: str
    description: str


class DatasetInfo(NamedTuple):
    """What is known of a data set before it is loaded: a row of ``sets.json``.

    ``nnz`` counts stored entries. ``origin`` is "fetch" where ``url`` can supply the file, else "local": the
    user supplies it. ``source`` is the public GitHub repository and path that the contents come from.
    """

    name: str
    n: int
    d: int
    nnz: int
    kind: str
    description: str
    source: str
    fingerprint: str
    url: str | None = None

    @property
    def origin(self) -> Literal["fetch", "local"]:
        """Where the file can come from."""
        return "local" if self.url is None else "fetch"


@cache
def _table() -> dict[str, DatasetInfo]:
    text = resources.files("saddlery.data").joinpath("sets.json").read_text("utf-8")
    return {name: DatasetInfo(name, **fields) for name, fields in json.loads(text).items()}


def datasets() -> list[DatasetInfo]:
    """List every named data set."""
    return list(_table().values())


def load_dataset(name: str, *, dtype: npt.DTypeLike = np.float64) -> Dataset:
    """Load a named data set, downloading it where that is needed and possible.

    The folder in the environment variable ``SADDLERY_DATA`` is searched first, for NAME, NAME.xz, NAME.gz and
    NAME.bz2 (LIBSVM text). Downloads are kept in pooch's cache folder, or in ``SADDLERY_CACHE`` if set.

    Parameters
    ----------
    name : str
        A name of `datasets`.
    dtype : dtype, default float64
        Type of X, float32 or float64.

    Raises
    ------
    ValueError
        No such name, or a file whose contents are not those of the set.
    FileNotFoundError
        The set cannot be downloaded and is not in ``SADDLERY_DATA``.
    ConnectionError
        The download failed.
    """
    kind = float_dtype(dtype)
    info = _known(name)
    path = _local(info) or _fetched(info)
    try:
        X, b = read_svmlight(path, n_features=info.d)
    except ValueError as error:
        raise ValueError(f"data set {name!r}: {error}. {_remedy(info, path)}") from error
    found = fingerprint(X, b)
    if found != info.fingerprint:
        raise ValueError(
            f"data set {name!r}: {path} has fingerprint {found} ({X.shape[0]} rows, {X.nnz} entries), not "
            f"the expected {info.fingerprint} ({info.n} rows, {info.nnz} entries). {_remedy(info, path)}"
        )
    return Dataset(X.astype(kind, copy=False), b, info.name, info.description)


def fingerprint(X: Any, b: npt.ArrayLike) -> str:
    """Return the sha256 of the numbers in (X, b), the same on every platform.

    Hashed in little-endian order: n, d, indptr, indices (from 0, ascending in each row; int64), values and
    labels (float64). The types that hold the numbers and the sign of zeros do not matter; stored zeros do.

    Parameters
    ----------
    X : sparse array of shape (n, d)
        The rows.
    b : array of shape (n,)
        The labels.
    """
    from scipy.sparse import csr_array

    rows = csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    digest = hashlib.sha256(np.array(rows.shape, "<i8").tobytes())
    parts = ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, "<f8"), (np.asarray(b), "<f8"))
    for numbers, kind in parts:
        for first in range(0, numbers.size, _SLICE):
            part = numbers[first : first + _SLICE].astype(kind)
            part[part == 0] = 0  # without sign
            digest.update(part.tobytes())
    return digest.hexdigest()


def _known(name: str) -> DatasetInfo:
    table = _table()
    if name in table:
        return table[name]
    folded = {known.casefold(): known for known in table}
    near = [folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"no data set is called {name!r}; {hint}saddlery.datasets() lists all {len(table)}")


def _folders() -> list[Path]:
    folder = os.environ.get("SADDLERY_DATA")
    return [Path(folder).expanduser()] if folder else []


def _local(info: DatasetInfo) -> Path | None:
    files = (folder / (info.name + ending) for folder in _folders() for ending in _ENDINGS)
    return next((file for file in files if file.is_file()), None)


def _fetched(info: DatasetInfo) -> Path:
    """Return the downloaded file, from the cache if it is there."""
    if info.url is None:
        raise FileNotFoundError(
            f"data set {info.name!r} is not in {_searched()} and cannot be downloaded. {_by_hand(info)}"
        )
    import pooch

    folder = os.environ.get("SADDLERY_CACHE") or pooch.os_cache("saddlery")
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # its advice to note a hash of the raw file is not for users of this
    try:
        file = pooch.retrieve(info.url, known_hash=None, fname=info.url.rpartition("/")[2], path=folder)
    except OSError as error:  # what requests raises is one, too
        kind = PermissionError if isinstance(error, PermissionError) else ConnectionError
        raise kind(
            f"data set {info.name!r} is not in {_searched()}, and downloading {info.url} to {folder} failed "
            f"({error}). {_by_hand(info)}"
        ) from error
    finally:
        logger.setLevel(level)
    return Path(file)


def _searched() -> str:
    for folder in _folders():
        return f"SADDLERY_DATA = {folder}" + ("" if folder.is_dir() else " (no such folder)")
    return "a local folder (the environment variable SADDLERY_DATA is not set)"


def _by_hand(info: DatasetInfo) -> str:
    names = ", ".join(info.name + ending for ending in _ENDINGS)
    return f"Set SADDLERY_DATA to a folder with its LIBSVM text ({names}; contents: GitHub {info.source})."


def _remedy(info: DatasetInfo, path: Path) -> str:
    again = "load it again" if info.url else f"put the right one there (contents: GitHub {info.source})"
    return f"Remove {path} and {again}."
