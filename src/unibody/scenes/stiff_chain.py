"""A chain held by springs across its tree of joints, as stiff as one likes: where explicit rules blow up."""

from __future__ import annotations

import math

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE, rod_shape
from unibody.spatial.pose import Pose


@scene("stiff-chain", summary="a chain under springs of any stiffness, up to 1e10 N/m, on which explicit rules blow up")
def stiff_chain(
    *,
    n: int = 12,
    stiffness: float = 1e4,
    damping: float = 0.0,
    every: int = 4,
    tie: bool = True,
    link: float = 0.25,
    mass: float = 1.0,
    bend: float = 0.3,
    gravity: float = 9.81,
    planar: bool = False,
) -> Scene:
    """n slender links of length `link` [m] and `mass` [kg] in a zigzag of slopes ± `bend` [rad], hinged at the origin, along x.

    Springs of `stiffness` [N/m] and `damping` [N s/m], all at rest at the start, join the middles of links i and i + 2, the middle of
    every `every`-th link to the world's point 2 `link` above it (0: none), and, with `tie`, the chain's tip to the first link's middle.
    The fastest vibration has a period of the order of √(mass/stiffness), which is what the scene's step resolves.
    """
    import unibody as ub

    require("stiff-chain", n >= 3, f"n={n} links are too few; give 3 or more")
    require("stiff-chain", link > 0 and mass > 0, f"link={link}, mass={mass} must be positive")
    require("stiff-chain", stiffness >= 0 and damping >= 0, f"stiffness={stiffness}, damping={damping} must not be negative")
    require("stiff-chain", every >= 0, f"every={every} must not be negative")
    require("stiff-chain", abs(bend) < 0.5 * math.pi, f"bend={bend} folds the chain back; give less than π/2")
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    hinge, shape = ub.Revolute(axis=HINGE), rod_shape(link, 0.2 * link)
    X_BM, next_X_PF = Pose(p=(-0.5 * link, 0, 0)), Pose(p=(0.5 * link, 0, 0))
    # the chain, link by link
    parent, X_PF, before, links = b.world, Pose(), 0.0, []
    for i in range(n):
        slope = bend if i % 2 == 0 else -bend
        body = b.body(f"link{i}", shape=shape, mass=mass)
        b.joint(f"joint{i}", hinge, parent, body, X_PF, X_BM, q=slope - before)
        parent, X_PF, before = body, next_X_PF, slope
        links.append(body)
    law = {"stiffness": stiffness, "damping": damping}
    for i in range(n - 2):
        b.add(ub.SpringDamper(links[i].at(), links[i + 2].at(), **law), name=f"spring{i}")
    for i in range(every - 1, n, every) if every else ():
        above = b.world.at((i + 0.5) * link * math.cos(bend), 0, 0.5 * link * math.sin(bend) + 2.0 * link)
        b.add(ub.SpringDamper(links[i].at(), above, **law), name=f"hanger{i}")
    if tie:
        b.add(ub.SpringDamper(links[-1].at(0.5 * link, 0, 0), links[0].at(), **law), name="tie")
    dt = min(1e-2, 0.2 * math.sqrt(mass / stiffness)) if stiffness else 1e-2
    notes = "No exact solution. Without damping the energy is constant; an explicit step well above the scene's own blows up."
    return Scene(b.build(), 2.0, dt, None, notes)
