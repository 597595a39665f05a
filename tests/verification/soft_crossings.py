"""Do cloth, rods and solids of a recording intersect each other, bodies or themselves, in every state: exact, and shares nothing with the
solver.

Faces against edges by the exact test of `crossings`, on pairs that are near by a k-d tree of their middles. Lines with a radius (rods,
wires) are edges without faces: they cross a face when their middle line does, and each other when that is nearer than both radii, up to
round-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

import unibody as ub
from verification.crossings import Skin, overlap_in_plane, signs

ROUND_OFF = 1e-9


@dataclass
class Lines:
    """What can cross: faces and edges as indices of vertices, and a radius where there are no faces."""

    edges: np.ndarray
    faces: np.ndarray
    radius: float = 0.0


def of_body(info) -> list[tuple[Lines, np.ndarray | None]]:
    """Surfaces of a body, and for wires their points in its axes."""
    out = []
    wires = [p for p in info.shapes if isinstance(p.shape, ub.Wire)]
    if len(wires) < len(info.shapes):
        skin = Skin(info)
        out.append((Lines(skin.edges, skin.faces), None))
    for placed in wires:
        w = placed.shape
        n = len(w.points)
        pieces = np.array([(i, (i + 1) % n) for i in range(n if w.closed else n - 1)]) if w.pieces is None else np.asarray(w.pieces)
        out.append((Lines(pieces, np.zeros((0, 3), int), w.radius), w.points @ placed.X_BS.R.T + placed.X_BS.p))
    return out


def of_deformable(info) -> Lines:
    sides = np.concatenate([info.faces[:, [0, 1]], info.faces[:, [1, 2]], info.faces[:, [2, 0]], info.edges]).reshape(-1, 2)
    return Lines(np.unique(np.sort(sides, axis=1), axis=0), info.faces, info.radius if not len(info.faces) else 0.0)


def near(p: np.ndarray, q: np.ndarray, further: float = 0.0) -> np.ndarray:
    """(k, 2) Which of the simplices p (n, a, 3) and q (m, b, 3) have boxes that meet, grown by `further`."""
    if not len(p) or not len(q):
        return np.zeros((0, 2), int)
    middle = [0.5 * (s.min(axis=1) + s.max(axis=1)) for s in (p, q)]
    half = [0.5 * np.ptp(s, axis=1) for s in (p, q)]
    reach = sum(np.linalg.norm(h, axis=1).max() for h in half) + further
    lists = cKDTree(middle[1]).query_ball_point(middle[0], reach)
    i = np.repeat(np.arange(len(p)), [len(x) for x in lists])
    j = np.concatenate([np.asarray(x, int) for x in lists])
    meet = (np.abs(middle[0][i] - middle[1][j]) <= half[0][i] + half[1][j] + further).all(axis=1)
    return np.stack([i[meet], j[meet]], axis=1)


def through(x: np.ndarray, edges: np.ndarray, y: np.ndarray, faces: np.ndarray, same: bool) -> bool:
    """Whether an edge crosses a face; of one surface (`same`) with which it shares no vertex."""
    pairs = near(x[edges], y[faces])
    if same:
        pairs = pairs[~(edges[pairs[:, 0]][:, :, None] == faces[pairs[:, 1]][:, None, :]).any(axis=(1, 2))]
    if not len(pairs):
        return False
    e, f = edges[pairs[:, 0]], faces[pairs[:, 1]]
    p, q, a, b, c = x[e[:, 0]], x[e[:, 1]], y[f[:, 0]], y[f[:, 1]], y[f[:, 2]]
    one, other = signs(p, a, b, c), signs(q, a, b, c)
    if any(overlap_in_plane(*(z[k] for z in (p, q, a, b, c))) for k in np.flatnonzero((one == 0) & (other == 0))):
        return True
    cut = (one * other <= 0) & ((one != 0) | (other != 0))
    p, q, a, b, c = (z[cut] for z in (p, q, a, b, c))
    around = np.array([signs(p, q, a, b), signs(p, q, b, c), signs(p, q, c, a)]).reshape(3, -1)
    return bool(((around >= 0).all(axis=0) | (around <= 0).all(axis=0)).any())


def distance(p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) Least distances of segments p q and a b: of the four ends from the other segment, and between inner points."""

    def of_point(x, u, v):
        d = v - u
        s = np.clip(np.einsum("ni,ni->n", x - u, d) / np.einsum("ni,ni->n", d, d), 0.0, 1.0)
        return np.linalg.norm(x - u - s[:, None] * d, axis=1)

    least = np.min([of_point(p, a, b), of_point(q, a, b), of_point(a, p, q), of_point(b, p, q)], axis=0)
    u, v, w = q - p, b - a, p - a
    uu, uv, vv, uw, vw = (np.einsum("ni,ni->n", *two) for two in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    det = uu * vv - uv * uv
    det[det <= 1e-14 * uu * vv] = np.inf
    s, t = (uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det
    inner = (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0) & np.isfinite(det)
    between = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
    return np.where(inner, np.minimum(least, between), least)


def too_near(x: np.ndarray, one: Lines, y: np.ndarray, other: Lines, same: bool) -> bool:
    """Whether two lines are nearer than their radii."""
    apart = one.radius + other.radius
    pairs = near(x[one.edges], y[other.edges], apart)
    if same:
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        pairs = pairs[~(one.edges[pairs[:, 0]][:, :, None] == other.edges[pairs[:, 1]][:, None, :]).any(axis=(1, 2))]
    if not len(pairs):
        return False
    e, f = one.edges[pairs[:, 0]], other.edges[pairs[:, 1]]
    return bool((distance(x[e[:, 0]], x[e[:, 1]], y[f[:, 0]], y[f[:, 1]]) < apart - ROUND_OFF).any())


def tied(model: ub.Model) -> set[frozenset[str]]:
    """Pairs of which one is attached to the other, or that a joint connects: these touch by design."""
    owner = [d.name for d in model.deformables for _ in range(d.n)]
    out = {frozenset((model.bodies[j.parent].name, model.bodies[j.child].name)) for j in model.joints}
    for a in model.attachments:
        others = {model.bodies[a.body].name} if a.body >= 0 else {owner[k] for k in a.support[a.support >= 0]}
        out |= {frozenset((owner[k], other)) for k in a.vertices for other in others}
    return out


def crossings(rec: ub.Recording, itself: tuple[str, ...] = (), among_bodies: bool = False) -> list[tuple[float, str, str]]:
    """Times and names of what intersects, in every recorded state; bodies against bodies only `among_bodies`."""
    model, free = rec.model, tied(rec.model)
    parts: dict[str, list[tuple[Lines, np.ndarray]]] = {}
    for info in model.bodies[1:]:
        if info.shapes and not all(isinstance(p.shape, ub.Plane) for p in info.shapes):
            R = np.array([ub.Pose(wxyz=row[3:]).R for row in rec.pose(info.name)])
            at = rec.pose(info.name)[:, None, :3]
            parts[info.name] = [
                (lines, rec.vertices(info.name) if own is None else np.einsum("tij,nj->tni", R, own) + at) for lines, own in of_body(info)
            ]
    bodies = set(parts)
    parts |= {d.name: [(of_deformable(d), rec.vertices(d.name))] for d in model.deformables}
    names, found = list(parts), []
    for k, t in enumerate(rec.t):
        box = {n: (np.min([x[k].min(axis=0) for _, x in s], axis=0), np.max([x[k].max(axis=0) for _, x in s], axis=0)) for n, s in
        parts.items()}
        for i, one in enumerate(names):
            for other in names[i:]:
                both_bodies = one in bodies and other in bodies
                if frozenset((one, other)) in free or (both_bodies and not among_bodies) or (one == other and one not in itself):
                    continue
                thick = max(s.radius for s, _ in parts[one]) + max(s.radius for s, _ in parts[other])
                if (np.maximum(box[one][0], box[other][0]) > np.minimum(box[one][1], box[other][1]) + thick).any():
                    continue
                if any(_meet(s, x[k], r, y[k], one == other) for s, x in parts[one] for r, y in parts[other]):
                    found.append((float(t), one, other))
    return found


def _meet(one: Lines, x: np.ndarray, other: Lines, y: np.ndarray, same: bool) -> bool:
    if one.radius > 0.0 and other.radius > 0.0:
        return too_near(x, one, y, other, same)
    return through(x, one.edges, y, other.faces, same) or (not same and through(y, other.edges, x, one.faces, False))
