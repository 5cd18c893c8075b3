"""scikit-learn's linear models, solved by primal-dual methods: the same names and parameters, and a certificate."""

from __future__ import annotations

from saddlery.estimators._saved import load as load
from saddlery.estimators.huber import HuberRegressor as HuberRegressor
from saddlery.estimators.lasso import ElasticNet as ElasticNet
from saddlery.estimators.lasso import Lasso as Lasso
from saddlery.estimators.lasso_cv import ElasticNetCV as ElasticNetCV
from saddlery.estimators.lasso_cv import LassoCV as LassoCV
from saddlery.estimators.logistic import LogisticRegression as LogisticRegression
from saddlery.estimators.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from saddlery.estimators.path import Path as Path
from saddlery.estimators.path import regularization_path as regularization_path
from saddlery.estimators.ridge import Ridge as Ridge
from saddlery.estimators.ridge import RidgeClassifier as RidgeClassifier
from saddlery.estimators.ridge_cv import RidgeCV as RidgeCV
from saddlery.estimators.svm import LinearSVC as LinearSVC
from saddlery.estimators.svm import LinearSVR as LinearSVR

MODELS = {
    made.__name__: made
    for made in (
        ElasticNet,
        ElasticNetCV,
        HuberRegressor,
        Lasso,
        LassoCV,
        LinearSVC,
        LinearSVR,
        LogisticRegression,
        LogisticRegressionCV,
        Ridge,
        RidgeCV,
        RidgeClassifier,
    )
}
