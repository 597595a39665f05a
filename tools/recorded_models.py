"""Models of `recorded_scenes.py` with the elements and paths that no scene of the registry has: one function each, without arguments.

Together with the registry they have every joint, force, constraint, shape and option of Contact; elements with NumPy methods only, as in a
user's script; functions of time, motions of bodies, efforts from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

import unibody as ub
from unibody.constraints import Rows

Maker = Callable[[], ub.Model]


def frame(*p: float, turn: float = 0.4) -> ub.Pose:
    """Somewhere, turned about no axis of symmetry."""
    return ub.Pose.about((1.0, 2.0, 0.5), turn, p)


def block(b: ub.Builder, name: str, **more: Any) -> Any:
    return b.body(name, mass=1.5, com=(0.05, 0.0, -0.1), inertia=(0.03, 0.04, 0.02), **more)


def swerve(t: float) -> float:
    """Begins at rest."""
    return 20.0 * t * t


def sway(t: float) -> ub.Pose:
    half = 0.2 * sin(t)
    return ub.Pose((0.2 * sin(2.0 * t), 0.0, 0.1 * cos(t)), (cos(half), 0.0, sin(half), 0.0))


# --- joints


def all_joints() -> ub.Model:
    """A tree with every joint, springs, rotors, limits of effort, a motor and a cable."""
    kinds = {
        "universal": ub.Universal(), "screw": ub.Screw(axis=(0, 0.6, 0.8), pitch=0.05), "hinge": ub.Hinge(axis=(0, 0, 1), at=(0.1, 0, 0)),
        "ball": ub.Ball(), "translational": ub.Translational(), "planar": ub.Planar(), "weld": ub.Weld(), "free": ub.Free(),
        "composite": ub.Composite(ub.Prismatic(axis=(1, 0, 0)), ub.Ball()), "slide": ub.Prismatic(axis=(0.6, 0, 0.8)),
        "revolute": ub.Revolute(axis=(0, 1, 0.2)),
    }  # fmt: skip
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    bodies = [b.world]
    for k, (name, joint) in enumerate(kinds.items()):
        child = block(b, f"{name} body")
        parent = b.world if name == "free" else bodies[max(0, len(bodies) - 1 - k % 3)]
        more: dict[str, Any] = {"v": tuple(0.6 - 0.2 * i for i in range(joint.nv))} if joint.nv else {}
        if name in ("revolute", "slide", "screw"):
            more |= {"stiffness": 8.0, "damping": 0.3, "armature": 0.02, "effort_limit": 5.0}
        b.joint(name, joint, parent, child, X_PF=frame(0.2, 0.05 * k, -0.3), X_BM=frame(0, 0, 0.25), **more)
        bodies.append(child)
    b.add(ub.Motor("revolute", kp=4.0, kd=0.2, target=0.5, limit=2.0))
    b.add(ub.TorsionSpring("ball", stiffness=12.0, damping=0.2, rest=(0.9, 0.3, 0.2, 0.1)))
    b.add(ub.Cable([bodies[1].at(0, 0, 0.1), b.world.at(0, 0.3, 0.5), bodies[4].at(0, 0, -0.1)], 150.0, 2.0, 0.4))
    b.add(ub.SpringDamper(bodies[2].at(0, 0, 0.1), bodies[-1].at(0, 0.1, 0.1), 120.0, 3.0, 0.2))
    b.add(ub.AppliedWrench(bodies[3], torque=(0.2, 0.1, -0.3), force=(6, -4, 9), at=(0.1, 0, 0.1), axes="body"))
    b.add(ub.BodyDamping(bodies[5], linear=2.0, angular=0.1))
    b.add(ub.Gravity((3.0, 4.0, 5.0)))
    return b.build()


def closed_loops() -> ub.Model:
    """Joints of several kinds that each hold a free body; springs tie them to a pendulum."""
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    a = block(b, "a")
    b.joint("hip", ub.Revolute(axis=(0, 1, 0)), b.world, a, X_PF=frame(0.1, 0, 0.2), X_BM=frame(0, 0, 0.3), v=0.5)
    kinds = (ub.Ball(), ub.Universal(), ub.Prismatic(axis=(1, 0, 0)), ub.Screw(axis=(0, 0, 1), pitch=0.05), ub.Weld(), ub.Planar())
    for k, joint in enumerate(kinds):
        c = block(b, f"c{k}")
        b.joint(f"loose{k}", ub.Free(), b.world, c, X_PF=ub.Pose((0.3 * k, 0.1, -0.3)))
        b.joint(f"own{k}", joint, b.world, c, X_PF=ub.Pose((0.3 * k, 0.1, -0.1)), X_BM=ub.Pose((0, 0, 0.2)))
        b.add(ub.SpringDamper(a.at(0, 0, -0.1), c.at(0.1, 0, 0), stiffness=60.0, damping=0.5, rest_length=0.2))
    return b.build()


# --- constraints


def held(b: ub.Builder) -> tuple[Any, Any, list[Any]]:
    """A body on a ball, on it one on a hinge, and free ones beside them."""
    a, c = block(b, "a"), block(b, "c")
    b.joint("hip", ub.Ball(), b.world, a, X_PF=frame(0.1, 0, 0.2), X_BM=frame(0, 0, 0.3))
    b.joint("knee", ub.Revolute(axis=(0, 1, 0.2)), a, c, X_PF=frame(0.2, 0, -0.3), X_BM=frame(0, 0, 0.25))
    return a, c, [block(b, f"loose{k}", X_WB=ub.Pose((0.6 + 0.5 * k, 0.2, 0.1))) for k in range(5)]


def smooth_constraints() -> ub.Model:
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    a, _, loose = held(b)
    b.add(ub.Distance(a.at(0, 0, 0.2), loose[0].at(0.1, 0, 0.2)))
    b.add(ub.FixedPoint(loose[1].at(0.1, 0.05, 0.2)))
    b.add(ub.PrescribedFrame(loose[2], lambda t: ub.Pose.about((0, 0, 1), swerve(t), (1.6 + 15 * t * t, 0.2, 0.1))))
    b.add(ub.PointOnLine(loose[3].at(0, 0, 0.1), on=b.world.at(2.1, 0.2, 0.2), direction=(1, 0, 0.2)))
    b.add(ub.PrescribedPoint(loose[4].at(), lambda t: (2.6, 0.2 + swerve(t), 0.1), axes=(0, 1)))
    b.add(ub.AppliedWrench(loose[0], force=lambda t: (100 * t, 30.0, 5.0)))
    return b.build()


def rolling() -> ub.Model:
    """What holds velocities only."""
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    _, _, loose = held(b)
    b.add(ub.Rolling(loose[0].at(), radius=0.1))
    b.add(ub.KnifeEdge(loose[1].at(0, 0, 0.1), (1, 0, 1)))
    return b.build()


def one_sided() -> ub.Model:
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    _, _, loose = held(b)
    b.add(ub.DistanceRange(loose[0].at(0, 0, 0.1), b.world.at(0.6, 0.2, 0.5), upper=0.305))
    b.add(ub.PointPlane(loose[1].at(0, 0, -0.1), (1.1, 0.2, -0.001), (0.1, 0, 1)))
    b.add(ub.JointLimit("hip", angle=0.01))
    b.add(ub.JointLimit("knee", -0.01, 0.01))
    return b.build()


def hinges(planar: bool, *elements: Any) -> ub.Model:
    """Three bodies on parallel hinges across the x–z plane."""
    b = ub.Builder(gravity=(9.0, 0.0, -3.0), planar=planar)
    parent, place = b.world, ub.Pose.about((1, 0, 0), 0.5 * np.pi, (0.1, 0, 0.2))
    for k, name in enumerate(("hip", "knee", "ankle")):
        body = block(b, name[0])
        top = ub.Pose.about((1, 0, 0), 0.5 * np.pi, (0, 0, 0.3))
        b.joint(name, ub.Revolute(axis=(0, 0, 1)), parent, body, X_PF=place, X_BM=top, v=0.5 * k)
        parent, place = body, ub.Pose.about((1, 0, 0), 0.5 * np.pi, (0.1, 0, -0.3))
    for element in elements:
        b.add(element)
    return b.build()


def couplings() -> ub.Model:
    bent = ub.Coupling(["knee"], ["hip"], function=lambda q: np.sin(3.0 * q))
    return hinges(False, bent, ub.JointCoupling(["hip", "ankle"], [1.0, -2.0]))


def planar_couplings() -> ub.Model:
    return hinges(True, ub.Coupling(["knee"], ["hip"], [[2.0]]), ub.PrescribedJoint("ankle", swerve))


def dry_friction() -> ub.Model:
    return hinges(False, ub.DryFriction("knee", bound=1.5), ub.DryFriction("hip", bound=40.0))


def joint_friction() -> ub.Model:
    return hinges(True, ub.JointFriction("knee", 0.4, radius=0.2, height=0.05), ub.JointLimit("ankle", -0.02, 0.02))


def ropes_over_wheels() -> ub.Model:
    """Cables over a wheel that rubs, one that grips and a drum, and a tendon around a sphere and a cylinder, in branches."""
    b = ub.Builder(gravity=(6.0, 3.0, -7.0))
    a, c, loose = held(b)
    wheel = block(b, "wheel")
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), b.world, wheel, X_PF=ub.Pose((0.3, 0.2, 1.2)))
    rubs = ub.Pulley(b.world.at(0.2, 0.1, 0.9), 0.05, axis=(0, 1, 0.3), side=1, friction=0.2, turns=1)
    grips = ub.Pulley(wheel.at(0, 0, 0), 0.08, axis=(0, 1, 0), side=1, grip=True)
    b.add(ub.Cable([a.at(0, 0, -0.1), rubs, loose[0].at(0, 0, 0.1)], 400.0, 3.0))
    b.add(ub.Cable([loose[1].at(0, 0, 0.1), grips, loose[2].at(0, 0, 0.1)], 400.0, 3.0, winch=lambda t: -0.5 * t * t))
    ball = ub.TendonWrap(b.world.at(0.1, 0.5, 0.2), 0.1)
    tube = ub.TendonWrap(b.world.at(1.5, 0.5, 0.1), 0.1, axis=(0, 0.2, 1), side=b.world.at(1.5, 0.1, 0.1))
    b.add(ub.Tendon([[c.at(0, 0, -0.1), ball, loose[3].at()], [loose[3].at(), tube, loose[4].at()]], 60.0, 1.0, divisors=(1.0, 2.0)))
    return b.build()


# --- contact


def walker() -> ub.Model:
    """A body on four legs of two hinges each, with limits, springs and dry friction, set down askew."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    trunk = b.body("trunk", shape=ub.Box((0.4, 0.2, 0.1)), density=600.0, X_WB=ub.Pose((0.0, 0.0, 0.3425), wxyz=(0.999, 0.02, 0.01, 0.0)))
    for i, (x, y) in enumerate([(0.18, 0.12), (0.18, -0.12), (-0.18, 0.12), (-0.18, -0.12)]):
        thigh, shin = (b.body(f"{part} {i}", shape=ub.Capsule(0.02, 0.16), density=900.0) for part in ("thigh", "shin"))
        at, up, down = ub.Pose((x, y, 0.0)), ub.Pose((0.0, 0.0, 0.1)), ub.Pose((0.0, 0.0, -0.1))
        servo: dict[str, Any] = {"stiffness": 60.0, "damping": 0.6}
        b.joint(f"hip {i}", ub.Revolute((0, 1, 0)), trunk, thigh, at, up, q=0.6, limits=(-1.0, 1.0), rest=0.6, **servo)
        b.joint(f"knee {i}", ub.Revolute((0, 1, 0)), thigh, shin, down, up, q=-1.2, limits=(-2.5, -0.2), rest=-1.2, **servo)
        b.add(ub.DryFriction(f"hip {i}", 0.3))
    b.add(ub.Contact(friction=0.7))
    return b.build()


def on_the_ground(*contacts: ub.Contact, gap: float = 3e-4, v: tuple[float, ...] = (0.3, 0.1, 0.0), planar: bool = False) -> ub.Model:
    """Every solid shape on a plane, sliding; the box's material is wood and the ground's stone."""
    b = ub.Builder(planar=planar)
    stone, wood = ub.ContactMaterial(name="stone"), ub.ContactMaterial(name="wood")
    b.body("ground", shape=ub.Placed(ub.Plane(), ub.Pose(), material=stone), kind="static")
    side = ub.Pose.about((0, 1, 0), 0.5 * np.pi).wxyz
    box = ub.Box((0.2, 0.16, 0.1))
    shapes: dict[str, tuple[Any, float, Any]] = {
        "box": (ub.Placed(box, ub.Pose(), material=wood), 0.05, None), "capsule": (ub.Capsule(0.05, 0.2), 0.05, side),
        "cylinder": (ub.Cylinder(0.08, 0.1), 0.05, None), "ellipsoid": (ub.Ellipsoid((0.2, 0.15, 0.1)), 0.1, None),
        "mesh": (ub.Mesh(*box.triangles()), 0.05, None), "sphere": (ub.Sphere(0.1), 0.1, None),
    }  # fmt: skip
    for k, (name, (shape, height, turn)) in enumerate(shapes.items()):
        place = ub.Pose((0.5 * k, 0.0, height + gap)) if turn is None else ub.Pose((0.5 * k, 0.0, height + gap), turn)
        spin = (0.0, 0.4, 0.0) if planar else (0.1, 0.2, 1.0)
        b.body(name, shape=shape, density=500.0, X_WB=place, V_WB=(*spin, v[0], 0.0 if planar else v[1], v[2]))
    for contact in contacts:
        b.add(contact)
    return b.build()


def sliding_shapes() -> ub.Model:
    return on_the_ground(ub.Contact(friction=0.5, reach=4e-4))


def frictions() -> ub.Model:
    """Static and turning friction, friction along and across, of materials, and a pair that passes through."""
    return on_the_ground(
        ub.Contact(friction=0.3, static=0.5, torsion=0.01),
        ub.Contact(friction=0.4, across=0.1, direction=(1, 0, 0), between=("capsule", "ground")),
        ub.Contact(friction=0.9, materials=("wood", "stone")), ub.Contact(between=("sphere", "ground"), on=False),
    )  # fmt: skip


def impacts(law: str) -> Maker:
    return lambda: on_the_ground(ub.Contact(friction=0.3, restitution=0.5, impact=law), gap=2e-3, v=(0.3, 0.1, -1.0))


def planar_contact() -> ub.Model:
    return on_the_ground(ub.Contact(friction=0.3, reach=4e-4), planar=True)


def barriers() -> ub.Model:
    return on_the_ground(ub.Contact(friction=0.3, damping=0.1, pressure=1e6, reach=1e-3), gap=5e-4, v=(0.3, 0.1, -0.5))


def uneven_grounds() -> ub.Model:
    """A height field, an open mesh, and a ball that a slide connects to what it lies on."""
    b = ub.Builder()
    b.body("field", shape=ub.HeightField([[0.0, 0.02, 0.0], [0.01, 0.03, 0.0], [0.0, 0.0, 0.02]], spacing=0.5), kind="static")
    slab = np.array([[1.5, -1, 0], [3, -1, 0], [3, 1, 0], [1.5, 1, 0]], float)
    sheet = b.body("sheet", shape=ub.OpenMesh(slab, np.array([[0, 1, 2], [0, 2, 3]])), kind="static")
    b.body("a", shape=ub.Sphere(0.1), density=500.0, X_WB=ub.Pose((0.1, 0.1, 0.135)), V_WB=(0, 0, 0, 0.2, 0, -0.5))
    b.body("b", shape=ub.Box((0.2, 0.2, 0.1)), density=500.0, X_WB=ub.Pose((2.0, 0.0, 0.0504)))
    c = b.body("c", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), sheet, c, X_PF=ub.Pose((2.5, 0.3, 0)), q=0.1003)
    b.add(ub.Contact(friction=0.5, reach=1e-3, neighbours=True))
    return b.build()


def wires_and_points() -> ub.Model:
    """A wire across two others, and a cloud of points on a slab, which surfaces keep apart."""
    b = ub.Builder()
    for k, y in enumerate((-0.15, 0.15)):
        b.body(f"rail{k}", shape=ub.Wire([(-0.5, 0, 0), (0.5, 0, 0)], radius=0.01), kind="static", X_WB=ub.Pose((0, y, 0)))
    b.body("slab", shape=ub.Box((1.0, 1.0, 0.1)), kind="static", X_WB=ub.Pose((2.0, 0, -0.05)))
    across = ub.Wire([(0, -0.4, 0), (0, 0.4, 0)], radius=0.01)
    b.body("wire", shape=across, mass=0.5, X_WB=ub.Pose((0, 0, 0.025)), V_WB=(0, 0, 0, 0.2, 0, 0))
    cloud = ub.PointCloud([(0.1, 0, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0), (0, 0, 0.2)], radius=0.01)
    b.body("cloud", shape=cloud, mass=0.3, X_WB=ub.Pose((2.0, 0, 0.015)), V_WB=(0, 0, 1.0, 0.1, 0, 0))
    b.add(ub.Contact(friction=0.3, reach=2e-3, thickness=1e-3))
    return b.build()


# --- a user's script


@dataclass(frozen=True)
class Cam(ub.Joint):
    """Turns about z and rises by a (q + sin q), in NumPy."""

    rise: float = 0.2

    nq = 1
    nv = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 0.0, self.rise * (q[0] + s)])

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.array([[0.0], [0.0], [1.0], [0.0], [0.0], [self.rise * (1.0 + np.cos(q[0]))]])

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, -self.rise * np.sin(q[0]) * v[0] ** 2])


@dataclass(frozen=True)
class Gust(ub.Force):
    """Along x, growing with time, in NumPy."""

    body: str
    rate: float = 1.0

    def bodies(self) -> list[str]:
        return [self.body]

    def apply(self, kinematics: Any, loads: Any) -> None:
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), np.array([self.rate * kinematics.t, 0.0, 0.0]))


@dataclass(frozen=True)
class Level(ub.Constraint):
    """A body's origin stays at its height, in NumPy: C = z − z₀."""

    body: str
    height: float = 0.0

    rows = 1
    units = ("m",)

    def bodies(self) -> list[str]:
        return [self.body]

    def evaluate(self, kinematics: Any) -> Rows:
        R, p = kinematics.pose(self.body)
        V = kinematics.twist(self.body)
        G = np.concatenate([np.zeros(3), R[2]])[None]
        return Rows(np.array([p[2] - self.height]), {self.body: G}, {}, np.array([R[2] @ np.cross(V[:3], V[3:])]))


def script() -> ub.Model:
    """Elements of a script, on a platform that moves, beside elements of the house that follow time."""
    b = ub.Builder()
    base = b.body("platform", kind="kinematic", motion=sway)
    cam, arm, level = block(b, "cam"), block(b, "arm"), block(b, "level", X_WB=ub.Pose((1.0, 0.0, 0.3)))
    b.joint("cam", Cam(0.3), base, cam, X_PF=ub.Pose.about((1, 0, 0), 1.0), v=2.0)
    b.joint("arm", ub.Universal(), cam, arm, X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((0, 0, 0.4)), damping=0.05)
    b.add(Gust("arm", 2.0))
    b.add(Level(level.name, 0.3))
    b.add(ub.Motor("arm", effort=lambda t: sin(3.0 * t), kp=5.0, kd=0.5, target=lambda t: sin(3.0 * t)))
    b.add(ub.SpringDamper(arm.at(0, 0, -0.1), level.at(0.1, 0, 0), stiffness=60.0, damping=0.5))
    return b.build()


MODELS: dict[str, Maker] = {
    "all-joints": all_joints, "closed-loops": closed_loops, "smooth-constraints": smooth_constraints, "rolling": rolling,
    "one-sided": one_sided, "couplings": couplings, "planar-couplings": planar_couplings, "dry-friction": dry_friction,
    "joint-friction": joint_friction, "ropes-over-wheels": ropes_over_wheels,
    "walker": walker, "sliding-shapes": sliding_shapes, "frictions": frictions,
    **{f"impacts-{law}": impacts(law) for law in ("newton", "poisson", "stronge")}, "planar-contact": planar_contact,
    "barriers": barriers, "uneven-grounds": uneven_grounds, "wires-and-points": wires_and_points,
    "script": script,
}  # fmt: skip
