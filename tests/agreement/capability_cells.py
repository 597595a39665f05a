"""Small models in which each element of the capability matrix matters, and the choices of solvers that run them.

Every model moves for `LENGTH`. Beside a model with an element stands its twin without it (or with a plain joint in place of it): it ends
elsewhere, so that a solver which ignored the element would be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import unibody as ub
from unibody import joints
from unibody.solvers import Articulated, Barrier, Complementarity, Impulse, Lagrange, Penalty, RedMax, Solver
from unibody.solvers.base import elements_of

LENGTH = 0.12
GRAVITY = (6.0, 3.0, -7.0)
FLAT = (9.0, 0.0, -3.0)
"""In a planar world, whose plane is x–z."""

CHOICES: dict[str, tuple[Solver, int]] = {
    "articulated": (Articulated(), 120),
    "lagrange": (Lagrange(), 120),
    "lagrange maximal": (Lagrange(coordinates="maximal"), 120),
    "redmax": (RedMax(), 120),
    "redmax bdf2": (RedMax(rule="bdf2"), 40),
    "complementarity": (Complementarity(), 60),
    "complementarity maximal": (Complementarity(coordinates="maximal"), 60),
    "impulse": (Impulse(), 60),
    "impulse maximal": (Impulse(coordinates="maximal"), 60),
    "impulse local": (Impulse(method="local"), 60),
    "penalty": (Penalty(), 120),
    "penalty maximal": (Penalty(coordinates="maximal"), 120),
    "barrier": (Barrier(), 24),
}
"""Solvers with their variants of coordinates, and into how many steps they take `LENGTH`."""

PLANE_ONLY = ("lagrange maximal", "impulse maximal", "penalty maximal")
"""Those that differ from their solver's own choice in planar worlds alone."""


def refusals(solver: Solver, model: ub.Model) -> list[str]:
    """Reasons for which a solver does not run a model."""
    return [reason for _, e in elements_of(model) if (reason := solver.handles(e, model)) is not None]


@dataclass(frozen=True)
class Cell:
    """A model with an element and one in which it is missing."""

    model: Callable[[], ub.Model]
    twin: Callable[[], ub.Model]
    own: str | None = None
    """The constraint or joint whose reaction is compared, if any."""
    smooth: bool = True
    """Whether a rule of high order is a reference."""


def frame(*p: float, turn: float = 0.4) -> ub.Pose:
    return ub.Pose.about((1.0, 2.0, 0.5), turn, p)


def upright(*p: float) -> ub.Pose:
    """The joint frame's z along the normal −y of a planar world."""
    return ub.Pose.about((1, 0, 0), 0.5 * np.pi, p)


def body(b: ub.Builder, name: str, **more: Any) -> Any:
    return b.body(name, mass=1.5, com=(0.05, 0.0, -0.1), inertia=(0.03, 0.04, 0.02), **more)


def first_velocity(joint: Any) -> Any:
    return tuple(0.6 - 0.2 * k for k in range(joint.nv)) if joint.nv else None


def tree_of(joint: Any, planar: bool = False) -> ub.Model:
    """A body on a hinge and, on it, one on the joint; the springs of the world pull on neither."""
    b = ub.Builder(gravity=FLAT if planar else GRAVITY, planar=planar)
    place = upright if planar else frame
    a, c = body(b, "a"), body(b, "c")
    b.joint("hip", ub.Revolute(axis=(0, 0, 1)), b.world, a, X_PF=place(0.1, 0, 0.2), X_BM=place(0, 0, 0.3), v=0.5)
    given = {} if first_velocity(joint) is None else {"v": first_velocity(joint)}
    b.joint("own", joint, a, c, X_PF=place(0.2, 0, -0.3), X_BM=place(0, 0, 0.25), **given)
    return b.build()


def loop_of(joint: Any) -> ub.Model:
    """A joint closes a loop with a free one: the body moves as if the joint alone held it. A spring ties it to another body."""
    b = ub.Builder(gravity=GRAVITY)
    a, c = body(b, "a"), body(b, "c")
    b.joint("hip", ub.Revolute(axis=(0, 1, 0)), b.world, a, X_PF=frame(0.1, 0, 0.2), X_BM=frame(0, 0, 0.3), v=0.5)
    b.joint("loose", ub.Free(), b.world, c, X_PF=ub.Pose((0.3, 0.1, -0.3)))
    b.joint("own", joint, b.world, c, X_PF=ub.Pose((0.3, 0.1, -0.1)), X_BM=ub.Pose((0, 0, 0.2)))
    b.add(ub.SpringDamper(a.at(0, 0, -0.1), c.at(0.1, 0, 0), stiffness=60.0, damping=0.5, rest_length=0.2))
    return b.build()


JOINTS: dict[str, Any] = {
    "Ball": ub.Ball(),
    "Composite": ub.Composite(ub.Prismatic(axis=(1, 0, 0)), ub.Revolute(axis=(0, 0, 1))),
    "Free": ub.Free(),
    "Hinge": joints.Hinge(axis=(0, 0, 1), at=(0.1, 0, 0)),
    "Planar": ub.Planar(),
    "Prismatic": ub.Prismatic(axis=(1, 0, 0)),
    "Revolute": ub.Revolute(axis=(0, 0, 1)),
    "Screw": ub.Screw(axis=(0, 0, 1), pitch=0.05),
    "Translational": ub.Translational(),
    "Universal": ub.Universal(),
    "Weld": ub.Weld(),
}
LEAVES_THE_PLANE = ("Ball", "Free", "Screw", "Translational", "Universal")


def plain_twin(name: str) -> Any:
    """A joint that a solver might mistake another for."""
    return ub.Free() if name == "Weld" else ub.Weld()


def arm(*elements: Callable[[Any], Any], gravity: Any = GRAVITY, still: bool = True) -> ub.Model:
    """A body on a ball, on it one on a hinge, and a free one beside them."""
    b = ub.Builder(gravity=gravity)
    a, c = body(b, "a"), body(b, "c")
    loose = body(b, "loose", X_WB=ub.Pose((0.6, 0.2, 0.1)), V_WB=(0,) * 6 if still else (0.3, 0.2, -0.4, 0.1, 0.5, -0.2))
    b.joint("hip", ub.Ball(), b.world, a, X_PF=frame(0.1, 0, 0.2), X_BM=frame(0, 0, 0.3), v=(0, 0, 0) if still else (0.5, -0.3, 0.4))
    b.joint("knee", ub.Revolute(axis=(0, 1, 0.2)), a, c, X_PF=frame(0.2, 0, -0.3), X_BM=frame(0, 0, 0.25), v=0.0 if still else 2.0)
    for element in elements:
        b.add(element({"a": a, "c": c, "loose": loose, "world": b.world}), name="own")
    return b.build()


def hinges(*elements: Callable[[Any], Any], gravity: Any = FLAT, planar: bool = False, rate: float = 0.0) -> ub.Model:
    """Two bodies on parallel hinges across the x–z plane."""
    b = ub.Builder(gravity=gravity, planar=planar)
    a, c = (b.body(n, mass=1.5, com=(0.05, 0.0, -0.1), inertia=(0.03, 0.04, 0.02)) for n in "ac")
    b.joint("hip", ub.Revolute(axis=(0, 0, 1)), b.world, a, X_PF=upright(0.1, 0, 0.2), X_BM=upright(0, 0, 0.3), v=0.5 * rate)
    b.joint("knee", ub.Revolute(axis=(0, 0, 1)), a, c, X_PF=upright(0.1, 0, -0.3), X_BM=upright(0, 0, 0.25), v=rate)
    for element in elements:
        b.add(element({"a": a, "c": c, "world": b.world}), name="own")
    return b.build()


def swerve(t: float) -> float:
    """Begins at rest."""
    return 20.0 * t * t


FORCES: dict[str, tuple[Callable[..., ub.Model], Callable[[Any], Any], bool]] = {
    "AppliedWrench": (arm, lambda w: ub.AppliedWrench(w["c"], torque=(0.2, 0.1, -0.3), force=(6, -4, 9), at=(0.1, 0, 0.1), axes="body"),
                      True),
    "AppliedWrench of time": (arm, lambda w: ub.AppliedWrench(w["loose"], force=lambda t: (100 * t, 30.0, 5.0)), True),
    "BodyDamping": (arm, lambda w: ub.BodyDamping(w["loose"], linear=9.0, angular=0.3), True),
    "Cable": (arm, lambda w: ub.Cable([w["a"].at(0, 0, 0.1), w["world"].at(0, 0.3, 0.5), w["c"].at(0, 0, -0.1)], 150.0, 2.0, 0.4), True),
    "DryFriction": (hinges, lambda w: ub.DryFriction("knee", bound=1.5, slip_speed=1e-3), True),
    "Gravity": (arm, lambda w: ub.Gravity((3.0, 4.0, 5.0)), True),
    "JointFriction": (hinges, lambda w: ub.JointFriction("knee", 0.4, radius=0.2, height=0.05), False),
    "Motor": (hinges, lambda w: ub.Motor("knee", kp=4.0, kd=0.2, target=0.5), True),
    "Motor of time": (hinges, lambda w: ub.Motor("knee", effort=lambda t: 40.0 * t, kd=0.05, target_rate=lambda t: 3.0 * t), True),
    "Motor at its limit": (hinges, lambda w: ub.Motor("hip", kp=400.0, kd=0.2, target=-2.0, limit=4.0), True),
    "SpringDamper": (arm, lambda w: ub.SpringDamper(w["a"].at(0, 0, 0.1), w["loose"].at(0, 0.1, 0.1), 120.0, 3.0, 0.2), True),
    "Tendon": (arm, lambda w: ub.Tendon(
        [[w["a"].at(0, 0, 0.1), ub.TendonWrap(w["world"].at(0.2, 0.3, 0.5), 0.1), w["loose"].at(0, 0, 0.1)]], 150.0, 2.0, 0.4), True),
    "TorsionSpring": (arm, lambda w: ub.TorsionSpring("hip", stiffness=12.0, damping=0.2, rest=(0.9, 0.3, 0.2, 0.1)), True),
    "TorsionSpring of a hinge": (hinges, lambda w: ub.TorsionSpring("knee", stiffness=6.0, damping=0.05, rest=0.6), True),
}  # fmt: skip


def ahead(w: Any) -> Any:
    return ub.PrescribedFrame(w["loose"], lambda t: ub.Pose.about((0, 0, 1), swerve(t), (0.6 + 15 * t * t, 0.2, 0.1)))


CONSTRAINTS: dict[str, tuple[Callable[..., ub.Model], Callable[[Any], Any], bool]] = {
    "Coupling": (hinges, lambda w: ub.Coupling(["knee"], ["hip"], [[2.0]]), True),
    "Distance": (arm, lambda w: ub.Distance(w["a"].at(0, 0, 0.2), w["loose"].at(0.1, 0, 0.2)), True),
    "DistanceRange": (arm, lambda w: ub.DistanceRange(w["loose"].at(0, 0, 0.1), w["world"].at(0.6, 0.2, 0.5), upper=0.32), False),
    "FixedPoint": (arm, lambda w: ub.FixedPoint(w["loose"].at(0.1, 0.05, 0.2)), True),
    "FunctionCoupling": (hinges, lambda w: ub.Coupling(["knee"], ["hip"], function=lambda q: np.sin(3.0 * q)), True),
    "JointCoupling": (hinges, lambda w: ub.JointCoupling(["hip", "knee"], [1.0, -2.0]), True),
    "JointLimit": (hinges, lambda w: ub.JointLimit("hip", -0.02, 0.02), False),
    "JointLimit of a Ball": (arm, lambda w: ub.JointLimit("hip", angle=0.01), False),
    "KnifeEdge": (arm, lambda w: ub.KnifeEdge(w["loose"].at(0, 0, 0.1), (1, 0, 1)), True),
    "PointOnLine": (arm, lambda w: ub.PointOnLine(w["loose"].at(0, 0, 0.1), on=w["world"].at(0.6, 0.2, 0.2), direction=(1, 0, 0.2)), True),
    "PointPlane": (arm, lambda w: ub.PointPlane(w["loose"].at(0, 0, -0.1), (0.6, 0.2, -0.01), (0.1, 0, 1)), False),
    "PrescribedFrame": (arm, ahead, True),
    "PrescribedJoint": (hinges, lambda w: ub.PrescribedJoint("knee", swerve), True),
    "PrescribedPoint": (arm, lambda w: ub.PrescribedPoint(w["loose"].at(), lambda t: (0.6, 0.2 + swerve(t), 0.1), axes=(0, 1)), True),
    "Rolling": (arm, lambda w: ub.Rolling(w["loose"].at(), radius=0.1), True),
    "SplineContact": (arm, lambda w: ub.SplineContact(
        [w["world"].at(0.6 + 0.1 * k, 0.2, -0.02) for k in range(-2, 3)] + [w["loose"].at(0.0, 0.1 * k, 0) for k in range(-2, 3)],
        0.05, blocks=5, margin=0.3), False),
}  # fmt: skip


@cache
def cells() -> dict[str, Cell]:
    """All that are compared between solvers, by name."""
    out = {}
    for name, joint in JOINTS.items():
        twin = plain_twin(name)
        out[f"joint {name} in a tree"] = Cell(lambda j=joint: tree_of(j), lambda j=twin: tree_of(j), "own")
        open_loop = ub.Weld() if name == "Free" else ub.Free()
        out[f"joint {name} closing a loop"] = Cell(lambda j=joint: loop_of(j), lambda j=open_loop: loop_of(j), "own")
        if name not in LEAVES_THE_PLANE:
            other = ub.Planar() if name == "Weld" else ub.Weld()
            out[f"joint {name} in a planar world"] = Cell(lambda j=joint: tree_of(j, True), lambda j=other: tree_of(j, True), "own")
    for kind, table in (("force", FORCES), ("constraint", CONSTRAINTS)):
        for name, (scene, element, smooth) in table.items():
            own = "own" if kind == "constraint" else None
            out[f"{kind} {name}"] = Cell(lambda s=scene, e=element: s(e), scene, own, smooth)
            if scene is hinges:
                flat = lambda s=scene, e=element: s(e, planar=True)  # noqa: E731
                out[f"{kind} {name} in a planar world"] = Cell(flat, lambda: hinges(planar=True), own, smooth)
    return out
