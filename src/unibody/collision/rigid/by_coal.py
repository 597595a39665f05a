"""Convex pairs that have no closed form here: nearest points and normal, from which manifolds come.

Two polyhedra (convex meshes, and boxes with them) are answered by `convex_distance`. Cylinders and ellipsoids are given to coal (extra
`collision`); where it finds no answer, or one whose normal does not separate the shapes by the distance that it gives, `convex_distance`
answers too. Either way one contact per pair is made exact in `refine` and becomes a manifold in `supports`. An ellipsoid on a triangle mesh
meets the planes of faces in closed form, x = c − S² n / |S n|, where that point is over the face; edges and vertices are asked of coal,
and count where no face around them is nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from unibody.collision.rigid.clip import LABELS, WORK
from unibody.collision.rigid.contacts import RECORD
from unibody.collision.rigid.convex_distance import convex_distances, convex_work, doubtful_answers
from unibody.collision.rigid.hull_polygons import NO_EDGES, convex_edges, convex_polygons
from unibody.collision.rigid.kinds import (
    BOX,
    CAPSULE,
    COAL,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    KINDS,
    NAMES,
    SPHERE,
    TRIANGLES,
    families,
)
from unibody.collision.rigid.mesh_data import FACE_NORMALS, FACES, RANGES, VERTICES
from unibody.collision.rigid.refine import refine
from unibody.collision.rigid.supports import MOST_CORNERS, manifolds
from unibody.collision.rigid.table import ShapeTable
from unibody.collision.rigid.thinning import MOST
from unibody.errors import ModelError
from unibody.model import Model

POLYHEDRA = {BOX, CONVEX}
"""Kinds that need no coal among themselves."""

TOLERANCES = (1e-8, 1e-6, 1e-4)
"""Of coal's iterations, tried in turn: on smooth shapes inside each other the finest often fail."""

UNKNOWN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, np.inf])
"""The contact where coal found none: it has no answer."""


class CoalPairs:
    """coal's geometries of a table of shapes, and the polygons of its convex meshes."""

    def __init__(self, table: ShapeTable, model: Model):
        self._table, self._model = table, model
        self._check()
        self._geometry: dict[int, Any] = {}
        self._faces: dict[tuple[int, int], Any] = {}
        self._work, self._labels = np.zeros(WORK), np.zeros(LABELS + 4 * MOST_CORNERS, np.int64)
        self._points = np.zeros(6 * MOST_CORNERS)
        self._request: Any = None

    @cached_property
    def _polygons(self) -> tuple[np.ndarray, ...]:
        """Of convex meshes; made when two shapes are near, since large meshes take long."""
        return convex_polygons(self._table)

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        return convex_edges(self._table, *self._polygons)

    @cached_property
    def _ours(self) -> np.ndarray:
        return convex_work(int(np.diff(self._edges[0].reshape(-1, 2)).max(initial=0)))

    def _check(self) -> None:
        """Say what is missing before a simulation begins, not in its midst."""
        if find_spec("coal") is not None:
            return
        t, family = self._table, families().reshape(KINDS, KINDS)
        first = {int(kind): i for i, kind in reversed(list(enumerate(t.kind)))}
        for a, i in sorted(first.items()):
            for b in sorted(first):
                others = np.flatnonzero((t.kind == b) & (t.body != t.body[i]))
                if family[a, b] == COAL and not {a, b} <= POLYHEDRA and len(others):
                    names = (self._model.bodies[t.body[i]].name, self._model.bodies[t.body[others[0]]].name)
                    raise ModelError(
                        f"contact of '{names[0]}' ({NAMES[a]}) with '{names[1]}' ({NAMES[b]}) needs coal, which is not installed; "
                        "pip install unibody[collision]"
                    )

    def contacts(
        self, count: int, order: np.ndarray, pairs: np.ndarray, frames: np.ndarray, margin: float, tags: np.ndarray, records: np.ndarray
    ) -> int:
        """Contacts of the pairs in `order` behind `count` others; gives how many there are now."""
        t = self._table
        kinds = t.kind[pairs.reshape(-1, 2)[order]]
        on_mesh = (kinds == TRIANGLES).any(axis=1)
        convex = np.ascontiguousarray(order[~on_mesh])
        flat = np.isin(kinds[~on_mesh], (BOX, CONVEX)).all(axis=1)
        touching = np.zeros((len(convex), RECORD))
        rows, others = np.flatnonzero(flat), np.flatnonzero(~flat)
        if len(others):
            self._ask_coal(others, convex, pairs, frames, touching)
            unsure = np.empty(len(others), np.int64)
            some = doubtful_answers(others, convex, pairs, t.kind, frames, t.size, *self._polygons[:3], touching.ravel(), unsure)
            rows = np.concatenate([rows, unsure[:some]])
        if len(rows):
            convex_distances(
                rows, convex, pairs, t.kind, frames, t.size, *self._polygons[:4], *self._edges, self._ours, touching.ravel()
            )
        refine(convex, pairs, t.kind, frames, t.size, *self._polygons[:4], touching.ravel())
        count = manifolds(
            count, convex, touching.ravel(), pairs, t.kind, frames, t.size, *self._polygons, margin, tags, records, self._work,
            self._labels, self._points,
        )  # fmt: skip
        for pair in order[on_mesh]:
            for feature, record in self._ellipsoid_on_mesh(int(pairs[2 * pair]), int(pairs[2 * pair + 1]), frames, margin):
                if RECORD * (count + 1) <= records.size:
                    tags[2 * count : 2 * count + 2] = pair, feature
                    records[RECORD * count : RECORD * (count + 1)] = record
                count += 1
        return count

    def _ask_coal(self, rows: np.ndarray, order: np.ndarray, pairs: np.ndarray, frames: np.ndarray, touching: np.ndarray) -> None:
        """coal's answers to the pairs `order[rows]`, in those rows of `touching`."""
        import coal

        transforms, result = {}, coal.DistanceResult()
        for row in rows:
            i, j = int(pairs[2 * order[row]]), int(pairs[2 * order[row] + 1])
            for s in (i, j):
                if s not in transforms:
                    transforms[s] = coal.Transform3s(frames[12 * s : 12 * s + 9].reshape(3, 3), frames[12 * s + 9 : 12 * s + 12])
            touching[row] = self._distance(self.geometry(i), transforms[i], self.geometry(j), transforms[j], result)

    def _distance(self, a: Any, X_a: Any, b: Any, X_b: Any, result: Any) -> np.ndarray:
        """Point on a, unit normal from a to b, signed distance; UNKNOWN where coal gives none."""
        import coal

        if self._request is None:
            self._request = coal.DistanceRequest()
            self._request.enable_signed_distance = True
            self._request.gjk_max_iterations = self._request.epa_max_iterations = 512
        for tolerance in TOLERANCES:
            self._request.gjk_tolerance = self._request.epa_tolerance = tolerance
            result.clear()
            distance = coal.distance(a, X_a, b, X_b, self._request, result)
            point, normal = result.getNearestPoint1(), result.normal
            if abs(distance) < 1e100 and np.isfinite(point).all() and abs(normal @ normal - 1.0) < 1e-6:
                return np.concatenate([point, normal / np.linalg.norm(normal), [distance]])
        return UNKNOWN

    def _triangle_and_ball(self, key: tuple[int, int], corners: np.ndarray, ball: int, X_mesh: Any, X_ball: Any, result: Any) -> np.ndarray:
        """As `_distance`, of a triangle and the ellipsoid `ball`, in the mesh's frame."""
        if key not in self._faces:
            self._faces[key] = solid(corners, np.array([(0, 1, 2), (0, 2, 1)]))
        record = self._distance(self._faces[key], X_mesh, self.geometry(ball), X_ball, result)
        t, frames = self._table, np.zeros(24)
        for k, X in enumerate((X_mesh, X_ball)):
            frames[12 * k : 12 * k + 9], frames[12 * k + 9 : 12 * k + 12] = X.getRotation().ravel(), X.getTranslation()
        kind, sizes = np.array([CONVEX, ELLIPSOID]), np.concatenate([np.zeros(4), t.size[4 * ball : 4 * ball + 4]])
        first, pair, range_of, start = np.zeros(1, np.int64), np.array([0, 1]), np.array([0, 1, 0, 0]), np.array([0, 3])
        given = kind, frames, sizes, range_of, start, np.ascontiguousarray(corners).ravel()
        if doubtful_answers(first, first, pair, *given, record, np.empty(1, np.int64)):
            record = record.copy()
            convex_distances(first, first, pair, *given, np.zeros(3), *NO_EDGES, self._ours, record)
        return record

    def geometry(self, i: int) -> Any:
        """coal's object for shape i, kept alive here."""
        import coal

        if i not in self._geometry:
            t, s = self._table, self._table.size[4 * i : 4 * i + 4]
            makers = {
                SPHERE: lambda: coal.Sphere(s[0]), CAPSULE: lambda: coal.Capsule(s[0], 2.0 * s[1]),
                BOX: lambda: coal.Box(*(2.0 * s[:3])), CYLINDER: lambda: coal.Cylinder(s[0], 2.0 * s[1]),
                ELLIPSOID: lambda: coal.Ellipsoid(*s[:3]), CONVEX: lambda: solid(*self._mesh(i)),
            }  # fmt: skip
            self._geometry[i] = makers[int(t.kind[i])]()
        return self._geometry[i]

    def _mesh(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Vertices and faces of the mesh of shape i, counted from its own beginning."""
        m, at = self._table.meshes, 8 * self._table.mesh[i]
        ranges = m.whole.view(RANGES)
        x = m.real.view(VERTICES).reshape(-1, 3)[ranges[at + 6] : ranges[at + 7]]
        f = m.whole.view(FACES).reshape(-1, 3)[ranges[at + 2] : ranges[at + 3]] - ranges[at + 6]
        return x, f

    def _ellipsoid_on_mesh(self, i: int, j: int, frames: np.ndarray, margin: float) -> Iterator[tuple[int, np.ndarray]]:
        """(feature, record) of the deepest contacts of an ellipsoid and a triangle mesh."""
        flip = bool(self._table.kind[i] == ELLIPSOID)
        mesh, ball = (j, i) if flip else (i, j)
        R, p = frames[12 * mesh : 12 * mesh + 9].reshape(3, 3), frames[12 * mesh + 9 : 12 * mesh + 12]
        C = R.T @ frames[12 * ball : 12 * ball + 9].reshape(3, 3)
        c = R.T @ (frames[12 * ball + 9 : 12 * ball + 12] - p)
        found = sorted(self._on_faces(mesh, ball, C, c, margin), key=lambda entry: entry[1][6])[:MOST]
        for feature, record in found:
            point, normal, gap = p + R @ record[:3], R @ record[3:6], record[6]
            yield feature, np.concatenate([point + gap * normal, -normal, [gap]] if flip else [point, normal, [gap]])

    def _on_faces(self, mesh: int, ball: int, C: np.ndarray, c: np.ndarray, margin: float) -> list[tuple[int, np.ndarray]]:
        """As `_ellipsoid_on_mesh`, all of them, in the mesh's frame and with the mesh first."""
        import coal

        # faces whose boxes meet that of the ellipsoid, widened by the margin
        x, faces = self._mesh(mesh)
        s = self._table.size[4 * ball : 4 * ball + 3]
        reach = np.sqrt(((C * s) ** 2).sum(axis=1)) + margin
        corners = x[faces]
        near = np.flatnonzero((corners.min(axis=1) <= c + reach).all(axis=1) & (corners.max(axis=1) >= c - reach).all(axis=1))
        first = self._table.meshes.whole.view(RANGES)[8 * self._table.mesh[mesh] + 2]
        sided = self._table.meshes.real.view(FACE_NORMALS).reshape(-1, 3)[first + near]
        out: list[tuple[int, np.ndarray]] = []
        edges: dict[tuple[int, ...], tuple[float, np.ndarray]] = {}
        least: dict[int, float] = {}
        result = coal.DistanceResult()
        X_ball, X_mesh = coal.Transform3s(C, c), coal.Transform3s(np.eye(3), np.zeros(3))
        # of each face: the ellipsoid's lowest point over its plane, x = c − C S² Cᵀ n / |S Cᵀ n|
        for f, outward in zip(near, sided, strict=True):
            a, b, d = corners[f]
            n = np.cross(b - a, d - a)
            area = float(np.linalg.norm(n))
            if area > 1e-12 * float(((corners[f] - a) ** 2).sum()):
                n = n / area
                if not outward.any() and n @ (c - a) < 0.0:
                    n = -n
                lowest = c - C @ (s * s * (C.T @ n)) / np.linalg.norm(s * (C.T @ n))
                gap = float(n @ (lowest - a))
                foot = lowest - gap * n
                # it is a contact of the face itself where its foot lies within the triangle
                weights = np.array([np.cross(d - b, foot - b) @ n, np.cross(a - d, foot - d) @ n, np.cross(b - a, foot - a) @ n])
                weights = weights if np.cross(b - a, d - a) @ n > 0 else -weights
                if (weights >= -1e-12 * area).all():
                    if gap >= -2.0 * s.max():
                        out.append((int(f), np.concatenate([foot, n, [gap]])))
                        least.update({int(v): min(least.get(int(v), np.inf), gap) for v in faces[f]})
                    continue
            # else of an edge or a corner, found by coal; the deepest of the faces that share it counts
            record = self._triangle_and_ball((mesh, int(f)), corners[f], ball, X_mesh, X_ball, result)
            on = tuple(int(v) for v, w in zip(faces[f], barycentric(record[:3], *corners[f]), strict=True) if w > 1e-7)
            if record[6] <= margin and 0 < len(on) < 3 and (not outward.any() or record[3:6] @ outward > 0.0):
                if on not in edges or record[6] > edges[on][0]:
                    edges[on] = (float(record[6]), record)
            for v in on:
                least[v] = min(least.get(v, np.inf), float(record[6]))
        # an edge or corner counts only if no face beside it is nearer
        size = float(s.max())
        for on, (gap, record) in edges.items():
            if all(gap <= least[v] + 1e-7 * size for v in on):
                out.append((len(faces) + hash(on) % (1 << 29), record))
        return [entry for entry in out if entry[1][6] <= margin]


def solid(vertices: np.ndarray, faces: np.ndarray) -> Any:
    """A convex solid for coal; a triangle seen from both sides is one."""
    import coal

    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for v in vertices:
        points.append(np.array(v, float))
    for face in faces:
        triangles.append(coal.Triangle(*(int(k) for k in face)))
    return coal.Convex(points, triangles)


def barycentric(q: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Weights of the corners at the point q of a triangle."""
    return np.linalg.lstsq(np.stack([np.append(a, 1.0), np.append(b, 1.0), np.append(c, 1.0)], axis=1), np.append(q, 1.0), rcond=None)[0]
