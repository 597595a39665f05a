"""Collision: what is near what. Surfaces of bodies as vertices, edges and faces; pairs that may touch; closest points; safe steps.

Lives here: `surface` (the shapes of a model, and free meshes, as one mesh over control points), `hierarchy` (trees of boxes per body),
`broad` (candidates by boxes), `sweep` (candidates kept for a while), `stencils` (closest points of a point and a triangle, of two edges),
`proximity` (contacts over control points: a normal, a gap, weights), `ccd` (how far everything may move along straight lines),
`contact_search` (both, during a step of time), `intersect` (do two meshes cross); which may touch (`filters`, `shape_rights`); and
`rigid`, contacts of solid shapes.
May import: coordinates, model, shapes and all below. May write: its own arrays. Knows no forces and no solvers.
To add one more: a kernel over vertices (flat, 3 each) and index lists, with a NumPy test that knows the answer.
"""

from unibody.collision.surface import Surface

__all__ = ["Surface"]
