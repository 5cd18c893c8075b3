"""Models by the names of the command line, with the parameters that each knows."""

from __future__ import annotations

import difflib
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from saddlery.cli.ends import refuse
from saddlery.cli.sources import Data

NAMES = {
    "logistic": "LogisticRegression",
    "ridge": "Ridge",
    "lasso": "Lasso",
    "elastic-net": "ElasticNet",
    "svc": "LinearSVC",
    "svr": "LinearSVR",
    "huber": "HuberRegressor",
    "ridge-classifier": "RidgeClassifier",
}
CLASSIFIERS = ("logistic", "svc", "ridge-classifier")
OPTIONS = {"l1_ratio": "--l1-ratio", "fit_intercept": "--no-intercept", "random_state": "--seed"}


def made(name: str, given: dict[str, Any], more: list[str]) -> Any:
    """An estimator with the parameters that were given (None: not), and with those of --set."""
    from saddlery import estimators

    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        refuse(f"--model: there is no {name!r}{hint}; there are {', '.join(NAMES)}")
    kind = estimators.MODELS[NAMES[name]]
    known = list(inspect.signature(kind).parameters)
    parameters = {}
    for key, value in {**given, **dict(map(_pair, more))}.items():
        if value is None:
            continue
        if key not in known:
            has = ", ".join(option(each) for each in known if each in given)
            called = option(key) if key in given else repr(key)
            refuse(f"{name} has no parameter {called}; it has {has}, and by --set: {_rest(known, given)}")
        parameters[key] = value
    return kind(**parameters)


def option(parameter: str) -> str:
    """The option that sets a parameter."""
    return OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def _rest(known: list[str], given: dict[str, Any]) -> str:
    return ", ".join(each for each in known if each not in given and each not in ("verbose", "warm_start", "copy_X"))


def _pair(text: str) -> tuple[str, Any]:
    from saddlery.report.comparison import value

    key, equals, said = text.partition("=")
    if not equals or not key:
        refuse(f"--set: write NAME=VALUE, found {text!r}")
    return key, value(said)


def name_of(model: Any) -> str:
    """The name of the command line of a fitted model."""
    return next((name for name, kind in NAMES.items() if kind == type(model).__name__), type(model).__name__)


def load(path: Path) -> Any:
    """A model from its file."""
    from saddlery.estimators import load as read

    if path.is_dir():
        refuse(f"{path} is a directory; a model is a file that `saddlery fit -o` wrote")
    if not path.exists():
        refuse(f"there is no model {path}; `saddlery fit DATA -o {path}` makes one")
    return read(path)


def target(data: Data, name: str) -> Any:
    """The target as a model wants it: classes that are whole numbers as such, numbers for regression."""
    y = data.y
    if y is None:
        refuse(f"{data.name} has no target, which {name} needs")
    words = y.dtype.kind not in "biuf"
    if name not in CLASSIFIERS:
        if words:
            kinds = f"classifiers are {', '.join(CLASSIFIERS)}"
            refuse(f"{name} needs a target of numbers, found words such as {str(y[0])!r}; {kinds}")
        return y.astype(np.float64)
    if y.dtype.kind == "f" and (y == np.floor(y)).all() and np.abs(y).max(initial=0.0) < 2.0**53:
        return y.astype(np.int64)
    if y.dtype.kind == "f":
        kinds = f"regressions are {', '.join(other for other in NAMES if other not in CLASSIFIERS)}"
        refuse(f"{name} needs a target of classes, found {y[y != np.floor(y)][0]:g}; {kinds}")
    return y
