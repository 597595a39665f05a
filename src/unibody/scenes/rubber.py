"""Rubber with something rigid in it: fingers with bones that grip, a tyre on its rim.

Vertices of a solid that are points of a body move with it exactly, so bones and rims need no glue. Two fingers that press with F each
carry up to 2 μ F by friction. Rubber is nearly incompressible: where a solid tyre is pressed flat it stretches along the ground, so that
it may roll farther in a turn than 2 π times its radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.gripper import lift_acceleration, lift_height, lift_rate
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.meshes import TetMesh
    from unibody.model import Body, Builder

G = 9.81
BALL = 0.03
"""Radius of what the fingers grip [m]."""
FINGER = (0.024, 0.024, 0.1)
"""[m]"""


PALM = 0.126
"""Its height at the start [m]."""
QUICK = 2.5
"""How much faster than the rigid gripper's arm this one rises."""


def rise(t: float) -> float:
    """The arm's way up [m]: by 15 cm between 0.3 s and 0.7 s."""
    return lift_height(0.5 + QUICK * (t - 0.3))


def rise_rate(t: float) -> float:
    """[m/s]"""
    return QUICK * lift_rate(0.5 + QUICK * (t - 0.3))


def rise_acceleration(t: float) -> float:
    """[m/s²]"""
    return QUICK**2 * lift_acceleration(0.5 + QUICK * (t - 0.3))


@scene("soft-finger", summary="two fingers of rubber with hinged bones in them close on a ball, lift it and hold it by friction")
def soft_finger(*, torque: float = 0.25, mass: float = 0.1, friction: float = 0.6, cells: int = 6, young: float = 2e5) -> Scene:
    """A ball of `mass` [kg] on a table; motors in the knuckles press with `torque` [N m] each, and an arm lifts them by 15 cm.
    A finger is a block of rubber with `young` [Pa], so many `cells` along and two across, around two bones with a hinge and a spring."""
    import unibody as ub

    require("soft-finger", torque > 0.0 and mass > 0.0, f"torque={torque:g}, mass={mass:g}; give more than 0")
    require("soft-finger", cells >= 4 and cells % 2 == 0, f"cells={cells}; give an even number from 4")
    b = ub.Builder()
    b.body("table", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(BALL), mass=mass, X_WB=Pose(p=(0, 0, BALL + 5e-4)))
    palm = b.body("palm", shape=ub.Box((0.15, 0.04, 0.02)), mass=0.3, X_WB=Pose(p=(0, 0, PALM)))
    b.joint("arm", ub.Prismatic(axis=(0, 0, 1)), b.world, palm, X_PF=Pose(p=(0, 0, PALM)))
    b.add(ub.PrescribedJoint("arm", rise, rate=rise_rate, acceleration=rise_acceleration), name="lift")
    for name, side in (("left", -1.0), ("right", 1.0)):
        _finger(b, name, side, palm, torque, cells, young)
    b.add(ub.Contact(friction=friction, damping=1e-3, reach=5e-4), name="contact")
    notes = "Rubber closes around the ball; friction carries it, and once lifted it does not creep but for friction's smoothing."
    return Scene(b.build(), duration=1.2, dt=0.01, notes=notes, solver="barrier")


def _finger(b: Builder, name: str, side: float, palm: Body, torque: float, cells: int, young: float) -> None:
    """Two bones under the palm, the upper one driven, and rubber around both."""
    import unibody as ub

    x, middle, half = side * (BALL + 0.5 * FINGER[0] + 0.005), 0.062, 0.5 * FINGER[2]
    bone = ub.Capsule(3e-3, 0.6 * half)
    upper = b.body(f"{name}.upper", shape=bone, mass=0.02, X_WB=Pose(p=(x, 0, middle + 0.5 * half)))
    lower = b.body(f"{name}.lower", shape=bone, mass=0.02, X_WB=Pose(p=(x, 0, middle - 0.5 * half)))
    closes = ub.Revolute(axis=(0, side, 0))
    knuckle = Pose(p=(0, 0, 0.5 * half + 0.008))
    b.joint(f"{name}.knuckle", closes, palm, upper, X_PF=Pose(p=(x, 0, middle + half + 0.008 - PALM)), X_BM=knuckle)
    ends = Pose(p=(0, 0, -0.5 * half)), Pose(p=(0, 0, 0.5 * half))
    b.joint(f"{name}.hinge", closes, upper, lower, *ends, stiffness=0.5, damping=5e-3)
    b.add(ub.Motor(f"{name}.knuckle", effort=torque, kd=0.05), name=f"{name}.motor")
    rubber = ub.NeoHookean(young=young, poisson=0.4, damping=2e-3)
    flesh = b.soft(f"{name}.rubber", ub.TetMesh.box(FINGER, (2, 2, cells)), rubber, 1000.0, X_WB=Pose(p=(x, 0, middle)))
    at = flesh.vertices.x - [x, 0.0, middle]
    inside = (np.abs(at[:, :2]).max(axis=1) < 1e-9) & (np.abs(at[:, 2]) < half - 1e-9)
    b.attach(flesh.vertices[inside & (at[:, 2] > 1e-9)], upper)
    b.attach(flesh.vertices[inside & (at[:, 2] < -1e-9)], lower)


@dataclass(frozen=True)
class Wheel:
    """What the ground carries, and how large it is."""

    weight: float
    """[N]"""
    radius: float
    """Without load [m]."""


@scene("tyre", summary="a rubber tyre on a loaded rim rolls over the ground, flat where it touches")
def tyre(*, load: float = 15.0, speed: float = 0.5, sectors: int = 32, young: float = 2e5, friction: float = 0.8) -> Scene:
    """A tyre of 30 cm, 5 cm thick and 6 cm wide, of so many `sectors`, on a rim of `load` [kg] that rolls with `speed` [m/s] at first."""
    import unibody as ub

    require("tyre", load > 0.0, f"load={load:g}; give more than 0")
    require("tyre", sectors >= 8, f"sectors={sectors}; give 8 or more")
    outer, inner, wide = 0.15, 0.1, 0.06
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    motion = (0, speed / outer, 0, speed, 0, 0)
    centre = Pose(p=(0, 0, outer + 1e-3))
    lying = ub.Placed(ub.Cylinder(0.97 * inner, 0.8 * wide), Pose.about((1, 0, 0), 0.5 * math.pi))
    rim = b.body("rim", shape=lying, mass=load, X_WB=centre, V_WB=motion)
    rubber = ub.NeoHookean(young=young, poisson=0.45, damping=2e-3)
    mesh = ring(inner, outer, wide, sectors, 2, 1)
    soft = b.soft("tyre", mesh, rubber, 1000.0, X_WB=centre, V_WB=motion)
    at = soft.vertices.x - np.array(centre.p)
    b.attach(soft.vertices[np.hypot(at[:, 0], at[:, 2]) < inner + 1e-9], rim)
    b.add(ub.Contact(friction=friction, damping=1e-3), name="contact")
    weight = G * (load + 1000.0 * float(mesh.volumes.sum()))
    notes = "It settles into its contact patch and rolls on; rubber's damping and the time rule slow it."
    return Scene(b.build(), duration=1.0, dt=0.01, exact=Wheel(weight, outer), notes=notes, solver="barrier")


def ring(inner: float, outer: float, wide: float, sectors: int, across: int, along: int) -> TetMesh:
    """A TetMesh between two cylinders about the y axis, each cell six tetrahedra around its diagonal."""
    import unibody as ub

    box = ub.TetMesh.box((outer - inner, wide, 1.0), (across, along, sectors))
    return bent(box, 0.5 * (inner + outer), sectors)


def torus(radius: float, thick: float, sectors: int, across: int) -> TetMesh:
    """A round ring about the y axis, 2 `thick` through, its middle line a circle of `radius`."""
    import unibody as ub

    return bent(ub.TetMesh.cylinder(thick, 1.0, (across, sectors)), radius, sectors)


def bent(bar: TetMesh, radius: float, sectors: int) -> TetMesh:
    """A bar along z, 1 long and of so many layers, bent to a ring of `radius` about the y axis: its x points outwards."""
    import unibody as ub

    layer = np.round((bar.vertices[:, 2] + 0.5) * sectors).astype(int)
    r, angle = radius + bar.vertices[:, 0], 2.0 * math.pi * layer / sectors
    x = np.stack([r * np.cos(angle), bar.vertices[:, 1], -r * np.sin(angle)], axis=1)
    # the last layer is the first again
    place = [(*np.round(p, 9), t % sectors) for p, t in zip(bar.vertices[:, :2].tolist(), layer.tolist(), strict=True)]
    first = {where: k for k, where in reversed(list(enumerate(place)))}
    same = np.array([first[where] for where in place])
    kept, number = np.unique(same, return_inverse=True)
    tets = number[bar.tets]
    flipped = np.linalg.det(x[kept][tets[:, 1:]] - x[kept][tets[:, :1]]) < 0.0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return ub.TetMesh(x[kept], tets)
