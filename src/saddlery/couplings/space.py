"""Where the vectors of a batch method live, and the verbs of terms on whole vectors there.

A batch method is written once, over arrays of any library. With NumPy's (``Here``) a verb is a compiled loop; beside a
matrix of another library (``There``) it is the term's own array form (a method ``prox_conj_array``, ``grad_array`` or
``prox_array``), and for terms without one the vector goes to this machine and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from saddlery.couplings.rows import RowCoupling
from saddlery.data.placed import Placed
from saddlery.terms import _verbs
from saddlery.terms._sums import Single, gradients, prox_all, steps_all

Array = Any


@dataclass(frozen=True, eq=False)
class Here:
    """NumPy's arrays. f, g: the terms; b, c: labels and weights."""

    coupling: RowCoupling
    f: Any
    g: Any
    b: Array
    c: Array

    def put(self, array: Array) -> Array:
        return np.array(array, dtype=np.float64)

    def get(self, array: Array) -> Array:
        return array

    def forward(self, x: Array) -> Array:
        """A x."""
        return self.coupling.predictions(x)

    def back(self, y: Array) -> Array:
        """A'y / n."""
        return self.coupling.force(y)

    def dual_step(self, y: Array, z: Array, sigma: float) -> Array:
        """c prox_conj(y / c, z, sigma) for every block."""
        new, work = np.empty(y.size), np.empty(self.coupling.widest)
        steps_all(self.coupling.blocks, self.f, y, z, np.broadcast_to(sigma, self.c.size), self.b, self.c, new, work)
        return new

    def grad(self, z: Array) -> Array:
        """c f'(z)."""
        y = np.empty(z.size)
        gradients(self.coupling.blocks, self.f, z, self.b, self.c, y)
        return y

    def prox(self, v: Array, tau: float) -> Array:
        """prox_g."""
        if not _verbs.separable(self.g):
            return self.g.prox(v, tau)
        x = v.copy()
        prox_all(self.g, x, tau)
        return x

    def column_sums(self, y: Array) -> Array:
        """The sum of y for each output, as NumPy's array."""
        return y.reshape(-1, self.coupling.q).sum(axis=0)

    def shifted(self, z: Array, x0: Array) -> Array:
        """z + x0 for every row."""
        return z + np.tile(x0, z.size // x0.size)

    def inner(self, one: Array, two: Array) -> float:
        """<one, two>."""
        return float(one @ two)

    def norm2(self, array: Array, weighted: bool = False) -> float:
        """|array|^2, or with every block's weight."""
        return float(self.coupling.spread(self.c) * array @ array if weighted and self._weighted else array @ array)

    @cached_property
    def _weighted(self) -> bool:
        return bool((self.c != 1.0).any())


@dataclass(frozen=True, eq=False)
class There:
    """Arrays beside a matrix of another library."""

    host: Here
    view: Placed
    b: Array
    c: Array

    def put(self, array: Array) -> Array:
        return self.view.put(array)

    def get(self, array: Array) -> Array:
        return self.view.get(array)

    def forward(self, x: Array) -> Array:
        q = self.host.coupling.q
        return self._flat(self.view.forward(x if q == 1 else self._xp.reshape(x, (-1, q))))

    def back(self, y: Array) -> Array:
        q, n = self.host.coupling.q, self.host.coupling.n
        return self._flat(self.view.back(y if q == 1 else self._xp.reshape(y, (-1, q)))) / n

    def dual_step(self, y: Array, z: Array, sigma: float) -> Array:
        f = self.host.f
        if not self._speaks(f, "prox_conj_array"):
            return self.put(self.host.dual_step(self.get(y), self.get(z), sigma))
        return self.c * f.prox_conj_array(self._xp, y / self._shares(), z, sigma, self.b)

    def grad(self, z: Array) -> Array:
        f = self.host.f
        if not self._speaks(f, "grad_array"):
            return self.put(self.host.grad(self.get(z)))
        return self.c * f.grad_array(self._xp, z, self.b)

    def prox(self, v: Array, tau: float) -> Array:
        g = self.host.g
        if not hasattr(g, "prox_array"):
            return self.put(self.host.prox(self.get(v), tau))
        return g.prox_array(self._xp, v, tau)

    def column_sums(self, y: Array) -> Array:
        return self.get(self._xp.sum(self._xp.reshape(y, (-1, self.host.coupling.q)), axis=0))

    def shifted(self, z: Array, x0: Array) -> Array:
        return self._flat(self._xp.reshape(z, (-1, x0.size)) + self.put(x0))

    def inner(self, one: Array, two: Array) -> float:
        return float(self._xp.sum(one * two))

    def norm2(self, array: Array, weighted: bool = False) -> float:
        if weighted and self.host.coupling.q > 1:
            return self.host.norm2(self.get(array), weighted)
        return float(self._xp.sum(self.c * array * array if weighted else array * array))

    @property
    def _xp(self) -> Any:
        return self.view.xp

    def _speaks(self, f: Any, verb: str) -> bool:
        return isinstance(self.host.coupling.blocks, Single) and hasattr(f, verb)

    def _shares(self) -> Array:
        return self._xp.where(self.c > 0.0, self.c, 1.0)

    def _flat(self, array: Array) -> Array:
        return self._xp.reshape(array, (-1,))


def space(coupling: RowCoupling, f: Any, g: Any, b: Array, c: Array) -> Here | There:
    """The space of a problem."""
    here, view = Here(coupling, f, g, b, c), coupling.rows.view
    return There(here, view, view.put(b), view.put(c)) if isinstance(view, Placed) else here
