"""The starfish of Wang et al. 2019, *RedMax*, §4 and §6: a skeleton in reduced coordinates inside one soft body.

Five arms of four bones each, with twenty hinges, on a disc that floats. A coarse cage of co-rotated flesh spans all bones, two cells
thick; what is shown is a fine surface embedded in it. The root of every arm but the last is prescribed, in a wave that goes round; the
disc and the tip of the last arm are prescribed as points in the world. All else is passive: 16 hinges and the flesh, coupled both ways.

The paper gives no sizes: arms of 12 cm, flesh of 1000 kg/m³ and 20 kPa.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.flesh import attach_to_nearest
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.meshes import TriMesh
    from unibody.model import Builder

ARMS, BONES = 5, 4
CORE, ARM = 0.02, 0.12
"""Radius of the disc, and from its middle to where an arm ends [m]."""
BONE = (ARM - CORE - 0.01) / BONES
"""Length of a bone [m]."""
THICK = 0.013
"""Half the thickness of the surface at its middle [m]."""
RATE = 6.0
"""Of the wave [rad/s]."""


def surface(around: int = 155, across: int = 51) -> TriMesh:
    """A closed surface with five arms, of around · across + 2 vertices."""
    import unibody as ub

    theta = 2.0 * np.pi * np.arange(around) / around
    reach = 0.024 + (ARM - 0.024) * (0.5 * (1.0 + np.cos(ARMS * theta))) ** 2.2
    phi = np.linspace(-0.5 * np.pi, 0.5 * np.pi, across + 2)[1:-1]
    rho = np.sign(np.cos(phi)) * np.abs(np.cos(phi)) ** 0.6
    x = np.stack([np.outer(rho, reach * np.cos(theta)), np.outer(rho, reach * np.sin(theta))], axis=2)
    height = THICK * np.sin(phi)[:, None] * (1.0 - 0.45 * (rho[:, None] * reach / ARM))
    vertices = np.concatenate([np.dstack([x, height]).reshape(-1, 3), [[0, 0, -THICK], [0, 0, THICK]]])
    i, j = (a.ravel() for a in np.meshgrid(np.arange(across - 1), np.arange(around), indexing="ij"))
    a, b, c, d = around * i + j, around * i + (j + 1) % around, around * (i + 1) + (j + 1) % around, around * (i + 1) + j
    ring, low, high, last = np.arange(around), around * across, around * across + 1, around * (across - 1)
    caps = [[low, (k + 1) % around, k] for k in ring] + [[high, last + k, last + (k + 1) % around] for k in ring]
    return ub.TriMesh(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1), caps]))


def wave(arm: int, t: float) -> float:
    """The angle of an arm's root [rad], from rest on. It also has no speed at 0 by differences, which look at both sides."""
    s = min(1.0, t / 0.5)
    return 0.45 * math.sin(RATE * t - 2.0 * math.pi * arm / ARMS) * s**2 * (3.0 - 2.0 * s)


def path(t: float) -> np.ndarray:
    """The tip of the last arm: it goes up and down by a centimetre [m]."""
    angle = 2.0 * math.pi * (ARMS - 1) / ARMS
    out = CORE + BONES * BONE - 2e-3 * math.sin(0.5 * RATE * t) ** 2
    return np.array([out * math.cos(angle), out * math.sin(angle), 0.01 * math.sin(0.5 * RATE * t) ** 2])


@scene("starfish", summary="twenty hinges in one soft body, some driven, some dragged along, in the way of RedMax's starfish")
def starfish(*, young: float = 2e4, cells: int = 10, damping: float = 5e-3, fine: bool = True) -> Scene:
    """Flesh of `young` [Pa] and Rayleigh's `damping` [s] in a cage with so many `cells` along the longest side; `fine`: shown by the
    surface embedded in it."""
    import unibody as ub

    require("starfish", young > 0.0 and damping >= 0.0, f"young={young:g}, damping={damping:g}; give more than 0, and 0 or more")
    require("starfish", 8 <= cells <= 60, f"cells={cells}; give 8 … 60")
    b = animal(young, cells, damping, fine)
    # hybrid dynamics: roots of four arms, the disc and the tip of the fifth
    for k in range(ARMS - 1):
        b.add(ub.PrescribedJoint(f"arm{k}.0.hinge", partial(wave, k)), name=f"drive{k}")
    b.add(ub.PrescribedPoint(b.bodies["disc"].at(0, 0, 0), (0.0, 0.0, 0.0)), name="centre")
    b.add(ub.PrescribedPoint(b.bodies["disc"].at(CORE, 0, 0), (CORE, 0.0, 0.0), axes=(1, 2)), name="heading")
    b.add(ub.PrescribedPoint(b.bodies[f"arm{ARMS - 1}.{BONES - 1}"].at(0.5 * BONE, 0, 0), path, axes=(2,)), name="tip")
    notes = "Four arms are driven in a wave, which flesh carries along passive bones and to the fifth, whose tip is dragged up and down."
    return Scene(b.build(), duration=2.0, dt=5e-3, notes=notes, solver="redmax")


def animal(young: float, cells: int, damping: float, fine: bool) -> Builder:
    """Bones and flesh, which nothing drives."""
    import unibody as ub

    b = ub.Builder(gravity=None)
    # the skeleton: a disc, and arms whose bones turn about axes in its plane
    disc = b.body("disc", shape=ub.Cylinder(CORE, 4e-3), mass=0.01)
    segments = {"disc": (np.zeros(3), np.zeros(3))}
    for k in range(ARMS):
        turn = Pose.about((0, 0, 1), 2.0 * math.pi * k / ARMS)
        parent, at = disc, turn @ Pose(p=(CORE, 0, 0))
        for n in range(BONES):
            name = f"arm{k}.{n}"
            frame = turn @ Pose(p=(CORE + (n + 0.5) * BONE, 0, 0))
            bone = b.body(name, shape=ub.Box((0.9 * BONE, 4e-3, 4e-3)), mass=2e-3, X_WB=frame)
            at = at if n == 0 else Pose(p=(0.5 * BONE, 0, 0))
            b.joint(f"{name}.hinge", ub.Revolute(axis=(0, 1, 0)), parent, bone, X_PF=at, X_BM=Pose(p=(-0.5 * BONE, 0, 0)), damping=1e-5)
            half = turn.apply((0.5 * BONE, 0, 0))
            segments[name] = np.array(frame.p) - half, np.array(frame.p) + half
            parent = bone
    # flesh: vertices of the cage in the middle plane go with the bone that is nearest
    shown = surface()
    flesh = b.soft("flesh", ub.TetMesh.cage(shown, cells), ub.CoRotated(young, 0.4, damping=damping), density=1000.0)
    if fine:
        flesh.embed(shown)
    reach = 1.5 * ARM / cells
    attach_to_nearest(b, flesh, segments, {name: reach if name != "disc" else CORE for name in segments})
    return b
