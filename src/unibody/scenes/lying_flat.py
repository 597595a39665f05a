"""Lying flat (paper 003, Fig. 1): a hammock of rings that hang in each other, somebody in it, and a cloth over him.

Flat rings of rigid wire lie on a grid of pitch p; upright rings link each with its neighbours, tori of rubber along the bed and closed
elastic rods across it, and hang its ends on bars between posts. With R, R_c the radii of flat and upright rings and ρ, ρ_c those of their
wires, an upright ring goes around the edges of two neighbours, each p/2 − R from its middle, with

    R_c > p/2 − R + ρ + ρ_c,

and lets them part until p grows by 2 (R_c − ρ − ρ_c) − (p − 2R): by so much the bed gets longer, and hangs through. At rest the bars carry
the weight of all, and as nothing else pulls along the bed, they are pulled together by equal forces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.ragdolls import add_ragdoll
from unibody.scenes.rubber import torus
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Builder

G = 9.81
PITCH, FLAT, LINK = 0.1, 0.04, 0.022
"""p, R and R_c [m]."""
WIRE, LINK_WIRE = 4e-3, 4e-3
"""ρ and ρ_c [m]."""
DOLL = 0.3
"""Of a grown man's size."""
GROUND = -0.5
STRETCHED = 0.5 * PITCH - FLAT
"""Of the edge of a ring from the middle between two [m]."""


@dataclass(frozen=True)
class Bed:
    """What hangs between the bars, and how they are linked."""

    weight: float
    """Of all that moves [N]."""
    links: tuple[tuple[str, str, str], ...]
    """Of every upright ring its name and the two that it goes through; bars are "bar"."""


@scene("lying-flat", summary="a ragdoll and a cloth fall into a hammock of rigid rings, rubber tori and elastic hoops")
def lying_flat(*, across: int = 3, along: int = 5, fine: int = 1, spacing: float = 0.05, friction: float = 0.2) -> Scene:
    """A bed of `across` by `along` flat rings, a ragdoll of 0.53 m and eleven bodies, and a square cloth of 30 cm, vertices `spacing` [m]
    apart. Rings and tori have 12 `fine` pieces, tori are `fine` cells thick. The paper's 77 bodies and 18 000 vertices: across=4, fine=3,
    spacing=0.006."""
    import unibody as ub

    require("lying-flat", across >= 2 and along >= 2, f"across={across}, along={along}; give 2 or more")
    require("lying-flat", 1 <= fine <= 8, f"fine={fine}; give 1 to 8")
    require("lying-flat", 0.0 < spacing <= 0.1, f"spacing={spacing:g}; give more than 0 and at most 0.1")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static", X_WB=Pose(p=(0, 0, GROUND)))
    # flat rings
    pieces = 12 * fine
    circle = _circle(FLAT, pieces)
    grid = [(i, j) for i in range(along) for j in range(across)]
    places = {(i, j): PITCH * np.array([i - 0.5 * (along - 1), j - 0.5 * (across - 1), 0.0]) for i, j in grid}
    for (i, j), p in places.items():
        b.body(f"ring{i}.{j}", shape=ub.Wire(circle, radius=WIRE, closed=True), density=2700.0, X_WB=Pose(p=p))
    # bars where the next rings would begin, and what links all of them
    end = 0.5 * along * PITCH + STRETCHED
    for name, side in (("left", -1.0), ("right", 1.0)):
        _bar(b, name, side * end, 0.5 * across * PITCH)
    rubber = ub.NeoHookean(young=5e6, poisson=0.4, damping=2e-3)
    spring = ub.RodMaterial(young=5e7, damping=2e-3)
    tyre, links = torus(LINK, LINK_WIRE, pieces, fine), []
    for j in range(across):
        for i in range(along + 1):
            name, p = f"torus{i}.{j}", np.array([(i - 0.5 * along) * PITCH, places[0, j][1], 0.0])
            b.soft(name, tyre, rubber, 1000.0, X_WB=Pose(p=p))
            ends = [f"ring{k}.{j}" if 0 <= k < along else ("left-bar", "right-bar")[k > 0] for k in (i - 1, i)]
            links.append((name, *ends))
    hoop = _circle(LINK, 12)[:, [2, 0, 1]]  # edges longer than the rod is thick, as self-contact asks for
    for i in range(along):
        for j in range(across - 1):
            p = 0.5 * (places[i, j] + places[i, j + 1])
            b.rod(f"hoop{i}.{j}", hoop, LINK_WIRE, spring, 1000.0, closed=True, X_WB=Pose(p=p))
            links.append((f"hoop{i}.{j}", f"ring{i}.{j}", f"ring{i}.{j + 1}"))
    # somebody on his back, and a cloth
    lying = Pose.about((0, 1, 0), -0.5 * math.pi, p=(0.95 * DOLL, 0, 0.06))
    add_ragdoll(b, "doll.", lying, DOLL)
    cotton = ub.Fabric(young=5e5, poisson=0.3, thickness=1e-3, damping=2e-3)
    b.cloth("cloth", ub.TriMesh.grid((0.3, 0.3), spacing), cotton, 300.0, X_WB=Pose.about((0, 0, 1), 0.3, p=(0.02, 0, 0.14)))
    b.add(ub.Contact(friction=friction, reach=5e-4, damping=1e-3, self_contact=True), name="contact")
    model = b.build()
    notes = "He comes to rest on the bed, his arms where they fall; every ring still goes through its neighbours."
    return Scene(model, duration=1.2, dt=0.01, exact=Bed(G * model.total_mass, tuple(links)), notes=notes, solver="barrier")


def _circle(radius: float, pieces: int) -> np.ndarray:
    """Points in the x–y plane."""
    angle = 2.0 * math.pi * np.arange(pieces) / pieces
    return radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)


def _bar(b: Builder, name: str, x: float, half: float) -> None:
    """A bar across the end of the bed, on two posts."""
    import unibody as ub

    y = half + 0.05
    points = [(x, -y, GROUND + 0.01), (x, -y, 0.0), (x, y, 0.0), (x, y, GROUND + 0.01)]
    b.body(f"{name}-bar", shape=ub.Wire(points, radius=6e-3), kind="static")
