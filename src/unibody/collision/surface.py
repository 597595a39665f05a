"""What can be touched, as one mesh over control points: vertices x = Σ wₖ xₖ, edges and faces between them.

A vertex of a body rides on the body's four control points, x = t + X a₁ + Y a₂ + Z a₃ with w = (1, X, Y, Z); a free vertex (`BendingMesh`)
is a control point itself. Vertices, edges and faces of a body or free mesh are contiguous, so that it is three ranges; those of bodies come
first. Half-spaces (Plane) are kept apart: a point of the plane and its normal.

Edges between two faces of one plane (the diagonals of a box's sides) are left out: what is nearest to a flat polygon is a point over its
inside or one of its sides, so they can neither be hit first nor be nearest, and affine motion keeps them flat. As edges they
would only push sideways. Faces that they join are one patch, which a point touches once. For the same reason a vertex at which no edge is
left, inside a patch, is no corner: it has no area, and with that no contacts. What bends keeps all its edges.

Thin shapes (`Shape.skeleton`) have edges and points without faces. They stand among the faces too, as triangles without area, an edge
(i, j) as (i, j, j) and a lone point as (i, i, i): so points touch edges and points as they touch faces; nearly parallel edges, whose
own contacts are softened, need it. Every vertex has a radius, by which things reach beyond it: that of a wire, and half of the Contact's
thickness.

Areas are shares of the surface, for barriers in physical units: a patch is shared equally by its corners, a face by its edges that are
left; with half weight each, points against faces and edges against edges cover the surface once. Thin shapes say theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unibody.coordinates.affine.points import placed_point
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model
from unibody.shapes import Plane
from unibody.shapes.skeleton import Skeleton
from unibody.spatial.devices import cross, load3, norm3, scale3, store3

RESOLUTION = 16
"""Segments around a circle of round shapes: what touches is this polyhedron."""
FLAT = 1e-12
"""Sine of the bend between two faces below which they are one."""


@kernel
def place_vertices(Q: Floats, w: Floats, body: Ints, node: Ints, rigid: int, x_out: Floats) -> None:
    """x = Qᵀ w of every vertex of a body, the first `rigid` ones; free vertices are where their control points are."""
    for v in range(rigid):
        store3(placed_point(Q, w, v, body[v]), 3 * v, x_out)
    for v in range(rigid, body.size):
        store3(load3(Q, 3 * node[v]), 3 * v, x_out)


@kernel
def place_planes(Q: Floats, body: Ints, material: Floats, frame_out: Floats) -> None:
    """A point and two tangents (9 numbers) of every half-space in the world, from those in its body's frame."""
    for k in range(body.size):
        at = 12 * body[k]
        for i in range(3):
            m = 9 * k + 3 * i
            for r in range(3):
                x = material[m] * Q[at + 3 + r] + material[m + 1] * Q[at + 6 + r] + material[m + 2] * Q[at + 9 + r]
                frame_out[m + r] = x + Q[at + r] if i == 0 else x


@kernel
def fill_normals(frame: Floats, point_out: Floats, normal_out: Floats) -> None:
    """Points of half-spaces, and the unit vectors a × b / |a × b| of their tangents."""
    for k in range(frame.size // 9):
        n = cross(load3(frame, 9 * k + 3), load3(frame, 9 * k + 6))
        store3(load3(frame, 9 * k), 3 * k, point_out)
        store3(scale3(1.0 / norm3(n), n), 3 * k, normal_out)


@dataclass(frozen=True)
class BendingMesh:
    """Free vertices with what is between them: cloth, the skin of a soft body, a rod."""

    x: np.ndarray
    """(n, 3) at rest [m]."""
    faces: np.ndarray
    """(m, 3)"""
    edges: np.ndarray
    """(k, 2) that belong to no face."""
    first: int
    """The control point of the first vertex; the others follow."""
    radius: float = 0.0
    """[m]"""
    nodes: np.ndarray | None = None
    """(n,) control points of the vertices, if they do not follow each other."""


@dataclass(frozen=True)
class Surface:
    """Triangles of all bodies, then of free meshes. Ranges run over these: body b has vertices vertex_start[b] … vertex_start[b + 1]."""

    w: np.ndarray
    """(V, 4) homogeneous material coordinates in the body's frame."""
    body: np.ndarray
    """(V,) body, or free mesh, of a vertex."""
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
    rest: np.ndarray
    """(V, 3) in the body's frame, or at rest [m]."""
    node: np.ndarray
    """(V,) the first control point of a vertex: 4 b of a body b, or its own."""
    rigid: int
    """How many vertices ride on bodies: the first ones."""
    radius: np.ndarray
    """(V,) how far the matter reaches beyond a vertex [m]."""
    plane_radius: float = 0.0
    """How far it reaches beyond half-spaces [m]."""

    @staticmethod
    def of(model: Model, resolution: int = RESOLUTION, thickness: float = 0.0) -> Surface:
        """That of a model's bodies, kept apart by `thickness` [m]: half of it belongs to each side."""
        vertices, faces, planes, owner = [], [], [], []
        starts = [[0], [0], [0]]
        edges, patches, radii, thin = [], [], [], []
        count = joined = lines = 0
        for i, body in enumerate(model.bodies):
            for placed in body.shapes:
                if not placed.solid:
                    continue
                if isinstance(placed.shape, Plane):
                    R, p = np.asarray(placed.X_BS.R), np.asarray(placed.X_BS.p)
                    planes.append((i, p, R[:, 2]))
                    continue
                # vertices, edges, faces and flat patches of a shape: of its surface, or of the lines and points of a thin one
                skeleton = placed.skeleton()
                if skeleton is None:
                    x, f = merged(*placed.triangles(resolution))
                    sharp, patch = sharp_edges(x, f)
                else:
                    x, f, sharp = skeleton.points, thin_faces(skeleton), skeleton.edges
                    patch = np.arange(len(f))
                    thin.append((count, lines, skeleton))
                # numbers go on behind those of the shapes before
                vertices.append(x)
                owner += [i] * len(x)
                faces.append(f + count)
                edges.append(sharp + count)
                patches.append(patch + joined)
                radii.append(np.full(len(x), 0.5 * thickness + (skeleton.radius if skeleton is not None else 0.0)))
                count, joined, lines = count + len(x), joined + len(f), lines + len(sharp)
            for start, total in zip(starts, (count, lines, joined), strict=True):
                start.append(total)
        X = np.concatenate(vertices) if vertices else np.zeros((0, 3))
        F = np.concatenate(faces) if faces else np.zeros((0, 3), int)
        E = np.concatenate(edges) if edges else np.zeros((0, 2), int)
        P = np.concatenate(patches).astype(np.int64) if patches else np.zeros(0, np.int64)
        # shares of the surface; thin shapes say theirs
        of_vertex, of_edge = areas(X, E, F, P)
        for first_vertex, first_edge, skeleton in thin:
            of_points, of_lines = skeleton.areas()
            of_vertex[first_vertex : first_vertex + len(of_points)] = of_points
            of_edge[first_edge : first_edge + len(of_lines)] = of_lines
        bodies = np.array(owner, np.int64)
        return Surface(
            np.concatenate([np.ones((len(X), 1)), X], axis=1), bodies, E.astype(np.int64), F.astype(np.int64),
            *(np.array(s, np.int64) for s in starts), np.array([b for b, _, _ in planes], np.int64),
            np.array([p for _, p, _ in planes]).reshape(-1, 3), np.array([n for _, _, n in planes]).reshape(-1, 3), of_vertex, of_edge, P,
            X, 4 * bodies, len(X), np.concatenate(radii) if radii else np.zeros(0), 0.5 * thickness,
        )  # fmt: skip

    def plus(self, mesh: BendingMesh, owner: int | None = None) -> Surface:
        """With a free mesh behind all others; `owner` is its number among bodies and free meshes (None: the next one)."""
        x, n, known = np.asarray(mesh.x, float), len(self.w), len(self.vertex_start) - 1
        owner = known if owner is None else owner
        skeleton = Skeleton(x, np.asarray(mesh.edges, np.int64).reshape(-1, 2), mesh.radius)
        faces = np.asarray(mesh.faces, np.int64).reshape(-1, 3)
        # all sides of the faces, each once; then edges without faces, and vertices that have neither
        sides = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
        edges = np.unique(np.concatenate([sides, np.sort(skeleton.edges, axis=1)]), axis=0)
        of_vertex, of_edge = areas(x, edges, faces, np.arange(len(faces)))
        bare = Skeleton(x, edges[of_edge == 0.0], mesh.radius)
        of_points, of_lines = bare.areas()
        lone = np.setdiff1d(bare.lone, faces)
        of_vertex += np.where(np.isin(np.arange(len(x)), np.concatenate([bare.edges.ravel(), lone])), of_points, 0.0)
        of_edge[of_edge == 0.0] = of_lines
        every = np.concatenate([faces, bare.edges[:, (0, 1, 1)], lone[:, None].repeat(3, axis=1)])

        def extended(start: np.ndarray, more: int) -> np.ndarray:
            return np.concatenate([start, np.full(owner - known, start[-1]), [start[-1] + more]]).astype(np.int64)

        return replace(
            self, w=np.concatenate([self.w, np.tile([1.0, 0.0, 0.0, 0.0], (len(x), 1))]),
            body=np.concatenate([self.body, np.full(len(x), owner)]).astype(np.int64), edges=np.concatenate([self.edges, edges + n]),
            faces=np.concatenate([self.faces, every + n]), vertex_start=extended(self.vertex_start, len(x)),
            edge_start=extended(self.edge_start, len(edges)), face_start=extended(self.face_start, len(every)),
            vertex_area=np.concatenate([self.vertex_area, of_vertex]), edge_area=np.concatenate([self.edge_area, of_edge]),
            patch=np.concatenate([self.patch, len(self.faces) + np.arange(len(every))]), rest=np.concatenate([self.rest, x]),
            node=np.concatenate([self.node, mesh.first + np.arange(len(x)) if mesh.nodes is None else mesh.nodes]),
            radius=np.concatenate([self.radius, np.full(len(x), mesh.radius + self.plane_radius)]),
        )  # fmt: skip

    def positions(self, Q: np.ndarray) -> np.ndarray:
        """(V, 3) in the world from affine coordinates Q (bodies, 4, 3), or from all control points, flat."""
        x = np.empty(3 * len(self.w))
        place_vertices(np.ascontiguousarray(Q, dtype=float).ravel(), self.w.ravel(), self.body, self.node, self.rigid, x)
        return x.reshape(-1, 3)

    def planes(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and unit normals (P, 3) of the half-spaces in the world."""
        point, normal = np.empty((2, len(self.plane_body), 3))
        fill_normals(self.plane_frames(Q).ravel(), point.ravel(), normal.ravel())
        return point, normal

    def plane_frames(self, Q: np.ndarray) -> np.ndarray:
        """(P, 9) a point and two tangents of every half-space in the world: linear in Q. Their cross product points outwards."""
        out = np.empty((len(self.plane_body), 9))
        place_planes(np.ascontiguousarray(Q, dtype=float).ravel(), self.plane_body, self._plane_material, out.ravel())
        return out

    @cached_property
    def _plane_material(self) -> np.ndarray:
        """(9 P,) that, in the body's frame."""
        return np.concatenate([self.plane_point[:, None, :], self._plane_tangents], axis=1).ravel()

    @cached_property
    def _plane_tangents(self) -> np.ndarray:
        """(P, 2, 3) in the body's frame."""
        n = self.plane_normal
        least = np.eye(3)[np.argmin(np.abs(n), axis=1)] if len(n) else n
        first = np.cross(least, n)
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        return np.stack([first, np.cross(n, first)], axis=1)

    @cached_property
    def closed(self) -> np.ndarray:
        """(bodies and free meshes,) whether faces enclose something: every side of one belongs to two."""
        out = np.zeros(len(self.face_start) - 1, bool)
        for b, (first, last) in enumerate(zip(self.face_start[:-1], self.face_start[1:], strict=True)):
            faces = self.faces[first:last]
            faces = faces[faces[:, 1] != faces[:, 2]]  # lines and points enclose nothing
            sides = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
            out[b] = len(faces) > 0 and bool((np.unique(sides, axis=0, return_counts=True)[1] == 2).all())
        return out

    @cached_property
    def size(self) -> float:
        """The largest diagonal of a body's vertices [m]."""
        ranges = zip(self.vertex_start[:-1], self.vertex_start[1:], strict=True)
        spans = [np.linalg.norm(np.ptp(self.rest[a:b], axis=0)) for a, b in ranges if b > a]
        return float(max(spans, default=1.0))


def thin_faces(skeleton: Skeleton) -> np.ndarray:
    """(m, 3) triangles without area: an edge (i, j) as (i, j, j), a lone point as (i, i, i)."""
    return np.concatenate([skeleton.edges[:, (0, 1, 1)], skeleton.lone[:, None].repeat(3, axis=1)])


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
