"""A run in the making: what the loop moves on, looks at, hands over, saves and returns."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery import checkpoint as disk
from saddlery.algorithms import Algorithm, State, method
from saddlery.algorithms._auto import following, slow
from saddlery.certificate import Certificate, Certified, certify
from saddlery.problem import Problem
from saddlery.result import COLUMNS, History, Result, Status
from saddlery.stopping import Progress, Rule, first
from saddlery.terms import _verbs

Array = NDArray[Any]

RUNAWAY = 1e6  # times the objective at the start: the iterates have run away
PATIENCE = 30  # epochs without progress after which a method with a fallback gives way to it


@dataclass
class Run:
    """A run in the making: what the loop moves on."""

    problem: Problem
    asked: Algorithm
    algorithm: Algorithm
    rng: np.random.Generator
    auto: bool = False
    state: State = field(init=False)
    best: Certified = field(init=False)
    now: Certified = field(init=False)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    epoch: int = 0
    looked: int = -1
    due: int = 0
    improved: int = 0
    moved: int = 0
    mark: float = math.inf
    trace: tuple[float, float, float] = (math.inf, math.inf, math.inf)
    lowest: float = math.inf
    highest: float = -math.inf
    certificates: int = 0
    passes: float = 0.0
    runaway: float = math.inf
    earlier: float = 0.0
    clock: float = field(default_factory=time.perf_counter)
    saved_at: float = -math.inf
    saving: float = 0.0
    since: int = 0
    fallen: bool = False

    # ---- to begin

    def begin(self, start: Any) -> None:
        """The state to start from."""
        state = getattr(start, "state", start)
        same = not isinstance(start, Result) or self._same(start)
        if isinstance(state, State) and same and state.method == self.algorithm.name and self._fits(state):
            self.state = _copy(state)
            self.rng.bit_generator.state = dict(state.random)
            return
        x, y = _point(self.problem, start)
        self.state = self.algorithm.init(self.problem, x, y)

    def _same(self, start: Result) -> bool:
        return start.problem is self.problem or start.problem.fingerprint == self.problem.fingerprint

    def _fits(self, state: State) -> bool:
        return state.x.shape == self.problem.x_shape and state.y.shape == self.problem.y_shape

    # ---- an epoch, a look

    def step(self) -> None:
        """One epoch of the method."""
        before = self.state.passes
        with np.errstate(all="ignore"):  # what is not finite is looked at and reported
            self.state = self.algorithm.epoch(self.problem, self.state, self.rng)
        self.epoch += 1
        self.passes += self.state.passes - before

    def look(self, keep: bool) -> None:
        """Certify the last iterate, and keep the better of it and the best."""
        with np.errstate(all="ignore"):
            x, y = self.algorithm.iterate(self.problem, self.state)
            self.now = certify(self.problem, x, y)
        made = self.now.certificate
        if self.looked < 0:
            self.best = self.now
            scale = max(abs(made.primal), abs(self.problem.scale or 0.0))
            self.runaway = RUNAWAY * scale if math.isfinite(scale) and scale > 0.0 else math.inf
        elif _better(made, self.best.certificate) or self.algorithm.replay is not None:
            self.best = self.now
        self.lowest, self.highest = min(self.lowest, made.primal), max(self.highest, made.dual)
        self._progress()
        self.looked = self.epoch
        self.certificates += 1
        if not keep:
            del self.rows[:-1]  # the cadence looks at the last two
        self.rows.append(
            (self.epoch, self.passes, float(self.certificates), self.seconds, made.primal, made.dual, made.gap)
        )

    def _progress(self) -> None:
        """Note when the bracket around the minimum closed by a thousandth, and when anything moved at all.

        Anything: the best gap by a thousandth, the lowest objective or the highest lower bound by a millionth of the
        bracket and by more than rounding.
        """
        bracket = self.lowest - self.highest if self.highest > -math.inf else self.lowest
        if bracket < self.mark - 1e-3 * abs(self.mark) or self.mark == math.inf:
            self.mark, self.improved = bracket, self.epoch
        gap, low, high = self.trace
        step = max(1e-6 * abs(bracket), 1e-15 * abs(self.lowest))
        best = self.best.certificate.gap
        if best < gap * (1.0 - 1e-3) or self.lowest < low - step or -self.highest < high - step:
            self.trace, self.moved = (best, self.lowest, -self.highest), self.epoch

    def row(self) -> dict[str, float]:
        """The newest row, by column."""
        return dict(zip(COLUMNS, self.rows[-1], strict=True))

    @property
    def seconds(self) -> float:
        """Seconds of this run, those before a checkpoint included."""
        return self.earlier + time.perf_counter() - self.clock

    def seen(self) -> Progress:
        """What the stopping rules look at."""
        return Progress(self.epoch, self.seconds, self.now.certificate, self.best.certificate, self.moved, self.runaway)

    def spent(self, budget: Sequence[Rule]) -> bool:
        """Is the time or are the epochs spent? Then there is one more certificate, and an end."""
        return first(budget, self.seen()) is not None

    def pause(self, tol: float) -> int:
        """Epochs to the next certificate: six epochs' worth of work, or fewer if tol is expected to be met before."""
        stored = self.problem.coupling.rows.stored
        per_epoch = self.passes / self.epoch if self.epoch else 1.0
        certificate, epoch = 150e-6 + 1.2e-9 * stored, 60e-6 + 2.5e-9 * stored * per_epoch
        longest = max(1, math.ceil(6.0 * certificate / epoch))
        if self.epoch == 0:
            return min(2, longest)
        gaps = [(row[0], row[6]) for row in self.rows[-2:] if row[6] > 0.0 and math.isfinite(row[6])]
        if len(gaps) == 2 and gaps[1][1] < gaps[0][1] and tol > 0.0:
            rate = math.log(gaps[0][1] / gaps[1][1]) / (gaps[1][0] - gaps[0][0])
            relative = self.now.certificate.relative_gap
            if relative > tol:
                return max(1, min(longest, math.ceil(math.log(relative / tol) / rate)))
        return longest

    # ---- trouble

    def falters(self, status: Status | None) -> bool:
        """Has a method that has a fallback diverged, or stopped to make progress?"""
        if getattr(self.algorithm, "fallback", None) is None or self.algorithm.replay is not None or self.fallen:
            return False
        if status is not None:
            return status in (Status.DIVERGED, Status.STALLED)
        return self.epoch - self.improved >= PATIENCE

    def fall_back(self) -> None:
        """Go on from the best point with a method that is proved to converge."""
        batch = getattr(self.algorithm, "batch_size", 1)
        fallback = getattr(self.algorithm, "fallback", "auto")
        name = ("adaspdc-balanced" if batch == 1 else "adaspdc-sigma") if fallback == "auto" else fallback
        self.notes.append(
            f"{self.algorithm.name} made no progress after epoch {self.improved} (it is not proved to converge on rows "
            f"of unequal norm): at epoch {self.epoch} the best point was restored and {name} took over"
        )
        self._take_over(name, batch)
        self.improved = self.epoch

    def reconsider(self, stalled: bool) -> bool:
        """Leave a choice of "auto" for the next, where its gaps say so: see `algorithms._auto`. Was it left?"""
        name = following(self.problem, self.algorithm.name)
        if name is None:
            return False
        if not stalled and not slow(self.problem, self.algorithm.name, self.epoch - self.since, self.rate()):
            return False
        self.notes.append(
            f"auto: at epoch {self.epoch} {name} took over from {self.algorithm.name}, whose gap fell more slowly "
            "than is proved for adaspdc-balanced"
        )
        self._take_over(name, 1)
        self.moved = self.epoch
        return True

    def rate(self) -> float:
        """Fall of the logarithm of the gap an epoch, over the later half of the method's certificates, or 0."""
        seen = [(row[0], row[6]) for row in self.rows if row[0] >= self.since and 0.0 < row[6] < math.inf]
        if len(seen) < 2:
            return 0.0
        (e0, g0), (e1, g1) = seen[len(seen) // 2 - (len(seen) == 2)], seen[-1]
        return max(0.0, math.log(g0 / g1) / (e1 - e0)) if e1 > e0 else 0.0

    def _take_over(self, name: str, batch: int) -> None:
        parameters = {"batch_size": batch} if batch > 1 else {}
        self.algorithm, self.fallen, self.since = method(name, **parameters), True, self.epoch
        epoch, passes = self.state.epoch, self.state.passes
        self.state = self.algorithm.init(self.problem, self.best.x, self.best.y)
        self.state.epoch, self.state.passes = epoch, passes

    # ---- disk

    def save(self, path: Path, last: bool) -> None:
        """Write a checkpoint, unless writing would cost more than a tenth of the time."""
        began = time.perf_counter()
        if not last and began - self.saved_at < 10.0 * self.saving:
            return
        self.state.random, self.state.method = dict(self.rng.bit_generator.state), self.algorithm.name
        counters = {
            "epoch": self.epoch,
            "due": self.due,
            "improved": self.improved,
            "moved": self.moved,
            "since": self.since,
            "mark": self.mark,
            "trace": self.trace,
            "lowest": self.lowest,
            "highest": self.highest,
            "certificates": self.certificates,
            "passes": self.passes,
            "runaway": self.runaway,
            "earlier": self.seconds,
            "notes": self.notes,
            "fallen": self.fallen,
        }
        saved = disk.Saved(
            self.problem.fingerprint,
            signature(self.asked),
            self.algorithm.name,
            self.state,
            self.best,
            self.rows,
            counters,
        )
        try:
            disk.write(path, saved)
        except OSError as error:
            self.notes.append(f"the checkpoint {path} could not be written at epoch {self.epoch}: {error}")
        self.saved_at = time.perf_counter()
        self.saving = self.saved_at - began

    def restore(self, saved: disk.Saved) -> None:
        """Go on from a checkpoint."""
        for name, value in saved.counters.items():
            setattr(self, name, value)
        if saved.active != self.asked.name:
            batch = getattr(self.asked, "batch_size", 1)
            self.algorithm = method(saved.active, **({"batch_size": batch} if batch > 1 else {}))
        self.state, self.best, self.rows = saved.state, saved.best, saved.rows
        self.rng.bit_generator.state = saved.state.random
        self.now, self.looked = self.best, self.epoch
        self.clock = time.perf_counter()

    # ---- the end

    def result(self, status: Status) -> Result:
        """All of it."""
        self.algorithm.iterate(self.problem, self.state)
        self.state.random, self.state.method = dict(self.rng.bit_generator.state), self.algorithm.name
        return Result(
            self.best.x,
            self.best.y,
            self.best.certificate,
            status,
            self.notes,
            History(self.rows),
            self.seconds,
            self.epoch,
            _copy(self.state),
            self.algorithm.name,
            self.problem,
        )


def _better(new: Certificate, old: Certificate) -> bool:
    """Is one certificate better than the other? Without bounds, the objective decides."""
    if math.isfinite(new.gap) or math.isfinite(old.gap):
        return bool(new.gap < old.gap)
    return bool(new.primal < old.primal or math.isnan(old.primal))


def _copy(state: State) -> State:
    memory = {name: array.copy() for name, array in state.memory.items()}
    return State(state.x.copy(), state.y.copy(), memory, state.epoch, state.passes, dict(state.random), state.method)


def signature(algorithm: Algorithm) -> str:
    """Name and parameters, as a checkpoint remembers them."""
    parameters = {name: value for name, value in vars(algorithm).items() if name != "sampler"}
    return f"{algorithm.name} {parameters}"


def _point(problem: Problem, start: Any) -> tuple[Array, Array]:
    """x and y of a start."""
    if start is None:
        # the point of the domain of g nearest to 0
        x = np.full(problem.d, _verbs.prox(problem.g, 0.0, 0.0) if _verbs.separable(problem.g) else 0.0)
        return problem.pack(x, np.zeros(problem.q)), np.zeros(problem.y_shape)
    if isinstance(start, (Result, State)):
        x, y = start.x, start.y
    elif isinstance(start, tuple):
        if len(start) != 2:
            raise ValueError(f"start must be a Result, a State, (x, y) or x, found a tuple of length {len(start)}")
        x, y = start
    else:
        x, y = start, None
    for part in (x, y):
        if np.asarray(part if part is not None else 0.0).dtype.kind not in "biuf":
            raise TypeError(f"start must be a Result, a State, (x, y) or x, found {part!r}")
    flat, x0 = problem.unpack(x)
    dual = problem.gradients(problem.predictions(x)) if y is None else problem.flat(y)
    for name, array in (("x", flat), ("x", x0), ("y", dual)):
        if not np.isfinite(array).all():
            raise ValueError(f"start: {name} holds NaN or infinity; only finite numbers are allowed")
    return problem.pack(flat, x0), dual.reshape(problem.y_shape)
