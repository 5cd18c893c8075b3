"""Docstrings of the source, which are written to be read as they stand, made into what Sphinx expects.

Formulas are plain text there: |x| is a norm, f* a conjugate. Sphinx would take both for markup. Here what is no code is
escaped, and a formula that stands by itself is set as it stands, line by line.
"""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(``.+?``|:[a-z]+:`.+?`|`.+?`)")
TERM = re.compile(r"^[\w.]+(?:, [\w.]+)* : ")
TYPE = re.compile(r"^(\{|array|ndarray|float|int|bool|str|list|tuple|dict|callable|sparse|sequence)")
UNDERLINE = re.compile(r"^\s*-{3,}\s*$")
FORMULA = re.compile(r"<-|\w\+ = |^\s*[a-z]\w*(\([^)]*\))? = .*[,;]$|  = ", re.MULTILINE)
LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Yields", "Other Parameters", "Warns", "Methods")


def escaped(text: str) -> str:
    """Prose with what Sphinx would take for markup escaped, code left alone."""
    parts = CODE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([\\|*])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", parts[k])
    return "".join(parts)


def is_formula(paragraph: list[str]) -> bool:
    """Is a paragraph made of formulas? Those that are indented are; others by their signs."""
    text = "\n".join(paragraph)
    if re.match(r"\s*([-*] |\.\. |>>> |\d\. )", text):
        return False
    return text.startswith("    ") or len(FORMULA.findall(text)) > 0


def opening(lines: list[str]) -> int:
    """Where the first section begins: the number of the lines before it."""
    for k in range(len(lines) - 1):
        if lines[k].strip() and UNDERLINE.match(lines[k + 1]):
            return k
    return len(lines)


def paragraphs(lines: list[str]) -> list[list[str]]:
    """Lines cut where one is empty."""
    made: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            made[-1].append(line)
        elif made[-1]:
            made.append([])
    return [each for each in made if each]


def prose(lines: list[str]) -> list[str]:
    """The part of a docstring before its sections: formulas as they stand, the rest escaped."""
    made: list[str] = []
    for paragraph in paragraphs(lines):
        first, rest = (paragraph[:1], paragraph[1:]) if not made else ([], paragraph)
        if first:  # the sentence that says what it is
            made += [escaped(first[0])]
        if len([line for line in rest if TERM.match(line)]) > 1:
            made += ["", *definitions(rest), ""]
        elif rest and made and is_formula(rest):
            cut = min(len(line) - len(line.lstrip()) for line in rest)
            made += ["", ".. code-block:: text", "", *("   " + line[cut:] for line in rest), ""]
        else:
            made += [*map(escaped, rest), ""]
    return made


def apart(lines: list[str]) -> list[str]:
    """Lines ``a : this. b : that.`` as two."""
    return [part for line in lines for part in re.sub(r"([.;]) (\w+) : ", r"\1\n\2 : ", line).splitlines() or [""]]


def definitions(lines: list[str]) -> list[str]:
    """Lines ``NAME : what it is``, some of which go on in the next, as a list of definitions."""
    made: list[str] = []
    for line in apart(lines):
        if TERM.match(line):
            term, _, said = line.partition(" : ")
            made += [f"``{term}``", f"   {escaped(said)}"]
        else:
            made.append(f"   {escaped(line.strip())}" if made else escaped(line))
    return made


def sections(lines: list[str]) -> list[str]:
    """The sections: names of parameters are left alone, what is said of them is escaped."""
    made, listing, telling = list[str](), False, False
    lines = apart(lines)
    for k, line in enumerate(lines):
        after = lines[k + 1] if k + 1 < len(lines) else ""
        if UNDERLINE.match(after) and line.strip():
            listing, telling = line.strip() in LISTS, line.strip() == "Attributes"
            made.append(line)
        elif UNDERLINE.match(line) or line.lstrip().startswith((">>>", "...")):
            made.append(line)
        elif listing and line and not line.startswith(" "):
            name, colon, kind = line.partition(" : ")
            told = telling and kind and (kind.rstrip().endswith((".", ";", ",")) or not TYPE.match(kind))
            made += [name, f"    {escaped(kind)}"] if told else [name + colon + escaped(kind)]
        else:
            made.append(escaped(line))
    return made


def processed(lines: list[str]) -> list[str]:
    """A docstring for Sphinx."""
    k = opening(lines)
    return [*prose(lines[:k]), *sections(lines[k:])]


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if not (getattr(thing, "__module__", "") or "").startswith("sklearn"):
        lines[:] = processed(lines)


def _skip(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what is no documentation: the fields of a NamedTuple, and what a class has from another library."""
    home = getattr(getattr(thing, "fget", None) or getattr(thing, "func", thing), "__module__", None)
    if (getattr(thing, "__doc__", "") or "").startswith("Alias for field number"):
        return True
    if isinstance(home, str) and not home.startswith("saddlery"):
        return True
    return None


def setup(app: Any) -> None:
    """Before numpydoc, which comes at 500.

    Of an attribute that is a property numpydoc would show the property's own docstring, which has not been here.
    """
    from numpydoc.docscrape_sphinx import SphinxDocString

    shown = SphinxDocString._process_param
    SphinxDocString._process_param = lambda self, name, said, _: shown(self, name, said, False)
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-skip-member", _skip)
