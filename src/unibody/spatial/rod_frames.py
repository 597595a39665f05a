"""Material frames of rods: a director at every edge, a point at the distance of the radius from its middle, across it.

Along a rod, directions go from edge to edge by parallel transport, the least turn that takes one edge's direction t into the next one's t′:

    P u = u − (t + t′) (u · t′)/(1 + t · t′)    for u across t

The twist at a point between two edges is the angle about t′ from P u to the next edge's u′. A rod whose directors are transported has none,
however it is bent; a closed one keeps, at its last point, the angle by which transport around it turns directions.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unibody.errors import ModelError

TURN = 2.0 * np.pi


def tangents(points: np.ndarray, closed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(…, k, 3) directions of edges, their lengths (…, k) and middles."""
    following = np.roll(points, -1, axis=-2)
    e, middle = following - points, 0.5 * (following + points)
    if not closed:
        e, middle = e[..., :-1, :], middle[..., :-1, :]
    length = np.linalg.norm(e, axis=-1)
    return e / length[..., None], length, middle


def transported(u: np.ndarray, t: np.ndarray, after: np.ndarray) -> np.ndarray:
    """P u (…, 3)."""
    along = (u * after).sum(axis=-1) / (1.0 + (t * after).sum(axis=-1))
    return u - (t + after) * along[..., None]


def directions(points: np.ndarray, closed: bool) -> np.ndarray:
    """(k, 3) unit directions across the edges, transported from some one at the first."""
    t, _, _ = tangents(points, closed)
    u = np.eye(3)[int(np.argmin(np.abs(t[0])))]
    u = u - (u @ t[0]) * t[0]
    out = [u / np.linalg.norm(u)]
    for a, b in pairwise(t):
        u = transported(out[-1], a, b)
        u = u - (u @ b) * b
        out.append(u / np.linalg.norm(u))
    return np.array(out)


def directors(points: np.ndarray, closed: bool, radius: float, twist: float = 0.0) -> np.ndarray:
    """(k, 3) places of directors, turned about the rod by `twist` [rad] from its first edge to its last, evenly over its length; of a
    closed rod once around, which takes whole turns."""
    t, length, middle = tangents(points, closed)
    u = directions(points, closed)
    way = np.concatenate([[0.0], np.cumsum(0.5 * (length[1:] + length[:-1]))])
    whole = length.sum() if closed else way[-1]
    if closed and abs(twist / TURN - round(twist / TURN)) > 1e-9:
        raise ModelError(f"RodMesh: a closed rod closes after whole turns only, not after a twist of {twist:g}; give a multiple of 2 π")
    angle = (twist * way / whole if whole > 0.0 else 0.0 * way)[:, None]
    return middle + radius * (np.cos(angle) * u + np.sin(angle) * np.cross(t, u))


def frames(points: np.ndarray, ends: np.ndarray, closed: bool) -> np.ndarray:
    """(…, k, 3, 3) of edges whose directors are at `ends`: columns t, u across it, and t × u."""
    t, _, middle = tangents(points, closed)
    u = ends - middle
    u = u - (u * t).sum(axis=-1)[..., None] * t
    u = u / np.linalg.norm(u, axis=-1)[..., None]
    return np.stack([t, u, np.cross(t, u)], axis=-1)


def twists(points: np.ndarray, ends: np.ndarray, closed: bool) -> np.ndarray:
    """(…, m) [rad] between −π and π at the points between two edges: of a closed rod all, the first one last."""
    F = frames(points, ends, closed)
    if closed:
        F = np.concatenate([F, F[..., :1, :, :]], axis=-3)
    t, u = F[..., :-1, :, 0], F[..., :-1, :, 1]
    after, next_u = F[..., 1:, :, 0], F[..., 1:, :, 1]
    here = transported(u, t, after)
    return np.arctan2((after * np.cross(here, next_u)).sum(axis=-1), (here * next_u).sum(axis=-1))
