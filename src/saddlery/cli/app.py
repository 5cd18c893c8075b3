"""The command ``saddlery``: its commands, and how every one of them ends."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated, NoReturn

import typer

from saddlery.cli import certify, compare, demo, fit, listing, path, predict
from saddlery.cli.ends import MEANING, End, end_of, say

ABOUT = """Regularised models with a certificate: every answer says how far it is from the best there is, at most.

\b
  saddlery demo                                       see it work, in seconds
  saddlery fit data.csv --model logistic -o m.saddlery
  saddlery predict m.saddlery new.csv

`saddlery COMMAND --help` says more, with an example. `--debug` shows where an error comes from."""

app = typer.Typer(
    name="saddlery",
    help=ABOUT,
    epilog=MEANING,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"saddlery {metadata.version('saddlery')}")
        raise typer.Exit()


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """What stands before a command."""


for room in (demo, fit, predict, certify, path, compare, listing):
    room.register(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """A command, from its words to its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        ended = app(args=words or ["--help"], prog_name="saddlery", standalone_mode=False)
        sys.stdout.flush()
        if ended == End.INTERRUPTED and not isinstance(ended, End):  # what newer parsers make of Ctrl-C
            return end_of(KeyboardInterrupt())
        return int(ended or 0) if words else End.BAD_INPUT
    except BrokenPipeError:
        return _closed()
    except SystemExit as ended:  # what the parser makes of a closed pipe
        return _closed() if isinstance(ended.__context__, BrokenPipeError) else int(ended.code or 0)
    except typer.Abort:
        return end_of(KeyboardInterrupt())
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exc()
        if hasattr(error, "format_message"):  # of the parser of options
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "saddlery"
            say(f"{error.format_message().rstrip('.')}; see `{command} --help`")
            return End.BAD_INPUT
        return end_of(error)


def _closed() -> int:
    """Who reads has seen enough: saddlery methods | head. Nothing more is said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return End.CLOSED


def main() -> NoReturn:
    """The command ``saddlery``."""
    sys.exit(run())
