"""Forces: what pulls, pushes, damps and drives, one file per class.

Lives here: the contract (`base`), the forces of the house, `points`: exact blocks of forces that act on points of bodies, and
`implicit`: the pieces of kernels for implicit terms.
May import: `unibody.kernel`, `unibody.element`, `unibody.errors`, `unibody.spatial`, and `unibody.joints` to recognise a Ball.
May write: only the `_out` arrays of its kernels and the `Loads` it is handed.
To add one more: a frozen dataclass with `bodies` or `joints` and `apply`, in a file of its own (yours or ours); add `energy`,
`stiffness_blocks`, `damping_blocks` for implicit methods, and `row` with an `add_kernel` and an `implicit_kernel` when it must be fast.
"""

from unibody.forces.applied_wrench import AppliedWrench
from unibody.forces.base import AddForces, AddImplicit, Force, Loads
from unibody.forces.body_damping import BodyDamping
from unibody.forces.cable import Cable
from unibody.forces.dry_friction import DryFriction
from unibody.forces.gravity import Gravity
from unibody.forces.joint_friction import JointFriction
from unibody.forces.motor import Motor
from unibody.forces.spring_damper import SpringDamper
from unibody.forces.torsion_spring import TorsionSpring

__all__ = [
    "AddForces", "AddImplicit", "AppliedWrench", "BodyDamping", "Cable", "DryFriction", "Force", "Gravity", "JointFriction", "Loads",
    "Motor", "SpringDamper", "TorsionSpring",
]  # fmt: skip
