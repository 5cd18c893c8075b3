"""fit, predict, certify: a model from a file to a file, and what is said about it."""

from __future__ import annotations

import json
import os
import signal
import threading

import numpy as np
import pytest
from lines import one_line

import saddlery as sd

MODELS = {
    "logistic": "cancer",
    "svc": "cancer",
    "ridge-classifier": "cancer",
    "ridge": "diabetes",
    "lasso": "diabetes",
    "elastic-net": "diabetes",
    "svr": "diabetes",
    "huber": "diabetes",
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_fitted_kept_used_and_certified(name, call, tmp_path, request):
    data, kept = request.getfixturevalue(MODELS[name]), tmp_path / "kept.saddlery"
    made = call("fit", data, "--model", name, "-o", kept, "--tol", "1e-5")
    assert made.code == 0, made.err
    assert made.err == ""
    assert "above the minimum" in made.out and f"model: {kept}" in made.out
    estimator = sd.load(kept)
    certificate = estimator.certificate_
    assert certificate.relative_gap <= 1e-5
    predicted = call("predict", kept, data)
    lines = predicted.out.splitlines()
    assert predicted.code == 0 and lines[0] == "prediction"
    assert len(lines) == 1 + len(data.read_text().splitlines()) - (data.stem == "cancer")
    again = call("certify", kept, data, "--json")
    assert again.code == 0
    about = json.loads(again.out)
    assert about["within"] and about["tol"] == 1e-5 and about["model"] == name
    assert about["certificate"]["primal"] == pytest.approx(certificate.primal, rel=1e-9)


def test_predictions_are_those_of_the_estimator(call, model, cancer, tmp_path):
    table = np.loadtxt(cancer, delimiter=",", skiprows=1)
    estimator = sd.LogisticRegression().fit(table[:, :-1], table[:, -1].astype(int))
    out = tmp_path / "predicted.csv"
    made = call("predict", model, cancer, "--proba", "-o", out)
    assert made.code == 0 and made.out == ""
    assert "120 predictions" in one_line(made.err)
    assert out.read_text().splitlines()[0] == "prediction,p(0),p(1)"
    rows = np.loadtxt(out, delimiter=",", skiprows=1)
    assert np.array_equal(rows[:, 0], estimator.predict(table[:, :-1]))
    assert np.allclose(rows[:, 1:], estimator.predict_proba(table[:, :-1]), atol=1e-9)


def test_parameters_mean_what_they_mean_in_the_library(call, diabetes, tmp_path):
    kept = tmp_path / "kept.saddlery"
    words = (
        "--alpha",
        0.2,
        "--l1-ratio",
        0.7,
        "--no-intercept",
        "--seed",
        3,
        "--set",
        "positive=True",
        "--solver",
        "cd:order=uniform",
    )
    assert call("fit", diabetes, "--model", "elastic-net", "-o", kept, *words, "--max-iter", 20000).code == 0
    estimator = sd.load(kept)
    table = np.loadtxt(diabetes, delimiter=",")
    said = {
        "alpha": 0.2,
        "l1_ratio": 0.7,
        "fit_intercept": False,
        "random_state": 3,
        "positive": True,
        "max_iter": 20000,
    }
    assert {key: estimator.get_params()[key] for key in said} == said
    assert estimator.solver == sd.method("cd", order="uniform")
    other = sd.ElasticNet(**said, solver=sd.method("cd", order="uniform")).fit(table[:, :-1], table[:, -1])
    assert np.array_equal(estimator.coef_, other.coef_)
    assert estimator.coef_.min() == 0.0 and estimator.intercept_ == 0.0


def test_classes_may_be_words(call, iris, tmp_path):
    kept = tmp_path / "iris.saddlery"
    made = call("fit", iris, "--model", "logistic", "--target", "species", "-o", kept)
    assert made.code == 0 and "3 classes" in made.out
    lines = call("predict", kept, iris, "--proba").out.splitlines()
    assert lines[0] == "prediction,p(setosa),p(versicolor),p(virginica)"
    assert lines[1].startswith("setosa,0.9")
    assert call("certify", kept, iris).code == 0


def test_json_is_all_there_is_on_stdout(call, cancer, tmp_path):
    kept = tmp_path / "kept.saddlery"
    made = call("fit", cancer, "--model", "logistic", "--json", "-o", kept)
    about = json.loads(made.out)
    assert made.code == 0 and made.err == ""
    assert about["converged"] is True and about["rows"] == 120 and about["columns"] == 4
    assert about["certificate"]["relative_gap"] <= 1e-6 and about["certificate"]["kind"] == "exact"
    assert about["output"] == str(kept) and about["parameters"]["C"] == 1.0
    assert 0.8 < about["score"] <= 1.0


def test_what_has_not_converged_is_kept_and_said_in_one_line(call, cancer, tmp_path):
    kept = tmp_path / "kept.saddlery"
    words = ("fit", cancer, "--model", "logistic", "-o", kept, "--solver", "saga", "--max-iter", 2, "--C", 100)
    made = call(*words)
    assert made.code == 1
    assert "did not converge" in one_line(made.err) and "Set max_iter=" in made.err
    assert "not converged: 2 epochs" in made.out
    assert sd.load(kept).converged_ is False
    said = call(*words, "--json")
    about = json.loads(said.out)
    assert said.code == 1 and about["converged"] is False
    assert about["warnings"] == [one_line(said.err).removeprefix("saddlery: ").rstrip()]
    assert call("certify", kept, cancer).code == 1
    assert call("certify", kept, cancer, "--tol", about["certificate"]["relative_gap"] * 1.001).code == 0


def test_a_certificate_on_other_data_is_of_those_data(call, model, cancer, tmp_path):
    """Half of the rows make another problem: the coefficients are not its best."""
    half = tmp_path / "half.csv"
    half.write_text("".join(cancer.read_text().splitlines(keepends=True)[:60]))
    made = call("certify", model, half)
    assert made.code == 1 and "NOT within" in made.out


def test_columns_are_found_by_name(call, model, cancer, tmp_path):
    lines = [line.split(",") for line in cancer.read_text().splitlines()]
    mixed = tmp_path / "mixed.csv"
    rows = ([("x", "id")[k == 0], row[4], row[2], row[0], row[3], row[1]] for k, row in enumerate(lines))
    mixed.write_text("".join(",".join(row) + "\n" for row in rows))
    assert call("predict", model, mixed).out == call("predict", model, cancer).out
    assert call("certify", model, mixed, "--target", "benign").code == 0
    without = tmp_path / "without.csv"
    without.write_text("".join(",".join(row[:4]) + "\n" for row in lines))
    assert call("predict", model, without).out == call("predict", model, cancer).out
    lacking = call("certify", model, without)
    assert lacking.code == 2 and "has no target" in one_line(lacking.err)
    lost = tmp_path / "lost.csv"
    lost.write_text("".join(",".join(row[1:]) + "\n" for row in lines))
    lost_said = call("predict", model, lost)
    assert lost_said.code == 2 and "has no column 'radius'" in one_line(lost_said.err)


def test_columns_without_names_are_found_by_place(call, model, cancer, tmp_path):
    rows = cancer.read_text().splitlines()[1:]
    bare, less = tmp_path / "bare.csv", tmp_path / "less.csv"
    bare.write_text("\n".join(rows))
    less.write_text("\n".join(row.rpartition(",")[0] for row in rows))
    assert call("predict", model, bare).out == call("predict", model, less).out == call("predict", model, cancer).out


def test_a_target_of_many_classes_is_remarked_on(call, diabetes):
    made = call("fit", diabetes, "--model", "ridge-classifier", "--max-time", 5)
    assert "take a regression" in made.err


def test_ctrl_c_keeps_the_best_model_so_far(call, cancer, tmp_path):
    kept = tmp_path / "kept.saddlery"
    words = ("fit", cancer, "--model", "logistic", "--C", 1e9, "--tol", 0, "--solver", "saga", "-o", kept, "--max-iter")
    call(*words, 3)  # compiled
    kept.unlink()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    made = call(*words, 10**9)
    timer.join()
    assert made.code == 130
    assert "interrupted" in made.err
    assert np.isfinite(sd.load(kept).certificate_.primal)


def test_ctrl_c_before_there_is_anything_says_so(call, cancer, monkeypatch, tmp_path):
    def stopped(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(sd.LogisticRegression, "fit", stopped)
    made = call("fit", cancer, "--model", "logistic", "-o", tmp_path / "kept.saddlery")
    assert made.code == 130 and one_line(made.err) == "saddlery: interrupted\n"
    assert not (tmp_path / "kept.saddlery").exists()


def test_a_model_that_cannot_be_written_leaves_nothing_behind(call, cancer, monkeypatch, tmp_path):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    kept = tmp_path / "kept.saddlery"
    made = call("fit", cancer, "--model", "ridge", "-o", kept)
    assert made.code == 3
    assert "No space left on device" in one_line(made.err)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cancer.csv"]


def test_an_old_model_is_still_there_if_the_new_one_fails(call, cancer, model, monkeypatch):
    def broken(estimator, path):
        path.write_bytes(b"half")
        raise OSError(5, "I/O error")

    before = model.read_bytes()
    monkeypatch.setattr(sd.LogisticRegression, "save", broken)
    assert call("fit", cancer, "--model", "logistic", "-o", model).code == 3
    assert model.read_bytes() == before
    assert not [path for path in model.parent.iterdir() if path.name.startswith(".")]
