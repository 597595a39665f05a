# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.shapes.base import Shape as Shape
from unibody.shapes.box import Box as Box
from unibody.shapes.capsule import Capsule as Capsule
from unibody.shapes.contact_material import ContactMaterial as ContactMaterial
from unibody.shapes.cylinder import Cylinder as Cylinder
from unibody.shapes.ellipsoid import Ellipsoid as Ellipsoid
from unibody.shapes.height_field import HeightField as HeightField
from unibody.shapes.mass import MassProperties as MassProperties
from unibody.shapes.mass import combine as combine
from unibody.shapes.mesh import Mesh as Mesh
from unibody.shapes.open_mesh import OpenMesh as OpenMesh
from unibody.shapes.placed import Placed as Placed
from unibody.shapes.plane import Plane as Plane
from unibody.shapes.point_cloud import PointCloud as PointCloud
from unibody.shapes.sphere import Sphere as Sphere
from unibody.shapes.wire import Wire as Wire

__all__ = [
    "Box",
    "Capsule",
    "ContactMaterial",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Mesh",
    "OpenMesh",
    "Placed",
    "Plane",
    "PointCloud",
    "Shape",
    "Sphere",
    "Wire",
]
