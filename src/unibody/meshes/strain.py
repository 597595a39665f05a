"""Strains of a mesh that has moved: F = ∂x/∂X of every cell, its singular values λ, and λ − 1.

    tetrahedron   F (3 × 3) = [x₁ − x₀, x₂ − x₀, x₃ − x₀] [X₁ − X₀, …]⁻¹;   a quadratic one at its middle
    triangle      F (3 × 2), with X in the plane of the triangle, or in the flat piece it was cut from
    edge          λ = |x₁ − x₀| / |X₁ − X₀|
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.meshes.tet_mesh import slopes


def principal_strains(mesh: Any, x: np.ndarray) -> np.ndarray:
    """(…, m, k) of the vertices of a mesh at x (…, n, 3), the largest first."""
    if hasattr(mesh, "tets"):
        return np.linalg.svd(_tet_gradients(mesh, x), compute_uv=False) - 1.0
    if hasattr(mesh, "faces"):
        return np.linalg.svd(_triangle_gradients(mesh, x), compute_uv=False) - 1.0
    d = x[..., mesh.edges[:, 1], :] - x[..., mesh.edges[:, 0], :]
    return (np.linalg.norm(d, axis=-1) / mesh.lengths - 1.0)[..., None]


def _tet_gradients(mesh: Any, x: np.ndarray) -> np.ndarray:
    if mesh.order == 1:
        D, d = (np.swapaxes(p[..., mesh.tets[:, 1:], :] - p[..., mesh.tets[:, :1], :], -1, -2) for p in (mesh.vertices, x))
    else:
        dN = slopes((0.25, 0.25, 0.25, 0.25))
        D, d = (np.einsum("...kai,aj->...kij", p[..., mesh.tets, :], dN) for p in (mesh.vertices, x))
    return d @ np.linalg.inv(D)


def _triangle_gradients(mesh: Any, x: np.ndarray) -> np.ndarray:
    d = np.swapaxes(x[..., mesh.faces[:, 1:], :] - x[..., mesh.faces[:, :1], :], -1, -2)
    return d @ np.linalg.inv(flat_edges(mesh))


def flat_edges(mesh: Any) -> np.ndarray:
    """(m, 2, 2) columns: the two edges at the first vertex of every face, in its plane or in the flat piece it was cut from."""
    if mesh.flat is not None:
        return np.swapaxes(mesh.flat[mesh.faces[:, 1:]] - mesh.flat[mesh.faces[:, :1]], -1, -2)
    a, b = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[:, 0]] for k in (1, 2))
    length = np.linalg.norm(a, axis=1)
    along = np.einsum("ij,ij->i", a, b) / length
    across = np.linalg.norm(np.cross(a, b), axis=1) / length
    return np.stack([np.stack([length, along], axis=1), np.stack([np.zeros_like(length), across], axis=1)], axis=1)
