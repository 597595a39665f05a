"""A hammock: a cloth between two trees, hung by ropes, and somebody who lies down on it.

At rest the trees carry all of the weight W, and as nothing else pulls sideways, they are pulled together by equal forces: about
W L / 4 d where the load is in the middle of a span L, d below its ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

LENGTH, WIDTH, ROPE = 0.6, 0.36, 0.25
"""Of the bed, and of each of its ropes [m]."""


@dataclass(frozen=True)
class Hung:
    """What the trees carry."""

    weight: float
    """[N]"""


@scene("hammock", summary="three jointed bodies fall into a hammock of cloth that hangs between two trees by ropes, and lie in it")
def hammock(*, spacing: float = 0.06, mass: float = 1.0, height: float = 0.08) -> Scene:
    """A bed of 60 by 36 cm, vertices `spacing` [m] apart; at each end two ropes lead from its corners to a tree. A chest with two limbs on
    ball joints, of `mass` [kg] together, is dropped from `height` [m] above it."""
    import unibody as ub

    require("hammock", 0.0 < spacing <= 0.18, f"spacing={spacing:g}; give more than 0 and at most 0.18")
    require("hammock", mass > 0.0 and height > 0.0, f"mass={mass:g}, height={height:g}; give more than 0")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static", X_WB=Pose(p=(0, 0, -0.6)))
    canvas = ub.Fabric(young=2e6, poisson=0.3, thickness=1e-3, damping=2e-3)
    bed = b.cloth("bed", ub.TriMesh.grid((LENGTH, WIDTH), spacing), canvas, 500.0)
    x, hemp = bed.vertices.x, ub.RodMaterial(young=2e7, bending=1e-4, damping=2e-3)
    for end, side in (("left", -1.0), ("right", 1.0)):
        top = np.array([side * (0.5 * LENGTH + 0.75 * ROPE), 0.0, 0.15])
        tree = b.body(f"{end}-tree", shape=ub.Cylinder(0.03, 0.9), kind="static", X_WB=Pose(p=(top[0] + side * 0.04, 0, -0.15)))
        for k, across in enumerate((-1.0, 1.0)):
            corner = int(np.argmax(side * x[:, 0] + across * x[:, 1]))
            rope = b.rod(f"{end}-rope{k}", np.linspace(x[corner], top + [0, 0.01 * across, 0], 6), 3e-3, hemp, 1000.0)
            b.attach(rope.end(0), bed.vertex(corner))
            b.attach(rope.end(1), tree)
    # somebody, lying along the bed
    chest = b.body("chest", shape=ub.Box((0.14, 0.1, 0.05)), mass=0.5 * mass, X_WB=Pose.about((0, 0, 1), 0.3, p=(0, 0, height + 0.03)))
    for name, side in (("arms", -1.0), ("legs", 1.0)):
        limb = b.body(name, shape=ub.Box((0.12, 0.06, 0.04)), mass=0.25 * mass)
        b.joint(f"{name}.joint", ub.Ball(), chest, limb, X_PF=Pose(p=(side * 0.08, 0, 0)), X_BM=Pose(p=(-side * 0.07, 0, 0)))
    b.add(ub.Contact(friction=0.5, damping=2e-3), name="contact")
    model = b.build()
    weight = 9.81 * model.total_mass
    notes = "It comes to rest low in the bed; the trees carry exact.weight, and equal pulls to both sides."
    return Scene(model, duration=1.5, dt=0.01, exact=Hung(weight), notes=notes, solver="barrier")
