"""``saddlery predict``: what a model says of new rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from saddlery.cli.columns import NO_TARGET
from saddlery.cli.ends import End, refuse, say
from saddlery.cli.options import DataArgument, Drop, Format, ModelArgument, Target, output
from saddlery.cli.output import place, show, write_text
from saddlery.cli.sources import Data, read


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("predict")(predict)


def predict(
    model: ModelArgument,
    data: DataArgument,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes, too (logistic).")] = False,
    target: Target = None,
    drop: Drop = None,
    form: Format = None,
    out: Annotated[Path | None, output("A CSV file for the predictions (without it: stdout).")] = None,
) -> int:
    """Predict new rows with a fitted model.

    Writes CSV: a line `prediction`, then one line for each row. CSV and Parquet columns are found by the names that the
    model was fitted with, where both have names; else by place. A target among the data is left out.

    \b
    Example:
      saddlery predict price.saddlery new.csv -o predicted.csv
    """
    from saddlery.cli.models import load, name_of

    if out is not None:
        place(out)
    estimator = load(model)
    if proba and not hasattr(estimator, "predict_proba"):
        refuse(f"{model} is a {name_of(estimator)} model, which has no probabilities; --proba is for logistic")
    found = features(estimator, data, target, drop, form)
    text = _csv(estimator, found.X, proba)
    if out is not None:
        write_text(out, text)
        say(f"{found.X.shape[0]:,} predictions in {out}")
    else:
        show(text.rstrip("\n"))
    return End.DONE


def features(estimator: Any, said: str, target: str | None, drop: list[str] | None, form: str | None) -> Data:
    """Data with the columns of the model. `feature_names_in_` is taken from it: X will be no data frame."""
    d = int(estimator.n_features_in_)
    names = [str(name) for name in estimator.__dict__.pop("feature_names_in_", [])]
    found = read(said, target=target, drop=drop, form=form, d=d, keep=names)
    width = found.X.shape[1]
    if width == d - 1 and target is None and found.columns is not None:  # no target: the last is a feature, too
        found = read(said, target=NO_TARGET, drop=drop, form=form, d=d)
        width = found.X.shape[1]
    if width != d:
        refuse(f"the model has {d} columns, but {said} has {width} without the target")
    return found


def _csv(estimator: Any, X: Any, proba: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    predictions = estimator.predict(X).tolist()
    if proba:
        writer.writerow(["prediction", *(f"p({name})" for name in estimator.classes_.tolist())])
        writer.writerows([p, *row] for p, row in zip(predictions, estimator.predict_proba(X).tolist(), strict=True))
    else:
        writer.writerow(["prediction"])
        writer.writerows([p] for p in predictions)
    return text.getvalue()
