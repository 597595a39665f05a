"""Contacts and one-sided rows as penalty forces: normals never pull, friction is Coulomb's above a slip speed.

    p = max(0, −α (g̈ + 2 Ω μ ġ + Ω² g))             of a gap g < 0, α being `ratio` times the mass that the contact feels
    f = −m p w / max(|w|, w_s)                      m Coulomb's coefficient, w the slip at the end of the step

Below the slip speed w_s friction is a damper: what Coulomb would hold still creeps at the speed w_s |f| / (m p). It is always that of the
end of the step, for explicit dampers of that strength would flutter. Both are rows with compliance, as all penalties,

    W λ + compliance λ = right side,    friction: compliance max(|w|, w_s) / (m p h)

solved again until which rows push, p and |w| no longer change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.contact.contact_rows import ContactRows, contact_rows
from unibody.contact.pair_laws import PairLaws
from unibody.coordinates.held import Motion
from unibody.coordinates.held_penalised import HeldPenalised
from unibody.coordinates.observed import Touching
from unibody.coordinates.penalised import Gains
from unibody.model.model import Model
from unibody.rules.nearness import NOTHING, Touches

ITERATIONS, TOLERANCE = 200, 1e-9
"""The most solutions of a step, and the relative change of forces at which they end."""

ADDING = 30
"""Solutions within which rows may come back; later they may only leave."""


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

    def __init__(self, model: Model, system: HeldPenalised, find: Any, slip_speed: float):
        self.model, self.system, self.find, self.slip_speed = model, system, find, slip_speed
        self.laws = PairLaws(model)
        self.plane_normal = None if model.plane is None else np.asarray(model.plane[2])

    def touches(self, motion: Motion, h: float) -> Touches:
        """Contacts within the margin that some moving body takes part in."""
        if self.find is None:
            return NOTHING
        return self.find(self.system.poses(), motion, h, self.system.moving.astype(np.int64))

    def act(self, gains: Gains, h: float, end: bool) -> Pushes:
        """Forces over a step h, normals those of its beginning or of its `end`."""
        system, motion = self.system, self.system.motion()
        touches = self.touches(motion, h)
        before = self._rows(touches).velocities(motion, 0.0)
        touches = touches.some(touches.gaps + (h * np.minimum(before[:, 0], 0.0) if end else 0.0) < 0.0)
        rows = self._rows(touches)
        before, free = rows.velocities(motion, 0.0), rows.velocities(motion, h)
        n, w = free.shape
        wrenches = rows.wrenches(motion)
        J_own, right_own, soft_own, rate_own = system.pushing_rows()
        J, Y = system.respond_whole(np.repeat(rows.bodies, w, axis=0), wrenches.reshape(-1, 2, 6))
        if len(J_own):
            J, Y = np.concatenate([J_own, J]), np.concatenate([system.answers(J_own), Y])
        W = J @ Y.T
        W = 0.5 * (W + W.T)
        m = len(J_own)
        normal = m + w * np.arange(n)
        d, k, ahead = 2.0 * gains.omega * gains.mu, gains.omega**2, h if end else 0.0
        sigma = 1.0 + d * ahead + k * ahead * ahead
        given = system.choice.alpha
        alpha = system.choice.ratio / W.diagonal()[normal] if given is None else np.full(n, given)
        right = np.concatenate([right_own, ((before - free) / h).ravel()])
        right[normal] -= ((d + k * ahead) * before[:, 0] + k * touches.gaps) / sigma
        soft = np.concatenate([soft_own, np.zeros(n * w)])
        soft[normal] = 1.0 / (alpha * sigma)
        across = np.setdiff1d(np.arange(m, m + n * w), normal)
        right[across] -= before[:, 1:].ravel() / h
        coefficient = self.laws.of(touches.bodies).friction[:, 0]
        pushes, across = np.concatenate([np.arange(m), normal]), across.reshape(n, w - 1)
        found, count, change = self._solve(W, right, soft, pushes, normal, across, coefficient, free, h)
        forces = found[m:].reshape(n, w)
        after = free + h * (W @ found)[m:].reshape(n, w)
        own = found[:m]
        work = h * float(0.5 * (forces * (before + after)).sum() + own @ rate_own)
        return Pushes(touches, rows, own, forces, rows.on_bodies(wrenches, forces, self.model.n_bodies), after, work, count, change)

    def _rows(self, touches: Touches) -> ContactRows:
        return contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal)

    def _solve(
        self, W: np.ndarray, right: np.ndarray, soft: np.ndarray, pushes: np.ndarray, normal: np.ndarray, across: np.ndarray,
        coefficient: np.ndarray, free: np.ndarray, h: float,
    ) -> tuple[np.ndarray, int, float]:  # fmt: skip
        """All forces, the number of solutions and the last relative change."""
        found = np.zeros(len(right))
        if not len(right):
            return found, 0, 0.0
        acts = np.zeros(len(right), bool)
        acts[pushes] = right[pushes] > 0.0
        slip, change = np.linalg.norm(free[:, 1:], axis=1), np.inf
        soft = soft.copy()
        for count in range(1, ITERATIONS + 1):
            holds = coefficient * found[normal]
            acts[across] = (holds > 0.0)[:, None]
            soft[across] = (np.maximum(slip, self.slip_speed) / (h * np.where(holds > 0.0, holds, 1.0)))[:, None]
            at = np.flatnonzero(acts)
            new = np.zeros_like(found)
            new[at] = np.linalg.solve(W[np.ix_(at, at)] + np.diag(soft[at]), right[at])
            moved = W @ new
            slip = np.linalg.norm(free[:, 1:] + h * moved[across], axis=1)
            was = acts[pushes].copy()
            now = np.where(was, new[pushes] >= 0.0, (right - moved)[pushes] > 0.0)
            acts[pushes] = now if count <= ADDING else now & was
            change = float(np.abs(new - found).max() / max(np.abs(new).max(), 1e-300)) if new.any() or found.any() else 0.0
            found = new
            if change <= TOLERANCE and (acts[pushes] == was).all():
                break
        found[pushes] = np.maximum(found[pushes], 0.0)
        return found, count, change
