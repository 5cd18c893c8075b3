"""``saddlery methods`` and ``saddlery datasets``: what there is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saddlery.cli.ends import refuse
from saddlery.cli.options import Json
from saddlery.cli.output import show, show_json, table

if TYPE_CHECKING:
    from saddlery.algorithms import MethodInfo
    from saddlery.data.fetch import DatasetInfo


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command("methods")(methods)
    app.command("datasets")(datasets)


def methods(
    name: Annotated[str | None, typer.Argument(help="A method, to hear all of it.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the methods, or say all about one.

    \b
    Examples:
      saddlery methods
      saddlery methods adasdca+
    """
    from saddlery.algorithms import method
    from saddlery.algorithms import methods as known

    found = known()
    if name is not None:
        method(name)  # an unknown one is refused, with the nearest name
        found = [each for each in found if each.name == name]
    if json:
        show_json([each._asdict() | {"parameters": _plain(each.parameters)} for each in found])
    elif name is not None:
        show(_all_about(found[0]))
    else:
        rows = [(m.name, re.split("[,;]", m.cost)[0], m.paper) for m in found]
        show(table(("method", "cost", "paper"), rows, words=(0, 1, 2)))
        show("\nauto chooses among them. `saddlery methods NAME` says what one needs, what is proved, its parameters.")


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Defaults as JSON knows them."""
    known = (str, int, float, bool, type(None))
    return {name: value if isinstance(value, known) else repr(value) for name, value in parameters.items()}


def _all_about(m: MethodInfo) -> str:
    parameters = ", ".join(f"{name}={value!r}" for name, value in m.parameters.items()) or "none"
    rows = [("paper", m.paper), ("needs", m.needs), ("proved", m.proved), ("cost", m.cost), ("parameters", parameters)]
    return "\n".join([m.name, *(f"  {name + ':':12}{text}" for name, text in rows)])


def datasets(json: Json = False) -> None:
    """List the data sets known by name.

    Sets are looked for in the folder that the environment variable SADDLERY_DATA names. Those that are not here and
    can be downloaded are, when they are first asked for.

    \b
    Examples:
      saddlery datasets
      saddlery fit mushrooms --model logistic
    """
    from saddlery.data.fetch import datasets as known

    found = known()
    if json:
        show_json([each._asdict() | {"present": present(each), "origin": each.origin} for each in found])
        return
    rows = [(i.name, f"{i.n:,}", f"{i.d:,}", f"{i.nnz:,}", i.kind, _where(i), i.description) for i in found]
    heads = ("name", "rows", "columns", "entries", "kind", "present", "what it is")
    show(table(heads, rows, words=(0, 4, 5, 6)))
    here = sum(present(each) for each in found)
    folder = os.environ.get("SADDLERY_DATA")
    where = f"SADDLERY_DATA = {folder}" if folder else "the environment variable SADDLERY_DATA names no folder"
    show(f"\n{here} of {len(found)} are here; {where}.")


def _where(info: DatasetInfo) -> str:
    if present(info):
        return "yes"
    return "no: downloads" if info.url else "no: by hand"


def present(info: DatasetInfo) -> bool:
    """Is a set here, so that nothing is downloaded for it?"""
    from saddlery.data.fetch import _local

    if _local(info) is not None:
        return True
    if info.url is None:
        return False
    import pooch

    folder = os.environ.get("SADDLERY_CACHE") or pooch.os_cache("saddlery")
    return (Path(folder) / info.url.rpartition("/")[2]).is_file()


def known_method(name: str) -> str:
    """A name of a method, or auto; anything else is refused with the nearest name."""
    from saddlery.algorithms import method

    if name != "auto":
        try:
            method(name)
        except ValueError as error:
            refuse(str(error))
    return name
