"""From our estimators to scikit-learn's: the same coefficients in an estimator that other tools know."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import sklearn.linear_model
import sklearn.svm
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

THEIRS = {
    "ElasticNet": sklearn.linear_model.ElasticNet,
    "ElasticNetCV": sklearn.linear_model.ElasticNet,
    "HuberRegressor": sklearn.linear_model.HuberRegressor,
    "Lasso": sklearn.linear_model.Lasso,
    "LassoCV": sklearn.linear_model.Lasso,
    "LinearSVC": sklearn.svm.LinearSVC,
    "LinearSVR": sklearn.svm.LinearSVR,
    "LogisticRegression": sklearn.linear_model.LogisticRegression,
    "LogisticRegressionCV": sklearn.linear_model.LogisticRegression,
    "Ridge": sklearn.linear_model.Ridge,
    "RidgeCV": sklearn.linear_model.Ridge,
    "RidgeClassifier": sklearn.linear_model.RidgeClassifier,
}
FITTED = ("coef_", "intercept_", "n_iter_", "n_features_in_", "feature_names_in_", "scale_", "outliers_", "dual_gap_")
CHOSEN = ("alpha_", "C_", "l1_ratio_")  # by cross-validation: parameters of what is made
OURS = ("solver", "tol", "max_iter", "max_time", "verbose")  # mean something else there, or nothing


def translated(model: Any) -> Any:
    """scikit-learn's fitted estimator with these coefficients."""
    name = type(model).__name__
    if name == "LinearSVC" and model.loss == "smooth_hinge":
        raise ValueError("scikit-learn has no smooth hinge; with loss='squared_hinge' or 'hinge' there is a LinearSVC")
    if getattr(model, "multi_class", None) == "ovr" and name.startswith("Logistic") and model.classes_.size > 2:
        return _one_vs_rest(model)
    made = _bare(model)
    for attribute in FITTED:
        if hasattr(model, attribute):
            setattr(made, attribute, getattr(model, attribute))
    if hasattr(model, "classes_"):
        if name == "RidgeClassifier":
            made._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(model.classes_)
        _with_classes(made, model.classes_)
    return made


def _with_classes(made: Any, classes: Any) -> None:
    """Give it its classes; in some versions of scikit-learn some estimators read them off their binarizer."""
    if not isinstance(inspect.getattr_static(type(made), "classes_", None), property):
        made.classes_ = classes


def _bare(model: Any) -> Any:
    """Not fitted, with the parameters that mean the same."""
    theirs = THEIRS[type(model).__name__]
    known = inspect.signature(theirs.__init__).parameters
    given = {key: value for key, value in model.get_params(deep=False).items() if key in known and key not in OURS}
    for attribute in CHOSEN:
        key = attribute.rstrip("_")
        if key in known and hasattr(model, attribute):
            chosen = getattr(model, attribute)
            given[key] = float(np.asarray(chosen).reshape(-1)[0]) if np.size(chosen) else chosen
    if given.get("penalty", "") in ("deprecated", None):
        del given["penalty"]
    return theirs(**given)


def _one_vs_rest(model: Any) -> Any:
    """One logistic regression for each class, as scikit-learn has them since there is no multi_class."""
    made = OneVsRestClassifier(_bare(model))
    made.estimators_ = []
    for k in range(model.classes_.size):
        one = _bare(model)
        coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_)
        one.coef_, one.intercept_ = coef[k : k + 1], np.asarray(model.intercept_)[k : k + 1]
        one.classes_, one.n_features_in_ = np.array([0, 1]), model.n_features_in_
        made.estimators_.append(one)
    made.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
    _with_classes(made, model.classes_)
    made.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        made.feature_names_in_ = model.feature_names_in_
    return made
