"""Meshes made fit for export: equal points made one, faces without area left out, a normal at each corner."""

from __future__ import annotations

import numpy as np

from unibody.view.render_mesh import with_normals


def smooth(vertices: np.ndarray, faces: np.ndarray, flat: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3), unit normals (V, 3) and faces (F, 3) of a mesh: round where it is round, broken at edges."""
    return with_normals(*cleaned(vertices, faces), flat=flat)


def cleaned(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh with equal points merged and without faces that have no area (one stays if none has).

    >>> cleaned(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1.0, 0, 0]]), np.array([[0, 1, 2], [1, 3, 2]]))[1].tolist()
    [[0, 2, 1]]
    """
    points, merged = np.unique(vertices, axis=0, return_inverse=True)
    faces = merged.ravel()[faces]
    corners = points[faces]
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    keep = doubled > 1e-14 * float(np.ptp(points, axis=0).max()) ** 2
    return points, faces[keep] if keep.any() else faces[:1]


def closed(faces: np.ndarray) -> bool:
    """Whether each edge is passed once in either direction: the surface has an inside."""
    edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]])
    there, back = np.unique(edges, axis=0), np.unique(edges[:, ::-1], axis=0)
    return len(there) == len(edges) and np.array_equal(there, back)
