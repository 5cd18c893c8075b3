"""Compilation, in one place: what is compiled, how, and where it is kept.

A *kernel* is a function that Python calls and that loops over data; a *helper* is compiled into the kernels that call
it; a *verb* is a function of a term (a ``NamedTuple`` of numbers or arrays, see ``terms``) whose meaning is the method
of that name in the term's class. Verbs are resolved when a kernel is compiled, so a kernel costs the same for a term
of the library and for one that a user wrote in a notebook.

Kernels are kept on disk by Numba. The name under which one is kept holds a hash of the sources that it was made from,
because a changed term does not by itself make Numba compile the kernel that uses it again. Kernels for terms that
were not installed with this library (a class of ``__main__``, say) cannot be found again by another process; these
are compiled once per process and never written to disk.

What is *lean* makes no array. It is compiled without counting references to arrays, which in a loop over short rows
can cost more than the rows do. A helper is always lean; a term's own method never is: it may make arrays.

With the environment variable ``SADDLERY_COMPILE=0`` everything runs as plain Python.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.caching import IndexDataCacheFile
from numba.core.errors import NumbaError
from numba.extending import overload

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED = os.environ.get("SADDLERY_COMPILE", "1") != "0"

# Row sums may be reassociated (so that they vectorise); numbers are never assumed finite: NaN must reach the check
# that reports it. The verbs themselves are compiled strictly, their formulas are written with care for rounding.
RELAXED = {"reassoc", "nsz", "contract"}

_SOURCES = ("_compile.py", "data/rows.py", "terms", "kernels", "certificate.py")


@functools.cache
def source_hash() -> str:
    """Hash of every source file that a kernel can be made from."""
    here, digest = Path(__file__).parent, hashlib.sha256()
    for name in _SOURCES:
        place = here / name
        for path in [place] if place.is_file() else sorted(place.glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _foreign(values: tuple[Any, ...]) -> tuple[type, ...]:
    """The classes of terms among these values (and of terms in terms) that were not installed with this library."""
    found: tuple[type, ...] = ()
    for value in values:
        if isinstance(value, tuple):
            made = type(value)
            if hasattr(value, "_fields") and not made.__module__.startswith(__package__ + "."):
                found += (made,)
            found += _foreign(value)
    return found


class _OneFileEach(IndexDataCacheFile):  # type: ignore[misc]
    """Compiled code on disk, in a file that is named after what it is compiled from and for.

    Numba numbers these files. Two processes that compile at the same time can then give two kernels one number, and
    from there on one is run for the other. Here the same name means the same contents, whoever writes it.
    """

    def save(self, key: Any, data: Any) -> None:
        name = f"{self._index_name}-{hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:32]}.nbc"
        self._save_data(name, data)
        kept = self._load_index()
        kept[key] = name
        self._save_index(kept)


class Kernel:
    """A compiled loop: kept on disk for terms of this library, compiled once per process for all others."""

    def __init__(self, function: Callable[..., Any], lean: bool) -> None:
        functools.update_wrapper(self, function)
        self.function, self.lean = function, lean
        self.fresh: dict[tuple[type, ...], Any] = {}  # Numba tells NamedTuples apart by name: see `_for`

    def _jit(self, *, cache: bool) -> Any:
        function = self.function
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": not self.lean}
        if cache:
            function.__qualname__ = f"{function.__name__}-{source_hash()}"
            try:
                made = numba.njit(cache=True, **options)(function)
            except RuntimeError:  # no folder in which this user may write: compile once per process
                return numba.njit(**options)(function)
            numbered = made._cache._cache_file
            made._cache._cache_file = each = object.__new__(_OneFileEach)
            each.__dict__.update(numbered.__dict__)
            return made
        return numba.njit(**options)(function)

    @functools.cached_property
    def kept(self) -> Any:
        return self._jit(cache=True)

    def _for(self, classes: tuple[type, ...]) -> Any:
        """A loop of their own for these very classes: one that was defined again is another class of the same name."""
        if classes not in self.fresh:
            self.fresh[classes] = self._jit(cache=False)
        return self.fresh[classes]

    def __call__(self, *args: Any) -> Any:
        if not COMPILED:
            return self.function(*args)
        classes = _foreign(args)
        if not classes:
            return self.kept(*args)
        try:
            return self._for(classes)(*args)
        except NumbaError as error:
            names = " or ".join(dict.fromkeys(made.__name__ for made in classes))
            raise TypeError(
                f"{names} does not compile: {_reason(error)}. Write its methods with numbers, math and NumPy only; "
                "with the environment variable SADDLERY_COMPILE=0 they run as plain Python"
            ) from error


def _reason(error: NumbaError) -> str:
    """The lines of Numba's message that speak of what a user wrote."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [
        line for line in lines if re.search(r"Error: |NameError|[Cc]annot|Unknown|No implementation|not define", line)
    ]
    return "; ".join(dict.fromkeys(telling[-2:] or lines[:1])).rstrip(". ")


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a kernel."""
    return Kernel(function, lean=False)


def lean_kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a lean kernel."""
    return Kernel(function, lean=True)


def helper(function: Function) -> Function:
    """Mark a function that kernels call; its sums may be reassociated."""
    if not COMPILED:
        return function
    return numba.njit(nogil=True, error_model="numpy", fastmath=RELAXED, forceinline=True, _nrt=False)(function)  # type: ignore[no-any-return]


def strict(function: Function) -> Function:
    """Mark a function that kernels call and whose arithmetic must stay as written."""
    if not COMPILED:
        return function
    return numba.njit(nogil=True, error_model="numpy", fastmath=False)(function)  # type: ignore[no-any-return]


def verb(function: Function) -> Function:
    """Make a module-level function a verb: the term's method of that name, else the function's own body.

    The body is the default, in terms of other verbs. A verb without a default says so by a body that is only its
    docstring: a term that lacks the method is then refused where a kernel needs it.
    """
    return _verb(function, lean=False)


def instead(of: Callable[..., Any], has: str) -> Callable[[Function], Function]:
    """Make a function the default of a verb for terms that have the method `has`."""

    def mark(function: Function) -> Function:
        of.instead[has] = function  # type: ignore[attr-defined]
        return function

    return mark


def lean_verb(function: Function) -> Function:
    """Make a function a verb whose methods are all lean: of the library's own records, not of terms."""
    return _verb(function, lean=True)


def _verb(function: Function, lean: bool) -> Function:
    name = function.__name__
    default = None if function.__code__.co_code == _EMPTY.__code__.co_code else function

    def meaning(owner: type) -> Callable[..., Any] | None:
        """The class's own method, or what stands in for it."""
        own = getattr(owner, name, None)
        others = (other for has, other in call.instead.items() if hasattr(owner, has))  # type: ignore[attr-defined]
        return own or next(others, default)

    @functools.wraps(function)
    def call(term: Any, *args: Any) -> Any:
        method = meaning(type(term))
        if method is None:
            raise TypeError(f"{type(term).__name__} does not define {name}{inspect.signature(function)}")
        return method(term, *args)

    call.instead = {}  # type: ignore[attr-defined]
    if COMPILED:
        options = {"fastmath": False, "error_model": "numpy", "forceinline": True, "_nrt": not lean}

        @overload(call, jit_options=options, strict=False)
        def typed(term: Any, *args: Any) -> Any:
            if isinstance(term, types.BaseNamedTuple):
                return meaning(term.instance_class)
            return None

    return call  # type: ignore[return-value]


def _EMPTY() -> None:
    """Nothing: the body that marks a verb without a default."""
