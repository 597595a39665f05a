# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.constraints.base import Constraint as Constraint
from unibody.constraints.base import FillRows as FillRows
from unibody.constraints.base import Rows as Rows
from unibody.constraints.contact import Contact as Contact
from unibody.constraints.coupling import Coupling as Coupling
from unibody.constraints.coupling import FunctionCoupling as FunctionCoupling
from unibody.constraints.distance import Distance as Distance
from unibody.constraints.distance_range import DistanceRange as DistanceRange
from unibody.constraints.fixed_point import FixedPoint as FixedPoint
from unibody.constraints.joint_coupling import JointCoupling as JointCoupling
from unibody.constraints.joint_limit import JointLimit as JointLimit
from unibody.constraints.knife_edge import KnifeEdge as KnifeEdge
from unibody.constraints.point_on_line import PointOnLine as PointOnLine
from unibody.constraints.point_plane import PointPlane as PointPlane
from unibody.constraints.prescribed_frame import PrescribedFrame as PrescribedFrame
from unibody.constraints.prescribed_joint import PrescribedJoint as PrescribedJoint
from unibody.constraints.prescribed_point import PrescribedPoint as PrescribedPoint
from unibody.constraints.rolling import Rolling as Rolling
from unibody.constraints.spline_contact import SplineContact as SplineContact

__all__ = [
    "Constraint",
    "Contact",
    "Coupling",
    "Distance",
    "DistanceRange",
    "FixedPoint",
    "FunctionCoupling",
    "JointCoupling",
    "JointLimit",
    "KnifeEdge",
    "PointOnLine",
    "PointPlane",
    "PrescribedFrame",
    "PrescribedJoint",
    "PrescribedPoint",
    "Rolling",
    "Rows",
    "SplineContact",
]
