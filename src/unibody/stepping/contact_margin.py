"""What is near enough to be touched within a step: rigid collision with a margin that follows the speed.

A contact has to be seen before it is passed. The margin is twice the way of the fastest point of any moving body in the step, not less than
a thousandth of the smallest body (or than the Contact's reach) and not more than the largest one; or a given one.

What no contact can undo is refused: surfaces that cross deeply at the beginning of a step (`mesh_crossing`), and, where a body goes farther
in a step than contacts are seen ahead, or than a mesh is thick, bodies that have gone through each other at its end (`passage`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from unibody.collision.rigid.kinds import TRIANGLES
from unibody.collision.rigid.passage import Passages
from unibody.constraints.contact import Contact
from unibody.coordinates.convert import poses_and_twists
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.model.state import State
from unibody.stepping.body_motion import BodyMotion, centres_in_bodies
from unibody.stepping.contact_rates import contact_rates
from unibody.stepping.contact_rows import ContactRows
from unibody.stepping.midpoint_rows import STILL, fill_turning

LEAST = 1e-3
"""Of the smallest body's radius: the least margin."""


@dataclass
class Touches:
    """What is near at a state: bodies (n, 2), points (n, 3), normals from the first body to the second (n, 3), gaps (n,), ids (n,)."""

    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    ids: np.ndarray

    def some(self, which: np.ndarray) -> Touches:
        """The contacts that a mask picks."""
        return self if which.all() else Touches(*(x[which] for x in (self.bodies, self.points, self.normals, self.gaps, self.ids)))


NOTHING = Touches(np.zeros((0, 2), np.int64), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64))


class ContactMargin:
    """Finds what touches in a model in motion."""

    def __init__(self, model: Model, margin: float | None, least: float = 0.0):
        from unibody.collision.rigid import RigidCollision  # the shapes are prepared only where contact is asked for

        self._model, self._radii = model, radii(model)
        moving = self._radii[self._radii > 0.0]
        low, high = (LEAST * moving.min(), moving.max()) if moving.size else (1e-3, 1e-3)
        self._bounds = (max(low, least), max(high, least))
        self.smallest = float(moving.min()) if moving.size else 1.0
        """The radius of the smallest body that moves [m]."""
        self.fixed = margin
        self._fast = np.full(3, -1)
        self.speed_warning = ""
        """What a report should say where bodies went farther, or turned more, in the last step than contact can follow."""
        self.collision = RigidCollision(model, self._bounds[0] if margin is None else margin)
        self._passages: Passages | None = None
        self._before: np.ndarray | None = None
        """Poses at the beginning of a step in which something is that fast."""
        self.thin = self._thinnest()

    def _thinnest(self) -> float:
        """How thick the thinnest body is in a pair with a triangle mesh; infinite where no two such bodies may meet."""
        table = self.collision.table
        if not (table.kind == TRIANGLES).any():
            return np.inf
        thick = 2.0 * table.hull.reshape(-1, 6)[:, 3:].min(axis=1)
        return float(thick[thick > 0.0].min(initial=np.inf))

    def find(self, X: np.ndarray, motion: BodyMotion, h: float, moving: np.ndarray) -> Touches:
        """Contacts at poses X (n, 12) that some body takes part in which is `moving` (n,)."""
        way = pace(motion.velocity.ravel(), motion.rate.ravel(), self._radii, h, self.farthest, self._fast)
        self.speed_warning = self._told(motion, h) if self._fast[0] >= 0 or self._fast[1] >= 0 else ""
        self._before = X.copy() if way > self.thin or self._fast[0] >= 0 else None
        if self.fixed is None:
            self.collision.margin = min(max(2.0 * way, self._bounds[0]), self._bounds[1])
        bodies, points, normals, gaps, ids = self.collision.touches(X, moving)
        return Touches(bodies.reshape(-1, 2), points.reshape(-1, 3), normals.reshape(-1, 3), gaps, ids) if gaps.size else NOTHING

    def crossing(self) -> tuple[str, str] | None:
        """Where a step begins with surfaces that cross in a way that no contact undoes: the body to blame, and why the step fails."""
        pair = self.collision.crossed
        if pair is None:
            return None
        one, other = (self._model.bodies[i].name for i in pair)
        return one, f"surfaces of '{one}' and '{other}' cross so far that no contact parts them; move them apart, or give a smaller dt"

    def passage(self, end: State) -> tuple[str, str] | None:
        """The same at the end of a step within which bodies went through each other; looked at only where something was fast."""
        if self._before is None:
            return None
        if self._passages is None:
            self._passages = Passages(self._model, self.collision.rights)
        after = np.array([np.concatenate([np.ravel(X.R), X.p]) for X in poses_and_twists(self._model, end)[0]])
        pair, self._before = self._passages.passed(self._before, after), None
        if pair is None:
            return None
        one, other = (self._model.bodies[i].name for i in pair)
        return one, f"'{one}' and '{other}' go through each other within it; give a smaller dt"

    def rates(self, X: np.ndarray, motion: BodyMotion, rows: ContactRows, ids: np.ndarray) -> np.ndarray:
        """(n, k) J̇ v of the contacts found last; 0 where it is not known."""
        return contact_rates(self.collision.find, X.copy(), motion, rows, ids, self._radii)[0]

    def turning(
        self, X: np.ndarray, motion: BodyMotion, rows: ContactRows, touches: Touches, h: float, roles: np.ndarray
    ) -> np.ndarray | None:
        """(n, k) what the middle of a step h adds to the velocities of contacts; None for nothing. `roles` of bodies."""
        if self._fast[2] < 0:
            return None
        out, table = np.empty(rows.directions.shape[:2]), self.collision.table
        gaps = touches.gaps + self.collision.offsets(touches.ids)  # between the surfaces themselves
        acts = fill_turning(
            rows.width, int(rows.spin), table.count, h, touches.ids, touches.bodies.ravel(), touches.points.ravel(),
            rows.directions.ravel(), gaps, X.ravel(), motion.centre.ravel(), motion.velocity.ravel(), roles,
            table.kind, table.pose, table.size, out.ravel(),
        )  # fmt: skip
        return out if acts else None

    @property
    def reach(self) -> tuple[np.ndarray, float]:
        """How far bodies (n,) reach from their centres of mass, and the least margin [m]."""
        return self._radii, self._bounds[0] if self.fixed is None else self.fixed

    @property
    def farthest(self) -> float:
        """[m] Contacts farther apart are never found."""
        return self._bounds[1] if self.fixed is None else self.fixed

    def _told(self, motion: BodyMotion, h: float) -> str:
        """What a report should say of the bodies that are too fast."""
        velocity, farthest, (far, fast, _) = motion.velocity, self.farthest, self._fast
        if far >= 0:
            way = h * np.abs(velocity[far, 3:]).max()
            name = self._model.bodies[far].name
            return f"'{name}' goes {way:.3g} m in a step, but contacts are seen {farthest:.3g} m ahead: it may pass through others"
        turn = h * np.abs(velocity[fast, :3]).max()
        return f"'{self._model.bodies[fast].name}' turns by {turn:.3g} rad in a step, which no step follows; give a smaller dt"


@kernel
def pace(velocity: Floats, rate: Floats, radii: Floats, h: float, farthest: float, fast_out: Ints) -> float:
    """How far any point of any body comes in a step; and who goes farther in it than contacts are seen ahead, who turns by more than half
    a turn, who by so much that contacts are seen in the middle of the step; −1 for nobody."""
    turns, slides = 0.0, 0.0
    for i in range(velocity.size // 6):
        for m in range(3):
            turns, slides = max(turns, abs(velocity[6 * i + m])), max(slides, abs(velocity[6 * i + 3 + m]))
    fast_out[0] = fastest_beyond(velocity, farthest / h, 3) if slides > farthest / h else -1
    fast_out[1] = fastest_beyond(velocity, np.pi / h, 0) if turns > np.pi / h else -1
    fast_out[2] = fastest_beyond(velocity, 0.5 * STILL / h, 0) if turns > 0.5 * STILL / h else -1
    return farthest_way(velocity, rate, radii, h)


@device
def way_of(i, velocity, rate, radii, h):
    """How far any point of a body comes in a step, or a little more."""
    turn, slide = 0.0, 0.0
    for m in range(3):
        turn += max(abs(velocity[6 * i + m]), abs(velocity[6 * i + m] + h * rate[6 * i + m])) ** 2
        slide += max(abs(velocity[6 * i + 3 + m]), abs(velocity[6 * i + 3 + m] + h * rate[6 * i + 3 + m])) ** 2
    return h * (sqrt(slide) + radii[i] * sqrt(turn))


@kernel
def farthest_way(velocity: Floats, rate: Floats, radii: Floats, h: float) -> float:
    """How far any point of any body comes in a step, or a little more."""
    most = 0.0
    for i in range(radii.size):
        most = max(most, way_of(i, velocity, rate, radii, h))
    return most


@kernel
def fastest_beyond(velocity: Floats, limit: float, part: int) -> int:
    """The body whose velocity has the largest number in this part (0: turns, 3: the others), if that is above the limit; else −1."""
    most, who = limit, -1
    for i in range(velocity.size // 6):
        for m in range(part, part + 3):
            if abs(velocity[6 * i + m]) > most:
                most, who = abs(velocity[6 * i + m]), i
    return who


def radii(model: Model) -> np.ndarray:
    """Of every body that can move: how far its shapes reach from its centre of mass; 0 of others."""
    centre, out = centres_in_bodies(model), np.zeros(model.n_bodies)
    for i, body in enumerate(model.bodies):
        if i and body.kind != "static" and body.shapes:
            corners = np.concatenate([p.triangles()[0] for p in body.shapes])
            out[i] = np.linalg.norm(corners - centre[i], axis=1).max()
    return out


def contact_margin_of(model: Model, margin: float | None) -> ContactMargin | None:
    """What finds contacts in a model, or None where nothing is asked to touch."""
    rules = [c for _, c in model.constraints if isinstance(c, Contact)]
    if not rules:
        return None
    reach = next((c.reach for c in rules if c.everywhere), None)
    return ContactMargin(model, margin, reach or 0.0)
