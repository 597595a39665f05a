"""Do surfaces cross: edges of one body that pass through faces of another, by signs of volumes.

An edge (p, q) crosses a face (a, b, c) when p and q lie on different sides of it, and the line through them passes all three sides of
the face the same way round: the volumes (p, q, a, b), (p, q, b, c), (p, q, c, a) have one sign. A body within another, without any
crossing, is found by the solid angle that the other has from one of its vertices. Surfaces that touch (edges on faces, edges that meet,
equal planes) count as crossing, for their distance is zero: with round-off, below 10⁻¹³ of the coordinates. So do things that are nearer to
each other than their radii.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Broad, plane_heights
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel
from unibody.shapes.mesh import winding
from unibody.spatial.devices import cross, dot3, load3, norm3, sub3

TOUCH = 1e-13


@device
def volume(p, a, b, c):
    """Six times the signed volume of the tetrahedron."""
    return dot3(sub3(a, p), cross(sub3(b, p), sub3(c, p)))


@device
def crosses(p, q, a, b, c):
    below = volume(p, a, b, c)
    above = volume(q, a, b, c)
    if below * above >= 0.0:
        return False
    u = volume(p, q, a, b)
    v = volume(p, q, b, c)
    w = volume(p, q, c, a)
    return (u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0)


@kernel
def find_crossing(through: Ints, edges: Ints, faces: Ints, x: Floats) -> int:
    """The first of the pairs of an edge and a face that cross; −1 if none does."""
    for k in range(through.size // 2):
        e = 2 * through[2 * k]
        f = 3 * through[2 * k + 1]
        p = load3(x, 3 * edges[e])
        q = load3(x, 3 * edges[e + 1])
        if crosses(p, q, load3(x, 3 * faces[f]), load3(x, 3 * faces[f + 1]), load3(x, 3 * faces[f + 2])):
            return k
    return -1


@kernel
def find_touching(
    points: Ints, edge_pairs: Ints, faces: Ints, edges: Ints, x: Floats, radius: Floats, least: float, found_out: Ints
) -> None:
    """Two vertices, one of each body, of the first candidate whose gap is no more than `least`; −1, −1 if there is none."""
    found_out[0] = -1
    found_out[1] = -1
    for k in range(points.size // 2):
        v = points[2 * k]
        f = 3 * points[2 * k + 1]
        _, r = point_triangle(load3(x, 3 * v), load3(x, 3 * faces[f]), load3(x, 3 * faces[f + 1]), load3(x, 3 * faces[f + 2]))
        if norm3(r) - radius[v] - radius[faces[f]] <= least:
            found_out[0] = v
            found_out[1] = faces[f]
            return
    for k in range(edge_pairs.size // 2):
        e = 2 * edge_pairs[2 * k]
        f = 2 * edge_pairs[2 * k + 1]
        _, r = edge_edge(load3(x, 3 * edges[e]), load3(x, 3 * edges[e + 1]), load3(x, 3 * edges[f]), load3(x, 3 * edges[f + 1]))
        if norm3(r) - radius[edges[e]] - radius[edges[f]] <= least:
            found_out[0] = edges[e]
            found_out[1] = edges[f]
            return


def crossing(surface: Surface, broad: Broad, x: np.ndarray, planes: tuple[np.ndarray, np.ndarray]) -> tuple[int, int] | None:
    """Two bodies that may touch and whose surfaces cross or meet, or of which one holds the other, at vertices x (V, 3), or None."""
    pairs = broad.body_pairs(x, x, 0.0)
    found = np.zeros(2, np.int64)
    through, edges, flat = broad.edges_at_faces(pairs), surface.edges, np.ascontiguousarray(x).ravel()
    first = find_crossing(through.ravel(), edges.ravel(), surface.faces.ravel(), flat)
    if first >= 0:
        e, f = through[first]
        crossed = int(surface.body[edges[e, 0]]), int(surface.body[surface.faces[f, 0]])
        return min(crossed), max(crossed)
    for a, b in pairs:
        for inner, outer in ((a, b), (b, a)):
            first, faces = surface.vertex_start[inner], surface.faces[surface.face_start[outer] : surface.face_start[outer + 1]]
            if inner == outer or not surface.closed[outer] or surface.vertex_start[inner + 1] == first:
                continue
            if abs(winding(x[faces], x[first])) > 0.5:
                return int(a), int(b)
    least = TOUCH * float(np.abs(x).max(initial=0.0))
    near = broad.between(x, x, 2.0 * least)
    find_touching(near.points.ravel(), near.edges.ravel(), surface.faces.ravel(), surface.edges.ravel(), flat, surface.radius, least, found)
    if found[0] >= 0:
        touching = surface.body[found]
        return int(touching.min()), int(touching.max())
    below = plane_heights(broad.plane_pairs, *planes, x) - surface.radius[broad.plane_pairs[:, 0]] - surface.plane_radius
    if (below <= 0.0).any():
        vertex, plane = broad.plane_pairs[int(np.argmin(below))]
        pair = int(surface.body[vertex]), int(surface.plane_body[plane])
        return min(pair), max(pair)
    return None
