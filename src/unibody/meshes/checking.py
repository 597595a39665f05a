"""What a mesh may be: finite vertices, cells that name them, none without size, all of one piece.

    size of a tetrahedron    V = det(x₁ − x₀, x₂ − x₀, x₃ − x₀) / 6 > ε d³        d its longest edge
    of a triangle            A = |(x₁ − x₀) × (x₂ − x₀)| / 2 > ε d²
    of an edge               d > ε times the size of the mesh
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.errors import ModelError

THICKEST = 1e15
"""[m] Radii and thicknesses up to which their powers are numbers."""
FLATTEST = 1e-10
"""ε. A cell below it has no shape that numbers could tell."""
FARTHEST = 1e9
"""[m]"""


def as_vertices(what: str, value: Any) -> np.ndarray:
    """(n, 3) finite numbers, read-only."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: vertices are not numbers; give (n, 3) in metres") from None
    if out.ndim != 2 or out.shape[1] != 3 or not len(out):
        raise ModelError(f"{what}: vertices of shape {out.shape}; give (n, 3) in metres")
    wrong = np.flatnonzero(~(np.abs(out) <= FARTHEST).all(axis=1))
    if wrong.size:
        x, y, z = out[wrong[0]]
        raise ModelError(f"{what}: vertex {wrong[0]} at ({x:g}, {y:g}, {z:g}) is nowhere; give finite numbers up to {FARTHEST:g} m")
    out.flags.writeable = False
    return out


def as_cells(what: str, word: str, value: Any, sizes: tuple[int, ...], n: int) -> np.ndarray:
    """(m, k) whole numbers of vertices, all different within a cell, read-only; every vertex is in some cell."""
    try:
        given = np.array(value)
        if given.dtype.kind not in "biuf":
            raise TypeError
        with np.errstate(invalid="ignore"):  # what is no whole number is told below
            out = given.astype(np.int64)
        exact = np.array_equal(out, given)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {word} are not whole numbers; give numbers of vertices") from None
    if out.ndim != 2 or out.shape[1] not in sizes or not len(out) or not exact:
        raise ModelError(f"{what}: {word} of shape {out.shape}; give (m, {' or '.join(map(str, sizes))}) whole numbers of vertices")
    wrong = np.flatnonzero((out < 0).any(axis=1) | (out >= n).any(axis=1))
    if wrong.size:
        raise ModelError(f"{what}: {word}[{wrong[0]}] {out[wrong[0]].tolist()} names a vertex that is not there; there are 0 … {n - 1}")
    ordered = np.sort(out, axis=1)
    wrong = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if wrong.size:
        raise ModelError(f"{what}: {word}[{wrong[0]}] {out[wrong[0]].tolist()} names a vertex twice; leave it out")
    same = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    if (same[2] > 1).any():
        first = int(same[1][np.argmax(same[2] > 1)])
        raise ModelError(f"{what}: {word}[{first}] {out[first].tolist()} stands there twice; leave one out")
    loose = np.setdiff1d(np.arange(n), out)
    if loose.size:
        raise ModelError(f"{what}: vertex {loose[0]} is in none of the {word} ({loose.size} such); leave it out")
    out.flags.writeable = False
    return out


def check_one_piece(what: str, word: str, sides: np.ndarray, n: int) -> None:
    """Refuse cells of which some hang together with no others; `sides` (m, k): of each cell the numbers of its sides, of n in all."""
    label = together(sides, n)
    if label.max() > 0:
        sizes = np.bincount(label)
        first = int(np.argmax(label != np.argmax(sizes)))
        remedy = "join them, or make each a deformable of its own"
        raise ModelError(f"{what}: {len(sizes)} pieces that do not hang together, {word}[{first}] is in one of the smaller; {remedy}")


def together(sides: np.ndarray, n: int) -> np.ndarray:
    """For every cell the number of its piece: cells that share a side are of one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    m, k = sides.shape
    graph = coo_array((np.ones(m * k), (np.repeat(np.arange(m), k), m + sides.ravel())), shape=(m + n, m + n))
    return connected_components(graph, directed=False)[1][:m]


def longest_edges(X: np.ndarray) -> np.ndarray:
    """Of cells with corners X (m, k, 3)."""
    k = X.shape[1]
    return np.max([np.linalg.norm(X[:, i] - X[:, j], axis=1) for i in range(k) for j in range(i)], axis=0)


def tet_volumes(vertices: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """(m,) V [m³], by their four corners; negative where turned inside out."""
    X = vertices[tets[:, :4]]
    a, b, c = (X[:, k] - X[:, 0] for k in (1, 2, 3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0


def triangle_areas(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(m,) A [m²]."""
    X = vertices[faces]
    return 0.5 * np.linalg.norm(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), axis=1)


def sides_of(cells: np.ndarray, pattern: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """The sides of cells by their corners, cell by cell: faces of tetrahedra, edges of triangles."""
    return cells[:, np.array(pattern)].reshape(-1, len(pattern[0]))


def counted_sides(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each side the number of the side it is, whatever the order of its corners, and how often each of these occurs."""
    _, inverse, counts = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    return inverse.ravel(), counts
