"""The blocks of paper 001, §5: width 1, height 5, mass 1, joints 2 units from the middle along the height.

Each block's frame sits in its middle with z along its height: the anterior joint is at z = 2, the posterior one at z = −2. Angles
are absolute, counter-clockwise, 0 for an upright block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE, turned
from unibody.shapes import Box
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder

BLOCK = Box((1.0, 1.0, 5.0))
REACH = 2.0
ANTERIOR, POSTERIOR = Pose(p=(0, 0, REACH)), Pose(p=(0, 0, -REACH))
ACCURATE = "articulated:rule=rk4"
"""Blocks that whip about at steps of 10 ms need more than a rule of first order to keep their energy."""
IN_PLANE = Pose.about((1, 0, 0), 0.5 * math.pi)
"""Frame of a Planar joint in the x–z plane: its z axis is the hinge's."""


@dataclass(frozen=True)
class FreeFlight:
    """What joints cannot change: the path of the centre of mass and the angular momentum about it."""

    com0: np.ndarray
    """[m], (3,)"""
    velocity0: np.ndarray
    """[m/s], (3,)"""
    gravity: float
    mass: float
    angular_momentum: float
    """About the centre of mass, counter-clockwise [kg m²/s]."""

    def com(self, t: np.ndarray) -> np.ndarray:
        """Centre of mass, (…, 3) [m]."""
        t = np.asarray(t, dtype=float)[..., None]
        return self.com0 + t * self.velocity0 + 0.5 * t * t * np.array([0.0, 0.0, -self.gravity])


def up(angle: float) -> np.ndarray:
    """A block's z axis in the world, (3,)."""
    return np.array([-math.sin(angle), 0.0, math.cos(angle)])


def chain_motion(angles: list[float], rates: list[float], foot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and velocities of blocks in a row whose first posterior joint rests at `foot`, (n, 3) each."""
    centres, velocities = [], []
    joint, speed = np.array(foot, dtype=float), np.zeros(3)
    for angle, rate in zip(angles, rates, strict=True):
        step = REACH * up(angle)
        turn = rate * np.cross(HINGE, step)
        centres.append(joint + step)
        velocities.append(speed + turn)
        joint, speed = joint + 2.0 * step, speed + 2.0 * turn
    return np.array(centres), np.array(velocities)


def free_flight(centres: np.ndarray, velocities: np.ndarray, rates: list[float], gravity: float) -> FreeFlight:
    """Momentum of blocks of mass 1."""
    com, velocity = centres.mean(axis=0), velocities.mean(axis=0)
    orbital = float((np.cross(centres - com, velocities - velocity) @ HINGE).sum())
    spin = float(sum(rates) * BLOCK.mass_properties(1.0).with_mass(1.0).inertia[1, 1])
    return FreeFlight(com, velocity, gravity, float(len(centres)), orbital + spin)


def _add_blocks(b: Builder, n: int) -> list[Body]:
    return [b.body(f"block{i}", shape=BLOCK, mass=1.0) for i in range(n)]


def _set_free(b: Builder, block: Body, centre: np.ndarray, angle: float, planar: bool) -> None:
    """An explicit free joint, so that all joints added later are constraints and may start violated."""
    import unibody as ub

    if planar:
        b.joint(f"{block.name}-free", ub.Planar(), b.world, block, X_PF=IN_PLANE, X_BM=IN_PLANE, q=(centre[0], centre[2], angle))
    else:
        b.joint(f"{block.name}-free", ub.Free(), b.world, block, q=(*centre, *turned(angle).wxyz))


@scene("serial-arm", summary="n blocks in a row (paper 001): the linear-time benchmark")
def serial_arm(
    *,
    n: int = 10,
    base: Literal["fixed", "free"] = "fixed",
    angle: float = -0.5 * math.pi,
    bend: float = 0.0,
    rate: float = 0.0,
    gravity: float = 9.81,
    planar: bool = True,
) -> Scene:
    """The first block at `angle`, each further one bent by `bend` and turning at `rate` against the one before.

    With planar=false every second hinge lies along x, and the arm moves in space.
    """
    import unibody as ub

    require("serial-arm", n >= 1, f"n={n} blocks are too few; give 1 or more")
    angles, rates = [angle + k * bend for k in range(n)], [k * rate for k in range(n)]
    centres, velocities = chain_motion(angles, rates, np.zeros(3))
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    hinge, across = ub.Revolute(axis=HINGE), ub.Revolute(axis=(1, 0, 0))
    if base == "fixed":
        root = b.body("block0", shape=BLOCK, mass=1.0)
        b.joint("base", hinge, b.world, root, X_BM=POSTERIOR, q=angle)
    else:
        root = b.body("block0", shape=BLOCK, mass=1.0, X_WB=turned(angle, centres[0]))
    before = root
    for k in range(1, n):
        block = b.body(f"block{k}", shape=BLOCK, mass=1.0)
        joint = hinge if planar or k % 2 == 0 else across
        b.joint(f"joint{k}", joint, before, block, X_PF=ANTERIOR, X_BM=POSTERIOR, q=bend, v=rate)
        before = block
    exact = free_flight(centres, velocities, rates, gravity) if base == "free" and planar else None
    return Scene(b.build(), 5.0, 1e-2, exact, "Energy is constant; a free arm's centre of mass follows exact.com(t).", solver=ACCURATE)


@scene("binary-tree", summary="a binary tree of blocks (paper 001), assembled or all in one place")
def binary_tree(
    *,
    height: int = 3,
    start: Literal["assembled", "zero"] = "assembled",
    base: Literal["fixed", "free"] = "fixed",
    spread: float = 0.7,
    gravity: float = 9.81,
    planar: bool = True,
) -> Scene:
    """2^height − 1 blocks; the anterior joint of each holds the posterior joints of two more.

    start="assembled" spreads siblings by ±spread, less at each level. start="zero" puts all blocks upright at the origin: every joint but
    the base starts violated by 4 m and is a constraint between free blocks, to be pulled together by the method's stabilisation.
    """
    import unibody as ub

    require("binary-tree", height >= 1, f"height={height} is too low; give 1 or more")
    n = 2**height - 1
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    hinge = ub.Revolute(axis=HINGE)
    blocks = _add_blocks(b, n)
    if start == "zero":
        for block in blocks:
            _set_free(b, block, np.zeros(3), 0.0, planar)
    if base == "fixed":
        b.joint("base", hinge, b.world, blocks[0], X_PF=POSTERIOR, X_BM=POSTERIOR)
    for k in range(1, n):
        parent, level = (k - 1) // 2, (k + 1).bit_length() - 1
        side = 1.0 if k % 2 == 1 else -1.0
        turn = 0.0 if start == "zero" else side * spread * 0.6 ** (level - 1)
        b.joint(f"joint{k}", hinge, blocks[parent], blocks[k], X_PF=ANTERIOR, X_BM=POSTERIOR, q=turn)
    notes, solver = "start='zero' measures how a method pulls violated joints together.", ACCURATE if start == "assembled" else ""
    return Scene(b.build(), 5.0, 1e-2, None, notes, solver=solver)


@scene("closed-ring", summary="n blocks in a closed loop (paper 001), free-floating or hung")
def closed_ring(
    *,
    n: int = 8,
    support: Literal["hung", "free"] = "hung",
    start: Literal["assembled", "zero"] = "assembled",
    rate: float = 0.0,
    turn: float = -0.75 * math.pi,
    gravity: float = 9.81,
    planar: bool = True,
) -> Scene:
    """start="assembled" is a regular polygon turning at `rate` about its middle (free); start="zero" is the paper's: all blocks at
    the origin, each turned by `turn` against the one before, all joints violated. A hung ring is pinned at its topmost joint.
    """
    import unibody as ub

    require("closed-ring", n >= 3, f"n={n} blocks make no ring; give 3 or more")
    require("closed-ring", support == "free" or rate == 0.0, f"rate={rate} turns a hung ring off its pin; give support=free")
    require("closed-ring", start == "assembled" or rate == 0.0, f"rate={rate} needs a ring to turn; give start=assembled")
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    hinge, exact = ub.Revolute(axis=HINGE), None
    blocks: list[Body]
    if start == "zero":
        angles = [k * turn for k in range(n)]
        centres = np.zeros((n, 3))
        blocks = _add_blocks(b, n)
        for block, angle in zip(blocks, angles, strict=True):
            _set_free(b, block, np.zeros(3), angle, planar)
    else:
        # Joint k of the polygon at π/2 + 2πk/n from x; block k runs from joint k to k + 1, counter-clockwise.
        angles = [0.5 * math.pi + (2 * k + 1) * math.pi / n for k in range(n)]
        radius = REACH / math.sin(math.pi / n)
        middle = np.array([0.0, 0.0, -radius if support == "hung" else 0.0])
        centres, _ = chain_motion(angles, [0.0] * n, middle + (0.0, 0.0, radius))
        velocities = rate * np.cross(HINGE, centres - middle)
        if support == "free":
            V_WB = (*(rate * np.array(HINGE)), *velocities[0])
            blocks = [b.body("block0", shape=BLOCK, mass=1.0, X_WB=turned(angles[0], centres[0]), V_WB=V_WB)]
        else:
            blocks = [b.body("block0", shape=BLOCK, mass=1.0)]
        blocks += [b.body(f"block{k}", shape=BLOCK, mass=1.0) for k in range(1, n)]
        if support == "free":
            exact = free_flight(centres, velocities, [rate] * n, gravity)
    # hinges along the ring, and the one that closes it
    if support == "hung":
        pin = centres[0] - REACH * up(angles[0])
        b.joint("base", hinge, b.world, blocks[0], X_PF=Pose(p=pin), X_BM=POSTERIOR, q=angles[0])
    for k in range(1, n):
        b.joint(f"joint{k}", hinge, blocks[k - 1], blocks[k], X_PF=ANTERIOR, X_BM=POSTERIOR, q=angles[k] - angles[k - 1])
    b.joint("closing", hinge, blocks[0], blocks[-1], X_PF=POSTERIOR, X_BM=ANTERIOR, q=angles[-1] - angles[0])
    notes, solver = "Energy is constant; a free ring's centre of mass follows exact.com(t).", ACCURATE if start == "assembled" else ""
    return Scene(b.build(), 5.0, 1e-2, exact, notes, solver=solver)
