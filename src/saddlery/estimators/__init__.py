"""scikit-learn's linear models, solved by primal-dual methods: the same names and parameters, and a certificate."""

from __future__ import annotations

from saddlery.estimators._saved import load
from saddlery.estimators.lasso import ElasticNet, Lasso
from saddlery.estimators.logistic import LogisticRegression
from saddlery.estimators.ridge import Ridge, RidgeClassifier
from saddlery.estimators.svm import LinearSVC, LinearSVR

MODELS = {
    made.__name__: made
    for made in (
        ElasticNet,
        Lasso,
        LinearSVC,
        LinearSVR,
        LogisticRegression,
        Ridge,
        RidgeClassifier,
    )
}

__all__ = ["MODELS", "load", *MODELS]
