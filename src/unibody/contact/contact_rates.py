"""How fast the velocities along contacts change while all bodies keep their velocities: J̇ v, the curvature of surfaces and paths included.

The second derivative of a gap is C̈ = J a + J̇ v. What J̇ v is depends on the shapes: a ball that rolls has none, the tip of a rod that
turns has ω² l. It is the rate of n·(u_b(x) − u_a(x)) along contacts that are looked up again a little before and after, the bodies
having moved on evenly: four places, order four. Only contacts that keep their names count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unibody.contact.contact_rows import ContactRows
from unibody.coordinates.held import Motion, cross_rows
from unibody.spatial.pose import rotation_from_vector

PLACES = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))
"""Times in terms of the step, and twelve times the weights of the first derivative."""

WAY, LONGEST = 1e-3, 1e-2
"""The step: in which the fastest point goes this part of the smallest size, and at most [s]."""


def moved_on(X: np.ndarray, motion: Motion, t: float) -> np.ndarray:
    """Poses (n, 12) after a time t in which centres and turns go on evenly."""
    out = X.copy()
    for i in np.flatnonzero(motion.velocity.any(axis=1)):
        turn = rotation_from_vector(t * motion.velocity[i, :3])
        out[i, :9] = (turn @ X[i, :9].reshape(3, 3)).ravel()
        out[i, 9:] = motion.centre[i] + t * motion.velocity[i, 3:] + turn @ (X[i, 9:] - motion.centre[i])
    return out


def contact_rates(
    find: Callable[[np.ndarray], Any], X: np.ndarray, motion: Motion, rows: ContactRows, ids: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) the rates of the rows, and (n,) which are known; `find`: contacts (body, point, normal, id) at poses; `radii` (bodies,) [m] of
    those that can move, 0 of others."""
    n, k = rows.directions.shape[:2]
    out, known = np.zeros((n, k)), np.ones(n, bool)
    twist = motion.velocity
    speed = float((np.linalg.norm(twist[:, 3:], axis=1) + radii * np.linalg.norm(twist[:, :3], axis=1)).max(initial=0.0))
    if not n or speed == 0.0 or not radii.any():
        return out, known
    step = min(WAY * float(radii[radii > 0.0].min()) / speed, LONGEST)
    for time, weight in PLACES:
        t = time * step
        found = find(moved_on(X, motion, t))
        at = {int(name): place for place, name in enumerate(found.id)}
        centre = motion.centre + t * motion.velocity[:, 3:]
        for c, name in enumerate(ids):
            place = at.get(int(name))
            if place is None:
                known[c] = False
                continue
            a, b = rows.bodies[c]
            velocity = [motion.velocity[i, 3:] + cross_rows(motion.velocity[i, :3], found.point[place] - centre[i]) for i in (a, b)]
            apart = velocity[1] - velocity[0]
            normal = found.normal[place] if int(found.body[place, 0]) == a else -found.normal[place]
            along = rows.directions[c] @ apart
            along[0] = normal @ apart
            if rows.spin:
                along[-1] = normal @ (motion.velocity[b, :3] - motion.velocity[a, :3])
            out[c] += weight * along / (12.0 * step)
    out[~known] = 0.0
    return out, known
