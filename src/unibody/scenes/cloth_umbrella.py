"""An umbrella with its cloth (paper 003, Fig. 4): a pole, six ribs, six stretchers and a runner, under a pyramid of cloth.

A rib of length L is hinged to the crown at the height H, a stretcher of length m to the runner at the height z, both at the distance c
from the axis; the stretcher's end is a point of the rib, m from its hinge. They make an isosceles triangle, so that a rib stands at the
angle α below the level with

    H − z = 2 m sin α.

The cloth is a pyramid over open ribs; its vertices along each rib are points of that rib. Closing, the tips of two ribs come nearer by

    |2 (c + L cos α) sin 30°|,       from α₀ to α₁,

and the cloth between them, which cannot be pressed, folds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose
from unibody.spatial.table import Table

if TYPE_CHECKING:
    from unibody.meshes import TriMesh
    from unibody.model import Body, Builder

RIBS = 6
TOP, LENGTH, CROWN = 0.6, 0.4, 0.02
"""Height of the crown H, length of ribs L, and distance of hinges from the axis c [m]."""
ARM = 0.2
"""Length of a stretcher, and of the part of the rib above it, m [m]."""
OPEN, CLOSED = math.radians(20.0), math.radians(72.0)
"""Angles of ribs below the level."""
RADIUS, THICKNESS, REACH = 1.5e-3, 4e-4, 4e-4
"""Of ribs and stretchers; of the cloth; where contact begins [m]."""
BEGIN = 0.05
"""When the runner begins to move [s]."""


@dataclass(frozen=True)
class UmbrellaFrame:
    """Where the skeleton is, from the way of the runner."""

    closing: float
    """How long the runner takes [s]."""
    back: bool

    def runner(self, t: float) -> float:
        """Height of the runner [m]."""
        s = (t - BEGIN) / self.closing
        s = min(1.0, max(0.0, 2.0 - s if self.back and s > 1.0 else s))
        return TOP - 2.0 * ARM * (math.sin(OPEN) + (math.sin(CLOSED) - math.sin(OPEN)) * s * s * (3.0 - 2.0 * s))

    def angle(self, t: float) -> float:
        """α of the ribs [rad]."""
        return math.asin((TOP - self.runner(t)) / (2.0 * ARM))

    def between_tips(self, t: float) -> float:
        """Distance of the tips of two ribs [m]."""
        return CROWN + LENGTH * math.cos(self.angle(t))


@scene("cloth-umbrella", summary="an umbrella closes, and opens again: thirteen rods, a runner, and a pyramid of cloth that wrinkles")
def cloth_umbrella(*, rows: int = 10, moves: Literal["close", "close-open"] = "close-open", closing: float = 0.6) -> Scene:
    """A cloth of 6 `rows`² triangles (the paper's 30 000 vertices: rows=99) on the ribs of an umbrella whose runner is drawn down within
    `closing` [s], and up again in as long."""
    import unibody as ub

    require("cloth-umbrella", rows >= 4, f"rows={rows}; give 4 or more")
    require("cloth-umbrella", closing > 0.0, f"closing={closing:g}; give more than 0")
    back = moves == "close-open"
    frame = UmbrellaFrame(closing, back)
    b = ub.Builder()
    pole = b.body("pole", shape=ub.Cylinder(4e-3, TOP - 0.004), kind="static", X_WB=Pose(p=(0, 0, 0.5 * TOP)))
    start = frame.runner(0.0) - 0.5 * TOP
    runner = b.body("runner", shape=ub.Cylinder(0.015, 0.03), mass=0.02)
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), pole, runner, X_PF=Pose(p=(0, 0, start)))
    b.add(ub.PrescribedJoint("slide", _slide(frame)), name="hand")
    ribs = _skeleton(b, pole, runner)
    # cloth over the ribs, which hold it along its six edges
    mesh = pyramid(rows)
    silk = ub.Fabric(young=1e6, poisson=0.3, thickness=THICKNESS, damping=1e-3)
    canopy = b.cloth("canopy", mesh, silk, 500.0)
    b.attach(canopy.vertices[[0]], pole, name="top")
    spokes = edge_vertices(rows)
    x = mesh.vertices
    for k, rib in enumerate(ribs):
        held = spokes[k][np.hypot(*x[spokes[k], :2].T) > CROWN]
        b.attach(canopy.vertices[held], rib, name=f"seam{k}")
    b.add(ub.Contact(self_contact=True, reach=REACH), name="contact")
    b.add(ub.Contact(between=(["canopy"], [rib.name for rib in ribs])), name="on ribs")
    notes = "Ribs stand at exact.angle(t). The cloth, which is not pressed together, folds between them, and is taut again in the end."
    duration = BEGIN + (2.0 if back else 1.0) * closing + 0.25
    return Scene(b.build(), duration, dt=0.01, exact=frame, notes=notes, solver="barrier")


def _slide(frame: UmbrellaFrame) -> Table:
    """The way of the runner over time; it stays where it ends."""
    end = BEGIN + (2.0 if frame.back else 1.0) * frame.closing
    times = [*np.linspace(0.0, end + 1.0, 100 + round(100.0 / frame.closing)).tolist(), end + 100.0]
    return Table.of(lambda t: frame.runner(t) - frame.runner(0.0), times)


def _skeleton(b: Builder, pole: Body, runner: Body) -> list[Body]:
    """Ribs on the crown and stretchers on the runner, and what joins them; returns the ribs."""
    import unibody as ub

    ribs, hinge = [], ub.Revolute(axis=(0, 1, 0))
    for k in range(RIBS):
        out = Pose.about((0, 0, 1), 2.0 * math.pi * k / RIBS)
        at = out.R @ np.array([CROWN, 0.0, 0.0])
        rods = []
        for name, length, parent, height, angle in (
            ("rib", LENGTH, pole, 0.5 * TOP, OPEN), ("stretcher", ARM, runner, 0.0, -OPEN),
        ):  # fmt: skip
            wire = ub.Wire([(-0.5 * length, 0, 0), (0.5 * length, 0, 0)], radius=RADIUS)
            rod = b.body(f"{name}{k}", shape=wire, mass=0.02 * length / LENGTH)
            X_PF = Pose(p=at + [0, 0, height]) @ out
            b.joint(f"{name}{k}.hinge", hinge, parent, rod, X_PF, Pose(p=(-0.5 * length, 0, 0)), q=angle)
            rods.append(rod)
        ends = Pose(p=(ARM - 0.5 * LENGTH, 0, 0)), Pose(p=(0.5 * ARM, 0, 0))
        b.joint(f"elbow{k}", ub.Ball(), rods[0], rods[1], *ends, q=turn_about_y(-2.0 * OPEN))
        ribs.append(rods[0])
    return ribs


def turn_about_y(angle: float) -> tuple[float, float, float, float]:
    """As a quaternion wxyz."""
    return math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0


def edge_vertices(rows: int) -> list[np.ndarray]:
    """Vertices along each of the six edges of `pyramid(rows)`, from the one next to the top."""
    i = np.arange(1, rows + 1)
    return [1 + 3 * i * (i - 1) + k * i for k in range(RIBS)]


def pyramid(rows: int) -> TriMesh:
    """Six flat sides that meet at the top, over open ribs and just above them, each of `rows`² triangles; the top is vertex 0, then come
    rings around it, each from the first edge on."""
    import unibody as ub

    gap = (RADIUS + 0.5 * THICKNESS + 1.25 * REACH) / math.cos(OPEN)
    wide = CROWN + LENGTH * math.cos(OPEN)
    corners = np.array([(math.cos(2.0 * math.pi * k / RIBS), math.sin(2.0 * math.pi * k / RIBS)) for k in range(RIBS + 1)])
    points, faces = [(0.0, 0.0, 0.0)], []
    for i in range(1, rows + 1):
        before, own = 1 + 3 * (i - 1) * (i - 2), 1 + 3 * i * (i - 1)
        for k in range(RIBS):
            for j in range(i):
                across = corners[k] * (1.0 - j / i) + corners[k + 1] * (j / i)
                points.append((*(wide * i / rows * across), -wide * i / rows * math.tan(OPEN)))
                a, c = own + k * i + j, own + (k * i + j + 1) % (6 * i)
                inner = 0 if i == 1 else before + (k * (i - 1) + j) % (6 * (i - 1))
                faces.append((a, c, inner))
                if j:
                    faces.append((a, inner, before + k * (i - 1) + j - 1))
    x = np.array(points) + [0.0, 0.0, TOP + CROWN * math.tan(OPEN) + gap]
    return ub.TriMesh(x, np.array(faces))
