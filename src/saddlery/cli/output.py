"""What a command writes: tables and JSON to stdout, files whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from saddlery.cli.ends import Unwritten, refuse


def place(path: Path) -> Path:
    """A file that can be written, checked before any work."""
    folder = path.parent
    if path.is_dir():
        refuse(f"{path} is a directory; the output must be a file")
    if not folder.is_dir():
        refuse(f"{folder} is not a directory, so {path.name} cannot be written there")
    if not os.access(folder, os.W_OK):
        refuse(f"{folder} cannot be written to")
    return path


def write(path: Path, make: Callable[[Path], Any]) -> None:
    """Let `make` write a file beside the place, then rename it: whole, or not at all."""
    part = path.with_name(f".{path.stem[:60]}.{uuid.uuid4().hex}{path.suffix}")
    try:
        make(part)
        os.replace(part, path)
    except OSError as error:
        raise Unwritten(f"{path} could not be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A file of text, whole or not at all."""
    write(path, lambda part: part.write_text(text, encoding="utf-8"))


def show(text: str) -> None:
    """To stdout."""
    print(text)


def show_json(value: Any) -> None:
    """To stdout, numbers that JSON does not know as null."""
    from saddlery.report.comparison import finite

    print(json.dumps(finite(value), indent=2, allow_nan=False))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """Columns, aligned: those of `words` to the left, numbers to the right. The last is cut at a terminal's edge."""
    cells = [list(heads), *(list(row) for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    lines = []
    for row in cells:
        padded = [
            text.ljust(w) if k in words else text.rjust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(padded).rstrip()
        lines.append(f"{line[: edge - 1]}…" if 20 < edge < len(line) else line)
    return "\n".join(lines)


class Ticker:
    """What is going on, on one line of a terminal's stderr; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self.shown:
            print(f"\r\x1b[2K{text} ...", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave the line empty."""
        if self.shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
