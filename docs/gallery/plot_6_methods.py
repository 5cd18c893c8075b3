"""
Methods compared on one problem
===============================

All methods stand behind one ``solve``, work on one problem, and are measured by one certificate. That makes comparing
them a loop.

The problem is logistic regression on the breast cancer data with a small penalty: well scaled columns, but strongly
correlated ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import saddlery as sd

data = load_breast_cancer()
X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
b = np.where(data.target == 1, 1.0, -1.0)
problem = sd.ERM(X, b, sd.Logistic(), sd.L2(1e-4), intercept=True)

# %%
# ``tol=0`` stops on nothing but the budget, ``every=1`` looks in every epoch. Passes count the work of a method in
# passes over the data, whatever it is done for: power iterations and snapshots too.

names = ["adasdca+", "sdca", "adaspdc-balanced", "spdc", "katyusha", "saga", "bpd"]
results = {name: sd.solve(problem, name, tol=0.0, every=1, max_epochs=400) for name in names}

figure, axes = plt.subplots(figsize=(7.6, 4.8))
for (name, result), style in zip(results.items(), ["-", "--", "-", "--", "-", "--", "-"], strict=True):
    best = np.minimum.accumulate(result.history["gap"])
    axes.semilogy(result.history["passes"], np.maximum(best, 1e-16), style, label=name)
axes.set(xlim=(0, 400), ylim=(1e-12, 2), xlabel="passes over the data", ylabel="best gap so far")
axes.set_title("The gap of seven methods on one problem")
axes.legend(ncols=1, loc="upper left", bbox_to_anchor=(1.0, 1.0))
plt.show()

# %%
# Which one wins depends on the problem: here rows interact and the penalty is small, so that the primal-dual methods
# that accelerate overtake plain dual ascent (``sdca``), and those that take their steps from the largest row (``spdc``)
# fall behind the one that knows every row. :doc:`/choosing` has the measurements on real data.

print(f"{'method':18} {'gap':>9} {'seconds':>8}   paper")
for info in sd.methods():
    if info.name in results:
        result = results[info.name]
        print(f"{info.name:18} {result.certificate.gap:9.1e} {result.seconds:8.2f}   {info.paper}")
