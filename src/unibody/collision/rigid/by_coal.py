"""Pairs that have no closed form here, through coal (extra `collision`): nearest points and normal of convex shapes.

Cylinders, ellipsoids and convex meshes are given to coal as they are; what it finds, one contact per pair, is made exact in `refine` and
becomes a manifold in `supports`. An ellipsoid on a triangle mesh meets the planes of faces in closed form, x = c − S² n / |S n|, where
that point is over the face; edges and vertices are asked of coal, and count where no face around them is nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from unibody.collision.rigid.clip import LABELS, WORK
from unibody.collision.rigid.emit import MOST, RECORD
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
from unibody.errors import ModelError
from unibody.model import Model

TOLERANCES = (1e-8, 1e-6, 1e-4)
"""Of coal's iterations, tried in turn: on smooth shapes inside each other the finest often fail."""

ALONG = 1e-9
"""Of the size of a face: what lies nearer to a side of it is no corner."""


class CoalPairs:
    """coal's geometries of a table of shapes, and the polygons of its convex meshes."""

    def __init__(self, table: ShapeTable, model: Model):
        self._table, self._model = table, model
        self._check()
        self._geometry: dict[int, Any] = {}
        self._faces: dict[tuple[int, int], Any] = {}
        self._polygons = convex_polygons(table)
        self._work, self._labels = np.zeros(WORK), np.zeros(LABELS + 4 * MOST_CORNERS, np.int64)
        self._points = np.zeros(6 * MOST_CORNERS)
        self._request: Any = None

    def _check(self) -> None:
        """Say what is missing before a simulation begins, not in its midst."""
        if find_spec("coal") is not None:
            return
        t, family = self._table, families().reshape(KINDS, KINDS)
        first = {int(kind): i for i, kind in reversed(list(enumerate(t.kind)))}
        for a, i in sorted(first.items()):
            for b in sorted(first):
                others = np.flatnonzero((t.kind == b) & (t.body != t.body[i]))
                if family[a, b] == COAL and len(others):
                    names = (self._model.bodies[t.body[i]].name, self._model.bodies[t.body[others[0]]].name)
                    raise ModelError(
                        f"contact of '{names[0]}' ({NAMES[a]}) with '{names[1]}' ({NAMES[b]}) needs coal, which is not installed; "
                        "pip install unibody[collision]"
                    )

    def contacts(
        self, count: int, order: np.ndarray, pairs: np.ndarray, frames: np.ndarray, margin: float, tags: np.ndarray, records: np.ndarray
    ) -> int:
        """Contacts of the pairs in `order` behind `count` others; gives how many there are now."""
        import coal

        t = self._table
        kinds = t.kind[pairs.reshape(-1, 2)[order]]
        on_mesh = (kinds == TRIANGLES).any(axis=1)
        convex, transforms = np.ascontiguousarray(order[~on_mesh]), {}
        touching = np.zeros((len(convex), RECORD))
        result = coal.DistanceResult()
        for row, pair in enumerate(convex):
            i, j = int(pairs[2 * pair]), int(pairs[2 * pair + 1])
            for s in (i, j):
                if s not in transforms:
                    transforms[s] = coal.Transform3s(frames[12 * s : 12 * s + 9].reshape(3, 3), frames[12 * s + 9 : 12 * s + 12])
            touching[row] = self._distance(self.geometry(i), transforms[i], self.geometry(j), transforms[j], result)
        refine(convex, pairs, t.kind, frames, t.size, *self._polygons[:4], touching.reshape(-1))
        count = manifolds(
            count, convex, touching.reshape(-1), pairs, t.kind, frames, t.size, *self._polygons, margin, tags, records, self._work,
            self._labels, self._points,
        )  # fmt: skip
        for pair in order[on_mesh]:
            for feature, record in self._ellipsoid_on_mesh(int(pairs[2 * pair]), int(pairs[2 * pair + 1]), frames, margin):
                if RECORD * (count + 1) <= records.size:
                    tags[2 * count : 2 * count + 2] = pair, feature
                    records[RECORD * count : RECORD * (count + 1)] = record
                count += 1
        return count

    def _distance(self, a: Any, X_a: Any, b: Any, X_b: Any, result: Any) -> np.ndarray:
        """Point on a, unit normal from a to b, signed distance."""
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
        # Shapes that only touch, or whose middles coincide, may leave coal no direction.
        normal = X_b.getTranslation() - X_a.getTranslation()
        length = float(np.linalg.norm(normal))
        if not (abs(distance) < 1e100 and np.isfinite(point).all()) or length == 0.0:
            raise ModelError(f"coal found no distance of a {type(a).__name__} and a {type(b).__name__} inside each other; move them apart")
        return np.concatenate([point, normal / length, [distance]])

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
                weights = np.array([np.cross(d - b, foot - b) @ n, np.cross(a - d, foot - d) @ n, np.cross(b - a, foot - a) @ n])
                weights = weights if np.cross(b - a, d - a) @ n > 0 else -weights
                if (weights >= -1e-12 * area).all():
                    if gap >= -2.0 * s.max():
                        out.append((int(f), np.concatenate([foot, n, [gap]])))
                        least.update({int(v): min(least.get(int(v), np.inf), gap) for v in faces[f]})
                    continue
            key = (mesh, int(f))
            if key not in self._faces:
                self._faces[key] = solid(corners[f], np.array([(0, 1, 2), (0, 2, 1)]))
            record = self._distance(self._faces[key], X_mesh, self.geometry(ball), X_ball, result)
            on = tuple(int(v) for v, w in zip(faces[f], barycentric(record[:3], *corners[f]), strict=True) if w > 1e-7)
            if record[6] <= margin and 0 < len(on) < 3 and (not outward.any() or record[3:6] @ outward > 0.0):
                if on not in edges or record[6] > edges[on][0]:
                    edges[on] = (float(record[6]), record)
            for v in on:
                least[v] = min(least.get(v, np.inf), float(record[6]))
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


def convex_polygons(table: ShapeTable) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Faces of convex meshes, coplanar triangles joined: range per shape (2 n,), starts, corners in order around, normals, and per corner
    the numbers, within its mesh, of the vertex and of the edge to the next."""
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
            for normal, members in coplanar(n):
                ring = np.unique(faces[members])
                u = np.linalg.svd(normal[None])[2][1]
                turn = outline(x[ring] @ np.stack([u, np.cross(normal, u)], axis=1))
                corners.append(x[ring[turn]])
                around = [int(v - span[at + 6]) for v in ring[turn]]
                ends = [(min(v, w), max(v, w)) for v, w in zip(around, around[1:] + around[:1], strict=True)]
                numbers += [(v, edges.setdefault(end, len(edges))) for v, end in zip(around, ends, strict=True)]
                start.append(start[-1] + len(turn))
                normals.append(normal)
            known[number] = (before, len(normals))
        ranges[i] = known[number]
    return (
        ranges.ravel(), np.array(start, np.int64), np.concatenate(corners).ravel() if corners else np.zeros(0),
        np.concatenate(normals).ravel() if normals else np.zeros(0), np.array(numbers, np.int64).ravel(),
    )  # fmt: skip


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


def coplanar(n: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Normals that occur, with the faces that have them; on a convex solid equal normals mean one plane."""
    keys = np.round(n, 6) + 0.0
    _, index = np.unique(keys, axis=0, return_inverse=True)
    for k in range(index.max() + 1):
        members = np.flatnonzero(index.ravel() == k)
        yield n[members[0]], members
