"""Colours and lines that all pictures share, and the import of matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.simulation.whole_file import remedy, whole_file

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
    """matplotlib.pyplot on a canvas without a display, in the style of all our pictures."""
    try:
        import matplotlib
    except ImportError:
        raise ModelError("pictures need matplotlib, which is not installed; pip install unibody[plot]") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def saved(figure: Any, path: str | Path) -> Path:
    """Write the figure, whole or not at all, close it, and say where it is."""
    target = Path(path)
    plt = pyplot()
    try:
        drawn = io.BytesIO()  # Pillow writes some formats for matplotlib, and does not notice when only a part of a block fits on the disk
        figure.savefig(drawn, format=target.suffix.lower().removeprefix(".") or None)
        with whole_file(target) as file:
            file.write(drawn.getbuffer())
    except (OSError, ValueError) as error:
        raise ModelError(f"picture '{target}' cannot be written ({error}); {remedy(error)}") from None
    finally:
        plt.close(figure)
    return target


RAMP = ("#482475", "#3b518b", "#2c718e", "#21908d", "#27ad81", "#5cc863", "#aadc32")
"""Dark to bright, for many bodies and for magnitudes."""


def rgb(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, 0 … 1, of '#rrggbb'.

    >>> rgb("#ff0080")
    (1.0, 0.0, 0.5019607843137255)
    """
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def ramp(part: np.ndarray) -> np.ndarray:
    """(n, 3): colours along the ramp at parts 0 … 1."""
    stops = np.array([rgb(c) for c in RAMP])
    at = np.linspace(0.0, 1.0, len(stops))
    return np.stack([np.interp(part, at, stops[:, k]) for k in range(3)], axis=-1)


SLACK, PULL, PUSH = "#9aa5b1", "#d1495b", "#2e86ab"
"""A strand without force, one that pulls as much as any, one that pushes."""


def tension_colours(tension: np.ndarray, largest: float) -> np.ndarray:
    """(n, 3): grey without force, towards red where a strand pulls and blue where it pushes; `largest` [N] is full colour."""
    part = np.clip(np.nan_to_num(tension) / max(largest, 1e-300), -1.0, 1.0)[..., None]
    slack, pull, push = (np.array(rgb(c)) for c in (SLACK, PULL, PUSH))
    return np.where(part >= 0.0, slack + part * (pull - slack), slack - part * (push - slack))


def body_colours(count: int) -> np.ndarray:
    """(count, 3): a colour per moving body."""
    if count > MANY:
        return ramp(np.linspace(0.0, 1.0, count))
    return np.array([rgb(BODIES[k % len(BODIES)]) for k in range(count)]).reshape(count, 3)


def mixed(colour: Any, towards: Any, part: float) -> tuple[float, float, float]:
    """A colour moved by `part` (0 … 1) towards another."""
    from matplotlib.colors import to_rgb

    a, b = np.array(to_rgb(colour)), np.array(to_rgb(towards))
    red, green, blue = (1.0 - part) * a + part * b
    return float(red), float(green), float(blue)
