"""Ragdolls (paper 003, Fig. 11): eleven bodies, ten joints with the ranges of a human body, dropped on the ground."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Mesh
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
BEND, SIDE, TWIST = (0, 1, 0), (1, 0, 0), (0, 0, 1)
"""Axes of the three angles of a joint, one after the other: forwards and backwards, sideways, about the limb."""
ELBOW, KNEE = ((-135.0, 0.0), (-5.0, 5.0), (-10.0, 10.0)), ((0.0, 135.0), (-5.0, 5.0), (-10.0, 10.0))
SHOULDER, HIP = ((-150.0, 50.0), (-20.0, 80.0), (-60.0, 60.0)), ((-110.0, 20.0), (-15.0, 45.0), (-35.0, 35.0))
JOINTS = (
    # name, parent, child, place when standing, ranges [°] of the three angles
    ("waist", "pelvis", "chest", (0, 0, 1.08), ((-15.0, 60.0), (-25.0, 25.0), (-35.0, 35.0))),
    ("neck", "chest", "head", (0, 0, 1.505), ((-40.0, 50.0), (-35.0, 35.0), (-60.0, 60.0))),
    ("shoulder_left", "chest", "upper_arm_left", (0, 0.24, 1.46), SHOULDER),
    ("shoulder_right", "chest", "upper_arm_right", (0, -0.24, 1.46), SHOULDER),
    ("hip_left", "pelvis", "thigh_left", (0, 0.09, 0.885), HIP),
    ("hip_right", "pelvis", "thigh_right", (0, -0.09, 0.885), HIP),
    ("elbow_left", "upper_arm_left", "forearm_left", (0, 0.24, 1.155), ELBOW),
    ("elbow_right", "upper_arm_right", "forearm_right", (0, -0.24, 1.155), ELBOW),
    ("knee_left", "thigh_left", "shin_left", (0, 0.09, 0.465), KNEE),
    ("knee_right", "thigh_right", "shin_right", (0, -0.09, 0.465), KNEE),
)


def cut_box(sides: np.ndarray, cells: int) -> Mesh:
    """A box whose sides are cut into cells × cells rectangles, of two triangles each.

    >>> len(cut_box(np.ones(3), 2).vertices)
    26
    """
    steps = np.arange(cells)
    i, j = (a.ravel() for a in np.meshgrid(steps, steps, indexing="ij"))
    corners, faces = [], []
    for axis in range(3):
        for end in (0, cells):
            for u, w in ((0, 0), (1, 0), (1, 1), (0, 1)):
                corner = np.empty((len(i), 3), np.int64)
                corner[:, axis], corner[:, axis - 2], corner[:, axis - 1] = end, i + u, j + w
                corners.append(corner)
            at = 4 * len(i) * (2 * axis + (end > 0)) + np.arange(4)[:, None] * len(i) + np.arange(len(i))
            quad = at if end else at[::-1]
            faces += [quad[[0, 1, 2]].T, quad[[0, 2, 3]].T]
    known, number = np.unique(np.concatenate(corners), axis=0, return_inverse=True)
    return Mesh((known / cells - 0.5) * sides, number.reshape(-1)[np.concatenate(faces)])


def add_ragdoll(b: Any, name: str, X: Pose, scale: float = 1.0, cells: int = 1) -> None:
    """One ragdoll of `scale` times 1.75 m, its feet at X, upright along X's z; elbows and knees bent by 15°; sides of bodies cut into so
    many `cells` each way. Every joint is a cone twist of three angles with their own ranges: elbows bend within [−135°, 0] and [−5°, 5°]
    and twist within [−10°, 10°], as the paper says; the other ranges are ours, those of a limber person. Sideways ranges of the right side
    mirror those of the left."""
    import unibody as ub

    for body, (size, place) in BODIES.items():
        sides = scale * np.array(size)
        shape = Box(tuple(sides.tolist())) if cells == 1 else cut_box(sides, cells)
        b.body(f"{name}{body}", shape=shape, X_WB=X @ Pose(p=scale * np.array(place)))
    turns = ub.Composite(*(ub.Revolute(axis=axis) for axis in (BEND, SIDE, TWIST)))
    for joint, parent, child, place, ranges in JOINTS:
        ends = {key: Pose(p=scale * np.subtract(place, BODIES[body][1])) for key, body in (("X_PF", parent), ("X_BM", child))}
        lower, upper = np.radians(ranges).T
        if joint.endswith("right"):
            lower[1], upper[1] = -upper[1], -lower[1]
        start = math.radians({"elbow": -15.0, "knee": 15.0}.get(joint.split("_")[0], 0.0))
        handle = b.joint(f"{name}{joint}", turns, f"{name}{parent}", f"{name}{child}", q=(start, 0.0, 0.0), **ends)
        b.add(ub.JointLimit(handle, lower=lower.tolist(), upper=upper.tolist()), name=f"{name}{joint}.range")


@scene("ragdolls", summary="Ragdolls of eleven bodies and ten joints with ranges fall on the ground")
def ragdolls(*, n: int = 1, height: float = 0.3, friction: float = 0.3, across: int = 0) -> Scene:
    """n ragdolls of 1.75 m and 76 kg, side by side, `height` [m] above the ground and some up to 1.6 m more, every one turned by 40° more
    than the last; so many `across` in a square (0: as many as there are), the others above these, so that all fall into a heap. Ten
    cone-twist joints each, of three angles with their own ranges; the elbows' are the paper's (003, Fig. 11, n = 60): [−135°, 0] and
    [−5°, 5°] for bending, [−10°, 10°] for twisting."""
    import unibody as ub

    require("ragdolls", n >= 1, f"n={n}; give at least 1")
    require("ragdolls", across >= 0, f"across={across}; give at least 1, or 0 for one layer")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    across = across or math.ceil(math.sqrt(n))
    for k in range(n):
        layer, at = divmod(k, across * across)
        place = (0.9 * (at % across), 0.9 * (at // across), height + 0.4 * (at * 7 % 5) + 1.9 * layer)
        add_ragdoll(b, f"doll{k}." if n > 1 else "", Pose.about((0, 0, 1), math.radians(40.0 * k), p=place))
    b.add(ub.Contact(friction=friction, reach=2e-3), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.01, notes="They collapse onto each other; no elbow or knee bends the wrong way.")


@scene("ragdoll-pile", summary="Ragdolls fall on each other, one after the other or in layers, and lie in a pile")
def ragdoll_pile(*, n: int = 2, friction: float = 0.5, layer: int = 1, cells: int = 1, reach: float = 2e-3) -> Scene:
    """n ragdolls of 1.75 m and 76 kg (eleven bodies, ten joints with ranges each), lying in the air face down. One above the other
    (`layer` = 1), they are 0.6 m apart and turned by 70° more each, and all fall on the same place. With several in a layer these lie side
    by side in two rows, layers are 0.35 m apart, every other one crosswise: a heap with contacts everywhere. Sides of bodies are cut into
    `cells` each way (2: the 26 vertices that the paper's bodies have on average), contact has a `reach` [m]."""
    import unibody as ub

    require("ragdoll-pile", n >= 1, f"n={n}; give at least 1")
    require("ragdoll-pile", layer >= 1, f"layer={layer}; give at least 1")
    require("ragdoll-pile", cells >= 1, f"cells={cells}; give at least 1")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    rows = (layer + 1) // 2
    for k in range(n):
        level, at = divmod(k, layer)
        if layer == 1:
            place, turn = (0.0, 0.0, 0.35 + 0.6 * level), math.radians(70.0 * k)
        else:
            turn = 0.5 * math.pi * (level % 2)
            # a man lies along x, 0.75 m beside the next; the other row is 2 m farther on
            along, aside = 2.0 * (at // rows) - 1.0, 0.75 * (at % rows - 0.5 * (rows - 1))
            place = (math.cos(turn) * along - math.sin(turn) * aside, math.sin(turn) * along + math.cos(turn) * aside, 0.35 + 0.35 * level)
        lying = Pose.about((0, 0, 1), turn, p=place) @ Pose.about((0, 1, 0), 0.5 * math.pi)
        add_ragdoll(b, f"doll{k}." if n > 1 else "", lying @ Pose(p=(0, 0, -1.0)), cells=cells)
    b.add(ub.Contact(friction=friction, reach=reach), name="contact")
    notes = "They come to rest in a pile; no elbow or knee bends the wrong way. Two have some 250 contacts: seconds of work a step."
    return Scene(b.build(), duration=1.2, dt=0.01, notes=notes, solver="complementarity")
