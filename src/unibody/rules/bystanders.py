"""Contacts that are near but have nothing to do: left out of a step's problem, and looked at when it is solved.

Contacts are found as far as the fastest body of all may come, since whatever it hits may become as fast. Most bodies are slower: where two
of them, each at its own speed, cannot close their gap within the step, their contact has no impulse unless others push them together.
Without these bystanders the problem is smaller, and where its solution closes none of their gaps,

    λ = 0,      C/h + u ≥ 0

it is one of the whole problem. Those that it would pass are taken in, and it is solved again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unibody.contact.contact_rows import ContactRows
from unibody.contact.pair_laws import Laws
from unibody.coordinates.held import Motion
from unibody.kernel import Floats, Ints, kernel
from unibody.rules.nearness import Touches, way_of
from unibody.rules.step_problem import LATE, Held

WORTH = 8
"""Fewer bystanders are not worth a look of their own."""


@dataclass(frozen=True)
class Near:
    """Contacts within the margin of a step: where, along which rows and by which laws; wrenches of unit impulses, velocities before and
    of the motion that nothing holds; the impulses to start with, and as `begin` those of the book's rows."""

    touches: Touches
    rows: ContactRows
    laws: Laws
    wrenches: np.ndarray
    before: np.ndarray
    free: np.ndarray
    guess: np.ndarray
    begin: np.ndarray | None = None

    def some(self, which: np.ndarray) -> Near:
        """Those of these numbers."""
        touches, rows = self.touches, self.rows
        parts = (x[which] for x in (touches.bodies, touches.points, touches.normals, touches.gaps, touches.ids))
        near = Touches(*parts)
        return Near(
            near, ContactRows(near.bodies, near.points, rows.directions[which], rows.spin), self.laws.some(which), self.wrenches[which],
            self.before[which], self.free[which], self.guess[which], self.begin,
        )  # fmt: skip

    def acting(self, motion: Motion, radii: np.ndarray, least: float, h: float) -> np.ndarray | None:
        """The numbers of contacts that may act: bodies may meet, or acted in the last step. None for all, or nearly all."""
        acts = np.zeros(len(self.touches.gaps), np.int64)
        count = mark_acting(
            motion.velocity.reshape(-1), motion.rate.reshape(-1), radii, least, h, self.touches.bodies.reshape(-1), self.touches.gaps,
            self.guess.reshape(-1), acts,
        )  # fmt: skip
        return np.flatnonzero(acts) if len(acts) - count >= WORTH else None

    def with_bystanders(self, held: Held, acting: np.ndarray, twists: np.ndarray) -> Held:
        """The step that was solved for those that act, told of all; twists (bodies, 6): what its impulses changed, at centres of mass."""
        impulse, after = np.zeros_like(self.free), self.free.copy()
        add_motion(after.shape[1], self.touches.bodies.reshape(-1), self.wrenches.reshape(-1), twists.reshape(-1), after.reshape(-1))
        impulse[acting], after[acting] = held.impulse, held.after
        struck = None if held.struck is None else np.zeros(len(impulse))
        if struck is not None:
            struck[acting] = held.struck
        return replace(
            held, touches=self.touches, rows=self.rows, laws=self.laws, wrenches=self.wrenches, impulse=impulse, before=self.before,
            free=self.free, after=after, struck=struck,
        )  # fmt: skip

    def passed(self, whole: Held, acting: np.ndarray, h: float) -> np.ndarray:
        """The numbers of bystanders whose gaps a step would close."""
        closed = whole.after[:, 0] + np.maximum(self.touches.gaps, 0.0) / h < -LATE
        closed[acting] = False
        return np.flatnonzero(closed)


@kernel
def mark_acting(
    velocity: Floats, rate: Floats, radii: Floats, least: float, h: float, bodies: Ints, gaps: Floats, guess: Floats, acts_out: Ints
) -> int:
    """1 for contacts whose bodies may meet, or that have impulses to start with; how many."""
    way = np.empty(radii.size)
    for i in range(radii.size):
        way[i] = way_of(i, velocity, rate, radii, h)
    count, width = 0, guess.size // max(gaps.size, 1)
    for k in range(gaps.size):
        if gaps[k] <= max(way[bodies[2 * k]] + way[bodies[2 * k + 1]], least) or guess[width * k] > 0.0:
            acts_out[k] = 1
            count += 1
    return count


@kernel
def add_motion(width: int, bodies: Ints, wrenches: Floats, twists: Floats, u_out: Floats) -> None:
    """Add what twists of bodies are along rows that have these wrenches (12 a row)."""
    for k in range(bodies.size // 2):
        for r in range(width):
            for side in range(2):
                for m in range(6):
                    u_out[width * k + r] += wrenches[12 * (width * k + r) + 6 * side + m] * twists[6 * bodies[2 * k + side] + m]
