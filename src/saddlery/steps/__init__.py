"""Step sizes: (problem, rows drawn) -> arrays sigma, tau, theta. Each rule states what it guarantees."""

from saddlery.steps._arrays import FREE, Scale, Steps

__all__ = ["FREE", "Scale", "Steps"]
