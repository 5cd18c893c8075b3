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
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
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


def _foreign(value: Any) -> bool:
    """Is this a term (or does it hold one) whose class was not installed with this library?"""
    if not isinstance(value, tuple):
        return False
    if hasattr(value, "_fields") and not type(value).__module__.startswith(__package__ + "."):
        return True
    return any(_foreign(part) for part in value)


class Kernel:
    """A compiled loop: kept on disk for terms of this library, compiled once per process for all others."""

    def __init__(self, function: Callable[..., Any], lean: bool) -> None:
        functools.update_wrapper(self, function)
        self.function, self.lean = function, lean

    def _jit(self, *, cache: bool) -> Any:
        function = self.function
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": not self.lean}
        if cache:
            function.__qualname__ = f"{function.__name__}-{source_hash()}"
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError:  # no folder in which this user may write: compile once per process
                return numba.njit(**options)(function)
        return numba.njit(**options)(function)

    @functools.cached_property
    def kept(self) -> Any:
        return self._jit(cache=True)

    @functools.cached_property
    def fresh(self) -> Any:
        return self._jit(cache=False)

    def __call__(self, *args: Any) -> Any:
        if not COMPILED:
            return self.function(*args)
        return (self.fresh if _foreign(args) else self.kept)(*args)


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


def lean_verb(function: Function) -> Function:
    """Make a function a verb whose methods are all lean: of the library's own records, not of terms."""
    return _verb(function, lean=True)


def _verb(function: Function, lean: bool) -> Function:
    name = function.__name__
    default = None if function.__code__.co_code == _EMPTY.__code__.co_code else function

    @functools.wraps(function)
    def call(term: Any, *args: Any) -> Any:
        method = getattr(type(term), name, None) or default
        if method is None:
            raise TypeError(f"{type(term).__name__} does not define {name}{inspect.signature(function)}")
        return method(term, *args)

    if COMPILED:
        options = {"fastmath": False, "error_model": "numpy", "forceinline": True, "_nrt": not lean}

        @overload(call, jit_options=options, strict=False)
        def typed(term: Any, *args: Any) -> Any:
            if isinstance(term, types.BaseNamedTuple):
                return getattr(term.instance_class, name, None) or default
            return None

    return call  # type: ignore[return-value]


def _EMPTY() -> None:
    """Nothing: the body that marks a verb without a default."""
