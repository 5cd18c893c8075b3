"""From words to a linear problem: ``--loss huber:width=2 --penalty l1 --lam 0.01`` and data.

Losses and penalties are those of the library, found by looking there, under their names in lower case with hyphens.
"""

from __future__ import annotations

import difflib
import math
import re
from typing import Any

import numpy as np

from saddlery.cli.ends import refuse
from saddlery.cli.sources import Data

ALIASES = {"elastic-net": "l1l2", "none": "zero", "non-negative": "nonnegative"}
GUESS = 0.1  # of the smallest weight of |x|_1 that makes x = 0: where none is given


def problem(data: Data, loss: str, penalty: str, lam: float | None, l1_ratio: float, intercept: bool) -> Any:
    """The problem of `saddlery compare`."""
    from saddlery.problem import ERM
    from saddlery.terms import LOSSES, PENALTIES

    if lam is not None and not (0.0 <= lam < math.inf):
        refuse(f"--lam must be a finite number, 0 or more, found {lam:g}")
    if not 0.0 <= l1_ratio <= 1.0:
        refuse(f"--l1-ratio must lie between 0 and 1, found {l1_ratio:g}")
    if data.y is None:
        refuse(f"{data.name} has no target")
    made, told = _term("--loss", loss, LOSSES)
    f, b = _labelled(made, told, data.y)
    made, told = _term("--penalty", penalty, PENALTIES)
    guess = _critical(data.X, b, f, intercept) if lam is None and made.__name__ in ("L1", "L1L2") else 0.0
    g = _penalty(made, told, lam, l1_ratio, data.X.shape[0], guess)
    return ERM(data.X, b, f, g, intercept=intercept)


def scaled(data: Data) -> Data:
    """Columns of root mean square 1 (those that are 0 stay so), sparse where they were."""
    X = data.X
    sparse = hasattr(X, "indptr")
    squares = np.asarray((X.multiply(X) if sparse else X * X).sum(axis=0), dtype=np.float64).reshape(-1)
    size = np.sqrt(squares / X.shape[0])
    factor = 1.0 / np.where(size > 0.0, size, 1.0)
    return data._replace(X=X.multiply(factor[None, :]).tocsr() if sparse else X * factor)


def names(terms: dict[str, type]) -> dict[str, type]:
    """Terms by the names of the command line."""
    return {_kebab(name): term for name, term in terms.items()}


def _kebab(name: str) -> str:
    """SmoothHinge as smooth-hinge, L1L2 as l1l2."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower().replace("non-negative", "nonnegative")


def _term(option: str, said: str, terms: dict[str, type]) -> tuple[Any, dict[str, float]]:
    """The class of a term and the parameters that are written behind its name."""
    head, *pairs = said.split(":")
    known = names(terms)
    name = ALIASES.get(head, head)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" did you mean {near[0]!r}?" if near else ""
        refuse(f"{option}: there is no {head!r};{hint} there are {', '.join(sorted(known))}")
    made: Any = known[name]
    told = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in made._fields:
            refuse(f"{option}: {name} has no parameter {key!r}; it has {', '.join(made._fields) or 'none'}")
        try:
            told[key] = float(value)
        except ValueError:
            refuse(f"{option}: {key} must be a number, found {value!r}")
    return made, told


def _labelled(made: Any, told: dict[str, float], y: Any) -> tuple[Any, Any]:
    """The loss, and labels as it wants them: -1 and 1, 0 to K - 1, or numbers."""
    from saddlery.terms import labels

    classes = np.unique(y)
    if made.__name__ == "Softmax":
        return made(classes.size), np.searchsorted(classes, y).astype(np.float64)
    f = made(**told)
    if labels(f) == "margin":
        if classes.size != 2:
            more = "; for more than two use --loss softmax" if classes.size > 2 else ""
            shown = ", ".join(map(str, classes[:4])) + (", ..." if classes.size > 4 else "")
            refuse(f"the loss needs a target of two classes, found {classes.size}: {shown}{more}")
        return f, np.where(y == classes[1], 1.0, -1.0)
    if y.dtype.kind not in "biuf":
        refuse(f"the loss needs a target of numbers, found words such as {str(y[0])!r}")
    return f, y.astype(np.float64)


def _critical(X: Any, b: Any, f: Any, intercept: bool) -> float:
    """The largest slope at x = 0, from which weight of |x|_1 on x is 0."""
    from saddlery.problem import ERM
    from saddlery.terms import PENALTIES

    bare = ERM(X, b, f, PENALTIES["L2"](1.0), intercept=intercept)
    x = np.zeros(bare.x_shape)
    slope = bare.coupling.force(bare.gradients(bare.predictions(x)).reshape(-1))
    return float(np.abs(slope).max()) or 1.0


def _penalty(made: Any, told: dict[str, float], lam: float | None, ratio: float, n: int, critical: float) -> Any:
    """With --lam, where its own parameters are not written; by default 1/n, or a tenth of where x = 0."""
    if made.__name__ == "GroupL2":
        refuse("--penalty: groups cannot be told on the command line; use saddlery.report.compare from Python")
    if told:
        if lam is not None:
            refuse("--lam: the parameters of the penalty are written behind its name already")
        return made(**told)
    strength = lam if lam is not None else GUESS * critical if critical else 1.0 / n
    if made.__name__ == "L1":
        return made(strength)
    if made.__name__ == "L1L2":
        return made(strength * ratio, strength * (1.0 - ratio))
    if made.__name__ == "Box":
        refuse("--penalty: box needs its bounds: box:lo=-1:hi=1")
    return made(strength) if made._fields else made()
