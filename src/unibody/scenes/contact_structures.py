"""Structures that stand or fall by friction: card houses, an arch, a windmill among stacks of cubes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Capsule, Mesh, Placed, Plane
from unibody.spatial.pose import Pose


@dataclass(frozen=True)
class LeaningPair:
    """Two cards that lean on each other: each is pushed outwards at its foot by H and carried by its weight, so that it slips below
    μ = H / m g; moments about the foot give H from the way of the weight and the height of the upper contact."""

    way: float
    """From the foot to below the middle [m]."""
    height: float
    """Of the upper contact above the foot [m]."""

    @property
    def least_friction(self) -> float:
        """Above it a pair without load stands; a heavy load on its top needs twice as much."""
        return self.way / self.height


@scene("card-house", summary="A house of cards: leaning pairs and flat cards, held by friction alone")
def card_house(
    *, levels: int = 3, degrees: float = 68.0, friction: float = 0.6, edges: Literal["sharp", "round"] = "sharp"
) -> Scene:
    """Cards of 100 × 60 × 2 mm, 8.4 g, leaning in pairs at `degrees` against the ground, a flat card across each two pairs. A leaning card
    slips below about μ = cot(angle)/2 unloaded (exact.least_friction) and below cot(angle) under a heavy load: 0.20 … 0.40 at 68°. Round
    edges push each other sideways, as do sharp ones with barriers; of two sharp edges that meet, rigid contact takes one for a face, whose
    normal leans, so that pairs need cot(angle) there."""
    import unibody as ub

    require("card-house", levels >= 1 and 45.0 <= degrees <= 80.0, f"levels={levels}, degrees={degrees:g}; give ≥ 1 and 45 … 80")
    length, width, thick, gap = 0.1, 0.06, 0.002, 1.5e-4
    lean = math.radians(90.0 - degrees)
    sine, cosine, flat_gap = math.sin(lean), math.cos(lean), gap
    # a card, how high it stands and how far it reaches when it leans; its edges are sharp or rounded by capsules
    if edges == "sharp":
        card: list[Box | Placed] = [Box((thick, width, length))]
        rise, reach = length * cosine + thick * sine, length * sine + thick * cosine
        exact = LeaningPair(0.5 * (length * sine - thick * cosine), length * cosine)
    else:
        inner = length - thick
        edge = Capsule(0.5 * thick, width - thick)
        card = [Box((thick, width, inner)), *(Placed(edge, Pose.about((1, 0, 0), 0.5 * math.pi, p=(0, 0, z * inner))) for z in (-0.5, 0.5))]
        rise, reach = inner * cosine + thick, inner * sine + thick
        exact = LeaningPair(0.5 * inner * sine, inner * cosine + 0.5 * thick)
    spacing = 2.0 * reach + 6.0 * gap
    flat = Box((spacing - 2.0 * gap, width, thick))
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    # level by level: pairs of leaning cards, then flat ones across them
    floor = 0.0
    for level in range(levels):
        pairs = levels - level
        first = -0.5 * (pairs - 1) * spacing
        for k in range(pairs):
            for side, sign in (("left", 1.0), ("right", -1.0)):
                place = (first + k * spacing - sign * 0.5 * (reach + gap), 0, floor + gap + 0.5 * rise)
                b.body(f"{side}{level}{k}", shape=card, mass=8.4e-3, X_WB=Pose.about((0, 1, 0), sign * lean, p=place))
        top = floor + gap + rise + flat_gap
        for k in range(pairs - 1):
            b.body(f"flat{level}{k}", shape=flat, density=700.0, X_WB=Pose(p=(first + (k + 0.5) * spacing, 0, top + 0.5 * thick)))
        floor = top + thick
    b.add(ub.Contact(friction=friction, reach=2.0 * gap), name="contact")
    notes = "Stands as long as creep is small against a card's 2 mm: by complementarity or barrier."
    return Scene(b.build(), duration=5.0, dt=0.01, exact=exact if levels == 1 else None, notes=notes)


def voussoir(inner: float, outer: float, width: float, half: float) -> Mesh:
    """A stone between two radii and the angles ±half about z = up, its frame in the arch's centre."""
    sine, cosine, y = math.sin(half), math.cos(half), 0.5 * width
    corners = [(s * sine * r, side * y, cosine * r) for r in (inner, outer) for side in (-1, 1) for s in (-1, 1)]
    # Faces of the box 0 … 7 = (radius, y, side), outwards.
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [f for a, b, c, d in quads for f in ((a, c, b), (a, d, c))]
    return Mesh(np.array(corners), np.array(faces))


@scene("arch", summary="A masonry arch without mortar")
def arch(*, stones: int = 9, radius: float = 2.0, thickness: float = 0.4, friction: float = 0.6) -> Scene:
    """A half circle of middle `radius` [m] from `stones` voussoirs of 2400 kg/m³, 0.5 m deep, on the ground. A half-circle arch
    stands where the thickness is above 0.107 of the radius (Couplet, Heyman); here it is 0.2."""
    import unibody as ub

    require("arch", stones >= 3 and 0.0 < thickness < radius, f"stones={stones}, thickness={thickness:g}; give ≥ 3 and below the radius")
    many = min(1.0, 9.0 / stones)  # of narrow stones' joints: all together they give way no more than those of nine
    inner, outer, gap = radius - 0.5 * thickness, radius + 0.5 * thickness, 4e-4 * many
    share = math.pi / stones
    stone = voussoir(inner, outer, 0.5, 0.5 * share - 0.5 * gap / radius)
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    lift = gap + inner * math.sin(0.5 * gap / radius)
    for k in range(stones):
        angle = -0.5 * math.pi + (k + 0.5) * share
        b.body(f"stone{k}", shape=stone, density=2400.0, X_WB=Pose.about((0, 1, 0), angle, p=(0, 0, lift)))
    b.add(ub.Contact(friction=friction, reach=2e-3 * many), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.01, notes="Stands by itself: every stone leans on its neighbours.")


@scene("windmill", summary="A falling box turns a windmill into one of two stacks of cubes")
def windmill(*, levels: int = 5, columns: int = 6, friction: float = 0.2) -> Scene:
    """Four blades of 2 × 0.4 × 0.1 m on a hinge 2.4 m up a fixed stand; a heavy box (0.5 m, 5000 kg/m³) falls on one of them; beside it two
    stacks of `columns` × 3 × `levels` cubes of 0.18 m (200 kg/m³). With levels=6, columns=13 there are 468 cubes (paper 003, Fig. 20,
    dt = 1/240 s)."""
    import unibody as ub

    require("windmill", 1 <= levels <= 6, f"levels={levels}; give 1 to 6, which pass below the blades")
    require("windmill", columns >= 1, f"columns={columns}; give at least 1")
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    axle = (0.0, 0.0, 2.4)
    b.body("stand", shape=Box((0.3, 0.3, 2.6)), kind="static", X_WB=Pose(p=(0.0, 0.45, 1.32)))
    arms = [Box((4.2, 0.4, 0.1)), Box((0.1, 0.4, 4.2))]
    wheel = b.body("wheel", shape=arms, density=400.0)
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), b.world, wheel, X_PF=Pose.about((0, 1, 0), math.radians(20.0), p=axle))
    b.body("weight", shape=Box((0.5, 0.35, 0.5)), density=5000.0, X_WB=Pose(p=(1.5, 0.0, 3.6)))
    size, gap = 0.18, 1e-3
    beside = size + 4.0 * gap
    for side, i, j, k in product((-1, 1), range(columns), range(3), range(levels)):
        place = (side * (1.6 + (i + 0.5) * beside), (j - 1) * beside, 0.5 * size + gap + k * (size + gap))
        b.body(f"cube{side}.{i}.{j}.{k}", shape=Box((size,) * 3), density=200.0, X_WB=Pose(p=place))
    b.add(ub.Contact(friction=friction, reach=2.0 * gap), name="contact")
    return Scene(b.build(), duration=3.0, dt=1.0 / 240.0, notes="182 bodies by default; the paper's 468 cubes: levels=6, columns=13.")
