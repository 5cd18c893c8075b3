"""Models on disk: a zip of arrays and one text of names and numbers. Nothing in it can run.

    model.json     format, version, class, parameters, which attributes are which arrays, and a checksum of it all
    a0.npy, ...    the arrays (read with allow_pickle=False)

A checksum finds what was damaged or changed by hand; whoever means harm can make a new one, and gains nothing by it
but wrong numbers: `certify` recomputes what they are worth from the data.
"""

from __future__ import annotations

import hashlib
import io
import json
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
LARGEST = 1 << 34  # bytes that an array may take in memory


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
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as bundle:
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
        arrays = [np.load(io.BytesIO(part), allow_pickle=False) for part in parts]
        model = made(**{name: _in(value, arrays) for name, value in head["parameters"].items()})
        for name, value in head["fitted"].items():
            if not name.endswith("_") or name.startswith("_"):
                raise ValueError(f"{name} is no name of a fitted attribute")
            setattr(model, name, _in(value, arrays))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: not a whole model of saddlery's ({error})") from error
    return model


def _read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    try:
        with zipfile.ZipFile(path) as bundle:
            sizes = {each.filename: each.file_size for each in bundle.infolist()}
            if max(sizes.values(), default=0) > LARGEST or "model.json" not in sizes:
                raise ValueError(f"{path}: not a model of saddlery's")
            head = json.loads(bundle.read("model.json"))
            parts = [bundle.read(f"a{k}.npy") for k in range(len(sizes) - 1)]
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, json.JSONDecodeError, EOFError) as error:
        raise ValueError(f"{path}: not a model of saddlery's, or damaged ({error})") from error
    keys = {"name", "format", "class", "parameters", "fitted", "checksum"}
    if not isinstance(head, dict) or head.get("name") != NAME or not keys <= set(head):
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


def _in(value: Any, arrays: list[np.ndarray]) -> Any:
    kind, *parts = value
    match kind:
        case "plain":
            return parts[0]
        case "float":
            return float.fromhex(parts[0])
        case "scalar":
            return arrays[parts[0]][()]
        case "array":
            return arrays[parts[0]]
        case "csr":
            data, indices, start = (_in(part, arrays) for part in parts[1:])
            return sp.csr_array((data, indices, start), shape=tuple(parts[0]))
        case "objects":
            made = np.empty(len(parts[1]), dtype=object)
            made[:] = [_in(each, arrays) for each in parts[1]]
            return made.reshape(parts[0])
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
