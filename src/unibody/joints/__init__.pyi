# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.joints.ball import Ball as Ball
from unibody.joints.base import Joint as Joint
from unibody.joints.composite import Composite as Composite
from unibody.joints.free import Free as Free
from unibody.joints.hinge import Hinge as Hinge
from unibody.joints.planar import Planar as Planar
from unibody.joints.prismatic import Prismatic as Prismatic
from unibody.joints.revolute import Revolute as Revolute
from unibody.joints.screw import Screw as Screw
from unibody.joints.translational import Translational as Translational
from unibody.joints.universal import Universal as Universal
from unibody.joints.weld import Weld as Weld

__all__ = [
    "Ball",
    "Composite",
    "Free",
    "Hinge",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Screw",
    "Translational",
    "Universal",
    "Weld",
]
