"""Small meshes for tests of deformables: boxes of tetrahedra, grids of triangles."""

from __future__ import annotations

import itertools

import numpy as np

import unibody as ub


def block(size, cells) -> ub.TetMesh:
    """A box around the origin, each cell in six tetrahedra around its diagonal."""
    n = np.array(cells) + 1
    x = np.stack(np.meshgrid(*(np.linspace(-0.5 * s, 0.5 * s, k) for s, k in zip(size, n, strict=True)), indexing="ij"), -1).reshape(-1, 3)
    tets = []
    for cell in itertools.product(*(range(k) for k in cells)):
        for way in itertools.permutations(range(3)):
            corner = np.array(cell)
            tet = [np.ravel_multi_index(corner, n)]
            for axis in way:
                corner = corner + np.eye(3, dtype=int)[axis]
                tet.append(np.ravel_multi_index(corner, n))
            odd = np.linalg.det(x[tet[1:]] - x[tet[0]]) < 0.0
            tets.append([tet[0], tet[2], tet[1], tet[3]] if odd else tet)
    return ub.TetMesh(x, np.array(tets))


def sheet(size, cells) -> ub.TriMesh:
    """A rectangle in the plane z = 0 around the origin; the diagonals of its cells alternate."""
    m, n = cells
    x = np.array([(a, b, 0.0) for a in np.linspace(-0.5, 0.5, m + 1) * size[0] for b in np.linspace(-0.5, 0.5, n + 1) * size[1]])
    faces = []
    for i, j in itertools.product(range(m), range(n)):
        a, b, c, d = (k * (n + 1) + l for k, l in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
        faces += [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
    return ub.TriMesh(x, np.array(faces))
