"""A candy in its wrapper: a tube of foil around a ball, whose ends are twisted against each other.

A thin tube of radius r and length l that is twisted by φ closes where its lines, straight at first, cross: they are then the generators of
a hyperboloid, narrowest in the middle,

    r_min = r cos(φ/2),     ends nearer by l − √(l² − 4 r² sin²(φ/2)) if lines keep their length;

a ball in the middle leaves two such necks beside it, one at each end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose


@dataclass(frozen=True)
class Neck:
    """The free piece of tube at each side, about as long as given."""

    radius: float
    length: float
    twist: float
    """Of one end [rad]."""

    @property
    def narrow(self) -> float:
        """r cos(φ/2) [m]."""
        return self.radius * math.cos(0.5 * self.twist)

    @property
    def nearer(self) -> float:
        """How far the end has to come in for lines to keep their length [m]."""
        across = 2.0 * self.radius * math.sin(0.5 * self.twist)
        return self.length - math.sqrt(max(0.0, self.length**2 - across**2))


@scene("candy", summary="foil around a candy is twisted at both ends, and closes around it")
def candy(*, spacing: float = 0.014, degrees: float = 100.0, radius: float = 0.03) -> Scene:
    """A tube of foil of 16 cm around a ball of nearly its `radius` [m]; each end turns by `degrees`, one to the left and one to the right,
    and comes in by as much as lines of unchanged length ask for."""
    import unibody as ub

    require("candy", radius > 0.0, f"radius={radius:g}; give more than 0")
    require("candy", 0.0 < spacing <= radius, f"spacing={spacing:g}; give more than 0 and at most {radius:g}")
    require("candy", 0.0 <= degrees <= 150.0, f"degrees={degrees:g}; give 0 to 150")
    length = 0.16
    neck = Neck(radius, 0.5 * length - 0.5 * radius, math.radians(degrees))
    b = ub.Builder()
    b.body("candy", shape=ub.Sphere(0.85 * radius), mass=0.02)
    b.body("floor", shape=ub.Plane(), kind="static", X_WB=Pose(p=(0, 0, -3.0 * radius)))
    foil = ub.Fabric(young=2e6, poisson=0.3, thickness=2e-4, damping=2e-3)
    lying = Pose.about((0, 1, 0), 0.5 * math.pi)
    wrapper = b.cloth("wrapper", ub.TriMesh.cylinder(radius, length, spacing), foil, 800.0, X_WB=lying)
    x = wrapper.vertices.x
    times = np.linspace(0.0, 1.2, 49)
    way = np.minimum(times, 1.0) ** 2 * (3.0 - 2.0 * np.minimum(times, 1.0))  # from rest to rest
    for name, side in (("left", -1.0), ("right", 1.0)):
        end = side * x[:, 0] > 0.5 * length - 1e-6
        start = x[end]
        rows = []
        for s in way:
            c, d = math.cos(side * neck.twist * s), math.sin(side * neck.twist * s)
            inwards = side * Neck(radius, neck.length, neck.twist * s).nearer
            rows.append([(p[0] - inwards, c * p[1] - d * p[2], d * p[1] + c * p[2]) for p in start])
        motion = ub.Table(tuple(times.tolist()), tuple(tuple(np.ravel(row).tolist()) for row in rows))
        b.prescribe(wrapper.vertices[end], motion, name=name)
    b.add(ub.Contact(friction=0.3, self_contact=True, reach=1e-3), name="contact")
    notes = "Wrinkles run around both necks; the candy cannot get out."
    return Scene(b.build(), duration=1.0, dt=0.01, exact=neck, notes=notes, solver="barrier")
