"""What scenes of skeletons in flesh share: skins around a line, flesh that goes with the nearest bone, and a smooth start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unibody.meshes import TriMesh
    from unibody.model import Builder, DeformableHandle

Segments = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""The line of each bone at the start: name of its body to (begin, end) in the world."""


def smooth_step(s: float) -> float:
    """0 before 0, 1 after 1, and between them 3 s² − 2 s³, which begins and ends without speed."""
    s = min(1.0, max(0.0, s))
    return s * s * (3.0 - 2.0 * s)


def tube(
    along: np.ndarray, radii: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], axes: np.ndarray, around: int = 32, part: float = 1.0
) -> TriMesh:
    """A skin around a straight line, closed at its ends by a point each.

    `along` (n, 3) are the middles of its rings, `radii` takes s in 0 … 1 along them to the half axes of each ellipse, `axes` (2, 3) say
    where these point. `part` < 1 leaves out the rest of the way around, behind the first axis turned by half of it: a skin cut open.
    """
    import unibody as ub

    n, columns = len(along), around + (part < 1.0)
    phi = 2.0 * np.pi * part * (np.arange(columns) / around - 0.5)
    way = np.linalg.norm(along - along[0], axis=1)
    a, b = radii(way / way[-1])
    ring = (a[:, None] * np.cos(phi))[..., None] * axes[0] + (b[:, None] * np.sin(phi))[..., None] * axes[1]
    vertices = np.concatenate([(along[:, None] + ring).reshape(-1, 3), along[[0, -1]]])
    # quadrilaterals between neighbouring rings as two triangles each, and a fan at either end
    k = np.arange(around)
    following = (k + 1) % columns
    row = columns * np.arange(n - 1)[:, None]
    p, q, r, s = ((row + c).ravel() for c in (k, following, columns + following, columns + k))
    begin, end, last = np.full(around, n * columns), np.full(around, n * columns + 1), columns * (n - 1)
    fans = [np.stack([begin, following, k], 1), np.stack([end, last + k, last + following], 1)]
    faces = np.concatenate([np.stack([p, q, r], 1), np.stack([p, r, s], 1), *fans])
    outwards = np.dot(np.cross(axes[0], axes[1]), along[-1] - along[0]) > 0.0
    return ub.TriMesh(vertices, faces if outwards else faces[:, ::-1])


def attach_to_nearest(b: Builder, flesh: DeformableHandle, segments: Segments, reach: Mapping[str, float]) -> None:
    """Vertices of `flesh` nearer to a bone than its `reach` [m] go with the nearest bone, as attachments "<bone>.flesh"."""
    x = flesh.vertices.x
    names = list(segments)
    distance = np.stack([_distance(x, *segments[name]) for name in names], axis=1)
    nearest = distance.argmin(axis=1)
    for i, name in enumerate(names):
        mine = np.flatnonzero((nearest == i) & (distance[:, i] < reach[name]))
        if len(mine):
            b.attach(flesh.vertices[mine], b.bodies[name], name=f"{name}.flesh")


def _distance(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) of points from a segment."""
    along = b - a
    s = np.clip((x - a) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    return np.asarray(np.linalg.norm(x - a - s[:, None] * along, axis=1))
