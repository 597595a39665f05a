"""A cage: the cells of a lattice of cubes that a surface touches or bounds, as tetrahedra. Coarse, and as sound as the lattice whatever the
surface is like: holes, slivers and crossings in it do no harm.

A cell is touched if no axis separates it from a triangle of the surface: three of the cube, one of the triangle, nine cross products of
edges (Akenine-Möller). What cannot be reached from outside without passing a touched cell is within.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.lattice import counts_of, few_enough, kuhn

CHUNK = 4096
MARGIN = 1e-3
"""Of a cell, by which the lattice reaches beyond the surface."""


def cage_tets(surface: Any, cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and tetrahedra; `cells` along the longest side of the surface."""
    n, = counts_of("TetMesh.cage: cells", cells, 1)
    x, faces = triangles_of(surface, "TetMesh.cage")
    low, high = x[np.unique(faces)].min(axis=0), x[np.unique(faces)].max(axis=0)
    few_enough(f"TetMesh.cage: cells {n}", 6.0 * float(n))
    h = float((high - low).max()) / n * (1.0 + 2.0 * MARGIN)
    counts = np.maximum(1, np.ceil((high - low) / h - 1e-9)).astype(int)
    few_enough(f"TetMesh.cage: cells {n}", 6.0 * float(np.prod(counts.astype(float))))
    origin = 0.5 * (low + high) - 0.5 * h * counts
    kept = _without_hinges(_filled(_touched((x[faces] - origin) / h, counts)))
    number = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    tets = kuhn(number, kept, mirrored=False)
    used = np.unique(tets)
    places = np.stack(np.unravel_index(used, counts + 1), axis=1)
    return origin + h * places, np.searchsorted(used, tets)


def triangles_of(surface: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Those of a TriMesh or a Mesh, or of any other shape."""
    if hasattr(surface, "vertices") and hasattr(surface, "faces"):
        return np.asarray(surface.vertices), np.asarray(surface.faces)
    if callable(getattr(surface, "triangles", None)):
        x, faces = surface.triangles()
        return np.asarray(x), np.asarray(faces)
    raise ModelError(f"{what}: {type(surface).__name__} is no surface; give a TriMesh, a Mesh or another shape")


def _touched(T: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which unit cells triangles T (m, 3, 3) touch."""
    out = np.zeros(counts, bool)
    low = np.clip(np.floor(T.min(axis=1) - 1e-9).astype(int), 0, counts - 1)
    high = np.clip(np.floor(T.max(axis=1) + 1e-9).astype(int), 0, counts - 1)
    spans = high - low + 1
    owner = np.repeat(np.arange(len(T)), spans.prod(axis=1))
    within = np.concatenate([np.arange(k) for k in spans.prod(axis=1)])
    s = spans[owner]
    cell = low[owner] + np.stack([within // (s[:, 1] * s[:, 2]), within // s[:, 2] % s[:, 1], within % s[:, 2]], axis=1)
    for begin in range(0, len(owner), CHUNK):
        part = slice(begin, begin + CHUNK)
        hit = _overlap(T[owner[part]] - (cell[part] + 0.5)[:, None])
        out[tuple(cell[part][hit].T)] = True
    return out


def _overlap(T: np.ndarray) -> np.ndarray:
    """Which triangles T (n, 3, 3) meet the cube [−½, ½]³: no axis separates them."""
    edges = np.roll(T, -1, axis=1) - T
    axes = [np.broadcast_to(e, (len(T), 3)) for e in np.eye(3)] + [np.cross(edges[:, 0], edges[:, 1])]
    axes += [np.cross(e, edges[:, k]) for e in np.eye(3) for k in range(3)]
    hit = np.ones(len(T), bool)
    for axis in axes:
        at = np.einsum("nki,ni->nk", T, axis)
        reach = 0.5 * np.abs(axis).sum(axis=1) + 1e-12
        hit &= (at.min(axis=1) <= reach) & (at.max(axis=1) >= -reach)
    return hit


def _filled(touched: np.ndarray) -> np.ndarray:
    """With what lies within."""
    from scipy.ndimage import binary_fill_holes

    return binary_fill_holes(touched)


def _without_hinges(kept: np.ndarray) -> np.ndarray:
    """With further cells where two would hang together by an edge or a corner only."""
    kept = np.pad(kept, 1)
    while True:
        added = False
        for a, b in ((0, 1), (0, 2), (1, 2)):
            k = np.moveaxis(kept, (a, b), (0, 1))
            p, q, r, t = k[:-1, :-1], k[1:, 1:], k[1:, :-1], k[:-1, 1:]
            one, other = p & q & ~r & ~t, r & t & ~p & ~q
            added |= bool(one.any() or other.any())
            r |= one
            p |= other
        for flip in ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)):
            k = kept[:: flip[0], :: flip[1], :: flip[2]]
            halves = (slice(None, -1), slice(1, None))
            block = np.stack([k[i, j, l] for i in halves for j in halves for l in halves])
            alone = block[0] & block[7] & (block.sum(axis=0) == 2)
            added |= bool(alone.any())
            k[1:, :-1, :-1] |= alone
            k[1:, 1:, :-1] |= alone
        if not added:
            return kept[1:-1, 1:-1, 1:-1]
