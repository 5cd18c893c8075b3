"""The methods: one short file each, found by looking in this folder."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import importlib
import pkgutil
from typing import Any, NamedTuple

import numpy as np

from saddlery.algorithms._protocol import Algorithm, State, missing
from saddlery.problem import Problem

__all__ = [
    "METHODS",
    "Algorithm",
    "MethodInfo",
    "State",
    "able",
    "method",
    "methods",
    "missing",
    "signature",
    "successor",
]


def _discover() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            for thing in vars(loaded).values():
                if isinstance(thing, type) and thing.__module__ == loaded.__name__ and hasattr(thing, "needs"):
                    found[thing.name] = thing  # type: ignore[attr-defined]
    return dict(sorted(found.items()))


METHODS = _discover()


class MethodInfo(NamedTuple):
    """A method: its name, its paper, what is proved, what a step costs, and its parameters with their defaults."""

    name: str
    paper: str
    proved: str
    cost: str
    needs: str
    parameters: dict[str, Any]


def method(name: str, /, **parameters: Any) -> Algorithm:
    """A method by name, with parameters: ``method("adasdca+", option="I", shrink=10)``."""
    if name not in METHODS:
        swapped = [each for each in METHODS if sorted(each) == sorted(str(name))]  # letters in another order
        near = swapped or difflib.get_close_matches(str(name), METHODS, n=1, cutoff=0.4)
        hint = f" did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no method {name!r};{hint} the methods are auto, {', '.join(METHODS)}")
    made = METHODS[name]
    known = [field.name for field in dataclasses.fields(made)]
    for key in parameters:
        if key not in known:
            raise TypeError(f"method {name!r} has no parameter {key!r}; it has {', '.join(known) or 'none'}")
    sampler = parameters.get("sampler")
    if sampler is not None and (isinstance(sampler, type) or not hasattr(sampler, "draw")):
        raise TypeError(f"sampler must be a sampler such as Uniform() or Replay(rows), found {sampler!r}")
    algorithm: Algorithm = made(**parameters)
    return algorithm


def methods() -> list[MethodInfo]:
    """Every method: what it is, what it needs, what is proved."""
    return [
        MethodInfo(
            made.name,
            made.paper,
            made.proved,
            made.cost,
            ", ".join(need.name for need in made().needs),
            {field.name: field.default for field in dataclasses.fields(made)},
        )
        for made in METHODS.values()
    ]


def able(problem: Problem) -> list[str]:
    """Names of the methods that can solve the problem."""
    return [name for name, made in METHODS.items() if not missing(made, problem)]


def successor(algorithm: Algorithm) -> Algorithm | None:
    """The method that takes over where this one fails; None where there is none."""
    fallback = getattr(algorithm, "fallback", None)
    if fallback is None:
        return None
    batch = getattr(algorithm, "batch_size", 1)
    name = ("adaspdc-balanced" if batch == 1 else "adaspdc-sigma") if fallback == "auto" else fallback
    return method(name, **({"batch_size": batch} if batch > 1 else {}))


def signature(algorithm: Algorithm) -> str:
    """Name and parameters, as a checkpoint remembers them."""
    parameters = {name: value for name, value in vars(algorithm).items() if name != "sampler"}
    sampler = getattr(algorithm, "sampler", None)
    if sampler is not None:
        digest = hashlib.blake2b(digest_size=8)
        for part in vars(sampler).values():
            digest.update(np.asarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        parameters["sampler"] = f"{type(sampler).__name__} {digest.hexdigest()}"
    return f"{algorithm.name} {parameters}"
