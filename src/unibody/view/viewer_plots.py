"""Live plots beside the scene: energies, constraint violation on a logarithmic scale, and the coordinates of a chosen joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.view.style import BODIES, INK
from unibody.view.viewer_player import Player

MOST_POINTS = 400
"""Of a curve; a longer history is thinned."""
MOST_CURVES = 7
"""Coordinates of one joint."""
SMALLEST = 1e-18
"""A violation below this is drawn here, because zero has no logarithm."""
GRID = {"stroke": "#e8ecf0", "width": 1}


class Plots:
    """A panel with three plots. `gui` is viser's."""

    def __init__(self, gui: Any, player: Player):
        self._gui, self._player = gui, player
        self._joints = {j.name: j for j in player.model.joints if j.nq}
        self._drawn: Any = None
        panel = gui.add_panel()
        self._tab = panel.add_tab("Plots")
        with self._tab:
            self._energy = self._add("energy [J]", ("kinetic", "potential", "total"))
            self._violation = self._add("log₁₀ constraint violation [m or rad]", ("log₁₀ |C|",))
            self._shown = next(iter(self._joints), None)
            if self._shown is not None:
                self._choice = gui.add_dropdown("joint", list(self._joints), initial_value=self._shown)
                self._joint = self._add_joint(self._shown)
        panel.dock_left()
        panel.set_width(340)

    def _add(self, title: str, curves: tuple[str, ...]) -> Any:
        series = ({"label": "t [s]"}, *({"label": c, "stroke": BODIES[k % len(BODIES)], "width": 2} for k, c in enumerate(curves)))
        axis = {"stroke": INK, "grid": GRID, "ticks": GRID, "font": "11px sans-serif"}
        data = tuple(np.array([0.0, 1e-9]) if k == 0 else np.zeros(2) for k in range(len(series)))
        return self._gui.add_uplot(
            data,
            series,
            title=title,
            scales={"x": {"time": False}},
            axes=(axis, axis | {"size": 62}),
            height=150,
            padding=(4, 10, 0, 0),
            legend={"live": False},
        )

    def _add_joint(self, name: str) -> Any:
        return self._add(f"coordinates of {name} [rad or m]", tuple(f"q{k}" for k in range(min(self._joints[name].nq, MOST_CURVES))))

    def refresh(self) -> None:
        """Draw what is new; called a few times a second."""
        chosen = None if self._shown is None else self._choice.value
        t, numbers = self._player.history.series(MOST_POINTS)
        now = (len(self._player.history), self._player.history.end, len(t), chosen)
        if len(t) < 2 or now == self._drawn:
            return
        self._drawn = now
        kinetic, potential, violation = numbers[:, 0], numbers[:, 1], numbers[:, 2]
        self._energy.data = (t, kinetic, potential, kinetic + potential)
        self._violation.data = (t, np.log10(np.maximum(violation, SMALLEST)))
        if chosen is not None:
            self._draw_joint(chosen, t, numbers)

    def _draw_joint(self, chosen: str, t: np.ndarray, numbers: np.ndarray) -> None:
        if chosen != self._shown:
            self._joint.remove()
            with self._tab:
                self._joint = self._add_joint(chosen)
            self._shown = chosen
        joint = self._joints[chosen]
        first = 3 + joint.q_start
        self._joint.data = (t, *numbers[:, first : first + min(joint.nq, MOST_CURVES)].T)
