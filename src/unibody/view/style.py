"""Colours and lines that all pictures share, and the door to matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError

INK = "#22303c"
"""Text, edges, axes."""
PALE = "#c9d1d9"
"""Grids, frames, supports."""
BODIES = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#edc948", "#9c755f")
"""One colour per body, repeated when there are few bodies more."""
SOLVERS = ("#2f5d8a", "#e4572e", "#3a9d5d", "#8e5ea2", "#c99700", "#3aa6b9")
"""One colour per solver of a comparison."""
STATIC = "#8b98a5"
"""Bodies that do not move."""
MANY = 24
"""Above this number, bodies take their colours from a ramp along the model."""

SETTINGS = {
    "font.family": "DejaVu Sans", "font.size": 9.0, "axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.labelsize": 9.0, "axes.edgecolor": PALE, "axes.labelcolor": INK, "axes.titlecolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "xtick.labelsize": 8.0, "ytick.labelsize": 8.0, "axes.grid": True, "grid.color": "#e8ecf0", "grid.linewidth": 0.7,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 8.0,
    "lines.solid_capstyle": "round", "figure.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": 150.0,
}  # fmt: skip


def pyplot() -> Any:
    """matplotlib.pyplot on a canvas without a display, in the style of the house."""
    try:
        import matplotlib
    except ImportError:
        raise ModelError("pictures need matplotlib, which is not installed; pip install unibody[plot]") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def saved(figure: Any, path: str | Path) -> Path:
    """Write the figure, close it, and say where it is."""
    target = Path(path)
    plt = pyplot()
    try:
        figure.savefig(target)
    except (OSError, ValueError) as error:
        raise ModelError(f"picture '{target}' cannot be written ({error}); give a .png file in a folder that exists") from None
    finally:
        plt.close(figure)
    return target


def body_colours(count: int) -> np.ndarray:
    """(count, 3): a colour per moving body."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if count > MANY:
        return np.array([colormaps["viridis"](0.1 + 0.8 * k / (count - 1))[:3] for k in range(count)])
    return np.array([to_rgb(BODIES[k % len(BODIES)]) for k in range(count)]).reshape(count, 3)


def mixed(colour: Any, towards: Any, part: float) -> tuple[float, float, float]:
    """A colour moved by `part` (0 … 1) towards another."""
    from matplotlib.colors import to_rgb

    a, b = np.array(to_rgb(colour)), np.array(to_rgb(towards))
    red, green, blue = (1.0 - part) * a + part * b
    return float(red), float(green), float(blue)
