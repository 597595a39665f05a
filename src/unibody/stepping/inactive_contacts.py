"""Contacts that are near but have nothing to do: left out of a step's problem, and looked at when it is solved.

Contacts are found as far as the fastest body of all may come, since whatever it hits may become as fast. Most bodies are slower: where two
of them, each at its own speed, cannot close their gap within the step, their contact has no impulse unless others push them together.
Without these inactive contacts the problem is smaller, and where its solution closes none of their gaps,

    λ = 0,      C/h + u ≥ 0

it is one of the whole problem. Those that it would pass are taken in, and it is solved again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.contact.pair_laws import ContactLaws
from unibody.kernel import Floats, Ints, kernel
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.contact_margin import Touches, way_of
from unibody.stepping.contact_rows import ContactRows
from unibody.stepping.step_arrays import row_parts
from unibody.stepping.step_solution import LATE, StepSolution

WORTH, WORTH_SWEEPING, PART_SWEEPING = 8, 64, 6
"""Fewer inactive contacts are not worth a look of their own; nor are, where sweeps are all that a contact costs, fewer than so many more
than a sixth of all."""


@dataclass
class Near:
    """Contacts within the margin of a step: where, along which rows and by which laws; wrenches of unit impulses, velocities before and
    of the motion that nothing holds; the impulses to start with, as `begin` those of the constraint rows."""

    touches: Touches
    rows: ContactRows
    laws: ContactLaws
    wrenches: np.ndarray
    before: np.ndarray
    free: np.ndarray
    guess: np.ndarray
    begin: np.ndarray | None = None

    def some(self, which: np.ndarray) -> Near:
        """The contacts with these numbers."""
        touches, rows, (n, w) = self.touches, self.rows, (len(which), self.free.shape[1])
        ints, numbers, wrenches = np.empty(4 * n, np.int64), np.empty((10 + 6 * w) * n), np.empty((n, w, 2, 6))
        pick_near(
            w, which, touches.bodies.ravel(), touches.ids, self.laws.which, touches.points.ravel(), touches.normals.ravel(),
            touches.gaps, self.laws.friction.ravel(), rows.directions.ravel(), self.wrenches.ravel(), self.before.ravel(),
            self.free.ravel(), self.guess.ravel(), ints, wrenches.ravel(), numbers,
        )  # fmt: skip
        bodies, ids, laws = ints[: 2 * n].reshape(n, 2), ints[2 * n : 3 * n], ints[3 * n :]
        points, normals, gaps = numbers[: 3 * n].reshape(n, 3), numbers[3 * n : 6 * n].reshape(n, 3), numbers[6 * n : 7 * n]
        friction, directions, before, free, guess = row_parts(numbers[7 * n :], n, w)
        return Near(
            Touches(bodies, points, normals, gaps, ids), ContactRows(bodies, points, directions, rows.spin),
            self.laws.picked(laws, friction), wrenches, before, free, guess, self.begin,
        )  # fmt: skip

    def acting(self, motion: BodyMotion, radii: np.ndarray, least: float, h: float, sweeping: bool) -> np.ndarray | None:
        """The numbers of contacts that may act: bodies may meet, or acted in the last step. None for all, or nearly all; `sweeping`: they
        are solved for by sweeps alone."""
        n = len(self.touches.gaps)
        worth = WORTH_SWEEPING + n // PART_SWEEPING if sweeping else WORTH
        if n < worth:
            return None
        acts = np.empty(n, np.int64)
        count = list_acting(
            motion.velocity.ravel(), motion.rate.ravel(), radii, least, h, self.touches.bodies.ravel(), self.touches.gaps,
            self.guess.ravel(), acts,
        )  # fmt: skip
        return acts[:count] if n - count >= worth else None

    def with_inactive(self, solution: StepSolution, acting: np.ndarray, twists: np.ndarray, h: float) -> np.ndarray:
        """Tell the step that was solved for those that act of all; twists (bodies, 6): what its impulses changed, at centres of mass. Gives
        the numbers of those left out whose gaps it would close."""
        impulse, after, passed = np.empty_like(self.free), np.empty_like(self.free), np.empty(len(self.free), np.int64)
        count = tell_all(
            after.shape[1], h, acting, self.touches.bodies.ravel(), self.wrenches.ravel(), twists.ravel(), self.touches.gaps,
            self.free.ravel(), solution.impulse.ravel(), solution.after.ravel(), impulse.ravel(), after.ravel(), passed,
        )  # fmt: skip
        if solution.struck is not None:
            struck = np.zeros(len(impulse))
            struck[acting] = solution.struck
            solution.struck = struck
        solution.touches, solution.rows, solution.laws, solution.wrenches = self.touches, self.rows, self.laws, self.wrenches
        solution.before, solution.free, solution.impulse, solution.after = self.before, self.free, impulse, after
        return passed[:count]


@kernel
def list_acting(
    velocity: Floats, rate: Floats, radii: Floats, least: float, h: float, bodies: Ints, gaps: Floats, guess: Floats, acts_out: Ints
) -> int:
    """The numbers of contacts whose bodies may meet, or that have impulses to start with; how many."""
    way = np.empty(radii.size)
    for i in range(radii.size):
        way[i] = way_of(i, velocity, rate, radii, h)
    count, width = 0, guess.size // max(gaps.size, 1)
    for k in range(gaps.size):
        if gaps[k] <= max(way[bodies[2 * k]] + way[bodies[2 * k + 1]], least) or guess[width * k] > 0.0:
            acts_out[count] = k
            count += 1
    return count


@kernel
def take_rows(width: int, which: Ints, source: Floats, copy_out: Floats) -> None:
    """The rows of these numbers, of `width` each."""
    for i in range(which.size):
        for m in range(width):
            copy_out[width * i + m] = source[width * which[i] + m]


@kernel
def pick_near(
    width: int, which: Ints, bodies: Ints, ids: Ints, laws: Ints, points: Floats, normals: Floats, gaps: Floats, friction: Floats,
    directions: Floats, wrenches: Floats, before: Floats, free: Floats, guess: Floats, ints_out: Ints, wrenches_out: Floats,
    numbers_out: Floats,
) -> None:  # fmt: skip
    """Copies of all that is known of the contacts of these numbers, one kind after the other."""
    n = which.size
    for i in range(n):
        k = which[i]
        ints_out[2 * i] = bodies[2 * k]
        ints_out[2 * i + 1] = bodies[2 * k + 1]
        ints_out[2 * n + i] = ids[k]
        ints_out[3 * n + i] = laws[k]
    at, size = 10 * n, width * n
    take_rows(3, which, points, numbers_out[: 3 * n])
    take_rows(3, which, normals, numbers_out[3 * n : 6 * n])
    take_rows(1, which, gaps, numbers_out[6 * n : 7 * n])
    take_rows(3, which, friction, numbers_out[7 * n : at])
    take_rows(3 * width, which, directions, numbers_out[at : at + 3 * size])
    take_rows(width, which, before, numbers_out[at + 3 * size : at + 4 * size])
    take_rows(width, which, free, numbers_out[at + 4 * size : at + 5 * size])
    take_rows(width, which, guess, numbers_out[at + 5 * size :])
    take_rows(12 * width, which, wrenches, wrenches_out)


@kernel
def tell_all(
    width: int, h: float, acting: Ints, bodies: Ints, wrenches: Floats, twists: Floats, gaps: Floats, free: Floats, impulse: Floats,
    after: Floats, impulse_out: Floats, after_out: Floats, passed_out: Ints,
) -> int:  # fmt: skip
    """Impulses and velocities after of all contacts: of those that act as they are, of others what twists of bodies add to free ones. Gives
    how many of these others close their gaps, and their numbers."""
    at, count = 0, 0
    for k in range(gaps.size):
        if at < acting.size and acting[at] == k:
            for r in range(width):
                impulse_out[width * k + r] = impulse[width * at + r]
                after_out[width * k + r] = after[width * at + r]
            at += 1
            continue
        for r in range(width):
            u = free[width * k + r]
            for side in range(2):
                for m in range(6):
                    u += wrenches[12 * (width * k + r) + 6 * side + m] * twists[6 * bodies[2 * k + side] + m]
            impulse_out[width * k + r] = 0.0
            after_out[width * k + r] = u
        if after_out[width * k] + max(gaps[k], 0.0) / h < -LATE:
            passed_out[count] = k
            count += 1
    return count
