"""A vehicle with a cylinder engine on uneven ground (paper 003, Fig. 10): ten bodies, hinges, point connections, friction at the wheels.

A piston slides in a cylinder on the chassis, its rod turns a crank, and the crank sits on the rear right wheel; the other wheels are
passive. The pull on the piston has a constant size. One that never changed sides would do no work over a turn, so a valve that the crank
moves gives it to the other side of the piston at each dead centre, as in a steam engine:

    f = −F tanh(sin θ / s),      θ the crank's angle, the pin at (cos θ, −sin θ) from the axle
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import APPLIED_POWER, Kinematics, name_of, number
from unibody.forces.base import Force, Loads
from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Cylinder, Mesh, OpenMesh, Placed
from unibody.spatial.pose import Pose

LENGTH, WIDTH = 12.0, 6.0
"""Of the ground [m]."""
RADIUS, BROAD = 0.3, 0.12
"""Of a wheel [m]."""
CRANK, ROD, STEM = 0.12, 0.35, 0.33
"""Radius of the crank's pin, length of the rod, and from the rod's end to the middle of the piston [m]."""
ENGINE = -0.46
"""y of the plane in which the rod moves [m]."""
SIDE = Pose.about((1, 0, 0), 0.5 * math.pi)


@dataclass(frozen=True)
class ValvedPull(Force):
    """`force` [N] along the slide of a piston, on the side that drives the crank forwards; it changes sides over a band of `width` of the
    sine of the crank's angle."""

    piston: Any
    crank: Any
    force: float
    width: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "piston", name_of(self.piston, "ValvedPull piston"))
        object.__setattr__(self, "crank", name_of(self.crank, "ValvedPull crank"))
        object.__setattr__(self, "force", number(self.force, "ValvedPull force"))
        object.__setattr__(self, "width", number(self.width, "ValvedPull width", positive=True))

    def joints(self) -> list[str]:
        return [self.piston, self.crank]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        pull = -self.force * math.tanh(math.sin(kinematics.joint_q(self.crank)[0]) / self.width)
        loads.add_effort(self.piston, np.array([pull]))
        loads.ledger[APPLIED_POWER] += pull * kinematics.joint_v(self.piston)[0]


def ground_height(x: np.ndarray, y: np.ndarray, bumps: float) -> np.ndarray:
    """Flat where the vehicle starts, then hills of height `bumps` [m], about 2 m long and different on both sides."""
    begins = np.clip((x - 1.3) / 1.5, 0.0, 1.0)
    waves = np.sin(2.9 * x + 0.8 * np.sin(1.3 * y)) * np.cos(1.1 * y + 0.4 * x) + 0.3 * np.sin(6.1 * x - 2.0 * y)
    return bumps * begins**2 * (3.0 - 2.0 * begins) * waves


def terrain(cells: int, bumps: float) -> OpenMesh:
    """A height field of `cells` × `cells` / 2 squares, in two triangles each."""
    across = max(2, cells // 2)
    x, y = np.linspace(-2.0, LENGTH - 2.0, cells + 1), np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, across + 1)
    X, Y = (a.ravel() for a in np.meshgrid(x, y, indexing="ij"))
    i, j = (a.ravel() for a in np.meshgrid(np.arange(cells), np.arange(across), indexing="ij"))
    a, b = i * (across + 1) + j, (i + 1) * (across + 1) + j
    faces = np.concatenate([np.stack([a, b, b + 1], axis=1), np.stack([a, b + 1, a + 1], axis=1)])
    return OpenMesh(np.stack([X, Y, ground_height(X, Y, bumps)], axis=1), faces)


def tube(inner: float, outer: float, length: float, sides: int = 16) -> Mesh:
    """A tube along x, open at both ends."""
    angle = 2.0 * math.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    corners = ((0.0, outer), (length, outer), (length, inner), (0.0, inner))
    vertices = np.concatenate([np.column_stack([np.full(sides, x), r * ring]) for x, r in corners])
    here = np.arange(sides)
    after = (here + 1) % sides
    faces = []
    for k in range(4):
        low, high = k * sides, (k + 1) % 4 * sides
        faces += [np.stack([low + here, low + after, high + after], axis=1), np.stack([low + here, high + after, high + here], axis=1)]
    return Mesh(vertices, np.concatenate(faces))


@scene("terrain-vehicle", summary="A vehicle driven by a cylinder engine on one wheel crosses uneven ground")
def terrain_vehicle(*, force: float = 600.0, bumps: float = 0.05, cells: int = 48, sides: int = 32, friction: float = 0.8) -> Scene:
    """Chassis (1.5 × 0.7 × 0.1 m, 54 kg), four wheels of radius 0.3 m with `sides` sides (10 kg each) 1.1 m and 1.24 m apart, on the rear
    right one a crank of 0.12 m, a rod of 0.35 m, a piston that is pulled with `force` [N], its cylinder: 106 kg on a static ground of
    12 × 6 m with hills of `bumps` [m], as `cells` × `cells` / 2 squares (260 make 34 000 nodes, the paper's number). The wheel gets
    2 F r / π on average, 46 N m: enough for a slope of 1 : 7, and less than friction holds."""
    import unibody as ub

    require("terrain-vehicle", cells >= 8 and sides >= 8, f"cells={cells}, sides={sides}; give at least 8 of each")
    require("terrain-vehicle", 0.0 <= bumps <= 0.2, f"bumps={bumps:g}; give 0 … 0.2 m, a third of a wheel's height")
    b = ub.Builder()
    b.body("ground", shape=terrain(cells, bumps), kind="static")
    start = Pose(p=(0, 0, RADIUS + 1e-3))
    plate = [Placed(Box((1.5, 0.7, 0.1)), Pose(p=(0, 0, 0.16))), Placed(Box((0.1, 1.08, 0.1)), Pose(p=(0.55, 0, 0.05)))]
    plate += [Placed(Box((0.1, 0.95, 0.1)), Pose(p=(-0.55, 0.065, 0.05)))]
    chassis = b.body("chassis", shape=plate, density=430.0, X_WB=start)
    wheel = Placed(Mesh(*Cylinder(RADIUS, BROAD).triangles(sides)), SIDE)
    hinge = ub.Revolute(axis=(0, 1, 0))
    for name, x, y in (("rear_right", -0.55, -0.62), ("rear_left", -0.55, 0.62), ("front_right", 0.55, -0.62), ("front_left", 0.55, 0.62)):
        b.body(name, shape=wheel, density=300.0)
        b.joint(f"{name}.axle", hinge, chassis, name, X_PF=Pose(p=(x, y, 0)), q=0.5 * math.pi if name == "rear_right" else 0.0)
    _engine(b, chassis)
    b.add(ValvedPull("slide", "rear_right.axle", force), name="pull")
    b.add(ub.Contact(friction=friction, reach=2e-3), name="contact")
    notes = "It rolls slowly at first, at 2 m/s after 2 s, and drifts to the left, as its right wheel alone drives; hills swing it."
    # Corners of the wheels' sides cost rigid impacts much of the engine's work; barriers roll over them.
    return Scene(b.build(), duration=5.0, dt=1.0 / 24.0, notes=notes, solver="barrier")


def _engine(b: Any, chassis: Any) -> None:
    """Crank on the rear right wheel, rod, piston, cylinder; the crank stands at 90°, the pin below the axle."""
    import unibody as ub

    hinge = ub.Revolute(axis=(0, 1, 0))
    arm = ENGINE + 0.62
    pin = Placed(Cylinder(0.02, 0.05), Pose(SIDE.p + np.array([CRANK, arm - 0.03, 0]), SIDE.wxyz))
    disc = Placed(Cylinder(0.15, 0.04), Pose(np.array([0, arm - 0.06, 0]), SIDE.wxyz))
    crank = b.body("crank", shape=[disc, pin], density=2000.0)
    b.joint("crank.fixed", ub.Weld(), "rear_right", crank)
    cylinder = b.body("cylinder", shape=tube(0.055, 0.07, 0.36), density=2000.0)
    b.joint("cylinder.fixed", ub.Weld(), chassis, cylinder, X_PF=Pose(p=(-0.05, ENGINE, 0)))
    piston = b.body("piston", shape=[_along_x(0.05, 0.06, STEM), _along_x(0.015, STEM - 0.03, 0.5 * (STEM - 0.03))], density=2000.0)
    way = math.sqrt(ROD**2 - CRANK**2)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), cylinder, piston, X_PF=Pose(p=(-0.5, 0, 0)), q=way)
    rod = b.body("rod", shape=Placed(Box((ROD, 0.03, 0.03)), Pose(p=(-0.5 * ROD, 0, 0))), density=2000.0)
    b.joint("wrist", hinge, piston, rod, q=-math.asin(CRANK / ROD))
    b.joint("pin", ub.Ball(), rod, crank, X_PF=Pose(p=(-ROD, 0, 0)), X_BM=Pose(p=(CRANK, arm, 0)))


def _along_x(radius: float, length: float, middle: float) -> Placed:
    return Placed(Cylinder(radius, length), Pose.about((0, 1, 0), 0.5 * math.pi, p=(middle, 0, 0)))
