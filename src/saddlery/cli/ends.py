"""How a command ends: a number that scripts can use, and one line on stderr where something is wrong."""

from __future__ import annotations

import enum
import sys
import traceback
from pathlib import Path
from typing import NoReturn

PACKAGE = Path(__file__).parents[1]


class End(enum.IntEnum):
    """Exit codes."""

    DONE = 0
    NOT_THERE = 1
    BAD_INPUT = 2
    NOT_WRITTEN = 3
    OUR_FAULT = 70
    INTERRUPTED = 130
    CLOSED = 141


MEANING = """Exit codes:

\b
  0    done; what was asked to converge has reached its tolerance
  1    stopped before the tolerance; the answer is written all the same
  2    usage or bad input; nothing is written
  3    the answer could not be written
  70   an error of saddlery's own
  130  interrupted by Ctrl-C; the best answer so far is written"""


class Refusal(Exception):
    """Bad input, in a sentence for whoever typed it."""


class Unwritten(Exception):
    """The answer is there, but its file is not."""


def refuse(sentence: str) -> NoReturn:
    """Stop, with exit code 2."""
    raise Refusal(sentence)


def say(line: str) -> None:
    """One line to the person, not to the program that reads stdout."""
    print(f"saddlery: {' '.join(line.split())}", file=sys.stderr, flush=True)


def end_of(error: BaseException) -> End:
    """What an error is to whoever typed the command. Says so, in a line."""
    if isinstance(error, KeyboardInterrupt):
        say("interrupted")
        return End.INTERRUPTED
    if isinstance(error, Unwritten):
        say(str(error))
        return End.NOT_WRITTEN
    if isinstance(error, Refusal):
        say(str(error))
        return End.BAD_INPUT
    if isinstance(error, MemoryError):
        say(f"there is not enough memory for this: {error}")
        return End.BAD_INPUT
    if isinstance(error, OSError):
        say(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        return End.BAD_INPUT
    if isinstance(error, (ValueError, TypeError)) and _ours(error):
        say(str(error))
        return End.BAD_INPUT
    say(f"an error of its own: {type(error).__name__}: {error}; with --debug it says where. Please report it")
    return End.OUR_FAULT


def _ours(error: BaseException) -> bool:
    """Was it raised by this library on purpose, or by scikit-learn's checks of parameters and data?"""
    frames = traceback.extract_tb(error.__traceback__)
    place = Path(frames[-1].filename) if frames else Path()
    checks = ("_param_validation.py", "validation.py", "_base.py", "multiclass.py")
    return place.is_relative_to(PACKAGE) or ("sklearn" in place.parts and place.name in checks)
