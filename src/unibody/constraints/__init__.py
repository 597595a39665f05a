"""Constraints: rows C = 0 or C ≥ 0 between points of bodies or joint coordinates, one file per class.

Lives here: the contract (`base`) and the constraints of the house; `dry_friction_rows` is what a solver makes of dry
friction. Joints that close loops are not here: they are joints.
May import: `unibody.kernel`, `element`, `measure`, `errors`, `spatial`, and joints where a limit needs their kind.
May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass with `rows`, `units`, `bodies` or `joints` and `dofs`, and `evaluate`, in a file of its own
(yours or ours); add `row` with a `fill_kernel` when it must be fast, `measures` where rows bound an angle, a slide or a distance.
"""

from unibody.constraints.base import Constraint, FillRows, Rows
from unibody.constraints.contact import Contact
from unibody.constraints.coupling import Coupling, FunctionCoupling
from unibody.constraints.distance import Distance
from unibody.constraints.distance_range import DistanceRange
from unibody.constraints.fixed_point import FixedPoint
from unibody.constraints.joint_coupling import JointCoupling
from unibody.constraints.joint_limit import JointLimit
from unibody.constraints.knife_edge import KnifeEdge
from unibody.constraints.point_on_line import PointOnLine
from unibody.constraints.point_plane import PointPlane
from unibody.constraints.prescribed_frame import PrescribedFrame
from unibody.constraints.prescribed_joint import PrescribedJoint
from unibody.constraints.prescribed_point import PrescribedPoint
from unibody.constraints.rolling import Rolling
from unibody.constraints.spline_contact import SplineContact

__all__ = [
    "Constraint", "Contact", "Coupling", "Distance", "DistanceRange", "FillRows", "FixedPoint", "FunctionCoupling", "JointCoupling",
    "JointLimit", "KnifeEdge", "PointOnLine", "PointPlane", "PrescribedFrame", "PrescribedJoint", "PrescribedPoint", "Rolling", "Rows",
    "SplineContact",
]  # fmt: skip
