"""Points in a mesh: for each the cell it lies in and the weights of its corners, x = Σ wₖ xₖ with Σ wₖ = 1.

    tetrahedron   (w₁ w₂ w₃) = [X₁ − X₀, X₂ − X₀, X₃ − X₀]⁻¹ (x − X₀);   a point outside goes on with the nearest cell, some weights below 0
    triangle      the nearest point of the nearest triangle

Of quadratic tetrahedra the ten shape functions at these weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.meshes.tet_mesh import EDGES

NEAREST = 32
"""Cells, by their middles, among which that of a point is looked for."""


def embed(mesh: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) vertices and weights of points x (n, 3), in the axes of a TetMesh or a TriMesh."""
    if hasattr(mesh, "tets"):
        return _in_tets(mesh, x)
    return _on_triangles(mesh, x)


def _near(middles: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, k) the cells whose middles are nearest."""
    from scipy.spatial import cKDTree

    count = min(NEAREST, len(middles))
    return cKDTree(middles).query(x, count)[1].reshape(len(x), count)


def _in_tets(mesh: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = mesh.vertices[mesh.tets[:, :4]]
    inverse = np.linalg.inv(np.swapaxes(X[:, 1:] - X[:, :1], 1, 2))
    near = _near(X.mean(axis=1), x)
    w = np.einsum("nkij,nkj->nki", inverse[near], x[:, None] - X[near, 0])
    w = np.concatenate([1.0 - w.sum(axis=2, keepdims=True), w], axis=2)
    best = np.argmax(w.min(axis=2), axis=1)  # the cell in which it lies deepest
    cell, w = near[np.arange(len(x)), best], w[np.arange(len(x)), best]
    if mesh.order == 2:
        w = np.concatenate([w * (2.0 * w - 1.0), np.stack([4.0 * w[:, i] * w[:, j] for i, j in EDGES], axis=1)], axis=1)
    return mesh.tets[cell], w


def _on_triangles(mesh: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = mesh.vertices[mesh.faces]
    near = _near(X.mean(axis=1), x)
    w = np.stack([nearest_weights(X[near[:, k]], x) for k in range(near.shape[1])], axis=1)
    away = np.linalg.norm(np.einsum("nkc,nkci->nki", w, X[near]) - x[:, None], axis=2)
    best = np.argmin(away, axis=1)
    return mesh.faces[near[np.arange(len(x)), best]], w[np.arange(len(x)), best]


def nearest_weights(X: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, 3) weights of the point of triangle X (n, 3, 3) that is nearest to x (n, 3): of the foot within it, else of the nearest side."""
    a, b, d = X[:, 1] - X[:, 0], X[:, 2] - X[:, 0], x - X[:, 0]
    aa, ab, bb, ad, bd = (np.einsum("ni,ni->n", *pair) for pair in ((a, a), (a, b), (b, b), (a, d), (b, d)))
    det = aa * bb - ab * ab
    u, v = (bb * ad - ab * bd) / det, (aa * bd - ab * ad) / det
    out = np.stack([1.0 - u - v, u, v], axis=1)
    outside = out.min(axis=1) < 0.0
    if outside.any():
        best, least = out.copy(), np.full(len(x), np.inf)
        for i, j in ((0, 1), (1, 2), (2, 0)):
            side = X[:, j] - X[:, i]
            s = np.clip(np.einsum("ni,ni->n", x - X[:, i], side) / np.einsum("ni,ni->n", side, side), 0.0, 1.0)
            away = np.linalg.norm(x - X[:, i] - s[:, None] * side, axis=1)
            closer = away < least
            weights = np.zeros((len(x), 3))
            weights[:, i], weights[:, j] = 1.0 - s, s
            best[closer], least[closer] = weights[closer], away[closer]
        out[outside] = best[outside]
    return out
