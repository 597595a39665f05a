"""Whether a body went through another within one step: points of surfaces swept from pose to pose.

Contacts are sought at the beginning of a step and as far ahead as a body is wide. What goes farther, or past something thinner than its
way, may come out on the other side without ever having been near it. So for pairs that are that fast the vertices of each are followed
through the frame of the other,

    y(s) = X_b(s)⁻¹ X_a(s) x,       s = 0 … 1, turning about a fixed axis, in STRAIGHT pieces,

and a vertex has gone through if the way that it flew inside the other's surface is as long as the thinner of the two is thick, or a GRAZE
of that if it came out again. What contact leaves of an overlap is shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.collision.rigid.mesh_crossing import pierced
from unibody.collision.rigid.table import solids
from unibody.collision.shape_rights import ShapeRights
from unibody.kernel import Floats, kernel
from unibody.model import Model
from unibody.shapes import HeightField, OpenMesh, Plane
from unibody.spatial.devices import load3, norm3, sub3

STRAIGHT = 8
"""Pieces of a way."""
THROUGH, GRAZE = 0.9, 0.2
"""Of the thickness: the way inside from which a body that stays there has gone through, and one that came out again."""
OPEN = 0.1
"""Of its reach: the thickness that a body without inside counts as having."""


@kernel
def way_inside(pieces: int, ways: Floats, triangles: Floats, closed: bool, enough: float, graze: float) -> int:
    """The first of the points whose way, `pieces` + 1 places each, lies inside the triangles for `enough`, or comes out of them after
    `graze`; −1 if none does. A surface that is not closed has its inside behind the first crossing."""
    points = ways.size // (3 * (pieces + 1))
    for v in range(points):
        base = 3 * (pieces + 1) * v
        inside, flown = False, 0.0
        for k in range(pieces):
            p, q = load3(ways, base + 3 * k), load3(ways, base + 3 * k + 3)
            length = norm3(sub3(q, p))
            # crossings of this piece in their order: the next one behind the last
            at = 0.0
            while True:
                nearest = 2.0
                for f in range(triangles.size // 9):
                    a, b, c = load3(triangles, 9 * f), load3(triangles, 9 * f + 3), load3(triangles, 9 * f + 6)
                    apart = False
                    for m in range(3):
                        apart = apart or min(a[m], min(b[m], c[m])) > max(p[m], q[m]) or max(a[m], max(b[m], c[m])) < min(p[m], q[m])
                    if not apart:
                        t = pierced(p, q, a, b, c)
                        if t > at:
                            nearest = min(nearest, t)
                if nearest > 1.0:
                    break
                if inside and closed:
                    flown += (nearest - at) * length
                    if flown >= graze:
                        return v
                    inside, flown = False, 0.0
                elif inside:
                    flown += (nearest - at) * length
                else:
                    inside, flown = True, 0.0
                at = nearest
            if inside:
                flown += (1.0 - at) * length
                if flown >= enough:
                    return v
    return -1


@dataclass(frozen=True)
class Skin:
    """The solid surface of a body, or of its shapes of one class, in its own frame: triangles (n, 3, 3), their corners once each, whether
    there is an inside, how thick it is by boxes around its shapes, and how far it reaches from the origin."""

    body: int
    kind: int
    """The class of its shapes, 0 where there are none."""
    triangles: np.ndarray
    corners: np.ndarray
    closed: bool
    thick: float
    reach: float


def skins_of(model: Model, rights: ShapeRights) -> list[Skin]:
    """Of bodies with solid shapes, class by class; planes are passed by nobody."""
    out, first = [], 0
    for i, body in enumerate(model.bodies):
        shapes = list(solids(body))
        kinds = np.zeros(len(shapes), np.int64) if rights.classes is None else rights.classes.of_shape[first : first + len(shapes)]
        first += len(shapes)
        for kind in dict.fromkeys(kinds.tolist()):
            skin = skin_of([s for s, k in zip(shapes, kinds, strict=True) if k == kind and not isinstance(s[0], Plane)], i, kind)
            out += [] if skin is None else [skin]
    return out


def skin_of(shapes: list[tuple[Any, np.ndarray, np.ndarray]], body: int, kind: int) -> Skin | None:
    """Of shapes with their rotations and places; None without any."""
    found, thick, closed = [], np.inf, True
    for shape, R, p in shapes:
        x, faces = shape.triangles()
        found.append((np.asarray(x) @ np.asarray(R).T + p)[np.asarray(faces)])
        closed = closed and not isinstance(shape, OpenMesh | HeightField)
        thick = min(thick, float(np.ptp(np.asarray(x), axis=0).min()) if not isinstance(shape, OpenMesh | HeightField) else np.inf)
    if not found:
        return None
    triangles = np.concatenate(found)
    corners = np.unique(triangles.reshape(-1, 3), axis=0)
    reach = float(np.linalg.norm(corners, axis=1).max())
    return Skin(body, kind, triangles, corners, closed, thick if np.isfinite(thick) else OPEN * reach, reach)


class Passages:
    """Follows the surfaces of a model's bodies from pose to pose."""

    def __init__(self, model: Model, rights: ShapeRights):
        self._skins = skins_of(model, rights)
        may = ((a, b) for a in range(len(self._skins)) for b in range(a + 1, len(self._skins)))
        pairs = [(a, b) for a, b in may if self._meet(a, b, rights)]
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self._body = np.array([s.body for s in self._skins], np.int64)
        self._reach, self.thick = (np.array([getattr(s, what) for s in self._skins]) for what in ("reach", "thick"))

    def _meet(self, a: int, b: int, rights: ShapeRights) -> bool:
        one, other = self._skins[a], self._skins[b]
        return rights.shapes(one.body, other.body, one.kind, other.kind)

    def passed(self, before: np.ndarray, after: np.ndarray) -> tuple[int, int] | None:
        """Two bodies of which one went through the other between the poses (bodies, 12), or None."""
        for a, b in self._pairs[self._near(before, after)].tolist():
            for one, other in ((a, b), (b, a)):
                if self._through(self._skins[one], self._skins[other], before, after):
                    i, j = self._body[[a, b]].tolist()
                    return min(i, j), max(i, j)
        return None

    def _near(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Pairs whose ways meet and are as long as the thinner is thick."""
        reach, before, after = self._reach, before[self._body], after[self._body]
        turn = np.abs(after[:, :9] - before[:, :9]).max(axis=1)
        way = np.linalg.norm(after[:, 9:] - before[:, 9:], axis=1) + 3.0 * reach * turn
        middle, wide = 0.5 * (before[:, 9:] + after[:, 9:]), reach + 0.5 * way
        a, b = self._pairs.T
        fast = way[a] + way[b] > np.minimum(self.thick[a], self.thick[b])
        return fast & (np.linalg.norm(middle[a] - middle[b], axis=1) <= wide[a] + wide[b])

    def _through(self, skin: Skin, into: Skin, before: np.ndarray, after: np.ndarray) -> bool:
        """Whether a vertex of one went through the other's surface."""
        places = []
        for s in np.linspace(0.0, 1.0, STRAIGHT + 1):
            (R, p), (S, q) = (between(before[i], after[i], s) for i in (skin.body, into.body))
            places.append((skin.corners @ R.T + p - q) @ S)
        ways = np.ascontiguousarray(np.stack(places, axis=1))
        low, high = ways.min(axis=(0, 1)), ways.max(axis=(0, 1))
        corners = into.triangles
        meets = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
        if not meets.any():
            return False
        thick = min(skin.thick, into.thick) if into.closed else skin.thick
        return way_inside(STRAIGHT, ways.ravel(), corners[meets].ravel(), into.closed, THROUGH * thick, GRAZE * thick) >= 0


def between(before: np.ndarray, after: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """R and p at the part s of the way between two poses (12,), turning about a fixed axis."""
    from unibody.spatial.pose import Pose

    R, S = before[:9].reshape(3, 3), after[:9].reshape(3, 3)
    angle, axis = angle_and_axis(R.T @ S)
    turned = R @ np.asarray(Pose.about(axis, s * angle).R) if angle > 0.0 else R
    return turned, before[9:] + s * (after[9:] - before[9:])


def angle_and_axis(R: np.ndarray) -> tuple[float, np.ndarray]:
    """Of a rotation, the angle up to π."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(w)), 0.5 * (float(np.trace(R)) - 1.0)
    angle = float(np.arctan2(sine, cosine))
    if sine > 1e-8:
        return angle, w / sine
    if cosine > 0.0:
        return 0.0, np.array([0.0, 0.0, 1.0])
    axis = np.sqrt(np.maximum(0.5 * (np.diag(R) + 1.0), 0.0))  # half a turn: the sign of the axis does not matter
    k = int(np.argmax(axis))
    return angle, np.array([axis[k] if m == k else 0.5 * (R[k, m] + R[m, k]) / (2.0 * axis[k]) for m in range(3)])
