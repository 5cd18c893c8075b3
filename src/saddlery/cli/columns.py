"""Which columns of a table are features, and which is the target?"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saddlery.cli.ends import refuse

Array = NDArray[Any]
NO_TARGET = "none"  # said of data without a target


class Columns(NamedTuple):
    """Places of the features and of the target (None: there is none) among the columns of a file, and their names."""

    features: list[int]
    target: int | None
    every: list[str]

    @classmethod
    def of(
        cls,
        path: Path,
        names: list[str] | None,
        width: int,
        target: str | None,
        drop: list[str],
        keep: Sequence[str] = (),
    ) -> Columns:
        """`target` and `drop` are names, or numbers counted from 1; -1 is the last. No target said: the last column.

        `keep` : names of the features, where they are known; of a file without names nothing is made of them.
        """
        if keep and names is not None:
            return _kept(path, names, keep, target)
        every = names or [f"column {k}" for k in range(1, width + 1)]
        dropped = {_find(path, names, width, each, "--drop") for each in drop}
        left = [k for k in range(width) if k not in dropped]
        if target == NO_TARGET and NO_TARGET not in every:
            place = None
        elif target is None:
            place = left[-1] if left else None
        else:
            place = _find(path, names, width, target, "--target")
            if place in dropped:
                refuse(f"column {target!r} is both the target and dropped")
        features = [k for k in left if k != place]
        if names is not None:
            _apart(path, names, features)
        if not features:
            refuse(f"{path} has {width} column{'s' * (width > 1)}, which leaves no feature")
        return cls(features, place, every)

    @property
    def names(self) -> list[str]:
        """Of the features."""
        return [self.every[k] for k in self.features]

    def called(self, place: int) -> str:
        """The name of a column."""
        return self.every[place]

    def target_of(self, numbers: Array) -> Array | None:
        """The target's column."""
        return None if self.target is None else numbers[:, self.target].copy()

    def numbers_or_words(self, words: list[str]) -> Array:
        """A target as numbers where all of it are, else as words."""
        if all(is_number(word) and np.isfinite(float(word)) for word in words):
            return np.array([float(word) for word in words])
        return np.array(words)


def _apart(path: Path, names: list[str], features: list[int]) -> None:
    """Refuse features of one name: a model that is fitted with them finds neither again."""
    for k in features:
        others = [j + 1 for j in features if names[j] == names[k]]
        if len(others) > 1:
            said = " and ".join(str(j) for j in others)
            refuse(
                f"{path} has {len(others)} columns called {names[k]!r} ({said}); rename one, or leave one out "
                f"(--drop {others[-1]})"
            )


def _kept(path: Path, names: list[str], keep: Sequence[str], target: str | None) -> Columns:
    """The features by name, in that order; the target as said, or the last column that is none of them."""
    lacking = [name for name in keep if name not in names]
    if lacking:
        near = difflib.get_close_matches(lacking[0], names, n=1)
        hint = f" (it has {near[0]!r})" if near else ""
        refuse(f"{path} has no column {lacking[0]!r}{hint}, which the model was fitted with")
    features = [_find(path, names, len(names), name, "the model's column") for name in keep]
    if target == NO_TARGET:
        return Columns(features, None, names)
    if target is not None:
        return Columns(features, _find(path, names, len(names), target, "--target"), names)
    return Columns(features, next((k for k in reversed(range(len(names))) if k not in features), None), names)


def _find(path: Path, names: list[str] | None, width: int, said: str, option: str) -> int:
    if names is not None and said in names:
        if names.count(said) > 1:
            refuse(f"{path} has {names.count(said)} columns called {said!r}; give {option} a number, counted from 1")
        return names.index(said)
    try:
        number = int(said)
    except ValueError:
        known = names or []
        near = difflib.get_close_matches(said, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        if not known:
            hint = "; the file has no header, so columns are numbers, counted from 1"
        refuse(f"{path} has no column {said!r} ({option}){hint}")
    if not (1 <= number <= width or -width <= number <= -1):
        refuse(f"{path} has {width} columns, counted from 1; {option} is {number}")
    return number - 1 if number > 0 else width + number


def is_number(cell: str) -> bool:
    """Would Python read it as one? (1_000 it would, but nobody means it.)"""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def missing_word(word: str) -> bool:
    """Is this how files say that there is nothing?"""
    return word.lower() in ("", "na", "n/a", "nan", "null", "none", "?")
