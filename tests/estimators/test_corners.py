"""Corners that were once wrong: each with the data that showed it."""

from __future__ import annotations

import os
import signal
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, PredefinedSplit

import saddlery as sd


def huber_objective(model, X, y, epsilon=1.35, weights=None, scale=None):
    scale = model.scale_ if scale is None else scale
    t = np.abs(X @ model.coef_ + model.intercept_ - y) / scale
    losses = np.where(t <= epsilon, t * t, 2.0 * epsilon * t - epsilon**2)
    return scale * float(np.average(1.0 + losses, weights=weights))


@pytest.mark.parametrize("seed", range(40))
def test_huber_without_a_penalty_is_bounded_in_coefficients_and_scale_together(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + rng.standard_t(1.5, n)
    weights = [None, rng.integers(0, 4, n).astype(float), np.exp(rng.standard_normal(n))][seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a few rows most of which are outliers no bound may be found
        free = sd.HuberRegressor(alpha=0.0, tol=[1e-6, 1e-2][seed % 2]).fit(X, y, weights)
        other = sd.HuberRegressor(alpha=1e-11).fit(X, y, weights)
    best = huber_objective(other, X, y, weights=weights)
    mine = huber_objective(free, X, y, weights=weights)
    assert free.converged_ == (free.certificate_.relative_gap <= free.tol) and (free.converged_ or n < 15)
    assert mine - best <= free.certificate_.gap + 1e-9 * best
    free.scale_ *= 0.8  # not the best any more
    worse = free.certify(X, y, weights)
    assert huber_objective(free, X, y, weights=weights) - best <= worse.gap + 1e-9 * best


@pytest.mark.parametrize("labels", [np.zeros(20), np.full(20, 7.0), np.arange(20.0)], ids=["zeros", "sevens", "line"])
def test_huber_of_a_perfect_fit(labels):
    X = np.column_stack([np.arange(20.0), np.cos(np.arange(20.0))])
    model = sd.HuberRegressor().fit(X, labels)
    assert model.converged_ and np.abs(model.predict(X) - labels).max() < 1e-4


@pytest.mark.parametrize("case", ["twins", "rank 5", "one-hot", "constant", "weights of 0", "tall, weights of 0"])
def test_leaving_one_out_of_data_of_any_rank(case):
    rng = np.random.default_rng(1)
    X, weights = rng.standard_normal((20, 40)), np.ones(20)
    if case == "twins":
        X[1] = X[0]
    elif case == "rank 5":
        X = rng.standard_normal((20, 5)) @ rng.standard_normal((5, 40))
    elif case == "one-hot":
        X = np.eye(20)
    elif case == "constant":
        X = np.ones((20, 40))
    else:
        X = X[:, :8] if "tall" in case else X
        weights = rng.integers(0, 3, 20).astype(float)
    y, alphas = X[:, :5] @ rng.standard_normal(5) + rng.standard_normal(20), [0.1, 1.0, 10.0]
    mine = sd.RidgeCV(alphas, store_cv_results=True).fit(X, y, weights)
    expected = np.zeros((20, 3))
    for i in np.flatnonzero(weights):
        kept = np.arange(20) != i
        for k, alpha in enumerate(alphas):
            left = theirs.Ridge(alpha).fit(X[kept], y[kept], weights[kept])
            expected[i, k] = weights[i] * (left.predict(X[i : i + 1])[0] - y[i]) ** 2
    np.testing.assert_allclose(mine.cv_results_, expected, rtol=1e-7, atol=1e-10 * expected.max())
    means = expected.mean(axis=0)
    assert means[alphas.index(mine.alpha_)] <= means.min() * (1.0 + 1e-9)


def test_ridge_cv_weighs_the_scores_of_folds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    y, times, fold = X[:, 0] + 2.0 * rng.standard_normal(30), rng.integers(0, 4, 30), np.arange(30) % 3
    again = np.repeat(np.arange(30), times)
    alphas = np.geomspace(0.1, 1000.0, 15)
    one = sd.RidgeCV(alphas, cv=PredefinedSplit(fold)).fit(X, y, times)
    two = sd.RidgeCV(alphas, cv=PredefinedSplit(fold[again])).fit(X[again], y[again])
    assert one.alpha_ == two.alpha_ and one.best_score_ == pytest.approx(two.best_score_)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "model",
    [sd.LogisticRegression(), sd.LogisticRegression(multi_class="ovr"), sd.LinearSVC(), sd.RidgeClassifier()],
    ids=lambda model: str(model).replace(" ", ""),
)
def test_a_class_whose_rows_all_weigh_nothing(model, intercept):
    X, y = load_iris(return_X_y=True)
    weights = (y != 2).astype(float)
    model = model.set_params(fit_intercept=intercept).fit(X, y, weights)
    assert model.converged_ and model.coef_.shape == (3, 4)
    rest = type(model)(**model.get_params()).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.predict(X[:100]), rest.predict(X[:100]))
    assert model.certify(X, y, weights).primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    if isinstance(model, sd.LogisticRegression) and not intercept and model.multi_class == "auto":
        z = X @ model.coef_.T  # the objective of all three classes, as it is written
        losses = np.logaddexp.reduce(z, axis=1) - z[np.arange(150), y]
        objective = np.average(losses, weights=weights) + (model.coef_**2).sum() / 2.0 / weights.sum()
        assert objective == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_single_precision_is_not_called_converged_where_its_rounding_is_more_than_tol():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((50, 5)) + 3e4).astype(np.float32)
    y = (X - 3e4) @ rng.standard_normal(5) + rng.standard_normal(50)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = sd.LinearSVR(tol=1e-9).fit(X, y)
    assert model.converged_ == (model.certificate_.relative_gap <= 1e-9)
    assert model.converged_ == (not any(issubclass(each.category, ConvergenceWarning) for each in said))


@pytest.mark.parametrize(("rows", "columns", "seed"), [(3, 12, 0), (3, 12, 1), (5, 40, 2), (8, 60, 3)])
def test_a_lasso_of_few_rows_is_one_step_of_newton(rows, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    y = 1e3 * X @ rng.standard_normal(columns)
    model = sd.Lasso(0.01, fit_intercept=False).fit(X, y)
    assert model.converged_ and model.n_iter_ < 30
    assert np.count_nonzero(model.coef_) <= rows


def test_ctrl_c_ends_a_search_and_keeps_a_fit():
    X, y = load_breast_cancer(return_X_y=True)
    slow = sd.LogisticRegression(solver="sdca", max_iter=10**7, tol=0.0, C=1e6, max_time=20.0)
    search = GridSearchCV(slow, {"C": [1e5, 1e6, 1e7]}, cv=3)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        slow.fit(X, y)
    assert slow.certificate_.gap < np.inf and slow.coef_.shape == (1, 30)


def test_histories_are_tables():
    X, y = load_breast_cancer(return_X_y=True)
    model = sd.LogisticRegression().fit(X, y)
    frame = pd.DataFrame(model.history_)
    assert frame.columns[0] == "epoch" and len(frame) == len(model.history_["gap"]) > 3
    with pytest.raises(KeyError, match="no column 'loss'"):
        model.history_["loss"]


def test_a_sparsified_model_becomes_scikit_learns():
    X, y = load_iris(return_X_y=True)
    model = sd.LogisticRegression(multi_class="ovr", l1_ratio=1.0).fit(X, y)
    expected = model.predict(X)
    his = model.sparsify().to_sklearn()
    np.testing.assert_array_equal(his.predict(X), expected)
    assert sp.issparse(model.coef_) and model.certify(X, y).relative_gap <= 1e-6
