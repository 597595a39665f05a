"""How fast the velocities along contacts change while all bodies keep their velocities: J̇ v, the curvature of surfaces and paths included.

The second derivative of a gap is C̈ = J a + J̇ v. What J̇ v is depends on the shapes: a ball that rolls has none, the tip of a rod that
turns has ω² l. It is the rate of n·(u_b(x) − u_a(x)) along contacts that are looked up again a little before and after, the bodies
having moved on evenly: four places, order four. Only contacts that keep their names count. One that two faces share may be found by the one
before and by the other after, its normal jumping by the tilt between them; then the face by which it is found now is followed alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.spatial.pose import rotation_from_vector
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.contact_rows import ContactRows

PLACES = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))
"""Times in terms of the step, and twelve times the weights of the first derivative."""

WAY, LONGEST = 1e-3, 1e-2
"""The step: in which the fastest point goes this part of the smallest size, and at most [s]."""

NEXT = (1, 2)
"""The places on both sides of now."""

ROUGH, NOISE = 0.05, 1e-7
"""What the fourth difference of a smooth path stays below: this part of its change, and of the speed."""


def moved_on(X: np.ndarray, motion: BodyMotion, t: float) -> np.ndarray:
    """Poses (n, 12) after a time t in which centres and turns go on evenly."""
    out = X.copy()
    for i in np.flatnonzero(motion.velocity.any(axis=1)):
        turn = rotation_from_vector(t * motion.velocity[i, :3])
        out[i, :9] = (turn @ X[i, :9].reshape(3, 3)).ravel()
        out[i, 9:] = motion.centre[i] + t * motion.velocity[i, 3:] + turn @ (X[i, 9:] - motion.centre[i])
    return out


def contact_rates(
    find: Callable[[np.ndarray], Any], X: np.ndarray, motion: BodyMotion, rows: ContactRows, ids: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) the rates of the rows, and (n,) which are known; `find`: contacts (body, point, normal, id) at poses; `radii` (bodies,) [m] of
    those that can move, 0 of others."""
    n, k = rows.directions.shape[:2]
    twist = motion.velocity
    speed = float((np.linalg.norm(twist[:, 3:], axis=1) + radii * np.linalg.norm(twist[:, :3], axis=1)).max(initial=0.0))
    if not n or speed == 0.0 or not radii.any():
        return np.zeros((n, k)), np.ones(n, bool)
    step = min(WAY * float(radii[radii > 0.0].min()) / speed, LONGEST)
    seen = [looked_up(find, X, motion, rows, ids, time * step) for time, _ in PLACES]
    there = np.all([s.there for s in seen], axis=0)
    along = np.array([velocities_at(s, motion, rows, s.normals) for s in seen])
    now = rows.velocities(motion, 0.0)
    known = there & smooth(along, now, speed)
    for c in np.flatnonzero(there & ~known):
        known[c] = follow_one_face(c, seen, motion, rows, now, speed, along)
    out = np.einsum("p,pck->ck", [weight / (12.0 * step) for _, weight in PLACES], along)
    out[~known] = 0.0
    return out, known


@dataclass(frozen=True)
class SeenContacts:
    """What contacts have become after a time: which are there, points (n, 3), normals from a to b (n, 3)."""

    time: float
    there: np.ndarray
    points: np.ndarray
    normals: np.ndarray


def looked_up(
    find: Callable[[np.ndarray], Any], X: np.ndarray, motion: BodyMotion, rows: ContactRows, ids: np.ndarray, t: float
) -> SeenContacts:
    """The contacts `ids` after a time t."""
    found = find(moved_on(X, motion, t))
    at = {int(name): place for place, name in enumerate(found.id)}
    places = np.array([at.get(int(name), -1) for name in ids])
    there = places >= 0
    points, normals = rows.points.copy(), rows.directions[:, 0].copy()
    points[there] = found.point[places[there]]
    same = found.body[places[there], 0] == rows.bodies[there, 0]
    normals[there] = np.where(same[:, None], 1.0, -1.0) * found.normal[places[there]]
    return SeenContacts(t, there, points, normals)


def velocities_at(seen: SeenContacts, motion: BodyMotion, rows: ContactRows, normals: np.ndarray) -> np.ndarray:
    """(n, k) of the rows after a time, along these normals."""
    centre = motion.centre + seen.time * motion.velocity[:, 3:]
    a, b = (
        motion.velocity[i, 3:] + np.cross(motion.velocity[i, :3], seen.points - centre[i]) for i in (rows.bodies[:, 0], rows.bodies[:, 1])
    )
    out = np.einsum("ckm,cm->ck", rows.directions, b - a)
    out[:, 0] = np.einsum("cm,cm->c", normals, b - a)
    if rows.spin:
        turn = motion.velocity[rows.bodies[:, 1], :3] - motion.velocity[rows.bodies[:, 0], :3]
        out[:, -1] = np.einsum("cm,cm->c", normals, turn)
    return out


def smooth(along: np.ndarray, now: np.ndarray, speed: float) -> np.ndarray:
    """(n,) whether four places (4, n, k) and the present (n, k) lie on one smooth path, by their fourth difference."""
    fourth = np.abs(along[0] - 4.0 * along[1] + 6.0 * now - 4.0 * along[2] + along[3])
    return (fourth <= ROUGH * np.abs(along - now).max(axis=0) + NOISE * speed).all(axis=1)


def follow_one_face(
    c: int, seen: list[SeenContacts], motion: BodyMotion, rows: ContactRows, now: np.ndarray, speed: float, along_out: np.ndarray
) -> bool:
    """Where a contact changes over from one body's face to the other's: its velocities along the normal of the face that has it now, by
    which it was found next to now. Gives whether there is such a face."""
    normal = rows.directions[c, 0]
    for body in rows.bodies[c]:
        turned = [rotation_from_vector(s.time * motion.velocity[body, :3]) @ normal for s in seen]
        if min(np.linalg.norm(turned[p] - seen[p].normals[c]) for p in NEXT) > NOISE:
            continue
        one = ContactRows(rows.bodies[c : c + 1], rows.points[c : c + 1], rows.directions[c : c + 1], rows.spin)
        values = np.array([
            velocities_at(SeenContacts(s.time, s.there[c : c + 1], s.points[c : c + 1], s.normals[c : c + 1]), motion, one, n[None])
            for s, n in zip(seen, turned, strict=True)
        ])  # fmt: skip
        if smooth(values, now[c : c + 1], speed)[0]:
            along_out[:, c] = values[:, 0]
            return True
    return False
