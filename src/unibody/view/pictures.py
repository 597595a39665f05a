"""Pictures: the motion of a mechanism, a comparison of solvers, and how times grow with size. Each writes one file and returns its path.

All need the extra `plot` (matplotlib) and none needs a display.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.simulation import Recording
from unibody.view import motion
from unibody.view.plots import STYLES, visible
from unibody.view.soft import refuse_soft
from unibody.view.style import BODIES, INK, SETTINGS, SOLVERS, mixed, pyplot, saved

FARTHEST = 1e9
"""Positions beyond this [m] come from runs that failed, and overflow drawing libraries."""


def draw_motion(recording: Recording, path: str | Path, frames: int = 7, title: str | None = None) -> Path:
    """Bodies at `frames` times of the last stretch of motion, fading from past to present, with the traces of their tips."""
    plt = pyplot()
    _refuse_undrawable(recording)
    with plt.rc_context(SETTINGS):
        rows, traces = _scenery(recording, frames)
        figure, axes = plt.subplots()
        view = _view(axes, recording)
        width, height = view.extent(recording, rows, traces)
        figure.set_size_inches(*_figure_size(width, height))
        view.show(recording, rows, traces)
        view.finish()
        axes.set_title(title or f"t = {recording.t[-1]:.4g} s, {recording.solver.name}", pad=10)
        figure.tight_layout()
        return saved(figure, path)


def draw_comparison(recordings: Sequence[Recording], labels: Sequence[str], path: str | Path, title: str | None = None) -> Path:
    """One scene in several solvers: the mechanism overlaid, energy drift, constraint violation, and position difference to the first."""
    plt = pyplot()
    if len(recordings) != len(labels) or not recordings:
        raise ModelError(f"draw_comparison: {len(recordings)} recordings and {len(labels)} labels; give one label to each recording")
    for recording in recordings:
        _refuse_undrawable(recording)
    with plt.rc_context(SETTINGS):
        figure = plt.figure(figsize=(11.0, 6.2), layout="constrained")
        grid = figure.add_gridspec(3, 2, width_ratios=(1.45, 1.0))
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06, wspace=0.03)
        _overlay(figure.add_subplot(grid[:, 0]), recordings, labels, title)
        panels = [figure.add_subplot(grid[k, 1]) for k in range(3)]
        _panels(panels, recordings, labels)
        return saved(figure, path)


def draw_scaling(
    rows: Iterable[tuple[str, float, float]], path: str | Path, title: str = "", size_label: str = "bodies", fit_from: float = 0.0
) -> Path:
    """Seconds over size on logarithmic axes, one line per label, each with its fitted slope; `fit_from` leaves smaller sizes out of it."""
    plt = pyplot()
    series: dict[str, list[tuple[float, float]]] = {}
    for label, n, seconds in rows:
        if not (n > 0 and seconds > 0):
            raise ModelError(f"draw_scaling: '{label}' took {seconds!r} s at size {n!r}; both must be positive on logarithmic axes")
        series.setdefault(label, []).append((float(n), float(seconds)))
    if not series:
        raise ModelError("draw_scaling: no rows; give (label, size, seconds) for each measurement")
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        ends = []
        for k, (label, points) in enumerate(series.items()):
            n, seconds = np.array(sorted(points)).T
            colour = SOLVERS[k % len(SOLVERS)]
            axes.loglog(n, seconds, "o", color=colour, ms=4.5, mec="white", mew=0.6, zorder=3)
            slope = fitted_slope(n, seconds, fit_from)
            text = label if slope is None else f"{label}  ∝ n$^{{{slope[0]:.2f}}}$"
            axes.loglog(n, seconds, "-", color=colour, lw=1.6, label=text)
            if slope is not None:
                x = n[n >= fit_from]
                axes.loglog(x, np.exp(slope[1]) * x ** slope[0], ":", color=mixed(colour, INK, 0.3), lw=1.0)
            ends.append((seconds[-1], k))
        handles, names = axes.get_legend_handles_labels()
        order = [k for _, k in sorted(ends, reverse=True)]
        axes.legend([handles[k] for k in order], [names[k] for k in order], loc="best")
        axes.set_xlabel(f"number of {size_label} n")
        axes.set_ylabel("time [s]")
        axes.set_title(title, pad=8)
        return saved(figure, path)


def fitted_slope(n: np.ndarray, seconds: np.ndarray, fit_from: float = 0.0) -> tuple[float, float] | None:
    """Exponent and log of the factor of the power law nearest to the measurements, or None for fewer than three.

    >>> import numpy as np
    >>> n = np.array([10.0, 100.0, 1000.0])
    >>> round(fitted_slope(n, 3e-6 * n**2)[0], 6)
    2.0
    """
    keep = n >= fit_from
    if keep.sum() < 3:
        return None
    slope, factor = np.polyfit(np.log(n[keep]), np.log(seconds[keep]), 1)
    return float(slope), float(factor)


def _refuse_undrawable(recording: Recording) -> None:
    if not len(recording):
        raise ModelError("the recording is empty, so there is nothing to draw; run the simulation first")
    refuse_soft(recording.model, "a drawing by matplotlib")
    farthest = np.abs(motion.poses(recording)[1]).max()
    if not farthest < FARTHEST:
        raise ModelError(f"the recording holds a body {farthest:.2g} m away, which no picture shows; draw a run that did not fail")


def _view(axes: Any, recording: Recording) -> Any:
    plane = motion.viewing_plane(recording)
    if plane is not None:
        from unibody.view.planar import PlanarView

        return PlanarView(axes, recording.model, plane)
    from unibody.view.spatial import SpatialView

    return SpatialView(axes, recording.model)


def _scenery(recording: Recording, frames: int) -> tuple[list[int], list[motion.Trace]]:
    return motion.shown_rows(recording, frames), motion.traces(recording)


def _figure_size(width: float, height: float) -> tuple[float, float]:
    """Inches for a drawing of the given shape, neither a ribbon nor a tower."""
    ratio = min(max(height / max(width, 1e-9), 0.35), 1.6)
    return (7.5, 7.5 * ratio + 0.8) if ratio <= 1.0 else (7.0 / ratio + 0.9, 7.8)


def _overlay(axes: Any, recordings: Sequence[Recording], labels: Sequence[str], title: str | None) -> None:
    first = recordings[0]
    rows, traces = _scenery(first, 5)
    view = _view(axes, first)
    view.extent(first, rows, traces)
    view.show(first, rows, traces)
    for k, other in enumerate(recordings[1:], start=1):
        view.overlay(other, min(rows[-1], len(other) - 1), SOLVERS[k % len(SOLVERS)], STYLES[k % len(STYLES)], motion.traces(other))
    view.finish()
    axes.set_title(title or f"t = {first.t[-1]:.4g} s", pad=8)
    _legend(axes, labels)


def _legend(axes: Any, labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.transforms import offset_copy

    handles: list[Any] = [Patch(facecolor=mixed(BODIES[0], "white", 0.12), edgecolor=INK, label=f"{labels[0]} (past: pale)")]
    for k, label in enumerate(labels[1:], start=1):
        handles.append(Line2D([], [], color=SOLVERS[k % len(SOLVERS)], ls=STYLES[k % len(STYLES)], lw=1.3, label=label))
    below = offset_copy(axes.transAxes, axes.figure, y=-36.0 if axes.axison else -4.0, units="points")
    columns = 2 if len(labels) > 3 else len(labels)
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.0), bbox_transform=below, ncols=columns, borderaxespad=0.0)


def _panels(panels: Sequence[Any], recordings: Sequence[Recording], labels: Sequence[str]) -> None:
    drift, violation, difference = panels
    for k, (recording, label) in enumerate(zip(recordings, labels, strict=True)):
        line = dict(color=SOLVERS[k % len(SOLVERS)], lw=1.7 if k == 0 else 1.4, ls=STYLES[k % len(STYLES)], label=label)
        drift.plot(recording.t, motion.energy_drift(recording), **line)
        violation.semilogy(recording.t, visible(recording.violation), **line)
        if k:
            apart = motion.position_difference(recording, recordings[0])
            difference.semilogy(recording.t[: len(apart)], visible(apart), **line)
    drift.set_title("energy drift", pad=5)
    drift.set_ylabel("[J]")
    drift.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    drift.legend(loc="best", handlelength=2.6)
    violation.set_title("constraint violation", pad=5)
    violation.set_ylabel("[m or rad]")
    difference.set_title(f"position difference to {labels[0]}", pad=5)
    difference.set_ylabel("[m]")
    difference.set_xlabel("time [s]")
    for panel in (drift, violation):
        panel.tick_params(labelbottom=False)
    for panel in panels:
        panel.set_xlim(recordings[0].t[0], max(r.t[-1] for r in recordings) or 1.0)
