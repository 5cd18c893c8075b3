"""Convex functions of one number or one block: losses and penalties. One file each, found by looking in this folder."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from saddlery.terms._verbs import (
    affine,
    conj,
    fenchel_young,
    gamma,
    grad,
    grad_conj,
    labels,
    modulus,
    normal,
    outputs,
    prox,
    prox_conj,
    separable,
    slack,
    smoothness,
    value,
)

__all__ = [
    "LOSSES",
    "PENALTIES",
    "affine",
    "conj",
    "fenchel_young",
    "gamma",
    "grad",
    "grad_conj",
    "labels",
    "modulus",
    "normal",
    "outputs",
    "prox",
    "prox_conj",
    "separable",
    "slack",
    "smoothness",
    "value",
]


def _discover() -> dict[str, type]:
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        loaded: Any = importlib.import_module(f"{__name__}.{module.name}")
        for name, thing in vars(loaded).items():
            if isinstance(thing, type) and hasattr(thing, "_fields") and thing.__module__ == loaded.__name__:
                found[name] = thing
    return found


TERMS = _discover()
LOSSES = {name: term for name, term in TERMS.items() if hasattr(term, "prox_conj") or hasattr(term, "prox_conj_block")}
PENALTIES = {name: term for name, term in TERMS.items() if name not in LOSSES}
globals().update(TERMS)
