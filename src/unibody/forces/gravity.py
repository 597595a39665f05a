"""Gravity: a uniform acceleration g of everything that has mass.   f = m g at the centre of mass,  E = −m g·x.

It has no kernel and no `apply`: the accelerations of all Gravity elements add up to one g, and the coordinates, which know the
masses, apply it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unibody.forces.base import Force
from unibody.spatial.pose import vector3

__all__ = ["Gravity"]


@dataclass(frozen=True)
class Gravity(Force):
    """`g` [m/s²], world axes.

    >>> Gravity((0, 0, -1.62)).g
    (0.0, 0.0, -1.62)
    """

    g: Any = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        object.__setattr__(self, "g", tuple(float(x) for x in vector3(self.g, "Gravity g")))
