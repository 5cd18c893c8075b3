"""A run on disk: written whole or not at all, read without running code (arrays and JSON, no pickle)."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import State
from saddlery.certificate import Certificate, Certified
from saddlery.kept import Kept

FORMAT = 4


@dataclass
class Saved:
    """What a checkpoint holds: of which problem and method it is, and where the run was."""

    problem: str
    method: str
    active: str
    state: State
    best: Certified
    kept: Kept
    rows: list[tuple[float, ...]]
    counters: dict[str, Any]
    watch: dict[str, Any]


def write(path: Path, saved: Saved) -> None:
    """Write to a temporary file beside `path`, then put it in place: a full disk leaves the last checkpoint whole."""
    state = saved.state
    meta = {
        "format": FORMAT,
        "problem": saved.problem,
        "method": saved.method,
        "active": saved.active,
        "epoch": state.epoch,
        "passes": state.passes,
        "random": state.random,
        "certificate": asdict(saved.best.certificate),
        "kept": {name: asdict(point.certificate) for name, point in vars(saved.kept).items()},
        "counters": saved.counters,
        "watch": saved.watch,
    }
    arrays: dict[str, NDArray[Any]] = {
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
        "state_x": state.x,
        "state_y": state.y,
        "best_x": saved.best.x,
        "best_y": saved.best.y,
        **{f"kept_{name}_x": point.x for name, point in vars(saved.kept).items()},
        **{f"kept_{name}_y": point.y for name, point in vars(saved.kept).items()},
        "rows": np.array(saved.rows, dtype=np.float64),
        **{f"memory_{name}": array for name, array in state.memory.items()},
    }
    name = path.with_name(path.name + ".part")  # one that a killed run left behind is written over
    try:
        with name.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def read(path: Path, problem: str, method: str) -> Saved:
    """Read a checkpoint of this problem and method; anything else is refused."""
    try:
        saved = _parsed(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is not a checkpoint that can be read ({type(error).__name__}); remove it to start anew"
        ) from error
    if saved.problem != problem:
        raise ValueError(
            f"{path} is the checkpoint of another problem (other data, loss, penalty, weights or intercept); "
            "name another file, or remove it to start anew"
        )
    if saved.method != method:
        raise ValueError(
            f"{path} is the checkpoint of a run of {saved.method}, this is {method}; name another file, or remove it "
            "to start anew"
        )
    return saved


def _parsed(path: Path) -> Saved:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(arrays.pop("meta").tobytes())
    if meta["format"] != FORMAT:
        raise ValueError(f"format {meta['format']}")
    memory = {name.removeprefix("memory_"): arrays[name] for name in arrays if name.startswith("memory_")}
    state = State(
        arrays["state_x"], arrays["state_y"], memory, meta["epoch"], meta["passes"], meta["random"], meta["active"]
    )
    best = Certified(Certificate(**meta["certificate"]), arrays["best_x"], arrays["best_y"])
    kept = Kept(
        **{
            name: Certified(Certificate(**made), arrays[f"kept_{name}_x"], arrays[f"kept_{name}_y"])
            for name, made in meta["kept"].items()
        }
    )
    rows = [tuple(row) for row in arrays["rows"].tolist()]
    counters, watch = dict(meta["counters"]), dict(meta["watch"])
    return Saved(meta["problem"], meta["method"], meta["active"], state, best, kept, rows, counters, watch)
