"""On what machine was this measured? Seconds mean nothing without it."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PACKAGES = {"lightning": "sklearn-contrib-lightning"}  # where a library's package has another name
LIBRARIES = ("saddlery", "numpy", "scipy", "numba", "scikit-learn")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Machine(NamedTuple):
    """What seconds depend on.

    Attributes
    ----------
    processor : its name, as it gives it. cores : logical cores that this process may use. system : operating system.
    python : its version. libraries : name and version of each that the loops stand on.
    threads : what the linear algebra of NumPy may use, in words. date : when, in UTC, ISO 8601.
    """

    processor: str
    cores: int
    system: str
    python: str
    libraries: dict[str, str]
    threads: str
    date: str

    @classmethod
    def here(cls) -> Machine:
        """This machine, now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        python = f"{platform.python_implementation()} {platform.python_version()}"
        return cls(_processor(), _cores(), _system(), python, _versions(LIBRARIES), _threads(), now)

    def with_libraries(self, names: list[str]) -> Machine:
        """The same, with the versions of these libraries beside."""
        return self._replace(libraries=self.libraries | _versions(tuple(names)))


def _versions(names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(PACKAGES.get(name, name))
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _processor() -> str:
    """The processor's own name, where the system tells it."""
    table = Path("/proc/cpuinfo")
    if table.is_file():
        names = [
            line.partition(":")[2] for line in table.read_text(errors="replace").splitlines() if "model name" in line
        ]
        if names:
            return " ".join(names[0].split())
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if said:
            return said
    return platform.processor() or platform.machine() or "unknown"


def _cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:  # not a Linux that says its name
        name = ""
    return f"{name or platform.system()} ({platform.system()} {platform.release()}, {platform.machine()})"


def _threads() -> str:
    """Threads of the linear algebra that is loaded; the compiled loops of the library run on one."""
    import threadpoolctl

    found = {f"{each['internal_api']}: {each['num_threads']}" for each in threadpoolctl.threadpool_info()}
    asked = [f"{name}={os.environ[name]}" for name in THREADS if os.environ.get(name)]
    return ", ".join([*sorted(found), *asked]) or "not known"
