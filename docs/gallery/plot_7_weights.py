"""
Weights and sparse data
=======================

A weight says how much a row counts. Weights cost nothing: the rows stay where they are, sparse or dense, only steps and
draws change. Here they give error bars, by the Bayesian bootstrap (Rubin, 1981): draw weights at random, solve again,
and look at how much the answer moves.

The data are 2,000 sparse rows of 400 columns with ten entries each, labels -1 and 1, made from a sparse truth.
"""

import matplotlib.pyplot as plt
import numpy as np

import saddlery as sd

design = sd.synthetic.planted(2_000, 400, loss="logistic", density=0.025, nonzeros=8, noise=0.3, seed=3)
print(repr(design.X))

# %%
# First, what a weight is. To count a row twice is the same as to have it twice: solved with repeated rows, certified
# with weights, the answer is as good.

twice = np.r_[np.arange(2_000), np.arange(500)]
penalty = sd.L1L2(0.0008, 0.0005)
doubled = sd.ERM(design.X[twice], design.b[twice], sd.Logistic(), penalty)
weighted = sd.ERM(design.X, design.b, sd.Logistic(), penalty, weights=np.bincount(twice).astype(float))
x = sd.solve(doubled, tol=1e-12).x
y = sd.solve(weighted, tol=1e-12).y
print(weighted.certificate(x, y))

# %%
# Then a hundred draws of weights. Each solve starts from the one before.

rng = np.random.default_rng(0)
start = sd.solve(sd.ERM(design.X, design.b, sd.Logistic(), penalty), tol=1e-6)
fitted, draws, seconds = start.x, [], 0.0
for _ in range(100):
    problem = sd.ERM(design.X, design.b, sd.Logistic(), penalty, weights=rng.exponential(size=2_000))
    start = sd.solve(problem, tol=1e-6, start=start)
    assert start.status.ok
    draws.append(start.x)
    seconds += start.seconds
print(f"100 certified fits in {seconds:.2f} s")

# %%
# Where a bar ends on zero, the l1 penalty has put the column out of the model in a twentieth of the draws or more.

low, high = np.quantile(draws, (0.05, 0.95), axis=0)
shown = np.argsort(-abs(fitted))[:24]
shown = shown[np.argsort(-fitted[shown])]
place = np.arange(shown.size)

figure, axes = plt.subplots()
axes.axhline(0.0, color="0.4", linewidth=1)
axes.vlines(place, low[shown], high[shown], color="C0", alpha=0.45, linewidth=7, label="90 % of the draws")
axes.plot(place, fitted[shown], "o", color="C0", label="fitted")
true = design.x[shown] != 0
axes.plot(place[true], np.full(true.sum(), axes.get_ylim()[0]), "^", color="C1", clip_on=False, label="truly not zero")
axes.set(xticks=place, xticklabels=shown, xlabel="column", ylabel="coefficient")
axes.tick_params(axis="x", labelrotation=90, labelsize=9)
axes.grid(axis="x", visible=False)
axes.set_title("Error bars from random weights")
axes.legend(loc="upper right")
plt.show()
