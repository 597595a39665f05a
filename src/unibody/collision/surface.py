"""The shapes of a model that can be touched, as one triangle mesh: vertices ride on bodies, x = t + X a₁ + Y a₂ + Z a₃.

Every vertex belongs to one body and has homogeneous material coordinates w = (1, X, Y, Z) in the body's frame. Vertices, edges and faces
of a body are contiguous, so that a body is three ranges. Half-spaces (Plane) are kept apart: a point of the plane and its normal.

Edges between two faces of one plane (the diagonals of a box's sides) are left out: what is nearest to a flat polygon is a point over its
inside or one of its sides, so they can neither be hit first nor be nearest, and affine motion keeps them flat. As edges they
would only push sideways. Faces that they join are one patch, which a point touches once. For the same reason a vertex at which no edge is
left, inside a patch, is no corner: it has no area, and with that no contacts.

Areas are shares of the surface, for barriers in physical units: a patch is shared equally by its corners, a face by its edges that are
left; with half weight each, points against faces and edges against edges cover the surface once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unibody.coordinates.affine.points import placed_point
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model
from unibody.shapes import Plane
from unibody.spatial.devices import store3

RESOLUTION = 16
"""Segments around a circle of round shapes: what touches is this polyhedron."""
FLAT = 1e-12
"""Sine of the bend between two faces below which they are one."""


@kernel
def place_vertices(Q: Floats, w: Floats, body: Ints, x_out: Floats) -> None:
    """x = Qᵀ w of every vertex."""
    for v in range(body.size):
        store3(placed_point(Q, w, v, body[v]), 3 * v, x_out)


@dataclass(frozen=True)
class Surface:
    """Triangles of all bodies. Ranges run over bodies: body b has vertices vertex_start[b] … vertex_start[b + 1]."""

    w: np.ndarray
    """(V, 4) homogeneous material coordinates in the body's frame."""
    body: np.ndarray
    """(V,) body of a vertex."""
    edges: np.ndarray
    """(E, 2)"""
    faces: np.ndarray
    """(F, 3)"""
    vertex_start: np.ndarray
    edge_start: np.ndarray
    face_start: np.ndarray
    """(bodies + 1,)"""
    plane_body: np.ndarray
    """(P,) bodies of half-spaces."""
    plane_point: np.ndarray
    plane_normal: np.ndarray
    """(P, 3) in the body's frame."""
    vertex_area: np.ndarray
    """(V,) [m²]"""
    edge_area: np.ndarray
    """(E,) [m²]"""
    patch: np.ndarray
    """(F,) flat patch of a face: the number of its first face."""

    @staticmethod
    def of(model: Model, resolution: int = RESOLUTION) -> Surface:
        vertices, faces, planes, owner = [], [], [], []
        starts = [[0], [0], [0]]
        edges, patches = [], []
        count = joined = 0
        for i, body in enumerate(model.bodies):
            body_faces, body_edges = [], []
            for placed in body.shapes:
                if not placed.solid:
                    continue
                if isinstance(placed.shape, Plane):
                    R, p = np.asarray(placed.X_BS.R), np.asarray(placed.X_BS.p)
                    planes.append((i, p, R[:, 2]))
                    continue
                x, f = merged(*placed.triangles(resolution))
                vertices.append(x)
                owner += [i] * len(x)
                body_faces.append(f + count)
                sharp, patch = sharp_edges(x, f)
                body_edges.append(sharp + count)
                patches.append(patch + joined)
                count, joined = count + len(x), joined + len(f)
            faces += body_faces
            edges += body_edges
            starts[0].append(count)
            starts[1].append(starts[1][-1] + sum(len(e) for e in body_edges))
            starts[2].append(starts[2][-1] + sum(len(f) for f in body_faces))
        X = np.concatenate(vertices) if vertices else np.zeros((0, 3))
        F = np.concatenate(faces) if faces else np.zeros((0, 3), int)
        E = np.concatenate(edges) if edges else np.zeros((0, 2), int)
        P = np.concatenate(patches).astype(np.int64) if patches else np.zeros(0, np.int64)
        shares = areas(X, E, F, P)
        return Surface(
            np.concatenate([np.ones((len(X), 1)), X], axis=1), np.array(owner, np.int64), E.astype(np.int64), F.astype(np.int64),
            *(np.array(s, np.int64) for s in starts), np.array([b for b, _, _ in planes], np.int64),
            np.array([p for _, p, _ in planes]).reshape(-1, 3), np.array([n for _, _, n in planes]).reshape(-1, 3), *shares, P,
        )  # fmt: skip

    def positions(self, Q: np.ndarray) -> np.ndarray:
        """(V, 3) in the world from affine coordinates Q (bodies, 4, 3)."""
        x = np.empty(3 * len(self.w))
        place_vertices(np.ascontiguousarray(Q, dtype=float).ravel(), self.w.ravel(), self.body, x)
        return x.reshape(-1, 3)

    def planes(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and unit normals (P, 3) of the half-spaces in the world."""
        frames = self.plane_frames(Q).reshape(-1, 3, 3)
        normal = np.cross(frames[:, 1], frames[:, 2])
        return frames[:, 0], normal / np.linalg.norm(normal, axis=1, keepdims=True)

    def plane_frames(self, Q: np.ndarray) -> np.ndarray:
        """(P, 9) a point and two tangents of every half-space in the world: linear in Q. Their cross product points outwards."""
        material = np.concatenate([self.plane_point[:, None, :], self._plane_tangents], axis=1)
        moved = np.einsum("pik,pkj->pij", material, Q[self.plane_body][:, 1:])
        moved[:, 0] += Q[self.plane_body][:, 0]
        return moved.reshape(-1, 9)

    @cached_property
    def _plane_tangents(self) -> np.ndarray:
        """(P, 2, 3) in the body's frame."""
        n = self.plane_normal
        least = np.eye(3)[np.argmin(np.abs(n), axis=1)] if len(n) else n
        first = np.cross(least, n)
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        return np.stack([first, np.cross(n, first)], axis=1)

    @cached_property
    def size(self) -> float:
        """The largest diagonal of a body's vertices [m]."""
        ranges = zip(self.vertex_start[:-1], self.vertex_start[1:], strict=True)
        spans = [np.linalg.norm(np.ptp(self.w[a:b, 1:], axis=0)) for a, b in ranges if b > a]
        return float(max(spans, default=1.0))


def merged(x: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same triangles with equal corners made one vertex, unused vertices and faces without area left out."""
    unique, index = np.unique(x[faces.ravel()], axis=0, return_inverse=True)
    f = index.reshape(-1, 3)
    return unique, f[(f[:, 0] != f[:, 1]) & (f[:, 1] != f[:, 2]) & (f[:, 2] != f[:, 0])]


def sharp_edges(x: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(E, 2) edges without those between exactly two faces that lie in one plane and on different sides of the edge; and (F,) the first
    face of those that such edges join."""
    if not len(faces):
        return np.zeros((0, 2), int), np.zeros(0, int)
    corners = np.concatenate([faces[:, (0, 1, 2)], faces[:, (1, 2, 0)], faces[:, (2, 0, 1)]])
    ends = np.sort(corners[:, :2], axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, far, owner = ends[order], corners[order, 2], order % len(faces)
    first = np.flatnonzero(np.r_[True, (np.diff(ends, axis=0) != 0).any(axis=1)])
    count = np.diff(np.r_[first, len(ends)])
    two = first[count == 2]
    a, b = x[ends[two, 0]], x[ends[two, 1]]
    u, v = x[far[two]] - a, x[far[two + 1]] - a
    normal, other = np.cross(b - a, u), np.cross(b - a, v)
    size = np.linalg.norm(normal, axis=1) * np.maximum(np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1))
    opposite = np.einsum("ni,ni->n", normal, other) < 0.0
    flat = opposite & (np.abs(np.einsum("ni,ni->n", normal, v)) <= FLAT * size)
    sharp = np.ones(len(first), bool)
    sharp[count == 2] = ~flat
    return ends[first][sharp], joined_faces(len(faces), owner[two[flat]], owner[two[flat] + 1])


def joined_faces(n: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) the least number of those that the pairs (one, other) join."""
    least = np.arange(n)
    while True:
        before = least.copy()
        np.minimum.at(least, one, before[other])
        np.minimum.at(least, other, before[one])
        least = least[least]
        if (least == before).all():
            return least


def areas(x: np.ndarray, edges: np.ndarray, faces: np.ndarray, patch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the surface: of vertices (V,), an equal part of each patch whose corner they are, and of edges (E,), a part of each face
    that has them."""
    of_vertex, of_edge = np.zeros(len(x)), np.zeros(len(edges))
    if not len(faces):
        return of_vertex, of_edge
    corners = x[faces]
    whole = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    pointed = np.zeros(len(x), bool)
    pointed[edges.ravel()] = True
    pairs = np.unique(np.stack([np.repeat(patch, 3), faces.ravel()], axis=1), axis=0)
    pairs = pairs[pointed[pairs[:, 1]]]
    share = np.bincount(patch, whole, len(faces)) / np.maximum(np.bincount(pairs[:, 0], minlength=len(faces)), 1)
    np.add.at(of_vertex, pairs[:, 1], share[pairs[:, 0]])
    if not len(edges):
        return of_vertex, of_edge
    key = edges[:, 0] * len(x) + edges[:, 1]
    order = np.argsort(key)
    sides = np.sort(np.stack([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]], axis=1), axis=2)
    wanted = sides[:, :, 0] * len(x) + sides[:, :, 1]
    place = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
    there = key[place] == wanted
    share = whole / np.maximum(there.sum(axis=1), 1)
    np.add.at(of_edge, place[there], np.repeat(share, 3).reshape(-1, 3)[there])
    return of_vertex, of_edge
