"""A material of a user's own for tests of models, and a scene that uses all that a Builder says of deformables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import unibody as ub
from unibody.energies.base import Energy, Stencils


@dataclass(frozen=True)
class Bars(Energy):
    """A bar of `stiffness` [N/m] along every edge of every cell: W = k (|x₁ − x₀| − L)² / 2."""

    stiffness: float = 100.0
    thickness: float = 1e-3

    vertices = 2

    def rest(self, X):
        L = np.linalg.norm(X[:, 1] - X[:, 0], axis=1)
        return np.column_stack([np.full(len(X), self.stiffness), L])

    def value(self, parameters, x):
        return 0.5 * parameters[0] * (np.linalg.norm(x[1] - x[0]) - parameters[1]) ** 2

    def gradient(self, parameters, x):
        d = x[1] - x[0]
        g = parameters[0] * (1.0 - parameters[1] / np.linalg.norm(d)) * d
        return np.array([-g, g])

    def stencils(self, mesh):
        cells = next(getattr(mesh, name) for name in ("tets", "faces", "edges") if hasattr(mesh, name))
        corners = min(cells.shape[1], 4)
        pairs = np.concatenate([cells[:, [i, j]] for i in range(corners) for j in range(i)])
        index = np.unique(np.sort(pairs, axis=1), axis=0)
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices)[index]))]


def rise(t):
    """Where three vertices are, a row each."""
    return [(0.0, 0.0, 3.0 + t), (1.0, 0.0, 3.0 + t), (0.0, 1.0, 3.0 + 0.5 * t**2)]


def builder():
    """A flag on a hull that moves, a rope from the hull to the flag, a block on the rope's other side, and a lid that is moved."""
    b = ub.Builder()
    hull = b.body("hull", ub.Box((0.2, 0.2, 2.0)), density=500, X_WB=ub.Pose((0, 0, 1), (1, 0, 0, 0.5)), V_WB=(0, 0, 2.0, 1.0, 0, 0))
    sheet = ub.TriMesh.grid((1, 1), 0.5, "regular")
    flag = b.cloth("flag", sheet, Bars(), 470, X_WB=ub.Pose((0.5, 0.0, 1.5)), V_WB=(0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
    rope = b.rod("rope", np.linspace((0, 0, 1.0), (0.5, 0, 0.5), 6), 2e-3, Bars(50.0), 1000)
    block = b.soft("block", ub.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1)), Bars(), 900, X_WB=ub.Pose((2, 0, 0.5), (1, 0, 0.3, 0)), order=2)
    lid = b.cloth("lid", ub.TriMesh([(0, 0, 3), (1, 0, 3), (0, 1, 3)], [(0, 1, 2)]), Bars(), 470)
    b.attach(flag.vertices[[0, 3, 6]], hull)
    b.attach(rope.end(0), hull, clamped=True)
    b.attach(rope.end(1), flag.at(face=2, weights=(0.0, 0.25, 0.75)))
    b.prescribe(lid.vertices[:], rise)
    b.prescribe(block.vertices[block.vertices.x[:, 0] > 2.15], None, name="wall")
    b.add(ub.SpringDamper(block.vertex(0), hull.at(0, 0, 1), stiffness=3.0), name="spring")
    b.add(ub.Cable([flag.at(face=2), block.at(tet=0, weights=(0.1, 0.2, 0.3, 0.4)), b.world.at(0, 0, 4)], stiffness=5.0), name="cable")
    return b


def curtain():
    """A sheet held at two corners, a rod held at an end and a soft block on a table, under gravity."""
    b = ub.Builder()
    b.body("table", shape=ub.Box((2.0, 2.0, 0.1)), kind="static", X_WB=ub.Pose((0, 0, -0.05)))
    grid = ub.TriMesh.grid((0.6, 0.6), 0.15)
    sheet = b.cloth("sheet", grid, ub.Fabric(young=2e3, poisson=0.3, thickness=2e-3, damping=0.02), 300, X_WB=ub.Pose((-0.8, -0.3, 0.8)))
    x = grid.vertices
    b.attach(sheet.vertices[(x[:, 0] < 1e-9) & ((x[:, 1] < 1e-9) | (x[:, 1] > 0.6 - 1e-9))], b.world)
    rod = b.rod("rod", np.linspace((0.0, 0, 0.8), (0.6, 0, 0.8), 7), 0.02, ub.RodMaterial(young=1e6, damping=0.02), 1000)
    b.attach(rod.end(0), b.world, clamped=True)
    rubber = ub.NeoHookean(young=2e4, poisson=0.4, damping=0.01)
    b.soft("block", ub.TetMesh.box((0.3, 0.3, 0.3), (2, 2, 2)), rubber, 1000, X_WB=ub.Pose((0.3, 0.4, 0.16)))
    b.add(ub.Contact(reach=3e-3))
    return b
