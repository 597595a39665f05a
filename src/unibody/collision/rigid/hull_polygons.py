"""Faces and edges of convex polyhedra: coplanar triangles joined to polygons, and every edge with the normals on both of its sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unibody.collision.rigid.hull_climbing import climbing_tables
from unibody.collision.rigid.kinds import BOX, CONVEX
from unibody.collision.rigid.mesh_data import FACE_NORMALS, FACES, RANGES, VERTICES
from unibody.collision.rigid.table import ShapeTable

ALONG = 1e-9
"""Of the size of a face: what lies nearer to a side of it is no corner."""
NO_EDGES = (np.zeros(4, np.int64), np.zeros(0))
"""Of two shapes without edges, as `convex_edges` tells."""


def convex_polygons(table: ShapeTable) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Faces of convex meshes, coplanar triangles joined: range per shape (2 n,) and where its table for climbing is (n,); starts, and these
    tables (`hull_climbing`); corners in order around, normals, and per corner the numbers, within its mesh, of the vertex and of the edge
    to the next."""
    ranges, start, corners, normals = np.zeros((table.count, 2), np.int64), [0], [], []
    numbers: list[tuple[int, int]] = []
    known: dict[int, tuple[int, int]] = {}
    for i in np.flatnonzero(table.kind == CONVEX):
        number = int(table.mesh[i])
        if number not in known:
            at = 8 * number
            span = table.meshes.whole.view(RANGES)
            x = table.meshes.real.view(VERTICES).reshape(-1, 3)
            faces = table.meshes.whole.view(FACES).reshape(-1, 3)[span[at + 2] : span[at + 3]]
            n = table.meshes.real.view(FACE_NORMALS).reshape(-1, 3)[span[at + 2] : span[at + 3]]
            before, edges = len(normals), dict[tuple[int, int], int]()
            first = span[at + 6]
            for normal, members in coplanar(x[first : span[at + 7]], faces - first, n):
                ring = faces[members[0]] if len(members) == 1 else corners_around(x, faces[members], normal)
                corners.append(x[ring])
                around = (ring - first).tolist()
                ends = [(min(v, w), max(v, w)) for v, w in zip(around, around[1:] + around[:1], strict=True)]
                numbers += [(v, edges.setdefault(end, len(edges))) for v, end in zip(around, ends, strict=True)]
                start.append(start[-1] + len(ring))
                normals.append(normal)
            known[number] = (before, len(normals))
        ranges[i] = known[number]
    places, vertices = np.concatenate(corners or [np.zeros((0, 3))]), np.array(numbers, np.int64).reshape(-1, 2)[:, 0]
    tables, starts = climbing_tables(ranges, np.array(start, np.int64), places, vertices)
    return (
        np.concatenate([ranges.ravel(), tables]), starts, places.ravel(), np.concatenate(normals).ravel() if normals else np.zeros(0),
        np.array(numbers, np.int64).ravel(),
    )  # fmt: skip


def corners_around(x: np.ndarray, faces: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The corners of the polygon that these faces of one plane are, counterclockwise."""
    ring = np.unique(faces)
    u = np.linalg.svd(normal[None])[2][1]
    return ring[outline(x[ring] @ np.stack([u, np.cross(normal, u)], axis=1))]


def outline(points: np.ndarray) -> np.ndarray:
    """Which points of a plane (n, 2) are corners of their convex hull, counterclockwise: none within it or along its sides."""
    size = float(np.ptp(points, axis=0).max())
    order = np.lexsort((points[:, 1], points[:, 0]))

    def chain(along: np.ndarray) -> list[int]:
        kept: list[int] = []
        for i in along:
            while len(kept) > 1:
                a, b = points[kept[-1]] - points[kept[-2]], points[i] - points[kept[-2]]
                if a[0] * b[1] - a[1] * b[0] > ALONG * size * float(np.hypot(*b)):
                    break
                kept.pop()
            kept.append(int(i))
        return kept[:-1]

    return np.array(chain(order) + chain(order[::-1]), np.int64)


def coplanar(x: np.ndarray, faces: np.ndarray, n: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Planes of a convex mesh by their normals, with the faces in them, in the order of their normals. A face is in a plane if its corners
    are; the widest faces come first, since needles tell their normals badly."""
    near = ALONG * float(np.ptp(x, axis=0).max())
    a, b, c = (x[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    alone = bends_all_around(x, faces, n, near)
    plane, found = np.where(alone, np.cumsum(alone) - 1, -1), np.flatnonzero(alone).tolist()
    for f in np.argsort(-area, kind="stable"):
        if plane[f] < 0:
            within = np.abs((x - x[faces[f, 0]]) @ n[f]) <= near
            plane[within[faces].all(axis=1) & (plane < 0) & (n @ n[f] > 0.5)] = len(found)
            plane[f] = len(found)
            found.append(int(f))
    keys = np.round(n[found], 6) + 0.0
    order = np.argsort(plane, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(plane, minlength=len(found)))[:-1])
    for k in np.lexsort(keys.T[::-1]):
        yield n[found[k]], members[k]


def bends_all_around(x: np.ndarray, faces: np.ndarray, n: np.ndarray, near: float) -> np.ndarray:
    """(F,) which faces of a closed convex mesh are in a plane with none of their three neighbours."""
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    pairs = np.argsort(ends[:, 0] * len(x) + ends[:, 1], kind="stable").reshape(-1, 2)
    twin = np.empty(3 * len(faces), np.int64)
    twin[pairs], twin[pairs[:, ::-1]] = pairs[:, ::-1], pairs
    beyond = np.roll(faces, -2, axis=1).ravel()[twin]
    height = np.abs(np.einsum("hi,hi->h", x[beyond] - np.repeat(x[faces[:, 0]], 3, axis=0), np.repeat(n, 3, axis=0)))
    return ((height > near) & (height[twin] > near)).reshape(-1, 3).all(axis=1)


def convex_edges(
    table: ShapeTable, ranges: np.ndarray, start: np.ndarray, corners: np.ndarray, normals: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of convex meshes, from their polygons (`convex_polygons`), and of boxes: range per shape (2 n,), and per edge its ends and the
    normals beside it in the shape's frame (12 each). An edge with one polygon has two opposite normals, which lets it meet any other."""
    span, rows, known = np.zeros((table.count, 2), np.int64), list[np.ndarray](), dict[tuple[int, ...], tuple[int, int]]()
    if not (table.kind == CONVEX).any():
        return span.ravel(), np.zeros(0)
    for i in range(table.count):
        if table.kind[i] == CONVEX:
            key = (int(ranges[2 * i]), int(ranges[2 * i + 1]))
            if key not in known:
                mesh = edges_of_polygons(*key, start, corners.reshape(-1, 3), normals.reshape(-1, 3), numbers.reshape(-1, 2))
                known[key] = (len(rows), len(rows) + len(mesh))
                rows += mesh
            span[i] = known[key]
        elif table.kind[i] == BOX:
            span[i] = len(rows), len(rows) + 12
            rows += edges_of_box(table.size[4 * i : 4 * i + 3])
    return span.ravel(), np.concatenate(rows)


def edges_of_polygons(
    first: int, last: int, start: np.ndarray, corners: np.ndarray, normals: np.ndarray, numbers: np.ndarray
) -> list[np.ndarray]:
    """Of the polygons first … last."""
    found: dict[int, tuple[np.ndarray, np.ndarray, list[np.ndarray]]] = {}
    for face in range(first, last):
        at, end = start[face], start[face + 1]
        for k in range(at, end):
            after = k + 1 if k + 1 < end else at
            found.setdefault(int(numbers[k, 1]), (corners[k], corners[after], []))[2].append(normals[face])
    return [np.concatenate([a, b, beside[0], beside[1] if len(beside) > 1 else -beside[0]]) for a, b, beside in found.values()]


def edges_of_box(half: np.ndarray) -> list[np.ndarray]:
    """The twelve of a box with these half sides."""
    rows = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        for u in (-1.0, 1.0):
            for v in (-1.0, 1.0):
                middle, along, n, m = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
                middle[one], middle[two], along[axis], n[one], m[two] = u * half[one], v * half[two], half[axis], u, v
                rows.append(np.concatenate([middle - along, middle + along, n, m]))
    return rows
