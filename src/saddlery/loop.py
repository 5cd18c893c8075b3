"""The loop: epoch, certificate at its cadence, stop, record, call back, checkpoint; one exit.

    solve(problem, method) -> Result with the best certified point

The cadence ``every="auto"`` is a function of the problem's size and of the gaps seen, never of the clock, so that the
same seed gives the same bits: certificates cost about a seventh of the time.
"""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from saddlery import checkpoint as disk
from saddlery.algorithms import Algorithm, able, method, missing, successor
from saddlery.algorithms._auto import choose
from saddlery.problem import Problem
from saddlery.result import Result, Row, Status
from saddlery.run import Run
from saddlery.stopping import Epochs, Gap, NonFinite, Rule, Stalled, Time, first

Callback = Callable[[Row], Any]


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
    callback: Callback | None = None,
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
        Seconds, looked at after every epoch; what is compiled on first use counts. The best point so far is returned,
        with its bound.
    seed : int or None
        Of the random draws. The same seed gives the same bits on one machine.
    start : Result, State, (x, y) or x, optional
        A result (or its state) of the same problem and method is continued exactly, bit for bit; of another, its x and
        y are the start.
    every : int or "auto"
        Epochs between certificates.
    callback : callable, optional
        Called with a dict of the history's columns after every certificate, whose attributes x and y are the iterate;
        returning True stops the run.
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
    _check_more(seed, callback, checkpoint)
    algorithm = _algorithm(problem, method)
    every = every if isinstance(every, str) else int(every)
    run = Run(
        problem, algorithm, algorithm, np.random.default_rng(seed), auto=isinstance(method, str) and method == "auto"
    )
    path = None if checkpoint is None else Path(checkpoint)
    restored = path is not None and path.exists()
    if path is not None and restored:
        run.restore(disk.read(path, problem.fingerprint, run.signature))
    else:
        run.begin(start)
    rules: list[Rule] = [NonFinite(), Gap(tol), Epochs(max_epochs)]
    rules += [Time(max_time)] if max_time is not None else []
    rules += [Stalled()] if tol > 0.0 else []
    if algorithm.replay is not None:
        rules = []
    ended = first(rules, run.seen()) if restored else None
    if ended is not None:  # the run on disk is at its end already
        return run.result(ended)
    with _patience() as interrupted, _bar(progress, max_epochs) as bar:
        status = _loop(run, rules, tol, every, callback, history, path, interrupted, bar)
    return run.result(status)


def _loop(
    run: Run,
    rules: Sequence[Rule],
    tol: float,
    every: int | str,
    callback: Callback | None,
    history: bool,
    path: Path | None,
    interrupted: list[bool],
    bar: Any,
) -> Status:
    """The one loop. Every way out is a Status."""
    replay = run.algorithm.replay is not None
    budget = [rule for rule in rules if isinstance(rule, (Time, Epochs))]
    while True:
        if run.looked < 0 or run.epoch >= run.watch.due or replay or interrupted or run.spent(budget):
            before = replace(run.watch)
            run.look(keep=history)
            due = run.epoch >= run.watch.due
            run.schedule(every, tol)
            status = first(rules, run.seen())
            if due and run.gives_way(status):
                status = first(budget, run.seen())
            elif status in (Status.EPOCHS, Status.TIME):
                run.watch = before  # a run that goes on looks again here, as if it had not ended
            if callback is not None and _said_yes(callback(run.row())) and not replay:
                status = status or Status.CALLBACK
            if interrupted:
                status = status or Status.INTERRUPTED
            if replay and run.epoch > 0:
                status = Status.REPLAYED
            bar.set_postfix_str(f"gap {run.seen().best.relative_gap:.1e}", refresh=False)
            if path is not None:
                run.save(path, last=status is not None)
            if status is not None:
                return status
        run.step(lambda: bool(interrupted) or run.spent(budget))
        bar.update(1)


def _said_yes(answer: Any) -> bool:
    """Is it True, Python's or NumPy's? Anything else that counts as true is taken for an accident."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def _algorithm(problem: Problem, asked: str | Algorithm) -> Algorithm:
    """The method asked for, checked against the problem."""
    algorithm = choose(problem) if isinstance(asked, str) and asked == "auto" else asked
    algorithm = method(algorithm) if isinstance(algorithm, str) else algorithm
    if isinstance(algorithm, type) or not hasattr(algorithm, "epoch"):
        raise TypeError(f"method must be a name or made by saddlery.method(...), found {asked!r}")
    for each in (algorithm, successor(algorithm)):
        lacking = [] if each is None else missing(each, problem)
        if each is not None and lacking:
            others = able(problem)
            advice = f"methods that can: {', '.join(others)}" if others else "no method here can"
            raise ValueError(f"{each.name} cannot solve this problem: it needs {'; and '.join(lacking)}. {advice}")
    return algorithm


def _check(problem: Any, tol: Any, max_epochs: Any, max_time: Any, every: Any) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be an ERM or a SeparableSaddle, found {type(problem).__name__}")
    if not (isinstance(tol, (int, float, np.number)) and 0.0 <= tol < math.inf):
        raise ValueError(f"tol must be a number, 0 or more, found {tol!r}")
    if not (isinstance(max_epochs, (int, np.integer)) and max_epochs >= 0):
        raise ValueError(f"max_epochs must be a whole number, 0 or more, found {max_epochs!r}")
    if max_time is not None and not (isinstance(max_time, (int, float, np.number)) and max_time >= 0.0):
        raise ValueError(f"max_time must be seconds, 0 or more, or None, found {max_time!r}")
    if not (isinstance(every, str) and every == "auto") and not (isinstance(every, (int, np.integer)) and every >= 1):
        raise ValueError(f'every must be "auto" or a whole number, 1 or more, found {every!r}')


def _check_more(seed: Any, callback: Any, checkpoint: Any) -> None:
    if seed is not None and not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise ValueError(f"seed must be a whole number, 0 or more, or None, found {seed!r}")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one argument, found {callback!r}")
    if checkpoint is not None:
        path = Path(checkpoint)
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise ValueError(f"checkpoint must be a file in a folder that can be written, found {checkpoint!r}")


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
