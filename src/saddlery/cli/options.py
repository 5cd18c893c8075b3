"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA_HELP = "A file (LIBSVM text, CSV, Parquet, npz; text also .gz, .xz, .bz2), or the name of a known data set."

DataArgument = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        help="CSV, Parquet: the target column, by name or number (1 is the first, -1 the last).", show_default="last"
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(help="CSV, Parquet: a column to leave out. May be given more than once.")
]
Format = Annotated[
    str | None, typer.Option("--format", help="libsvm, csv, parquet or npz.", show_default="by the file's ending")
]
Tol = Annotated[float, typer.Option(help="Relative duality gap to reach.")]
MaxTime = Annotated[
    float | None,
    typer.Option(help="Seconds; the best answer by then is given, with its bound.", show_default="no limit"),
]
Seed = Annotated[int, typer.Option(help="Seed of the random draws. The same seed gives the same bits.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]


def output(help_text: str) -> typer.models.OptionInfo:
    """The option -o."""
    made: typer.models.OptionInfo = typer.Option("--output", "-o", metavar="FILE", help=help_text, show_default=False)
    return made


ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that `saddlery fit -o` wrote.", show_default=False)
]
