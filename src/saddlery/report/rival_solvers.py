"""Which solvers of other libraries can solve this very problem, and how is each told of it?

    P(x) = (1/n) sum_i c_i f(<a_i, x> + x0, b_i) + g(x)

A rival minimises the same P, up to a constant factor that goes into its parameters: C = 1 / (n lam), alpha = n lam, and
so on; a test holds each of them against our certificate. Solvers that penalise the intercept (liblinear) or have none
are left out where there is one.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from saddlery.data.placed import Placed
from saddlery.problem import Problem
from saddlery.report.rivals import Rival
from saddlery.terms._sums import Single
from saddlery.terms.absolute import Absolute
from saddlery.terms.elastic_net import L1L2
from saddlery.terms.epsilon_insensitive import EpsilonInsensitive
from saddlery.terms.hinge import Hinge
from saddlery.terms.l1 import L1
from saddlery.terms.l2 import L2
from saddlery.terms.logistic import Logistic
from saddlery.terms.non_negative import NonNegative
from saddlery.terms.smooth_hinge import SmoothHinge
from saddlery.terms.softmax import Softmax
from saddlery.terms.squared import Squared
from saddlery.terms.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from saddlery.terms.squared_hinge import SquaredHinge

TINY = 1e-15  # tolerance of a rival: its iterations end it, not this
WORK = 2e10  # multiplications, a second or ten, that a rival may spend on what cannot be cut short


def rivals(problem: Problem) -> list[Rival]:
    """The installed rivals that can solve this problem."""
    plain = isinstance(problem.coupling.blocks, Single) or isinstance(problem.f, Softmax)
    if not plain or isinstance(problem.coupling.rows.view, Placed):
        return []
    weighted = bool((problem.c != 1.0).any())
    return [rival for rival in _candidates(problem) if rival.weighted or not weighted]


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _candidates(problem: Problem) -> Iterator[Rival]:
    """By loss and penalty."""
    f, g = problem.f, problem.g
    if isinstance(f, (Logistic, Softmax)) and isinstance(g, (L1, L2, L1L2)):
        yield from _logistic(problem)
    elif isinstance(f, Squared) and isinstance(g, L2) and g.lam > 0.0:
        yield from _ridge(problem)
    elif isinstance(f, Squared) and isinstance(g, (L1, L1L2)):
        yield from _lasso(problem)
    elif isinstance(f, Squared) and isinstance(g, NonNegative):
        yield from _nonnegative(problem)
    elif isinstance(g, (L1, L2)) and not problem.intercept:
        yield from _liblinear(problem)
    if isinstance(g, L2) and g.lam > 0.0 and not problem.intercept and _installed("lightning"):
        yield from _lightning(problem)


def _bearable(problem: Problem) -> bool:
    """Is a matrix of d x d made and factored in a bearable time?"""
    d = float(problem.d)
    return problem.n * d * min(problem.n, d) + d**3 <= WORK


def _parts(g: Any) -> tuple[float, float]:
    """Weights of |x|_1 and of |x|^2 / 2."""
    return float(getattr(g, "l1", 0.0)), float(getattr(g, "lam", getattr(g, "l2", 0.0)))


def _regression(l1: float, l2: float, penalty: str) -> dict[str, Any]:
    """How this version of scikit-learn's LogisticRegression is told of the penalty."""
    from sklearn.linear_model import LogisticRegression

    told: dict[str, Any] = {"l1_ratio": l1 / (l1 + l2)}
    if inspect.signature(LogisticRegression).parameters["penalty"].default != "deprecated":
        told = {"penalty": penalty, **(told if penalty == "elasticnet" else {})}
    return told


def _logistic(problem: Problem) -> Iterator[Rival]:
    from sklearn.linear_model import LogisticRegression

    l1, l2 = _parts(problem.g)
    total, n, bias = l1 + l2, problem.n, problem.intercept
    if total == 0.0 or (isinstance(problem.f, Softmax) and problem.q < 3):
        return
    if isinstance(problem.f, Softmax) and np.unique(problem.b).size < problem.q:
        return
    penalty = "l2" if l1 == 0.0 else "l1" if l2 == 0.0 else "elasticnet"
    told = _regression(l1, l2, penalty) | {"C": 1.0 / (n * total), "fit_intercept": bias, "random_state": 0}

    def solver(name: str, **more: Any) -> Callable[[int], Any]:
        return lambda budget: LogisticRegression(solver=name, max_iter=budget, tol=TINY, **told, **more)

    names = {"l2": ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga")}.get(penalty, ("saga",))
    for name in names:
        if name != "newton-cholesky" or _bearable(problem):
            passes = 1.0 if name in ("sag", "saga") else None
            yield Rival(f"scikit-learn {name}", "scikit-learn", solver(name), passes=passes)
    if problem.q == 1 and not bias and penalty != "elasticnet":
        yield Rival("scikit-learn liblinear", "scikit-learn", solver("liblinear"))
        if penalty == "l2":
            yield Rival("scikit-learn liblinear, dual", "scikit-learn", solver("liblinear", dual=True))
    if problem.q == 1 and penalty == "l1":
        yield from _sparse_logistic(problem, l1)


def _sparse_logistic(problem: Problem, l1: float) -> Iterator[Rival]:
    bias = problem.intercept
    if _installed("skglm"):
        from skglm import SparseLogisticRegression

        yield Rival(
            "skglm SparseLogisticRegression",
            "skglm",
            lambda budget: SparseLogisticRegression(alpha=l1, max_iter=budget, tol=TINY, fit_intercept=bias),
            weighted=False,
        )
    if _installed("celer") and not bias:
        from celer import LogisticRegression

        C = 1.0 / (problem.n * l1)
        yield Rival(
            "celer LogisticRegression",
            "celer",
            lambda budget: LogisticRegression(C=C, max_iter=budget, tol=TINY),
            weighted=False,
        )


def _ridge(problem: Problem) -> Iterator[Rival]:
    from sklearn.linear_model import Ridge

    alpha, bias = problem.n * float(problem.g.lam), problem.intercept
    sparse = not isinstance(problem.coupling.rows.matrix(), np.ndarray)

    def solver(name: str) -> Callable[[int], Any]:
        return lambda budget: Ridge(
            alpha=alpha, fit_intercept=bias, solver=name, max_iter=budget, tol=TINY, random_state=0
        )

    for name in ("cholesky", "svd", "sparse_cg", "lsqr", "sag", "saga"):
        direct = name in ("cholesky", "svd")
        # with sparse rows and an intercept scikit-learn has sparse_cg, lsqr and sag; svd needs dense rows
        refused = sparse and (name == "svd" or (bias and name in ("cholesky", "saga")))
        if not refused and (not direct or _bearable(problem)):
            passes = 1.0 if name in ("sag", "saga") else None
            yield Rival(f"scikit-learn {name}", "scikit-learn", solver(name), direct=direct, passes=passes)


def _lasso(problem: Problem) -> Iterator[Rival]:
    from sklearn.linear_model import ElasticNet

    l1, l2 = _parts(problem.g)
    if l1 == 0.0:
        return
    told = {"alpha": l1 + l2, "l1_ratio": l1 / (l1 + l2), "fit_intercept": problem.intercept, "tol": TINY}
    name = "Lasso" if l2 == 0.0 else "ElasticNet"
    yield Rival(f"scikit-learn {name}", "scikit-learn", lambda budget: ElasticNet(max_iter=budget, **told), passes=1.0)
    if _installed("skglm"):
        from skglm import ElasticNet as Other

        yield Rival(f"skglm {name}", "skglm", lambda budget: Other(max_iter=budget, **told), weighted=False)
    if _installed("celer"):
        from celer import ElasticNet as Third

        yield Rival(f"celer {name}", "celer", lambda budget: Third(max_iter=budget, **told), weighted=False)


def _nonnegative(problem: Problem) -> Iterator[Rival]:
    from sklearn.linear_model import ElasticNet, LinearRegression, Ridge

    l1, lam = _parts(problem.g)
    bias = problem.intercept
    if l1 > 0.0:
        told = {"alpha": l1 + lam, "l1_ratio": l1 / (l1 + lam), "positive": True, "fit_intercept": bias, "tol": TINY}
        solver = _by_iterations(partial(ElasticNet, **told))
        yield Rival("scikit-learn ElasticNet, positive", "scikit-learn", solver, passes=1.0)
    elif lam > 0.0:
        told = {"alpha": problem.n * lam, "positive": True, "fit_intercept": bias, "tol": TINY}
        yield Rival("scikit-learn Ridge, positive", "scikit-learn", lambda budget: Ridge(max_iter=budget, **told))
    else:
        name = "scikit-learn LinearRegression, positive"
        yield Rival(name, "scikit-learn", lambda _: LinearRegression(positive=True, fit_intercept=bias), direct=True)


def _liblinear(problem: Problem) -> Iterator[Rival]:
    """It would penalise an intercept. Its squared losses are without the half of ours."""
    from sklearn.svm import LinearSVC, LinearSVR

    l1, l2 = _parts(problem.g)
    f, penalty = problem.f, "l1" if l1 > 0.0 else "l2"
    if l1 + l2 == 0.0:
        return
    C, both = 1.0 / (problem.n * (l1 + l2)), (True, False)
    # loss: its name there, the factor of C, forms (dual, or not) that there are; and of its epsilon
    known: dict[type, tuple[str, float, tuple[bool, ...]]] = {
        SquaredHinge: ("squared_hinge", 0.5, both if l1 == 0.0 else (False,)),
        Hinge: ("hinge", 1.0, (True,)),
        Absolute: ("epsilon_insensitive", 1.0, (True,)),
        EpsilonInsensitive: ("epsilon_insensitive", 1.0, (True,)),
        SquaredEpsilonInsensitive: ("squared_epsilon_insensitive", 0.5, both),
    }
    if type(f) not in known or (penalty == "l1" and not isinstance(f, SquaredHinge)):
        return
    loss, factor, forms = known[type(f)]
    told = {"C": factor * C, "loss": loss, "fit_intercept": False, "tol": TINY, "random_state": 0}
    real = loss.endswith("insensitive")
    told |= {"epsilon": float(getattr(f, "epsilon", 0.0))} if real else {"penalty": penalty}
    for dual in forms:
        solver = _by_iterations(partial(LinearSVR if real else LinearSVC, dual=dual, **told))
        yield Rival(f"scikit-learn liblinear, {'dual' if dual else 'primal'}", "scikit-learn", solver)


def _by_iterations(solver: Callable[..., Any]) -> Callable[[int], Any]:
    return lambda budget: solver(max_iter=budget)


def _lightning(problem: Problem) -> Iterator[Rival]:
    """Its squared hinge has no half."""
    from lightning import classification, regression

    f, lam = problem.f, float(problem.g.lam)
    doubled = 2.0 if isinstance(f, SquaredHinge) else 1.0
    loss = {Logistic: "log", SmoothHinge: "smooth_hinge", SquaredHinge: "squared_hinge", Squared: "squared"}.get(
        type(f)
    )
    if loss is None or problem.q > 1:
        return
    more = {"gamma": float(f.gamma)} if isinstance(f, SmoothHinge) else {}
    told = {"alpha": doubled * lam, "loss": loss, "tol": 0.0, "random_state": 0} | more
    real = loss == "squared"
    made = {"saga": regression.SAGARegressor if real else classification.SAGAClassifier}
    if loss != "log":
        made["sdca"] = regression.SDCARegressor if real else classification.SDCAClassifier
    for name, solver in made.items():
        make = _by_iterations(partial(solver, **told))
        yield Rival(f"lightning {name}", "lightning", make, passes=1.0, weighted=False)
