# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.meshes.rod_mesh import RodMesh as RodMesh
from unibody.meshes.tet_mesh import TetMesh as TetMesh
from unibody.meshes.tri_mesh import TriMesh as TriMesh

__all__ = [
    "RodMesh",
    "TetMesh",
    "TriMesh",
]
