"""A hitch: a rope around a pole with a load at one end and nothing at the other, which holds by friction alone.

A clove hitch is two turns around a pole the same way round, the second of which crosses over the first and leaves under that crossing.
What the load pulls on presses the crossing on the rope under it: that, and friction on the pole, hold the other end, which nothing pulls.
Without the crossing no friction would do, for over a pole tensions differ by a factor, T₁ = T₀ exp(μ φ) (Euler, Eytelwein), and T₀ = 0.
Bayman, Theory of hitches (1977), finds that a clove hitch holds whatever its load from a friction of about 0.13 on.

Along the rope the angle φ about the pole grows from 0 to 4π; it lies at y = −a in the first turn and at y = a in the second, passes from
one to the other around φ = 2π, there lifted over both ends, which lie at y = ∓s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

POLE, ROPE = 0.02, 3e-3
"""Radii [m]."""
DENSITY = 300.0
HANGING, FREE = 0.08, 0.05
"""Lengths of the ends [m]."""
TURN, BESIDE = 12e-3, 3.5e-3
"""a and s [m]."""
REACH = 3e-4


@dataclass(frozen=True)
class Hitch:
    """Whether it holds, by Bayman."""

    friction: float
    weight: float
    """Of the load [N]."""
    critical: float = 0.133

    @property
    def holds(self) -> bool:
        return self.friction > self.critical


@scene("hitch", summary="a clove hitch: a rope around a pole holds a load by friction with the pole and itself, and slips without it")
def hitch(*, load: float = 0.2, friction: float = 0.4, spacing: float = 6.5e-3) -> Scene:
    """A `load` [kg] at one end of a rope 6 mm thick, vertices `spacing` [m] apart, hitched to a pole 4 cm thick; nothing holds the other
    end."""
    import unibody as ub

    require("hitch", load > 0.0, f"load={load:g}; give more than 0")
    require("hitch", friction >= 0.0, f"friction={friction:g}; give 0 or more")
    require("hitch", 6.2e-3 <= spacing <= 8e-3, f"spacing={spacing:g}; give 0.0062 to 0.008, for edges are longer than the rope is thick")
    b = ub.Builder()
    b.body("pole", shape=ub.Cylinder(POLE, 0.12), kind="static", X_WB=Pose.about((1, 0, 0), 0.5 * math.pi))
    x = even(curve(spacing), spacing)
    hemp = ub.RodMaterial(young=2e7, bending=2e-6)
    rope = b.rod("rope", x, ROPE, hemp, DENSITY)
    weight = b.body("load", shape=ub.Sphere(0.02), mass=load, X_WB=Pose(p=x[0] - [0, 0, 0.02]))
    b.attach(rope.end(0), weight)
    b.add(ub.Contact(friction=friction, self_contact=True, reach=REACH), name="contact")
    notes = "The load sinks until the hitch is tight, and hangs; with a friction of nearly nothing the rope runs off."
    return Scene(b.build(), duration=0.6, dt=5e-3, exact=Hitch(friction, 9.81 * load), notes=notes, solver="barrier:friction_iterations=0")


def curve(spacing: float) -> np.ndarray:
    """(n, 3) The hitch, finely, around a pole along y; the end of the load first."""
    phi = np.linspace(0.0, 4.0 * math.pi, 4001)
    # an edge's middle lies below its ends
    near = (POLE + ROPE + 1.5 * REACH) / math.cos(0.5 * spacing / (POLE + ROPE))
    from_end = np.minimum(phi, 4.0 * math.pi - phi)
    outwards = _smooth((from_end - 0.9) / 0.8)  # ends lie beside the middle of the crossing, turns further out
    half = BESIDE + (TURN - BESIDE) * outwards
    y = np.where(phi < 2.0 * math.pi, -half, half)
    crossing = (phi - 2.0 * math.pi) / 0.75
    y = y * np.where(np.abs(crossing) < 1.0, _smooth(0.5 * np.abs(crossing) + 0.5) * 2.0 - 1.0, 1.0)
    lifted = 1.0 - _smooth((np.abs(phi - 2.0 * math.pi) - 0.7) / 0.8)
    r = near + (2.0 * ROPE + 3.5 * REACH) * lifted
    turns = np.stack([r * np.cos(phi), y, r * np.sin(phi)], axis=1)
    down = turns[0] - np.linspace(HANGING, 0.0, 200, endpoint=False)[:, None] * [0, 0, 1.0]
    up = turns[-1] + np.linspace(0.0, FREE, 200)[1:, None] * [0, 0, 1.0]
    return np.concatenate([down, turns, up])


def _smooth(s: np.ndarray) -> np.ndarray:
    s = np.clip(s, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def even(points: np.ndarray, spacing: float) -> np.ndarray:
    """Points of a curve at equal ways."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    s = np.linspace(0.0, way[-1], round(way[-1] / spacing) + 1)
    return np.stack([np.interp(s, way, points[:, k]) for k in range(3)], axis=1)
