"""Time stepping with impulses (Stewart and Trinkle; paper 002 §3.1): order 1, through impacts and friction without events.

    M (v⁺ − v) = h f + Jᵀ λ,     laws of the rows on J v⁺,     q⁺ = q ⊕ h v⁺

A gap up to the margin is anticipated, C/h + Ċ⁺ ≥ 0, so that bodies arrive at each other and not inside. Where they overlap all the same
(curved surfaces, a bad start) the law is Ċ⁺ ≥ 0, and positions alone are moved apart by pseudo-velocities, the least motion in the sense
of M that takes a part of the overlap away: the velocities, hence the kinetic energy, know nothing of it.

Friction in joints that does not slip holds J v⁺ = 0 at the beginning of the step. Where joints are rows, J turns within the step; so the
joint goes back to where it was as positions and velocities are brought back onto the joints (`stepping.stiction`).

An impact faster than `bounce_above` acts at the beginning of its step by Newton's law. Velocities of this rule are those of the middle
of a step, so that it is −e (u⁻ + h a/2) + h a/2 with the free acceleration a: a ball that bounces with e = 1 then returns to its height.
Impacts that these cause within the same step follow in rounds.

b = J (v + h M⁻¹ f) + h J̇ v and W = J M⁻¹ Jᵀ have a solution if some v meets all laws strictly (Acary et al. 2011): joints at rest do, as
C/h ≥ 0 there, but for h J̇ v, which belongs to the speed of before. Where friction holds a body whatever presses on it (a hook whose arm
points into its cone), what h J̇ v asks for may be out of reach, and impulses grow without end. A problem that is not solved is posed again
without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unibody.arena import keep_freed_memory
from unibody.constraints.contact import IMPACTS
from unibody.constraints.dry_friction_rows import DryFrictionRows
from unibody.contact.pair_laws import ContactLaws, PairLaws
from unibody.coordinates.workspace import ROW_SIZE, STABILISER
from unibody.forces.dry_friction import DryFriction
from unibody.forces.joint_friction import JointFriction
from unibody.memory import MemoryView
from unibody.model.model import JointInfo, Model
from unibody.model.scale import model_length
from unibody.model.tables import Names
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.contact_margin import NOTHING, ContactMargin, Touches
from unibody.stepping.contact_rows import ContactRows, contact_rows
from unibody.stepping.depenetration import DeepOverlaps
from unibody.stepping.impacts import largest_share
from unibody.stepping.impulse_dynamics import ConstraintRows, ImpulseDynamics, row_bounds
from unibody.stepping.impulses import ImpulseOptions, ImpulseOutcome, close_bilateral
from unibody.stepping.inactive_contacts import Near
from unibody.stepping.joint_friction import SteppingFriction, friction_rows_of_joints
from unibody.stepping.memory import NO_GUESS, NONE, Guess
from unibody.stepping.midpoint_rows import LOOSE, keep_to_sticking, roles_of
from unibody.stepping.step_arrays import MOVED, PUSHED, SOFT, STEERED, fill_targets, meet, row_parts
from unibody.stepping.step_problem import AWAY, Assembled
from unibody.stepping.step_solution import StepSolution
from unibody.stepping.stiction import Stiction

INSTANT = 1e-6
"""[s] The step that stands for an instant, where forces at a state are asked for."""

FINER = 1e-5
"""Its tolerance, in terms of that of steps."""

CLOSE = 1e-6
"""[m, rad] What counts as touching at an instant."""

GAIN = 1e-9
"""The part of the work at contacts that may come from nowhere before it is told, or clipped."""


JAMMED = 200
"""Rows of contacts up to which a problem that is not solved is posed again. In larger ones sweeps just end before they are done."""


INSIDE = 1e-9
"""The part of its bound by which friction in a joint that holds lies below it."""


class Stepping:
    """The rule bound to a system: assembles and solves the problem of a step at the state that the system looked at last."""

    def __init__(
        self, model: Model, system: ImpulseDynamics, options: ImpulseOptions, bounce_above: float, clip: bool, near: ContactMargin | None
    ):  # fmt: skip
        self.model, self.system, self.options, self.bounce_above = model, system, options, bounce_above
        self.near, self.clip, self.moving = near, clip, system.moving.astype(np.int64)
        self.speed_warning = ""
        self.deep = DeepOverlaps(model, np.zeros(model.n_bodies) if near is None else near.reach[0])
        keep_freed_memory()
        self.pair_laws = PairLaws(model)
        # constraint rows after the primary ones, by their laws: bilateral, pushed from one side, or with friction up to a bound
        constraints = system.constraints
        first, k = constraints.primary_rows, constraints.rows - constraints.primary_rows
        elements = dict(system.model.constraints)
        own = [elements.get(name) if r >= constraints.joint_rows else None for r, name in enumerate(constraints.names)][first:]
        self.unilateral = np.array(constraints.unilateral[first:], bool)
        self.nonholonomic = np.array([getattr(e, "nonholonomic", False) for e in own], bool)
        self.bound = row_bounds(system.model, constraints)
        self.compliance = np.array(constraints.compliance)
        self.bilateral = np.flatnonzero(~self.unilateral & np.isinf(self.bound))
        self.pushed = np.flatnonzero(self.unilateral)
        self.friction_rows = np.flatnonzero(np.isfinite(self.bound))
        # friction in joints: which velocity each of its rows is
        begins = {name: r - first for r, name in reversed(list(enumerate(constraints.names))) if r >= constraints.joint_rows}
        self._friction_dofs: dict[int, tuple[JointInfo, int]] = {}
        for r in self.friction_rows.tolist():
            element: Any = own[r]
            self._friction_dofs[r] = (system.model.joint(element.joint), element.chosen[r - begins[constraints.names[first + r]]])
        reacts = any(isinstance(f, JointFriction) for _, f in model.forces)
        self.friction = SteppingFriction(model, system, self.friction_rows, self.bound) if reacts else None
        # rows that positions are brought back onto: bilateral ones other than nonholonomic ones
        self.rest = np.concatenate([self.pushed, self.friction_rows]).astype(np.int64)
        self.in_order = bool((self.rest == np.arange(k)).all()) if self.rest.size == k else False
        """Whether those that are not bilateral are all constraint rows, in its order."""
        self.projected = np.zeros(k)
        self.projected[self.bilateral] = 1.0
        self.projected[self.nonholonomic] = 0.0
        self.projects = bool(self.projected.any() or first)
        """Whether positions are brought back onto rows after a step."""
        # what contacts need: which way is up, lengths, and the numbers of a contact (normal, tangents, spin)
        size = float(np.linalg.norm(model.gravity))
        self.up = -np.asarray(model.gravity) / size if size > 0.0 else np.zeros(3)
        self.radius = model_length(model) if near is None else near.smallest
        """What an overlap is small beside [m]."""
        self.sizes = np.array(system.view(ROW_SIZE)[first:])
        self.plane_normal = None if model.plane is None else np.array(model.plane[2], float)
        self.spin = self.pair_laws.spins and self.plane_normal is None
        self.width = 2 if self.plane_normal is not None else 4 if self.spin else 3
        self.roles, self._scenery = roles_of(model), np.array([b.kind == "kinematic" for b in model.bodies], bool)
        """How each body goes through a step (`stepping.midpoint_rows`)."""
        self._loose = bool((self.roles == LOOSE).any())
        moved = self.nonholonomic | np.isfinite(self.bound)
        self.role = np.select([self.unilateral, moved, self.compliance > 0.0], [PUSHED, MOVED, SOFT], STEERED).astype(np.int64)

    def touches(self, motion: BodyMotion, h: float) -> Touches:
        """Contacts within the margin that some moving body takes part in."""
        if self.near is None:
            return NOTHING
        found = self.near.find(self.system.poses(), motion, h, self.moving)
        self.speed_warning = self.near.speed_warning
        return found

    def solve_step(self, h: float, warm: Any = None, instant: bool = False, joint_friction: np.ndarray | None = None) -> StepSolution:
        """Impulses over a step h; `instant`: those that hold at this instant, over a very short one, where nothing hits anything;
        `joint_friction`: what it starts from."""
        system, options = self.system, self.options
        motion, constraints = system.motion(), system.constraint_rows()
        touches = self.touches(motion, h)
        if instant:
            touches = self._touching(touches, motion)
            options = replace(options, tolerance=FINER * options.tolerance)
        rows, laws, wrenches, before, free, guess = self._meet(touches, motion, h, warm)
        if instant and self.near is not None and len(touches.gaps):
            free = free + h * self.near.rates(system.poses(), motion, rows, touches.ids)
        near = Near(touches, rows, laws, wrenches, before, free, guess, getattr(warm, "constraints", None))
        targets = self._constraint_targets(constraints, h, instant)
        acting = None if instant or self.near is None else near.acting(motion, *self.near.reach, h, options.method == "pgs")
        while acting is not None:
            solution = self._solved(near.some(acting), motion, constraints, targets, h, options, False, joint_friction)
            moved = system.carried(solution.constraint_impulse, constraints, solution.on_bodies(self.model.n_bodies))
            passed = near.with_inactive(solution, acting, moved, h)
            if not passed.size:
                return solution
            near = replace(near, guess=solution.impulse, begin=solution.constraint_impulse)
            acting = np.sort(np.concatenate([acting, passed]))
        return self._solved(near, motion, constraints, targets, h, options, instant, joint_friction)

    def _solved(
        self, near: Near, motion: BodyMotion, constraints: ConstraintRows, targets: np.ndarray, h: float, options: ImpulseOptions,
        instant: bool, joint_friction: np.ndarray | None,
    ) -> StepSolution:  # fmt: skip
        """The impulses of the constraint rows and of these contacts."""
        begun = near.free
        turn = None if instant or self.near is None or not len(near.touches.gaps) else self._turning(near, motion, h)
        if turn is not None:
            near.free = begun + turn  # `near` is this problem's own
        found = self._once(near, motion, constraints, targets, h, options, instant, joint_friction, turn)
        if instant or found.outcome.converged or options.iterations or options.method == "pgs" or not 0 < begun.size <= JAMMED:
            return found
        # no solution, though no effort was spared: perhaps there is none with h J̇ v
        drift = self.system.turning()
        if drift is None:
            return found
        turned = near.rows.velocities(BodyMotion(motion.centre, np.zeros_like(motion.velocity), drift), h)
        if not np.abs(turned[:, 0]).max() > options.tolerance:
            return found
        slower = replace(near, free=begun - turned)
        again = self._once(slower, motion, constraints, targets, h, options, False, joint_friction, None)
        return again if again.outcome.residual < found.outcome.residual else found

    def _once(
        self, near: Near, motion: BodyMotion, constraints: ConstraintRows, targets: np.ndarray, h: float, options: ImpulseOptions,
        instant: bool, joint_friction: np.ndarray | None, turn: np.ndarray | None,
    ) -> StepSolution:  # fmt: skip
        """The impulses of one problem, `turn` being among the free velocities of its contacts already."""
        touches, laws, before = near.touches, near.laws, near.before
        free = near.free
        gaps = -before[:, 0] if instant else np.maximum(touches.gaps, 0.0) / h
        problem = Assembled(self, near.wrenches, constraints, targets, near.rows, laws, h, options, near.begin, turn)
        bounces = ContactBounces(near, motion, h, self.bounce_above) if self.pair_laws.bounces and not instant else None

        def with_share(share: float) -> StepSolution:
            if bounces is None:
                return problem.solved(touches, before, free, gaps, near.guess)
            solution = problem.solved(touches, before, free, bounces.shift(gaps, share), near.guess)
            if bounces.phased.any():
                return problem.expanded(solution, bounces.phased, share * bounces.rebound)
            return problem.bounced(solution, bounces.bouncy, share, bounces.above) if bounces.bouncy.any() else solution

        if self.friction is None:
            solution = with_share(1.0)
        else:
            self.friction.begin(np.zeros(self.friction.kept.size) if joint_friction is None else joint_friction, h)
            solution = self.friction.settle(problem, lambda: with_share(1.0), h)
        added, allowed = solution.gained, GAIN * solution.turnover
        stronge = bounces is not None and bounces.stronge
        if bounces is not None and bounces.any and added > allowed and (self.clip or stronge):
            settled = solution.joint_friction
            solution = with_share(largest_share(lambda share: with_share(share).gained, allowed))
            solution.joint_friction, solution.clipped = settled, True
        solution.gained = added if added > allowed and (self.clip or not stronge) else 0.0
        if not instant:
            solution.apart = problem.apart(solution)
        return solution

    def _turning(self, near: Near, motion: BodyMotion, h: float) -> np.ndarray | None:
        """(n, w) what the middle of the step adds to the velocities of contacts (`stepping.midpoint_rows`)."""
        if not self._loose:
            return None
        rows, gaps, laws = near.rows, near.touches.gaps, near.laws
        turn = self.near.turning(self.system.poses(), motion, rows, near.touches, h, self.roles)
        if turn is not None:
            keep_to_sticking(
                rows.width, int(rows.spin), CLOSE, self.bounce_above, near.before.ravel(), gaps, laws.restitution, turn.ravel()
            )
        return turn

    def acted(self, solution: StepSolution) -> bool:
        """Whether anything acted in a step that may change velocities at once: contacts, limits, dry friction."""
        return bool(solution.impulse.any()) or bool(self.rest.size and solution.constraint_impulse[self.rest].any())

    def stuck_joints(self, solution: StepSolution, q: np.ndarray, h: float) -> Stiction | None:
        """Which joints stuck over a step h that began at q: friction within its bounds holds them."""
        rows = self.friction_rows
        if not rows.size:
            return None
        inside = np.abs(solution.constraint_impulse[rows]) < (1.0 - INSIDE) * h * self.bound[rows]
        if self.friction is not None:
            inside |= self.friction.sticking_balls(rows.size)
        slip = np.abs(solution.outcome.velocity[solution.pushes : solution.pushes + rows.size])
        stuck = rows[inside & (slip <= max(10.0 * self.options.tolerance, solution.outcome.residual))]
        joint_q = q[q.size - self.model.nq_joints :].copy()
        return Stiction(stuck, [self._friction_dofs[r] for r in stuck.tolist()], joint_q) if stuck.size else None

    def remembered(self, h: float, constraint_impulse: np.ndarray, known: MemoryView, count: int) -> StepSolution | None:
        """The step whose impulses are known, those of `count` contacts as memory keeps them; None where other contacts are found."""
        system = self.system
        motion, constraints = system.motion(), system.constraint_rows()
        touches = self.touches(motion, h)
        if count != len(touches.gaps):
            return None
        rows, laws, wrenches, before, free, _ = self._meet(touches, motion, h, None)
        after = np.zeros_like(free)
        after[:, 0] = (known.gap - touches.gaps) / h
        after[:, 1] = known.slip
        if self.bilateral.size:
            W = constraints.J @ constraints.Y.T
            close_bilateral(system, 0.5 * (W + W.T), constraints, self.bilateral, self.compliance)
        impulse = known.impulse[:, : rows.width].copy()
        outcome = ImpulseOutcome(impulse, after)
        return StepSolution(
            touches, rows, laws, constraints, wrenches, constraint_impulse.copy(), impulse, before, free, after, outcome,
            struck=known.approach.copy(),
        )  # fmt: skip

    def _rows(self, touches: Touches) -> tuple[ContactRows, ContactLaws]:
        """Rows and laws of contacts."""
        laws = self.pair_laws.of(touches.bodies, touches.ids)
        return contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal, self._wishes(laws), self.spin), laws

    def _wishes(self, laws: ContactLaws) -> np.ndarray | None:
        """(n, 3) where first tangents are to lie, if laws say so."""
        if not self.pair_laws.directed:
            return None
        return np.einsum("nij,nj->ni", self.system.poses()[:, :9].reshape(-1, 3, 3)[laws.owner], laws.direction)

    def _meet(self, touches: Touches, motion: BodyMotion, h: float, warm: Any) -> tuple[ContactRows, ContactLaws, *tuple[np.ndarray, ...]]:
        """Rows and laws of contacts; wrenches, velocities before and free, and impulses to start with."""
        n, w, laws, wishes = len(touches.gaps), self.width, None, None
        if self.pair_laws.directed:
            laws = self.pair_laws.of(touches.bodies, touches.ids)
            wishes = self._wishes(laws)
        recalled = warm if isinstance(warm, Guess) else NO_GUESS
        which, wrenches, numbers = np.empty(n, np.int64), np.empty((n, w, 2, 6)), np.empty((3 + 6 * w) * n)
        meet(
            w, int(self.spin), self.model.n_bodies, h, recalled.scale, recalled.count, self.pair_laws.keys, self.pair_laws.classes,
            self.pair_laws.coefficients, NONE if self.plane_normal is None else self.plane_normal,
            NONE if wishes is None else wishes.ravel(), touches.bodies.ravel(), touches.points.ravel(), touches.normals.ravel(),
            touches.ids, motion.centre.ravel(), motion.velocity.ravel(), motion.rate.ravel(), recalled.table, which, wrenches.ravel(),
            numbers,
        )  # fmt: skip
        friction, directions, before, free, guess = row_parts(numbers, n, w)
        if warm is not None and recalled is NO_GUESS:
            guess = warm(touches.ids, w)
        rows = ContactRows(touches.bodies, touches.points, directions, self.spin)
        return rows, self.pair_laws.none.picked(which, friction), wrenches, before, free, guess

    def _touching(self, touches: Touches, motion: BodyMotion) -> Touches:
        """The contacts that touch and do not part."""
        rows = contact_rows(touches.bodies, touches.points, touches.normals, self.plane_normal)
        stiction = (touches.gaps <= CLOSE) & (rows.velocities(motion, 0.0)[:, 0] <= CLOSE)
        return touches.some(stiction)

    def _constraint_targets(self, constraints: ConstraintRows, h: float, instant: bool) -> np.ndarray:
        """b of the constraint rows."""
        if not self.bound.size:
            return constraints.acceleration
        k_v, k_q = (0.0, 0.0) if instant else self.system.view(STABILISER)
        b = np.empty(self.bound.size)
        fill_targets(
            self.role, h, k_v, k_q, CLOSE if instant else -1.0, constraints.residual, constraints.rate, constraints.acceleration, b
        )
        return b


class ContactBounces:
    """Which contacts of a step are impacts that bounce: `hit` now, with the speed `rebound` after; `phased` those of them whose law has two
    phases; `bouncy` what may hit within the step by Newton's law, `later` those that nothing pushes yet; `above` which speed (n,) what
    happens within the step is an impact.

    What lies on each other and does not approach only goes on: it takes part from the start, or a stack that falls together for the length
    of a step, its lowest body held, would hop. What did not approach before has to come together faster than loads alone, of which others
    are relieved, can make it: h Σ |n·a| over both bodies."""

    def __init__(self, near: Near, motion: BodyMotion, h: float, above: float):
        laws, gaps = near.laws, near.touches.gaps
        e, u, u_free = laws.restitution, near.before[:, 0], near.free[:, 0]
        newton = laws.impact == IMPACTS.index("newton")
        nears = u < -above
        self.hit = (e > 0.0) & nears & (gaps + h * u_free <= 0.0)
        self.rebound = np.where(self.hit, np.maximum(0.5 * (1.0 - e) * (u_free - u) - e * u, 0.0), 0.0)
        self.phased = self.hit & ~newton
        self.bouncy = (e > 0.0) & newton
        self.later = self.bouncy & ~self.hit & (gaps + h * u_free > 0.0) & (nears | (gaps > CLOSE))
        self.any = bool(self.hit.any() or self.bouncy.any())
        self.stronge = bool((self.phased & (laws.impact == IMPACTS.index("stronge"))).any())
        loads = np.abs(np.einsum("nsk,nsk->ns", near.wrenches[:, 0], motion.rate[near.touches.bodies])).sum(axis=1)
        self.above = np.where(nears, above, above + h * loads)
        self._away = AWAY * (1.0 + np.abs(near.free).max(initial=0.0))

    def shift(self, gaps: np.ndarray, share: float) -> np.ndarray:
        """What is added to normal velocities in their law, of gaps in speeds, for a share of the restitution."""
        open_gaps = np.where(self.hit, 0.0, gaps) - np.where(self.phased, 0.0, share * self.rebound)
        return open_gaps + np.where(self.later, self._away, 0.0)


def with_friction_rows(model: Model) -> Model:
    """The model with its DryFriction and JointFriction as rows whose multipliers are bounded, instead of as forces."""
    frictions = [(name, f) for name, f in model.forces if isinstance(f, DryFriction)]
    if not any(isinstance(f, DryFriction | JointFriction) for _, f in model.forces):
        return model
    names = Names(model)
    rows = []
    for name, f in frictions:
        bounds = f.bounds_on(names.joint(f.joint))
        chosen = tuple(int(d) for d in np.flatnonzero(bounds > 0.0))
        if chosen:
            rows.append((name, DryFrictionRows(f.joint, chosen, tuple(float(bounds[d]) for d in chosen))))
    others = tuple((n, f) for n, f in model.forces if not isinstance(f, DryFriction | JointFriction))
    return replace(model, forces=others, constraints=(*model.constraints, *rows, *friction_rows_of_joints(model)))
