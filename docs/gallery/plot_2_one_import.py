"""
Changing one import
===================

Logistic regression on the breast cancer data as they come: columns from 0.004 to 880 in size, nobody has scaled them.
scikit-learn's ``saga`` finds this hard, and so do most first-order methods. How hard, its warning does not say.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import saddlery as sd

X, y = load_breast_cancer(return_X_y=True)
print(f"columns: mean sizes from {abs(X).mean(axis=0).min():.3f} to {abs(X).mean(axis=0).max():.0f}")

# %%
# The same class, the same parameters, from another place. The first fit of a kind on a machine compiles some loops,
# which is not what we want to time.

sd.LogisticRegression(C=1.0).fit(X[::9], y[::9])

began = time.perf_counter()
ours = sd.LogisticRegression(C=1.0).fit(X, y)
took = time.perf_counter() - began
print(f"{took:.3f} s: {ours.certificate_}")

# %%
# Now scikit-learn's, with more and more iterations.


def timed(solver, iterations):
    """Seconds, and the fitted model."""
    model = LogisticRegression(C=1.0, solver=solver, max_iter=iterations, tol=1e-12, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = time.perf_counter()
        model.fit(X, y)
    return time.perf_counter() - began, model


counts = {
    "saga": (10, 100, 1_000, 10_000, 30_000),
    "lbfgs": (10, 30, 100, 300, 1_000, 3_000, 10_000),
    "newton-cholesky": (2, 4, 8, 16),
}
timed("newton-cholesky", 1)
runs = {solver: [timed(solver, count) for count in counts[solver]] for solver in counts}

# %%
# All of them minimise the same function, so that our problem can say how good each answer is. Its minimum is known: the
# certificate of our fit has no digits left to gain. (What is below 1e-16 is drawn there.)

n = X.shape[0]
problem = sd.ERM(X, np.where(y == 1, 1.0, -1.0), sd.Logistic(), sd.L2(1.0 / n), intercept=True)
minimum = ours.certificate_.primal


def error(model):
    """How far the objective of a fitted model is from its minimum."""
    return problem.primal(np.append(model.coef_[0], model.intercept_[0])) - minimum


figure, axes = plt.subplots()
for (solver, fits), mark in zip(runs.items(), "osD", strict=True):
    seconds, errors = [fit[0] for fit in fits], [max(error(fit[1]), 1e-16) for fit in fits]
    axes.loglog(seconds, errors, marker=mark, label=f"scikit-learn, {solver}")
axes.loglog([took], [max(ours.certificate_.gap, 1e-16)], "*", markersize=15, label="saddlery (its certified gap)")
axes.set(xlabel="seconds to fit", ylabel="distance from the minimum")
axes.set_title("The same model, the same data, another import")
axes.legend(loc="lower right")
plt.show()

# %%
# scikit-learn has a solver for such data, ``newton-cholesky``, and it is faster than ours, if you know that it is the
# one to take. What none of the three says is where on this picture its answer lies. A model of ours does, and can say
# it again later, from the data and its coefficients alone:

print(ours.certify(X, y))

# %%
# And what would ours have said, had it not converged? Not only that it did not, but how far it got, what it would take,
# and what to do.

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    sd.LogisticRegression(C=1.0, solver="adaspdc-balanced", max_iter=100).fit(X, y)
print(said[-1].message)
