"""Energies: what matter between vertices stores, one file per class: solids, membranes, shells, rods.

Lives here: the contract (`base`), the energies, the materials (`Fabric`, `RodMaterial`) that put several of them together, and
`evaluate`: the stencils of a list, class by class, as solvers see them.
May import: `unibody.kernel`, `unibody.errors`, `unibody.spatial`, `unibody.element`, NumPy. They see positions of vertices only: nothing
here knows a body or a solver.
May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass derived from `Energy` with `vertices`, `rest`, `value`, `gradient` and `hessian`, in a file of its own
(yours or ours); a law of solids derives from `Solid` and gives a density. Add an `add_kernel` of the signature `AddEnergy` when it must be
fast. `tests/contracts/test_energies.py` runs over all.
"""

from unibody.energies.base import AddEnergy as AddEnergy
from unibody.energies.base import Stencils as Stencils
from unibody.exports import exported

__all__ = exported(globals())
