"""``saddlery path``: one model for every value of its penalty, each with its certificate."""

from __future__ import annotations

import csv
import io
import json as writer
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from saddlery.cli.compare import check
from saddlery.cli.ends import End, refuse, say
from saddlery.cli.fit import MODELS, solver_of
from saddlery.cli.options import DataArgument, Drop, Format, Json, MaxTime, Seed, Target, Tol, output
from saddlery.cli.output import Ticker, place, show, show_json, table, write_text

MODEL = "lasso, elastic-net, ridge, logistic, svc, svr, huber or ridge-classifier."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("path")(path)


def path(
    data: DataArgument,
    model: Annotated[str, typer.Option(help=MODEL, show_default=False)],
    values: Annotated[
        str | None, typer.Option(help="alpha (or C), with commas between.", show_default="a grid from where all is 0")
    ] = None,
    n_values: Annotated[int, typer.Option(help="Values of the grid.")] = 100,
    eps: Annotated[float, typer.Option(help="Smallest value of the grid over the largest.")] = 1e-3,
    l1_ratio: Annotated[
        float | None,
        typer.Option(help="Share of |w|_1 in the penalty (elastic-net, logistic).", show_default=MODELS),
    ] = None,
    intercept: Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")] = True,
    tol: Tol = 1e-6,
    max_time: MaxTime = None,
    max_iter: Annotated[int | None, typer.Option(help="Epochs at most, for each value.", show_default="1000")] = None,
    solver: Annotated[str, typer.Option(help="A method, as of `saddlery methods`.")] = "auto",
    seed: Seed = 0,
    target: Target = None,
    drop: Drop = None,
    form: Format = None,
    out: Annotated[Path | None, output("A file for the table: .csv or .json.")] = None,
    json: Json = False,
) -> int:
    """Fit a model for many values of its penalty.

    Each fit starts from the one before, and each has its certificate. The exit code is 1 where one of them is not
    within --tol.

    \b
    Example:
      saddlery path data.csv --target price --model lasso --n-values 20 -o path.csv
    """
    from saddlery.cli.models import made
    from saddlery.cli.models import target as target_of
    from saddlery.cli.sources import read
    from saddlery.report.comparison import finite

    check(tol, max_time)
    if out is not None and place(out).suffix not in (".csv", ".json"):
        refuse(f"-o: a path is written as .csv or .json, found {out}")
    given = {
        "l1_ratio": l1_ratio,
        "fit_intercept": None if intercept else False,
        "tol": tol,
        "max_time": max_time,
        "max_iter": max_iter,
        "random_state": seed if seed else None,
        "solver": solver_of(solver),
    }
    estimator, asked = made(model, given, []), _numbers(values)
    if not 0.0 < eps < 1.0 or n_values < 1:
        refuse(f"--eps must lie between 0 and 1 and --n-values be 1 or more, found {eps:g} and {n_values}")
    found = read(data, target=target, drop=drop, form=form)
    y, began = target_of(found, model), time.perf_counter()
    ran, said = _run(estimator, found.X, y, {"values": asked, "n_values": n_values, "eps": eps})
    rows = _rows(ran, tol)
    about = {"model": model, "data": found.name, "parameter": ran.parameter, "path": finite(rows)}
    if out is not None:
        write_text(out, _csv(rows) if out.suffix == ".csv" else writer.dumps(about, indent=2))
    if json:
        show_json(about)
    else:
        show(_text(rows, ran.parameter, f"{model} on {found.name}", time.perf_counter() - began))
    for line in said:
        say(line)
    return End.DONE if all(row["converged"] for row in rows) else End.NOT_THERE


def _run(estimator: Any, X: Any, y: Any, grid: dict[str, Any]) -> tuple[Any, list[str]]:
    """The path, and warnings, each in a line."""
    from saddlery.estimators import regularization_path

    tick = Ticker()
    tick("fitting")
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            ran = regularization_path(estimator, X, y, **grid)
    finally:
        tick.clear()
    return ran, list(dict.fromkeys(" ".join(str(each.message).split()) for each in heard))


def _numbers(values: str | None) -> list[float] | None:
    if values is None:
        return None
    try:
        return [float(word) for word in values.split(",") if word.strip()]
    except ValueError:
        refuse(f"--values must be numbers with commas between, found {values!r}")


def _rows(ran: Any, tol: float) -> list[dict[str, Any]]:
    """A row for every value."""
    import numpy as np

    parts = zip(ran.values, ran.coef, ran.certificates, ran.epochs, ran.seconds, strict=True)
    return [
        {
            ran.parameter: float(value),
            "nonzeros": int(np.count_nonzero(coef)),
            "objective": float(made.primal),
            "gap": float(made.gap),
            "relative_gap": float(made.relative_gap),
            "epochs": int(epochs),
            "seconds": float(seconds),
            "converged": bool(made.relative_gap <= tol),
        }
        for value, coef, made, epochs, seconds in parts
    ]


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    made = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    made.writeheader()
    made.writerows(rows)
    return text.getvalue()


def _text(rows: list[dict[str, Any]], parameter: str, head: str, seconds: float) -> str:
    shown = [
        (
            f"{row[parameter]:.6g}",
            f"{row['nonzeros']:,}",
            f"{row['objective']:.8g}",
            f"{row['relative_gap']:.1e}",
            f"{row['epochs']:,}",
            f"{row['seconds']:.3g}",
            "" if row["converged"] else "not converged",
        )
        for row in rows
    ]
    columns = (parameter, "nonzeros", "objective", "relative gap", "epochs", "seconds", "")
    return "\n".join([f"{head}, {len(rows)} values, {seconds:.3g} s", "", table(columns, shown, words=(6,))])
