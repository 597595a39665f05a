"""Shapes: geometry of a body, from which its mass, its pictures and its contact surface come. One file per class.

Here: Box, Sphere, Capsule, Cylinder, Ellipsoid, Mesh; without volume Plane, OpenMesh, HeightField; without faces Wire, PointCloud; Placed
(a shape at a pose, with a look and a ContactMaterial).
May import: unibody.errors, NumPy; SciPy and trimesh only inside functions. Poses are duck-typed (`.R` and `.p`). Nothing here knows a
body or a solver.
May write: nothing; shapes and mass properties are frozen.
Another shape: a frozen dataclass in its own file that derives from `Shape` and gives `volume`, `mass_properties(density)` and
`triangles(resolution)`; refuse bad sizes in `__post_init__` with the checks of `base`. A class in a user's script works the same.
"""

from unibody.exports import exported
from unibody.shapes.mass import MassProperties as MassProperties
from unibody.shapes.mass import combine as combine

__all__ = exported(globals())
