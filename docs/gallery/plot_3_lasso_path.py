"""
A lasso path with certificates
==============================

How do coefficients come into a model as the penalty gets weaker? A path of solutions says it, and each of its points
can be certified: which columns are in the model is then no matter of when a solver happened to stop.

The data: 442 diabetes patients, ten measurements and all their products.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import saddlery as sd

data = load_diabetes()
features = PolynomialFeatures(degree=2, include_bias=False)
X = StandardScaler().fit_transform(features.fit_transform(data.data))
names = features.get_feature_names_out(data.feature_names)
y = data.target

# %%
# ``regularization_path`` solves for 100 values of ``alpha``, from the smallest that leaves all coefficients at zero
# down to a thousandth of it, each from the solution before.

path = sd.regularization_path(sd.Lasso(tol=1e-8), X, y)
gaps = np.array([made.relative_gap for made in path.certificates])
print(f"{len(path.values)} solutions; the largest relative gap is {gaps.max():.1e}")

# %%
# Above the coefficients, below what each of the hundred answers is worth.

figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(7.6, 6.2), height_ratios=[3, 1])
strongest = np.argsort(-abs(path.coef[len(path.values) // 2]))[:6]
others = np.setdiff1d(np.arange(X.shape[1]), strongest)
top.semilogx(path.values, path.coef[:, others], color="0.8", linewidth=1)
for j in strongest:
    top.semilogx(path.values, path.coef[:, j], label=names[j])
top.invert_xaxis()
top.set(ylabel="coefficient", ylim=(-40, 40))
top.set_title("A lasso path, and the certificate of every point on it")
top.legend(loc="upper left", ncols=2)
bottom.loglog(path.values, np.maximum(gaps, 1e-17), ".", markersize=5)
bottom.axhline(1e-8, color="0.4", linewidth=1, linestyle="--")
bottom.annotate("tol", (path.values[0], 1e-8), (4, 4), textcoords="offset points", color="0.3")
bottom.set(xlabel="alpha", ylabel="relative gap", ylim=(1e-18, 1e-5))
plt.show()
