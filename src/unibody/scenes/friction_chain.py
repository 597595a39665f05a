"""A chain whose pins rub: friction in joints that follows their load and their radius (paper 000, Fig. 5a, 5b)."""

from __future__ import annotations

import math

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose


@scene("friction-chain", summary="a chain swings about axes at 45°; friction in its pins stops it, sooner the larger they are")
def friction_chain(
    *,
    n: int = 5,
    radius: float = 0.03,
    height: float = 0.06,
    coefficient: float = 0.5,
    points: int = 4,
    link: float = 0.25,
    mass: float = 0.4,
    tilt: float = 0.25 * math.pi,
    gravity: float = 9.81,
) -> Scene:
    """n links of length `link` [m] and `mass` [kg] each, straight along x at the start, on parallel pins of `radius` and `height` [m] whose
    axes lean by `tilt` [rad] from the vertical. Links have the inertia of slender boxes whatever the pins, so that runs with other pins
    differ in friction alone. Try `radius=0.02` beside `radius=0.03`."""
    import unibody as ub

    require("friction-chain", n >= 1, f"n={n} links are too few; give 1 or more")
    require("friction-chain", link > 0 and mass > 0, f"link={link:g}, mass={mass:g}; give more than 0")
    require("friction-chain", 0 < radius < 0.5 * link, f"radius={radius} does not fit a link of {link}; give less than half of it")
    require("friction-chain", height > 0, f"height={height:g} of a pin; give more than 0")
    require("friction-chain", coefficient >= 0, f"coefficient={coefficient:g} of friction is negative; give 0 or more")
    require("friction-chain", points >= 3, f"points={points} are too few on a rim; give 3 or more")
    b = ub.Builder(gravity=(0, 0, -gravity))
    wide, thick = 0.12 * link, 0.08 * link
    bar = ub.Placed(ub.Box((link - 1.6 * radius, wide, thick)), Pose())
    pin = ub.Placed(ub.Cylinder(radius, height), Pose(p=(-0.5 * link, 0, 0)))
    inertia = mass / 12.0 * np.array([wide**2 + thick**2, link**2 + thick**2, link**2 + wide**2])
    parent, X_PF = b.world, Pose.about((1, 0, 0), tilt)
    for i in range(n):
        body = b.body(f"link{i}", shape=[bar, pin], mass=mass, com=(0, 0, 0), inertia=inertia)
        b.joint(f"joint{i}", ub.Revolute(axis=(0, 0, 1)), parent, body, X_PF, Pose(p=(-0.5 * link, 0, 0)))
        b.add(ub.JointFriction(f"joint{i}", coefficient, radius=radius, height=height, points=points), name=f"pin{i}")
        parent, X_PF = body, Pose(p=(0.5 * link, 0, 0))
    notes = (
        "No exact solution. The pins near the root carry more: with radius=0.03 they stop one by one from the root on, the "
        "tip last, after 1.3 s; with radius=0.02 the chain swings once more, and the pin at the root stops last, after 2.3 s. Then "
        "nothing creeps. The energy never grows. See rec.joint_friction('pin0')."
    )
    return Scene(b.build(), 3.0, 5e-3, None, notes)
