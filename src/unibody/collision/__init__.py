"""Collision: what is near what. Surfaces of bodies as vertices, edges and faces; pairs that may touch; closest points; safe steps.

Lives here: `surface` (the shapes of a model as one triangle mesh), `hierarchy` (trees of boxes per body), `broad` (candidates by boxes),
`sweep` (candidates kept for a while), `stencils` (closest points of a point and a triangle, of two edges), `ccd` (how far everything may
move along straight lines), `intersect` (do two meshes cross).
May import: model, shapes, spatial, kernel and all below. May write: its own arrays. Knows no forces and no solvers.
To add one more: a kernel over vertices (flat, 3 each) and index lists, with a NumPy test that knows the answer.
"""

from unibody.collision.surface import Surface

__all__ = ["Surface"]
