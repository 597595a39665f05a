"""A hand of soft fingers with bones, each curled by one tendon that a winch hauls in.

The hinges of the phalanges lie at the back of a finger, the tendon runs through eyelets at its front, one half way along each bone of
length l and at the distance a from its back. At the angle θ of a hinge the span across it is

    l cos(θ/2) − 2 a sin(θ/2)

long: one tension acts on all hinges, whose springs are the flesh, and one winch curls all of them, as in underactuated hands.

What the winch hauls in, dw = −ẇ dt, it does against the tension: W = ∫ T dw is stored in tendons, flesh and weight, moves bones, or goes
into dampers; nothing else does work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.flesh import smooth_step
from unibody.spatial.pose import Pose

RADIUS, BONE = 0.075, 0.035
"""From the axis to the backs of the fingers, and the length of a phalanx [m]."""
PAD, WIDE, ARM = 0.014, 0.016, 0.017
"""Thickness and width of a finger's flesh, and from its back to the tendon [m]."""


@dataclass(frozen=True)
class Winch:
    """What it has paid out [m]: less and less, by `pull` in `seconds`."""

    pull: float
    seconds: float

    def __call__(self, t: float) -> float:
        return -self.pull * smooth_step(t / self.seconds)


def span(angle: float) -> float:
    """The length of the tendon across a hinge [m]."""
    return BONE * math.cos(0.5 * angle) - 2.0 * ARM * math.sin(0.5 * angle)


@scene("soft-gripper", summary="Tendons curl soft fingers with bones, all alike, and their work is found in flesh, tendons and dampers")
def soft_gripper(
    *, fingers: int = 3, phalanges: int = 3, pull: float = 0.03, young: float = 5e4, damping: float = 0.0, fine: int = 1
) -> Scene:  # fmt: skip
    """So many `fingers` of so many `phalanges` around an axis; winches haul in `pull` [m] of each tendon within 0.6 s. Flesh of `young`
    [Pa] and Rayleigh's `damping` [s] has 3 `fine` cells along each bone and 2 `fine` across."""
    import unibody as ub

    what, most = "soft-gripper", phalanges * (BONE - span(1.0))
    require(what, 1 <= fingers <= 12 and 1 <= phalanges <= 10, f"fingers={fingers}, phalanges={phalanges}; give 1 … 12 and 1 … 10")
    require(what, 1 <= fine <= 8, f"fine={fine}; give 1 … 8")
    require(what, young > 0.0 and damping >= 0.0, f"young={young:g}, damping={damping:g}; give more than 0, and 0 or more")
    require(what, 0.0 <= pull <= most, f"pull={pull:g}; give 0 … {most:.3g} m: then each hinge has turned by 1 rad")
    b = ub.Builder()
    palm = b.body("palm", [ub.Placed(ub.Cylinder(RADIUS + 0.012, 0.5 * BONE), Pose(p=(0, 0, 0.25 * BONE + 5e-4)))], kind="static")
    long = phalanges * BONE
    mesh = ub.TetMesh.box((PAD, WIDE, long), cells=(2 * fine, 2 * fine, 3 * fine * phalanges))
    for k in range(fingers):
        turn = Pose.about((0, 0, 1), 2.0 * math.pi * k / fingers)
        # bones hang from the palm along −z, and turn towards the axis; eyelets are in front of the flesh
        parent, at = palm, turn @ Pose(p=(RADIUS, 0, 0))
        eyelets = [palm.at(*turn.apply((RADIUS - ARM, 0, 0.5 * BONE)))]
        bones = []
        for n in range(phalanges):
            name = f"finger{k}.{n}"
            shape = [ub.Placed(ub.Box((0.006, 0.8 * WIDE, 0.9 * BONE)), Pose(p=(0.003, 0, 0)))]
            bone = b.body(name, shape, mass=8e-3, X_WB=turn @ Pose(p=(RADIUS, 0, -(n + 0.5) * BONE)))
            b.joint(f"{name}.hinge", ub.Revolute((0, 1, 0)), parent, bone, X_PF=at, X_BM=Pose(p=(0, 0, 0.5 * BONE)), damping=4e-4)
            eyelets.append(bone.at(-ARM, 0, 0))
            bones.append(bone)
            parent, at = bone, Pose(p=(0, 0, -0.5 * BONE))
        b.add(ub.Cable(eyelets, stiffness=2e3, damping=2.0, winch=Winch(pull, 0.6)), name=f"tendon{k}")
        # flesh: its back goes with the bones, but for where these meet, and its root with the palm
        place = turn @ Pose(p=(RADIUS - 0.5 * PAD, 0, -0.5 * long))
        flesh = b.soft(f"flesh{k}", mesh, ub.CoRotated(young, 0.4, damping=damping), density=1000.0, X_WB=place)
        x = mesh.vertices
        back, down = x[:, 0] > 0.5 * PAD - 1e-9, (0.5 * long - x[:, 2]) / BONE
        b.attach(flesh.vertices[down < 1e-9], palm, name=f"flesh{k}.root")
        for n, bone in enumerate(bones):
            mine = back & (down > n + 1e-6) & ((down < n + 1.0 - 1e-6) | (n == phalanges - 1))
            b.attach(flesh.vertices[np.flatnonzero(mine)], bone, name=f"{bone.name}.flesh")
    notes = "All fingers curl alike. The work of the winches is what flesh, tendons and weight store and dampers take."
    return Scene(b.build(), duration=1.0, dt=2e-3, notes=notes, solver="redmax")
