"""Where the cameras of a page stand: presets that see all there is now, and following a body.

A ball of radius r is in view from the distance r / sin α, α being the smaller half angle of the picture: tan α = tan(fov/2) min(1, aspect).
Who follows keeps the camera's place beside what is followed, and looks at its centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unibody.view.look import Look
from unibody.view.snapshot import Snapshot

SPARE = 1.25
"""How much farther away a camera stands than it must."""
PRESETS = {"Front": (0.0, -1.0, 0.0), "Side": (1.0, 0.0, 0.0), "Top": (0.0, -1e-3, 1.0), "Corner": (0.75, -1.0, 0.5)}
"""Where from; in the view from the front x runs to the right and z upwards, from the top y upwards."""
NOBODY = "–"
MOST = 500
"""Bodies and deformables to choose from."""


def stand(low: np.ndarray, high: np.ndarray, away: Any, fov: float, aspect: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Where a camera stands and what it looks at, to see all between two corners from a side; `fov` [rad] from lower to upper edge."""
    middle, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    half = np.arctan(np.tan(0.5 * fov) * min(1.0, aspect))
    away = np.asarray(away, float)
    return middle + SPARE * radius / np.sin(half) * away / np.linalg.norm(away), middle


class ViewerCameras:
    """Buttons and a list. `clients()` gives viser's pages at the moment; all of them look from where one is asked to."""

    def __init__(self, gui: Any, look: Look, shown: Callable[[], Snapshot], clients: Callable[[], Iterable[Any]], on: Callable[..., None]):
        self._look, self._shown, self._clients = look, shown, clients
        self._followed: str | None = None
        names = [b.name for b in look.model.bodies[1:] if b.kind != "static"] + [d.name for d in look.model.deformables]
        buttons = gui.add_button_group("view", tuple(PRESETS))
        on(buttons.on_click, self.look_from)
        if names:
            follow = gui.add_dropdown("follow", [NOBODY, *names[:MOST]], initial_value=NOBODY)
            on(follow.on_update, self.follow)

    def look_from(self, preset: str) -> None:
        """See all there is now from a side; nobody is followed at that moment."""
        now = self._shown()
        low, high = self._look.bounds(now.R, now.p, now.x)
        for client in self._clients():
            camera = client.camera
            position, target = stand(low, high, PRESETS[preset], camera.fov, camera.aspect)
            with client.atomic():
                camera.position = position
                camera.look_at = target
        self.keep(now)

    def follow(self, name: str) -> None:
        """Keep a body or a deformable in the middle from now on, or nothing."""
        self._followed = None if name == NOBODY else name
        self.keep(self._shown())

    def keep(self, now: Snapshot) -> None:
        """Bring the cameras to what is followed, at an instant."""
        middle = self._middle(now)
        if middle is None or not np.isfinite(middle).all():
            return
        for client in self._clients():
            camera = client.camera
            shift = middle - np.asarray(camera.look_at, float)
            if np.abs(shift).max() > 1e-9:
                camera.position = np.asarray(camera.position, float) + shift  # what it looks at moves along

    def _middle(self, now: Snapshot) -> np.ndarray | None:
        model = self._look.model
        if self._followed is None:
            return None
        for deformable in model.deformables:
            if deformable.name == self._followed:
                return np.asarray(now.x[deformable.every].mean(axis=0))
        body = model.body(self._followed)
        return np.asarray(now.p[body] + now.R[body] @ model.bodies[body].com)
