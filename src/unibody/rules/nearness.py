"""What is near enough to be touched within a step: rigid collision with a margin that follows the speed.

A contact has to be seen before it is passed. The margin is twice the way of the fastest point of any moving body in the step, not less than
a thousandth of the smallest body (or than the Contact's reach) and not more than the largest one; or a given one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from unibody.constraints.contact import Contact
from unibody.contact.contact_rates import contact_rates
from unibody.contact.contact_rows import ContactRows
from unibody.coordinates.held import Motion, centres_in_bodies
from unibody.kernel import Floats, kernel
from unibody.model.model import Model

LEAST = 1e-3
"""Of the smallest body's radius: the least margin."""


@dataclass(frozen=True)
class Touches:
    """What is near at a state: bodies (n, 2), points (n, 3), normals from the first body to the second (n, 3), gaps (n,), ids (n,)."""

    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    ids: np.ndarray

    def some(self, which: np.ndarray) -> Touches:
        """Those of a mask."""
        return self if which.all() else Touches(*(x[which] for x in (self.bodies, self.points, self.normals, self.gaps, self.ids)))


NOTHING = Touches(np.zeros((0, 2), np.int64), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64))


class Nearness:
    """Finds what touches in a model in motion."""

    def __init__(self, model: Model, margin: float | None, least: float = 0.0):
        from unibody.collision.rigid import RigidCollision  # the shapes are prepared only where contact is asked for

        self._radii = radii(model)
        moving = self._radii[self._radii > 0.0]
        low, high = (LEAST * moving.min(), moving.max()) if moving.size else (1e-3, 1e-3)
        self._bounds = (max(low, least), max(high, least))
        self._fixed = margin
        self._collision = RigidCollision(model, self._bounds[0] if margin is None else margin)

    def find(self, X: np.ndarray, motion: Motion, h: float) -> Touches:
        """Contacts at poses X (n, 12)."""
        if self._fixed is None:
            self._collision.margin = self.margin(motion, h)
        found = self._collision.find(X)
        if not len(found):
            return NOTHING
        return Touches(found.body.copy(), found.point, found.normal.copy(), found.gap.copy(), found.id.copy())

    def rates(self, X: np.ndarray, motion: Motion, rows: ContactRows, ids: np.ndarray) -> np.ndarray:
        """(n, k) J̇ v of the contacts found last; 0 where it is not known."""
        return contact_rates(self._collision.find, X.copy(), motion, rows, ids, self._radii)[0]

    @property
    def farthest(self) -> float:
        """[m] Contacts farther apart are never found."""
        return self._bounds[1] if self._fixed is None else self._fixed

    def margin(self, motion: Motion, h: float) -> float:
        """For a step h of this motion."""
        speed = fastest(motion.velocity.reshape(-1), motion.rate.reshape(-1), self._radii, h)
        return min(max(2.0 * h * speed, self._bounds[0]), self._bounds[1])


@kernel
def fastest(velocity: Floats, rate: Floats, radii: Floats, h: float) -> float:
    """The largest speed of any point of a body in a step, or a little more."""
    most = 0.0
    for i in range(radii.size):
        turn, slide = 0.0, 0.0
        for m in range(3):
            turn += max(abs(velocity[6 * i + m]), abs(velocity[6 * i + m] + h * rate[6 * i + m])) ** 2
            slide += max(abs(velocity[6 * i + 3 + m]), abs(velocity[6 * i + 3 + m] + h * rate[6 * i + 3 + m])) ** 2
        most = max(most, sqrt(slide) + radii[i] * sqrt(turn))
    return most


def radii(model: Model) -> np.ndarray:
    """Of every body that can move: how far its shapes reach from its centre of mass; 0 of others."""
    centre, out = centres_in_bodies(model), np.zeros(model.n_bodies)
    for i, body in enumerate(model.bodies):
        if i and body.kind != "static" and body.shapes:
            corners = np.concatenate([p.triangles()[0] for p in body.shapes])
            out[i] = np.linalg.norm(corners - centre[i], axis=1).max()
    return out


def finder(model: Model, margin: float | None) -> Any:
    """A function from poses (n, 12) and their motion in a step to what touches, or None where nothing is asked to."""
    rules = [c for _, c in model.constraints if isinstance(c, Contact)]
    if not rules:
        return None
    reach = next((c.reach for c in rules if c.between is None), None)
    return Nearness(model, margin, reach or 0.0).find
