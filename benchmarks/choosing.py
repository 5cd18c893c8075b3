"""Seconds to a certified relative gap of 1e-6 on real data: the table of docs/choosing.md.

    SADDLERY_DATA=folder python benchmarks/choosing.py [--limit SECONDS]

L2 penalty with lam = k mean_i |a_i|^2 / n, no intercept, one core, compiling excluded. Sets that are not in the folder
are left out.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import saddlery as sd

SHARP = {"adapt": "sharp"}
METHODS = {
    "auto": "auto",
    "adasdca+": "adasdca+",
    "adaspdc-balanced": "adaspdc-balanced",
    "adaspdc-sigma": "adaspdc-sigma",
    "spdc": "spdc",
    "cd": "cd",
    "ada-spdc sharp": sd.method("ada-spdc", **SHARP),
    "adf-spdc sharp": sd.method("adf-spdc", **SHARP),
    "ada-bpd sharp": sd.method("ada-bpd", **SHARP),
    "saga": "saga",
    "katyusha": "katyusha",
}
SMALL = 6_000_000  # numbers up to which a matrix is made dense


class Case(NamedTuple):
    """A data set, a loss, and whether columns are divided by their standard deviation."""

    name: str
    loss: Any
    scaled: bool = False
    conditions: tuple[float, ...] = (1.0, 1e-2, 1e-4, 1e-6)


CASES = (
    Case("w8a", sd.Logistic()),
    Case("a9a", sd.SmoothHinge()),
    Case("reuters-money-fx", sd.Logistic()),
    Case("mushrooms", sd.Logistic()),
    Case("BASEHOCK", sd.SmoothHinge()),
    Case("dorothea", sd.SmoothHinge()),
    Case("madelon", sd.Logistic(), True),
    Case("higgs7k", sd.SmoothHinge(), True),
    Case("covtype20k", sd.Logistic(), True),
    Case("abalone_scale", sd.Squared()),
    Case("cal.housing", sd.Squared(), True),
    Case("cpuact", sd.Squared(), True),
)


def load(case: Case) -> tuple[Any, Any]:
    """X, dense where it is small, and labels: -1 and 1 (the last of two classes, the second of more) or numbers."""
    data = sd.load_dataset(case.name)
    X, b = data.X, data.b
    if X.shape[0] * X.shape[1] <= SMALL:
        X = X.toarray()
        spread = X.std(axis=0)
        X = X / np.where(spread > 0.0, spread, 1.0) if case.scaled else X
    if not isinstance(case.loss, sd.Squared):
        classes = np.unique(b)
        b = np.where(b == classes[1], 1.0, -1.0)
    return X, b


def seconds(problem: sd.Problem, method: Any, limit: float) -> str:
    """Of the second of two runs."""
    sd.solve(problem, method, max_epochs=1)
    result = sd.solve(problem, method, tol=1e-6, max_epochs=10**9, max_time=limit)
    return f"{result.seconds:.2f}" if result.status.ok else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=float, default=3.0, help="seconds for a run (3)")
    limit = parser.parse_args().limit
    os.environ["SADDLERY_CACHE"] = os.devnull  # nothing is downloaded
    print("| data (n x d) | loss | k |", " | ".join(METHODS), "|")
    print("|---|---|---|" + "---|" * len(METHODS))
    for case in CASES:
        try:
            X, b = load(case)
        except OSError:
            continue
        n, d = X.shape
        square = float((X**2).sum() if isinstance(X, np.ndarray) else X.multiply(X).sum()) / n
        for k in case.conditions:
            problem = sd.ERM(X, b, case.loss, sd.L2(k * square / n))
            label = f"{case.name}{'*' if case.scaled else ''} ({n:,} x {d:,}) | {type(case.loss).__name__}"
            label = label if k == case.conditions[0] else " | "
            found = " | ".join(seconds(problem, method, limit) for method in METHODS.values())
            print(f"| {label} | {k:g} | {found} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
