"""The benchmark of speed yields every figure. What they are only the slow tests ask: machines are noisy."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SPEED = Path(__file__).parents[1] / "benchmarks" / "speed.py"
METHODS = ("sdca", "adasdca+", "spdc", "adaspdc-balanced", "saga", "svrg")
DATA = [f"{layout} {kind}" for kind in ("float64", "float32") for layout in ("sparse", "dense")]
FITS = {f"{method}, {data}" for method in METHODS for data in DATA}  # an epoch over the C loop
APPENDED = {f"{method}, d = 100000 over 4700" for method in METHODS}
BATCH = ("bpd", "ada-bpd", "df-bpd", "ag")
STEPS = {
    f"{method} over its products, {kind}" for method in BATCH for kind in ("sparse 2000 x 4700", "dense 500 x 300")
}


def measured(folder: Path, *options: str, **environment: str) -> dict[str, dict]:
    """Every figure by its name, from a process of its own; all finite."""
    path = folder / "figures.json"
    command = [sys.executable, str(SPEED), "--json", str(path), *options]
    made = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert made.returncode == 0, made.stderr
    figures = {figure["what"]: figure for figure in json.loads(path.read_text(encoding="utf-8"))["figures"]}
    assert all(name in made.stdout for name in figures)
    for figure in figures.values():
        assert all(math.isfinite(figure[field]) for field in ("base", "ours", "value")), figure
        assert figure["ok"] == (figure["target"] is None or figure["value"] <= figure["target"])
    return figures


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc), which the ratios to a C loop need")
def test_every_ratio_is_measured(tmp_path):
    figures = measured(tmp_path, "--quick")
    assert set(figures) == FITS | APPENDED | STEPS | {f"certificate, {data}" for data in DATA}
    for name, figure in figures.items():
        assert figure["value"] == pytest.approx(figure["ours"] / figure["base"]) and figure["value"] > 0.0
        assert (figure["ahead"] is not None) == (name in FITS)
        assert figure["ahead"] is None or 0.0 < figure["ahead"] < math.inf


def test_without_a_compiler_the_rest_is_measured(tmp_path):
    figures = measured(tmp_path, "--quick", PATH=str(tmp_path))
    assert set(figures) == APPENDED | STEPS | {f"certificate, {data}" for data in DATA}
    assert "no C compiler" in (tmp_path / "figures.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_solve_takes_little_memory_beside_the_data(tmp_path):
    figures = measured(tmp_path, "--memory")
    if not figures:
        pytest.skip("this system does not say how large a process was at its peak")
    assert not {name: round(figure["value"], 3) for name, figure in figures.items() if not figure["value"] < 0.15}


@pytest.mark.slow
def test_the_first_solve_comes_soon(tmp_path):
    figures = measured(tmp_path, "--latency")
    assert len(figures) == 8
    assert not {name: round(figure["value"], 3) for name, figure in figures.items() if not figure["ok"]}
