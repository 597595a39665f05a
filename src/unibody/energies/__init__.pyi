# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.energies.base import AddEnergy as AddEnergy
from unibody.energies.base import Energy as Energy
from unibody.energies.base import Stencils as Stencils
from unibody.energies.co_rotated import CoRotated as CoRotated
from unibody.energies.fabric import Fabric as Fabric
from unibody.energies.hinge_bending import HingeBending as HingeBending
from unibody.energies.membrane import Membrane as Membrane
from unibody.energies.neo_hookean import NeoHookean as NeoHookean
from unibody.energies.rod_bend import RodBend as RodBend
from unibody.energies.rod_director import RodDirector as RodDirector
from unibody.energies.rod_material import RodMaterial as RodMaterial
from unibody.energies.rod_stretch import RodStretch as RodStretch
from unibody.energies.rod_twist import RodTwist as RodTwist
from unibody.energies.shell_bending import ShellBending as ShellBending
from unibody.energies.strain_limit import StrainLimit as StrainLimit
from unibody.energies.stvk import StVK as StVK
from unibody.energies.woven_membrane import WovenMembrane as WovenMembrane

__all__ = [
    "CoRotated",
    "Energy",
    "Fabric",
    "HingeBending",
    "Membrane",
    "NeoHookean",
    "RodBend",
    "RodDirector",
    "RodMaterial",
    "RodStretch",
    "RodTwist",
    "ShellBending",
    "StVK",
    "StrainLimit",
    "WovenMembrane",
]
