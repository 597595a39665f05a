"""RodMaterial: what a round rod of radius r is made of: stretching with E A = E π r², bending with B = E I = E π r⁴/4, and, asked for,
twist with G J = G π r⁴/2, G = E/2(1 + ν)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import number
from unibody.energies.base import Energy, Stencils
from unibody.energies.elastic_constants import damping_time, poisson_ratio, young_modulus
from unibody.energies.rod_bend import RodBend
from unibody.energies.rod_director import RodDirector
from unibody.energies.rod_stretch import RodStretch
from unibody.energies.rod_twist import RodTwist
from unibody.errors import ModelError

__all__ = ["RodMaterial"]


@dataclass(frozen=True)
class RodMaterial(Energy):
    """`young` [Pa]; `bending` B [N m²] (None: E π r⁴/4; 0: a rope without any); Rayleigh's `damping` [s]. The mesh knows the radius.
    `twist=True` gives it material frames, and G J [N m²] by `poisson` or `torsion`.

    >>> RodMaterial(young=1e7).twist
    False
    """

    young: float
    twist: bool = False
    damping: float = 0.0
    bending: float | None = None
    poisson: float = 0.3
    torsion: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "young", young_modulus(self.young, "RodMaterial"))
        object.__setattr__(self, "damping", damping_time(self.damping, "RodMaterial"))
        if not isinstance(self.twist, bool | np.bool_):
            raise ModelError(f"RodMaterial twist: {self.twist!r} is neither True nor False; give one of them")
        object.__setattr__(self, "twist", bool(self.twist))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, "RodMaterial"))
        if self.torsion is not None:
            object.__setattr__(self, "torsion", number(self.torsion, "RodMaterial torsion", positive=True))
            if not self.twist:
                raise ModelError("RodMaterial torsion: a rod without material frames does not resist it; give twist=True")
        if self.bending is not None:
            object.__setattr__(self, "bending", number(self.bending, "RodMaterial bending", minimum=0.0))

    def energies(self, radius: float) -> list[Energy]:
        """What a rod of this radius [m] stores."""
        r = number(radius, "RodMaterial radius", positive=True)
        rigidity = self.young * np.pi * r**4 / 4.0 if self.bending is None else self.bending
        out: list[Energy] = [RodStretch(self.young * np.pi * r**2)]
        out += [RodBend(rigidity)] if rigidity > 0.0 else []
        if self.twist:
            torsion = self.young / (4.0 * (1.0 + self.poisson)) * np.pi * r**4 if self.torsion is None else self.torsion
            out += [RodTwist(torsion), RodDirector(torsion)]
        return out

    def stencils(self, mesh: Any) -> list[Stencils]:
        parts = [part for energy in self.energies(mesh.radius) for part in energy.stencils(mesh)]
        return [Stencils(part.energy, part.index, part.parameters, self.damping) for part in parts]
