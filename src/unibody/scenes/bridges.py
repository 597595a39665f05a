"""The cable-stayed bridge of Wang et al. 2019, *RedMax*, §6, with rigid or flexible towers.

Numbers are those of the authors' program (sueda/redmax, `loadSimpleBridge` and `loadBridge`). They have y up; here the whole scene is
turned by a quarter about x, so that their (x, y, z) is our (x, −z, y), and their hinges about z are hinges about −y. Lengths are in
metres. The deck of n bodies starts as an arch from the left abutment: with m = ⌊n/2⌋ and aᵢ = −sinh(½ (i + 1) / (n (m − 1))),
i = 0 … m − 1, its hinges start at

    q_{m−1−i} = aᵢ,   q_{n−m+1+i} = aᵢ,   q₀ = a_{m−1} − Σ aᵢ,   others 0,         ℓ = 1/n Σ_k (span/n) / |cos(q₀ + … + q_k)|.

Bodies of the mean length ℓ miss the right abutment by 1.5e-4 m, which the first steps close, as they did for the authors.

A cable of the authors pulls with k (l − l₀)/l₀ + d l̇/l₀ and starts at its rest length, so our stiffness is k/l₀ and our damping d/l₀.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.element import Point
    from unibody.model import Body, Builder

SPAN = 24.0
"""Between the abutments [m]."""
ABUTMENT = 3.0
"""Height of the abutments, on whose tops the deck is hinged [m]."""
TOWER = 10.0
"""Height of the towers [m]; they stand at x = ±5 m."""
AUTHORS_CABLES = 30


@dataclass(frozen=True)
class Build:
    """What tells one bridge of the authors from the other: widths along y, the deck's thickness, and (k, d) of hinges and cables."""

    width: float
    """Of the ground, the abutments and the towers [m]."""
    deck: tuple[float, float]
    """Width and thickness of the deck [m]."""
    deck_hinge: tuple[float, float]
    """[N m/rad, N m s/rad]"""
    tower_hinge: tuple[float, float]
    cable: tuple[float, float]
    """k [N] and d [N s] of the law above."""


RIGID = Build(0.5, (0.5, 0.5), (1e1, 1e0), (0.0, 0.0), (1e7, 1e3))
FLEXIBLE = Build(1.8, (1.6, 0.15), (1e8, 1e4), (1e8, 1e3), (2.5e7, 1e4))


@dataclass(frozen=True)
class Arch:
    """The deck at the start: n bodies of one length, hinged to each other, from the left abutment's top towards the right one's."""

    n: int

    @cached_property
    def angles(self) -> np.ndarray:
        """q of the hinges, each against the body before, (n,) [rad]."""
        n, m = self.n, self.n // 2
        a = -np.sinh(0.5 / n * np.arange(1, m + 1) / (m - 1))
        q = np.zeros(n + 1)
        q[m - 1 :: -1] = a
        q[n - m + 1 :] = a
        q[0] -= a.sum()
        return q[:n]

    @cached_property
    def length(self) -> float:
        """ℓ of one body [m]."""
        return float(np.mean(np.abs(SPAN / self.n / np.cos(np.cumsum(self.angles)))))

    @cached_property
    def hinges(self) -> np.ndarray:
        """Left ends of the bodies, and the right end of the last, (n + 1, 3) [m]."""
        slope = np.cumsum(self.angles)
        steps = self.length * np.stack([np.cos(slope), np.zeros(self.n), np.sin(slope)], axis=1)
        return np.concatenate([[(-0.5 * SPAN, 0.0, ABUTMENT)], steps]).cumsum(axis=0)

    def place(self, part: int, parts: int) -> tuple[int, float, np.ndarray]:
        """Which body is at part/parts of the way, where on it along x, and where that is in the world at the start."""
        body, rest = divmod(part * self.n, parts)
        share = rest / parts
        return body, (share - 0.5) * self.length, (1.0 - share) * self.hinges[body] + share * self.hinges[body + 1]


@dataclass(frozen=True)
class Tower:
    """A tower of equal blocks at x; heights count from its foot."""

    x: float
    blocks: list[Body]

    def at(self, height: float) -> Point:
        """The point of the tower's axis at this height."""
        block = TOWER / len(self.blocks)
        i = min(int(height / block), len(self.blocks) - 1)
        return self.blocks[i].at(0, 0, height - (i + 0.5) * block)


@scene("bridge", summary="the cable-stayed bridge of the RedMax paper: stiff cables across a tree of joints, and a closed loop")
def bridge(
    *,
    n: int = 20,
    towers: Literal["rigid", "flexible"] = "rigid",
    cables: int | Literal["each"] = AUTHORS_CABLES,
    anchors: Literal["top", "spread"] = "top",
    cable_stiffness: Literal["equal", "scaled"] = "equal",
    k: float | None = None,
    weight: float = 0.0,
    gravity: float = 9.8,
) -> Scene:
    """n deck bodies, and n more in each tower if towers are flexible: n or 3 n degrees of freedom, less two for the closed loop.

    `cables` are spread evenly along the deck ("each": as many as deck bodies), half to each tower: all to its top, or each at a height
    of its own, those that reach farthest highest. `k` is the tension of a cable of twice its length [N], by default the authors' 1e7
    (rigid) or 2.5e7 (flexible): "equal" for every cable, or "scaled" by 30 / cables, so that all together are as stiff as the authors'
    thirty. `weight` presses on the middle of the deck [N]; the paper's exaggerated one is not published, the authors' program mentions
    4800 and 2.4e6.
    """
    import unibody as ub

    require("bridge", n >= 4, f"n={n} deck bodies are too few; give 4 or more")
    count = n if cables == "each" else int(cables)
    require("bridge", count >= 0, f"cables={count} must not be negative")
    require("bridge", k is None or k >= 0, f"k={k} must not be negative")
    # towers and deck
    build = RIGID if towers == "rigid" else FLEXIBLE
    b = ub.Builder(gravity=(0, 0, -gravity))
    abutments, left, right = _stand(b, build, n if towers == "flexible" else 0)
    arch = Arch(n)
    deck = _lay(b, build, arch, abutments)
    # cables from the deck to the towers, each at rest, as stiff as its share says
    share = 1.0 if cable_stiffness == "equal" else AUTHORS_CABLES / max(count, 1)
    law = ((build.cable[0] if k is None else k) * share, build.cable[1] * share)
    places = [arch.place(i, count + 1) for i in range(1, count + 1)]
    for tower, which in ((left, range(count // 2)), (right, range(count // 2, count))):
        heights = _heights(anchors, np.array([abs(places[i][2][0] - tower.x) for i in which]))
        for i, height in zip(which, heights.tolist(), strict=True):
            body, along, foot = places[i]
            rest = math.dist(foot, (tower.x, 0.0, height))
            ends = deck[body].at(along, 0, 0), tower.at(height)
            b.add(ub.SpringDamper(*ends, stiffness=law[0] / rest, damping=law[1] / rest, rest_length=rest), name=f"cable{i}")
    if weight != 0.0:
        body, along, _ = arch.place(1, 2)
        b.add(ub.AppliedWrench(deck[body], force=(0, 0, -weight), at=(along, 0, 0)), name="weight")
    notes = (
        "No exact solution: the deck sags into its cables and comes to rest. Runs of the authors' program are compared in the tests. "
        "The step suits explicit rules at n = 20; they need a smaller one for more bodies, linearly implicit ones take 0.01 s."
    )
    return Scene(b.build(), 5.0, 1e-3 if towers == "rigid" else 1e-4, None, notes)


def _stand(b: Builder, build: Build, blocks: int) -> tuple[tuple[Body, Body], Tower, Tower]:
    """The ground, the abutments and two towers of so many hinged blocks each (0: of one piece that does not move)."""
    import unibody as ub

    def fixed(name: str, x: float, height: float) -> Body:
        return b.body(name, shape=ub.Box((0.5, build.width, height)), kind="static", X_WB=Pose(p=(x, 0, 0.5 * height)))

    ground = b.body("ground", shape=ub.Box((25.0, build.width, 0.5)), kind="static")
    abutments = fixed("left-abutment", -0.5 * SPAN, ABUTMENT), fixed("right-abutment", 0.5 * SPAN, ABUTMENT)
    if blocks == 0:
        return abutments, Tower(-5.0, [fixed("left-tower", -5.0, TOWER)]), Tower(5.0, [fixed("right-tower", 5.0, TOWER)])
    hinge, block = ub.Revolute(axis=HINGE), TOWER / blocks
    shape, X_BM, X_PF = ub.Box((0.5, build.width, block)), Pose(p=(0, 0, -0.5 * block)), Pose(p=(0, 0, 0.5 * block))
    made = []
    for side, x in (("left", -5.0), ("right", 5.0)):
        parent, on_parent, bodies = ground, Pose(p=(x, 0, 0)), []
        for i in range(blocks):
            body = b.body(f"{side}-tower{i}", shape=shape)
            stiffness, damping = build.tower_hinge
            b.joint(f"{side}-hinge{i}", hinge, parent, body, on_parent, X_BM, stiffness=stiffness, damping=damping)
            b.add(ub.BodyDamping(body, angular=1.0, linear=1.0), name=f"{side}-drag{i}")
            parent, on_parent = body, X_PF
            bodies.append(body)
        made.append(Tower(x, bodies))
    return abutments, made[0], made[1]


def _lay(b: Builder, build: Build, arch: Arch, abutments: tuple[Body, Body]) -> list[Body]:
    """The deck from the left abutment, held on the right one by two rows, across the hinges' axis."""
    import unibody as ub

    hinge, shape = ub.Revolute(axis=HINGE), ub.Box((arch.length, *build.deck))
    X_BM, X_PF = Pose(p=(-0.5 * arch.length, 0, 0)), Pose(p=(0.5 * arch.length, 0, 0))
    top = Pose(p=(0, 0, 0.5 * ABUTMENT))
    deck: list[Body] = []
    for i, q in enumerate(arch.angles.tolist()):
        body = b.body(f"deck{i}", shape=shape)
        if i == 0:
            b.joint("hinge0", hinge, abutments[0], body, top, X_BM, q=q)
        else:
            stiffness, damping = build.deck_hinge
            b.joint(f"hinge{i}", hinge, deck[-1], body, X_PF, X_BM, q=q, stiffness=stiffness, damping=damping, rest=q)
        b.add(ub.BodyDamping(body, angular=1.0, linear=1.0), name=f"drag{i}")
        deck.append(body)
    b.add(ub.PointOnLine(deck[-1].at(0.5 * arch.length, 0, 0), abutments[1].at(*top.p), HINGE), name="landing")
    return deck


def _heights(anchors: str, reach: np.ndarray) -> np.ndarray:
    """At which height of its tower each cable ends, given how far it reaches: all at the top, or ranked between 4 m and the top."""
    if anchors == "top":
        return np.full(reach.size, TOWER)
    rank = np.empty(reach.size)
    rank[np.argsort(reach, kind="stable")] = np.arange(1, reach.size + 1)
    return 4.0 + (TOWER - 4.0) * rank / max(reach.size, 1)
