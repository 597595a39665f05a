"""Energies: what matter between vertices stores, one file per class: solids, membranes, shells, rods.

Lives here: the contract (`base`), the energies, and the materials (`Fabric`, `RodMaterial`) that put several of them together.
May import: `unibody.kernel`, `unibody.errors`, `unibody.spatial`, `unibody.element`, NumPy. They see positions of vertices only: nothing
here knows a body or a solver.
May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass derived from `Energy` with `vertices`, `rest`, `value`, `gradient` and `hessian`, in a file of its own
(yours or ours); add an `add_kernel` of the signature `AddEnergy` when it must be fast. `tests/contracts/test_energies.py` runs over all.
"""
