"""Constraints: rows C = 0 or C ≥ 0 between points of bodies or joint coordinates, one file per class.

Lives here: the contract (`base`) and the constraints; `dry_friction_rows` is what a solver makes of dry
friction. Joints that close loops are not here: they are joints.
May import: `unibody.kernel`, `element`, `measure`, `errors`, `spatial`, and joints where a limit needs their kind.
May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass with `rows`, `units`, `bodies` or `joints` and `dofs`, and `evaluate`, in a file of its own
(yours or ours); add `row` with a `fill_kernel` when it must be fast, `measures` where rows bound an angle, a slide or a distance.
"""

from unibody.constraints.base import FillRows as FillRows
from unibody.constraints.base import Rows as Rows
from unibody.exports import exported

__all__ = exported(globals())
