"""Bounds without a penalty: never below the truth, and tight near the solution."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize as opt
import scipy.sparse as sp

import saddlery as sd

N, D = 200, 5
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D)) * np.exp(RNG.standard_normal(D))
Z = X @ RNG.standard_normal(D) / 2.0
MARGIN = np.sign(Z + 3.0 * RNG.standard_normal(N))
CASES = {
    "logistic": (sd.Logistic(), MARGIN),
    "squared hinge": (sd.SquaredHinge(), MARGIN),
    "smooth hinge": (sd.SmoothHinge(0.5), MARGIN),
    "huber": (sd.Huber(0.8), Z + RNG.standard_t(2, N)),
    "squared epsilon": (sd.SquaredEpsilonInsensitive(0.2), Z + RNG.standard_normal(N)),
    "softmax": (sd.Softmax(3), np.argmax(X[:, :3] + 4.0 * RNG.standard_normal((N, 3)), axis=1)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_true_bound_and_a_tight_one(name, sparse, intercept, weighted):
    f, b = CASES[name]
    c = RNG.integers(0, 3, N).astype(float) if weighted else None
    p = sd.ERM(sp.csr_array(X) if sparse else X, b, f, sd.Zero(), intercept=intercept, weights=c)
    nothing = np.zeros(int(np.prod(p.x_shape)))
    found = opt.minimize(lambda x: p.primal(x.reshape(p.x_shape)), nothing, method="BFGS", options={"gtol": 1e-9})
    best = sd.solve(p, "newton", tol=1e-13, max_epochs=60, every=1)
    assert best.status.ok and best.certificate.kind == "ball"
    assert best.certificate.dual <= found.fun + 1e-12  # another solver's value is above our lower bound
    near = 0
    for size in np.logspace(-6, 0, 25):
        x = best.x + size * RNG.standard_normal(best.x.shape)
        made = p.certificate(x, p.gradients(p.predictions(x)))
        off = made.primal - best.certificate.primal
        if math.isfinite(made.gap):
            assert made.gap >= off - 1e-14
            near += made.gap <= 3.0 * off + 1e-12
    assert near >= 3, "near the solution the bound is of the size of the truth"


def test_no_bound_where_there_is_no_solution_or_no_rank():
    separable = sd.ERM(X, np.sign(X[:, 0]), sd.Logistic(), sd.Zero())
    made = sd.solve(separable, "newton", tol=1e-12, max_epochs=25, every=1)
    assert made.certificate.kind != "ball"
    double = sd.ERM(np.hstack([X, X[:, :1]]), MARGIN, sd.Logistic(), sd.Zero())
    made = sd.solve(double, "newton", tol=1e-12, max_epochs=25, every=1)
    assert made.certificate.kind == "localised" and made.certificate.gap == math.inf


@pytest.mark.parametrize("method", ["ada-bpd", "ada-spdc", "ag", "saga"])
def test_stochastic_methods_are_stopped_by_it(method):
    p = sd.ERM(X / np.abs(X).max(axis=0), MARGIN, sd.Logistic(), sd.Zero(), intercept=True)
    options = {"adapt": "sharp"} if "ada" in method else {}
    found = sd.solve(p, sd.method(method, **options), tol=1e-8, max_epochs=20_000)
    assert found.status.ok and found.certificate.kind == "ball"
    best = sd.solve(p, "newton", tol=1e-13).certificate.primal
    assert found.certificate.primal - best <= found.certificate.gap
