"""Which rows come next. A sampler owns its probabilities; it makes index arrays, kernels consume them."""

from saddlery.sampling._protocol import Sampler
from saddlery.sampling.adaptive import Adaptive
from saddlery.sampling.permutation import Permutation
from saddlery.sampling.replay import Replay
from saddlery.sampling.uniform import Uniform
from saddlery.sampling.weighted import Weighted

__all__ = ["Adaptive", "Permutation", "Replay", "Sampler", "Uniform", "Weighted"]
