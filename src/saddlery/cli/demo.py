"""``saddlery demo``: a real problem, solved, certified and compared in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from saddlery.cli.ends import End, say
from saddlery.cli.options import output
from saddlery.cli.output import Ticker, place, show, write_text

PAGE = "saddlery-demo.html"
METHODS = ("auto", "newton", "adasdca+", "sdca", "adaspdc-balanced", "spdc", "saga")
TOL = 1e-8


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(out: Annotated[Path | None, output(f"The page to write (without it: {PAGE}).")] = None) -> int:
    """Solve a real problem in a few seconds, and say how well.

    Logistic regression on the breast cancer data that come with scikit-learn: the certificate of the answer, a table
    of methods and of scikit-learn's solvers, and a page to open in a browser. Nothing is downloaded. The first time on
    a machine some seconds go into compiling.

    \b
    Example:
      saddlery demo -o demo.html
    """
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from saddlery.cli.compare import lines
    from saddlery.loop import solve
    from saddlery.problem import ERM
    from saddlery.report import compare, page
    from saddlery.terms.l2 import L2
    from saddlery.terms.logistic import Logistic

    path = place(out or Path(PAGE))
    X, labels = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n = X.shape[0]
    problem = ERM(X, np.where(labels == 1, 1.0, -1.0), Logistic(), L2(1.0 / n), intercept=True)
    tick = Ticker()
    try:
        tick("compiling what is needed")
        solve(problem, max_epochs=1)
        result = solve(problem, tol=TOL)
        made = compare(problem, METHODS, tol=TOL, max_time=5.0, title="Breast cancer", say=tick)
    finally:
        tick.clear()
    show(f"logistic regression on the breast cancer data, {n} x {X.shape[1]}, lam = 1/n, an intercept\n")
    show(f"  {result.certificate}")
    show(f"  {result.status} {result.method}, {result.epochs} epochs, {result.seconds:.3f} s\n")
    show(lines(made))
    write_text(path, page(made))
    show(f"\npage: {path}")
    if made.interrupted:
        say("interrupted; what had ended by then is written")
        return End.INTERRUPTED
    return End.DONE if result.status.ok else End.NOT_THERE
