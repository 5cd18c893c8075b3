"""What a solve returns: the best point, its certificate, why the run ended, and how it went."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery.algorithms._protocol import State
from saddlery.certificate import Certificate
from saddlery.watch import Watch

Array = NDArray[Any]

COLUMNS = ("epoch", "passes", "certificate_passes", "seconds", "primal", "dual", "gap")


class Status(enum.Enum):
    """Why a run ended. In every case x and y are the best certified point (for REPLAYED: the last iterate).

    CONVERGED : x is within tol of the best there is; the only status that is `ok`.
    TIME, EPOCHS : the budget is spent; the certificate says how far x is from the best at most.
    STALLED : nothing moved for long; the gap is at the level of rounding errors, or the method goes in circles.
    DIVERGED : the iterates ran away; x and y are from before.
    INTERRUPTED : Ctrl-C. CALLBACK : the callback returned True. Both: as for TIME.
    REPLAYED : the given draws are played.
    """

    CONVERGED = "Converged: the relative gap is at most tol."
    TIME = "Stopped: the time budget is spent."
    EPOCHS = "Stopped: max_epochs epochs are made."
    STALLED = "Stalled: nothing has moved for long; tol is below what rounding allows, or the method goes in circles."
    DIVERGED = "Diverged: the iterates ran away; the best point from before is returned."
    INTERRUPTED = "Interrupted: the best point so far is returned."
    CALLBACK = "Stopped: the callback asked for it."
    REPLAYED = "Replayed: the given draws are played."

    @property
    def ok(self) -> bool:
        """Did the run reach its tolerance?"""
        return self is Status.CONVERGED

    def __str__(self) -> str:
        return self.value


class History(dict[str, Array]):
    """One row for each certificate: a dict from column names to arrays, as ``pandas.DataFrame`` takes it.

    epoch; passes: the method's own work, in passes over the data; certificate_passes: passes spent on certificates;
    seconds: since the start, certificates included; primal, dual, gap.
    """

    def __init__(self, rows: list[tuple[float, ...]] | None = None) -> None:
        self.rows: list[tuple[float, ...]] = [] if rows is None else list(rows)
        table = np.array(self.rows, dtype=np.float64).reshape(len(self.rows), len(COLUMNS))
        super().__init__(zip(COLUMNS, table.T.copy(), strict=True))
        self["epoch"] = self["epoch"].astype(np.int64)

    def __missing__(self, name: str) -> Array:
        raise KeyError(f"the history has no column {name!r}; it has {', '.join(COLUMNS)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return History, (self.rows,)

    def __repr__(self) -> str:
        return f"History({len(self.rows)} rows of {', '.join(COLUMNS)})"

    def to_pandas(self) -> Any:
        """The history as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self))


class Row(dict[str, float]):
    """What a callback is called with: the newest row of the history, by column. x, y: the iterate that it is of."""

    x: Array
    y: Array


@dataclass(repr=False)
class Result:
    """The answer.

    Attributes
    ----------
    x, y : the best certified point; y is dual feasible.
    certificate : how far x is from the best there is, at most.
    status : why the run ended.
    notes : what the run wants to say: a fallback, a copy, a failed checkpoint.
    history : the certificates, one row each.
    seconds, epochs : spent in this call, or, with a checkpoint, in all calls together.
    state : the last iterate and all that the method remembers. Give the result as `start` to go on exactly.
    method : name of the method that ended the run.
    problem, algorithm, asked, watch, kept : what was solved, how, and what the run had seen, so that it can go on.
    """

    x: Array
    y: Array
    certificate: Certificate
    status: Status
    notes: list[str]
    history: History
    seconds: float
    epochs: int
    state: State
    method: str
    problem: Any = field(repr=False)
    algorithm: Any = field(repr=False)
    asked: str = field(repr=False)
    watch: Watch = field(repr=False)
    kept: Any = field(repr=False)

    def __repr__(self) -> str:
        return f"<Result: {self}>"

    def __str__(self) -> str:
        head = f"{self.status} {self.method}, {self.epochs} epochs, {self.seconds:.3g} s; {self.certificate}"
        return "\n".join([head, *self.notes])
