"""Ragdolls (paper 003, Fig. 11): eleven bodies, ten joints with the ranges of a human body, dropped on the ground."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box
from unibody.spatial.pose import Pose

BODIES = {
    # name: size, place when standing, of a person of 1.75 m facing +x
    "pelvis": ((0.18, 0.30, 0.18), (0, 0, 0.98)),
    "chest": ((0.20, 0.32, 0.40), (0, 0, 1.29)),
    "head": ((0.20, 0.16, 0.22), (0, 0, 1.63)),
    "upper_arm_left": ((0.09, 0.09, 0.28), (0, 0.24, 1.31)),
    "forearm_left": ((0.08, 0.08, 0.32), (0, 0.24, 0.98)),
    "upper_arm_right": ((0.09, 0.09, 0.28), (0, -0.24, 1.31)),
    "forearm_right": ((0.08, 0.08, 0.32), (0, -0.24, 0.98)),
    "thigh_left": ((0.13, 0.13, 0.40), (0, 0.09, 0.68)),
    "shin_left": ((0.11, 0.11, 0.42), (0, 0.09, 0.24)),
    "thigh_right": ((0.13, 0.13, 0.40), (0, -0.09, 0.68)),
    "shin_right": ((0.11, 0.11, 0.42), (0, -0.09, 0.24)),
}
JOINTS = (
    # name, parent, child, height and side of the joint; cone and twist of a ball, or the hinge's range and the two small ones
    ("waist", "pelvis", "chest", (0, 0, 1.08), (35.0, 30.0)),
    ("neck", "chest", "head", (0, 0, 1.505), (45.0, 50.0)),
    ("shoulder_left", "chest", "upper_arm_left", (0, 0.24, 1.46), (95.0, 60.0)),
    ("shoulder_right", "chest", "upper_arm_right", (0, -0.24, 1.46), (95.0, 60.0)),
    ("hip_left", "pelvis", "thigh_left", (0, 0.09, 0.885), (70.0, 30.0)),
    ("hip_right", "pelvis", "thigh_right", (0, -0.09, 0.885), (70.0, 30.0)),
    ("elbow_left", "upper_arm_left", "forearm_left", (0, 0.24, 1.155), ((-135.0, 0.0), 5.0, 10.0)),
    ("elbow_right", "upper_arm_right", "forearm_right", (0, -0.24, 1.155), ((-135.0, 0.0), 5.0, 10.0)),
    ("knee_left", "thigh_left", "shin_left", (0, 0.09, 0.465), ((0.0, 135.0), 5.0, 10.0)),
    ("knee_right", "thigh_right", "shin_right", (0, -0.09, 0.465), ((0.0, 135.0), 5.0, 10.0)),
)


def add_ragdoll(b: Any, name: str, at: tuple[float, float, float], turn: float) -> None:
    """One ragdoll, its feet at `at`, turned about z; elbows and knees bent by 15°. Elbows bend within [−135°, 0], [−5°, 5°], and twist
    within [−10°, 10°], as the paper says; the other ranges are ours."""
    import unibody as ub

    X = Pose.about((0, 0, 1), turn, p=at)
    for body, (size, place) in BODIES.items():
        b.body(f"{name}{body}", shape=Box(size), X_WB=X @ Pose(p=place))
    for joint, parent, child, place, ranges in JOINTS:
        ends = {key: Pose(p=np.subtract(place, BODIES[body][1])) for key, body in (("X_PF", parent), ("X_BM", child))}
        if isinstance(ranges[0], tuple):
            low, high = ranges[0]
            bend = math.radians(-15.0 if low < 0.0 else 15.0)
            gimbal = ub.Composite(ub.Revolute(axis=(0, 1, 0)), ub.Revolute(axis=(1, 0, 0)), ub.Revolute(axis=(0, 0, 1)))
            handle = b.joint(f"{name}{joint}", gimbal, f"{name}{parent}", f"{name}{child}", q=(bend, 0.0, 0.0), **ends)
            lower = [math.radians(x) for x in (low, -ranges[1], -ranges[2])]
            upper = [math.radians(x) for x in (high, ranges[1], ranges[2])]
            b.add(ub.JointLimit(handle, lower=lower, upper=upper), name=f"{name}{joint}.range")
        else:
            handle = b.joint(f"{name}{joint}", ub.Ball(), f"{name}{parent}", f"{name}{child}", **ends)
            twist = math.radians(ranges[1])
            b.add(ub.JointLimit(handle, angle=math.radians(ranges[0]), twist=(-twist, twist)), name=f"{name}{joint}.range")


@scene("ragdolls", summary="Ragdolls of eleven bodies and ten joints with ranges fall on the ground")
def ragdolls(*, n: int = 1, height: float = 0.3, friction: float = 0.3) -> Scene:
    """n ragdolls of 1.75 m and 76 kg, `height` [m] above the ground and above each other, every one turned by 40° more than the last. The
    elbows' ranges are the paper's: [−135°, 0] and [−5°, 5°] for bending, [−10°, 10°] for twisting."""
    import unibody as ub

    require("ragdolls", n >= 1, f"n={n}; give at least 1")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    across = math.ceil(math.sqrt(n))
    for k in range(n):
        place = (0.9 * (k % across), 0.9 * (k // across), height + 0.4 * (k * 7 % 5))
        add_ragdoll(b, f"doll{k}." if n > 1 else "", place, math.radians(40.0 * k))
    b.add(ub.Contact(friction=friction, reach=2e-3), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.01, notes="11 bodies and 10 ball joints each, with cones and twists.")
