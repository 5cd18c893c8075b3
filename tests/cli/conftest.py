"""Small real files, and a way to call a command: its exit code, what it printed, what it said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from saddlery.cli import run

sys.path.insert(0, str(Path(__file__).parent))  # for lines.py


class Called(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    """Call a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def called(*words):
        capsys.readouterr()
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return Called(int(code), said.out, said.err)

    return called


def cells(rows):
    """Lines of CSV."""
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def cancer(tmp_path):
    """Two classes, 120 rows, 4 columns with names; the target, benign, is the last."""
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:120, :4].round(6)
    path = tmp_path / "cancer.csv"
    head = ("radius", "texture", "perimeter", "area", "benign")
    path.write_text(cells([head, *np.column_stack([X, y[:120]]).tolist()]))
    return path


@pytest.fixture
def iris(tmp_path):
    """Three classes, in words."""
    data = load_iris()
    rows = [(*row, data.target_names[k]) for row, k in zip(data.data.tolist(), data.target, strict=True)]
    path = tmp_path / "iris.csv"
    path.write_text(cells([("a", "b", "c", "d", "species"), *rows]))
    return path


@pytest.fixture
def diabetes(tmp_path):
    """A regression without a header: 442 rows, 10 columns, the target last."""
    X, y = load_diabetes(return_X_y=True)
    path = tmp_path / "diabetes.csv"
    path.write_text(cells(np.column_stack([X, y]).tolist()))
    return path


@pytest.fixture
def model(call, cancer, tmp_path):
    """A fitted logistic regression."""
    path = tmp_path / "cancer.saddlery"
    assert call("fit", cancer, "--model", "logistic", "-o", path).code == 0
    return path
