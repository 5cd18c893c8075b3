"""Which rows come next. A sampler owns its probabilities; it makes index arrays, kernels consume them.

One file each, found by looking in this folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from saddlery.sampling._protocol import Sampler as Sampler

if TYPE_CHECKING:
    from saddlery.sampling.adaptive import Adaptive as Adaptive
    from saddlery.sampling.permutation import Permutation as Permutation
    from saddlery.sampling.replay import Replay as Replay
    from saddlery.sampling.uniform import Uniform as Uniform
    from saddlery.sampling.weighted import Weighted as Weighted


def _discover() -> dict[str, type]:
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            for name, thing in vars(loaded).items():
                if isinstance(thing, type) and thing.__module__ == loaded.__name__ and hasattr(thing, "draw"):
                    found[name] = thing
    return found


SAMPLERS = _discover()
globals().update(SAMPLERS)
