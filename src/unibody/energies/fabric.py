"""Fabric: what a sheet of thickness t is made of: a membrane, its resistance to bending, and if asked for a limit of its stretch.

    membrane      E, ν, t, isotropic and neo-Hookean; or with moduli along warp and weft of their own
    bending       a plate's, D = E t³/12(1 − ν²), or as given; curved as the mesh is at rest
    strain limit  a barrier as stiff as the membrane (κ = E), infinite where a direction is stretched to 1 + limit

`convention="c-ipc"` bends by hinges as codimensional IPC does (`HingeBending`), to repeat scenes that were made with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from unibody.element import number
from unibody.energies.base import Energy, Stencils
from unibody.energies.elastic_constants import damping_time, poisson_ratio, young_modulus
from unibody.energies.hinge_bending import HingeBending
from unibody.energies.membrane import Membrane
from unibody.energies.sheet import thickness_of
from unibody.energies.shell_bending import ShellBending
from unibody.energies.strain_limit import StrainLimit
from unibody.energies.woven_membrane import WovenMembrane
from unibody.errors import ModelError

__all__ = ["Fabric"]

CONVENTIONS = ("plate", "c-ipc")


@dataclass(frozen=True)
class Fabric(Energy):
    """`young` [Pa], `poisson` (−1 … 1), `thickness` [m]; `strain_limit`: no direction gets longer than 1 + this; `bending` D [N m] (None: a
    plate's; 0: none); `warp`, `weft` [Pa] moduli along u and v (None: `young`), `shear` [Pa]; Rayleigh's `damping` [s].

    >>> [type(energy).__name__ for energy in Fabric(young=8e5, poisson=0.24, thickness=3e-4, strain_limit=0.1).energies()]
    ['Membrane', 'ShellBending', 'StrainLimit']
    """

    young: float
    poisson: float
    thickness: float
    strain_limit: float | None = None
    bending: float | None = None
    warp: float | None = None
    weft: float | None = None
    shear: float | None = None
    damping: float = 0.0
    convention: Literal["plate", "c-ipc"] = "plate"

    def __post_init__(self) -> None:
        object.__setattr__(self, "young", young_modulus(self.young, "Fabric"))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, "Fabric", 1.0))
        object.__setattr__(self, "thickness", thickness_of(self.thickness, "Fabric"))
        object.__setattr__(self, "damping", damping_time(self.damping, "Fabric"))
        for name in ("strain_limit", "warp", "weft", "shear"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number(getattr(self, name), f"Fabric {name}", positive=True))
        if self.bending is not None:
            object.__setattr__(self, "bending", number(self.bending, "Fabric bending", minimum=0.0))
        if self.convention not in CONVENTIONS:
            raise ModelError(f"Fabric convention: {self.convention!r} is not known; give one of {', '.join(CONVENTIONS)}")
        self.energies()  # their constants are refused here

    @property
    def rigidity(self) -> float:
        """D [N m]."""
        plate = self.young * self.thickness**3 / (12.0 * (1.0 - self.poisson**2))
        return plate if self.bending is None else self.bending

    def energies(self) -> list[Energy]:
        """What it stores, one energy each."""
        out: list[Energy] = []
        if self.warp is None and self.weft is None and self.shear is None:
            out.append(Membrane(self.young, self.poisson, self.thickness))
        else:
            warp, weft = (self.young if each is None else each for each in (self.warp, self.weft))
            out.append(WovenMembrane(warp, weft, self.poisson, self.thickness, self.shear))
        if self.rigidity > 0.0:
            by_hinges = self.convention == "c-ipc"
            out.append(HingeBending(0.5 * self.rigidity) if by_hinges else ShellBending(self.rigidity, self.poisson))
        if self.strain_limit is not None:
            out.append(StrainLimit(self.strain_limit, self.young, self.thickness))
        return out

    def stencils(self, mesh: Any) -> list[Stencils]:
        parts = [part for energy in self.energies() for part in energy.stencils(mesh)]
        return [Stencils(part.energy, part.index, part.parameters, self.damping) for part in parts]
