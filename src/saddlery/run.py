"""A run in the making: what the loop moves on, looks at, hands over, saves and returns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlery import checkpoint as disk
from saddlery.algorithms import Algorithm, State, signature, successor
from saddlery.algorithms._auto import AGAIN, chosen, following, slow, speed
from saddlery.certificate import Certified, certify
from saddlery.kept import Kept
from saddlery.problem import Problem
from saddlery.result import COLUMNS, History, Result, Row, Status
from saddlery.sampling import Weighted
from saddlery.start import point
from saddlery.stopping import Progress, Rule, first
from saddlery.watch import Watch

Array = NDArray[Any]

RUNAWAY = 1e12  # times the objective at the start: the iterates have run away
UNKNOWN = 300.0  # epochs that a factor e is given where nothing is proved
PATIENCE = 30  # epochs without progress after which a method with a fallback gives way to it


BOUNDLESS = (
    "no bound is known for this problem, and so tol cannot be met: certificate.local_gap says how nearly x and y solve "
    "it. A little L2 penalty, or radius=, a bound of |x*|, makes a bound"
)


@dataclass
class Run:
    """A run in the making: what the loop moves on."""

    problem: Problem
    asked: Algorithm
    algorithm: Algorithm
    rng: np.random.Generator
    auto: bool = False
    state: State = field(init=False)
    best: Certified | None = None
    kept: Kept | None = None  # of those that were due: where another method starts from
    now: Certified = field(init=False)
    watch: Watch = field(default_factory=Watch)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    epoch: int = 0
    looked: int = -1
    certificates: int = 0
    passes: float = 0.0
    earlier: float = 0.0
    clock: float = field(default_factory=time.perf_counter)
    saved_at: float = -math.inf
    saving: float = 0.0

    # ---- to begin

    def begin(self, start: Any) -> None:
        """The state to start from."""
        if isinstance(start, Result) and start.asked == self.signature and self._same(start):
            self._go_on(start)
            return
        state = getattr(start, "state", start)
        if isinstance(state, State) and state.method == self.algorithm.name and self._same(state):
            self.state = state.copy()
            self.rng.bit_generator.state = dict(state.random)
            return
        x, y = point(self.problem, start)
        self.state = self.algorithm.init(self.problem, x, y)
        # where it starts is not lost if the method makes its own x or y of it
        if start is not None or not np.array_equal(self.algorithm.iterate(self.problem, self.state)[1], y):
            self.best = certify(self.problem, x, y)
            self.kept = Kept.first(self.best)
        self.passes = self.state.passes  # a method that prepares says what that took
        self._heard()

    def _go_on(self, start: Result) -> None:
        """As if the run that made this result had not ended: with the method that ended it, and what it had seen."""
        if start.method != self.asked.name:
            self.algorithm = start.algorithm
        self.state, self.watch = start.state.copy(), start.watch.shifted(start.epochs)
        self.rng.bit_generator.state = dict(start.state.random)
        self.best, self.kept = Certified(start.certificate, start.x.copy(), start.y.copy()), replace(start.kept)

    @property
    def signature(self) -> str:
        """Name and parameters of what was asked for."""
        return ("auto: " if self.auto else "") + signature(self.asked)

    def _same(self, start: Result | State) -> bool:
        of = start.problem
        return of is self.problem or (of is not None and of.fingerprint == self.problem.fingerprint)

    # ---- an epoch, a look

    def step(self, enough: Callable[[], bool]) -> None:
        """One epoch of the method, cut short where it asks, and there is, `enough`."""
        before = self.state.passes
        self.state.scratch["enough"] = enough
        with np.errstate(all="ignore"):  # what is not finite is looked at and reported
            self.state = self.algorithm.epoch(self.problem, self.state, self.rng)
        self.epoch += 1
        self.passes += self.state.passes - before
        self._heard()

    def _heard(self) -> None:
        """Note what the method has to say."""
        self.notes += [f"{self.algorithm.name}: {said}" for said in self.state.notes]
        self.state.notes.clear()

    def look(self, keep: bool) -> None:
        """Certify the last iterate, and keep the better of it and the best."""
        with np.errstate(all="ignore"):
            x, y = self.algorithm.iterate(self.problem, self.state)
            self.now = certify(self.problem, x, y)
        made, replay = self.now.certificate, self.algorithm.replay is not None
        if self.certificates == 0 and self.watch.runaway == math.inf:
            scale = max(abs(made.primal), abs(self.problem.scale or 0.0))
            self.watch.runaway = RUNAWAY * scale if math.isfinite(scale) and scale > 0.0 else math.inf
        if self.epoch >= self.watch.due:
            self.kept = self.kept or Kept.first(self.now)
            self.certificates += self.kept.see(self.problem, self.now)
            self.watch.see(self.epoch, made, self.kept.pair.certificate.figure)
        for each in (self.now, *([self.kept.pair] if self.kept else [])):
            if self.best is None or each.certificate.better_than(self.best.certificate):
                self.best = each
        self.best = self.now if replay else self.best
        again = bool(self.rows) and self.rows[-1][0] == self.epoch  # a run that goes on looks where it ended
        self.looked = self.epoch
        self.certificates += not again
        if again or not keep:
            del self.rows[0 if not keep else -1 :]
        self.rows.append(
            (self.epoch, self.passes, float(self.certificates), self.seconds, made.primal, made.dual, made.gap)
        )

    def row(self) -> Row:
        """The newest row, by column, and the iterate that it is of."""
        made = Row(zip(COLUMNS, self.rows[-1], strict=True))
        made.x, made.y = self.now.x, self.now.y
        return made

    @property
    def seconds(self) -> float:
        """Seconds of this run, those before a checkpoint included."""
        return self.earlier + time.perf_counter() - self.clock

    def seen(self) -> Progress:
        """What the stopping rules look at."""
        assert self.best is not None
        return Progress(
            self.epoch,
            self.seconds,
            self.now.certificate,
            self.best.certificate,
            self.watch.moved,
            self.watch.stirred,
            self.watch.runaway,
            self._rarest(),
            self._slowest(),
        )

    def _rarest(self) -> float:
        """Epochs between two draws of the row that its sampler draws most rarely."""
        plan = self.state.scratch.get("plan")
        sampler = self.state.scratch.get("sampler") if plan is None else plan.sampler
        if not isinstance(sampler, Weighted):
            return 1.0
        return 1.0 / (self.problem.drawn * max(float(sampler.probabilities(self.problem.drawn).min()), 1e-300))

    def _slowest(self) -> float:
        """Epochs for a factor e that are proved for SPDC, with all rows in every step for BPD; elsewhere a guess."""
        p, L = self.problem, self.state.memory.get("norm")
        if p.lam * p.gamma == 0.0:
            return UNKNOWN
        size = 2.0 * float(L[0]) if L is not None else math.sqrt(2.0 * float(p.squares.max()))
        return 1.0 + size / math.sqrt(p.n * p.lam * p.gamma)

    def spent(self, budget: Sequence[Rule]) -> bool:
        """Is the time or are the epochs spent? Then there is one more certificate, and an end."""
        return first(budget, self.seen()) is not None

    def schedule(self, every: int | str, tol: float) -> None:
        """Say when the next certificate is due, if this one was."""
        if self.epoch >= self.watch.due:
            self.watch.due = self.epoch + (every if isinstance(every, int) else self._pause(tol))

    def _pause(self, tol: float) -> int:
        """Epochs to the next certificate: six epochs' worth of work, or fewer if tol is expected to be met before."""
        stored = self.problem.coupling.rows.stored
        per_epoch = self.state.passes / self.state.epoch if self.state.epoch else 1.0
        certificate, epoch = 150e-6 + 1.2e-9 * stored, 60e-6 + 2.5e-9 * stored * per_epoch
        longest = max(1, math.ceil(6.0 * certificate / epoch))
        if self.state.epoch == 0:
            return min(2, longest)
        rate, relative = self.watch.last_rate(), self.now.certificate.relative_gap
        if rate > 0.0 and math.inf > relative > tol > 0.0:
            return max(1, min(longest, math.ceil(math.log(relative / tol) / rate)))
        return longest

    # ---- trouble

    def gives_way(self, status: Status | None) -> bool:
        """Hand over to another method, where there is one and there is a reason. Was it done?"""
        if self._falters(status):
            self._fall_back()
            return True
        return self.auto and status in (None, Status.STALLED) and self._reconsider(status is not None)

    def _falters(self, status: Status | None) -> bool:
        """Has a method that has a fallback diverged, or stopped to make progress?"""
        replay = self.algorithm.replay is not None
        if getattr(self.algorithm, "fallback", None) is None or replay or self.watch.fallen:
            return False
        if status is not None:
            return status in (Status.DIVERGED, Status.STALLED)
        return self.epoch - self.watch.improved >= PATIENCE

    def _fall_back(self) -> None:
        """Go on from the best point with a method that is proved to converge."""
        other = successor(self.algorithm)
        assert other is not None
        quiet, here = self.epoch - self.watch.improved, f"at epoch {self.epoch}"
        self.notes.append(
            f"{self.algorithm.name} made no progress for {quiet} epochs (it is not proved to converge on rows of "
            f"unequal norm): {here} the best point was restored and {other.name} took over"
        )
        self._take_over(other)

    def _reconsider(self, stalled: bool) -> bool:
        """Leave a choice of "auto" for the next, where its gaps say so: see `algorithms._auto`. Was it left?"""
        name, trial, watch = self.algorithm.name, self.epoch - self.watch.since, self.watch
        other = following(self.problem, name, watch.tried)
        if other is None or not (stalled or slow(self.problem, name, trial, watch.rate(), watch.tried)):
            return False
        watch.tried = watch.tried | {name + AGAIN * (name in watch.tried): speed(self.problem, name, watch.rate())}
        self.notes.append(
            f"auto: at epoch {self.epoch} {other.name} took over from {name}, whose gap fell more slowly than is "
            "proved, or was seen, for another"
        )
        self._take_over(other)
        return True

    def _take_over(self, other: Algorithm) -> None:
        assert self.kept is not None
        self.algorithm = other
        self.watch.start_anew(self.epoch)
        epoch, passes = self.state.epoch, self.state.passes
        here = self.kept.furthest
        self.state = self.algorithm.init(self.problem, here.x, here.y)
        self.passes += self.state.passes
        self.state.epoch, self.state.passes = epoch, passes + self.state.passes
        self._heard()

    # ---- disk

    def save(self, path: Path, last: bool) -> None:
        """Write a checkpoint, unless writing would cost more than a tenth of the time."""
        began = time.perf_counter()
        if not last and began - self.saved_at < 10.0 * self.saving:
            return
        self.state.random, self.state.method = dict(self.rng.bit_generator.state), self.algorithm.name
        counters = {
            "epoch": self.epoch,
            "certificates": self.certificates,
            "passes": self.passes,
            "earlier": self.seconds,
            "notes": self.notes,
        }
        assert self.best is not None and self.kept is not None
        saved = disk.Saved(
            self.problem.fingerprint,
            self.signature,
            self.algorithm.name,
            self.state,
            self.best,
            self.kept,
            self.rows,
            counters,
            asdict(self.watch),
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
        self.watch = Watch(**saved.watch)
        if saved.active != self.asked.name:
            other = successor(self.asked)
            self.algorithm = other if other is not None and other.name == saved.active else chosen(saved.active)
        self.state, self.best, self.kept, self.rows = saved.state, saved.best, saved.kept, saved.rows
        self.rng.bit_generator.state = saved.state.random
        self.now, self.looked = self.best, self.epoch
        self.clock = time.perf_counter()

    # ---- the end

    def result(self, status: Status) -> Result:
        """All of it."""
        assert self.best is not None
        self.algorithm.iterate(self.problem, self.state)
        if self.best.certificate.kind == "localised":
            self.notes.append(BOUNDLESS)
        self.state.random, self.state.method = dict(self.rng.bit_generator.state), self.algorithm.name
        self.state.problem = self.problem
        return Result(
            self.best.x,
            self.best.y,
            self.best.certificate,
            status,
            self.notes,
            History(self.rows),
            self.seconds,
            self.epoch,
            self.state.copy(),
            self.algorithm.name,
            self.problem,
            self.algorithm,
            self.signature,
            self.watch,
            self.kept,
        )
