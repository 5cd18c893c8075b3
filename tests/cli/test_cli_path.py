"""path: a table of fits, each with its certificate."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from lines import one_line

import saddlery as sd

MODELS = ("lasso", "elastic-net", "ridge", "ridge-classifier", "logistic", "svc", "huber")


@pytest.mark.parametrize("model", MODELS)
def test_every_value_is_certified(model, call, diabetes, cancer, tmp_path):
    data = cancer if model in ("logistic", "svc", "ridge-classifier") else diabetes
    parameter = "C" if model in ("logistic", "svc") else "alpha"
    out = tmp_path / "path.csv"
    made = call("path", data, "--model", model, "--n-values", 5, "--eps", 0.1, "--tol", 1e-5, "-o", out)
    assert made.code == 0 and made.err == "", made
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 5 and next(iter(rows[0])) == parameter
    assert all(float(row["relative_gap"]) <= 1e-5 and row["converged"] == "True" for row in rows)
    values = [float(row[parameter]) for row in rows]
    assert max(values) == pytest.approx(10.0 * min(values))
    assert len(made.out.splitlines()) == 2 + 1 + 5 and made.out.startswith(f"{model} on ")


def test_it_is_the_path_of_the_library(call, diabetes):
    made = call("path", diabetes, "--model", "lasso", "--values", "1,0.3,0.1", "--json")
    about = json.loads(made.out)
    assert made.code == 0 and about["parameter"] == "alpha"
    table = np.loadtxt(diabetes, delimiter=",")
    for row in about["path"]:
        alone = sd.Lasso(row["alpha"]).fit(table[:, :-1], table[:, -1])
        assert row["nonzeros"] == np.count_nonzero(alone.coef_)
        assert row["objective"] == pytest.approx(alone.certificate_.primal, rel=1e-5)
    assert [row["alpha"] for row in about["path"]] == [1.0, 0.3, 0.1]


def test_json_to_a_file(call, diabetes, tmp_path):
    out = tmp_path / "path.json"
    assert call("path", diabetes, "--model", "ridge", "--values", "1", "-o", out).code == 0
    assert json.loads(out.read_text())["path"][0]["alpha"] == 1.0


def test_values_that_did_not_converge_are_said(call, diabetes):
    made = call(
        "path", diabetes, "--model", "lasso", "--n-values", 3, "--solver", "cd", "--max-iter", 1, "--tol", 1e-12
    )
    assert made.code == 1
    assert "did not converge" in one_line(made.err)
    assert "not converged" in made.out


def test_a_grid_that_cannot_be(call, diabetes):
    made = call("path", diabetes, "--model", "lasso", "--values", "1,-2")
    assert made.code == 2 and one_line(made.err) and made.out == ""
