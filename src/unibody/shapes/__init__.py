"""Shapes: geometry of a body, from which its mass, its pictures and its contact surface come. One file per class.

Here: Box, Sphere, Capsule, Cylinder, Ellipsoid, Mesh; without volume Plane, OpenMesh, HeightField; Placed (a shape at a pose, with a look
and a ContactMaterial).
May import: unibody.errors, NumPy; SciPy and trimesh only inside functions. Poses are duck-typed (`.R` and `.p`). Nothing here knows a
body or a solver.
May write: nothing; shapes and mass properties are frozen.
Another shape: a frozen dataclass in its own file that derives from `Shape` and gives `volume`, `mass_properties(density)` and
`triangles(resolution)`; refuse bad sizes in `__post_init__` with the checks of `base`. A class in a user's script works the same.
"""

from unibody.shapes.base import Shape
from unibody.shapes.box import Box
from unibody.shapes.capsule import Capsule
from unibody.shapes.contact_material import ContactMaterial
from unibody.shapes.cylinder import Cylinder
from unibody.shapes.ellipsoid import Ellipsoid
from unibody.shapes.height_field import HeightField
from unibody.shapes.mass import MassProperties, combine
from unibody.shapes.mesh import Mesh
from unibody.shapes.open_mesh import OpenMesh
from unibody.shapes.placed import Placed
from unibody.shapes.plane import Plane
from unibody.shapes.sphere import Sphere

__all__ = [
    "Box", "Capsule", "ContactMaterial", "Cylinder", "Ellipsoid", "HeightField", "MassProperties", "Mesh", "OpenMesh", "Placed", "Plane",
    "Shape", "Sphere", "combine",
]  # fmt: skip
