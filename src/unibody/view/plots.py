"""Plots of series over time: one panel below the other on one time axis, or several recordings overlaid with their differences beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.simulation import Recording
from unibody.view.series import PlotPanel, panels
from unibody.view.style import BODIES, INK, PALE, SETTINGS, SOLVERS, mixed, pyplot, ramp, saved

MOST_NAMED = 14
"""Curves in a legend; more than these are told by a ramp of colours only."""
STYLES = ("-", "--", ":", "-.")
TINY = 1e-17
"""What is zero all the time is drawn here on logarithmic axes."""


def plot(recording: Recording, what: str | Sequence[str] = "energy", path: str | Path | None = None, title: str | None = None) -> Any:
    """Draw series, see `unibody.view.series`, to a file; without one the figure is returned."""
    plt = pyplot()
    shown = panels(recording, what)
    with plt.rc_context(SETTINGS):
        figure, grid = plt.subplots(len(shown), 1, figsize=(8.0, 0.7 + 2.1 * len(shown)), sharex=True, squeeze=False, layout="constrained")
        for axes, panel in zip(grid[:, 0], shown, strict=True):
            _curves(axes, panel)
            _labelled(axes, panel)
        _times(grid[-1, 0], [recording])
        grid[0, 0].set_title(title or "", loc="right", fontsize=9.0, fontweight="normal")
        return figure if path is None else saved(figure, path)


def plot_comparison(
    recordings: Sequence[Recording], labels: Sequence[str], what: str | Sequence[str], path: str | Path | None = None,
    title: str | None = None,
) -> Any:  # fmt: skip
    """The same series of several recordings overlaid, and beside each panel the difference to the first."""
    plt = pyplot()
    if len(recordings) != len(labels) or len(recordings) < 2:
        raise ModelError(f"comparison of {len(recordings)} recordings with {len(labels)} labels; give two or more, one label to each")
    shown = [panels(r, what) for r in recordings]
    with plt.rc_context(SETTINGS):
        size, ratios = (12.0, 0.9 + 2.3 * len(shown[0])), (1.4, 1.0)
        figure, grid = plt.subplots(len(shown[0]), 2, figsize=size, sharex=True, squeeze=False, layout="constrained", width_ratios=ratios)
        for row, same in zip(grid, zip(*shown, strict=True), strict=True):
            _overlaid(row[0], same, labels)
            _differences(row[1], same, labels)
        for axes in grid[-1]:
            _times(axes, recordings)
        grid[0, 0].set_title(title or "", loc="right", fontsize=9.0, fontweight="normal")
        return figure if path is None else saved(figure, path)


def difference(panel: PlotPanel, reference: PlotPanel, curve: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a curve minus the reference's, which is taken as straight between its states; where both have values."""
    keep = (panel.t >= reference.t[0] - 1e-12) & (panel.t <= reference.t[-1] + 1e-12)
    return panel.t[keep], panel.curves[curve][keep] - np.interp(panel.t[keep], reference.t, reference.curves[curve])


def _curves(axes: Any, panel: PlotPanel, style: str = "-", colour: Any = None, label: str | None = None) -> None:
    many = ramp(np.linspace(0.0, 1.0, len(panel.curves)))
    for k, (name, values) in enumerate(panel.curves.items()):
        own = colour if colour is not None else BODIES[k % len(BODIES)] if len(panel.curves) <= MOST_NAMED else many[k]
        own = own if style == "-" or colour is not None else mixed(own, INK, 0.5)
        logarithmic = panel.logarithmic and (values > TINY).any()
        draw = axes.semilogy if logarithmic else axes.plot
        draw(panel.t, visible(values) if logarithmic else values, style, color=own, lw=1.5, label=label or name)


def _labelled(axes: Any, panel: PlotPanel, legend: bool = True) -> None:
    axes.set_title(panel.title, pad=5)
    axes.set_ylabel(f"[{panel.unit}]")
    if axes.get_yscale() == "linear":
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True, useOffset=False)
    if legend and 1 < len(panel.curves) <= MOST_NAMED:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.6)
    elif legend and len(panel.curves) > MOST_NAMED:
        names = list(panel.curves)
        text = f"{len(names)} curves, {names[0]} (dark) … {names[-1]} (bright)"
        axes.text(1.0, 1.02, text, transform=axes.transAxes, ha="right", fontsize=7.5)


def _overlaid(axes: Any, same: Sequence[PlotPanel], labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    one = len(same[0].curves) == 1
    for k, panel in enumerate(same):
        _curves(axes, panel, STYLES[k % len(STYLES)], SOLVERS[k % len(SOLVERS)] if one else None, labels[k] if one else None)
    _labelled(axes, same[0], legend=not one)
    if one:
        axes.legend(loc="best")
        return
    if len(same[0].curves) <= MOST_NAMED:
        handles, names = axes.get_legend_handles_labels()
        count = len(same[0].curves)
        kinds = [Line2D([], [], color="black", ls=STYLES[k % len(STYLES)], lw=1.2, label=label) for k, label in enumerate(labels)]
        entries = [*handles[:count], *kinds]
        axes.legend(entries, [*names[:count], *labels], loc="center left", bbox_to_anchor=(1.0, 0.5))


def _differences(axes: Any, same: Sequence[PlotPanel], labels: Sequence[str]) -> None:
    one = len(same[0].curves) == 1
    axes.axhline(0.0, color=PALE, lw=1.0)
    for k, panel in enumerate(same[1:], start=1):
        for j, name in enumerate(panel.curves):
            t, apart = difference(panel, same[0], name)
            colour = SOLVERS[k % len(SOLVERS)] if one else BODIES[j % len(BODIES)]
            axes.plot(t, apart, STYLES[k % len(STYLES)], color=colour, lw=1.3, label=labels[k] if j == 0 else None)
    axes.set_title(f"difference to {labels[0]}", pad=5)
    axes.set_ylabel(f"[{same[0].unit}]")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True, useOffset=False)


def _times(axes: Any, recordings: Sequence[Recording]) -> None:
    axes.set_xlabel("time [s]")
    first, last = min(r.t[0] for r in recordings), max(r.t[-1] for r in recordings)
    axes.set_xlim(first, last if last > first else first + 1.0)


def visible(values: np.ndarray) -> np.ndarray:
    """For logarithmic axes: leave out what is zero to round-off, unless all is."""
    return np.where(values > TINY, values, np.nan) if (values > TINY).any() else np.full(len(values), TINY)
