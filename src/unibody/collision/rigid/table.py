"""The solid shapes of a model as one flat table: kind, body, pose in the body, sizes, bounding box, mesh.

Shapes are numbered in the order of bodies and of each body's list, so that of two shapes of different bodies the smaller number is on
the smaller body. Meshes that several bodies share are made ready once. A class of shapes that is not of this package takes part with
its triangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.collision.rigid.kinds import BOX, CAPSULE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE, TRIANGLES
from unibody.collision.rigid.mesh_data import MeshData, Meshes
from unibody.collision.surface import merged
from unibody.errors import ModelError
from unibody.model import Model
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, OpenMesh, Plane, Sphere

PRISM = 32
"""Sides of the prism that a cylinder is against triangle meshes."""


@dataclass(frozen=True)
class ShapeTable:
    """n shapes; arrays are flat where kernels read them."""

    shapes: tuple[Any, ...]
    """The shapes themselves, without their poses."""
    body: np.ndarray
    """(n,)"""
    kind: np.ndarray
    """(n,) see `kinds`."""
    pose: np.ndarray
    """(12 n,) in the body: R row-major, then p."""
    size: np.ndarray
    """(4 n,) see `kinds`."""
    hull: np.ndarray
    """(6 n,) middle and half extents of the bounding box in the shape's frame; infinite for planes."""
    radius: np.ndarray
    """(n,) of the ball about the body's origin that holds the shape [m]."""
    mesh: np.ndarray
    """(n,) number of its mesh, −1 without."""
    vertex_range: np.ndarray
    """(2 n,) its vertices among those of all meshes."""
    meshes: Meshes

    @property
    def count(self) -> int:
        return len(self.body)

    def frames(self, model: Model) -> np.ndarray:
        """(15 n,) room for the poses of shapes in the world (12 each); then, in the frame of each shape, its body's centre of mass (3
        each), or no number if the body does not move by itself."""
        poses = self.pose.reshape(-1, 12)
        R, p = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        com = np.array([b.com if b.kind == "dynamic" else np.full(3, np.nan) for b in model.bodies]).reshape(-1, 3)[self.body]
        return np.concatenate([np.zeros(12 * self.count), np.einsum("nji,nj->ni", R, com - p).ravel()])

    @staticmethod
    def of(model: Model) -> ShapeTable:
        found = [(i, *solid) for i, body in enumerate(model.bodies) for solid in solids(body)]
        kept: dict[int, tuple[int, bool]] = {}
        meshes: list[MeshData] = []
        rows = [entry(model.bodies[i].name, shape, meshes, kept) for i, shape, _, _ in found]
        if any(kind == TRIANGLES for kind, _, _, _ in rows):
            rows = [with_mesh(row, shape, meshes, kept) for row, (_, shape, _, _) in zip(rows, found, strict=True)]
        ends = np.cumsum([0] + [len(m.vertices) for m in meshes])
        mesh = np.array([m for _, _, _, m in rows], np.int64)
        hull = np.array([h for _, _, h, _ in rows]).reshape(-1, 6)
        poses = np.array([np.concatenate([np.asarray(R).ravel(), p]) for _, _, R, p in found]).reshape(-1, 12)
        arms = np.einsum("nij,nj->ni", poses[:, :9].reshape(-1, 3, 3), hull[:, :3]) + poses[:, 9:]
        return ShapeTable(
            tuple(shape for _, shape, _, _ in found), np.array([i for i, *_ in found], np.int64),
            np.array([k for k, _, _, _ in rows], np.int64), poses.ravel(), np.array([s for _, s, _, _ in rows]).ravel(),
            hull.ravel(), np.linalg.norm(arms, axis=1) + np.linalg.norm(hull[:, 3:], axis=1), mesh,
            np.stack([ends[mesh], np.where(mesh >= 0, ends[mesh + 1], ends[mesh])], axis=1).ravel() if len(mesh) else np.zeros(0, np.int64),
            Meshes.of(meshes),
        )  # fmt: skip


def solids(body: Any) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Each solid shape of a body with its rotation and place, placements within placements followed."""
    for placed in body.shapes:
        R, p, solid = np.eye(3), np.zeros(3), True
        while hasattr(placed, "X_BS"):
            p = p + R @ np.asarray(placed.X_BS.p)
            R = R @ np.asarray(placed.X_BS.R)
            solid, placed = solid and placed.solid, placed.shape
        if solid:
            yield placed, R, p


Row = tuple[int, tuple[float, ...], np.ndarray, int]
"""Kind, size, hull, mesh."""


def entry(body: str, shape: Any, meshes: list[MeshData], kept: dict[int, tuple[int, bool]]) -> Row:
    if isinstance(shape, Sphere):
        return SPHERE, (shape.radius, 0.0, 0.0, 0.0), around(shape.radius, shape.radius, shape.radius), -1
    if isinstance(shape, Capsule):
        half = 0.5 * shape.length
        return CAPSULE, (shape.radius, half, 0.0, 0.0), around(shape.radius, shape.radius, half + shape.radius), -1
    if isinstance(shape, Box):
        h = tuple(0.5 * s for s in shape.sides)
        return BOX, (*h, 0.0), around(*h), -1
    if isinstance(shape, Cylinder):
        half = 0.5 * shape.length
        return CYLINDER, (shape.radius, half, 0.0, 0.0), around(shape.radius, shape.radius, half), -1
    if isinstance(shape, Ellipsoid):
        return ELLIPSOID, (*shape.semi_axes, 0.0), around(*shape.semi_axes), -1
    if isinstance(shape, Plane):
        return PLANE, (0.0, 0.0, 0.0, 0.0), around(np.inf, np.inf, np.inf), -1
    number, convex = mesh_number(body, shape, meshes, kept)
    x = meshes[number].vertices
    hull = np.concatenate([0.5 * (x.min(axis=0) + x.max(axis=0)), 0.5 * np.ptp(x, axis=0)])
    return CONVEX if convex else TRIANGLES, (0.0, 0.0, 0.0, 0.0), hull, number


def around(x: float, y: float, z: float) -> np.ndarray:
    """A box about the origin."""
    return np.array([0.0, 0.0, 0.0, x, y, z])


def mesh_number(body: str, shape: Any, meshes: list[MeshData], kept: dict[int, tuple[int, bool]]) -> tuple[int, bool]:
    """The shape's place among the meshes, and whether it is convex."""
    if id(shape) not in kept:
        vertices, faces = merged(*shape.triangles(PRISM))
        if not len(faces):
            raise ModelError(f"body '{body}': {type(shape).__name__} has no triangle with three different corners; nothing can touch it")
        data = MeshData.of(vertices, faces, sided=not isinstance(shape, OpenMesh))
        closed = bool((np.diff(data.edge_start) == 2).all())
        if not (closed or isinstance(shape, Mesh | HeightField | OpenMesh)):
            data = MeshData.of(vertices, faces, sided=False)
        meshes.append(data)
        kept[id(shape)] = (len(meshes) - 1, data.convex)
    return kept[id(shape)]


def with_mesh(row: Row, shape: Any, meshes: list[MeshData], kept: dict[int, tuple[int, bool]]) -> Row:
    """Boxes and cylinders beside triangle meshes are polyhedra too."""
    kind, size, hull, _ = row
    return (kind, size, hull, mesh_number("", shape, meshes, kept)[0]) if kind in (BOX, CYLINDER) else row
