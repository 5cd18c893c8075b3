"""compare, demo, methods, datasets, and the command itself: help, versions, exit codes, what it costs to start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import metadata

import pytest
from lines import one_line

import saddlery as sd

COMMANDS = ("demo", "fit", "predict", "certify", "path", "compare", "methods", "datasets")


# ---- compare


def test_compare_writes_a_page_and_prints_a_table(call, cancer, tmp_path):
    made = call(
        "compare", cancer, "--lam", 1e-2, "--methods", "auto,sdca,ada-spdc:adapt=sharp", "-o", tmp_path / "p.html"
    )
    assert made.code == 0 and made.err == ""
    lines = made.out.splitlines()
    assert lines[0] == "cancer: 120 x 4, Logistic, L2(lam=0.01)"
    for name in ("auto", "sdca", "ada-spdc:adapt=sharp", "scikit-learn lbfgs", "scikit-learn liblinear"):
        assert any(line.startswith(name + " ") and "Converged" in line for line in lines), made.out
    assert lines[-1] == f"page: {tmp_path / 'p.html'}"
    assert (tmp_path / "p.html").read_text().startswith("<!doctype html>")


def test_compare_says_all_in_json(call, cancer, tmp_path):
    made = call("compare", cancer, "--methods", "sdca,saga", "--no-rivals", "--json", "--intercept", "--tol", 1e-4)
    about = json.loads(made.out)
    assert made.code == 0 and made.err == ""
    assert {course["name"] for course in about["courses"]} == {"sdca", "saga"}
    assert about["facts"]["intercept"] is True and about["tol"] == 1e-4
    assert all(course["reached"] and course["certificate"]["relative_gap"] <= 1e-4 for course in about["courses"])
    assert about["machine"]["libraries"]["numpy"] == metadata.version("numpy")
    assert [path.name for path in tmp_path.iterdir()] == ["cancer.csv"], "with --json there is no page unless asked for"


def test_nobody_reached_tol(call, cancer, tmp_path):
    words = ("--methods", "sdca", "--no-rivals", "--tol", 0, "--max-time", 0.05, "--loss", "squared")
    made = call("compare", cancer, *words)
    assert made.code == 1
    assert (tmp_path / "saddlery-report.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--loss squared --penalty l1 --lam 0.05", "Squared, L1(l1=0.05)"),
        ("--loss squared --penalty elastic-net --lam 0.1 --l1-ratio 0.25", "Squared, L1L2(l1=0.025, l2=0.075)"),
        ("--loss huber:width=2", "Huber(width=2), L2(lam=0.00833333)"),
        ("--loss smooth-hinge:gamma=0.5 --lam 0.1", "SmoothHinge(gamma=0.5), L2(lam=0.1)"),
        ("--loss squared --penalty nonnegative --lam 0.1", "Squared, NonNegative(lam=0.1)"),
        ("--loss squared --penalty box:lo=-1:hi=0.5:lam=0.1", "Squared, Box(lo=-1, hi=0.5, lam=0.1)"),
    ],
)
def test_problems_in_words(words, said, call, cancer):
    made = call("compare", cancer, "--no-rivals", "--methods", "auto", "--tol", 1e-3, *words.split())
    assert made.code == 0, made.err
    assert made.out.splitlines()[0] == f"cancer: 120 x 4, {said}"


def test_the_weight_of_l1_that_is_not_said(call, cancer):
    """A tenth of the least from which on x = 0: something is chosen, something is not."""
    made = call("compare", cancer, "--no-rivals", "--methods", "auto", "--penalty", "l1", "--json")
    weight = float(json.loads(made.out)["facts"]["penalty"].removeprefix("L1(l1=").rstrip(")"))
    X, b = read(cancer)
    for times, zero in ((10.001, True), (9.99, False)):
        x = sd.solve(sd.ERM(X, b, sd.Logistic(), sd.L1(times * weight)), tol=1e-9).x
        assert (abs(x) < 1e-12).all() == zero


def read(path):
    import numpy as np

    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], np.where(table[:, -1] == 1, 1.0, -1.0)


@pytest.mark.parametrize("ending", ["csv", "svm"])
def test_columns_of_one_size(ending, call, cancer, tmp_path):
    """A column that is a thousand times larger makes no difference with --scale, and one of zeros does no harm."""
    import numpy as np

    X, b = read(cancer)
    found = []
    for times in (1.0, 1000.0):
        wide = np.column_stack([X * [times, 1, 1, 1], np.zeros(len(b))])
        path = tmp_path / f"wide.{ending}"
        if ending == "svm":
            sd.write_svmlight(path, np.hstack([wide, np.eye(len(b))[:, :1]]), b)
        else:
            np.savetxt(path, np.column_stack([wide, b]), delimiter=",")
        made = call("compare", path, "--scale", "--no-rivals", "--methods", "newton", "--json", "--tol", 1e-9)
        found.append(json.loads(made.out)["lowest"])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_several_classes_by_softmax(call, iris):
    made = call("compare", iris, "--loss", "softmax", "--methods", "auto", "--lam", 0.1, "--intercept", "--json")
    about = json.loads(made.out)
    assert about["facts"]["q"] == 3
    assert all(course["reached"] for course in about["courses"] if "sag" not in course["name"])


def test_ctrl_c_leaves_what_had_ended(call, cancer, monkeypatch, tmp_path):
    from saddlery.report import bench

    run = bench.Bench.run

    def stopped(self, name, algorithm):
        if self.courses:
            raise KeyboardInterrupt
        run(self, name, algorithm)

    monkeypatch.setattr(bench.Bench, "run", stopped)
    made = call("compare", cancer, "--methods", "sdca,saga", "-o", tmp_path / "p.html")
    assert made.code == 130 and "interrupted" in one_line(made.err)
    assert "sdca" in made.out and "saga" not in made.out
    assert "was interrupted" in (tmp_path / "p.html").read_text()


# ---- demo, methods, datasets


def test_demo(call, tmp_path):
    made = call("demo")
    assert made.code == 0 and made.err == ""
    assert "above the minimum" in made.out and "page: saddlery-demo.html" in made.out
    assert "Breast cancer" in (tmp_path / "saddlery-demo.html").read_text()


def test_demo_without_matplotlib_and_pandas(tmp_path):
    code = (
        "import sys; sys.modules.update(matplotlib=None, pandas=None, pyarrow=None); import saddlery.cli as c; c.main()"
    )
    words = [sys.executable, "-c", code, "demo"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def test_methods(call):
    made = call("methods")
    assert made.code == 0
    names = [line.split()[0] for line in made.out.splitlines() if line.strip()]
    assert set(names) >= {each.name for each in sd.methods()}
    about = json.loads(call("methods", "--json").out)
    assert [each["name"] for each in about] == [each.name for each in sd.methods()]
    one = call("methods", "adasdca+").out
    assert "Csiba" in one and "option='I'" in one


def test_datasets(call, tmp_path, monkeypatch):
    monkeypatch.setenv("SADDLERY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SADDLERY_DATA", str(tmp_path))
    (tmp_path / "a9a.xz").write_bytes(b"")
    made = call("datasets")
    rows = {line.split()[0]: line for line in made.out.splitlines() if line}
    assert made.code == 0 and " yes " in rows["a9a"] and " no: downloads " in rows["a8a"]
    assert "1 of " in made.out
    about = {each["name"]: each for each in json.loads(call("datasets", "--json").out)}
    assert set(about) == {each.name for each in sd.datasets()}
    assert about["a9a"]["present"] is True and about["a8a"]["present"] is False and about["a9a"]["n"] == 32561


# ---- the command itself


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command, call):
    made = call(command, "--help")
    assert made.code == 0 and made.err == ""
    assert f"\n    saddlery {command}" in made.out, "an example"
    assert max(map(len, made.out.splitlines())) <= 100


def test_help_has_every_command_and_exit_code(call):
    made = call("--help")
    lines = made.out.partition("Commands:")[2].splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line.split()]
    assert listed[: len(COMMANDS)] == list(COMMANDS)
    assert all(f"\n    {code} " in made.out for code in (0, 1, 2, 3, 70, 130))
    assert not [line for line in lines if line.endswith("...")], "no sentence is cut"


def test_version(call):
    assert call("--version").out == f"saddlery {metadata.version('saddlery')}\n"


def test_nothing_asked_is_answered_with_help(call):
    made = call()
    assert made.code == 2 and made.out.startswith("Usage: saddlery")


def test_help_is_quick_and_loads_nothing_heavy():
    code = "import sys, saddlery.cli; print(*sorted({'numba', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)))"
    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert heavy == []
    times = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "saddlery", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.5


def test_python_dash_m(tmp_path):
    words = [sys.executable, "-m", "saddlery", "fit"]
    made = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert made.returncode == 2 and one_line(made.stderr)


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_that_has_seen_enough_is_no_error():
    words = [sys.executable, "-m", "saddlery", "methods"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141 and said == b""
