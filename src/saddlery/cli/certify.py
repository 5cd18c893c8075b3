"""``saddlery certify``: how good is this model for these data? Computed anew, trusting nothing in its file."""

from __future__ import annotations

from typing import Annotated

import typer

from saddlery.cli.compare import check
from saddlery.cli.ends import End, refuse
from saddlery.cli.fit import plain
from saddlery.cli.options import DataArgument, Drop, Format, Json, ModelArgument, Target
from saddlery.cli.output import show, show_json
from saddlery.cli.predict import features


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("certify")(certify)


def certify(
    model: ModelArgument,
    data: DataArgument,
    tol: Annotated[
        float | None, typer.Option(help="Relative gap to be within.", show_default="that of the fit")
    ] = None,
    target: Target = None,
    drop: Drop = None,
    form: Format = None,
    json: Json = False,
) -> int:
    """Recompute a model's certificate from the data.

    The gap is that of the coefficients on the problem that the data and the model's parameters make; nothing that the
    file says about itself is believed. The exit code is 1 where the gap is above --tol.

    \b
    Example:
      saddlery certify price.saddlery data.csv --target price
    """
    from saddlery.cli.models import load, name_of
    from saddlery.cli.models import target as target_of

    estimator = load(model)
    asked = float(estimator.tol) if tol is None else tol
    check(asked, None)
    found = features(estimator, data, target, drop, form)
    name = name_of(estimator)
    if found.y is None:
        refuse(f"{data} has no target beside the {found.X.shape[1]} columns of the model; a certificate needs it")
    made = estimator.certify(found.X, target_of(found, name))
    within = made.relative_gap <= asked
    if json:
        about = {"model": name, "file": str(model), "data": found.name, "rows": int(found.X.shape[0])}
        show_json(about | {"certificate": plain(made), "tol": asked, "within": within})
    else:
        show(f"{name} in {model} on {found.name}, {found.X.shape[0]:,} x {found.X.shape[1]:,}\n")
        show(f"  {made}")
        show(f"  {'within' if within else 'NOT within'} tol {asked:g}")
    return End.DONE if within else End.NOT_THERE
