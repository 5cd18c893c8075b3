"""``saddlery fit``: a model from data, with its certificate."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from saddlery.cli.compare import check
from saddlery.cli.ends import End, refuse, say
from saddlery.cli.options import DataArgument, Drop, Format, Json, MaxTime, Seed, Target, Tol, output
from saddlery.cli.output import Ticker, place, show, show_json, write
from saddlery.cli.sources import Data, read

MODEL = "logistic, ridge, lasso, elastic-net, svc, svr, huber or ridge-classifier."
SOLVER = "A method, as of `saddlery methods`; parameters behind colons: ada-spdc:adapt=sharp."
MODELS = "the model's"
MANY = 50  # classes, and a tenth of the rows: more are most often numbers
SET = "Any other parameter of the model: class_weight=balanced, positive=True. May be given more than once."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fit")(fit)


def fit(
    data: DataArgument,
    model: Annotated[str, typer.Option(help=MODEL, show_default=False)],
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the penalty (ridge, lasso, elastic-net, huber).", show_default=MODELS),
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", help="Weight of the losses (logistic, svc, svr).", show_default=MODELS)
    ] = None,
    l1_ratio: Annotated[
        float | None,
        typer.Option(help="Share of |w|_1 in the penalty (elastic-net, logistic).", show_default=MODELS),
    ] = None,
    intercept: Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")] = True,
    tol: Tol = 1e-6,
    max_time: MaxTime = None,
    max_iter: Annotated[int | None, typer.Option(help="Epochs at most.", show_default="1000")] = None,
    solver: Annotated[str, typer.Option(help=SOLVER)] = "auto",
    seed: Seed = 0,
    more: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=SET)] = None,
    target: Target = None,
    drop: Drop = None,
    form: Format = None,
    out: Annotated[Path | None, output("Where to keep the model, such as model.saddlery.")] = None,
    json: Json = False,
) -> int:
    """Fit a model, and say how far it is from the best.

    Parameters mean what they mean in scikit-learn. A model that is not within --tol in the time or the epochs that it
    has is kept all the same, with its certificate; a line on stderr says what to do, and the exit code is 1.

    \b
    Example:
      saddlery fit data.csv --target price --model lasso --alpha 0.1 -o price.saddlery
    """
    from saddlery.cli.models import made
    from saddlery.cli.models import target as target_of

    check(tol, max_time)
    if max_iter is not None and max_iter < 0:
        refuse(f"--max-iter must be 0 or more, found {max_iter}")
    if out is not None:
        place(out)
    given = {
        "alpha": alpha,
        "C": C,
        "l1_ratio": l1_ratio,
        "fit_intercept": None if intercept else False,
        "tol": tol,
        "max_time": max_time,
        "max_iter": max_iter,
        "random_state": seed if seed else None,
    }
    estimator = made(model, given | {"solver": solver_of(solver)}, list(more or []))
    found = read(data, target=target, drop=drop, form=form)
    y = target_of(found, model)
    doubts = many_classes(model, y)
    for line in doubts:  # before a fit that may be long
        say(line)
    seconds, said = fitted(estimator, found, y)
    if out is not None:
        write(out, estimator.save)
    about = described(estimator, model, found, y, seconds)
    about |= {"warnings": said + doubts, "output": None if out is None else str(out)}
    if json:
        show_json(about)
    else:
        show(_text(about, estimator))
    for line in said:
        say(line)
    if any("It was interrupted" in line for line in said):
        return End.INTERRUPTED
    return End.DONE if estimator.converged_ else End.NOT_THERE


def solver_of(said: str) -> Any:
    """A method of this library, with the parameters written behind its name; or a name of scikit-learn's solvers."""
    from saddlery.algorithms import METHODS
    from saddlery.estimators._reach import THEIRS
    from saddlery.report.comparison import parsed

    return said if said in THEIRS and said not in METHODS else parsed(said)


def fitted(estimator: Any, data: Data, y: Any) -> tuple[float, list[str]]:
    """Fit; seconds, and warnings, each in a line. A bar on stderr where that is a terminal."""
    bar = "verbose" in estimator.get_params() and sys.stderr.isatty()
    tick = Ticker()
    if bar:
        estimator.set_params(verbose=1)
    else:
        tick("fitting")
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            estimator.fit(data.X, y)
    finally:
        tick.clear()
    if bar:
        estimator.set_params(verbose=0)
    if data.columns is not None:
        import numpy as np

        estimator.feature_names_in_ = np.array(data.columns, dtype=object)
    seconds = time.perf_counter() - began
    return seconds, list(dict.fromkeys(" ".join(str(each.message).split()) for each in heard))


def many_classes(name: str, y: Any) -> list[str]:
    """What to say where the classes look like a number."""
    from saddlery.cli.models import CLASSIFIERS

    count = len(set(y.tolist())) if name in CLASSIFIERS else 0
    if count <= max(MANY, 0.1 * len(y)):
        return []
    return [f"the target has {count} classes in {len(y)} rows; if it is a number, take a regression: --model ridge"]


def described(estimator: Any, name: str, data: Data, y: Any, seconds: float) -> dict[str, Any]:
    """What came out, as plain values."""
    import numpy as np

    features = estimator.__dict__.pop("feature_names_in_", None)  # X is no data frame: scikit-learn would warn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one row there is no R²: it is NaN
        score = float(estimator.score(data.X, y))
    if features is not None:
        estimator.feature_names_in_ = features
    made = estimator.certificate_
    return {
        "model": name,
        "parameters": {key: _plainly(value) for key, value in estimator.get_params().items()},
        "data": data.name,
        "rows": int(data.X.shape[0]),
        "columns": int(data.X.shape[1]),
        "converged": bool(estimator.converged_),
        "certificate": plain(made),
        "epochs": int(np.max(estimator.n_iter_)),
        "seconds": seconds,
        "nonzeros": int(np.count_nonzero(estimator.coef_)),
        "coefficients": int(np.size(estimator.coef_)),
        "score": score,
        "notes": list(estimator.notes_),
    }


def _plainly(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, type(None))) else repr(value)


def plain(certificate: Any) -> dict[str, Any]:
    """A certificate as plain values."""
    from dataclasses import asdict

    return asdict(certificate)


def _text(about: dict[str, Any], estimator: Any) -> str:
    classes = getattr(estimator, "classes_", None)
    kinds = "" if classes is None else f", {len(classes)} classes"
    score = "accuracy" if classes is not None else "R²"
    state = "converged" if about["converged"] else "not converged"
    lines = [
        f"{about['model']} on {about['data']}, {about['rows']:,} x {about['columns']:,}{kinds}",
        "",
        f"  {estimator.certificate_}",
        f"  {state}: {about['epochs']} epochs, {about['seconds']:.3g} s",
        f"  {about['nonzeros']:,} of {about['coefficients']:,} coefficients are not 0; {score} on these rows "
        f"{about['score']:.4g}",
        *(f"  note: {note}" for note in about["notes"]),
        "",
        f"model: {about['output']}" if about["output"] else "The model is not kept: -o model.saddlery keeps it.",
    ]
    return "\n".join(lines)
