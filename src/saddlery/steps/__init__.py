"""Step sizes: (problem, rows drawn) -> arrays sigma, tau, theta. Each rule states what it guarantees."""

from saddlery.steps._arrays import Scale, Steps

__all__ = ["Scale", "Steps"]
