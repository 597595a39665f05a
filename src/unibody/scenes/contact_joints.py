"""Joints with ranges among bodies that touch (paper 003, §6.1): boards on hinges, a monocular, nunchakus, a triple pendulum, a unicycle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Cylinder, Mesh, Plane, Sphere
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Builder


@scene("triple-rod-pendulum", summary="Three rods joined by balls swing chaotically (point connections)")
def triple_rod_pendulum(*, length: float = 0.5, degrees: float = 90.0) -> Scene:
    """Three rods of `length` [m], 0.04 m thick, 1000 kg/m³, joined at their ends by ball joints, the first end fixed; they start in a line
    at `degrees` from hanging and may touch each other."""
    import unibody as ub

    require("triple-rod-pendulum", length > 0.1, f"length={length:g}; give more than 0.1")
    b = ub.Builder()
    last, at = b.world, Pose.about((0, 1, 0), -math.radians(degrees))
    for k in range(3):
        rod = b.body(f"rod{k}", shape=Box((0.04, 0.04, length - 0.06)))
        b.joint(f"point{k}", ub.Ball(), last, rod, X_PF=at, X_BM=Pose(p=(0, 0, 0.5 * length)))
        last, at = rod, Pose(p=(0, 0, -0.5 * length))
    b.add(ub.Contact(reach=2e-3), name="contact")
    return Scene(b.build(), duration=3.0, dt=0.005, notes="Chaotic: compare solvers only over the first second.")


@scene("hinge-boards", summary="Boards on a shaft, hit by balls, turn within 360°, 180° and 90°")
def hinge_boards(*, speed: float = 3.0) -> Scene:
    """Three boards of 1 × 0.06 × 0.4 m (24 kg) above each other on one upright shaft, with ranges of ±180°, ±90° and ±45°; balls of 0.12 m
    radius (7.2 kg) hit them with `speed` [m/s], without gravity."""
    import unibody as ub

    b = ub.Builder(gravity=None)
    b.body("shaft", shape=Cylinder(0.03, 1.6), kind="static", X_WB=Pose(p=(0, 0, 0.7)))
    for k, half in enumerate((180.0, 90.0, 45.0)):
        height = 1.2 - 0.5 * k
        board = b.body(f"board{k}", shape=Box((1.0, 0.06, 0.4)))
        limit = math.radians(half)
        b.joint(
            f"hinge{k}", ub.Revolute(axis=(0, 0, 1)), "shaft", board, X_PF=Pose(p=(0, 0, height - 0.7)), X_BM=Pose(p=(-0.56, 0, 0)),
            limits=(-limit, limit),
        )  # fmt: skip
        b.body(f"ball{k}", shape=Sphere(0.12), X_WB=Pose(p=(0.8, -0.4, height)), V_WB=(0, 0, 0, 0, speed, 0))
    b.add(ub.Contact(reach=5e-3), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.005, notes="The boards stop at their ranges and come back.")


@scene("rotating-board", summary="A board on a shaft turns to its stop and bounces back (restitution of a joint's range)")
def rotating_board(*, damping: float = 0.0, degrees: float = 30.0, speed: float = 1.25) -> Scene:
    """A board of 1 × 0.06 × 0.4 m (24 kg) on an upright shaft, without gravity, turns with `speed` [rad/s] (the paper's: 1.25) towards the
    end of its range of ±`degrees`. The barrier before it begins at 0.05 rad and is as stiff as to stop the board at a quarter of that;
    `damping` [s] is its k_d."""
    import unibody as ub

    require("rotating-board", degrees > 6.0, f"degrees={degrees:g}; give more than 6, of which the barriers take 3 at each end")
    require("rotating-board", speed != 0.0, f"speed={speed:g}; give one that is not zero")
    b = ub.Builder(gravity=None)
    b.body("shaft", shape=Cylinder(0.03, 0.6), kind="static")
    board, half = b.body("board", shape=Box((1.0, 0.06, 0.4))), math.radians(degrees)
    b.joint("hinge", ub.Revolute(axis=(0, 0, 1)), "shaft", board, X_BM=Pose(p=(-0.56, 0, 0)), v=speed)
    inertia = 24.0 * ((1.0 + 0.06**2) / 12.0 + 0.56**2)
    kappa = 0.5 * inertia * speed**2 / (0.75**2 * math.log(4.0))
    b.add(ub.JointLimit("hinge", lower=-half, upper=half, damping=damping, reach=0.05, stiffness=kappa), name="range")
    notes = "With rule bdf2 and without damping it keeps its energy over many bounces; damping orders the losses."
    return Scene(b.build(), duration=2.0, dt=0.001, notes=notes, solver="barrier:rule=bdf2")


@scene("monocular", summary="A three-section monocular: tubes that slide within bounds")
def monocular(*, spin: float = 1.0) -> Scene:
    """Three sections of 0.3 m, with radii 0.05, 0.04 and 0.03 m, each sliding 0 … 0.25 m out of the one before. The first is turned with
    `spin` [rad/s] about y: as it tips over, the others slide out, and back. What is inside each other does not touch."""
    import unibody as ub

    b = ub.Builder()
    last = b.body("section0", shape=Cylinder(0.05, 0.3), kind="kinematic", V_WB=(0, spin, 0, 0, 0, 0))
    for k in (1, 2):
        section = b.body(f"section{k}", shape=Cylinder(0.05 - 0.01 * k, 0.3))
        b.joint(f"slide{k}", ub.Prismatic(axis=(0, 0, 1)), last, section, q=0.02, limits=(0.0, 0.25))
        last = section
    b.add(ub.Contact(reach=1e-3), name="contact")
    b.add(ub.Contact(between=("section0", "section2"), on=False), name="nested")
    notes = "The tubes never leave each other: their slides have ranges."
    return Scene(b.build(), duration=2.0 * math.pi / abs(spin) if spin else 2.0, dt=0.01, notes=notes)


RANGES = (75.0, 60.0, 30.0)
"""Half ranges [°] of a nunchaku's joint: to the side (z), up and down (y), twist (x)."""


def _nunchaku(b: Builder, name: str, place: Pose, link: str = "cone-twist", **first: Any) -> None:
    """Two sticks of 0.3 × 0.04 × 0.04 m in a row along x, joined 0.03 m before their ends: by three angles in a row, about z, y and x, each
    with its own range, or by a hinge about z."""
    import unibody as ub

    stick = Box((0.3, 0.04, 0.04))
    end = place @ Pose(p=(0.36, 0, 0))
    left = b.body(f"{name}left", shape=stick, density=700.0, X_WB=place, **first)
    right = b.body(f"{name}right", shape=stick, density=700.0, X_WB=end)
    hinge = ub.Revolute(axis=(0, 0, 1))
    turns = hinge if link == "hinge" else ub.Composite(hinge, ub.Revolute(axis=(0, 1, 0)), ub.Revolute(axis=(1, 0, 0)))
    joint = b.joint(f"{name}link", turns, left, right, X_PF=Pose(p=(0.18, 0, 0)), X_BM=Pose(p=(-0.18, 0, 0)))
    if link != "hinge":
        half = [math.radians(x) for x in RANGES]
        b.add(ub.JointLimit(joint, lower=[-x for x in half], upper=half), name=f"{name}range")


@scene("nunchaku", summary="Two sticks on a cone-twist joint; one is moved, the other follows when its range ends")
def nunchaku(*, motion: Literal["horizontal", "vertical", "twist"] = "horizontal", speed: float = 2.0) -> Scene:
    """Sticks of 0.3 × 0.04 × 0.04 m, 700 kg/m³, 0.34 kg; the joint turns by ±75° to the side, ±60° up and down and ±30° about its own
    axis. The left stick turns about z, y or x with `speed` [rad/s], without gravity: about x the right one follows after 30° / `speed`."""
    import unibody as ub

    b = ub.Builder(gravity=None)
    turn = {"horizontal": (0, 0, speed), "vertical": (0, speed, 0), "twist": (speed, 0, 0)}[motion]
    _nunchaku(b, "", Pose(), kind="kinematic", V_WB=(*turn, 0, 0, 0))
    b.add(ub.Contact(reach=1e-3), name="contact")
    return Scene(b.build(), duration=3.0, dt=0.01, notes="The second stick follows when one of its three ranges is used up.")


@scene("nunchakus", summary="n × n nunchakus fall on the ground (scaling of contact and joints)")
def nunchakus(*, n: int = 5, link: Literal["hinge", "cone-twist"] = "cone-twist", friction: float = 0.3) -> Scene:
    """n × n pairs of sticks, 0.8 m and 0.3 m apart, turned against each other, dropped from 0.3 m. With link=hinge they are those of the
    paper's study of scale (003, Fig. 25: n = 20 … 100)."""
    import unibody as ub

    require("nunchakus", n >= 1, f"n={n}; give at least 1")
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    for i in range(n):
        for k in range(n):
            place = Pose.about((1, 0, 0), 0.1 * ((3 * i + 5 * k) % 7 - 3), p=(0.8 * i, 0.3 * k, 0.3 + 0.02 * ((i + 2 * k) % 5)))
            _nunchaku(b, f"{i}.{k}.", place, link)
    b.add(ub.Contact(friction=friction, reach=2e-3), name="contact")
    return Scene(b.build(), duration=2.4, dt=0.01, notes="Time per step against the 2 n² bodies shows how the solver scales.")


@scene("unicycle", summary="A rolling unicycle with free pedals leans, and turns into its fall (precession)")
def unicycle(*, spin: float = 15.0, degrees: float = 5.0, friction: float = 0.6, sides: int = 64) -> Scene:
    """A wheel of radius 0.3 m and width 0.04 m with `sides` sides (11 kg), a post with a seat and two weights on its axle (4.2 kg, its
    centre below the axle so that it stays upright), two pedals on cranks. The wheel leans by `degrees` and rolls with `spin` [rad/s]."""
    import unibody as ub

    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    require("unicycle", sides >= 8, f"sides={sides}; give at least 8")
    radius, lean = 0.3, math.radians(degrees)
    side = Pose.about((1, 0, 0), 0.5 * math.pi)
    tilt = Pose.about((1, 0, 0), lean)
    height = radius * math.cos(lean) + 0.02 * math.sin(abs(lean)) + 1e-3
    axle, forward = tilt.R[:, 1], spin * radius
    rim = Mesh(*Cylinder(radius, 0.04).triangles(sides))
    place = Pose.about((1, 0, 0), lean, p=(0, 0, height))
    velocity = (*(spin * axle), forward, 0, 0)
    wheel = b.body("wheel", shape=ub.Placed(rim, side), X_WB=place, V_WB=velocity)
    shapes = [ub.Placed(Box((0.04, 0.02, 0.7)), Pose(p=(0, s * 0.06, 0.1))) for s in (-1, 1)]
    shapes += [ub.Placed(Box((0.2, 0.14, 0.02)), Pose(p=(0, 0, 0.46)))]
    shapes += [ub.Placed(Box((0.16, 0.05, 0.16)), Pose(p=(0, s * 0.09, -0.19))) for s in (-1, 1)]
    post = b.body("post", shape=shapes, X_WB=place, V_WB=(0, 0, 0, forward, 0, 0))
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), wheel, post, v=-spin)
    for name, s in (("left", 1), ("right", -1)):
        pedal = b.body(name, shape=Box((0.1, 0.08, 0.02)))
        b.joint(name, ub.Revolute(axis=(0, 1, 0)), wheel, pedal, X_PF=Pose(p=(0.15 * s, 0.16 * s, 0)), v=-spin)
    b.add(ub.Contact(friction=friction, reach=1e-3), name="contact")
    for name in ("left", "right"):
        b.add(ub.Contact(between=(name, "post"), on=False), name=f"{name} passes")
    return Scene(b.build(), duration=3.0, dt=1.0 / 240.0, notes="It turns into the side to which it leans.")
