"""What a command says on stderr."""

from __future__ import annotations


def one_line(said):
    """Exactly one line on stderr, from us."""
    assert said.startswith("saddlery: ") and said.endswith("\n") and said.count("\n") == 1, said
    return said
