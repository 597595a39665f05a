"""Joints: how a body may move against another, one file per class.

Lives here: the contract (`base`) and the ten joints of the house, plus `Composite` of any of them.
May import: `unibody.kernel`, `unibody.measure`, `unibody.spatial`, `unibody.errors`. May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass with `nq`, `nv`, `pose`, `motion`, `bias`, in a file of its own (yours or ours); add a
`fill_kernel` when it must be fast, `measures` where coordinates are angles or slides between its frames. The contract tests
`tests/contracts/test_joints.py` and `test_measures.py` tell whether it is right.
"""

from unibody.joints.ball import Ball
from unibody.joints.base import Joint
from unibody.joints.composite import Composite
from unibody.joints.free import Free
from unibody.joints.hinge import Hinge
from unibody.joints.planar import Planar
from unibody.joints.prismatic import Prismatic
from unibody.joints.revolute import Revolute
from unibody.joints.screw import Screw
from unibody.joints.translational import Translational
from unibody.joints.universal import Universal
from unibody.joints.weld import Weld

__all__ = ["Ball", "Composite", "Free", "Hinge", "Joint", "Planar", "Prismatic", "Revolute", "Screw", "Translational", "Universal", "Weld"]
