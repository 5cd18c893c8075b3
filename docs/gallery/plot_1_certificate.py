"""
A certificate as the run goes
=============================

An iterative method returns a point. How good is it? The objective alone cannot say, because nobody knows the minimum.
The duality gap can: it is computed from the point and from a second, dual point, and it bounds what is left to gain.

Here we look behind the curtain. We first solve a problem to the last digit, so that the true error of every iterate of
a second run is known, and then compare it with the gap that the second run reports without knowing any of this.
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
# ``every=1`` asks for a certificate after every epoch. On its own, ``solve`` spends about a seventh of its time on
# certificates.

result = sd.solve(problem, "adaspdc-balanced", tol=1e-10, every=1)
print(result)

# %%
# The reference: the minimum to fourteen digits. Its own certificate says so.

reference = sd.solve(problem, tol=1e-14, max_epochs=10_000)
minimum = reference.certificate.primal
print(reference.certificate)

# %%
# The true error stays below the gap in every epoch, and both go to zero together: a run that stops at a gap of 1e-6 is
# right to 1e-6, whatever the data, the scale of the columns or the method.

epoch, gap = result.history["epoch"], result.history["gap"]
error = result.history["primal"] - minimum

figure, axes = plt.subplots()
axes.fill_between(epoch, error, gap, color="C0", alpha=0.12, linewidth=0)
axes.semilogy(epoch, gap, color="C0")
axes.semilogy(epoch, error, color="C1")
axes.set(xlim=(0, epoch[-1]), ylim=(1e-11, 3), xlabel="epoch", ylabel="distance from the minimum")
axes.set_title("The certificate bounds the error, epoch by epoch")
for text, line, k, where, side, colour in (
    ("the gap: what the certificate says", gap, 90, (12, 14), "left", "C0"),
    ("P(x) − P*: the error", error, 150, (-14, -16), "right", "C1"),
):
    axes.annotate(text, (epoch[k], line[k]), where, textcoords="offset points", color=colour, ha=side)
plt.show()

# %%
# By how much does it exaggerate? By a factor of two or three, here.

ratio = gap / error
print(f"gap / error: median {np.median(ratio):.1f}, least {ratio.min():.2f}, most {ratio.max():.1f}")
assert ratio.min() >= 1.0
