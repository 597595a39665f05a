"""Triangles ready for light: a normal at each corner, round where a surface is round and broken where it has an edge.

A corner's normal is the sum of the area vectors of those faces around its vertex whose normals are near its own face's; corners that
agree are one vertex again. Strands, arrows and axes are prisms and cones along segments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMOOTH = 0.75
"""Faces whose normals have a larger product than this belong to one curved surface."""
SIDES = 8
PATCHES = 1 << 24


@dataclass(frozen=True)
class DrawnSurface:
    """Triangles in the world: x and normals (V, 3), faces (F, 3), a colour (F, 3), and what a face belongs to."""

    x: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    colour: np.ndarray
    patch: np.ndarray
    """(F,) thing · PATCHES + number of a part of the thing without edges; things below 0 have no outline."""
    closed: bool = True
    """Whether faces that look away are always hidden."""
    opacity: float = 1.0
    on_top: bool = False
    """Drawn before everything else, wherever it is."""


def with_normals(vertices: np.ndarray, faces: np.ndarray, flat: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3), unit normals (V, 3) and faces (F, 3), where a vertex of the mesh appears once per distinct normal."""
    which, normals, faces = broken(vertices, faces, flat)
    return vertices[which], normals, faces


def broken(vertices: np.ndarray, faces: np.ndarray, flat: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers (V,) of the mesh's vertices, once per distinct normal, these normals (V, 3), and faces (F, 3) among them."""
    corners = vertices[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-300)
    owner = np.repeat(np.arange(len(faces)), 3)
    normals = unit[owner] if flat else _gathered(faces.ravel(), owner, area, unit)
    key = np.column_stack([faces.ravel(), np.round(normals * 1e4)])
    _, first, index = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return faces.ravel()[first], normals[first], index.reshape(-1, 3)


def vertex_normals(x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(V, 3) unit normals at vertices x (V, 3): the sum of the area vectors of the faces around each."""
    corners = x[faces]
    area = np.repeat(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), 3, axis=0)
    total = np.stack([np.bincount(faces.ravel(), area[:, k], len(x)) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-300, total / np.maximum(length, 1e-300), (0.0, 0.0, 1.0))


def patches(faces: np.ndarray) -> np.ndarray:
    """(F,) numbers of the parts that hang together by shared vertices: after `with_normals`, parts without edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = faces[:, [0, 1]].ravel(), faces[:, [1, 2]].ravel()
    n = int(faces.max()) + 1
    return connected_components(coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n)), directed=False)[1][faces[:, 0]]


def _gathered(vertex: np.ndarray, owner: np.ndarray, area: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """(3F, 3) normals of corners, from all pairs of faces that share a vertex."""
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex)
    start = np.concatenate([[0], np.cumsum(count)])[:-1]
    around = count[vertex]
    corner = np.repeat(np.arange(len(vertex)), around)
    within = np.arange(len(corner)) - np.repeat(np.cumsum(around) - around, around)
    other = owner[order[start[vertex[corner]] + within]]
    near = np.einsum("ij,ij->i", unit[owner[corner]], unit[other]) > SMOOTH
    total = np.stack([np.bincount(corner[near], area[other[near], k], len(vertex)) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-300, total / np.maximum(length, 1e-300), unit[owner])


def segments(
    a: np.ndarray, b: np.ndarray, radius_a: np.ndarray, radius_b: np.ndarray, colour: np.ndarray, thing: np.ndarray
) -> DrawnSurface:
    """Prisms, or cones, from a (n, 3) to b (n, 3); radii (n,), colours (n, 3), numbers of things (n,)."""
    n = len(a)
    along = b - a
    length = np.linalg.norm(along, axis=1, keepdims=True)
    u = np.where(length > 1e-12, along / np.maximum(length, 1e-12), (0.0, 0.0, 1.0))
    helper = np.eye(3)[np.argmin(np.abs(u), axis=1)]
    side = np.cross(u, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    around = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * np.cross(u, side)[:, None]
    ends = [a[:, None] + radius_a[:, None, None] * around, b[:, None] + radius_b[:, None, None] * around]
    x = np.concatenate([*ends, a[:, None], b[:, None]], axis=1)
    normals = np.concatenate([around, around, -u[:, None], u[:, None]], axis=1)
    k = np.arange(SIDES)
    m = (k + 1) % SIDES
    low, high = np.full(SIDES, 2 * SIDES), np.full(SIDES, 2 * SIDES + 1)
    quads = [(k, m, m + SIDES), (k, m + SIDES, k + SIDES), (m, k, low), (k + SIDES, m + SIDES, high)]
    faces = np.concatenate([np.stack(f, axis=1) for f in quads])
    per = len(faces)
    faces = (faces + (2 * SIDES + 2) * np.arange(n)[:, None, None]).reshape(-1, 3)
    return DrawnSurface(x.reshape(-1, 3), normals.reshape(-1, 3), faces, np.repeat(colour, per, axis=0), np.repeat(thing, per) * PATCHES)
