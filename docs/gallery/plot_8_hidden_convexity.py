"""
Strong convexity hidden in the data
===================================

A penalty of ``lam/2 |x|^2`` makes a problem strongly convex, and methods use ``lam`` to choose their steps. Make it
small and they crawl. But the data may be strongly convex themselves: where the columns of A are independent, the
squared loss curves in every direction, by ``mu^2 / n`` at least, with mu the smallest singular value of A. Methods that
know this, or find it out as they go, do not mind how small ``lam`` is.

Least squares with 3,000 rows and 200 columns of condition number 100, and next to no penalty.
"""

import matplotlib.pyplot as plt
import numpy as np

import saddlery as sd

design = sd.synthetic.planted(3_000, 200, condition=100.0, seed=1)
lam = 1e-4 / 3_000
problem = sd.ERM(design.X, design.b, sd.Squared(), sd.L2(lam))
print(f"strong convexity of the penalty {lam:.1e}, of the data {problem.curvature:.1e}")

# %%
# Four methods: one that knows ``lam`` only; one that is told what the data add; two that estimate it from how fast the
# gap falls, by the rule of the paper (Wang and Xiao, 2017) and by a sharper one.

methods = {
    "knows lam": sd.method("spdc"),
    "estimates, as published": sd.method("ada-spdc"),
    "is told": sd.method("spdc", steps="data"),
    "estimates, sharper": sd.method("ada-spdc", adapt="sharp", kappa=0.5),
}
levels = {"knows lam": 1e-3, "estimates, as published": 1e-4, "is told": 1e-7, "estimates, sharper": 1e-10}

figure, axes = plt.subplots()
for (label, method), style in zip(methods.items(), ["-", "-", "--", "-"], strict=True):
    result = sd.solve(problem, method, tol=1e-10, every=1, max_epochs=300)
    passes, gap = result.history["passes"], np.minimum.accumulate(result.history["gap"])
    (line,) = axes.semilogy(passes, gap, style)
    k = np.argmax(gap <= levels[label])  # the first, for its name to stand there
    axes.annotate(label, (passes[k], gap[k]), (6, 6), textcoords="offset points", color=line.get_color())
    print(f"{method.name}, {label}: {passes[-1]:.0f} passes, gap {result.certificate.gap:.1e}")
axes.set(xlim=(0, 300), ylim=(1e-11, 3), xlabel="passes over the data", ylabel="best gap so far")
axes.set_title("What it is worth to know the data")
plt.show()

# %%
# Without any penalty the usual dual bound is infinite. The certificate falls back on what it can prove, the smallest
# eigenvalue of A'A, and says so: kind "strong".

bare = sd.ERM(design.X, design.b, sd.Squared(), sd.Zero())
print(sd.solve(bare, methods["estimates, sharper"], tol=1e-10).certificate)
