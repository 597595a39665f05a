"""Triangle meshes made ready for contact: a tree of boxes in the mesh's own frame, neighbours, and normals of faces, edges and vertices.

The tree splits faces at the median of their longest extent; nodes stand in depth-first order, each with the place where its branch ends, so
that a search needs no stack. Faces are reordered so that leaves are ranges. The normal of an edge is the sum of its faces' normals, that of
a vertex their sum weighted by angles; a point is outside when it lies on the positive side of the normal of its nearest feature (Bærentzen
and Aanæs 2005). At rims of open surfaces these normals are zero: there is no inside. Surfaces without any inside have none at all.

All meshes share one arena of floats and one of integers; numbers of vertices, edges, faces and nodes run through all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.arena import Arena

VERTICES, BOXES, FACE_NORMALS, EDGE_NORMALS, VERTEX_NORMALS = range(5)
FACES, FACE_EDGES, EDGES, EDGE_START, EDGE_FACES, VERTEX_START, VERTEX_FACES, ENDS, LEAVES, RANGES, RIDGES, SIDED = range(12)
"""FACE_EDGES: edge k of a face is opposite to its corner k. LEAVES: first face and number of faces of a node, 0 within the tree.
RANGES: eight per mesh, first and last node, face, edge, vertex. RIDGES: 1 where an edge bulges or is a rim. SIDED: 1 per mesh that has an
inside."""
LEAF = 4
FLAT = 1e-6
"""Sine of the bend below which an edge is none."""


@dataclass
class MeshData:
    """One mesh; indices count from its own beginning."""

    vertices: np.ndarray
    faces: np.ndarray
    edges: np.ndarray
    face_edges: np.ndarray
    edge_start: np.ndarray
    edge_faces: np.ndarray
    vertex_start: np.ndarray
    vertex_faces: np.ndarray
    face_normals: np.ndarray
    edge_normals: np.ndarray
    vertex_normals: np.ndarray
    ridges: np.ndarray
    boxes: np.ndarray
    ends: np.ndarray
    leaves: np.ndarray
    sided: bool

    @staticmethod
    def of(vertices: np.ndarray, faces: np.ndarray, sided: bool) -> MeshData:
        """`sided`: faces look outwards and there is an inside behind them."""
        boxes, ends, leaves, order = tree_of_boxes(vertices, faces)
        faces = faces[order]
        edges = edges_of(faces)
        key = edges[:, 0] * len(vertices) + edges[:, 1]
        pairs = np.sort(np.stack([faces[:, (1, 2)], faces[:, (2, 0)], faces[:, (0, 1)]], axis=1), axis=2)
        face_edges = np.searchsorted(key, pairs[..., 0] * len(vertices) + pairs[..., 1])
        edge_start, edge_faces = users(face_edges, len(edges))
        vertex_start, vertex_faces = users(faces, len(vertices))
        normals = unit_normals(vertices, faces)
        return MeshData(
            vertices, faces, edges, face_edges, edge_start, edge_faces, vertex_start, vertex_faces, normals if sided else 0.0 * normals,
            *pseudo_normals(vertices, faces, face_edges, normals, np.diff(edge_start) == 2, edges, sided),
            ridges(vertices, faces, edges, face_edges, edge_start, edge_faces, normals, sided), boxes, ends, leaves, sided,
        )  # fmt: skip

    @property
    def convex(self) -> bool:
        """Whether it is the boundary of a convex solid: closed, and no vertex over the plane of a face."""
        if not (np.diff(self.edge_start) == 2).all() or not (np.linalg.norm(self.face_normals, axis=1) > 0.5).all():
            return False
        size = float(np.ptp(self.vertices, axis=0).max())
        offset = np.einsum("fi,fi->f", self.face_normals, self.vertices[self.faces[:, 0]])
        steps = range(0, len(self.faces), 1024)
        return all((self.face_normals[i : i + 1024] @ self.vertices.T - offset[i : i + 1024, None]).max() <= 1e-9 * size for i in steps)


def tree_of_boxes(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Boxes (nodes, 6), where branches end, (first, count) of leaves, and the order of faces."""
    corners = vertices[faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    middle = 0.5 * (low + high)
    boxes: list[np.ndarray] = []
    ends: list[int] = []
    leaves: list[tuple[int, int]] = []
    order: list[np.ndarray] = []
    placed = 0
    waiting: list[tuple[np.ndarray | None, int]] = [(np.arange(len(faces)), -1)]
    while waiting:
        members, closes = waiting.pop()
        if members is None:
            ends[closes] = len(boxes)
            continue
        node = len(boxes)
        boxes.append(np.concatenate([low[members].min(axis=0), high[members].max(axis=0)]))
        if len(members) <= LEAF:
            ends.append(node + 1)
            leaves.append((placed, len(members)))
            order.append(members)
            placed += len(members)
            continue
        ends.append(-1)
        leaves.append((0, 0))
        axis = int(np.argmax(np.ptp(middle[members], axis=0)))
        ranked = members[np.argsort(middle[members, axis], kind="stable")]
        half = len(ranked) // 2
        waiting += [(None, node), (ranked[half:], -1), (ranked[:half], -1)]
    return np.array(boxes), np.array(ends, np.int64), np.array(leaves, np.int64), np.concatenate(order)


def edges_of(faces: np.ndarray) -> np.ndarray:
    """(E, 2) each edge once, sorted."""
    pairs = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def users(lists: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For every member 0 … count the rows of `lists` (n, 3) that name it: where they begin, and the rows."""
    flat = lists.ravel()
    order = np.argsort(flat, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=count))])
    return start.astype(np.int64), (order // 3).astype(np.int64)


def unit_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(F, 3), zero for faces that are no more than their edges."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1)
    longest = np.max([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)], axis=0)
    good = length > 1e-7 * longest
    return np.where(good[:, None], n / np.where(good, length, 1.0)[:, None], 0.0)


def pseudo_normals(
    vertices: np.ndarray, faces: np.ndarray, face_edges: np.ndarray, normals: np.ndarray, closed: np.ndarray, edges: np.ndarray, sided: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Of edges (E, 3) and vertices (V, 3); zero at rims and where there is no inside."""
    of_edge, of_vertex = np.zeros((len(edges), 3)), np.zeros((len(vertices), 3))
    if not sided:
        return of_edge, of_vertex
    for k in range(3):
        np.add.at(of_edge, face_edges[:, k], normals)
        here, after, before = (vertices[faces[:, (k + j) % 3]] for j in range(3))
        u, v = after - here, before - here
        angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("fi,fi->f", u, v))
        np.add.at(of_vertex, faces[:, k], angle[:, None] * normals)
    of_edge[~closed] = 0.0
    of_vertex[edges[~closed].ravel()] = 0.0
    return of_edge, of_vertex


def ridges(
    vertices: np.ndarray, faces: np.ndarray, edges: np.ndarray, face_edges: np.ndarray, edge_start: np.ndarray, edge_faces: np.ndarray,
    normals: np.ndarray, sided: bool,
) -> np.ndarray:  # fmt: skip
    """(E,) 1 where the surface bulges (either way if it has no inside), at rims and where more than two faces meet."""
    out = np.ones(len(edges), np.int64)
    two = np.flatnonzero(np.diff(edge_start) == 2)
    first, second = edge_faces[edge_start[two]], edge_faces[edge_start[two] + 1]
    arm = opposite(vertices, faces, face_edges, second, two) - vertices[edges[two, 0]]
    bend = np.einsum("ei,ei->e", normals[first], arm)
    out[two] = (bend if sided else -np.abs(bend)) < -FLAT * np.linalg.norm(arm, axis=1)
    return out


def opposite(vertices: np.ndarray, faces: np.ndarray, face_edges: np.ndarray, of: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """The corner of each face `of` that is not on its edge `edge`."""
    corner = np.argmax(face_edges[of] == edge[:, None], axis=1)
    return vertices[faces[of, corner]]


@dataclass
class Meshes:
    """All meshes of a model in two arenas."""

    real: Arena
    whole: Arena

    @staticmethod
    def of(meshes: list[MeshData]) -> Meshes:
        counts = np.array([(len(m.boxes), len(m.faces), len(m.edges), len(m.vertices)) for m in meshes], np.int64).reshape(-1, 4)
        ends = np.cumsum(counts, axis=0)
        starts = ends - counts
        users_of = np.cumsum([0] + [len(m.edge_faces) for m in meshes])

        def joined(name: str, width: int, column: int | None = None) -> np.ndarray:
            """Arrays of all meshes, shifted by what came before in a column of `starts`."""
            shift = np.zeros(len(meshes), np.int64) if column is None else starts[:, column]
            parts = [getattr(m, name) + s for m, s in zip(meshes, shift, strict=True)]
            return np.concatenate(parts).ravel() if parts else np.zeros((0, width))

        def begun(name: str) -> np.ndarray:
            parts = [getattr(m, name)[:-1] + users_of[i] for i, m in enumerate(meshes)]
            return np.concatenate([*parts, users_of[-1:]])

        leaves = [np.where(m.leaves[:, 1:] > 0, m.leaves + [s, 0], 0) for m, s in zip(meshes, starts[:, 1], strict=True)]
        ranges = np.stack([starts, ends], axis=2).ravel()
        return Meshes(
            Arena([joined("vertices", 3), joined("boxes", 6), joined("face_normals", 3), joined("edge_normals", 3),
                   joined("vertex_normals", 3)], float, frozen=True),
            Arena([joined("faces", 3, 3), joined("face_edges", 3, 2), joined("edges", 2, 3), begun("edge_start"),
                   joined("edge_faces", 1, 1), begun("vertex_start"), joined("vertex_faces", 1, 1), joined("ends", 1, 0),
                   np.concatenate(leaves) if leaves else np.zeros(0), ranges, joined("ridges", 1),
                   np.array([m.sided for m in meshes])], np.int64, frozen=True),
        )  # fmt: skip
