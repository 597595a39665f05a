"""A toy crane: a motor nods the boom, a cable over its tip lifts a ball, springs hold a tail and a bell."""

from __future__ import annotations

import math
from functools import partial

from unibody.scenes.base import Scene, scene
from unibody.scenes.parts import HINGE
from unibody.shapes import Box, Capsule, Cylinder, Placed, Sphere
from unibody.spatial.pose import Pose

ALONG_X = Pose.about((0, 1, 0), 0.5 * math.pi)


@scene("cable-toy", summary="a toy crane with a motor, a cable over the boom's tip, a sprung tail and a bell on a spring")
def cable_toy(
    *,
    swing: float = 0.35,
    frequency: float = 0.5,
    cable_stiffness: float = 400.0,
    cable_damping: float = 4.0,
    spring_stiffness: float = 60.0,
    gravity: float = 9.81,
) -> Scene:
    """The motor's target is `swing` · sin(2π · frequency · t) about the boom's start at 0.5 rad."""
    import unibody as ub

    b = ub.Builder(gravity=(0, 0, -gravity))
    mast = b.body("mast", shape=Box((0.08, 0.08, 1.0)), kind="static", X_WB=Pose(p=(0, 0, 0.5)))
    platter = b.body("platter", shape=Cylinder(0.2, 0.04), mass=1.0)
    boom = b.body("boom", shape=Placed(Capsule(0.03, 0.94), Pose(p=(0.5, 0, 0), wxyz=ALONG_X.wxyz)), mass=0.8)
    tail = b.body("tail", shape=Placed(Box((0.3, 0.1, 0.02)), Pose(p=(-0.15, 0, 0))), mass=0.2)
    start, tilt = 0.5, Pose.about(HINGE, 0.5)
    tip = (0.0, 0.0, 1.06) + tilt.R @ (1.0, 0.0, 0.0)
    ball = b.body("ball", shape=Sphere(0.08), mass=0.5, X_WB=Pose(p=(tip[0], 0.05, tip[2] - 0.6)))
    bell = b.body("bell", shape=Sphere(0.05), mass=0.15, X_WB=Pose(p=(0.5 * tip[0], 0.0, 1.05)))

    b.joint("slew", ub.Revolute(axis=(0, 0, 1)), mast, platter, X_PF=Pose(p=(0, 0, 0.52)), v=0.4, damping=0.02)
    luff = b.joint("luff", ub.Revolute(axis=HINGE), platter, boom, X_PF=Pose(p=(0, 0, 0.04)), q=start)
    wag = b.joint("wag", ub.Universal(axis1=(0, 1, 0), axis2=(0, 0, 1)), platter, tail, X_PF=Pose(p=(-0.2, 0, 0)), q=(0.0, 0.5))

    b.add(ub.Motor(luff, kp=60.0, kd=6.0, target=partial(_sway, start, swing, frequency)), name="winch")
    b.add(ub.TorsionSpring(wag, stiffness=2.0, damping=0.02), name="tail-spring")
    cable = [platter.at(-0.15, 0, 0.25), boom.at(1.0, 0, 0), ball.at(0, 0, 0.08)]
    b.add(ub.Cable(cable, stiffness=cable_stiffness, damping=cable_damping), name="cable")
    b.add(ub.SpringDamper(boom.at(0.5, 0, 0), bell.at(0, 0, 0.05), stiffness=spring_stiffness, damping=0.1), name="bell-spring")
    b.add(ub.BodyDamping(ball, angular=0.002, linear=0.05), name="air")
    return Scene(b.build(), 8.0, 2e-3, None, "No exact solution. Energy changes by what the motor does and what dampers take.")


def _sway(start: float, swing: float, frequency: float, t: float) -> float:
    return start + swing * math.sin(2.0 * math.pi * frequency * t)
