"""The look of every picture: set before each example of the gallery is run."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, which all kinds of colour vision tell apart, darkest first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")


def dress(config: Any = None, name: str = "") -> None:
    """Set matplotlib's defaults."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.edgecolor": "#666666",
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.titlelocation": "left",
            "axes.titlesize": 12,
            "axes.titlepad": 12,
            "axes.labelsize": 11,
            "axes.labelcolor": "#333333",
            "grid.color": "#e6e6e6",
            "grid.linewidth": 0.8,
            "xtick.color": "#555555",
            "ytick.color": "#555555",
            "xtick.minor.visible": False,
            "ytick.minor.visible": False,
            "lines.linewidth": 2.0,
            "legend.frameon": False,
            "legend.fontsize": 10,
            "font.size": 10.5,
            "figure.figsize": (7.6, 4.4),
            "figure.dpi": 110,
            "savefig.dpi": 110,
            "figure.constrained_layout.use": True,
        }
    )
