"""Pictures of a model in motion, drawn by this program itself: no graphics card, no screen and no graphics library are asked for.

The camera is fitted to everything that moves at all times shown: a three-quarter view, or from the side if all moves in one plane. A floor
much larger than what moves does not count. A picture of one state that is small beside the whole motion frames that
state alone. Bodies cast shadows on the ground, not on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.element import number
from unibody.errors import ModelError
from unibody.model import Model
from unibody.simulation import Recording
from unibody.view import motion
from unibody.view.framing import on_floor
from unibody.view.look import Look, ground_height
from unibody.view.render_camera import View, beside, facing, fitted, turned
from unibody.view.render_caption import caption
from unibody.view.render_ground import ground
from unibody.view.render_paint import Painter
from unibody.view.render_scenery import Scales, Scenery
from unibody.view.snapshot import Snapshot
from unibody.view.soft import with_points
from unibody.view.spatial import nice

SIZE = (1280, 720)
FEWEST, MOST = 16, 8192
"""Pixels of a side."""
ROWS = 60
"""Recorded states that the camera is fitted to, at most."""
RAISED = np.radians(9.0)
"""How far above the horizon a planar mechanism is seen from."""
ASIDE = np.radians(14.0)
"""How far from the side a mechanism in space is seen from that moves in one plane."""
COLOURS = ("body", "strain")
SMALL = 0.4
"""A state that is shown alone and reaches over less than this part of the whole motion is framed for itself."""
FARTHEST = 1e9
"""Positions beyond this [m] come from runs that failed."""


class Renderer:
    """Draws snapshots of one model with one camera.

    The camera is fitted to the recording if there is one, else to the model's start; `camera` is (azimuth, elevation) in degrees, and
    as a third number the distance [m] from what it looks at. `colour` "strain" shows deformables grey, red where they are stretched and
    blue where they are pressed. `finer`² samples make a pixel. `only`: the number of the one recorded state that will be shown.
    """

    def __init__(
        self, model: Model, size: tuple[int, int] = SIZE, *, recording: Recording | None = None, camera: Sequence[float] | None = None,
        reactions: bool = False, frames: bool = False, title: str | None = None, finer: int = 2, colour: str = "body",
        only: int | None = None,
    ):  # fmt: skip
        width, height = (int(n) for n in size)
        if not (FEWEST <= min(width, height) and max(width, height) <= MOST):
            raise ModelError(f"picture of {width}×{height} pixels: give each side {FEWEST} to {MOST}, for example 1280x720")
        if colour not in COLOURS:
            raise ModelError(f"colour {colour!r} is unknown; give {' or '.join(map(repr, COLOURS))}")
        self.look, self.title, self._strain = Look(model), title, colour == "strain"
        rows = [] if recording is None else rows_to_fit(recording)
        rows, R, p, x = self._framed(recording, rows, only)
        low, high = self.look.bounds(R, p, x)
        span = max(float((high - low).max()), 1e-6)
        self.floor = self._ground_of_model() if self.look.has_ground else min(self.look.ground_under(low, high), float(low[2]))
        points = np.concatenate([self.look.outline(R, p, x), on_floor(low, high, self.floor)])
        points = points if len(points) else np.array([low, high])
        self.view = self._camera(recording, camera, points, low, high, (width, height))
        self.grid = nice(span / 12.0)
        self._ground = ground(self.view, self.floor, self.grid, 1.6 * span)
        scales = self._scales(recording, rows, span)
        self._scenery = Scenery(self.look, scales.strained(self.look, x) if self._strain else scales, reactions, frames, self._strain)
        level = np.array([1.0, 1.0, 0.0])
        sun = -0.5 * self.view.axes[0] * level + 0.85 * self.view.axes[2] * level + np.array([0.0, 0.0, 1.25])
        self._sun = sun / np.linalg.norm(sun)
        self._painter = Painter(self.view, self._sun, finer, self.floor)
        self._fixed = recording is not None

    def image(self, snapshot: Snapshot) -> np.ndarray:
        """(rows, columns, 3) uint8."""
        if not self._fixed:
            scales = self._scenery.scales.grown(snapshot)
            self._scenery.scales = scales.strained(self.look, snapshot.x) if self._strain else scales
        solids, strands = self._scenery.solids(snapshot, self.floor), self._scenery.strands(snapshot, self.view)
        casting = [s.x[s.faces] for s in (*solids, *strands) if s.opacity > 0.3]
        picture = self._ground.shaded(np.concatenate(casting) if casting else np.zeros((0, 3, 3)), self._sun)
        self._painter.paint(picture, [*solids, *strands, *self._scenery.marks(snapshot)])
        out = (255.0 * np.clip(picture, 0.0, 1.0) + 0.5).astype(np.uint8)
        strain = f"    colour: strain to ±{100.0 * self._scenery.scales.strain:.2g} %" if self._strain else ""
        return out if self.title is None else caption(out, f"{self.title}    t = {snapshot.time:.3f} s    grid {self.grid:g} m{strain}")

    def project(self, x: np.ndarray) -> np.ndarray:
        """(…, 2) column and row of world points (…, 3) in the pictures."""
        return self.view.pixels(np.asarray(x, float))[..., :2]

    def _framed(
        self, recording: Recording | None, rows: list[int], only: int | None
    ) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of the states that the camera is fitted to, and of these R, p of bodies and of points of deformables, and vertices.

        Besides `rows` those where anything is outermost. If one state alone is shown, and small in the picture of all, that one.
        """
        if recording is None:
            R, p = self.look.start
            return rows, R[None], p[None], self.look.start_vertices[None]
        told = [o.vertices for o in recording.observations if o.vertices is not None]
        x = np.array(told) if told else np.broadcast_to(self.look.start_vertices, (len(recording), *self.look.start_vertices.shape))
        R, p = with_points(self.look.model, *motion.poses(recording), x)
        farthest = float(max(np.abs(p).max(initial=0.0), np.abs(x).max(initial=0.0)))
        if not farthest < FARTHEST:
            raise ModelError(f"the recording holds a body {farthest:.2g} m away, which no picture shows; render a run that did not fail")
        places = [places for places in (p, x) if places.size]
        ends = [end(reach(places, axis=1), axis=0) for places in places for end, reach in ((np.argmin, np.min), (np.argmax, np.max))]
        rows = sorted({*rows, *(int(k) for k in np.concatenate(ends)), *(() if only is None else (only,))})
        if only is not None:
            size = [float(np.ptp(self.look.bounds(R[some], p[some], x[some]), axis=0).max()) for some in ([only], rows)]
            rows = [only] if size[0] < SMALL * size[1] else rows
        return rows, R[rows], p[rows], x[rows]

    def _ground_of_model(self) -> float:
        R, p = self.look.start
        planes = [s.placed(R, p) for s in self.look.solids if s.kind == "plane"]
        level = [float(x[2]) for axes, at in planes for U, x in zip(axes, at, strict=True) if U[2, 2] > 1.0 - 1e-9]
        low, high = self.look.bounds(R, p)
        return max(level) if level else ground_height(low, high)

    def _camera(
        self, recording: Recording | None, asked: Sequence[float] | None, points: np.ndarray, low: np.ndarray, high: np.ndarray,
        size: tuple[int, int],
    ) -> View:  # fmt: skip
        if asked is not None:
            if len(asked) not in (2, 3):
                raise ModelError(f"camera {tuple(asked)}: give azimuth and elevation in degrees, and a distance in metres if wanted")
            azimuth, elevation = (np.radians(number(a, "camera")) for a in asked[:2])
            away = number(asked[2], "camera's distance", positive=True) if len(asked) == 3 else None
            return fitted(turned(azimuth, elevation), points, size, away)
        plane = self.look.model.plane if recording is None else motion.viewing_plane(recording)
        if plane is not None:
            raised = RAISED if abs(plane[1][2]) > 0.9 else 0.0
            return fitted(facing(plane, raised, 0.0 if self.look.model.planar else ASIDE), points, size)
        return fitted(beside(low, high), points, size)

    def _scales(self, recording: Recording | None, rows: list[int], span: float) -> Scales:
        scales = Scales(span, 1e-9, 1e-9, 1e-9)
        for seen in [recording.observations[k] for k in rows] if recording is not None else ():
            scales = scales.grown(Snapshot.of(self.look, seen))
        return scales


def rows_to_fit(recording: Recording) -> list[int]:
    """Numbers of the recorded states that the camera is fitted to."""
    if not len(recording):
        raise ModelError("the recording is empty, so there is nothing to draw; run the simulation first")
    return sorted({int(k) for k in np.linspace(0, len(recording) - 1, ROWS).round()})

