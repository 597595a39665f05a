"""Vertices of deformables, as systems of all coordinates see them.

Lives here: `stencil_map`, where the matrices of stencils stand in a matrix over points.
May import: energies, algebra, model and all that these import. May write: only the `_out` arrays of its kernels.
To add one more: a file with its mathematics at the top, and a test in `tests/unit/coordinates`.
"""
