"""Convex hulls of points with few vertices.

Qhull gives all vertices of the hull. Of these a subset is chosen greedily: from a simplex of extreme points on, or, where many may be
taken, from those farthest along directions all over the sphere, the vertices that lie farthest outside the hull of those chosen are added
until nothing lies farther outside than a tolerance, or their number is reached. The hull of the subset lies within the hull of all, and the
largest distance that remains outside is known. The tolerance is at least 1e-9 of the size, so that vertices along edges and within faces,
which are corners of nothing, are left out.
"""

from __future__ import annotations

import numpy as np

from unibody.errors import ModelError

ROUND_OFF = 1e-9
"""Of the longest side: what lies nearer to a face is in it."""
DIRECTIONS = 256
"""Along which the first of many vertices are the farthest."""


def hull_of(points: np.ndarray, most: int | None = None, tolerance: float = 0.0) -> tuple[np.ndarray, np.ndarray, float]:
    """Vertices, faces (counter-clockwise from outside) and how far the points reach out of them at most [m].

    `most`: of vertices. `tolerance`: of the longest side; what reaches out less is left out.
    """
    from scipy.spatial import ConvexHull, QhullError

    size = float(np.ptp(points, axis=0).max())
    near = max(tolerance, ROUND_OFF) * size
    try:
        if len(points) < 4 or not size > 0.0:
            raise QhullError
        # about the middle and in units of the size, so that Qhull's own tolerances fit.
        middle = points.mean(axis=0)
        unit = (points - middle) / size
        corners = unit[np.sort(ConvexHull(unit).vertices)]
        chosen = _simplex(corners)
        if most is None or most > 2 * DIRECTIONS:
            chosen = list(dict.fromkeys(chosen + _extremes(corners)))
        # points far apart first, then those that reach out farthest, as long as any reaches out or more may be taken
        hull = ConvexHull(corners[chosen])
        while True:
            out = _outside(hull, corners)
            most_left = len(corners) if most is None else most - len(chosen)
            if out[0].max() <= near / size or most_left <= 0:
                break
            more = _farthest(*out, near / size, most_left, set(chosen))
            if not more:
                break
            chosen += more
            hull = ConvexHull(corners[chosen])
    except QhullError:
        raise ModelError(f"Mesh: the {len(points)} points span no volume; a convex hull needs four that lie in no plane") from None
    # faces over the vertices that are left, turned outwards
    kept = np.sort(hull.vertices)
    number = np.full(len(chosen), -1)
    number[kept] = np.arange(len(kept))
    faces = number[hull.simplices]
    vertices = corners[chosen][kept]
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("fi,fi->f", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return vertices * size + middle, faces.astype(np.int64), max(0.0, float(out[0].max())) * size


def _simplex(x: np.ndarray) -> list[int]:
    """Four points far apart: the ends of the longest axis, the farthest from their line, the farthest from the plane of the three."""
    axis = int(np.argmax(np.ptp(x, axis=0)))
    a, b = int(np.argmin(x[:, axis])), int(np.argmax(x[:, axis]))
    u = (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
    arm = x - x[a]
    c = int(np.argmax(np.linalg.norm(arm - np.outer(arm @ u, u), axis=1)))
    d = int(np.argmax(np.abs(arm @ np.cross(u, x[c] - x[a]))))
    return [a, b, c, d]


def _extremes(x: np.ndarray) -> list[int]:
    """The points farthest along directions on a spiral over the sphere."""
    k = np.arange(DIRECTIONS)
    z, turn = 1.0 - (2.0 * k + 1.0) / DIRECTIONS, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.unique(np.argmax(x @ np.stack([r * np.cos(turn), r * np.sin(turn), z]), axis=0)).tolist()


def _outside(hull: object, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each point lies outside of the hull's planes, and of which the farthest."""
    equations = hull.equations  # type: ignore[attr-defined]
    best, plane = np.full(len(x), -np.inf), np.zeros(len(x), np.int64)
    for i in range(0, len(x), 512):
        distance = x[i : i + 512] @ equations[:, :3].T + equations[:, 3]
        plane[i : i + 512] = distance.argmax(axis=1)
        best[i : i + 512] = distance.max(axis=1)
    return best, plane


def _farthest(best: np.ndarray, plane: np.ndarray, near: float, room: int, taken: set[int]) -> list[int]:
    """The farthest point over each plane, the farther half of these, and not more than there is room for."""
    seen: set[int] = set()
    out: list[int] = []
    for i in np.argsort(-best, kind="stable"):
        if best[i] <= near or len(out) == room:
            break
        if int(i) not in taken and int(plane[i]) not in seen:
            seen.add(int(plane[i]))
            out.append(int(i))
    few = max(1, min(len(out), room) // 2) if room < 64 else len(out)
    return out[:few]
