"""One step's problem in numbers: W of what is not bilateral, solved for impulses, for the second phase of impacts, and for overlaps."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from unibody.arrays import finite
from unibody.constraints.contact import IMPACTS
from unibody.contact.pair_laws import ContactLaws, PairLaws
from unibody.model.model import Model
from unibody.stepping.contact_margin import Touches
from unibody.stepping.contact_rows import ContactRows
from unibody.stepping.depenetration import DeepOverlaps, impulses_apart, overlaps
from unibody.stepping.impacts import Expansion, restore_work
from unibody.stepping.impulse_dynamics import ConstraintRows, ImpulseDynamics
from unibody.stepping.memory import NONE
from unibody.stepping.step_arrays import add_works, lay_problem, order_upwards, without_shift
from unibody.stepping.step_solution import LATE, SLIPS, StepSolution

from unibody.stepping.impulses import (  # isort: skip
    Blocks, Closure, ImpulseOptions, ImpulseOutcome, bounded, close_bilateral, contacts, join, solve, unilateral,
)  # fmt: skip

AWAY = 1e3
"""A gap, in speeds, of what is not to be touched yet."""

ROUNDS = 10
"""Of impacts that cause impacts, and of contacts that begin to slide."""

UNMOVED = 1e-10
"""Of the response of a friction row to its impulse alone, the part below which others hold it; the slip [m/s, rad/s] that is none."""


class BoundsByReactions(Protocol):
    """Friction in joints, as a problem asks for it: its rows, their start, and a solution under the bounds at hand."""

    plain: np.ndarray
    idle: bool

    def warm(self, rows: np.ndarray) -> np.ndarray: ...

    def solve(
        self, W: np.ndarray, b: np.ndarray, laws: Blocks, options: ImpulseOptions, warm: np.ndarray, first: int
    ) -> ImpulseOutcome: ...


class StepRule(Protocol):
    """What a problem asks of the rule that poses it: constraint rows by their laws, in `rest` those that are not bilateral."""

    model: Model
    system: ImpulseDynamics
    pair_laws: PairLaws
    deep: DeepOverlaps
    friction: BoundsByReactions | None
    bilateral: np.ndarray
    pushed: np.ndarray
    friction_rows: np.ndarray
    rest: np.ndarray
    in_order: bool
    bound: np.ndarray
    compliance: np.ndarray
    sizes: np.ndarray
    up: np.ndarray
    radius: float


class Assembled:
    """One problem in numbers: W of all other rows, after the bilateral rows are eliminated, in factors over islands."""

    def __init__(
        self, rule: StepRule, wrenches: np.ndarray, constraints: ConstraintRows, b_constraints: np.ndarray, rows: ContactRows,
        laws: ContactLaws, h: float, options: ImpulseOptions, begin: np.ndarray | None = None, turn: np.ndarray | None = None,
    ):  # fmt: skip
        """begin: impulses that the constraint rows start from; turn: what velocities of contacts have from the middle of the step."""
        self.rule, self.constraints, self.rows, self.laws, self.h, self.options = rule, constraints, rows, laws, h, options
        self.n, self.w = rows.directions.shape[:2]
        self.wrenches, self.turn = wrenches, turn
        self.push, self.rest = rule.pushed, rule.rest
        if b_constraints.size and not finite(b_constraints, NONE):
            self.push = rule.pushed[np.isfinite(b_constraints)[rule.pushed]]
            self.rest = np.concatenate([self.push, rule.friction_rows]).astype(np.int64)
        whole = rule.in_order and self.rest is rule.rest
        self.b_constraints, self.b_rest = b_constraints, b_constraints if whole else b_constraints[self.rest]
        self.begin = NONE if begin is None else begin if whole else begin[self.rest]
        self.closure: Closure | None = None
        front = constraints.rows if whole else constraints.rows.some(self.rest)
        self.free = self.W = rule.system.respond(front, rows.bodies, wrenches)
        self._fixed: np.ndarray | None = None
        self._order: np.ndarray | None = None
        if rule.bilateral.size:
            J, Y = constraints.J, constraints.Y
            inverse = close_bilateral(rule.system, 0.5 * (J @ Y.T + Y @ J.T), constraints, rule.bilateral, rule.compliance)
            self.closure = Closure(rule.bilateral, inverse, constraints.rows.some(rule.bilateral), b_constraints[rule.bilateral])
            self._fixed = self.W.along(self.closure.rows.motion(inverse @ self.closure.b))
            self.W = self.W.holding(self.closure.rows, inverse)
        self.driven = self.idle = np.zeros(0, np.int64)
        if rule.friction_rows.size:
            self._find_driven()
        if self.closure is not None and self.n:
            self._find_idle()

    @property
    def fixed(self) -> np.ndarray:
        """Of all rows, the velocities that bilateral rows take from them."""
        return np.zeros(self.rest.size + self.n * self.w) if self._fixed is None else self._fixed

    @property
    def order(self) -> np.ndarray:
        """In which sweeps go: the constraint rows, then contacts from below."""
        if self._order is None:
            self._order = np.empty(self.rest.size + self.n, np.int64)
            order_upwards(self.rest.size, self.rule.up, self.rows.points.ravel(), self._order)
        return self._order

    @cached_property
    def whole(self) -> np.ndarray:
        """W as an array."""
        return self.W.dense()

    @cached_property
    def responses(self) -> np.ndarray:
        """(rows of contacts, nv) M⁻¹ Jᵀ where nothing holds; columns of free bodies that no other row touches are of unit mass."""
        return self.free.some(self.rest.size + np.arange(self.n)).wholes()[1][:, self.constraints.islands.place]

    def _find_driven(self) -> None:
        """Friction rows while bilateral ones leave them no choice, as in driven joints: nothing responds to their impulses."""
        k = self.rest.size
        before, after = self.free.diagonal(k), self.W.diagonal(k)
        driven = (np.arange(k) >= self.push.size) & (after <= UNMOVED * before)
        self.W = self.W.without(np.flatnonzero(driven))
        if self.rule.friction is not None:
            driven[self.push.size :] &= self.rule.friction.plain > 0.0
        self.driven = np.flatnonzero(driven)

    def _find_idle(self) -> None:
        """Contacts of bodies whose motion is prescribed: nothing responds to their impulses, whatever their law asks for."""
        k = self.rest.size
        before, after = (W.diagonal(k + self.n)[self.W.start[k] :].reshape(self.n, self.w).sum(axis=1) for W in (self.free, self.W))
        self.idle = np.flatnonzero(after <= UNMOVED * before)
        self.W = self.W.without(k + self.idle)

    def solved(self, touches: Touches, before: np.ndarray, free: np.ndarray, shift: np.ndarray, guess: np.ndarray) -> StepSolution:
        """Solve for the impulses of a step; `shift` (n,): what is added to the normal velocities in their law."""
        b, u, k = self.b_rest, free, self.rest.size
        if self._fixed is not None:
            b, u = b - self._fixed[:k], free - self._fixed[k:].reshape(free.shape)
        self.stick: np.ndarray | None = None
        if self.rule.pair_laws.sticks:
            self.stick = np.where(np.linalg.norm(before[:, 1:3], axis=1) <= SLIPS, self.laws.stick, 1.0)
        for _ in range(ROUNDS):
            outcome, after = self._solve(b, u, shift, guess)
            if self.stick is None:
                break
            slides = (self.stick > 1.0) & (np.linalg.norm(after[:, 1:3], axis=1) > SLIPS)
            if not slides.any():
                break
            self.stick = np.where(slides, 1.0, self.stick)
        return self._made(touches, before, free, outcome, after)

    @property
    def _rough(self) -> np.ndarray:
        """(n, 3) coefficients of friction, larger where contacts stick."""
        return self.laws.friction if self.stick is None else self.laws.friction * self.stick[:, None]

    def _solve(
        self, b: np.ndarray, u: np.ndarray, shift: np.ndarray, guess: np.ndarray, done: np.ndarray | None = None
    ) -> tuple[ImpulseOutcome, np.ndarray]:
        """Impulses from velocities b of the constraint rows and u (n, w) of contacts, and the velocities of contacts then; `done`: impulses
        that the constraint rows have had already, if this is not the first round."""
        k, friction = self.rest.size, self.rule.friction
        right, warm, blocks = self._laid(b, u, shift, guess, done)
        if friction is not None and done is None:
            warm[self.push.size : k] = friction.warm(self.rule.friction_rows)
            friction.idle = self.driven.size == self.rule.friction_rows.size
            outcome = friction.solve(self.whole, right, blocks, self.options, warm, self.push.size)
        else:
            outcome = solve(self.W, right, blocks, self.options, warm, self.order)
        if self.driven.size:
            least, most, slip = blocks.lower[self.driven], blocks.upper[self.driven], b[self.driven]
            outcome.impulse[self.driven] = np.where(slip > UNMOVED, least, np.where(slip < -UNMOVED, most, 0.0))
        after = np.empty((self.n, self.w))
        without_shift(k, outcome.velocity, shift, after.ravel())
        return outcome, after

    def bounced(self, solution: StepSolution, bouncy: np.ndarray, share: float, above: np.ndarray) -> StepSolution:
        """Impacts that impacts cause within the step, round after round, each from the velocities that the last one left; `above` (n,):
        the speeds above which they bounce."""
        k, h = self.rest.size, self.h
        gaps = np.maximum(solution.touches.gaps, 0.0) / h
        total, after, outcome, struck = solution.outcome.impulse.copy(), solution.after, solution.outcome, np.zeros(self.n)
        for turn in range(ROUNDS + 1):
            late = bouncy & (after[:, 0] + gaps < -LATE)
            if not late.any():
                break
            fast = late & (after[:, 0] < -above) & (turn < ROUNDS)
            struck = np.where(fast, np.maximum(struck, -after[:, 0]), struck)
            shift = np.where(fast, share * self.laws.restitution * after[:, 0], gaps)
            if turn < ROUNDS:
                shift = np.where(bouncy & ~late, gaps + AWAY * (1.0 + np.abs(after).max(initial=0.0)), shift)
            more, after = self._solve(outcome.velocity[:k], after, shift, np.zeros_like(after), total[:k])
            total += more.impulse
            outcome = ImpulseOutcome(
                total, np.concatenate([more.velocity[:k], after.ravel()]), outcome.iterations + more.iterations,
                max(outcome.residual, more.residual), more.method if outcome.method == "none" else outcome.method, outcome.note,
                outcome.converged and more.converged,
            )  # fmt: skip
        if outcome is solution.outcome:
            return solution
        made = self._made(solution.touches, solution.before, solution.free, outcome, after)
        made.struck = struck
        return made

    def _made(self, touches: Touches, before: np.ndarray, free: np.ndarray, outcome: ImpulseOutcome, after: np.ndarray) -> StepSolution:
        """A step from the impulses of the rows in hand."""
        impulse = outcome.impulse[self.rest.size :].reshape(self.n, self.w)
        total, sums, constraints = np.zeros(len(self.constraints.rate)), np.zeros(4), self.constraints
        add_works(
            self.push.size, self.h, outcome.impulse, outcome.velocity, self.rest, constraints.residual, constraints.rate, before.ravel(),
            free.ravel(), after.ravel(), NONE if self.turn is None else self.turn.ravel(), total, sums,
        )  # fmt: skip
        if self.closure is not None:
            total[self.closure.bilateral] = self.closure.impulses(self.free.pull(outcome.impulse))
        on_free, on_before, over, turnover = sums.tolist()
        return StepSolution(
            touches, self.rows, self.laws, self.constraints, self.wrenches, total, impulse, before, free, after, outcome,
            gained=0.5 * min(on_free, on_before), work=0.5 * over, pushes=self.push.size, turnover=turnover,
        )  # fmt: skip

    def expanded(self, solution: StepSolution, phased: np.ndarray, rebound: np.ndarray) -> StepSolution:
        """The second phase of impacts, after a first one without restitution; `rebound`: the speeds that Newton's law would give."""
        k, w, push = self.rest.size, self.w, self.push.size
        hit = np.flatnonzero(phased)
        going = np.flatnonzero(~phased)
        others = np.concatenate([np.arange(k), (k + w * going[:, None] + np.arange(w)).ravel()]).astype(np.int64)
        mu, had = self._rough, self._had(solution.outcome.impulse)
        bound = self.rule.bound[self.rule.friction_rows] * self.h
        parts = [unilateral(push), bounded(-bound - had, bound - had), *([self._contacts(mu[going])] if going.size else [])]
        mine = mu[hit, 0] if w == 2 else mu[hit, : w - 1]
        expansion = Expansion(self.whole, solution.outcome.velocity, join(*parts), others, k + w * hit, w, mine, self.options)
        first = solution.impulse[hit, 0]
        share = np.where(solution.free[hit, 0] < 0.0, rebound[hit] / np.maximum(-solution.free[hit, 0], 1e-300), 0.0)
        least = share * first
        taken = -0.5 * first * (solution.free[hit, 0] + solution.after[hit, 0])
        energetic = self.laws.impact[hit] == IMPACTS.index("stronge")
        if energetic.any():
            least, second, found = restore_work(expansion, least, share**2 * taken, energetic)
        else:
            second, found = expansion.run(least)
        impulse = solution.outcome.impulse + second
        velocity = solution.outcome.velocity + self.whole @ second
        shift = solution.outcome.velocity[k:].reshape(self.n, w) - solution.after
        outcome = ImpulseOutcome(
            impulse, velocity, solution.outcome.iterations + found.iterations, max(solution.outcome.residual, found.residual),
            solution.outcome.method, solution.outcome.note, solution.outcome.converged and found.converged,
        )  # fmt: skip
        return self._made(solution.touches, solution.before, solution.free, outcome, velocity[k:].reshape(self.n, w) - shift)

    def _had(self, done: np.ndarray) -> np.ndarray:
        """Impulses that count for the bounds of friction rows, of those of the constraints."""
        had = done[self.push.size : self.rest.size]
        return had if self.rule.friction is None else had * self.rule.friction.plain

    def _laid(
        self, b: np.ndarray, u: np.ndarray, shift: np.ndarray, guess: np.ndarray, done: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, Blocks]:
        """Right sides, impulses to start with, and the laws of the rows, in their order."""
        rule, k, n, size = self.rule, self.rest.size, self.n, self.rest.size + u.size
        bound = rule.bound[rule.friction_rows] if rule.friction_rows.size else NONE
        had = NONE if done is None or not k else self._had(done)
        right, warm, lower, upper, friction = np.empty(size), np.empty(size), np.empty(k + n), np.empty(k + n), np.empty((k + n, 3))
        lay_problem(
            self.w, self.push.size, self.h, b, u.ravel(), shift, self.begin if done is None else NONE, guess.ravel(), bound, had,
            self.laws.friction.ravel(), NONE if self.stick is None else self.stick, right, warm, lower, upper, friction.ravel(),
        )  # fmt: skip
        if self.idle.size:
            friction[k + self.idle] = 0.0
        return right, warm, Blocks(self.W.rows, lower, upper, friction)

    def _contacts(self, friction: np.ndarray) -> Blocks:
        """Of contacts with coefficients (n, 3)."""
        return contacts(friction[:, 0], planar=True) if self.w == 2 else contacts(friction[:, : self.w - 1])

    def apart(self, solution: StepSolution) -> np.ndarray | None:
        """Pseudo-velocities that take a part of what overlaps away, in no other row's way; None where nothing does."""
        push, k, asked = self.push.size, self.rest.size, self.options
        self.rule.deep.warning = ""
        if not push and not overlaps(solution.touches.gaps, self.rule.radius):
            return None
        gaps = self.rule.deep.separable(solution.touches.gaps, self.rows.bodies, self.wrenches, self.W, k)
        impulse = impulses_apart(
            self.W, self.h, k, asked.iterations if asked.method in ("auto", "pgs") else 0, self.rule.radius,
            self.rule.sizes[self.push], self.constraints.residual[self.push],
            solution.outcome.velocity[:push], gaps, solution.after, self.order,
        )  # fmt: skip
        if impulse is None:
            return None
        rest = np.zeros(k + self.n * self.w)
        rest[:push], rest[k :: self.w] = impulse[:push], impulse[push:]
        total = np.zeros(len(self.constraints.rate))
        total[self.rest] = rest[:k]
        if self.closure is not None:
            total[self.closure.bilateral] = self.closure.impulses(self.free.pull(rest), moving=False)
        wrenches = self.rows.on_bodies(self.wrenches, rest[k:].reshape(self.n, self.w), self.rule.model.n_bodies)
        return self.rule.system.change(total, self.constraints, wrenches)
