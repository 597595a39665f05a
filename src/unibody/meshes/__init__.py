"""Meshes: rest shapes of deformables, as vertices and the tetrahedra, triangles or edges between them.

Lives here: `TetMesh`, `TriMesh`, `RodMesh`, each with its makers, what checks them (`checking`), and Gmsh's files (`gmsh`).
May import: unibody.errors, spatial, shapes (readers of files, solids as surfaces), NumPy; meshio only inside functions, wildmeshing in a
process of its own. Nothing here knows a body, a material or a solver.
May write: nothing; meshes are frozen, their arrays read-only.
To add one more maker: a function in a file of its own that gives vertices and cells, and a `staticmethod` that hands them to the class,
which checks them; a test of its volume, orientation and quality.
"""

from unibody.exports import exported

__all__ = exported(globals())
