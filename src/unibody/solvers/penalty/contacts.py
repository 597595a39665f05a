"""Contacts and one-sided rows as penalty forces: normals never pull, friction is Coulomb's above a slip speed.

    p = max(0, −α (g̈ + 2 Ω μ ġ + Ω² g))             of a gap g < 0, α being `ratio` times the mass that the contact feels
    f = −m p w / max(|w|, w_s)                      m Coulomb's coefficient, w the slip at the end of the step

Below the slip speed w_s friction is a damper: what Coulomb would hold still creeps at the speed w_s |f| / (m p). It is always that of the
end of the step, for explicit dampers of that strength would flutter. Both are rows with compliance, as all penalties,

    W λ + compliance λ = right side,    friction: compliance max(|w|, w_s) / (m p h)

Gaps and slips are those that the middle of the step gives (`stepping.midpoint_rows`), g⁺ = g + h ġ⁺, ġ⁺ = J v⁺ + turn, and
`algebra.contact.compliant` finds them all together, one-sided constraint rows included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact.compliant import CompliantContacts, compliant_forces
from unibody.contact.pair_laws import PairLaws
from unibody.coordinates.observation import Touching
from unibody.errors import StartRefused
from unibody.model.model import Model
from unibody.solvers.penalty.dynamics import PenaltyDynamics
from unibody.solvers.penalty.system import Gains
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.contact_margin import NOTHING, ContactMargin, Touches
from unibody.stepping.contact_rows import ContactRows, contact_rows
from unibody.stepping.midpoint_rows import GUIDED, LOOSE, STEADY, keep_to_sticking

TOUCHING = 1e-4
"""Of the larger body's reach: overlaps at the start up to this are contact."""


@dataclass
class Pushes:
    """What acts in a step: forces of one-sided rows (m,), of contacts (n, w), wrenches on bodies (bodies, 6), velocities of the contacts
    at the end (n, w), and how it was found."""

    touches: Touches
    rows: ContactRows
    one_sided: np.ndarray
    forces: np.ndarray
    wrenches: np.ndarray
    after: np.ndarray
    work: float
    iterations: int
    change: float

    def touching(self, h: float, slip_speed: float) -> Touching:
        """As a recording keeps it: forces on the second body of each pair."""
        d, f = self.rows.directions, self.forces
        return Touching(
            points=self.rows.points, bodies=self.rows.bodies[:, ::-1].copy(), normals=d[:, 0],
            gaps=self.touches.gaps + h * self.after[:, 0], normal_forces=f[:, 0], friction=np.einsum("nk,nkj->nj", f[:, 1:], d[:, 1:]),
            sliding=np.linalg.norm(self.after[:, 1:], axis=1) > slip_speed,
        )  # fmt: skip


class PenaltyContacts:
    """Finds what pushes at the state that a system looked at last."""

    def __init__(self, model: Model, system: PenaltyDynamics, near: ContactMargin | None, slip_speed: float):
        self.model, self.system, self.near, self.slip_speed = model, system, near, slip_speed
        self.laws = PairLaws(model)
        self.plane_normal = None if model.plane is None else np.asarray(model.plane[2])
        self._roles = np.array([{"dynamic": LOOSE, "kinematic": GUIDED}.get(b.kind, STEADY) for b in model.bodies])

    def touches(self, motion: BodyMotion, h: float) -> Touches:
        """Contacts within the margin that some moving body takes part in."""
        if self.near is None:
            return NOTHING
        return self.near.find(self.system.poses(), motion, h, self.system.moving.astype(np.int64))

    def refuse_start(self, gains: Gains, h: float) -> None:
        """A spring that begins compressed throws off what compresses it, so overlaps deeper than this law lets bodies sink in by their own
        weight when they are put down, 2 |n · g| m / (α Ω²), are refused by name."""
        system, motion = self.system, self.system.motion()
        touches = self.touches(motion, h)
        if self.near is None or not touches.gaps.size:
            return
        rows = self._rows(touches)
        J_own = system.pushing_rows()[0]
        m, n, w = len(J_own), *rows.directions.shape[:2]
        light = system.respond(system.pushing_islands(J_own), rows.bodies, rows.wrenches(motion)).diagonal(m + n)[m::w]
        given = system.rows.choice.alpha
        weight = np.abs(touches.normals @ np.asarray(self.model.gravity, float))
        firm = gains.omega**2 * (system.rows.choice.ratio if given is None else given * light)
        sunk = 2.0 * weight / np.maximum(firm, 1e-300)
        over = -touches.gaps - np.maximum(sunk, TOUCHING * self.near.reach[0][touches.bodies].max(axis=1))
        if over.max() > 0.0:
            k = int(np.argmax(over))
            one, other = (self.model.bodies[i].name for i in touches.bodies[k])
            raise StartRefused(
                f"bodies '{one}' and '{other}' overlap at the start by {-touches.gaps[k]:.3g} m, from where penalty forces throw them off; "
                "move them apart, add Contact(between=…, on=False), or take solver 'complementarity'"
            )

    def act(self, gains: Gains, h: float, end: bool) -> Pushes:
        """Forces over a step h, normals those of its beginning or of its `end`."""
        system, motion = self.system, self.system.motion()
        touches = self.touches(motion, h)
        before = self._rows(touches).velocities(motion, 0.0)
        touches = touches.some(touches.gaps + (h * np.minimum(before[:, 0], 0.0) if end else 0.0) < 0.0)
        rows = self._rows(touches)
        before, free = rows.velocities(motion, 0.0), rows.velocities(motion, h)
        n, w = free.shape
        turn = self._turning(touches, rows, motion, before, h)
        wrenches = rows.wrenches(motion)
        J_own, right_own, soft_own, rate_own = system.pushing_rows()
        m = len(J_own)
        responses = system.respond(system.pushing_islands(J_own), rows.bodies, wrenches)
        d, k, ahead = 2.0 * gains.omega * gains.mu, gains.omega**2, h if end else 0.0
        sigma = 1.0 + d * ahead + k * ahead * ahead
        given = system.rows.choice.alpha
        alpha = system.rows.choice.ratio / responses.diagonal(m + n)[m::w] if given is None else np.full(n, given)
        right = (before[:, 0] - free[:, 0] - turn[:, 0]) / h - ((d + k * ahead) * before[:, 0] + k * touches.gaps) / sigma
        problem = CompliantContacts(
            responses, np.concatenate([right_own, right]), np.concatenate([soft_own, 1.0 / (alpha * sigma)]),
            self.laws.of(touches.bodies, touches.ids).friction[:, 0], free[:, 1:] + turn[:, 1:], self.slip_speed, h,
        )  # fmt: skip
        found = compliant_forces(problem)
        forces, own = found.forces[m:].reshape(n, w), found.forces[:m]
        after = free + h * found.motion[m:].reshape(n, w)
        work = h * float(0.5 * (forces * (before + after)).sum() + own @ rate_own)
        pushed = rows.on_bodies(wrenches, forces, self.model.n_bodies)
        return Pushes(touches, rows, own, forces, pushed, after + turn, work, found.iterations, found.residual)

    def _turning(self, touches: Touches, rows: ContactRows, motion: BodyMotion, before: np.ndarray, h: float) -> np.ndarray:
        """(n, w) what the middle of the step adds to the velocities of contacts."""
        turn = None
        if len(touches.gaps):
            turn = self.near.turning(self.system.poses(), motion, rows, touches, h, self._roles)
        if turn is None:
            return np.zeros_like(before)
        keep_to_sticking(rows.width, 0, 0.0, 0.0, before.ravel(), touches.gaps, np.zeros(len(before)), turn.ravel())
        return turn

    def _rows(self, touches: Touches) -> ContactRows:
        return contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal)
