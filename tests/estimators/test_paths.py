"""Paths and cross-validation: warm starts in x and y, and scikit-learn's choices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut

import saddlery as sd

XR, YR = load_diabetes(return_X_y=True)
XR, YR = 20.0 * XR, YR / 50.0
X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = (X2 - X2.mean(axis=0)) / X2.std(axis=0)


def fitted(model, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args)


# ---- paths


@pytest.mark.parametrize("sparse", [False, True])
def test_a_lasso_path_is_scikit_learns(sparse):
    X = sp.csr_array(XR) if sparse else XR
    path = sd.regularization_path(sd.Lasso(), X, YR, n_values=20)
    assert path.parameter == "alpha" and path.coef.shape == (20, 10) and path.converged.all()
    alphas, coefs, _ = theirs.lasso_path(XR - XR.mean(axis=0), YR - YR.mean(), alphas=20, tol=1e-14, max_iter=10**6)
    np.testing.assert_allclose(path.values, alphas, rtol=1e-10)
    np.testing.assert_allclose(path.coef, coefs.T, atol=1e-7)
    assert not path.coef[0].any() or np.abs(path.coef[0]).max() < 1e-10
    assert all(certificate.relative_gap <= 1e-6 for certificate in path.certificates)
    assert "20 models" in repr(path)


MODELS = [
    sd.Ridge(),
    sd.ElasticNet(),
    sd.Lasso(positive=True),
    sd.HuberRegressor(),
    sd.LogisticRegression(l1_ratio=1.0),
    sd.LogisticRegression(),
    sd.LinearSVC(),
    sd.LinearSVC(penalty="l1"),
    sd.LinearSVR(loss="squared_epsilon_insensitive"),
    sd.RidgeClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_path_is_made_of_fits(model):
    X, y = (load_iris(return_X_y=True)) if "Class" in str(model) or "Logistic" in str(model) else (XR, YR)
    if "SVC" in str(model):
        X, y = X2[:, :6], Y2
    before = str(model.get_params())
    path = sd.regularization_path(model, X, y, n_values=4, eps=0.01)
    assert str(model.get_params()) == before and not hasattr(model, "coef_")
    rising = path.values if path.parameter == "C" else 1.0 / path.values
    assert (np.diff(rising) > 0.0).all() and path.values[-1] / path.values[0] == pytest.approx(
        100.0 if path.parameter == "C" else 0.01
    )
    for value, coef, certificate in zip(path.values, path.coef, path.certificates, strict=True):
        alone = type(model)(**{**model.get_params(), path.parameter: value}).fit(X, y)
        np.testing.assert_allclose(coef, alone.coef_, atol=1e-5 * max(np.abs(alone.coef_).max(), 1e-3))
        assert certificate.primal == pytest.approx(alone.certificate_.primal, rel=1e-6)
    if "l1" in str(model):
        assert np.abs(path.coef[0]).max() < 1e-8, "the first penalty leaves nothing"


def test_warm_starts_along_a_path_save_epochs():
    X, y = np.tile(X2, (8, 1)), np.tile(Y2, 8)
    model = sd.LogisticRegression(solver="adasdca+")
    path = sd.regularization_path(model, X, y, values=np.geomspace(0.01, 1.0, 8))
    cold = [model.set_params(C=C).fit(X, y).n_iter_[0] for C in path.values]
    assert path.epochs[1:].sum() < sum(cold[1:])


def test_a_path_refuses():
    with pytest.raises(TypeError, match="an estimator of saddlery's with alpha or C"):
        sd.regularization_path(theirs.Lasso(), XR, YR)
    with pytest.raises(ValueError, match="values must be"):
        sd.regularization_path(sd.Lasso(), XR, YR, values=[-1.0])
    with pytest.raises(ValueError, match="n_values"):
        sd.regularization_path(sd.Lasso(), XR, YR, n_values=0)
    with pytest.warns(ConvergenceWarning, match="The path of LogisticRegression did not converge"):
        sd.regularization_path(sd.LogisticRegression(solver="sdca", max_iter=1, tol=1e-12), X2, Y2, n_values=3)


# ---- cross-validation


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.5, [0.2, 0.95]])
def test_lasso_cv_chooses_as_scikit_learn_does(ratio, weighted):
    weights = np.linspace(0.2, 2.0, YR.size) if weighted else None
    names = {"alphas": 15, "cv": 4}
    mine = sd.LassoCV(**names) if ratio == 1.0 else sd.ElasticNetCV(**names, l1_ratio=ratio)
    his = (
        theirs.LassoCV(**names, tol=1e-12) if ratio == 1.0 else theirs.ElasticNetCV(**names, l1_ratio=ratio, tol=1e-12)
    )
    mine.set_params(tol=1e-10).fit(XR, YR, weights)
    fitted(his.set_params(max_iter=10**6), XR, YR, weights)
    np.testing.assert_allclose(mine.alphas_, his.alphas_, rtol=1e-9)
    np.testing.assert_allclose(mine.mse_path_, his.mse_path_, rtol=1e-6)
    assert mine.alpha_ == pytest.approx(his.alpha_) and getattr(his, "l1_ratio_", 1.0) == mine.l1_ratio_
    np.testing.assert_allclose(mine.coef_, his.coef_, atol=1e-6)
    assert mine.converged_ and mine.certify(XR, YR, weights).relative_gap < 1e-9


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_cv_leaves_one_out_as_if_it_fitted(shape, weighted, sparse):
    X, y = make_regression(*shape, noise=10.0, bias=30.0, random_state=0)
    X[:, 0] += 50.0
    weights = np.linspace(0.2, 2.0, y.size) if weighted else None
    alphas = [0.01, 1.0, 100.0, 1e4]
    mine = sd.RidgeCV(alphas, store_cv_results=True).fit(sp.csr_array(X) if sparse else X, y, weights)
    errors = np.zeros((y.size, len(alphas)))
    for train, test in LeaveOneOut().split(X):
        for k, alpha in enumerate(alphas):
            left = theirs.Ridge(alpha, solver="cholesky")
            left.fit(X[train], y[train], None if weights is None else weights[train])
            errors[test, k] = (left.predict(X[test]) - y[test]) ** 2
    expected = errors if weights is None else weights[:, None] * errors
    np.testing.assert_allclose(mine.cv_results_, expected, rtol=1e-6, atol=1e-10 * expected.max())
    his = theirs.RidgeCV(alphas).fit(X, y, weights)
    assert mine.alpha_ == his.alpha_ and mine.best_score_ == pytest.approx(his.best_score_, rel=1e-6)
    np.testing.assert_allclose(mine.coef_, his.coef_, rtol=1e-6, atol=1e-9)


def test_ridge_cv_in_folds_and_by_target():
    Y = np.column_stack([YR, -(YR**2), np.sin(YR)])
    alphas = (0.1, 1.0, 30.0)
    mine = sd.RidgeCV(alphas, alpha_per_target=True).fit(XR, Y)
    his = theirs.RidgeCV(alphas, alpha_per_target=True).fit(XR, Y)
    np.testing.assert_array_equal(mine.alpha_, his.alpha_)
    np.testing.assert_allclose(mine.coef_, his.coef_, rtol=1e-7)
    for scoring in (None, "neg_mean_absolute_error"):
        mine = sd.RidgeCV(alphas, cv=3, scoring=scoring).fit(XR, Y)
        search = GridSearchCV(theirs.Ridge(), {"alpha": alphas}, cv=3, scoring=scoring).fit(XR, Y)
        assert mine.alpha_ == search.best_params_["alpha"] and mine.best_score_ == pytest.approx(search.best_score_)
        mine = sd.RidgeCV(alphas, scoring=scoring).fit(XR, YR)
        assert mine.alpha_ == theirs.RidgeCV(alphas, scoring=scoring).fit(XR, YR).alpha_


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("ratios", [(0.0,), (0.2, 0.9)])
@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_cv_chooses_as_scikit_learn_does(classes, ratios, legacy):
    X, y = (X2[:, :6], Y2) if classes == 2 else load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # or his saga does not get there
    options = {"Cs": [0.1, 0.3, 3.0], "cv": 3, "scoring": "neg_log_loss", "l1_ratios": ratios}
    mine = sd.LogisticRegressionCV(**options, use_legacy_attributes=legacy).fit(X, y)
    his = theirs.LogisticRegressionCV(
        **options, solver="saga" if ratios[-1] else "newton-cholesky", max_iter=20_000, tol=1e-9
    )
    if "use_legacy_attributes" in his.get_params():
        his.set_params(use_legacy_attributes=legacy)
    elif not legacy:
        pytest.skip("scikit-learn before 1.8")
    fitted(his, X, y)
    np.testing.assert_allclose(mine.coef_, his.coef_, atol=2e-4 if ratios[-1] else 1e-5)
    for name in ("C_", "l1_ratio_", "Cs_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(his, name))
    assert np.shape(mine.n_iter_) == np.shape(his.n_iter_)
    if legacy:
        assert list(mine.scores_) == list(his.scores_)
        for label in his.scores_:
            np.testing.assert_allclose(mine.scores_[label], his.scores_[label], rtol=5e-3)
            assert mine.coefs_paths_[label].shape == his.coefs_paths_[label].shape
            np.testing.assert_allclose(mine.coefs_paths_[label], his.coefs_paths_[label], atol=1e-2)
    else:
        np.testing.assert_allclose(mine.scores_, his.scores_, rtol=5e-3)
        assert mine.coefs_paths_.shape == his.coefs_paths_.shape
    assert mine.score(X, y) == pytest.approx(his.score(X, y), rel=1e-3)


def test_logistic_regression_cv_without_a_last_fit_says_how_far_the_mean_is_from_the_best():
    mine = sd.LogisticRegressionCV(Cs=3, cv=3, refit=False).fit(X2, Y2)
    assert not mine.converged_ and mine.certificate_.gap > 0.0
    best = sd.LogisticRegression(C=float(mine.C_[0])).fit(X2, Y2)
    assert mine.certificate_.primal - mine.certificate_.gap <= best.certificate_.primal <= mine.certificate_.primal


def test_folds_at_the_same_time_give_the_same():
    one, two = (sd.LassoCV(alphas=8, cv=4, n_jobs=jobs).fit(XR, YR) for jobs in (None, 2))
    np.testing.assert_array_equal(one.mse_path_, two.mse_path_)
    one, two = (sd.LogisticRegressionCV(Cs=3, cv=3, n_jobs=jobs).fit(X2, Y2) for jobs in (None, 2))
    np.testing.assert_array_equal(one.scores_[1], two.scores_[1])
    X, y = load_iris(return_X_y=True)
    one, two = (sd.LogisticRegression(multi_class="ovr", n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_folds_that_lack_a_class():
    X, y = load_iris(return_X_y=True)
    three = KFold(3)  # the labels are sorted: in every fold one class is not to be had
    mine = sd.LogisticRegressionCV(Cs=3, cv=three).fit(X, y)
    assert mine.scores_[0].max() == 0.0 and mine.converged_
    told = sd.LogisticRegressionCV(Cs=3, cv=three, scoring="neg_log_loss").fit(X, y)
    assert np.isfinite(told.scores_[0]).all()
    with pytest.raises(ValueError, match="rows of one class only"):
        sd.LogisticRegressionCV(Cs=3, cv=KFold(2)).fit(X[:100], y[:100])


def test_targets_that_are_all_alike():
    mine = sd.LassoCV(alphas=3).fit(XR[:20], np.full(20, 5.0))
    np.testing.assert_allclose(mine.predict(XR[:20]), 5.0)
    assert mine.alphas_.max() < 1e-10
