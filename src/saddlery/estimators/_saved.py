"""Models on disk: a zip of arrays and one text of names and numbers. Nothing in it can run.

    model.json     format, version, class, parameters, which attributes are which arrays, and a checksum of it all
    a0.npy, ...    the arrays (read with allow_pickle=False)

Nothing is compressed, so that a small file cannot fill the memory.

A checksum finds what was damaged or changed by hand; whoever means harm can make a new one, and gains nothing by it
but wrong numbers: `certify` recomputes what they are worth from the data.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from dataclasses import asdict, fields
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from saddlery.algorithms import METHODS, method
from saddlery.certificate import Certificate
from saddlery.result import History

FORMAT, NAME = 1, "saddlery model"
NUMBERS = "biufUS"  # kinds of arrays that are read


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model: whole, or not at all."""
    check_is_fitted(model)
    arrays: list[np.ndarray] = []
    given = model.get_params(deep=False)
    parameters = {name: _out(value, arrays, f"parameter {name}") for name, value in given.items()}
    fitted = {
        name: _out(value, arrays, name)
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    head = {
        "name": NAME,
        "format": FORMAT,
        "saddlery": metadata.version("saddlery"),
        "class": type(model).__name__,
        "parameters": parameters,
        "fitted": fitted,
    }
    parts = [_bytes(array) for array in arrays]
    head["checksum"] = _checksum(head, parts)
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as bundle:
            bundle.writestr("model.json", json.dumps(head, indent=1))
            for k, part in enumerate(parts):
                bundle.writestr(f"a{k}.npy", part)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    Raises
    ------
    ValueError
        The file is no model of saddlery's, is damaged, or was changed since it was written.
    """
    head, parts = _read(Path(path))
    from saddlery.estimators import MODELS

    made = MODELS.get(head["class"])
    if made is None:
        raise ValueError(f"{path}: there is no model {head['class']!r}; it may be of a newer version of saddlery")
    try:
        arrays = [_read_array(part) for part in parts]
        model = made(**{name: _in(value, arrays) for name, value in head["parameters"].items()})
        for name, value in head["fitted"].items():
            if not name.endswith("_") or name.startswith("_"):
                raise ValueError(f"{name} is no name of a fitted attribute")
            setattr(model, name, _in(value, arrays))
        _fits_together(model)
    except Exception as error:  # whatever a file that was made up brings about
        raise ValueError(f"{path}: not a whole model of saddlery's ({error})") from error
    return model


def _read_array(part: bytes) -> np.ndarray:
    """An array of numbers or texts, which its header must agree to fill."""
    file = io.BytesIO(part)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in NUMBERS or dtype.itemsize * math.prod(shape) != len(part) - file.tell():
        raise ValueError(f"an array of dtype {dtype} and shape {shape} in {len(part)} bytes")
    made: np.ndarray = np.load(io.BytesIO(part), allow_pickle=False)
    return made


def _fits_together(model: Any) -> None:
    """Are the coefficients numbers, one for each feature, and intercepts that go with them?"""
    coef, end, features = model.coef_, np.asarray(model.intercept_), model.n_features_in_
    if len(np.shape(coef)) not in (1, 2):
        raise ValueError("coefficients are a vector or a matrix")
    rows = 1 if len(np.shape(coef)) == 1 else np.shape(coef)[0]
    right = (
        getattr(coef, "dtype", np.dtype("O")).kind == "f" and np.shape(coef)[-1] == features and end.dtype.kind in "fi"
    )
    if not right or end.size not in (1, rows) or not isinstance(features, int):
        raise ValueError("coefficients, intercepts and the number of features do not go together")


def _read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    if not path.is_file():
        raise (IsADirectoryError if path.is_dir() else FileNotFoundError)(f"{path}: no such file")
    try:
        with zipfile.ZipFile(path) as bundle:
            entries = {each.filename: each for each in bundle.infolist()}
            if "model.json" not in entries or any(each.compress_type for each in entries.values()):
                raise ValueError("no model.json in it, or compressed, which models are not")
            head = json.loads(bundle.read("model.json"))
            parts = [bundle.read(f"a{k}.npy") for k in range(len(entries) - 1)]
    except Exception as error:  # a damaged zip has many ways to fail
        raise ValueError(f"{path}: not a model of saddlery's, or damaged ({error})") from error
    keys = {"name", "format", "class", "parameters", "fitted", "checksum"}
    if (
        not isinstance(head, dict)
        or head.get("name") != NAME
        or not keys <= set(head)
        or type(head["class"]) is not str
    ):
        raise ValueError(f"{path}: not a model of saddlery's")
    if head["format"] != FORMAT:
        raise ValueError(f"{path}: written in format {head['format']}; this version of saddlery reads format {FORMAT}")
    if head.pop("checksum") != _checksum(head, parts):
        raise ValueError(f"{path}: the checksum does not match; the file was damaged, or changed after it was written")
    return head, parts


def _checksum(head: dict[str, Any], parts: list[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=32)
    digest.update(json.dumps(head, sort_keys=True).encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


# ---- values, each as a list of its kind and its parts


def _out(value: Any, arrays: list[np.ndarray], name: str) -> Any:
    """A value as JSON knows it; arrays are put aside."""
    if value is None or isinstance(value, (bool, int, str)):
        return ["plain", value]
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        arrays.append(np.asarray(value))
        return ["scalar", len(arrays) - 1]
    if isinstance(value, np.ndarray):
        return _array_out(value, arrays, name)
    if hasattr(value, "tocsr"):
        made = value.tocsr()
        return ["csr", list(made.shape), *[_out(part, arrays, name) for part in (made.data, made.indices, made.indptr)]]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return ["list" if isinstance(value, list) else "tuple", [_out(each, arrays, name) for each in value]]
    if isinstance(value, dict):
        pairs = [[_out(key, arrays, name), _out(each, arrays, name)] for key, each in value.items()]
        return ["dict", pairs]
    if isinstance(value, Certificate):
        return ["certificate", {key: _out(each, arrays, name) for key, each in asdict(value).items()}]
    if isinstance(value, History):
        return ["history", _out(np.array(value.rows, dtype=np.float64).reshape(len(value.rows), -1), arrays, name)]
    if type(value) in METHODS.values():
        chosen = {each.name: _out(getattr(value, each.name), arrays, name) for each in fields(value)}
        return ["method", value.name, chosen]
    raise TypeError(f"{name} cannot be saved: {value!r} is neither a number, a text, nor an array of these")


def _array_out(value: np.ndarray, arrays: list[np.ndarray], name: str) -> Any:
    if value.dtype.kind in "biufUS":
        arrays.append(np.ascontiguousarray(value) if value.ndim else value)
        return ["array", len(arrays) - 1]
    if value.dtype == object:
        return ["objects", list(value.shape), [_out(each, arrays, name) for each in value.reshape(-1)]]
    raise TypeError(f"{name} cannot be saved: an array of dtype {value.dtype}")


def _place(k: Any) -> int:
    if not isinstance(k, int) or k < 0:
        raise ValueError(f"{k!r} is no number of an array")
    return k


def _in(value: Any, arrays: list[np.ndarray]) -> Any:
    kind, *parts = value
    match kind:
        case "plain":
            return parts[0]
        case "float":
            return float.fromhex(parts[0])
        case "scalar":
            return arrays[_place(parts[0])][()]
        case "array":
            return arrays[_place(parts[0])]
        case "csr":
            data, indices, start = (_in(part, arrays) for part in parts[1:])
            if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (data, indices, start)):
                raise ValueError("a sparse matrix is made of vectors")
            if data.dtype.kind != "f" or indices.dtype.kind != "i" or start.dtype.kind != "i":
                raise ValueError("a sparse matrix has numbers and whole places")
            rows, columns = (int(size) for size in parts[0])
            made = sp.csr_array((data, indices, start), shape=(rows, columns))
            made.check_format(full_check=True)
            return made
        case "objects":
            several = np.empty(len(parts[1]), dtype=object)
            several[:] = [_in(each, arrays) for each in parts[1]]
            return several.reshape(parts[0])
        case "list":
            return [_in(each, arrays) for each in parts[0]]
        case "tuple":
            return tuple(_in(each, arrays) for each in parts[0])
        case "dict":
            return {_in(key, arrays): _in(each, arrays) for key, each in parts[0]}
        case "certificate":
            return Certificate(**{key: _in(each, arrays) for key, each in parts[0].items()})
        case "history":
            return History([tuple(row) for row in _in(parts[0], arrays)])
        case "method":
            return method(parts[0], **{key: _in(each, arrays) for key, each in parts[1].items()})
    raise ValueError(f"a value of unknown kind {kind!r}")
