"""Primal-dual solvers for saddle points. Every answer carries a certificate: a bound on its distance from the best.

>>> import saddlery as sd
>>> problem = sd.ERM(X, b, sd.Logistic(), sd.L2(1e-3))  # doctest: +SKIP
>>> result = sd.solve(problem, tol=1e-8)  # doctest: +SKIP
>>> result.certificate.gap  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are loaded when first used, so that `import saddlery` is quick. Terms are found by looking in their folder.
_HOME = {
    "ERM": "problem",
    "SeparableSaddle": "problem",
    "Problem": "problem",
    "Certificate": "certificate",
    "Result": "result",
    "Status": "result",
    "History": "result",
    "State": "algorithms",
    "solve": "loop",
    "method": "algorithms",
    "methods": "algorithms",
    "Replay": "sampling",
    "Uniform": "sampling",
    "Permutation": "sampling",
    "Weighted": "sampling",
    "Adaptive": "sampling",
    "read_svmlight": "data.svmlight",
    "write_svmlight": "data.svmlight",
    "load_dataset": "data.fetch",
    "datasets": "data.fetch",
    "ElasticNet": "estimators",
    "ElasticNetCV": "estimators",
    "HuberRegressor": "estimators",
    "Lasso": "estimators",
    "LassoCV": "estimators",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "LogisticRegression": "estimators",
    "LogisticRegressionCV": "estimators",
    "Ridge": "estimators",
    "RidgeCV": "estimators",
    "RidgeClassifier": "estimators",
    "load": "estimators",
    "regularization_path": "estimators",
    "synthetic": "data",
}
_TERMS = (
    "Absolute",
    "Box",
    "EpsilonInsensitive",
    "GroupL2",
    "Hinge",
    "Huber",
    "L1",
    "L1L2",
    "L2",
    "Logistic",
    "NonNegative",
    "SmoothHinge",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Zero",
)

__all__ = ["__version__", *sorted([*_HOME, *_TERMS])]

if TYPE_CHECKING:
    from saddlery.algorithms import State as State
    from saddlery.algorithms import method as method
    from saddlery.algorithms import methods as methods
    from saddlery.certificate import Certificate as Certificate
    from saddlery.data import synthetic as synthetic
    from saddlery.data.fetch import datasets as datasets
    from saddlery.data.fetch import load_dataset as load_dataset
    from saddlery.data.svmlight import read_svmlight as read_svmlight
    from saddlery.data.svmlight import write_svmlight as write_svmlight
    from saddlery.estimators import ElasticNet as ElasticNet
    from saddlery.estimators import ElasticNetCV as ElasticNetCV
    from saddlery.estimators import HuberRegressor as HuberRegressor
    from saddlery.estimators import Lasso as Lasso
    from saddlery.estimators import LassoCV as LassoCV
    from saddlery.estimators import LinearSVC as LinearSVC
    from saddlery.estimators import LinearSVR as LinearSVR
    from saddlery.estimators import LogisticRegression as LogisticRegression
    from saddlery.estimators import LogisticRegressionCV as LogisticRegressionCV
    from saddlery.estimators import Ridge as Ridge
    from saddlery.estimators import RidgeClassifier as RidgeClassifier
    from saddlery.estimators import RidgeCV as RidgeCV
    from saddlery.estimators import load as load
    from saddlery.estimators import regularization_path as regularization_path
    from saddlery.loop import solve as solve
    from saddlery.problem import ERM as ERM
    from saddlery.problem import Problem as Problem
    from saddlery.problem import SeparableSaddle as SeparableSaddle
    from saddlery.result import History as History
    from saddlery.result import Result as Result
    from saddlery.result import Status as Status
    from saddlery.sampling import (
        Adaptive as Adaptive,
    )
    from saddlery.sampling import (
        Permutation as Permutation,
    )
    from saddlery.sampling import (
        Replay as Replay,
    )
    from saddlery.sampling import (
        Uniform as Uniform,
    )
    from saddlery.sampling import (
        Weighted as Weighted,
    )
    from saddlery.terms.absolute import Absolute as Absolute
    from saddlery.terms.box import Box as Box
    from saddlery.terms.elastic_net import L1L2 as L1L2
    from saddlery.terms.epsilon_insensitive import EpsilonInsensitive as EpsilonInsensitive
    from saddlery.terms.group import GroupL2 as GroupL2
    from saddlery.terms.hinge import Hinge as Hinge
    from saddlery.terms.huber import Huber as Huber
    from saddlery.terms.l1 import L1 as L1
    from saddlery.terms.l2 import L2 as L2
    from saddlery.terms.logistic import Logistic as Logistic
    from saddlery.terms.non_negative import NonNegative as NonNegative
    from saddlery.terms.smooth_hinge import SmoothHinge as SmoothHinge
    from saddlery.terms.softmax import Softmax as Softmax
    from saddlery.terms.squared import Squared as Squared
    from saddlery.terms.squared_epsilon_insensitive import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
    from saddlery.terms.squared_hinge import SquaredHinge as SquaredHinge
    from saddlery.terms.zero import Zero as Zero


def __getattr__(name: str) -> Any:
    if name == "synthetic":
        return importlib.import_module("saddlery.data.synthetic")
    if name in _HOME:
        value = getattr(importlib.import_module(f"saddlery.{_HOME[name]}"), name)
    else:
        if name.startswith("_"):
            raise AttributeError(f"module 'saddlery' has no attribute {name!r}")
        terms = importlib.import_module("saddlery.terms").TERMS
        if name not in terms:
            raise AttributeError(f"module 'saddlery' has no attribute {name!r}")
        value = terms[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
