"""A certified logistic regression on real data: four runs, one table, one picture.

min_x (1/n) sum_i log(1 + exp(-b_i <a_i, x>)) + 1/(2n) |x|^2 on the breast cancer data that come with scikit-learn.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer

import saddlery as sd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

METHODS = ("adasdca+", "sdca", "adaspdc-balanced")
TOL = 1e-9
PICTURE = Path(__file__).parents[1] / "out" / "demo.png"


def data() -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns, labels -1 (malignant) and 1 (benign)."""
    X, labels = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(labels == 1, 1.0, -1.0)


def describe(result: sd.Result) -> None:
    """What a single solve answers."""
    print(f'sd.solve(problem, tol={TOL:g})    the default method, here "{result.method}"\n')
    print(f"  {result.certificate}")
    print(f"  {result.status}")
    print(f"  {result.epochs} epochs, {result.seconds:.3f} s")
    for note in result.notes:
        print(f"  note: {note}")


def compare(results: dict[str, sd.Result]) -> None:
    """One line a method."""
    print(f"\n{'method':18} {'relative gap':>12} {'passes':>8} {'seconds':>8}  status")
    for name, result in results.items():
        gap, passes = result.certificate.relative_gap, result.history["passes"][-1]
        print(f"{name:18} {gap:12.1e} {passes:8.0f} {result.seconds:8.3f}  {result.status}")


def draw(results: dict[str, sd.Result], scale: float, title: str) -> None:
    """Relative gap, gap / P(0), against the method's own passes over the data."""
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for (name, result), colour, mark in zip(results.items(), ("#0b6e99", "#d9730d", "#6940a5"), "osD", strict=True):
        passes, gaps = result.history["passes"], result.history["gap"] / scale
        every = max(1, len(gaps) // 12)
        axes.semilogy(passes, gaps, color=colour, lw=1.8, marker=mark, ms=4.5, markevery=every, label=name)
    axes.axhline(TOL, color="0.45", lw=1, ls="--")
    axes.annotate(
        "tol",
        (1, TOL),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        color="0.35",
    )
    axes.set(title=title, xlabel="passes over the data", ylabel="certified relative gap", xlim=(0, None))
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


def main() -> None:
    X, b = data()
    n, d = X.shape
    problem = sd.ERM(X, b, sd.Logistic(), sd.L2(1 / n))
    print(f"logistic regression, breast cancer data, {n} x {d}, lam = 1/n\n")
    print("compiling the loops (the first time on a machine takes some seconds) ...\n", flush=True)
    for method in ("auto", *METHODS):
        sd.solve(problem, method=method, max_epochs=1)
    describe(sd.solve(problem, tol=TOL))
    results = {name: sd.solve(problem, method=name, tol=TOL, every=1) for name in METHODS}
    compare(results)
    draw(results, problem.primal(np.zeros(d)), f"Logistic regression, breast cancer data ({n} × {d})")
    print(f"\npicture: {PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE}")


if __name__ == "__main__":
    main()
