"""How far the compiled loops are from what the machine can do: ratios, measured side by side in one run.

    python benchmarks/speed.py [--latency] [--memory] [--quick] [--check] [--json PATH]

Seconds say more about the machine, and about who else is using it, than about the code. A ratio of two times from one
run does not: the contenders take turns, and the best of many turns counts for each. What an epoch of a method is
compared with is a plain C loop (loop.c, compiled here by the system's `cc`) that goes over the same rows in the same
kind of order and precision, and does only what no method can leave out: the row's dot product and its update.

1. An epoch of a method over the C loop: sparse and dense data, float64 and float32, smooth hinge loss, L2, lam = 1/n.
   Everything in ``algorithm.epoch`` counts: sampling, steps, residues, and what Python does around the kernels. The
   column `ahead` is the ratio to a C loop that also asks the memory for rows ahead of time, as the library's kernels
   do. Where data do not fit into the cache it is the stricter measure, and the steadier one; it has no target.
2. A certificate over the two products that it cannot do without, z = A x and u = A'y, by SciPy or NumPy, everything in
   float64 (float32 data are converted for SciPy and NumPy beforehand, off the clock).
3. A step of a batch method over the two products that it makes: what vectors, the prox and Python add.
4. An epoch with empty columns appended over the epoch without: a step costs the entries of its row, never O(d).

``--latency``: seconds of `import saddlery`, and how much longer the first solve of a process takes than the second,
with an empty and with a filled cache of compiled code. The modules that the first use of a name loads (Numba, SciPy)
are a line of their own. ``--memory`` (Linux): by how much the process grows at its peak while a problem is set up and
solved, over the size of X. A small problem is solved before, so that Numba itself does not count.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from threadpoolctl import threadpool_limits

import saddlery as sd
from saddlery.certificate import certify
from saddlery.data.synthetic import random_csr, toeplitz_ridge

TARGETS = {  # an epoch over the C loop: sparse, dense
    "sdca": (1.3, 1.8),
    "adasdca+": (2.5, 5.0),
    "spdc": (3.0, 3.0),
    "adaspdc-balanced": (3.0, 3.0),
    "saga": (2.5, 2.5),
    "svrg": (2.5, 2.5),
}
ROUND = {"svrg": 2}  # epochs that are timed together, per epoch: every second one begins with a snapshot
BATCH = ("bpd", "ada-bpd", "df-bpd", "ag")
CERTIFICATE, APPENDED, IMPORT, WARM, COLD, GROWTH, PRODUCTS = 1.5, 1.2, 0.3, 0.5, 3.0, 0.15, 1.25
LATENT = ("auto", "sdca", "adaspdc-balanced")

Call = Callable[[], Any]


class Sizes(NamedTuple):
    """Of the data (n, d, entries of a row; n, d; d), and of the effort."""

    sparse: tuple[int, int, int] = (20_000, 47_000, 76)
    dense: tuple[int, int] = (50_000, 54)
    appended: int = 1_000_000
    ridge: tuple[int, int] = (5_000, 3_000)
    rounds: int = 25
    big: tuple[int, int, int] = (1_100_000, 47_000, 76)  # 1 GB


QUICK = Sizes((2_000, 4_700, 76), (5_000, 54), 100_000, (500, 300), 3, (110_000, 4_700, 76))


class Figure(NamedTuple):
    """A line of the table: ours against a base, the ratio or difference of the two, and what it should be at most."""

    what: str
    unit: str
    base: float
    ours: float
    value: float
    target: float | None = None
    ahead: float | None = None  # ours over the C loop that looks ahead

    @property
    def ok(self) -> bool:
        return self.target is None or bool(self.value <= self.target)


# ---- speed -------------------------------------------------------------------------------------------------------


def compiled_loop(folder: str) -> ctypes.CDLL | str:
    """The C loops, or the reason why there are none."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "there is no C compiler (cc) here"
    library, source = Path(folder, "loop.so"), Path(__file__).with_name("loop.c")
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    made = subprocess.run([compiler, *flags, "-o", library, source], capture_output=True, text=True)
    if made.returncode != 0:
        return f"cc could not compile loop.c: {(made.stderr.strip().splitlines() or ['no reason given'])[-1]}"
    return ctypes.CDLL(str(library))


def c_loop(library: ctypes.CDLL, X: Any, order: Any, style: str) -> Call:
    """The C loop over the rows of `order`, "plain" or "ahead"."""
    n, d = X.shape
    data = (X.indptr, X.indices, X.data) if issparse(X) else (X.reshape(-1),)
    arrays = (order.astype(np.int32), *data, np.zeros(d, X.dtype))
    step = 0.1 * n / float(np.square(data[-1]).sum())  # a tenth of 1 / |a_i|^2
    loop = library[f"{'sparse' if issparse(X) else 'dense'}_{X.dtype}_{style}"]
    return partial(loop, order.size, d, *map(np.ctypeslib.as_ctypes, arrays), ctypes.c_double(step))


def smooth_hinge(X: Any) -> sd.Problem:
    """Random labels, lam = 1/n."""
    labels = np.where(np.random.default_rng(1).random(X.shape[0]) < 0.5, -1.0, 1.0)
    return sd.ERM(X, labels, sd.SmoothHinge(), sd.L2(1.0 / X.shape[0]))


def epochs(method: str, problem: sd.Problem) -> tuple[Call, Any, Any]:
    """Epochs of a method, the rows that one of them draws, and where the method is after two epochs."""
    algorithm, rng, n = sd.method(method), np.random.default_rng(2), problem.n
    state = algorithm.init(problem, np.zeros(problem.x_shape), np.zeros(problem.y_shape))
    for _ in range(2):
        state = algorithm.epoch(problem, state, rng)
    if hasattr(algorithm, "draws"):
        order = algorithm.draws(problem, state, rng)
    else:
        order = getattr(state.scratch.get("plan"), "sampler", sd.Uniform()).draw(rng, n, n)[:, 0]
    count = ROUND.get(method, 1)

    def turn() -> None:
        for _ in range(count):
            algorithm.epoch(problem, state, rng)

    return turn, np.tile(order, count), algorithm.iterate(problem, state)


def interleaved(calls: dict[str, Call], rounds: int, entries: int) -> dict[str, float]:
    """The best time of each, taking turns: nanoseconds for each stored entry of the data."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: seconds / entries * 1e9 for name, seconds in best.items()}


def ratio(
    what: str, base: float, ours: float, target: float | None, ahead: float | None = None, unit: str = "ns"
) -> Figure:
    return Figure(what, unit, base, ours, ours / base, target, ahead and ours / ahead)


def against_the_limit(X: Any, library: ctypes.CDLL | str, rounds: int) -> list[Figure]:
    """Every method over the C loop, and the certificate over its products, on one matrix."""
    problem, kind, calls = smooth_hinge(X), f"{'sparse' if issparse(X) else 'dense'} {X.dtype}", dict[str, Call]()
    for method in TARGETS:
        epoch, order, (x, y) = epochs(method, problem)
        if isinstance(library, ctypes.CDLL):
            calls |= {f"{method} {style}": c_loop(library, X, order, style) for style in ("plain", "ahead")}
            calls[method] = epoch
    A = X.astype(np.float64, copy=False)
    certify(problem, x, y)
    calls |= {"products": lambda: (A @ x, A.T @ y), "certificate": lambda: certify(problem, x, y)}
    best = interleaved(calls, rounds, X.nnz if issparse(X) else X.size)
    figures = [
        ratio(f"{m}, {kind}", best[f"{m} plain"], best[m], limits[not issparse(X)], best[f"{m} ahead"])
        for m, limits in TARGETS.items()
        if m in best
    ]
    return [*figures, ratio(f"certificate, {kind}", best["products"], best["certificate"], CERTIFICATE)]


def over_the_products(X: Any, rounds: int) -> list[Figure]:
    """A step of every batch method over the two products with A that it makes: 1.25 is 80 % of the time."""
    problem = sd.ERM(X, np.random.default_rng(1).standard_normal(X.shape[0]), sd.Squared(), sd.L2(1e-4 / X.shape[0]))
    space, x, y = problem.space, np.ones(problem.d), np.ones(problem.n)
    calls: dict[str, Call] = {"products": lambda: (space.forward(x), space.back(y))}
    for m in BATCH:
        algorithm = sd.method(m, **({"adapt": "sharp"} if m in ("ada-bpd", "df-bpd") else {}))
        state = algorithm.init(problem, np.zeros(problem.d), np.zeros(problem.n))
        calls[m] = partial(algorithm.epoch, problem, state, np.random.default_rng(0))
    best = interleaved(calls, rounds, X.nnz if issparse(X) else X.size)
    kind = f"{'sparse' if issparse(X) else 'dense'} {X.shape[0]} x {X.shape[1]}"
    return [ratio(f"{m} over its products, {kind}", best["products"], best[m], PRODUCTS) for m in BATCH]


def appended_columns(X: Any, d: int, rounds: int) -> list[Figure]:
    """Every method with empty columns appended, over the same without."""
    wide = csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    calls = {}
    for m in TARGETS:
        calls |= {m: epochs(m, smooth_hinge(X))[0], f"{m} wide": epochs(m, smooth_hinge(wide))[0]}
    best = interleaved(calls, rounds, X.nnz)
    targets = {m: None if m in ROUND else APPENDED for m in TARGETS}  # a snapshot is a whole vector: O(d) by its nature
    return [ratio(f"{m}, d = {d} over {X.shape[1]}", best[m], best[f"{m} wide"], targets[m]) for m in TARGETS]


def speed(sizes: Sizes, notes: list[str]) -> list[Figure]:
    """All ratios, one core against one core. Notes say what is left out."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        library = compiled_loop(folder)
        if isinstance(library, str):
            notes.append(f"epochs over the C loop: {library}")
        for dtype in (np.float64, np.float32):
            figures += against_the_limit(random_csr(*sizes.sparse, dtype=dtype), library, sizes.rounds)
            dense = np.random.default_rng(0).standard_normal(sizes.dense).astype(dtype)
            figures += against_the_limit(dense, library, sizes.rounds)
        figures += appended_columns(random_csr(*sizes.sparse), sizes.appended, sizes.rounds)
        figures += over_the_products(random_csr(*sizes.sparse), sizes.rounds)
        figures += over_the_products(toeplitz_ridge(*sizes.ridge).X, sizes.rounds)
    return figures


# ---- latency and memory, each in a process of its own ------------------------------------------------------------

FIRST = """
import time; times = [time.perf_counter()]
import saddlery as sd; times.append(time.perf_counter())
import json, sys, numpy as np; sd.ERM, sd.solve, sd.Logistic, sd.L2; times.append(time.perf_counter())
rng = np.random.default_rng(0); X = rng.standard_normal((500, 20)); b = np.where(rng.random(500) < 0.5, -1.0, 1.0)
times.append(time.perf_counter())
for _ in range(2):
    sd.solve(sd.ERM(X, b, sd.Logistic(), sd.L2(1e-3)), sys.argv[1]); times.append(time.perf_counter())
print(json.dumps([after - before for before, after in zip(times, times[1:])]))
"""

PEAK = """
import ctypes, json, sys, numpy as np, saddlery as sd
from saddlery.data.synthetic import random_csr, toeplitz_ridge
def resident(field):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))
def solve(X, b, method):
    sd.solve(sd.ERM(X, b, sd.SmoothHinge(), sd.L2(1.0 / X.shape[0])), method, tol=0.0, max_epochs=3)
n, d, entries = (int(number) for number in sys.argv[1:4])
small, X, b, growth = random_csr(100, 50, 5), random_csr(n, d, entries), np.where(np.arange(n) % 3 == 0, -1.0, 1.0), {}
for method in sys.argv[4:]:
    solve(small, b[:100], method)
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # give back what was freed: it would hide growth
    open("/proc/self/clear_refs", "w").write("5")  # VmHWM, the peak, starts anew from here
    before = resident("VmRSS")
    solve(X, b, method)
    growth[method] = resident("VmHWM") - before
print(json.dumps([X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, growth]))
"""


def child(code: str, *arguments: str, **environment: str) -> Any:
    """What a fresh Python process prints."""
    command = [sys.executable, "-c", code, *arguments]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | environment)
    return json.loads(made.stdout)


def latency(runs: int) -> list[Figure]:
    """Import, loading, and the first solve less the second: the best of `runs`, a single one for a cold cache."""
    figures, times = [], []
    for m in LATENT:
        with tempfile.TemporaryDirectory() as cache:  # filled by the first process
            times.append(np.array([child(FIRST, m, NUMBA_CACHE_DIR=cache) for _ in range(1 + runs)]))
        cold, (warm, second) = times[-1][0, 3], times[-1][1:, 3:].min(axis=0)
        for cache, first, target in (("filled", warm, WARM), ("empty", cold, COLD)):
            figures.append(Figure(f"{m}, {cache} cache: first - second", "s", second, first, first - second, target))
    imported, loaded = np.concatenate(times)[:, :2].min(axis=0)
    start = Figure("import saddlery", "s", 0.0, imported, imported, IMPORT)
    return [start, Figure("loading what the first names need", "s", 0.0, loaded, loaded), *figures]


def memory(size: tuple[int, int, int], notes: list[str]) -> list[Figure]:
    """Growth of the process at its peak over the size of X. Notes say if it cannot be measured."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        notes.append("memory: this system does not say how large a process was at its peak")
        return []
    stored, growth = child(PEAK, *map(str, size), "auto", *TARGETS)
    return [ratio(f"{m}: growth over X", stored / 1e6, growth[m] / 1e6, GROWTH, unit="MB") for m in growth]


# ---- the table ---------------------------------------------------------------------------------------------------


def show(figures: list[Figure], notes: list[str]) -> None:
    width = max((len(figure.what) for figure in figures), default=0)
    print(f"{'':{width}}     base     ours         value  target           ahead")
    for figure in figures:
        what, unit, base, ours, value, target, ahead = figure
        verdict = "" if target is None else f"{target:8.2f}  {'ok' if figure.ok else 'MISSED':6}"
        stricter = "" if ahead is None else f"{ahead:8.2f}"
        print(f"{what:{width}} {base:8.3f} {ours:8.3f} {unit:2} {value:10.3f}{verdict}{stricter}".rstrip())
    if any(figure.unit == "ns" for figure in figures):
        print("ns for a stored entry; base: the plain C loop, the two products, or the epoch without the columns")
    for note in notes:
        print(f"left out: {note}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--latency", action="store_true", help="import and first solve instead of the ratios")
    parser.add_argument("--memory", action="store_true", help="growth while solving instead of the ratios")
    parser.add_argument("--quick", action="store_true", help="small data, few rounds: to see that it runs")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    asked = parser.parse_args()
    sizes, notes = QUICK if asked.quick else Sizes(), list[str]()
    figures = [] if asked.latency or asked.memory else speed(sizes, notes)
    figures += latency(1 if asked.quick else 3) if asked.latency else []
    figures += memory(sizes.big, notes) if asked.memory else []
    show(figures, notes)
    if asked.json is not None:
        lines = [figure._asdict() | {"ok": figure.ok} for figure in figures]
        versions = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.platform()}
        asked.json.write_text(json.dumps({"figures": lines, "left_out": notes} | versions, indent=1), encoding="utf-8")
    return int(asked.check and not all(figure.ok for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
