"""The picture of the README and of the front page, docs/_static/certificate.png: that of the first example."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import look

HERE = Path(__file__).parent


def main() -> None:
    look.dress()
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is no window to show it in
        runpy.run_path(str(HERE / "gallery" / "plot_1_certificate.py"))
    figure = plt.gcf()
    figure.axes[0].set_title("What a run knows of itself, and what nobody knows while it runs")
    figure.savefig(HERE / "_static" / "certificate.png", dpi=130)


if __name__ == "__main__":
    main()
