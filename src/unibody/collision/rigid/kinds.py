"""The kinds of shapes that the narrow phase tells apart, and which kernel family meets which pair of them.

`size` holds four numbers per shape: radius (SPHERE), radius and half length (CAPSULE, CYLINDER), half sides (BOX), semi-axes (ELLIPSOID).
"""

from __future__ import annotations

import numpy as np

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, PLANE, CONVEX, TRIANGLES = range(8)
KINDS = 8
NAMES = ("Sphere", "Capsule", "Box", "Cylinder", "Ellipsoid", "Plane", "convex Mesh", "triangle mesh")

ROUND, FLAT, BOXES, CAPSULE_BOX, ON_MESH, MESHES, COAL = range(7)
FAMILIES = 7
"""Of pairs: round shapes; anything on a plane; box and box; capsule and box; sphere or capsule on triangles; polyhedra with triangles;
and what coal answers."""


def families() -> np.ndarray:
    """(KINDS²,) the family that meets kinds (a, b); −1: they never touch (two planes)."""
    out = np.full((KINDS, KINDS), COAL, np.int64)
    out[PLANE, :] = FLAT
    out[PLANE, PLANE] = -1
    out[SPHERE, [SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID]] = ROUND
    out[CAPSULE, CAPSULE] = ROUND
    out[BOX, BOX] = BOXES
    out[CAPSULE, BOX] = CAPSULE_BOX
    for mesh in (CONVEX, TRIANGLES):
        out[[SPHERE, CAPSULE], mesh] = ON_MESH
    out[[BOX, CYLINDER, CONVEX, TRIANGLES], TRIANGLES] = MESHES
    lower = np.tril_indices(KINDS, -1)
    named = {(a, b) for a in range(KINDS) for b in range(KINDS) if out[a, b] != COAL}
    for a, b in zip(*lower, strict=True):
        if (a, b) in named:
            out[b, a] = out[a, b]
        else:
            out[a, b] = out[b, a]
    return out.ravel()
