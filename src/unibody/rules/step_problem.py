"""One step's problem in numbers: W of what is not held, solved for impulses, for the second phase of impacts, and for overlaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unibody.constraints.contact import IMPACTS
from unibody.contact.contact_rows import ContactRows
from unibody.contact.pair_laws import Laws
from unibody.coordinates.held import BookRows, Motion
from unibody.coordinates.observed import Touching
from unibody.rules.impacts import Expansion, restore_work
from unibody.rules.nearness import Touches

from unibody.rules.impulses import (  # isort: skip
    Blocks, Closure, Options, Outcome, bounded, close_held, contacts, join, solve, unilateral,
)  # fmt: skip

if TYPE_CHECKING:
    from unibody.rules.time_stepping import Stepping

CORRECTED, FASTEST = 0.3, 1.0
"""The part of an overlap taken away in a step, and the speed [m/s] at which at most."""

SLIPS = 1e-6
"""[m/s] Above it a contact slides."""

LATE = 1e-9
"""[m/s] By how much a contact may be passed before it is an impact of the next round."""

AWAY = 1e3
"""A gap, in speeds, of what is not to be touched yet."""

ROUNDS = 10
"""Of impacts that cause impacts, and of contacts that begin to slide."""

ROUGHLY, SWEEPS, FEW_SWEEPS, MANY = 1e-7, 100, 16, 400
"""[m/s] The tolerance of pseudo-velocities, the most sweeps for them, and that where contacts are many: what is left goes in the next
steps."""

OVERLAP = 1e-6
"""[m, rad] The overlap that is left alone."""

UNMOVED = 1e-10
"""Of what a row that rubs would answer to its impulse alone, the part below which others hold it; the slip [m/s, rad/s] that is none."""


@dataclass
class Held:
    """The impulses of a step: of the book's rows (k,), of contacts (n, w) with their velocities before, of the free motion and after."""

    touches: Touches
    rows: ContactRows
    laws: Laws
    book: BookRows
    wrenches: np.ndarray
    book_impulse: np.ndarray
    impulse: np.ndarray
    before: np.ndarray
    free: np.ndarray
    after: np.ndarray
    outcome: Outcome
    gained: float = 0.0
    """Kinetic energy [J] that impacts would add; 0 where they take some."""
    clipped: bool = False
    """Whether restitution was made smaller, so that they do not."""
    work: float = 0.0
    """Of contacts, limits and dry friction over the step [J]."""
    apart: np.ndarray | None = None
    """Pseudo-velocities (nv,) that part what overlaps."""
    struck: np.ndarray | None = None
    """(n,) speeds [m/s] with which impacts that others caused within the step came about; 0 where there was none."""
    pushes: int = 0
    """How many rows of limits come before those that rub, in the outcome."""
    rub: np.ndarray | None = None
    """What friction in joints keeps."""

    @property
    def approach(self) -> np.ndarray:
        """(n,) speeds [m/s] with which bodies came together; 0 where they did not."""
        return np.maximum(-self.before[:, 0], 0.0 if self.struck is None else self.struck).clip(0.0)


class Assembled:
    """One problem in numbers: W of what is not held, after the held rows are eliminated, in factors over groups."""

    def __init__(
        self, rule: Stepping, motion: Motion, book: BookRows, b_book: np.ndarray, rows: ContactRows, laws: Laws, h: float, options: Options,
        whole: bool,
    ):  # fmt: skip
        self.rule, self.book, self.rows, self.laws, self.h, self.options = rule, book, rows, laws, h, options
        self.n, self.w = rows.directions.shape[:2]
        self.wrenches = rows.wrenches(motion)
        awake = np.isfinite(b_book)
        self.push = rule.pushed[awake[rule.pushed]]
        self.rest = np.concatenate([self.push, rule.rubbed]).astype(np.int64)
        self.b_book, self.b_rest = b_book, b_book[self.rest]
        self.closure: Closure | None = None
        touching = rule.system.respond(rows.bodies, self.wrenches)
        self.free = self.W = book.rows.some(self.rest).joined(touching)
        self.fixed = np.zeros(self.rest.size + self.n * self.w)
        if rule.held.size:
            J, Y = book.J, book.Y
            inverse = close_held(rule.system, 0.5 * (J @ Y.T + Y @ J.T), book, rule.held, rule.compliance)
            self.closure = Closure(rule.held, inverse, book.rows.some(rule.held), b_book[rule.held])
            self.fixed = self.W.along(self.closure.rows.motion(inverse @ self.closure.b))
            self.W = self.W.holding(self.closure.rows, inverse)
        self.driven = np.zeros(0, np.int64)
        if rule.rubbed.size:
            self._find_driven()
        height = rows.points @ rule.up
        self.order = np.concatenate([np.arange(self.rest.size), self.rest.size + np.argsort(height, kind="stable")])

    @cached_property
    def whole(self) -> np.ndarray:
        """W as an array."""
        return self.W.dense()

    @cached_property
    def answers(self) -> np.ndarray:
        """(rows of contacts, nv) M⁻¹ Jᵀ where nothing holds; columns of free bodies that no other row touches are those of their twists."""
        return self.free.some(self.rest.size + np.arange(self.n)).wholes()[1][:, self.book.grouping.place]

    def _find_driven(self) -> None:
        """Rows that rub while held ones leave them no choice, as in driven joints: nothing answers to their impulses."""
        k = self.rest.size
        before, after = self.free.diagonal(k), self.W.diagonal(k)
        driven = (np.arange(k) >= self.push.size) & (after <= UNMOVED * before)
        self.W = self.W.without(np.flatnonzero(driven))
        if self.rule.friction is not None:
            driven[self.push.size :] &= self.rule.friction.plain > 0.0
        self.driven = np.flatnonzero(driven)

    def held(self, touches: Touches, before: np.ndarray, free: np.ndarray, shift: np.ndarray, guess: np.ndarray) -> Held:
        """Solve for the impulses of a step; `shift` (n,): what is added to the normal velocities in their law."""
        stick = np.where(np.linalg.norm(before[:, 1:3], axis=1) <= SLIPS, self.laws.stick, 1.0)
        b = self.b_rest - self.fixed[: self.rest.size]
        u = free - self.fixed[self.rest.size :].reshape(free.shape)
        for _ in range(ROUNDS):
            outcome, after = self._solve(b, u, shift, guess, stick)
            slides = (stick > 1.0) & (np.linalg.norm(after[:, 1:3], axis=1) > SLIPS)
            if not slides.any():
                break
            stick = np.where(slides, 1.0, stick)
        self.stick = stick
        return self._made(touches, before, free, outcome, after)

    def _solve(
        self, b: np.ndarray, u: np.ndarray, shift: np.ndarray, guess: np.ndarray, stick: np.ndarray, done: np.ndarray | None = None
    ) -> tuple[Outcome, np.ndarray]:
        """Impulses from velocities b of the book's rows and u (n, w) of contacts, and the velocities of contacts then; `done`: impulses
        that the book's rows have had already, if this is not the first round."""
        k = self.rest.size
        moved = u.copy()
        moved[:, 0] += shift
        blocks = self.blocks(self.laws.friction * stick[:, None], done)
        warm, right, friction = np.concatenate([np.zeros(k), guess.ravel()]), np.concatenate([b, moved.ravel()]), self.rule.friction
        if friction is not None and done is None:
            warm[self.push.size : k] = friction.warm(self.rule.rubbed)
            friction.idle = self.driven.size == self.rule.rubbed.size
            outcome = friction.solve(self.whole, right, blocks, self.options, warm, self.push.size)
        else:
            outcome = solve(self.W, right, blocks, self.options, warm, self.order)
        if self.driven.size:
            least, most, slip = blocks.lower[self.driven], blocks.upper[self.driven], b[self.driven]
            outcome.impulse[self.driven] = np.where(slip > UNMOVED, least, np.where(slip < -UNMOVED, most, 0.0))
        after = outcome.velocity[k:].reshape(self.n, self.w).copy()
        after[:, 0] -= shift
        return outcome, after

    def bounced(self, held: Held, bouncy: np.ndarray, share: float, above: float) -> Held:
        """Impacts that impacts cause within the step, round after round, each from the velocities that the last one left."""
        k, h = self.rest.size, self.h
        gaps = np.maximum(held.touches.gaps, 0.0) / h
        total, after, outcome, struck = held.outcome.impulse.copy(), held.after, held.outcome, np.zeros(self.n)
        for turn in range(ROUNDS + 1):
            late = bouncy & (after[:, 0] + gaps < -LATE)
            if not late.any():
                break
            fast = late & (after[:, 0] < -above) & (turn < ROUNDS)
            struck = np.where(fast, np.maximum(struck, -after[:, 0]), struck)
            shift = np.where(fast, share * self.laws.restitution * after[:, 0], gaps)
            if turn < ROUNDS:
                shift = np.where(bouncy & ~late, gaps + AWAY * (1.0 + np.abs(after).max(initial=0.0)), shift)
            more, after = self._solve(outcome.velocity[:k], after, shift, np.zeros_like(after), self.stick, total[:k])
            total += more.impulse
            outcome = Outcome(
                total, np.concatenate([more.velocity[:k], after.ravel()]), outcome.iterations + more.iterations,
                max(outcome.residual, more.residual), more.method if outcome.method == "none" else outcome.method, outcome.note,
                outcome.converged and more.converged,
            )  # fmt: skip
        if outcome is held.outcome:
            return held
        made = self._made(held.touches, held.before, held.free, outcome, after)
        made.struck = struck
        return made

    def _made(self, touches: Touches, before: np.ndarray, free: np.ndarray, outcome: Outcome, after: np.ndarray) -> Held:
        """A step from the impulses of the rows in hand."""
        k = self.rest.size
        impulse = outcome.impulse[k:].reshape(self.n, self.w)
        total = np.zeros(len(self.book.rate))
        total[self.rest] = outcome.impulse[:k]
        if self.closure is not None:
            total[self.closure.held] = self.closure.impulses(self.free.pull(outcome.impulse))
        work = min(float(np.sum(impulse * (free + after))), float(np.sum(impulse * (2.0 * before + after - free)))) / 2.0
        reached = outcome.velocity[:k].copy()
        reached[: self.push.size] -= np.maximum(self.book.residual[self.push], 0.0) / self.h
        done = 0.5 * float(np.sum(impulse * (before + after)) + outcome.impulse[:k] @ (self.book.rate[self.rest] + reached))
        return Held(
            touches, self.rows, self.laws, self.book, self.wrenches, total, impulse, before, free, after, outcome, gained=work, work=done,
            pushes=self.push.size,
        )  # fmt: skip

    def expanded(self, held: Held, phased: np.ndarray, rebound: np.ndarray) -> Held:
        """The second phase of impacts, after a first one without restitution; `rebound`: the speeds that Newton's law would give."""
        k, w, push = self.rest.size, self.w, self.push.size
        hit = np.flatnonzero(phased)
        going = np.flatnonzero(~phased)
        others = np.concatenate([np.arange(k), (k + w * going[:, None] + np.arange(w)).ravel()]).astype(np.int64)
        mu, had = self.laws.friction * self.stick[:, None], self._had(held.outcome.impulse)
        bound = self.rule.bound[self.rule.rubbed] * self.h
        parts = [unilateral(push), bounded(-bound - had, bound - had), *([self._contacts(mu[going])] if going.size else [])]
        mine = mu[hit, 0] if w == 2 else mu[hit, : w - 1]
        expansion = Expansion(self.whole, held.outcome.velocity, join(*parts), others, k + w * hit, w, mine, self.options)
        first = held.impulse[hit, 0]
        share = np.where(held.free[hit, 0] < 0.0, rebound[hit] / np.maximum(-held.free[hit, 0], 1e-300), 0.0)
        least = share * first
        taken = -0.5 * first * (held.free[hit, 0] + held.after[hit, 0])
        energetic = self.laws.impact[hit] == IMPACTS.index("stronge")
        second, found = expansion.run(least)
        if energetic.any():
            wanted = np.where(energetic, share**2 * taken, 0.0)
            least, second, found = restore_work(expansion, least, np.where(energetic, wanted, self._work(expansion, second)))
        impulse = held.outcome.impulse + second
        velocity = held.outcome.velocity + self.whole @ second
        shift = held.outcome.velocity[k:].reshape(self.n, w) - held.after
        outcome = Outcome(
            impulse, velocity, held.outcome.iterations + found.iterations, max(held.outcome.residual, found.residual), held.outcome.method,
            held.outcome.note, held.outcome.converged and found.converged,
        )  # fmt: skip
        return self._made(held.touches, held.before, held.free, outcome, velocity[k:].reshape(self.n, w) - shift)

    @staticmethod
    def _work(expansion: Expansion, impulse: np.ndarray) -> np.ndarray:
        """What normal impulses of the second phase do."""
        u = expansion.u[expansion.hit]
        return 0.5 * impulse[expansion.hit] * (2.0 * u + expansion.W[expansion.hit] @ impulse)

    def _had(self, done: np.ndarray) -> np.ndarray:
        """Impulses that count for the bounds of rows that rub, of those of the book."""
        had = done[self.push.size : self.rest.size]
        return had if self.rule.friction is None else had * self.rule.friction.plain

    def blocks(self, friction: np.ndarray, done: np.ndarray | None) -> Blocks:
        """The laws of the rows, in their order."""
        bound = self.rule.bound[self.rule.rubbed] * self.h
        had = np.zeros_like(bound) if done is None else self._had(done)
        parts = [unilateral(self.push.size), bounded(-bound - had, bound - had)]
        return join(*parts, *([self._contacts(friction)] if self.n else []))

    def _contacts(self, friction: np.ndarray) -> Blocks:
        """Of contacts with coefficients (n, 3)."""
        return contacts(friction[:, 0], planar=True) if self.w == 2 else contacts(friction[:, : self.w - 1])

    def apart(self, held: Held, h: float) -> np.ndarray | None:
        """Pseudo-velocities that take a part of what overlaps away, in no other row's way; None where nothing does."""
        gaps = np.concatenate([self.book.residual[self.push], held.touches.gaps])
        if not (gaps < -OVERLAP).any():
            return None
        k = self.rest.size
        after = np.concatenate([held.outcome.velocity[: self.push.size] - np.maximum(gaps[: self.push.size], 0.0) / h, held.after[:, 0]])
        wanted = np.where(gaps < 0.0, np.minimum(-CORRECTED * gaps / h, FASTEST), -np.maximum(gaps / h + after, 0.0))
        rows = np.concatenate([np.arange(self.push.size), k + self.w * np.arange(self.n)]).astype(np.int64)
        most = SWEEPS if self.n < MANY else FEW_SWEEPS
        options = replace(self.rule.options, law="coulomb", directions=0, method="pgs", tolerance=ROUGHLY, iterations=most)
        W = self.W.some(np.concatenate([np.arange(self.push.size), k + np.arange(self.n)]).astype(np.int64), row=0)
        found = solve(W, -wanted, unilateral(rows.size), options, None)
        rest = np.zeros(k + self.n * self.w)
        rest[rows] = found.impulse
        total = np.zeros(len(self.book.rate))
        total[self.rest] = rest[:k]
        if self.closure is not None:
            total[self.closure.held] = self.closure.impulses(self.free.pull(rest), moving=False)
        wrenches = self.rows.on_bodies(self.wrenches, rest[k:].reshape(self.n, self.w), self.rule.model.n_bodies)
        return self.rule.system.change(total, self.book, wrenches)


def touching_of(held: Held, gaps: np.ndarray, slips: np.ndarray, h: float, hits_above: float) -> Touching:
    """Contacts as a recording keeps them: forces on the second body of each, at the points where they acted; what came together faster
    than `hits_above` [m/s] hit."""
    rows, force = held.rows, held.impulse / h
    hit = (held.approach > hits_above) & (held.impulse[:, 0] > 0.0)
    friction = np.einsum("nk,nkj->nj", force[:, 1:3], rows.directions[:, 1:3])
    return Touching(
        points=rows.points, bodies=rows.bodies[:, ::-1].copy(), normals=rows.directions[:, 0], gaps=gaps, normal_forces=force[:, 0],
        friction=friction, sliding=slips > SLIPS, approach=np.where(hit, held.approach, 0.0),
        impulses=np.where(hit[:, None], h * (force[:, :1] * rows.directions[:, 0] + friction), 0.0),
    )  # fmt: skip
