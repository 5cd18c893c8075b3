"""The contract of scikit-learn's estimators: its own checks, and what it expects beside them."""

from __future__ import annotations

import pickle
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import saddlery as sd
from saddlery.estimators import MODELS
from saddlery.estimators._heard import CALLBACKS

VARIANTS = [
    sd.Ridge(),
    sd.Ridge(positive=True),
    sd.Lasso(),
    sd.Lasso(alpha=0.1, positive=True),
    sd.ElasticNet(),
    sd.LogisticRegression(),
    sd.LogisticRegression(l1_ratio=1.0),
    sd.LogisticRegression(l1_ratio=0.5, multi_class="ovr"),
    sd.LinearSVC(),
    sd.LinearSVC(loss="smooth_hinge"),
    sd.LinearSVC(penalty="l1"),
    sd.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    sd.LinearSVR(),
    sd.HuberRegressor(),
    sd.RidgeClassifier(),
    sd.RidgeCV(),
    sd.RidgeCV(cv=3),
    sd.LassoCV(alphas=5, cv=3),
    sd.ElasticNetCV(alphas=4, cv=3, l1_ratio=[0.3, 0.9]),
    sd.LogisticRegressionCV(Cs=3, cv=3),
]


@parametrize_with_checks(VARIANTS)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data, and loops cut short: some checks provoke warnings on purpose
        check(estimator)


def test_every_model_is_checked():
    assert {type(model) for model in VARIANTS} == set(MODELS.values())


# ---- data and where they lie


def data_of(model, n=120):
    """Data that suit a model."""
    if sklearn.base.is_classifier(model):
        X, y = load_iris(return_X_y=True)
        return X[::2], y[::2]
    X, y = load_diabetes(return_X_y=True)
    return X[:n], y[:n]


each = pytest.mark.parametrize("model", VARIANTS, ids=lambda model: str(model).replace(" ", ""))


@each
def test_pickled_and_cloned(model):
    X, y = data_of(model)
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert str(again.certificate_) == str(fitted.certificate_)
    assert not hasattr(clone(fitted), "coef_")
    assert len(pickle.dumps(fitted)) < 200_000 + 40 * y.size * 12, "data must not go with the model"


@each
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_sparse_matrices_and_arrays_give_the_same(model, kind):
    X, y = data_of(model)
    dense, sparse = clone(model).fit(X, y), clone(model).fit(kind(X), y)
    scale = np.abs(dense.coef_).max()
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=2e-7 * scale)
    np.testing.assert_array_equal(sparse.predict(kind(X)), sparse.predict(kind(X).tocsr()))


@each
def test_single_precision_is_kept_and_certified(model):
    X, y = data_of(model)
    fitted = clone(model).fit(X.astype(np.float32), y)
    assert fitted.coef_.dtype == np.float32
    exact = clone(model).fit(X.astype(np.float32).astype(np.float64), y)
    scale = np.abs(exact.coef_).max()
    np.testing.assert_allclose(fitted.coef_, exact.coef_, rtol=1e-4, atol=2e-5 * scale)
    assert fitted.certify(X.astype(np.float32), y).gap >= 0.0


@each
def test_nothing_is_written_to_the_data(model, tmp_path):
    X, y = data_of(model)
    path = str(tmp_path / "X.joblib")
    joblib.dump(X, path)
    mapped = joblib.load(path, mmap_mode="r")
    assert not mapped.flags.writeable
    fitted = clone(model).fit(mapped, y)
    np.testing.assert_array_equal(fitted.coef_, clone(model).fit(X.copy(), y).coef_)


def test_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True)
    piped = make_pipeline(StandardScaler(), sd.LogisticRegression())
    scores = cross_val_score(piped, X, y, cv=3)
    theirs = make_pipeline(StandardScaler(), sklearn.linear_model.LogisticRegression(tol=1e-8, max_iter=1000))
    np.testing.assert_allclose(scores, cross_val_score(theirs, X, y, cv=3))
    search = GridSearchCV(piped, {"logisticregression__C": [0.01, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["logisticregression__C"] in (0.01, 1.0)


def test_feature_names_are_kept():
    frame, y = load_diabetes(return_X_y=True, as_frame=True)
    fitted = sd.Ridge().fit(frame, y)
    assert list(fitted.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[frame.columns[::-1]])


def test_metadata_is_routed():
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.linspace(0.1, 2.0, y.size)
    with sklearn.config_context(enable_metadata_routing=True):
        model = sd.LogisticRegression().set_fit_request(sample_weight=True)
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        piped.fit(X, y, sample_weight=weights)
        direct = sd.LogisticRegression().fit(StandardScaler().fit_transform(X), y, weights)
        np.testing.assert_allclose(piped[-1].coef_, direct.coef_, rtol=1e-9)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            make_pipeline(sd.LogisticRegression()).fit(X, y, sample_weight=weights)
        chosen = sd.LassoCV(alphas=3, cv=sklearn.model_selection.GroupKFold(3))
        groups = np.arange(y.size) % 5
        chosen.fit(X, y.astype(float), groups=groups)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        sd.LassoCV(alphas=3).fit(X, y.astype(float), groups=groups)


class Listener:
    """A callback of scikit-learn's that notes what it hears, and may say that it is enough."""

    def __init__(self, enough=1000):
        self.heard, self.coef, self.enough = [], [], enough

    def setup(self, estimator, context):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.heard.append(f"end {context.task_name}")
        self.coef.append(fitted_estimator.coef_)
        return len(self.coef) >= self.enough

    def teardown(self, estimator, context):
        self.heard.append("teardown")


@pytest.mark.skipif(not CALLBACKS, reason="scikit-learn before 1.9 has no callbacks")
def test_callbacks_hear_every_certificate_and_can_stop():
    X, y = load_breast_cancer(return_X_y=True)
    listener = Listener()
    model = sd.LogisticRegression().set_callbacks(listener).fit(X, y)
    assert listener.heard[:2] == ["setup", "begin fit"] and listener.heard[-2:] == ["end fit", "teardown"]
    assert listener.heard.count("begin certificate") == listener.heard.count("end certificate") == model.n_iter_[0] + 1
    assert not listener.coef[0].any()
    np.testing.assert_array_equal(listener.coef[-1], model.coef_)
    with pytest.warns(ConvergenceWarning, match="after 2 epochs"):
        stopped = sd.LogisticRegression().set_callbacks(Listener(enough=3)).fit(X, y)
    assert not stopped.converged_ and stopped.n_iter_[0] == 2
