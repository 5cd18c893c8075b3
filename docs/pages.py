"""Pages made from the source: what is public, every method, every room. They cannot fall behind it.

Plain Python, without Sphinx: the tests read these pages too.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docstrings

import saddlery as sd
from saddlery.algorithms import METHODS
from saddlery.data import synthetic
from saddlery.terms import LOSSES, PENALTIES

PACKAGE = Path(sd.__file__).parent

# Room of a public name: the title of its section and what it is for. Names of other rooms come last, under "More".
SECTIONS = {
    "estimators": ("Estimators", "scikit-learn's names, parameters and objectives; a certificate with every fit."),
    "loop": ("Solving", "One function for every problem and every method."),
    "problem": ("Problems", "Rows, labels, a loss, a penalty."),
    "losses": ("Losses", "``f(z, b)`` of a prediction and a label. A loss of your own is a class of the same kind."),
    "penalties": ("Penalties", "``g(x)``, separable but for groups."),
    "algorithms": ("Methods", "A method by name, with parameters; :doc:`all of them <methods>` on one page."),
    "result": ("Answers", "What a solve returns."),
    "certificate": ("Certificates", "How far a point is from the best there is, at most."),
    "sampling": ("Samplers", "Which rows come next."),
    "data": ("Data", "Files, named sets, designs from a seed."),
}

# Page of docs/rooms: the rooms that it is about.
ROOMS = {
    "data": "data",
    "terms": "terms",
    "couplings": "couplings",
    "problem": "problem inputs",
    "certificate": "certificate repair nearby unpenalised",
    "sampling": "sampling",
    "steps": "steps",
    "kernels": "kernels _compile",
    "algorithms": "algorithms",
    "solve": "loop run start checkpoint",
    "results": "result stopping watch kept",
    "estimators": "estimators",
    "report": "report",
    "command-line": "cli",
}

FAMILIES = {
    "DualAscent": "Dual ascent, one row at a time",
    "PrimalDual": "Primal-dual steps, one row or batch at a time",
    "Table": "Gradients with a table, one row at a time",
    "Batch": "All rows in every step",
    "": "Others",
}


def write(folder: Path) -> None:
    """Write all pages, those that did not change left alone."""
    made = {"api.rst": api(), "methods.rst": methods()}
    made |= {f"rooms/{page}.md": modules(names.split()) for page, names in ROOMS.items()}
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def headed(title: str, sign: str) -> list[str]:
    """A heading."""
    return [title, sign * len(title), ""]


# ---- everything public -----------------------------------------------------------------------------------------------


def home(name: str) -> str:
    """The section of a public name: that of its room, or of its kind of term."""
    if name in LOSSES or name in PENALTIES:
        return "losses" if name in LOSSES else "penalties"
    thing = getattr(sd, name)
    return str(getattr(thing, "__module__", thing.__name__ if inspect.ismodule(thing) else "")).split(".")[1]


def public() -> dict[str, list[str]]:
    """Section by section the public names, none left out."""
    names: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for name in sd.__all__:
        if name not in ("__version__", "synthetic"):
            names.setdefault(home(name), []).append(name)
    return names


def api() -> str:
    """The API page."""
    lines = [
        *headed("API reference", "="),
        "Everything is importable from the root: ``import saddlery as sd``. ``sd.__version__`` is the version.",
        "",
    ]
    for section, names in public().items():
        title, said = SECTIONS.get(section, ("More", ""))
        if names:
            lines += [*headed(title, "-"), said, "", *listed("saddlery", names)]
    made = [name for name, thing in vars(synthetic).items() if not name.startswith("_") and is_own(thing, synthetic)]
    lines += [*headed("saddlery.synthetic", "-"), "Designs from a seed.", "", *listed("saddlery.data.synthetic", made)]
    return "\n".join(lines)


def is_own(thing: Any, module: Any) -> bool:
    """Is it a function or class of this module, or one that it makes its own by name?"""
    return (
        (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__.startswith("saddlery.data.")
        and (thing.__module__ == module.__name__ or thing.__name__ == "random_csr")
    )


def listed(module: str, names: list[str]) -> list[str]:
    """A table of names, each with a page of its own."""
    return [
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :toctree: api",
        "   :nosignatures:",
        "",
        *(f"   {name}" for name in names),
        "",
    ]


# ---- every method ----------------------------------------------------------------------------------------------------


def methods() -> str:
    """The page of methods."""
    lines = [
        *headed("Every method", "="),
        "What ``sd.methods()`` lists. ``sd.solve(problem, name)`` runs one as it is, ``sd.method(name, ...)`` with",
        "other parameters. :doc:`/choosing` says which one to take, which is mostly none: ``auto`` chooses.",
        "",
        "The letters: rows ``a_i`` of ``A``, n of them, ``R_i = |a_i|``, R the largest; ``L = |A|``; x the primal",
        "point, y the dual one, ``r = u = A'y / n`` the force of the data on x; tau and sigma their steps, theta the",
        "extrapolation; f is ``1/gamma``-smooth and delta-strongly convex, g is lam-strongly convex; mu the smallest",
        "singular value of A; nnz counts stored entries. Two different methods are called SPDHG in the literature:",
        "``spdc`` here is the stochastic primal-dual coordinate method of Zhang and Xiao.",
        "",
    ]
    made: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name, method in METHODS.items():
        made[family_of(method)].append(name)
    for family, names in made.items():
        if names:
            lines += headed(FAMILIES[family], "-")
            for name in names:
                lines += entry(name)
    return "\n".join(lines)


def family_of(method: type) -> str:
    """The name of the family that a method is of, or nothing."""
    return next((base.__name__ for base in method.__mro__ if base.__name__ in FAMILIES), "")


def entry(name: str) -> list[str]:
    """What there is to say of a method."""
    method: Any = METHODS[name]
    text = (inspect.getdoc(method) or "").splitlines()
    said = docstrings.prose(text[: docstrings.opening(text)])
    facts = {
        "Paper": method.paper,
        "Needs": ", ".join(need.name for need in method().needs) or "nothing",
        "Proved": method.proved,
        "Cost": method.cost,
    }
    lines = [f".. _method-{name}:", "", *headed(name, "~"), *said, ""]
    lines += [f":{fact}: {docstrings.escaped(line)}" for fact, line in facts.items()]
    parameters = dict(documented(method))
    lines += [":Parameters:"] if parameters else []
    for field in dataclasses.fields(method):
        kind, about = parameters.get(field.name, ("", ""))
        lines += [f"   ``{field.name} = {field.default!r}``", f"      {docstrings.escaped(about or kind)}", ""]
    return [*lines, ""]


def documented(method: type) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name, type and description of every parameter that a class or one that it is made from documents."""
    for base in reversed(method.__mro__):
        lines = inspect.cleandoc(base.__dict__.get("__doc__") or "").splitlines()
        section = lines[docstrings.opening(lines) + 2 :]
        for k, line in enumerate(section):
            if line and not line.startswith(" "):
                name, _, kind = line.partition(" : ")
                told = []
                for after in section[k + 1 :]:
                    if after and not after.startswith(" "):
                        break
                    told.append(after.strip())
                yield name, (kind, " ".join(told).strip())


# ---- every room ------------------------------------------------------------------------------------------------------


def rooms() -> list[str]:
    """Names of the rooms: folders and single files of the package."""
    return sorted(
        {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")}
        - {"__init__", "__main__"}
    )


def modules(names: list[str]) -> str:
    """The modules of rooms, each with the sentence that it opens with, as a table in Markdown."""
    paths: list[Path] = []
    for folder in (PACKAGE / room for room in names):
        paths += sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    lines = ["| module | opens with |", "|---|---|"]
    for path in paths:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if path.stem != "__init__":
            name = path.relative_to(PACKAGE).as_posix()
            lines.append(f"| `{name}` | {plain(text.splitlines()[0])} |")
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text in which nothing is markup to Markdown."""
    return re.sub(r"([\\`*_|<>\[\]~$#])", r"\\\1", re.sub(r"``|:\w+:|`", "", text))
