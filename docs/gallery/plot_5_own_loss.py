"""
A loss of your own
==================

The squared loss finds the mean of what happens, given the features. Weigh errors above and below differently, and it
finds *expectiles*: the analogue of quantiles that least squares knows (Newey and Powell, 1987). No library of losses
has every one, so here is how to write it: four formulas and one fact.

::

    f(z, b)  = w r^2 / 2,  r = z - b,  w = 1 - t where the prediction is too low, else t
    f*(y, b) = y^2 / (2 w) + b y
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import SplineTransformer

import saddlery as sd


class Expectile(NamedTuple):
    """Asymmetric squared loss, whose minimiser is the expectile t of the labels."""

    t: float = 0.5

    def smoothness(self):
        return max(self.t, 1.0 - self.t)

    def value(self, z, b):
        return (1.0 - self.t if z > b else self.t) * (z - b) * (z - b) / 2.0

    def grad(self, z, b):
        return (1.0 - self.t if z > b else self.t) * (z - b)

    def conj(self, y, b):
        return y * y / (2.0 * (1.0 - self.t if y > 0.0 else self.t)) + b * y

    def prox_conj(self, y0, z, sigma, b):
        """argmin_y f*(y, b) - z y + (y - y0)^2 / (2 sigma)"""
        s = sigma * (z - b) + y0
        return s / (1.0 + sigma / (1.0 - self.t if s > 0.0 else self.t))


# %%
# The class is compiled into the loops of every method whose needs it meets, and runs at their speed. The features are
# splines of one measurement, the body mass index of 442 diabetes patients; the target is how the disease went on.

data = load_diabetes(scaled=False)
bmi, progress = data.data[:, [2]], data.target
splines = SplineTransformer(n_knots=6, degree=3, include_bias=False)
X = splines.fit_transform(bmi)
grid = np.linspace(bmi.min(), bmi.max(), 200)[:, None]

levels = (0.02, 0.1, 0.5, 0.9, 0.98)
curves, start = {}, None
for t in levels:
    problem = sd.ERM(X, progress, Expectile(t), sd.L2(1e-4), intercept=True)
    start = sd.solve(problem, "ada-spdc", tol=1e-8, max_epochs=20_000, start=start)
    assert start.status.ok
    curves[t] = splines.transform(grid) @ start.x[:-1] + start.x[-1]
    print(f"expectile {t:4.2f}: {start.epochs} epochs, {start.certificate}")

# %%
# The certificate needs no thought either: it is made from ``value`` and ``conj``. Were one not the conjugate of the
# other, a part of the gap would come out negative, and ``solve`` would refuse the loss with an error that says so.

figure, axes = plt.subplots()
axes.scatter(bmi, progress, s=12, color="0.6", linewidth=0)
axes.fill_between(grid[:, 0], curves[0.02], curves[0.98], color="C0", alpha=0.10, linewidth=0)
axes.fill_between(grid[:, 0], curves[0.1], curves[0.9], color="C0", alpha=0.15, linewidth=0)
for t, curve in curves.items():
    axes.plot(grid[:, 0], curve, color="C1" if t == 0.5 else "C0", linewidth=2.4 if t == 0.5 else 1.4)
    axes.annotate(f"{t:g}", (grid[-1, 0], curve[-1]), (5, 0), textcoords="offset points", va="center", color="0.3")
axes.set(xlabel="body mass index", ylabel="disease progression after a year", xlim=(bmi.min(), bmi.max() + 1.5))
axes.set_title("Expectiles of a disease, given the body mass index")
plt.show()
