"""Ropes: a hanging bridge of boards, a ring on a rope, a rope over a wheel.

A rope of weight w per length between two points at the height of each other, a span L apart, hangs as a catenary

    z = a (cosh(x/a) − cosh(L/2a)),     2 a sinh(L/2a) = length,     horizontal force w a everywhere,

if it neither bends nor stretches. Over a drum about to slip, forces on both sides differ by exp(μ φ) (Euler, Eytelwein).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder
    from unibody.model.deformable_points import DeformableHandle

G = 9.81


@dataclass(frozen=True)
class HangingRope:
    """A catenary between two points of one height."""

    span: float
    length: float

    @property
    def a(self) -> float:
        """The parameter a [m]: horizontal force over weight per length."""
        low, high = 1e-3 * self.span, 1e3 * self.span
        for _ in range(200):
            a = math.sqrt(low * high)
            long = self.span / (2.0 * a) < 600.0 and 2.0 * a * math.sinh(self.span / (2.0 * a)) < self.length
            low, high = (low, a) if long else (a, high)
        return math.sqrt(low * high)

    @property
    def sag(self) -> float:
        """How far the middle hangs below the ends [m]."""
        return self.a * (math.cosh(self.span / (2.0 * self.a)) - 1.0)

    def points(self, n: int) -> np.ndarray:
        """n points at equal ways along it, (n, 3), in the x–z plane, ends at z = 0 [m]."""
        a, s = self.a, np.linspace(-0.5, 0.5, n) * self.length
        x = a * np.arcsinh(s / a)
        return np.stack([x, 0.0 * s, a * (np.cosh(x / a) - math.cosh(self.span / (2.0 * a)))], axis=1)


@scene("rope-bridge", summary="a hanging bridge: boards on two ropes, hand ropes if asked for, and a ball that falls on it")
def rope_bridge(*, boards: int = 10, hangers: int = 0, ball: float = 2.0, sag: float = 0.12) -> Scene:
    """Boards of 10 cm on two ropes that hang between abutments, `sag` part of the span; with hand ropes, each on so many `hangers`. A
    `ball` of so many kg (0: none) falls on it. The paper's has 40 boards and ten rods: boards=40, hangers=3."""
    import unibody as ub

    require("rope-bridge", boards >= 3, f"boards={boards}; give 3 or more")
    require("rope-bridge", hangers == 0 or 1 <= hangers <= boards, f"hangers={hangers}; give 0, or up to the number of boards")
    require("rope-bridge", ball >= 0.0, f"ball={ball:g}; give 0 or more")
    require("rope-bridge", 0.01 <= sag <= 0.5, f"sag={sag:g}; give 0.01 to 0.5")
    b = ub.Builder()
    pitch, wide, radius = 0.1, 0.3, 6e-3
    length = pitch * (boards + 0.5)
    # a rope of this length hangs through by about 8/3 sag² of the span
    span = length / (1.0 + 8.0 / 3.0 * sag**2)
    curve = HangingRope(span, length)
    x = curve.points(2 * boards + 2)
    hemp = ub.RodMaterial(young=5e7, damping=2e-3, bending=1e-3)
    banks = [
        b.body(f"{side}-bank", shape=ub.Box((0.1, 0.5, 0.1)), kind="static", X_WB=Pose(p=(at, 0, -0.07)))
        for side, at in (("left", -0.5 * span), ("right", 0.5 * span))
    ]
    deck = _boards(b, x, pitch, wide, radius)
    # ropes run through the boards' edges: two points of each are a board's, and half a board's pitch of rope leads to the next
    for side, y in (("left", 0.5 * wide), ("right", -0.5 * wide)):
        rope = b.rod(f"{side}-rope", x + [0, y, 0], radius, hemp, density=1000.0)
        _hold_ends(b, rope, banks)
        for k, board in enumerate(deck):
            b.attach(rope.vertices[[2 * k + 1, 2 * k + 2]], board)
        if hangers:
            hand = b.rod(f"{side}-hand-rope", x + [0, y, 0.25], radius, hemp, density=1000.0)
            _hold_ends(b, hand, banks)
            for h in range(hangers):
                k = round((h + 1) * (boards + 1) / (hangers + 1)) - 1
                foot = x[2 * k + 1] + [0, y, 0]
                line = b.rod(f"{side}-hanger{h}", foot + np.linspace(0.0, 0.25, 6)[:, None] * [0, 0, 1.0], 4e-3, hemp, density=1000.0)
                b.attach(line.end(0), deck[k])
                b.attach(line.end(1), hand.vertices[[2 * k + 1]])
    if ball > 0.0:
        low = float(x[:, 2].min())
        b.body("ball", shape=ub.Sphere(0.06), mass=ball, X_WB=Pose(p=(-0.22 * span, 0, low + 0.25)))
        b.add(ub.Contact(friction=0.5, damping=2e-3, between=(["ball"], [board.name for board in deck])), name="contact")
    notes = "Boards are points of the ropes at every instant; at rest the banks carry the weight of all of it."
    return Scene(b.build(), duration=1.5, dt=0.01, notes=notes, solver="barrier")


def _boards(b: Builder, x: np.ndarray, pitch: float, wide: float, radius: float) -> list[Body]:
    """One for every two points of the ropes, along them."""
    import unibody as ub

    deck = []
    for k in range(1, len(x) - 1, 2):
        along = x[k + 1] - x[k]
        place = Pose.about((0, -1, 0), math.atan2(along[2], along[0]), p=0.5 * (x[k] + x[k + 1]))
        deck.append(b.body(f"board{k // 2}", shape=ub.Box((0.8 * pitch, wide, 2.0 * radius)), density=500.0, X_WB=place))
    return deck


def _hold_ends(b: Builder, rope: DeformableHandle, banks: list[Body]) -> None:
    for k, bank in enumerate(banks):
        b.attach(rope.end(k), bank)


@scene("rope-ring", summary="a ring slides along a hanging rope, back and forth across its lowest point, and never comes off")
def rope_ring(*, span: float = 0.8, length: float = 0.96, pieces: int = 32, friction: float = 0.05) -> Scene:
    """A rope of `length` [m] between two points `span` [m] apart, and a closed ring of wire around it, let go a fifth from its left end."""
    import unibody as ub

    require("rope-ring", 0.0 < span < length, f"span={span:g}, length={length:g}; give 0 < span < length")
    require("rope-ring", pieces >= 8, f"pieces={pieces}; give 8 or more")
    b = ub.Builder()
    curve = HangingRope(span, length)
    b.body("floor", shape=ub.Plane(), kind="static", X_WB=Pose(p=(0, 0, -curve.sag - 0.2 * length)))
    x = curve.points(pieces + 1)
    rope = b.rod("rope", x, 4e-3, ub.RodMaterial(young=1e7, bending=1e-4, damping=2e-3), density=1000.0)
    b.prescribe(rope.vertices[[0, pieces]], name="hooks")
    angles = 2.0 * math.pi * np.arange(16) / 16
    circle = 0.03 * np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)
    k = pieces // 5
    ring = ub.Wire(circle, radius=4e-3, closed=True)
    along = x[k + 1] - x[k]
    across = np.array([-along[2], 0.0, along[0]]) / np.linalg.norm(along)
    middle = 0.5 * (x[k] + x[k + 1]) - 0.0205 * across  # it hangs on the rope: 30 mm less two radii of 4 mm and more than a millimetre
    b.body("ring", shape=ring, mass=0.02, X_WB=Pose.about((0, -1, 0), math.atan2(along[2], along[0]), p=middle))
    b.add(ub.Contact(friction=friction), name="contact")
    notes = "The rope alone would hang with exact.sag; the ring pulls it into two arcs. Friction brings it to rest."
    return Scene(b.build(), duration=1.2, dt=5e-3, exact=curve, notes=notes, solver="barrier")
