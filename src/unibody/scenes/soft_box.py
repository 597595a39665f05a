"""A soft cube falls on the ground and bounces (paper 003, §6.2, with matter that gives way, Fig. 15).

A bar of length L that hits a wall end on stays there until the wave of pressure has come back from its free end,

    2 L / c,     c = √(E/ρ),

and leaves as fast as it came, if it cannot spread sideways (ν = 0). A cube with ν > 0 spreads and swings afterwards: the softer, the more
of what it brought stays in it, and the lower it bounces, though nothing is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

DENSITY = 1000.0


@dataclass(frozen=True)
class SoftBounce:
    """Of a cube 1 m long."""

    height: float
    gravity: float
    young: float

    @property
    def hits(self) -> float:
        """When, touched or not [s]."""
        return math.sqrt(2.0 * self.height / self.gravity)

    @property
    def contact(self) -> float:
        """2 L/c [s]."""
        return 2.0 * math.sqrt(DENSITY / self.young)

    @property
    def brought(self) -> float:
        """[J]"""
        return DENSITY * self.gravity * self.height


@scene("soft-box", summary="a cube of rubber falls 1 m, is pressed flat, and bounces lower than it fell, for it goes on swinging")
def soft_box(
    *, height: float = 1.0, gravity: float = 8.0, young: float = 1e6, poisson: float = 0.3, damping: float = 0.0, loss: float = 0.0,
    cells: int = 2,
) -> Scene:  # fmt: skip
    """A cube of 1 m and 1000 kg like that of `falling-box`, of `young` [Pa] and so many `cells` along each side. `damping` [s] is that of
    the contact, `loss` [s] that of the rubber."""
    import unibody as ub

    require("soft-box", height > 0.0 and gravity > 0.0, f"height={height:g}, gravity={gravity:g}; give more than 0")
    require("soft-box", cells >= 1, f"cells={cells}; give 1 or more")
    b = ub.Builder(gravity=(0, 0, -gravity))
    b.body("ground", shape=ub.Plane(), kind="static")
    rubber = ub.NeoHookean(young=young, poisson=poisson, damping=loss)
    b.soft("box", ub.TetMesh.box((1, 1, 1), (cells,) * 3), rubber, DENSITY, X_WB=Pose(p=(0, 0, 0.5 + height)))
    b.add(ub.Contact(damping=damping, reach=0.064, pressure=1e5), name="contact")
    exact = SoftBounce(height, gravity, young)
    notes = "Its energy stays, up to what BDF-2 takes; its middle comes back to less than where it fell from."
    return Scene(b.build(), duration=2.0 * exact.hits, dt=1e-3, exact=exact, notes=notes, solver="barrier:rule=bdf2")
