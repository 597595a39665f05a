"""Time stepping with impulses (Stewart and Trinkle; paper 002 §3.1): order 1, through impacts and friction without events.

    M (v⁺ − v) = h f + Jᵀ λ,     laws of the rows on J v⁺,     q⁺ = q ⊕ h v⁺

A gap up to the margin is anticipated, C/h + Ċ⁺ ≥ 0, so that bodies arrive at each other and not inside. Where they overlap all the same
(curved surfaces, a bad start) the law is Ċ⁺ ≥ 0, and positions alone are moved apart by pseudo-velocities, the least motion in the sense
of M that takes a part of the overlap away: the velocities, hence the kinetic energy, know nothing of it.

An impact faster than `bounce_above` acts at the beginning of its step by Newton's law. Velocities of this rule are those of the middle
of a step, so that it is −e (u⁻ + h a/2) + h a/2 with the free acceleration a: a ball that bounces with e = 1 then returns to its height.
Impacts that these cause within the same step follow in rounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unibody.constraints.contact import IMPACTS
from unibody.constraints.joint_rub import JointRub
from unibody.contact.contact_rows import ContactRows, contact_rows
from unibody.contact.pair_laws import Laws, PairLaws
from unibody.coordinates.held import BookRows, Motion, row_bounds
from unibody.coordinates.slots import STABILISER
from unibody.forces.dry_friction import DryFriction
from unibody.forces.joint_friction import JointFriction
from unibody.model.model import Model
from unibody.model.tables import Names
from unibody.rules.impacts import largest_share
from unibody.rules.impulses import Options, Outcome, close_held
from unibody.rules.nearness import NOTHING, Touches
from unibody.rules.step_problem import AWAY, Assembled, Held
from unibody.rules.stepping_friction import SteppingFriction, rub_rows

INSTANT = 1e-6
"""[s] The step that stands for an instant, where forces at a state are asked for."""

FINER = 1e-5
"""Its tolerance, in terms of that of steps."""

CLOSE = 1e-6
"""[m, rad] What counts as touching at an instant."""

GAIN = 1e-9
"""The part of the work at contacts that may come from nowhere before it is told, or clipped."""


class Stepping:
    """The rule bound to a system: assembles and solves the problem of a step at the state that the system looked at last."""

    def __init__(self, model: Model, system: Any, options: Options, bounce_above: float, clip: bool, find: Any):
        self.model, self.system, self.options, self.bounce_above = model, system, options, bounce_above
        self.find, self.clip = find, clip
        self.hurry = ""
        self.pair_laws = PairLaws(model)
        book = system.book
        first, k = book.primary_rows, book.rows - book.primary_rows
        elements = dict(system.model.constraints)
        own = [elements.get(name) if r >= book.joint_rows else None for r, name in enumerate(book.names)][first:]
        self.unilateral = np.array(book.unilateral[first:], bool)
        self.nonholonomic = np.array([getattr(e, "nonholonomic", False) for e in own], bool)
        self.bound = row_bounds(system.model, book)
        self.compliance = np.array(book.compliance)
        self.held = np.flatnonzero(~self.unilateral & np.isinf(self.bound))
        self.pushed = np.flatnonzero(self.unilateral)
        self.rubbed = np.flatnonzero(np.isfinite(self.bound))
        rubs = any(isinstance(f, JointFriction) for _, f in model.forces)
        self.friction = SteppingFriction(model, system, self.rubbed, self.bound) if rubs else None
        self.projected = np.zeros(k)
        self.projected[self.held] = 1.0
        self.projected[self.nonholonomic] = 0.0
        size = float(np.linalg.norm(model.gravity))
        self.up = -np.asarray(model.gravity) / size if size > 0.0 else np.zeros(3)
        self.plane_normal = None if model.plane is None else np.asarray(model.plane[2])

    def touches(self, motion: Motion, h: float) -> Touches:
        """Contacts within the margin that some moving body takes part in."""
        if self.find is None:
            return NOTHING
        found = self.find(self.system.poses(), motion, h)
        self.hurry = self._hurry(motion, h)
        return found.some(self.system.moving[found.bodies].any(axis=1))

    def _hurry(self, motion: Motion, h: float) -> str:
        """What a report should say where bodies go farther, or turn more, in a step than contact can follow."""
        way, turn = h * np.abs(motion.velocity[:, 3:]).max(axis=1), h * np.abs(motion.velocity[:, :3]).max(axis=1)
        far, fast = int(np.argmax(way)), int(np.argmax(turn))
        farthest = self.find.__self__.farthest
        if way[far] > farthest:
            name = self.model.bodies[far].name
            return f"'{name}' goes {way[far]:.3g} m in a step, but contacts are seen {farthest:.3g} m ahead: it may pass through others"
        if turn[fast] > np.pi:
            return f"'{self.model.bodies[fast].name}' turns by {turn[fast]:.3g} rad in a step, which no step follows; give a smaller dt"
        return ""

    def hold(self, h: float, warm: Any = None, instant: bool = False, rub: np.ndarray | None = None) -> Held:
        """Impulses over a step h; `instant`: those that hold at this instant, over a very short one, where nothing hits anything; `rub`:
        what friction in joints starts from."""
        system = self.system
        motion, book = system.motion(), system.book_rows()
        touches = self.touches(motion, h)
        if instant:
            touches = self._touching(touches, motion)
        rows, laws = self._rows(touches)
        before, free = rows.velocities(motion, 0.0), rows.velocities(motion, h)
        if instant and len(touches.gaps):
            free = free + h * self.find.__self__.rates(system.poses(), motion, rows, touches.ids)
        b_book = self._book_targets(book, h, instant)
        hit = self._hits(touches, laws, before[:, 0], free[:, 0], h) & (not instant)
        returned = -laws.restitution * before[:, 0] + 0.5 * (1.0 - laws.restitution) * (free - before)[:, 0]
        rebound = np.where(hit, np.maximum(returned, 0.0), 0.0)
        gaps = -before[:, 0] if instant else np.where(hit, 0.0, np.maximum(touches.gaps, 0.0) / h)
        options = replace(self.options, tolerance=FINER * self.options.tolerance) if instant else self.options
        phased = hit & (laws.impact != IMPACTS.index("newton"))
        problem = Assembled(self, motion, book, b_book, rows, laws, h, options, bool(phased.any()))
        guess = np.zeros_like(free) if warm is None else warm(touches.ids, free.shape[1])

        bouncy = (laws.restitution > 0.0) & (laws.impact == IMPACTS.index("newton")) & (not instant)
        later = bouncy & ~hit & (touches.gaps + h * free[:, 0] > 0.0)

        def with_share(share: float) -> Held:
            shift = gaps - np.where(phased, 0.0, share * rebound) + np.where(later, AWAY * (1.0 + np.abs(free).max(initial=0.0)), 0.0)
            held = problem.held(touches, before, free, shift, guess)
            if phased.any():
                return problem.expanded(held, phased, share * rebound)
            return problem.bounced(held, bouncy, share, self.bounce_above) if bouncy.any() else held

        if self.friction is None:
            held = with_share(1.0)
        else:
            self.friction.begin(np.zeros(self.friction.size_kept) if rub is None else rub, h)
            held = self.friction.settle(problem, lambda: with_share(1.0), h)
        added = held.gained
        allowed = GAIN * float(np.abs(held.impulse * held.free).sum())
        bounces = bool(hit.any() or bouncy.any())
        stronge = bool((phased & (laws.impact == IMPACTS.index("stronge"))).any())
        if bounces and added > allowed and (self.clip or stronge):
            rubbed = held.rub
            held = with_share(largest_share(lambda share: with_share(share).gained, allowed))
            held.rub = rubbed
        held.gained = added if self.clip or not stronge else 0.0
        held.clipped = bool(bounces and added > allowed and (self.clip or stronge))
        if added <= allowed:
            held.gained = 0.0
        if not instant:
            held.apart = problem.apart(held, h)
        return held

    def remembered(self, h: float, book_impulse: np.ndarray, table: np.ndarray) -> Held:
        """The step whose impulses are known, those of contacts as rows of memory."""
        system = self.system
        motion, book = system.motion(), system.book_rows()
        touches = self.touches(motion, h)
        rows, laws = self._rows(touches)
        before, free = rows.velocities(motion, 0.0), rows.velocities(motion, h)
        after = np.zeros_like(free)
        after[:, 0] = (table[:, 6] - touches.gaps) / h
        after[:, 1] = table[:, 7]
        if self.held.size:
            W = book.J @ book.Y.T
            close_held(system, 0.5 * (W + W.T), book, self.held, self.compliance)
        wrenches, impulse = rows.wrenches(motion), table[:, 2 : 2 + rows.width].copy()
        outcome = Outcome(impulse, after)
        return Held(
            touches, rows, laws, book, wrenches, book_impulse.copy(), impulse, before, free, after, outcome, struck=table[:, 8].copy()
        )  # fmt: skip

    def _rows(self, touches: Touches) -> tuple[ContactRows, Laws]:
        """Rows and laws of contacts."""
        laws = self.pair_laws.of(touches.bodies)
        along = None
        if np.isfinite(laws.direction).any():
            along = np.einsum("nij,nj->ni", self.system.poses()[:, :9].reshape(-1, 3, 3)[laws.owner], laws.direction)
        return contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal, along, self.pair_laws.spins), laws

    def _touching(self, touches: Touches, motion: Motion) -> Touches:
        """Those that touch and do not part."""
        rows = contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal)
        stays = (touches.gaps <= CLOSE) & (rows.velocities(motion, 0.0)[:, 0] <= CLOSE)
        return touches.some(stays)

    def _book_targets(self, book: BookRows, h: float, instant: bool) -> np.ndarray:
        """b of the book's rows."""
        k_v, k_q = (0.0, 0.0) if instant else self.system.view(STABILISER)
        b = h * (book.acceleration + k_v * book.rate + k_q * book.residual)
        b[self.compliance > 0.0] = h * book.acceleration[self.compliance > 0.0]
        ends = self.nonholonomic | np.isfinite(self.bound)
        b[ends] = (book.rate + h * book.acceleration)[ends]
        if instant:
            idle = (book.residual > CLOSE) | (book.rate > CLOSE)
            b[self.unilateral] = np.where(idle, np.inf, h * book.acceleration)[self.unilateral]
        else:
            b[self.unilateral] = (book.rate + h * book.acceleration + np.maximum(book.residual, 0.0) / h)[self.unilateral]
        return b

    def _hits(self, touches: Touches, laws: Laws, before: np.ndarray, free: np.ndarray, h: float) -> np.ndarray:
        """Which contacts are impacts that bounce."""
        return (laws.restitution > 0.0) & (before < -self.bounce_above) & (touches.gaps + h * free <= 0.0)


def with_rubs(model: Model) -> Model:
    """The model with its DryFriction and JointFriction as rows whose multipliers are bounded, instead of as forces."""
    rubs = [(name, f) for name, f in model.forces if isinstance(f, DryFriction)]
    if not any(isinstance(f, DryFriction | JointFriction) for _, f in model.forces):
        return model
    names = Names(model)
    rows = []
    for name, f in rubs:
        bounds = f.bounds_on(names.joint(f.joint))
        chosen = tuple(int(d) for d in np.flatnonzero(bounds > 0.0))
        if chosen:
            rows.append((name, JointRub(f.joint, chosen, tuple(float(bounds[d]) for d in chosen))))
    others = tuple((n, f) for n, f in model.forces if not isinstance(f, DryFriction | JointFriction))
    return replace(model, forces=others, constraints=(*model.constraints, *rows, *rub_rows(model)))
