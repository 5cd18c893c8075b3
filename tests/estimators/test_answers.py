"""What comes with the coefficients: certificates, warm starts, warnings, budgets, files, scikit-learn's estimator."""

from __future__ import annotations

import io
import json
import pickle
import re
import time
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import saddlery as sd
from saddlery.estimators import MODELS
from saddlery.estimators._complaint import epochs_to
from saddlery.result import History

X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = (X2 - X2.mean(axis=0)) / X2.std(axis=0)
XR, YR = load_diabetes(return_X_y=True)
XR, YR = 20.0 * XR, YR / 50.0

PLAIN = [
    sd.Ridge(),
    sd.Lasso(0.05),
    sd.ElasticNet(0.05),
    sd.LogisticRegression(),
    sd.LogisticRegression(multi_class="ovr"),
    sd.LinearSVC(),
    sd.LinearSVC(loss="hinge"),
    sd.LinearSVR(),
    sd.LinearSVR(loss="squared_epsilon_insensitive"),
    sd.HuberRegressor(),
    sd.RidgeClassifier(),
]
CHOOSING = [
    sd.RidgeCV(),
    sd.LassoCV(alphas=4, cv=3),
    sd.ElasticNetCV(alphas=4, cv=3, l1_ratio=[0.3, 0.9]),
    sd.LogisticRegressionCV(Cs=3, cv=3),
]
each = pytest.mark.parametrize("model", PLAIN, ids=lambda model: str(model).replace(" ", ""))
every = pytest.mark.parametrize("model", PLAIN + CHOOSING, ids=lambda model: str(model).replace(" ", ""))


def data_of(model, n=150):
    if is_classifier(model):
        return load_iris(return_X_y=True) if "ovr" in str(model) else (X2[:n, :8], Y2[:n])
    return XR[:n], YR[:n]


# ---- certificates


@every
def test_a_certificate_is_recomputed_from_data_and_coefficients(model):
    X, y = data_of(model)
    fitted = clone(model).fit(X, y)
    assert fitted.converged_ and fitted.certificate_.relative_gap <= fitted.tol
    again = fitted.certify(X, y)
    assert again.primal == pytest.approx(fitted.certificate_.primal, rel=1e-9)
    assert again.relative_gap <= max(10.0 * fitted.certificate_.relative_gap, 1e-9)
    if fitted.dual_coef_ is not None:
        fitted.dual_coef_ = np.random.default_rng(0).standard_normal(fitted.dual_coef_.shape)  # not to be trusted
    fitted.certificate_ = replace(fitted.certificate_, gap=-1.0)
    worse = fitted.certify(X, y)
    assert worse.primal == pytest.approx(again.primal, rel=1e-12) and worse.gap >= again.gap * (1.0 - 1e-9) - 1e-300
    fitted.coef_ = fitted.coef_ + 0.1
    off = fitted.certify(X, y)
    assert off.gap >= off.primal - again.primal - 1e-12 * abs(again.primal)
    assert off.primal > again.primal


@each
def test_coefficients_are_proportional_to_the_data_times_dual_coef(model):
    if "Lasso" in str(model) or "Elastic" in str(model):
        pytest.skip("an l1 penalty bends the proportion")
    X, y = data_of(model)
    fitted = clone(model).fit(X, y)
    mine, made = np.atleast_2d(fitted.coef_), np.atleast_2d(fitted.dual_coef_) @ X
    factor = (mine * made).sum() / (made * made).sum()
    assert factor > 0.0
    rough = 1e-2 if getattr(model, "loss", "") in ("hinge", "epsilon_insensitive") else 1e-7
    np.testing.assert_allclose(factor * made, mine, atol=rough * np.abs(mine).max())


# ---- weights are repetitions


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), number=st.integers(0, len(PLAIN) - 1), sparse=st.booleans())
def test_weights_are_repetitions(seed, number, sparse):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(15, 40)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    model = clone(PLAIN[number])
    z = X @ rng.standard_normal(d) / np.exp(1.0) + rng.standard_normal(n)
    y = (z > np.median(z)).astype(int) if is_classifier(model) else z
    times = rng.integers(0, 4, n)
    if is_classifier(model) and np.unique(y[times > 0]).size < 2:
        times[:] = 1
    repeated = np.repeat(np.arange(n), times)
    store = sp.csr_array if sparse else np.asarray
    one = clone(model).fit(store(X), y, times)
    two = clone(model).fit(store(X[repeated]), y[repeated])
    scale = max(np.abs(two.coef_).max(), 1e-3)
    rough = 1e-4 if getattr(model, "loss", "") in ("hinge", "epsilon_insensitive") else 1e-6
    np.testing.assert_allclose(one.coef_, two.coef_, atol=rough * scale)
    three = clone(model).fit(store(X), y, 2.5 * np.ones(n)) if "Ridge" not in str(model) else None
    if three is not None and "Lasso" in str(model):  # weights are scaled to mean 1 there
        np.testing.assert_allclose(three.coef_, clone(model).fit(store(X), y).coef_, atol=1e-9)


# ---- warm starts


@each
def test_a_second_fit_takes_no_epoch(model):
    X, y = data_of(model)
    fitted = clone(model).set_params(warm_start=True).fit(X, y)
    assert np.all(np.asarray(fitted.n_iter_) > 0)
    coef = fitted.coef_.copy()
    fitted.fit(X, y)
    assert np.all(np.asarray(fitted.n_iter_) == 0) and fitted.converged_
    np.testing.assert_allclose(fitted.coef_, coef, rtol=1e-9, atol=1e-12 * np.abs(coef).max())
    fitted.fit(X[:100], y[:100])  # other data: only the coefficients are of use
    assert fitted.converged_
    fitted.fit(X[:, :3], y)  # others still: nothing is
    assert fitted.converged_ and np.shape(fitted.coef_)[-1] == 3


def test_a_warm_start_of_a_method_that_runs_by_epochs():
    X, y = np.tile(X2, (8, 1)), np.tile(Y2, 8)
    assert X.size > 100_000
    model = sd.LogisticRegression(warm_start=True, tol=1e-8, solver="adasdca+").fit(X, y)
    assert model.n_iter_[0] > 0
    assert model.fit(X, y).n_iter_[0] == 0
    model.C = 1.1
    cold = sd.LogisticRegression(C=1.1, tol=1e-8, solver="adasdca+").fit(X, y).n_iter_[0]
    assert 0 < model.fit(X, y).n_iter_[0] <= cold


# ---- not converged


@pytest.mark.parametrize("model", [sd.LogisticRegression(), sd.Lasso(0.001), sd.LinearSVC(), sd.Ridge()], ids=str)
@pytest.mark.parametrize("solver", ["sdca", "adaspdc-balanced", "saga", "ada-spdc"])
def test_one_warning_says_it_all(model, solver):
    method = sd.method("saga") if solver == "saga" else solver
    X, y = data_of(model)
    model = clone(model).set_params(solver=method, max_iter=3, tol=1e-12)
    if solver in ("sdca", "adaspdc-balanced") and isinstance(model, sd.Lasso):
        pytest.skip("needs a strongly convex penalty")
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    text = str(caught[0].message)
    gap = model.certificate_.relative_gap
    assert len(caught) == 1 and not model.converged_ and caught[0].filename == __file__
    for part in (f"{type(model).__name__} did not converge", "asked tol=1e-12", "after 3 epochs", f"gap {gap:.1e}"):
        assert part in text, text
    assert re.search(r"about [\d,]+ epochs in all|no rate can be read yet", text) and re.search(
        r"(Set|scale|larger)", text
    )


def test_advice_is_concrete_and_helps():
    wild = X2 * np.logspace(-4, 4, X2.shape[1])
    with pytest.warns(ConvergenceWarning, match=r"Columns differ in size by .* scale them"):
        sd.LogisticRegression(solver="sdca", max_iter=20).fit(wild, Y2)
    with pytest.warns(ConvergenceWarning, match=r"Set max_iter=\d+") as caught:
        sd.LogisticRegression(solver="sdca", max_iter=20, tol=1e-4).fit(X2, Y2)
    more = int(re.search(r"max_iter=(\d+)", str(caught[0].message)).group(1))
    assert sd.LogisticRegression(solver="sdca", max_iter=3 * more, tol=1e-4).fit(X2, Y2).converged_
    X = np.column_stack([X2[:, 0], X2[:, 0]]) + 0.0
    y = np.where(np.arange(Y2.size) % 3 == 0, 1 - Y2, Y2)
    with pytest.warns(ConvergenceWarning, match="Nothing is penalised"):
        sd.LogisticRegression(C=np.inf, max_iter=30).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"Set max_time="):
        sd.LogisticRegression(solver="sdca", max_time=0.02, max_iter=10**6, tol=1e-14, C=1e4).fit(X2, Y2)


def test_epochs_are_extrapolated_from_the_later_half():
    rows = [(k, k, k, 0.0, 1.0, 0.0, 10.0 ** (-k / 10.0)) for k in range(41)]
    assert epochs_to(History(rows), 1e-4, 1e-8) == pytest.approx(80, abs=1)
    assert epochs_to(History(rows[:1]), 1.0, 1e-8) is None
    still = [(k, k, k, 0.0, 1.0, 0.0, 0.5) for k in range(10)]
    assert epochs_to(History(still), 0.5, 1e-8) is None


def test_max_time_is_kept_and_shared_out():
    X, y = np.tile(X2, (30, 1)), np.tile(Y2, 30)
    sd.LogisticRegression(solver="sdca", max_iter=1).set_params(tol=1.0).fit(X, y)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning):
        model = sd.LogisticRegression(solver="sdca", max_time=0.3, max_iter=10**6, tol=1e-15, C=1e6).fit(X, y)
    assert time.perf_counter() - began < 3.0 and model.certificate_.gap < np.inf
    with pytest.warns(ConvergenceWarning, match="3 of 3 problems"):
        sd.Ridge(1e-6, solver="sdca", max_time=0.3, max_iter=10**6, tol=1e-15).fit(X[:, :9], X[:, 9:12])


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "auto"])
def test_scikit_learns_solvers_mean_auto(solver):
    model = sd.LogisticRegression(solver=solver).fit(X2, Y2)
    assert model.solver_ == "newton" and model.converged_


@pytest.mark.parametrize(
    "solver", ["sdca", "adasdca+", "spdc", "newton", sd.method("saga"), sd.method("ada-spdc", adapt="sharp")]
)
def test_any_method_will_do(solver):
    model = sd.LogisticRegression(solver=solver, max_iter=5000).fit(X2, Y2)
    best = sd.LogisticRegression().fit(X2, Y2)
    assert model.certificate_.primal - best.certificate_.primal <= model.certificate_.gap
    distance = np.linalg.norm(model.coef_ - best.coef_)  # |x - x*|^2 <= 2 gap / lam, lam = 1 / (C n)
    assert distance <= np.sqrt(2.0 * model.certificate_.gap * Y2.size) + 1e-8


# ---- files


@every
def test_saved_and_loaded(model, tmp_path):
    X, y = data_of(model)
    fitted = clone(model).fit(X, y)
    path = tmp_path / "model.saddlery"
    fitted.save(path)
    again = sd.load(path)
    assert type(again) is type(fitted) and str(again.get_params()) == str(fitted.get_params())
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert str(again.certify(X, y)) == str(fitted.certify(X, y)) and str(again.certificate_) == str(fitted.certificate_)
    assert set(vars(again)) >= {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert [file.name for file in tmp_path.iterdir()] == ["model.saddlery"]
    with pytest.raises(NotFittedError):
        clone(model).save(tmp_path / "other")


def test_words_methods_and_sparse_coefficients_are_saved(tmp_path):
    y = np.array(["no", "yes"])[Y2]
    model = sd.LogisticRegression(
        solver=sd.method("sdca", order="uniform"), class_weight={"no": 2.0, "yes": 1.0}, max_iter=5000
    )
    model.fit(X2, y).sparsify()
    model.save(tmp_path / "m")
    again = sd.load(tmp_path / "m")
    assert again.solver == model.solver and again.class_weight == model.class_weight and sp.issparse(again.coef_)
    assert again.predict(X2).tolist() == model.predict(X2).tolist()
    objects = sd.RidgeClassifier().fit(X2, y.astype(object))
    objects.save(tmp_path / "m")
    assert sd.load(tmp_path / "m").classes_.tolist() == ["no", "yes"]


def rewritten(path, change, forge=False):
    """The file with its head changed; with the right checksum, if it is forged."""
    from saddlery.estimators._saved import _checksum

    with zipfile.ZipFile(path) as bundle:
        head = json.loads(bundle.read("model.json"))
        parts = [bundle.read(f"a{k}.npy") for k in range(len(bundle.namelist()) - 1)]
    change(head, parts)
    if forge:
        head.pop("checksum")
        head["checksum"] = _checksum(head, parts)
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("model.json", json.dumps(head))
        for k, part in enumerate(parts):
            bundle.writestr(f"a{k}.npy", part)


def numpy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def test_tampered_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "m"
    model = sd.Ridge().fit(XR, YR)

    def refused(match, content=None, change=None, forge=False):
        model.save(path)
        if content is not None:
            path.write_bytes(content)
        if change is not None:
            rewritten(path, change, forge)
        with pytest.raises(ValueError, match=match) as caught:
            sd.load(path)
        assert str(path) in str(caught.value)

    whole = (model.save(path), path.read_bytes())[1]
    refused("not a model of saddlery's", content=b"x,y\n1,2\n")
    refused("not a model of saddlery's", content=whole[: len(whole) // 2])
    refused("not a model of saddlery's", content=b"")
    refused("checksum does not match", change=lambda head, parts: head["parameters"].update(alpha=["float", "0x1p-3"]))
    refused("checksum does not match", change=lambda head, parts: parts.append(parts[0]))
    refused("no model 'os.system'", change=lambda head, parts: head.update({"class": "os.system"}), forge=True)
    refused("no name of a fitted", change=lambda head, parts: head["fitted"].update(predict=["plain", 1]), forge=True)
    refused("unknown kind", change=lambda head, parts: head["fitted"].update(coef_=["pickle", 0]), forge=True)
    refused("a vector or", change=lambda head, parts: head["fitted"].update(coef_=["plain", "x"]), forge=True)
    refused("go together", change=lambda head, parts: head["fitted"].update(n_features_in_=["plain", 3]), forge=True)
    places = [numpy_bytes(np.array(a)) for a in ([1.0], [99_999_999], [0, 1])]

    def lead_astray(head, parts):
        head["fitted"]["coef_"] = ["csr", [1, 10], *(["array", k] for k in range(3))]
        parts[:3] = places

    refused("not a whole model", change=lead_astray, forge=True)
    for bad in (np.array(1j), np.zeros(2, dtype="V3"), np.array([None])):
        content = numpy_bytes(bad)
        refused("not a whole", change=lambda head, parts, content=content: parts.__setitem__(0, content), forge=True)
    refused("not a model of saddlery's", change=lambda head, parts: head.update({"class": []}), forge=True)
    refused("format 9", change=lambda head, parts: head.update(format=9), forge=True)
    hidden = pickle.dumps(model)
    refused("not a whole model", change=lambda head, parts: parts.__setitem__(0, hidden), forge=True)
    model.save(path)
    with zipfile.ZipFile(path) as bundle:
        assert not any(b"pickle" in bundle.read(name)[:200] for name in bundle.namelist())
    with pytest.raises(FileNotFoundError):
        sd.load(tmp_path / "nothing")


def test_what_cannot_be_saved_says_so(tmp_path):
    model = sd.Ridge().fit(XR, YR)
    model.random_state = np.random.RandomState(0)
    with pytest.raises(TypeError, match="parameter random_state cannot be saved"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError):
        sd.Ridge().fit(XR, YR).save(tmp_path / "no" / "m")


# ---- scikit-learn's own


@every
def test_to_sklearn(model):
    X, y = data_of(model)
    fitted = clone(model).fit(X, y)
    his = fitted.to_sklearn()
    assert type(his).__module__.startswith("sklearn.")
    np.testing.assert_array_equal(his.predict(X), fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(his.predict_proba(X), fitted.predict_proba(X), rtol=1e-10, atol=1e-14)
    if hasattr(fitted, "decision_function"):
        np.testing.assert_allclose(his.decision_function(X), fitted.decision_function(X), rtol=1e-12)


def test_to_sklearn_says_what_is_not_there():
    with pytest.raises(ValueError, match="no smooth hinge"):
        sd.LinearSVC(loss="smooth_hinge").fit(X2, Y2).to_sklearn()
    with pytest.raises(NotFittedError):
        sd.Ridge().to_sklearn()


# ---- bad input


BAD = {
    "NaN in X": (lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X), y, None), "NaN"),
    "infinity in X": (lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.inf, X), y, None), "infinity"),
    "sparse NaN": (lambda X, y: (sp.csr_array(np.where(X > 1.0, np.nan, X)), y, None), "NaN"),
    "NaN in y": (lambda X, y: (X, np.where(np.arange(y.size) == 3, np.nan, y.astype(float)), None), "NaN"),
    "NaN in weights": (lambda X, y: (X, y, np.where(np.arange(y.size) == 3, np.nan, 1.0)), "NaN"),
    "negative weights": (lambda X, y: (X, y, np.where(np.arange(y.size) == 3, -1.0, 1.0)), "[Nn]egative"),
    "weights of 0": (lambda X, y: (X, y, np.zeros(y.size)), "0 for every row|non-zero"),
    "weights of another length": (lambda X, y: (X, y, np.ones(y.size - 1)), "shape|inconsistent"),
    "y of another length": (lambda X, y: (X, y[:-1], None), "inconsistent"),
    "no rows": (lambda X, y: (X[:0], y[:0], None), "0 sample|minimum of 1"),
    "no columns": (lambda X, y: (X[:, :0], y, None), "0 feature"),
    "a vector for X": (lambda X, y: (X[:, 0], y, None), "2D array"),
    "complex X": (lambda X, y: (X.astype(complex), y, None), "[Cc]omplex"),
    "text in X": (lambda X, y: (np.array([["a", "b"]] * y.size), y, None), "could not convert|dtype"),
}


@every
@pytest.mark.parametrize("case", BAD)
def test_bad_data(model, case):
    X, y = data_of(model, 60)
    change, match = BAD[case]
    fitted = clone(model)
    with pytest.raises((ValueError, TypeError), match=match):
        fitted.fit(*change(X, y))
    assert not hasattr(fitted, "coef_"), "nothing half done"


@pytest.mark.parametrize("model", [model for model in PLAIN + CHOOSING if is_classifier(model)], ids=str)
def test_one_class_is_not_enough(model):
    with pytest.raises(ValueError, match="class"):
        clone(model).fit(X2[:50], np.ones(50))
    with pytest.raises(ValueError, match="class"):
        clone(model).fit(X2[:50], Y2[:50], (Y2[:50] == 0).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(model).fit(X2[:50], X2[:50, 0])


@every
@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"tol": -1.0}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"max_iter": -5}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"max_time": -1.0}, "max_time"),
        ({"solver": "adaspcd"}, "did you mean 'adaspdc'"),
        ({"solver": 3}, "solver must be"),
        ({"random_state": "x"}, "random_state"),
        ({"fit_intercept": "perhaps"}, "fit_intercept"),
        ({"alpha": -1.0}, "alpha"),
        ({"C": 0.0}, "C"),
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"loss": "perceptron"}, "loss"),
        ({"epsilon": -0.5}, "epsilon"),
        ({"class_weight": "even"}, "class_weight"),
    ],
    ids=str,
)
def test_bad_parameters(model, parameters, match):
    X, y = data_of(model, 60)
    if not set(parameters) <= set(model.get_params()):
        pytest.skip("has no such parameter")
    with pytest.raises((ValueError, TypeError), match=re.escape(match)):
        clone(model).set_params(**parameters).fit(X, y)


def test_a_method_that_cannot_says_which_can():
    with pytest.raises(ValueError, match=r"newton|cd"):
        sd.Lasso(solver="sdca").fit(XR, YR)


@every
def test_small_and_odd_data_work(model):
    X, y = data_of(model, 60)
    odd = np.column_stack([X[:, :1], np.zeros(len(X)), np.ones(len(X)), X[:, :1]])  # zeros, a constant, a duplicate
    odd[5] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(model).fit(odd, y)
        assert np.isfinite(fitted.coef_).all() and fitted.converged_
        one = clone(model).fit(X[:, :1], y)
        assert np.shape(one.coef_)[-1] == 1


def test_one_row():
    for model in (sd.Ridge(), sd.Lasso(), sd.ElasticNet(), sd.LinearSVR(), sd.HuberRegressor()):
        fitted = clone(model).fit([[1.0, 2.0]], [3.0])
        assert np.isfinite(fitted.predict([[1.0, 2.0]])).all()


def test_every_model_is_here():
    assert {type(model) for model in PLAIN + CHOOSING} == set(MODELS.values())
