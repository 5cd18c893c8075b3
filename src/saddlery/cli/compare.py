"""``saddlery compare``: methods and solvers of other libraries on one problem, by one certificate, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saddlery.cli.ends import End, refuse, say
from saddlery.cli.options import DataArgument, Drop, Format, Json, Seed, Target, Tol, output
from saddlery.cli.output import Ticker, place, show, show_json, table, write_text

if TYPE_CHECKING:
    from saddlery.report.comparison import Comparison

PAGE = "saddlery-report.html"

LOSS = "squared, logistic, smooth-hinge, squared-hinge, hinge, huber, softmax, ...; with parameters: huber:width=2."
PENALTY = "l2, l1, l1l2 (elastic-net), nonnegative, zero, or box:lo=-1:hi=1."
METHODS = "Names, with commas between; parameters behind colons: ada-spdc:adapt=sharp. Or all."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    data: DataArgument,
    loss: Annotated[str, typer.Option(help=LOSS)] = "logistic",
    penalty: Annotated[str, typer.Option(help=PENALTY)] = "l2",
    lam: Annotated[
        float | None, typer.Option(help="Weight of the penalty.", show_default="1/rows; l1: a tenth of where x = 0")
    ] = None,
    l1_ratio: Annotated[float, typer.Option(help="l1l2: share of the weight that |x|_1 has.")] = 0.5,
    methods: Annotated[str | None, typer.Option(help=METHODS, show_default="a usual few")] = None,
    rivals: Annotated[
        bool, typer.Option(help="Ask solvers of scikit-learn, skglm, celer and lightning, where installed.")
    ] = True,
    intercept: Annotated[bool, typer.Option(help="With an intercept that is not penalised.")] = False,
    scale: Annotated[bool, typer.Option("--scale", help="Divide every column by its root mean square.")] = False,
    tol: Tol = 1e-6,
    max_time: Annotated[float, typer.Option(help="Seconds for each solver.")] = 10.0,
    seed: Seed = 0,
    target: Target = None,
    drop: Drop = None,
    form: Format = None,
    out: Annotated[Path | None, output(f"The page to write (without it: {PAGE}; with --json none).")] = None,
    json: Json = False,
) -> int:
    """Compare methods and rivals on one problem.

    Every answer is measured by the same certificate, whoever it is from. The page, one HTML file that needs nothing
    else, has the gaps against seconds and passes, the numbers, the problem and the machine.

    \b
    Example:
      saddlery compare mushrooms --loss logistic --lam 1e-4 --methods auto,sdca,saga -o mushrooms.html
    """
    from saddlery.cli.problems import problem, scaled
    from saddlery.cli.sources import read
    from saddlery.report import compare as measure
    from saddlery.report import page

    check(tol, max_time)
    path = out or (None if json else Path(PAGE))
    if path is not None:
        place(path)
    found = read(data, target=target, drop=drop, form=form)
    found = scaled(found) if scale else found
    posed = problem(found, loss, penalty, lam, l1_ratio, intercept)
    asked = methods if methods in (None, "all") else [name.strip() for name in str(methods).split(",") if name.strip()]
    tick = Ticker()
    try:
        made = measure(posed, asked, rivals=rivals, tol=tol, max_time=max_time, seed=seed, title=found.name, say=tick)
    finally:
        tick.clear()
    if path is not None:
        write_text(path, page(made))
    if json:
        show_json(made.to_dict())
    else:
        show(lines(made))
        show(f"\npage: {path}")
    if made.interrupted:
        say("interrupted; what had ended by then is written")
        return End.INTERRUPTED
    return End.DONE if any(course.reached for course in made.courses) else End.NOT_THERE


def check(tol: float, max_time: float | None) -> None:
    """Numbers that can be refused before any work."""
    if not 0.0 <= tol < float("inf"):
        refuse(f"--tol must be a finite number, 0 or more, found {tol:g}")
    if max_time is not None and not 0.0 < max_time < float("inf"):
        refuse(f"--max-time must be seconds, above 0, found {max_time:g}")


def lines(made: Comparison) -> str:
    """The comparison as a table of text."""
    rows = []
    for course in made.courses:
        to_tol = "-" if course.seconds_to_tol is None else f"{course.seconds_to_tol:.4g}"
        passes = "-" if course.passes != course.passes else f"{course.passes:.0f}"
        gap, status = f"{course.certificate.relative_gap:.1e}", course.status.partition(":")[0]
        rows.append((course.name, to_tol, gap, passes, str(course.epochs), f"{course.seconds:.4g}", status))
    f = made.facts
    head = f"{made.title}: {f.n:,} x {f.d:,}, {f.loss}, {f.penalty}{', intercept' if f.intercept else ''}"
    columns = ("solver", f"s to {made.tol:g}", "relative gap", "passes", "epochs", "seconds", "status")
    notes = [f"  {course.name}: {note}" for course in made.courses for note in course.notes]
    return "\n".join([head, "", table(columns, rows, words=(0, 6)), *(["", "notes:", *notes] if notes else [])])
