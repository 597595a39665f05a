# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.forces.applied_wrench import AppliedWrench as AppliedWrench
from unibody.forces.base import AddForces as AddForces
from unibody.forces.base import AddImplicit as AddImplicit
from unibody.forces.base import Force as Force
from unibody.forces.base import Loads as Loads
from unibody.forces.body_damping import BodyDamping as BodyDamping
from unibody.forces.cable import Cable as Cable
from unibody.forces.dry_friction import DryFriction as DryFriction
from unibody.forces.gravity import Gravity as Gravity
from unibody.forces.joint_friction import JointFriction as JointFriction
from unibody.forces.motor import Motor as Motor
from unibody.forces.pulley import Pulley as Pulley
from unibody.forces.spring_damper import SpringDamper as SpringDamper
from unibody.forces.tendon import Tendon as Tendon
from unibody.forces.tendon import TendonWrap as TendonWrap
from unibody.forces.torsion_spring import TorsionSpring as TorsionSpring

__all__ = [
    "AppliedWrench",
    "BodyDamping",
    "Cable",
    "DryFriction",
    "Force",
    "Gravity",
    "JointFriction",
    "Motor",
    "Pulley",
    "SpringDamper",
    "Tendon",
    "TendonWrap",
    "TorsionSpring",
]
