"""The shapes of a model that can be touched, as one triangle mesh: vertices ride on bodies, x = t + X a₁ + Y a₂ + Z a₃.

Every vertex belongs to one body and has homogeneous material coordinates w = (1, X, Y, Z) in the body's frame. Vertices, edges and faces
of a body are contiguous, so that a body is three ranges. Half-spaces (Plane) are kept apart: a point of the plane and its normal.

Areas are shares of the surface, for barriers in physical units: a vertex has a third of each of its faces, an edge a third of each
of its two faces; with half weight each, points against faces and edges against edges cover the surface once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model
from unibody.shapes import Plane

RESOLUTION = 16
"""Segments around a circle of round shapes: what touches is this polyhedron."""


@kernel
def place_vertices(Q: Floats, w: Floats, body: Ints, x_out: Floats) -> None:
    """x = Qᵀ w of every vertex."""
    for v in range(body.size):
        for i in range(3):
            at = 12 * body[v] + i
            x_out[3 * v + i] = w[4 * v] * Q[at] + w[4 * v + 1] * Q[at + 3] + w[4 * v + 2] * Q[at + 6] + w[4 * v + 3] * Q[at + 9]


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

    @staticmethod
    def of(model: Model, resolution: int = RESOLUTION) -> Surface:
        vertices, faces, planes, owner = [], [], [], []
        starts = [[0], [0], [0]]
        edges = []
        count = 0
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
                body_edges.append(edges_of(f) + count)
                count += len(x)
            faces += body_faces
            edges += body_edges
            starts[0].append(count)
            starts[1].append(starts[1][-1] + sum(len(e) for e in body_edges))
            starts[2].append(starts[2][-1] + sum(len(f) for f in body_faces))
        X = np.concatenate(vertices) if vertices else np.zeros((0, 3))
        F = np.concatenate(faces) if faces else np.zeros((0, 3), int)
        E = np.concatenate(edges) if edges else np.zeros((0, 2), int)
        vertex_area, edge_area = areas(X, E, F)
        return Surface(
            np.concatenate([np.ones((len(X), 1)), X], axis=1), np.array(owner, np.int64), E.astype(np.int64), F.astype(np.int64),
            *(np.array(s, np.int64) for s in starts), np.array([b for b, _, _ in planes], np.int64),
            np.array([p for _, p, _ in planes]).reshape(-1, 3), np.array([n for _, _, n in planes]).reshape(-1, 3), vertex_area, edge_area,
        )  # fmt: skip

    def positions(self, Q: np.ndarray) -> np.ndarray:
        """(V, 3) in the world from affine coordinates Q (bodies, 4, 3)."""
        x = np.empty(3 * len(self.w))
        place_vertices(np.ascontiguousarray(Q, dtype=float).reshape(-1), self.w.reshape(-1), self.body, x)
        return x.reshape(-1, 3)

    def planes(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and unit normals (P, 3) of the half-spaces in the world; their bodies are rigid."""
        on = Q[self.plane_body]
        return on[:, 0] + np.einsum("pk,pki->pi", self.plane_point, on[:, 1:]), np.einsum("pk,pki->pi", self.plane_normal, on[:, 1:])

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


def edges_of(faces: np.ndarray) -> np.ndarray:
    """(E, 2) each edge once, sorted."""
    pairs = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def areas(x: np.ndarray, edges: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the surface: of vertices (V,) and of edges (E,), a third of each face around."""
    of_vertex, of_edge = np.zeros(len(x)), np.zeros(len(edges))
    if not len(faces):
        return of_vertex, of_edge
    corners = x[faces]
    share = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 6.0
    np.add.at(of_vertex, faces.ravel(), np.repeat(share, 3))
    key = edges[:, 0] * len(x) + edges[:, 1]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        pair = np.sort(faces[:, (a, b)], axis=1)
        np.add.at(of_edge, np.searchsorted(key, pair[:, 0] * len(x) + pair[:, 1]), share)
    return of_vertex, of_edge
