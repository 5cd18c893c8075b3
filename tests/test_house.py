"""The house: which room may import which. Imports go only against the arrows, and this test walks them all."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

# Room: what it may import, besides itself. A name stands for all that is below it. `_compile` is open to everybody.
HOUSE = {
    "_compile": "",
    "data": "",
    "terms": "",
    "couplings": "data terms",
    "inputs": "data.rows terms",
    "problem": "data terms couplings inputs",
    "repair": "data terms problem",
    "nearby": "data terms problem",
    "unpenalised": "data terms couplings problem",
    "certificate": "data terms problem repair nearby unpenalised",
    "sampling": "data terms",
    "steps": "data terms",
    "kernels": "data terms._verbs terms._sums",  # never a concrete loss or penalty
    "algorithms": "data terms couplings problem nearby sampling steps kernels",
    "watch": "certificate",
    "kept": "problem certificate",
    "result": "problem certificate algorithms._protocol watch",
    "stopping": "certificate result",
    "start": "terms problem algorithms._protocol result",
    "checkpoint": "certificate kept algorithms._protocol",
    "run": "terms problem certificate kept sampling algorithms watch result start stopping checkpoint",
    "loop": "problem algorithms result stopping checkpoint run",
}
TOP = ("estimators", "modelling", "distributed", "reproduce", "report")  # anything above, not each other
HOUSE |= {room: " ".join(HOUSE) for room in TOP}
HOUSE["cli"] = " ".join(HOUSE)  # the command line stands above them all
HOUSE["__main__"] = "cli"
HOUSE["__init__"] = " ".join(HOUSE)

# The one import along the arrows, inside a method: problem.certificate() delegates.
EXCEPTION = ("problem", "certificate")

DYNAMIC = ("import_module", "__import__")
LINES, KERNEL_LINES = 350, 400
SPEAKING = ("cli", "report")  # the rooms that may print

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "saddlery"
MODULES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


class Import(NamedTuple):
    """A module of the package that is imported, in which line, and whether inside a function."""

    target: str
    line: int
    inside: bool


def dotted(path: Path) -> str:
    """Name of a module below saddlery: ``terms.l2``, ``terms`` for its ``__init__``, ``__init__`` for the root's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


NAMES = {dotted(path) for path in MODULES}


def imports(tree: ast.AST, package: str) -> Iterator[Import]:
    """Every import of saddlery's own modules in a tree that lies in `package`, for type checkers only left out."""

    def walk(node: ast.AST, inside: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            children: list[ast.stmt] = node.orelse
            for child in children:
                yield from walk(child, inside)
            return
        for full in named(node, package):
            if full.split(".")[0] == "saddlery":
                yield Import(full.removeprefix("saddlery").removeprefix(".") or "__init__", node.lineno, inside)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    return walk(tree, False)


def named(node: ast.AST, package: str) -> list[str]:
    """Full names of the modules that one statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        return [inner if (inner := f"{base}.{a.name}").removeprefix("saddlery.") in NAMES else base for a in node.names]
    return []


def allowed(room: str, found: Import) -> bool:
    """Does the import go against the arrows?"""
    if (room, found.target) == EXCEPTION and found.inside:
        return True
    return any(
        found.target == open_to or found.target.startswith(open_to + ".")
        for open_to in (room, "_compile", *HOUSE[room].split())
    )


def of(path: Path) -> str:
    """The room of a module."""
    return dotted(path).split(".")[0]


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_imports_go_against_the_arrows(path):
    room = of(path)
    assert room in HOUSE, f"a new room, {room}: write into the table above what it may import"
    package = ".".join(["saddlery", *path.relative_to(PACKAGE).parts[:-1]])
    wrong = [
        f"line {found.line}: {room} may not import {found.target}"
        for found in imports(TREES[path], package)
        if not allowed(room, found)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_only_a_folder_discovers_its_own(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in DYNAMIC and of(path) != "__init__":
            own = path.name == "__init__.py" and ast.unparse(node.args[0]).startswith("f'{__name__}.")
            assert own, f"line {node.lineno}: an import by a name that this test cannot read"


def test_the_walker_sees_every_form_of_import():
    text = """
import saddlery.loop, numpy
from saddlery import terms
from saddlery.terms import _verbs, grad
from .l1 import soft
from . import l1
from ..data import rows
if TYPE_CHECKING:
    from saddlery import result
else:
    import saddlery.stopping
def f():
    import saddlery.certificate
class C:
    def method(self):
        from saddlery import ERM
"""
    found = [(each.target, each.inside) for each in imports(ast.parse(text), "saddlery.terms")]
    outside = ["loop", "terms", "terms._verbs", "terms", "terms.l1", "terms.l1", "data.rows", "stopping"]
    assert found == [(name, False) for name in outside] + [(n, True) for n in ("certificate", "__init__")]


def test_the_walker_refuses():
    assert not allowed("problem", Import("certificate", 1, inside=False))
    assert not allowed("terms", Import("data.rows", 1, inside=True))
    assert not allowed("kernels", Import("terms.squared", 1, inside=False))
    assert not allowed("kernels", Import("terms", 1, inside=False))
    assert not allowed("algorithms", Import("loop", 1, inside=True))
    assert not allowed("report", Import("estimators", 1, inside=True))
    assert not allowed("estimators", Import("cli", 1, inside=True))
    assert not allowed("loop", Import("__init__", 1, inside=True))


def test_the_table_has_no_circle():
    rooms = list(HOUSE)
    for place, room in enumerate(rooms):
        above = {target.split(".")[0] for target in HOUSE[room].split()}
        assert above <= set(rooms[:place]), f"{room} may import a room that stands below it"


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_modules_are_short_and_say_what_they_are(path):
    text, limit = path.read_text(encoding="utf-8"), KERNEL_LINES if of(path) == "kernels" else LINES
    assert len(text.splitlines()) <= limit
    assert ast.get_docstring(TREES[path]), "a module opens with the problem that it solves"


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_nothing_is_printed_or_swallowed(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Call) and of(path) not in SPEAKING:
            assert ast.unparse(node.func) not in ("print", "builtins.print"), f"print in line {node.lineno}"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"a bare except in line {node.lineno}"
            silent = all(isinstance(s, ast.Pass | ast.Continue) or ast.unparse(s) == "..." for s in node.body)
            broad = re.search(r"\b(Base)?Exception\b", ast.unparse(node.type))
            assert not (silent and broad), f"every error swallowed in line {node.lineno}"


def texts() -> list[Path]:
    """Text files of the project: all that .gitignore does not name."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ignored = [".git", *(line.strip("/") for line in lines if not line.startswith("#"))]
    found: list[Path] = []
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if not any(fnmatch.fnmatch(name, each) for each in ignored)]
        found += [Path(folder, name) for name in files if not any(fnmatch.fnmatch(name, each) for each in ignored)]
    return sorted(path for path in found if b"\0" not in path.read_bytes()[:8192])


def test_texts_hold_no_loose_ends():
    unfinished = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
    machine = re.compile(r"(?<![\w.~})/-])/" + r"(home|root|work|tmp)(/|\b(?![-.\w]))")
    wrong = []
    for path in texts():
        for count, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if unfinished.search(line) or machine.search(line):
                wrong.append(f"{path.relative_to(ROOT).as_posix()}:{count}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)


def test_the_import_is_quick_and_light():
    code = """
import time; start = time.perf_counter()
import saddlery; seconds = time.perf_counter() - start
import sys; print(seconds, *sorted({"numba", "scipy", "sklearn"} & set(sys.modules)))
"""
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    assert runs[0][1:] == [], "import saddlery loads what only a solve needs"
    assert min(float(run[0]) for run in runs) < 0.3
