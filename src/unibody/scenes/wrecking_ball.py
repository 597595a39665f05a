"""A wrecking ball on a chain and the wall that it hits. The chain is of rings that hang in each other by contact alone, or of jointed rods.

A ring's wire of radius w runs along two half circles of radius ρ and two straight lines of length 2 a. Taut, rings are 2 (a + ρ − w) apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Capsule, Mesh, Placed, Plane, Sphere
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Builder

WIRE, BOW, STRAIGHT = 0.05, 0.14, 0.12
"""w, ρ and a of a ring [m]."""
SLACK = 4e-3
"""Between rings at the start [m]."""
PITCH = 2.0 * (STRAIGHT + BOW - WIRE) - SLACK
BALL = 0.4
"""Its radius [m]."""


def ring(around: int = 14, sides: int = 8) -> Mesh:
    """A ring in the x–z plane, long along z; `around` rounds of `sides` points, the wire's first point towards the ring's inside."""
    half = around // 2
    angle = np.concatenate([np.linspace(0.0, math.pi, half), np.linspace(math.pi, 2.0 * math.pi, half)])
    lift = np.repeat([STRAIGHT, -STRAIGHT], half)
    out = np.stack([np.cos(angle), np.zeros(around), np.sin(angle)], axis=1)
    middle = BOW * out + np.stack([np.zeros(around), np.zeros(around), lift], axis=1)
    phi = 2.0 * math.pi * np.arange(sides) / sides
    across = -np.cos(phi)[None, :, None] * out[:, None] + np.sin(phi)[None, :, None] * np.array([0.0, 1.0, 0.0])
    rows = np.arange(around * sides).reshape(around, sides)
    here, after = rows, np.roll(rows, -1, axis=0)
    here_up, after_up = np.roll(here, -1, axis=1), np.roll(after, -1, axis=1)
    faces = np.concatenate([np.stack([here, after_up, here_up], axis=-1), np.stack([here, after, after_up], axis=-1)]).reshape(-1, 3)
    return Mesh((middle[:, None] + WIRE * across).reshape(-1, 3), faces)


def _rings(b: Builder, links: int, hook: Pose) -> Pose:
    """A chain below the static ring at `hook`; where the ball's own ring belongs."""
    shape = ring()
    b.body("hook", shape=shape, kind="static", X_WB=hook)
    at = hook
    for k in range(links):
        at = at @ Pose.about((0, 0, 1), 0.5 * math.pi, p=(0, 0, -PITCH))
        b.body(f"link{k}", shape=shape, density=7800.0, X_WB=at)
    return at @ Pose.about((0, 0, 1), 0.5 * math.pi, p=(0, 0, -PITCH))


def _rods(b: Builder, links: int, hook: Pose) -> tuple[Any, Pose]:
    """A chain of rods; the last one and the place on it where the ball hangs."""
    import unibody as ub

    last, at, rod = b.world, hook, Capsule(0.04, 0.8 * PITCH)
    for k in range(links):
        link = b.body(f"link{k}", shape=rod, density=7800.0)
        b.joint(f"pin{k}", ub.Ball(), last, link, X_PF=at, X_BM=Pose(p=(0, 0, 0.5 * PITCH)))
        last, at = link, Pose(p=(0, 0, -0.5 * PITCH))
    return last, at


@scene("wrecking-ball", summary="A ball on a chain swings into a wall of bricks")
def wrecking_ball(
    *, links: int = 6, columns: int = 4, rows: int = 4, chain: Literal["rings", "rods"] = "rings", degrees: float = 50.0,
    friction: float = 0.4,
) -> Scene:  # fmt: skip
    """An iron ball (7800 kg/m³, radius 0.4 m, 2.1 t) on a chain of `links` rings that hang in each other by contact alone (70 kg each), or
    of `rods` on ball joints, let go at `degrees`; a wall of bricks of 0.4 × 0.4 × 0.25 m, 1800 kg/m³ (72 kg). Without a wall in its way the
    ball would pass the lowest point with √(2 g l (1 − cos)), 4.8 m/s for six links and 50°."""
    import unibody as ub

    require("wrecking-ball", links >= 1 and columns >= 1 and rows >= 1, f"links={links}, columns={columns}, rows={rows}; give numbers ≥ 1")
    require("wrecking-ball", 0.0 <= degrees <= 80.0, f"degrees={degrees:g}; give 0 … 80")
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    gap = 1e-3
    length = (links + 1) * PITCH + STRAIGHT + BOW + BALL
    hook = Pose.about((0, 1, 0), math.radians(degrees), p=(0, 0, length + BALL + 0.1))
    below = Pose(p=(0, 0, STRAIGHT + BOW + BALL - 0.5 * WIRE))
    shapes: list[Any] = [Sphere(BALL), Placed(ring(), below)]
    if chain == "rings":
        b.body("ball", shape=shapes, density=7800.0, X_WB=_rings(b, links, hook) @ below.inverse())
    else:
        last, at = _rods(b, links, hook)
        b.body("ball", shape=shapes, density=7800.0)
        b.joint("hook", ub.Ball(), last, "ball", X_PF=at, X_BM=Pose(p=(0, 0, below.p[2] + STRAIGHT + BOW - WIRE)))
    brick = (0.4, 0.4, 0.25)
    for r in range(rows):
        shift = 0.5 * (r % 2) * brick[1]
        for c in range(columns):
            place = (0.65, (c - 0.5 * (columns - 1)) * (brick[1] + gap) + shift, 0.5 * brick[2] + gap + r * (brick[2] + gap))
            b.body(f"brick{r}.{c}", shape=Box(brick), density=1800.0, X_WB=Pose(p=place))
    b.add(ub.Contact(friction=friction, reach=2.0 * gap), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.01, notes="The ball breaks through the wall 0.9 s after it is let go.")
