"""Passes over the data to P - P* <= 1e-8 on ridge regression: the tables of docs/strong-convexity.md.

    [SADDLERY_DATA=folder] python benchmarks/data_convexity.py [--most PASSES] [--only batch | randomised]

The design of Wang and Xiao (n = 5000, d = 3000, Sigma_ij = 2^(-|i-j|/2), rows over the largest norm) and, where it is
in the folder, cpuact with columns over their standard deviation. P* is known to rounding, and P - P* is a sum of
squares. Everything that a method does counts: power iterations, snapshots, looks at the gap. Certificates are not made.
"""

from __future__ import annotations

import argparse
import math
import os
from typing import Any

import numpy as np

import saddlery as sd

SHARP, ROBUST, SIMPLE = ({"adapt": rule} for rule in ("sharp", "robust", "simple"))


class Ridge:
    """A design, and what is known of it."""

    def __init__(self, name: str, X: Any, b: Any) -> None:
        self.name, self.X, self.b = name, X, b
        self.gram = X.T @ X
        self.mu = math.sqrt(max(float(np.linalg.eigvalsh(self.gram)[0]), 0.0))

    def passes(self, name: str, options: dict[str, Any], multiple: float, most: float, close: float = 1e-8) -> float:
        """Until P - P* <= close with lam = multiple / n; infinite if that takes more than `most`."""
        n, d = self.X.shape
        lam = multiple / n
        best = np.linalg.solve(self.gram / n + lam * np.eye(d), self.X.T @ self.b / n)
        residual = self.X @ best - self.b
        problem = sd.ERM(self.X, self.b, sd.Squared(), sd.L2(lam))
        method, rng = sd.method(name, **options), np.random.default_rng(1)
        state = method.init(problem, np.zeros(d), np.zeros(n))
        while state.passes < most:
            state = method.epoch(problem, state, rng)
            x, _ = method.iterate(problem, state)
            off = ((self.X @ x - self.b - residual) ** 2).sum() / (2 * n) + lam / 2 * ((x - best) ** 2).sum()
            if off <= close:
                return state.passes
        return math.inf


def designs() -> list[Ridge]:
    """The synthetic one, and cpuact where it is at hand."""
    made = sd.synthetic.toeplitz_ridge(seed=0)
    found = [Ridge("synthetic ridge", made.X, made.b)]
    os.environ["SADDLERY_CACHE"] = os.devnull  # nothing is downloaded
    try:
        data = sd.load_dataset("cpuact")
    except OSError:
        return found
    X = data.X.toarray()
    spread = X.std(axis=0)
    return [*found, Ridge("cpuact, columns scaled", X / np.where(spread > 0.0, spread, 1.0), data.b)]


def methods(kind: str, mu: float) -> dict[str, tuple[str, dict[str, Any]]]:
    told = {"mu": mu}
    if kind == "batch":
        return {
            "ag": ("ag", {}),
            "bpd": ("bpd", {}),
            "opt-bpd": ("opt-bpd", told),
            "ada-bpd simple": ("ada-bpd", SIMPLE),
            "ada-bpd robust": ("ada-bpd", ROBUST),
            "ada-bpd sharp": ("ada-bpd", SHARP),
            "df-bpd told": ("df-bpd", told),
            "df-bpd sharp": ("df-bpd", SHARP),
        }
    return {
        "svrg": ("svrg", {}),
        "saga": ("saga", {}),
        "katyusha": ("katyusha", {}),
        "spdc": ("spdc", {}),
        "spdc data, told": ("spdc", {"steps": "data", **told}),
        "ada-spdc robust": ("ada-spdc", ROBUST),
        "ada-spdc sharp": ("ada-spdc", SHARP),
        "ada-spdc sharp, kappa 1/2": ("ada-spdc", {**SHARP, "kappa": 0.5}),
        "adf-spdc robust": ("adf-spdc", ROBUST),
        "adf-spdc sharp": ("adf-spdc", SHARP),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=float, default=1500.0, help="passes after which a run is given up (1500)")
    parser.add_argument("--only", choices=["batch", "randomised"])
    asked = parser.parse_args()
    multiples = (1.0, 1e-2, 1e-4)
    for design in designs():
        for kind in ("batch", "randomised"):
            if asked.only in (None, kind):
                print(
                    f"\n| {design.name}, {kind} |", " | ".join(f"lam = {multiple:g}/n" for multiple in multiples), "|"
                )
                print("|---|" + "---|" * len(multiples))
                for label, (name, options) in methods(kind, design.mu).items():
                    found = [design.passes(name, options, multiple, asked.most) for multiple in multiples]
                    print(
                        f"| {label} |", " | ".join("-" if math.isinf(v) else f"{v:g}" for v in found), "|", flush=True
                    )


if __name__ == "__main__":
    main()
