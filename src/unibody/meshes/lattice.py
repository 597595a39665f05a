"""Boxes of tetrahedra, and what they are bent into: cylinders and balls.

A lattice of cells (cubes) is cut into tetrahedra, six a cell around a diagonal (Kuhn), which points away from the middle in each octant:
the mesh has the mirror symmetries of the box, and no tetrahedron has two faces at its surface, which would lie flat where the cube's edge
is bent into a smooth surface.

    cylinder   the square [−1, 1]² on the disc: (x, y) ↦ (x √(1 − y²/2), y √(1 − x²/2))
    ball       the cube [−1, 1]³ on the ball: x ↦ x √(1 − y²/2 − z²/2 + y² z²/3), and so for y and z
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from unibody.errors import ModelError

MOST = 1e7
"""Cells of a mesh that is made here: beyond, they are a slip of the pen."""


def lengths_of(what: str, value: Any, count: int) -> np.ndarray:
    """So many lengths above 0 [m]."""
    try:
        out = np.broadcast_to(np.asarray(value, float), (count,))
    except (TypeError, ValueError, OverflowError):
        out = np.full(count, np.nan)
    if not (np.isfinite(out) & (out > 0.0)).all():
        raise ModelError(f"{what} {value!r}; give {count} lengths > 0 in metres" if count > 1 else f"{what} {value!r}; give metres > 0")
    return out


def counts_of(what: str, value: Any, count: int) -> tuple[int, ...]:
    """So many whole numbers above 0."""
    try:
        given = np.broadcast_to(np.asarray(value), (count,))
        out = tuple(int(n) for n in given)
        whole = all(n == m for n, m in zip(out, given.tolist(), strict=True))
    except (TypeError, ValueError, OverflowError):
        out, whole = (), False
    if not whole or min(out) < 1:
        said = "whole numbers above 0" if count > 1 else "a whole number above 0"
        raise ModelError(f"{what} {value!r}; give {said}")
    return out


def few_enough(what: str, cells: float) -> None:
    """Refuse meshes that no memory holds."""
    if cells > MOST:
        raise ModelError(f"{what}: about {cells:.2g} cells, more than {MOST:.0e}; give fewer")


def lattice(cells: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of [0, 1]³ and tetrahedra."""
    nx, ny, nz = cells
    few_enough(f"TetMesh: {nx} × {ny} × {nz}, each cut into six", 6.0 * nx * ny * nz)
    grid = np.stack(np.meshgrid(*(np.linspace(0.0, 1.0, n + 1) for n in cells), indexing="ij"), axis=-1)
    number = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    return grid.reshape(-1, 3), kuhn(number)


def kuhn(number: np.ndarray, keep: np.ndarray | None = None, mirrored: bool = True) -> np.ndarray:
    """Six tetrahedra of each cell of a lattice whose vertices have these numbers (nx + 1, ny + 1, nz + 1); `keep` (nx, ny, nz): of which
    cells; `mirrored`: with diagonals that point away from the middle."""
    out = []
    shape = tuple(n - 1 for n in number.shape)
    cells = np.stack(np.nonzero(np.ones(shape, bool) if keep is None else keep))
    lower = cells < np.floor_divide(shape, 2)[:, None] if mirrored else np.zeros_like(cells, bool)
    for order in permutations(range(3)):
        corners, at = [], np.zeros(3, bool)
        for axis in (None, *order):
            if axis is not None:
                at[axis] = True
            corners.append(number[tuple(cells + (at[:, None] ^ lower))])
        tets = np.stack(corners, axis=1)
        odd = sum(order[a] > order[b] for a in range(3) for b in range(a + 1, 3)) + lower.sum(axis=0)
        turned = odd % 2 == 1
        tets[turned, 1], tets[turned, 2] = tets[turned, 2], tets[turned, 1]
        out.append(tets)
    return np.stack(out, axis=1).reshape(-1, 4)


def box_tets(size: Any, cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """A box about the origin."""
    sides, n = lengths_of("TetMesh.box: size", size, 3), counts_of("TetMesh.box: cells", cells, 3)
    x, tets = lattice(n)  # type: ignore[arg-type]
    return (x - 0.5) * sides, tets


def cylinder_tets(radius: Any, length: Any, cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """A cylinder about the origin along z; cells across its diameter and along it."""
    r, = lengths_of("TetMesh.cylinder: radius", radius, 1)
    l, = lengths_of("TetMesh.cylinder: length", length, 1)
    across, along = counts_of("TetMesh.cylinder: cells (across, along)", cells, 2)
    x, tets = lattice((across, across, along))
    u, v, w = (2.0 * x - 1.0).T
    disc = u * np.sqrt(1.0 - 0.5 * v**2), v * np.sqrt(1.0 - 0.5 * u**2)
    return np.stack([r * disc[0], r * disc[1], 0.5 * l * w], axis=1), tets


def ball_tets(radius: Any, cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """A ball about the origin; cells across its diameter."""
    r, = lengths_of("TetMesh.ball: radius", radius, 1)
    n, = counts_of("TetMesh.ball: cells", cells, 1)
    x, tets = lattice((n, n, n))
    c = 2.0 * x - 1.0
    s = c**2
    turned = [np.roll(s, -k, axis=1) for k in (1, 2)]
    return r * c * np.sqrt(1.0 - 0.5 * turned[0] - 0.5 * turned[1] + turned[0] * turned[1] / 3.0), tets
