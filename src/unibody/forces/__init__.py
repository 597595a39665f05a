"""Forces: what pulls, pushes, damps and drives, one file per class.

Lives here: the contract (`base`), the forces, `points`: exact blocks of forces that act on points of bodies, and
`implicit`: the pieces of kernels for implicit terms.
May import: `unibody.kernel`, `unibody.element`, `unibody.errors`, `unibody.spatial`, and `unibody.joints` to recognise a Ball.
May write: only the `_out` arrays of its kernels and the `Loads` it is handed.
To add one more: a frozen dataclass with `bodies` or `joints` and `apply`, in a file of its own (yours or ours); add `energy`,
`stiffness_blocks`, `damping_blocks` for implicit methods, and `row` with an `add_kernel` and an `implicit_kernel` when it must be fast.
"""

from unibody.exports import exported
from unibody.forces.base import AddForces as AddForces
from unibody.forces.base import AddImplicit as AddImplicit
from unibody.forces.base import Loads as Loads

__all__ = exported(globals())
