"""The command line: ``saddlery demo``, ``fit``, ``predict``, ``certify``, ``path``, ``compare``, and what there is.

A command reads its data, asks the library, and prints. It imports what it needs when it is called, so that
``saddlery --help`` is quick.
"""

from saddlery.cli.app import app, main, run

__all__ = ["app", "main", "run"]
