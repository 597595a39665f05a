"""A tackle of four pulleys and four ropes (paper 003, Fig. 3 and 21): three pulleys hang in ropes one above the other, one is fixed.

Rope k runs from the ceiling down, under pulley k and up to the axle of pulley k + 1; the third goes on over the fixed pulley to the hand,
and a fourth carries the load under the axle of pulley 1. With t_k the tension of rope k at the height z_k of its axle, λ the weight of
rope per length over g, r the radius at which it runs and w the weight of a pulley, balance of pulley k and the rope in its groove gives

    t_k (1 + 1/η) = w + λ g π r + T_{k−1}(z_k),       T_k(z) = t_k + λ g (z − z_k),       T_0 = load and its rope,

    hand = η T_3(z_hand)

where η = 1 for wheels that turn freely, and η = exp(μ π) for locked ones over which the rope is drawn (Euler, Eytelwein). Without the
ropes' own weight and friction the hand holds load / 8 + 7 w / 8. The load rises by an eighth of the hand's way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose
from unibody.spatial.table import Table

if TYPE_CHECKING:
    from unibody.model import Body, Builder
    from unibody.model.deformable_points import DeformableHandle
    from unibody.shapes import Shape

Place = tuple[float, float, float]

G = 9.81
PULLEY = 0.01814
"""[kg] The paper's."""
FLOOR, FLANGE, HALF, NOTCH = 0.02, 0.024, 0.0035, 0.0018
"""Of a wheel: radius of the notch's floor and of its flanges, half its width, and half that of the notch's floor [m]."""
ROPE = 1.5e-3
"""Radius of the ropes [m]."""
DENSITY, YOUNG = 200.0, 1e8
LINE = DENSITY * math.pi * ROPE**2
"""Of a rope [kg/m]."""
STIFF = YOUNG * math.pi * ROPE**2
"""E A of a rope [N]."""
REACH = 4e-4
HEIGHTS = (-0.32, -0.22, -0.12)
"""Of the axles of the moving pulleys below the ceiling [m]."""
FIXED, HAND = -0.05, -0.2
"""Heights of the fixed pulley's axle, and of the hand at the start [m]."""
HUNG = 0.06
"""Length of the rope that carries the load [m]."""
APART = 0.009
"""Between the planes of one pulley and the next [m]: a rope ends beside the wheel, on its axle."""
START, END = 0.3, 0.8
"""When the hand begins to draw, and when it ends [s]."""


@dataclass(frozen=True)
class Tackle:
    """Forces in it, standing still or drawn slowly."""

    load: float
    """[kg]"""
    friction: float
    locked: bool
    radius: float
    """At which ropes run around wheels [m]."""
    pull: float
    """The hand's way [m]."""

    @property
    def rise(self) -> float:
        """Of the load [m]."""
        return self.pull / 8.0

    def tensions(self, drawn: float = 0.0) -> list[float]:
        """t_1, t_2, t_3 at the axles, then the hand's force [N], when the hand has `drawn` so far [m]."""
        eta = math.exp(self.friction * math.pi) if self.locked else 1.0
        z = [height + drawn / 2.0 ** (3 - k) for k, height in enumerate(HEIGHTS)]
        below, out = self.load * G + LINE * G * HUNG, []
        for k in range(3):
            out.append((PULLEY * G + LINE * G * math.pi * self.radius + below) / (1.0 + 1.0 / eta))
            above = z[k + 1] if k < 2 else HAND - drawn
            below = out[k] + LINE * G * (above - z[k])
        return [*out, eta * below]

    def hand(self, drawn: float = 0.0) -> float:
        """[N]"""
        return self.tensions(drawn)[3]

    @property
    def weightless(self) -> float:
        """[N] The hand's force with ropes that weigh nothing and wheels that turn."""
        return (self.load + 7.0 * PULLEY) * G / 8.0


@scene("pulleys", summary="four pulleys and four ropes lift a load with an eighth of its weight, rope by friction on wheels")
def pulleys(
    *, load: float = 0.1, pull: float = 0.08, friction: float = 0.2, axles: Literal["free", "locked"] = "free", sides: int = 48,
    spacing: float = 4e-3,
) -> Scene:  # fmt: skip
    """The hand draws by `pull` [m] between 0.3 s and 0.8 s and lifts `load` [kg]; pulleys weigh 18.14 g each, as the paper's. Wheels are
    notched solids of so many `sides`, ropes have vertices `spacing` [m] apart. `axles`: wheels turn freely, or are locked."""
    require("pulleys", load > 0.0, f"load={load:g}; give more than 0")
    require("pulleys", 0.0 <= pull <= 0.12, f"pull={pull:g}; give 0 to 0.12")
    require("pulleys", friction >= 0.0, f"friction={friction:g}; give 0 or more")
    require("pulleys", sides >= 24, f"sides={sides}; give 24 or more")
    require("pulleys", 0.0 < spacing <= 6e-3, f"spacing={spacing:g}; give more than 0 and at most 0.006")
    import unibody as ub

    # A chord of the rope dips towards the wheel between its ends: gaps begin at half the reach under its middle.
    ideal = FLOOR + ROPE + 0.5 * REACH
    radius = ideal / math.cos(0.5 * spacing / ideal)
    exact = Tackle(load, friction, axles == "locked", ideal, pull)
    b = ub.Builder()
    ceiling = b.body("ceiling", shape=ub.Box((0.3, 0.1, 0.01)), kind="static", X_WB=Pose(p=(0.06, -0.01, 0.005)))
    # wheels from the lowest up, each half a rope's turn further right, then the fixed one
    places = [(k * radius, (k - 2) * APART, height) for k, height in enumerate(HEIGHTS)]
    places.append((4.0 * radius, 0.0, FIXED))
    shape = grooved_wheel(sides)
    wheels = [_wheel(b, k, shape, place, axles == "locked") for k, place in enumerate(places)]
    # ropes, as long at rest as their tensions ask for
    tensions = exact.tensions()
    for k in range(3):
        x, y, z = places[k]
        last = (x + radius, y, places[k + 1][2]) if k < 2 else None
        path = _path(places[k], radius, last, places[3], spacing)
        rope = _rope(b, f"rope{k + 1}", path, tensions[k])
        b.attach(rope.end(0), ceiling)
        if k < 2:
            b.attach(rope.end(1), wheels[k + 1])
        else:
            held = rope.vertices[[len(path) - 1]]
            b.prescribe(held, _hand(path[-1], pull), name="hand")
    x, y, z = places[0]
    top = np.array([x, y - APART, z])
    hung = b.body("load", shape=ub.Cylinder(0.015, 0.03), mass=load, X_WB=Pose(p=top - [0, 0, HUNG + 0.015]))
    line = _rope(b, "line", top - np.linspace(0.0, HUNG, 8)[:, None] * [0, 0, 1.0], load * G)
    b.attach(line.end(0), wheels[0])
    b.attach(line.end(1), hung)
    b.add(ub.Contact(friction=friction, reach=REACH, damping=1e-3), name="contact")
    notes = "The hand holds exact.hand(pull) at the end, seven pulleys' worth of which is for the pulleys; the load has risen by pull / 8."
    # over locked wheels a force grows exponentially with friction, so that normal forces of the beginning would not do
    solver = "barrier:friction_iterations=0" if axles == "locked" else "barrier"
    return Scene(b.build(), duration=1.2, dt=0.01, exact=exact, notes=notes, solver=solver)


def _hand(start: np.ndarray, pull: float) -> Table:
    """Where the hand is: down by `pull`, from rest to rest at a speed that is even between."""
    return Table.of(lambda t: start - [0.0, 0.0, pull * drawn_part(t)], [*np.linspace(0.0, 2.0, 401).tolist(), 100.0])


def drawn_part(t: float) -> float:
    """Of the hand's way, at t."""
    s, e = min(1.0, max(0.0, (t - START) / (END - START))), 0.2
    if s < e:
        way = 0.5 * s * s / e
    else:
        way = s - 0.5 * e if s < 1.0 - e else 1.0 - e - 0.5 * (1.0 - s) ** 2 / e
    return way / (1.0 - e)


def grooved_wheel(sides: int) -> Shape:
    """A solid of revolution about z with a notch around it."""
    import unibody as ub

    profile = [(FLANGE, -HALF), (FLOOR, -NOTCH), (FLOOR, NOTCH), (FLANGE, HALF)]
    angle = 2.0 * math.pi * np.arange(sides) / sides
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(sides, z)], axis=1) for r, z in profile]
    x = np.concatenate([*rings, [(0, 0, -HALF), (0, 0, HALF)]])
    i, after, faces = np.arange(sides), (np.arange(sides) + 1) % sides, []
    for k in range(len(profile) - 1):
        low, high = k * sides, (k + 1) * sides
        faces += [np.stack([low + i, low + after, high + after], axis=1), np.stack([low + i, high + after, high + i], axis=1)]
    last = (len(profile) - 1) * sides
    faces += [np.stack([after, i, np.full(sides, len(x) - 2)], axis=1)]
    faces += [np.stack([last + i, last + after, np.full(sides, len(x) - 1)], axis=1)]
    return ub.Mesh(x, np.concatenate(faces))


def _wheel(b: Builder, k: int, shape: Shape, place: Place, locked: bool) -> Body:
    """Pulley k in its vertical plane, its axis z along the world's y; the fixed one last. An axle reaches into the next plane."""
    import unibody as ub

    X = Pose.about((1, 0, 0), -0.5 * math.pi, p=place)
    parts: list[Shape | ub.Placed] = [shape]
    if k < 3:
        parts.append(ub.Placed(ub.Cylinder(0.002, APART - HALF), Pose(p=(0, 0, -0.5 * (APART + HALF)))))
    wheel = b.body(f"pulley{k + 1}", shape=parts, mass=PULLEY, X_WB=X, kind="static" if k == 3 and locked else "dynamic")
    if k == 3 and not locked:
        b.joint("hinge", ub.Revolute(axis=(0, 0, 1)), b.world, wheel, X_PF=X)
    elif k < 3:
        free = ub.Prismatic(axis=(0, -1, 0)) if locked else ub.Planar()
        b.joint(f"slide{k + 1}", free, b.world, wheel, X_PF=X)
    return wheel


def _rope(b: Builder, name: str, path: np.ndarray, tension: float) -> DeformableHandle:
    """A rope that starts along a path under this tension, straight when nothing holds it."""
    import unibody as ub

    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]) / (1.0 + tension / STIFF)
    hemp = ub.RodMaterial(young=YOUNG, bending=1e-7)
    return b.rod(name, way[:, None] * [0, 0, 1.0], ROPE, hemp, DENSITY, start=path)


def _path(wheel: Place, radius: float, last: Place | None, fixed: Place, spacing: float) -> np.ndarray:
    """From the ceiling down, under the wheel and up to `last`, or over the fixed wheel and down to the hand; points evenly apart."""
    (x, y, z), pieces = wheel, []
    pieces.append(("line", (x - radius, 0.0), (x - radius, z)))
    pieces.append(("arc", (x, z), math.pi))
    if last is not None:
        pieces.append(("line", (x + radius, z), (x + radius, last[2])))
    else:
        pieces.append(("line", (x + radius, z), (x + radius, fixed[2])))
        pieces.append(("arc", (fixed[0], fixed[2]), -math.pi))
        pieces.append(("line", (fixed[0] + radius, fixed[2]), (fixed[0] + radius, HAND)))
    fine = []
    for piece in pieces:
        if piece[0] == "line":
            fine.append(np.linspace(piece[1], piece[2], 200))
        else:
            (cx, cz), turn = piece[1], piece[2]
            angle = math.pi + np.linspace(0.0, turn, 400)
            fine.append(np.stack([cx + radius * np.cos(angle), cz + radius * np.sin(angle)], axis=1))
    points = np.concatenate(fine)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    s = np.linspace(0.0, way[-1], math.ceil(way[-1] / spacing) + 1)
    return np.stack([np.interp(s, way, points[:, 0]), np.full(len(s), y), np.interp(s, way, points[:, 1])], axis=1)
