"""The loop: epoch, certificate at its cadence, stop, record, call back, checkpoint; one exit.

    solve(problem, method) -> Result with the best certified point

The cadence ``every="auto"`` is a function of the problem's size and of the gaps seen, never of the clock, so that the
same seed gives the same bits: certificates cost about a seventh of the time.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery import checkpoint as disk
from saddlery.algorithms import Algorithm, State, able, method, missing
from saddlery.algorithms._auto import WATCH, choose, leave, second
from saddlery.certificate import Certified, certify
from saddlery.problem import Problem
from saddlery.result import COLUMNS, History, Result, Status
from saddlery.stopping import Epochs, Gap, NonFinite, Progress, Rule, Stalled, Time, first
from saddlery.terms import _verbs

Array = NDArray[Any]

RUNAWAY = 1e6  # times the objective at the start: the iterates have run away
PATIENCE = 30  # epochs without progress after which a method with a fallback gives way to it


def solve(
    problem: Problem,
    method: str | Algorithm = "auto",
    *,
    tol: float = 1e-6,
    max_epochs: int = 1000,
    max_time: float | None = None,
    seed: int | None = 0,
    start: Any = None,
    every: int | str = "auto",
    callback: Callable[[dict[str, float]], Any] | None = None,
    progress: bool = False,
    history: bool = True,
    checkpoint: str | Path | None = None,
) -> Result:
    """Solve a problem and say how far the answer is from the best there is, at most.

    Parameters
    ----------
    problem : ERM or SeparableSaddle
    method : str or method object
        A name of ``methods()``, ``"auto"``, or ``saddlery.method(name, ...)`` with parameters.
    tol : float
        Relative gap to reach. 0 never stops on gap or stall.
    max_epochs : int
        Epochs of this call; with a checkpoint, of all calls together.
    max_time : float, optional
        Seconds, looked at after every epoch. The best point so far is returned, with its bound.
    seed : int or None
        Of the random draws. The same seed gives the same bits on one machine.
    start : Result, State, (x, y) or x, optional
        A result (or its state) of the same problem and method is continued exactly, bit for bit; of another, its x and
        y are the start.
    every : int or "auto"
        Epochs between certificates.
    callback : callable, optional
        Called with a dict of the history's columns after every certificate; returning True stops the run.
    progress : bool
        Show a progress bar.
    history : bool
        Keep a row for every certificate (otherwise for the last only).
    checkpoint : path, optional
        Written as the run goes, whole or not at all. If it is there, the run goes on from it, bit for bit.

    Returns
    -------
    Result
    """
    _check(problem, tol, max_epochs, max_time, every)
    algorithm = _algorithm(problem, method)
    run = _Run(problem, algorithm, algorithm, np.random.default_rng(seed), auto=isinstance(method, str) and method == "auto")
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        run.restore(disk.read(path, problem.fingerprint, _signature(algorithm)))
    else:
        run.begin(start)
    rules: list[Rule] = [NonFinite(), Gap(tol), Epochs(max_epochs)]
    rules += [Time(max_time)] if max_time is not None else []
    rules += [Stalled()] if tol > 0.0 else []
    if algorithm.replay is not None:
        rules = []
    with _patience() as interrupted, _bar(progress, max_epochs) as bar:
        status = _loop(run, rules, tol, every, callback, history, path, interrupted, bar)
    return run.result(status)


def _loop(
    run: _Run,
    rules: list[Rule],
    tol: float,
    every: int | str,
    callback: Callable[[dict[str, float]], Any] | None,
    history: bool,
    path: Path | None,
    interrupted: list[bool],
    bar: Any,
) -> Status:
    """The one loop. Every way out is a Status."""
    replay = run.algorithm.replay is not None
    budget = [rule for rule in rules if isinstance(rule, (Time, Epochs))]
    while True:
        if run.epoch >= run.due or replay or interrupted or run.spent(budget):
            run.look(keep=history)
            run.due = run.epoch + (every if isinstance(every, int) else run.pause(tol))
            status = first(rules, run.seen())
            if run.falters(status):
                run.fall_back()
                status = None
            elif status is None and run.auto:
                run.reconsider()
            if callback is not None and callback(run.row()) is True:
                status = Status.CALLBACK
            if interrupted:
                status = Status.INTERRUPTED
            if replay and run.epoch > 0:
                status = Status.REPLAYED
            bar.set_postfix_str(f"gap {run.best.certificate.relative_gap:.1e}", refresh=False)
            if path is not None:
                run.save(path, last=status is not None)
            if status is not None:
                return status
        run.step()
        bar.update(1)


@dataclass
class _Run:
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
    mark: float = math.inf
    lowest: float = math.inf
    highest: float = -math.inf
    certificates: int = 0
    passes: float = 0.0
    runaway: float = math.inf
    earlier: float = 0.0
    clock: float = field(default_factory=time.perf_counter)
    saved_at: float = -math.inf
    saving: float = 0.0
    fallen: bool = False

    # ---- to begin

    def begin(self, start: Any) -> None:
        """The state to start from."""
        state = getattr(start, "state", start)
        same = not isinstance(start, Result) or self._same(start)
        if isinstance(state, State) and same and state.method == self.algorithm.name and self._fits(state):
            self.state = _copy(state)
            self.rng.bit_generator.state = state.random
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
        bracket = self.lowest - self.highest if self.highest > -math.inf else self.lowest
        if bracket < self.mark - 1e-3 * abs(self.mark) or self.mark == math.inf:
            self.mark, self.improved = bracket, self.epoch
        self.looked = self.epoch
        self.certificates += 1
        if not keep:
            del self.rows[:-1]  # the cadence looks at the last two
        self.rows.append(
            (self.epoch, self.passes, float(self.certificates), self.seconds, made.primal, made.dual, made.gap)
        )

    def row(self) -> dict[str, float]:
        """The newest row, by column."""
        return dict(zip(COLUMNS, self.rows[-1], strict=True))

    @property
    def seconds(self) -> float:
        """Seconds of this run, those before a checkpoint included."""
        return self.earlier + time.perf_counter() - self.clock

    def seen(self) -> Progress:
        """What the stopping rules look at."""
        return Progress(
            self.epoch, self.seconds, self.now.certificate, self.best.certificate, self.improved, self.runaway
        )

    def spent(self, budget: list[Rule]) -> bool:
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

    def reconsider(self) -> None:
        """Leave the first choice of "auto" for the second, where its gaps say so: see `algorithms._auto`."""
        if self.fallen or self.epoch < WATCH:
            return
        name, proved = second(self.problem, self.algorithm.name)
        if leave(self.rate(), proved):
            self.notes.append(
                f"auto: at epoch {self.epoch} {name} took over from {self.algorithm.name}, whose gap fell more slowly than "
                "is proved for adaspdc-balanced"
            )
            self._take_over(name, 1)

    def rate(self) -> float:
        """Fall of the logarithm of the gap an epoch, over the later half of the certificates; 0 if it does not fall."""
        seen = [(row[0], row[6]) for row in self.rows if 0.0 < row[6] < math.inf]
        if len(seen) < 2:
            return 0.0
        (e0, g0), (e1, g1) = seen[len(seen) // 2 - (len(seen) == 2)], seen[-1]
        return max(0.0, math.log(g0 / g1) / (e1 - e0)) if e1 > e0 else 0.0

    def _take_over(self, name: str, batch: int) -> None:
        parameters = {"batch_size": batch} if batch > 1 else {}
        self.algorithm, self.fallen = method(name, **parameters), True
        epoch, passes = self.state.epoch, self.state.passes
        self.state = self.algorithm.init(self.problem, self.best.x, self.best.y)
        self.state.epoch, self.state.passes = epoch, passes

    # ---- disk

    def save(self, path: Path, last: bool) -> None:
        """Write a checkpoint, unless writing would cost more than a tenth of the time."""
        began = time.perf_counter()
        if not last and began - self.saved_at < 10.0 * self.saving:
            return
        self.state.random, self.state.method = self.rng.bit_generator.state, self.algorithm.name
        counters = {
            "epoch": self.epoch,
            "due": self.due,
            "improved": self.improved,
            "mark": self.mark,
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
            self.problem.fingerprint, _signature(self.asked), self.algorithm.name, self.state, self.best, self.rows, counters
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
        self.state.random, self.state.method = self.rng.bit_generator.state, self.algorithm.name
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


def _better(new: Any, old: Any) -> bool:
    """Is one certificate better than the other? Without bounds, the objective decides."""
    if math.isfinite(new.gap) or math.isfinite(old.gap):
        return bool(new.gap < old.gap)
    return bool(new.primal < old.primal or math.isnan(old.primal))


def _copy(state: State) -> State:
    memory = {name: array.copy() for name, array in state.memory.items()}
    return State(state.x.copy(), state.y.copy(), memory, state.epoch, state.passes, dict(state.random), state.method)


def _signature(algorithm: Algorithm) -> str:
    """Name and parameters, as a checkpoint remembers them."""
    parameters = {name: value for name, value in vars(algorithm).items() if name != "sampler"}
    return f"{algorithm.name} {parameters}"


def _algorithm(problem: Problem, asked: str | Algorithm) -> Algorithm:
    """The method asked for, checked against the problem."""
    name = choose(problem) if asked == "auto" else asked
    algorithm = method(name) if isinstance(name, str) else name
    if isinstance(algorithm, type) or not hasattr(algorithm, "epoch"):
        raise TypeError(f"method must be a name or made by saddlery.method(...), found {asked!r}")
    lacking = missing(algorithm, problem)
    if lacking:
        others = able(problem)
        advice = f"methods that can: {', '.join(others)}" if others else "no method here can"
        raise ValueError(f"{algorithm.name} cannot solve this problem: it needs {'; and '.join(lacking)}. {advice}")
    return algorithm


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
    flat, x0 = problem.unpack(x)
    dual = problem.gradients(problem.predictions(x)) if y is None else problem.flat(y)
    for name, array in (("x", flat), ("x", x0), ("y", dual)):
        if not np.isfinite(array).all():
            raise ValueError(f"start: {name} holds NaN or infinity; only finite numbers are allowed")
    return problem.pack(flat, x0), dual.reshape(problem.y_shape)


def _check(problem: Any, tol: Any, max_epochs: Any, max_time: Any, every: Any) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be an ERM or a SeparableSaddle, found {type(problem).__name__}")
    if not (isinstance(tol, (int, float, np.number)) and 0.0 <= tol < math.inf):
        raise ValueError(f"tol must be a number, 0 or more, found {tol!r}")
    if not (isinstance(max_epochs, (int, np.integer)) and max_epochs >= 0):
        raise ValueError(f"max_epochs must be a whole number, 0 or more, found {max_epochs!r}")
    if max_time is not None and not max_time >= 0.0:
        raise ValueError(f"max_time must be seconds, 0 or more, or None, found {max_time!r}")
    if every != "auto" and not (isinstance(every, (int, np.integer)) and every >= 1):
        raise ValueError(f'every must be "auto" or a whole number, 1 or more, found {every!r}')


@contextmanager
def _patience() -> Iterator[list[bool]]:
    """Collect Ctrl-C until the epoch is whole; a second one is not collected."""
    interrupted: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.default_int_handler:  # somebody else handles it
        yield interrupted
        return

    def note(number: int, frame: Any) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.append(True)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, previous)


class _Silent:
    def update(self, count: int) -> None:
        """Show nothing."""

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        """Show nothing."""


@contextmanager
def _bar(progress: bool, total: int) -> Iterator[Any]:
    if not progress:
        yield _Silent()
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit="epoch") as bar:
        yield bar
