"""
A time budget
=============

"You have a tenth of a second." Whatever the budget, the answer is the best point so far, with a bound that says what
the rest of the time could have bought.

Behind the gap stand two numbers that close in on the minimum: the objective of the best point from above, the best dual
value from below.
"""

import matplotlib.pyplot as plt
import numpy as np

import saddlery as sd

design = sd.synthetic.planted(20_000, 300, loss="logistic", condition=1e6, noise=0.5, seed=0)
problem = sd.ERM(design.X, design.b, sd.Logistic(), sd.L2(3e-8))
method = "adaspdc-balanced"
_ = sd.solve(problem, method, max_epochs=1)  # compiles what it needs, which would count

# %%
# Budgets in seconds, looked at after every epoch.

for budget in (0.05, 0.1, 0.2, 0.4, 0.8):
    result = sd.solve(problem, method, tol=1e-12, max_epochs=10**6, max_time=budget)
    print(f"{budget:4.2f} s: {result.certificate}")

# %%
# One longer run, looked at in every epoch: what is known of the minimum, as time goes by.

long = sd.solve(problem, method, tol=1e-12, max_epochs=10**6, max_time=1.5, every=1)
seconds = long.history["seconds"]
above = np.minimum.accumulate(long.history["primal"])
below = np.maximum.accumulate(long.history["dual"])

figure, axes = plt.subplots()
axes.fill_between(seconds, below, above, color="C0", alpha=0.2, linewidth=0, label="the minimum is in here")
axes.plot(seconds, above, color="C0", label="best objective so far")
axes.plot(seconds, below, color="C2", label="best lower bound so far")
axes.axhline(long.certificate.primal, color="0.35", linewidth=1, linestyle=":")
axes.set(xscale="log", xlim=(seconds[1], seconds[-1]), ylim=(-0.02, 0.72), xlabel="seconds", ylabel="objective")
axes.set_title("What is known of the minimum after so many seconds")
axes.legend(loc="lower right")
plt.show()

# %%
# ``result.status`` says that the time was what ended the run, ``result.certificate`` what that cost at most. A result
# is also a place to go on from: ``sd.solve(problem, method, start=result)`` continues bit for bit.

more = sd.solve(problem, method, tol=1e-4, max_epochs=10**6, max_time=3.0, start=long)
print(long.status)
print(more.status, more.certificate)
