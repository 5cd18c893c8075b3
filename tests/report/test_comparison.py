"""A comparison: one certificate for all, nothing of one run left for the next, rivals that fail and Ctrl-C survived."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.report import bench, compare
from saddlery.report.bench import afresh
from saddlery.report.comparison import chosen, parsed
from saddlery.report.course import envelope
from saddlery.report.machine import Machine
from saddlery.report.rivals import Rival

RNG = np.random.default_rng(1)
X = RNG.standard_normal((80, 6))
B = np.sign(X @ RNG.standard_normal(6) + 0.3 * RNG.standard_normal(80))
PROBLEM = sd.ERM(X, B, sd.Logistic(), sd.L2(0.01), intercept=True)


@pytest.fixture(scope="module")
def made():
    return compare(PROBLEM, ["auto", "sdca", "saga"], tol=1e-7, max_time=2.0, title="toy")


def test_what_is_reached_is_certified(made):
    assert {course.name for course in made.courses} >= {"auto", "sdca", "saga", "scikit-learn lbfgs"}
    for course in made.courses:
        assert course.reached, course
        assert 0.0 <= course.certificate.relative_gap <= 1e-7 and course.certificate.kind == "exact"
        assert course.certificate.primal - course.certificate.gap <= made.lowest + 1e-15
        assert 0.0 < course.seconds_to_tol <= course.seconds


def test_curves_fall_and_end_at_the_certificate(made):
    for course in made.courses:
        for points in (course.by_seconds, course.by_passes):
            gaps, places = [gap for _, gap in points], [place for place, _ in points]
            assert gaps == sorted(gaps, reverse=True) and places == sorted(places)
        assert course.by_seconds[-1][1] == pytest.approx(course.certificate.relative_gap, rel=1e-6, abs=1e-30)
        if not course.rival:
            assert course.by_passes[-1][1] <= 1e-7 and course.by_passes[-1][0] == course.passes


def test_the_fastest_come_first(made):
    seconds = [course.seconds_to_tol for course in made.courses]
    assert seconds == sorted(seconds)


def test_the_bracket_holds_the_minimum(made):
    best = sd.solve(PROBLEM, "newton", tol=1e-15, max_epochs=200).certificate
    assert made.highest <= best.primal + 1e-15 and best.dual - 1e-15 <= made.lowest


def test_the_same_seed_is_the_same_run(made):
    again = compare(PROBLEM, ["sdca"], rivals=False, tol=1e-7)
    mine = next(course for course in made.courses if course.name == "sdca")
    assert again.courses[0].by_passes == mine.by_passes


def test_all_of_it_is_json(made):
    about = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert about["title"] == "toy" and about["facts"]["n"] == 80
    assert [course["name"] for course in about["courses"]] == [course.name for course in made.courses]
    assert about["courses"][0]["certificate"]["local_gap"] is None


def test_a_problem_afresh_remembers_nothing():
    """Else what an earlier run paid for would be free for the next."""
    problem = sd.ERM(X, B, sd.Logistic(), sd.L2(0.01))
    _ = problem.norm(), problem.curvature, problem.coupling.columns, problem.fingerprint
    fresh = afresh(problem)
    assert fresh.norm()[1] > 0 and problem.norm()[1] == 0
    assert "columns" in vars(problem.coupling) and "columns" not in vars(fresh.coupling)
    assert fresh.fingerprint == problem.fingerprint
    assert fresh.coupling.rows is problem.coupling.rows


def test_compiling_is_not_on_the_clock(monkeypatch):
    """Every run that counts comes after one of a single epoch with the same method."""
    ran = []
    solve = bench.solve

    def noted(problem, method, **more):
        ran.append((getattr(method, "name", method), more.get("max_epochs")))
        return solve(problem, method, **more)

    monkeypatch.setattr(bench, "solve", noted)
    compare(PROBLEM, ["adaspdc", "auto"], rivals=False)
    for name in ("adaspdc", "auto"):
        epochs = [most for called, most in ran if called == name]
        assert epochs[0] == 1 and epochs[1] > 1
    warmed = {name for name, most in ran if most == 1}
    assert warmed >= {"adaspdc", "adaspdc-balanced", "auto", "adasdca+", "ada-spdc", "cd"}, "and what they go over to"


def test_a_rival_that_fails_costs_only_itself(monkeypatch):
    def broken(budget):
        raise RuntimeError("not today\nnot tomorrow")

    rival = Rival("other broken", "numpy", broken)
    monkeypatch.setattr("saddlery.report.comparison.candidates", lambda problem: [rival])
    made = compare(PROBLEM, ["sdca"])
    last = made.courses[-1]
    assert (last.name, last.reached) == ("other broken", False)
    assert last.status == "Failed: RuntimeError: not today not tomorrow"
    assert made.courses[0].name == "sdca" and made.courses[0].reached


def liar(coef):
    """A rival that says what it likes about itself."""

    class Made:
        coef_, intercept_, n_iter_, gap_ = coef, 0.0, 10**9, 0.0

        def fit(self, X, y):
            return self

    return Rival("other liar", "numpy", lambda budget: Made())


def test_a_rival_is_not_believed(monkeypatch):
    monkeypatch.setattr("saddlery.report.comparison.candidates", lambda problem: [liar(np.ones(6))])
    made = compare(PROBLEM, ["sdca"], max_time=0.01)
    course = next(course for course in made.courses if course.rival)
    assert not course.reached
    best = sd.solve(PROBLEM, "newton", tol=1e-14, max_epochs=200).certificate.primal
    x = np.append(np.ones(6), 0.0)
    assert course.certificate.gap >= (PROBLEM.primal(x) - best) * (1.0 - 1e-9)


def test_a_direct_rival_is_asked_once():
    problem = sd.ERM(X, X[:, 0] + B, sd.Squared(), sd.L2(0.1))
    made = compare(problem, ["newton"], tol=0.0, max_time=0.2)
    cholesky = next(course for course in made.courses if course.name == "scikit-learn cholesky")
    assert len(cholesky.by_seconds) == 1 and "direct" in cholesky.status
    assert cholesky.certificate.relative_gap < 1e-12


def test_ctrl_c_keeps_what_had_ended(monkeypatch):
    def stopped(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.Bench, "ask", stopped)
    made = compare(PROBLEM, ["sdca"])
    assert made.interrupted and [course.name for course in made.courses] == ["sdca"]


@pytest.mark.parametrize("run", range(4))
def test_ctrl_c_in_any_run_of_ours_ends_it_with_the_best_of_what_was_run(run, monkeypatch):
    """A run that was cut short is not taken for a fast one."""
    solve, count = bench.solve, iter(range(100))

    def cut(problem, method, **more):
        result = solve(problem, method, **more)
        warm = more.get("max_epochs") == 1
        if not warm and next(count) == run:
            result.status, result.seconds = sd.Status.INTERRUPTED, 1e-9
        return result

    monkeypatch.setattr(bench, "solve", cut)
    made = compare(PROBLEM, ["sdca", "saga"], tol=1e-7)
    assert made.interrupted and [course.name for course in made.courses] == ["sdca"]
    assert made.courses[0].reached == (run > 0)
    assert (made.courses[0].seconds > 1e-9) == (run > 0)


def test_problems_without_a_bound_have_courses_without_a_gap():
    wide = sd.ERM(X[:4], B[:4] * np.array([1, -1, 1, -1]), sd.Logistic(), sd.Zero())
    made = compare(wide, ["ada-spdc"], max_time=0.05)
    course = made.courses[0]
    assert not course.reached and (course.by_seconds == () or course.certificate.kind == "exact")
    assert json.dumps(made.to_dict(), allow_nan=False)


def test_sparse_rows_and_several_outputs():
    labels = RNG.integers(0, 3, 80).astype(float)
    made = compare(sd.ERM(sp.csr_array(X), labels, sd.Softmax(3), sd.L2(0.1)), ["auto"], tol=1e-5)
    assert made.facts.q == 3 and all(course.reached for course in made.courses)


# ---- which methods


def test_methods_by_name_with_parameters_and_as_objects():
    found = chosen(PROBLEM, ["sdca:order=uniform", sd.method("sdca"), "sdca", "auto"])
    assert list(found) == ["sdca:order=uniform", "sdca", "sdca, 3", "auto"]
    assert found["sdca:order=uniform"] == sd.method("sdca", order="uniform")
    assert parsed("ada-spdc:adapt=sharp:kappa=0.5") == sd.method("ada-spdc", adapt="sharp", kappa=0.5)
    assert parsed("adaspdc:fallback=None") == sd.method("adaspdc", fallback=None)


def test_all_methods_are_those_that_can():
    lasso = sd.ERM(X, B, sd.Squared(), sd.L1(0.1))
    found = set(chosen(lasso, "all"))
    assert "cd" in found and "auto" in found and "sdca" not in found
    usual = chosen(lasso, None)
    assert "cd" in usual and "sdca" not in usual


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        (["sdcaa"], "did you mean 'sdca'"),
        ("sdca", "methods must be a list"),
        ([], "methods must be a list"),
        (["sdca:order"], "written sdca:name=value"),
    ],
)
def test_methods_that_are_refused(methods, said):
    with pytest.raises(ValueError, match=said):
        compare(PROBLEM, methods)


def test_arguments_that_are_refused():
    with pytest.raises(ValueError, match="sdca cannot solve this problem"):
        compare(sd.ERM(X, B, sd.Squared(), sd.L1(0.1)), ["sdca"])
    with pytest.raises(ValueError, match="max_time must be"):
        compare(PROBLEM, max_time=0.0)
    with pytest.raises(TypeError, match="problem must be"):
        compare(X)


def test_fits_that_took_longer_for_less_are_left_out():
    assert envelope([(1.0, 1.0), (5.0, 0.5), (3.0, 0.1), (4.0, 0.01)]) == ((1.0, 1.0), (3.0, 0.1), (4.0, 0.01))
    assert envelope([]) == ()


def test_the_machine_says_what_seconds_depend_on():
    machine = Machine.here()
    assert machine.processor and machine.cores >= 1 and machine.system
    assert machine.libraries["numpy"] == np.__version__
    assert machine.date.endswith("+00:00")
    assert machine.with_libraries(["no-such-library"]).libraries["no-such-library"] == "not installed"
    assert not math.isnan(machine.cores)
