"""A bolt that screws itself through a nut by its own weight: nothing but contact guides it.

Its surface is r(φ, z) = r₀ + a cos(n φ − 2π n z / L), n starts and lead L; the nut's inner one lies a play further out. Without friction
the descent follows from energy, ½ m ż² + ½ I (2π ż / L)² = m g (z₀ − z):

    z̈ = −g / (1 + (2π k / L)²),      k² = I / m
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Cylinder, Mesh, Placed
from unibody.spatial.pose import Pose

STARTS = 2
BOLT, DEPTH, PLAY = 0.1, 0.015, 0.006
"""Middle radius of the thread, its amplitude, and how far the nut's lies outside [m]."""


@dataclass(frozen=True)
class Descent:
    """Of the bolt, once it hangs in the thread."""

    acceleration: float
    """[m/s²], downwards."""
    lead: float

    def turn(self, way: float) -> float:
        """The angle [rad] that belongs to a way down [m]."""
        return 2.0 * math.pi * way / self.lead


def thread(radius: float, lead: float, phi: np.ndarray, z: np.ndarray) -> np.ndarray:
    """r(φ, z)."""
    return radius + DEPTH * np.cos(STARTS * phi - 2.0 * math.pi * STARTS * z / lead)


def rings(radius: float, lead: float, low: float, high: float, sides: int, count: int) -> np.ndarray:
    """(count, sides, 3) points of a threaded surface."""
    phi, z = 2.0 * math.pi * np.arange(sides) / sides, np.linspace(low, high, count)
    r = thread(radius, lead, phi[None, :], z[:, None])
    return np.stack([r * np.cos(phi), r * np.sin(phi), np.broadcast_to(z[:, None], r.shape)], axis=2)


def sides_between(rows: np.ndarray) -> np.ndarray:
    """Triangles between rings of indices (count, sides), seen from outside if the rings go upwards."""
    low, high = rows[:-1], rows[1:]
    low_next, high_next = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    return np.concatenate([np.stack([low, low_next, high_next], axis=-1), np.stack([low, high_next, high], axis=-1)]).reshape(-1, 3)


def threaded_rod(lead: float, length: float, sides: int, count: int) -> Mesh:
    """The bolt's shaft, z from −length to 0."""
    x = rings(BOLT, lead, -length, 0.0, sides, count)
    rows = np.arange(count * sides).reshape(count, sides)
    foot, head = count * sides, count * sides + 1
    caps = [np.stack([np.full(sides, foot), np.roll(rows[0], -1), rows[0]], axis=1)]
    caps += [np.stack([np.full(sides, head), rows[-1], np.roll(rows[-1], -1)], axis=1)]
    vertices = np.concatenate([x.reshape(-1, 3), [(0, 0, -length), (0, 0, 0)]])
    return Mesh(vertices, np.concatenate([sides_between(rows), *caps]))


def nut_body(lead: float, thick: float, sides: int, count: int, outer: float) -> Mesh:
    """The nut, z from −thick to 0: threaded inside, six flat sides outside."""
    inside = rings(BOLT + PLAY, lead, -thick, 0.0, sides, count)
    phi = 2.0 * math.pi * np.arange(sides) / sides
    flat = outer / np.cos((phi + math.pi / 6.0) % (math.pi / 3.0) - math.pi / 6.0)
    hexagon = [np.stack([flat * np.cos(phi), flat * np.sin(phi), np.full(sides, z)], axis=1) for z in (-thick, 0.0)]
    rows = np.arange((count + 2) * sides).reshape(count + 2, sides)
    around = np.concatenate([rows[-2:], rows[count - 1 :: -1], rows[-2:-1]])
    return Mesh(np.concatenate([inside.reshape(-1, 3), *hexagon]), sides_between(around))


@scene("bolt-nut", summary="A bolt screws itself through a nut by its own weight")
def bolt_nut(*, lead: float = 0.2, turns: float = 3.0, sides: int = 24, friction: float = 0.0) -> Scene:
    """A bolt of 0.1 m middle radius, 0.015 m deep thread of two starts and `lead` [m] per turn, `turns` leads long, with a six-sided head;
    1000 kg/m³. The nut is fixed, one lead thick, and lies 6 mm outside. Without friction the bolt falls with exact.acceleration and turns
    by 2π a lead. The thread locks itself above μ = L / 2π r = 0.32, less the flanks' inclination."""
    import unibody as ub

    require("bolt-nut", 0.1 <= lead <= 0.4 and turns >= 2.0, f"lead={lead:g}, turns={turns:g}; give 0.1 … 0.4 m and 2 turns or more")
    require("bolt-nut", sides >= 12, f"sides={sides}; give at least 12")
    b = ub.Builder()
    per_lead = 8 * STARTS
    b.body("nut", shape=nut_body(lead, lead, sides, per_lead + 1, 0.2), kind="static")
    length = turns * lead
    shaft = threaded_rod(lead, length, sides, round(turns * per_lead) + 1)
    head = Placed(Mesh(*Cylinder(0.17, 0.1).triangles(6)), Pose(p=(0, 0, 0.05)))
    up = (math.ceil(length / lead) - 1.5) * lead
    turned = Pose.about((0, 0, 1), 2.0 * math.pi * up / lead, p=(0, 0, up))
    bolt = b.body("bolt", shape=[shaft, head], X_WB=turned)
    b.add(ub.Contact(friction=friction, reach=1e-3, neighbours=True), name="contact")
    model = b.build()
    info = model.bodies[model.body(bolt.name)]
    k2 = info.inertia[2, 2] / info.mass
    exact = Descent(9.81 / (1.0 + k2 * (2.0 * math.pi / lead) ** 2), lead)
    notes = "After a drop of some millimetres, the play, it turns steadily faster and sinks a lead per turn."
    return Scene(model, 0.6, 5e-3, exact, notes, solver="barrier")  # threads touch everywhere: a tight fit, which barriers are made for
