"""Friction in joints within time stepping with impulses, by bilateral staggered projections (paper 000 §5.2, §5.3, Alg. 3).

Joint velocities with friction are rows of the step's problem, with bounds on their impulses. For bounds at hand the whole problem is
solved: friction in joints, contacts with the floor and their friction, limits and loops at once (so that Eq. 17 and 18 are one). Its
reactions, which include what contacts push, are shared out among the contact points of each joint (Eq. 16); these give the next bounds:

    |λ_k| ≤ h b_k,      b = μ α(λ),      until b no longer changes

Only bounds are staggered, and predicted from the last few (`algebra.anderson`); the paper staggers friction itself. A hinge or slide is
one row. At every point of a ball friction lies in a disc, which is a contact whose normal impulse is known: a row of its own, that nothing
else feels, gives it. Friction in balls acts in the first of several rounds of impacts within one step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.algebra.anderson import DampedAnderson
from unibody.constraints.dry_friction_rows import DryFrictionRows
from unibody.contact.joint_friction_variables import MOST, SATURATED, TOLERANCE, JointFrictionVariables
from unibody.coordinates.observation import JointFrictionState
from unibody.coordinates.workspace import MULTIPLIER
from unibody.coordinates.workspace import T as T_SLOT
from unibody.forces.joint_friction import JointFriction
from unibody.memory import Field, MemorySchema, count
from unibody.model.model import Model
from unibody.stepping.impulse_reduced import ImpulseReduced
from unibody.stepping.impulses import Blocks, ImpulseOptions, ImpulseOutcome, contacts, join, solve
from unibody.stepping.reactions import through_tree
from unibody.stepping.step_problem import Assembled
from unibody.stepping.step_solution import StepSolution

PREDICTED = 0.1
"""Part of the tolerance to which bounds are predicted, so that the problem's own solution confirms them."""

NEWTON_STEPS = 8
"""Most steps of Newton's method from the impulses of the last turn, before sweeps are tried first."""


def friction_rows_of_joints(model: Model) -> list[tuple[str, DryFrictionRows]]:
    """The frictions of a model that are some, as rows, whose bounds a step will find."""
    out = []
    for name, force in model.forces:
        if isinstance(force, JointFriction) and force.coefficient > 0.0:
            nv = model.joint(force.joint).nv
            out.append((name, DryFrictionRows(force.joint, tuple(range(nv)), (0.0,) * nv)))
    return out


class SteppingFriction(JointFrictionVariables):
    """All frictions in the joints of a model, bound to the rows of a system. `bound_out`: bounds of all rows that a step is to know."""

    def __init__(self, model: Model, system: Any, friction_rows: np.ndarray, bound_out: np.ndarray):
        super().__init__(model)
        self.system, self.n_bodies, self._bound = system, model.n_bodies, bound_out
        system.dynamics.bearings = self.bearings(model)
        constraints = system.constraints
        names = np.array(constraints.names[constraints.primary_rows :])
        self.plain = np.ones(friction_rows.size)
        """Of the friction rows, 0 for those of balls, whose own impulses are none."""
        self._single: list[tuple[int, int, int]] = []  # a block, its variable, its row
        self._discs: list[tuple[slice, slice, np.ndarray, np.ndarray]] = []  # blocks, variables, places among the friction rows, matrix
        self.discs = 0
        block = 0
        for part in self.parts:
            mine = np.array([r for r in friction_rows if names[r] == part.name], int)
            blocks = slice(block, block + len(part.contacts.widths))
            block = blocks.stop
            if not mine.size:
                continue
            if part.contacts.single:
                self._single.append((blocks.start, part.own.start, int(mine[0])))
                continue
            places = np.searchsorted(friction_rows, mine)
            self.plain[places] = 0.0
            self._discs.append((blocks, part.own, places, part.contacts.rows))
            self.discs += len(part.contacts.widths)
        blocks_at, variables_at, rows_at = np.array(self._single, int).reshape(-1, 3).T
        self._blocks, self._variables, self._rows = blocks_at, variables_at, rows_at
        self.blocks = block
        self.kept = MemorySchema(
            Field("bound", (block,), "N, N m", "the most that friction may be at a contact point, or in a hinge or slide"),
            Field("slip", (block,), "m/s, rad/s", "the speed there"),
            Field("friction", (self.size,), "N, N m", "along the tangents there"),
            count("iterations", "in which bounds were found"),
            Field("change", (), "1", "their last relative change"),
        )
        """What a step leaves for the next."""
        self._turn, self._found, self._map = 0, ImpulseOutcome(np.zeros(0), np.zeros(0)), None
        self.idle = False
        """Whether friction moves nothing, so that contacts need no second look."""
        self.begin(np.zeros(self.kept.size), 1.0)

    def begin(self, kept: np.ndarray, h: float) -> None:
        """Start from what the last step has left."""
        last = self.kept.view(kept)
        self._u = last.friction.copy()
        self._impulses = h * self._u
        self._allow(last.bound.copy(), h)

    def _allow(self, bounds: np.ndarray, h: float) -> None:
        """Set the bounds [N m, N] of all blocks for the next solution."""
        self.bounds, self._h = bounds, h
        self._bound[self._rows] = bounds[self._blocks]

    def warm(self, friction_rows: np.ndarray) -> np.ndarray:
        """Impulses Of the friction rows to start with."""
        out = np.zeros(friction_rows.size)
        out[np.searchsorted(friction_rows, self._rows)] = self._impulses[self._variables]
        return out

    def solve(self, W: np.ndarray, b: np.ndarray, laws: Blocks, options: ImpulseOptions, warm: np.ndarray, first: int) -> ImpulseOutcome:
        """A problem with friction in balls as further rows; `first`: where friction rows begin."""
        if self.idle:
            return self._solve_others(W, b, laws, options, warm, first)
        if not self._discs:
            return self._solve(W, b, laws, options, warm)
        m, count = b.size, 3 * self.discs
        E, own, target, start = np.zeros((count, m)), np.zeros(count), np.zeros(count), np.zeros(count)
        at = 0
        for blocks, variables, places, matrix in self._discs:
            for k in range(blocks.stop - blocks.start):
                E[at + 1 : at + 3, first + places] = matrix[2 * k : 2 * k + 2]
                u = variables.start + 2 * k
                start[at], start[at + 1 : at + 3] = self._h * self.bounds[blocks.start + k], self._impulses[u : u + 2]
                at += 3
        responses = E @ W
        inner = responses @ E.T
        own[0::3] = 0.5 * (np.diag(inner)[1::3] + np.diag(inner)[2::3])
        target[0::3] = -own[0::3] * start[0::3]
        whole = np.block([[W, responses.T], [responses, inner + np.diag(own)]])
        discs = contacts(np.ones(self.discs))
        found = self._solve(whole, np.concatenate([b, E @ b + target]), join(laws, discs), options, np.concatenate([warm, start]))
        extra = found.impulse[m:].copy()
        extra[0::3] = 0.0
        slip = (E @ b).reshape(-1, 3)
        speed = np.linalg.norm(slip, axis=1)
        driven = (own[0::3] == 0.0) & (speed > 0.0)  # what nothing moves pushes as hard as it may
        extra.reshape(-1, 3)[driven] = -(start[0::3][driven] / speed[driven])[:, None] * slip[driven]
        at = 0
        for blocks, variables, _, _ in self._discs:
            size = 3 * (blocks.stop - blocks.start)
            self._impulses[variables] = extra[at : at + size].reshape(-1, 3)[:, 1:].ravel()
            at += size
        return ImpulseOutcome(
            found.impulse[:m] + E.T @ extra, found.velocity[:m], found.iterations, found.residual, found.method, found.note, found.converged
        )  # fmt: skip

    def _solve(self, W: np.ndarray, b: np.ndarray, laws: Blocks, options: ImpulseOptions, warm: np.ndarray) -> ImpulseOutcome:
        """From the impulses of the last turn, if this is not the first, and then by Newton's method at once."""
        if self._turn > 1:
            warm = self._found.impulse
        found = None
        if self._turn > 1 and options.method == "auto" and not options.directions:
            found = solve(W, b, laws, replace(options, method="newton", iterations=NEWTON_STEPS), warm)
        if found is None or not found.converged:
            found = solve(W, b, laws, options, warm)
        self._found = replace(found, impulse=found.impulse.copy())
        return found

    def _solve_others(
        self, W: np.ndarray, b: np.ndarray, laws: Blocks, options: ImpulseOptions, warm: np.ndarray, first: int
    ) -> ImpulseOutcome:
        """Where no friction row moves anything: the problem of the others, once a step."""
        if self._turn <= 1:
            rows, blocks = np.ones(b.size, bool), np.ones(laws.rows.size, bool)
            rows[first : first + self.plain.size] = blocks[first : first + self.plain.size] = False
            found = ImpulseOutcome(np.zeros(0), np.zeros(0))
            if rows.any():
                others = Blocks(laws.rows[blocks], laws.lower[blocks], laws.upper[blocks], laws.friction[blocks])
                found = solve(W[np.ix_(rows, rows)], b[rows], others, options, warm[rows])
            impulse, velocity = np.zeros(b.size), b.copy()
            impulse[rows], velocity[rows] = found.impulse, found.velocity
            self._found = replace(found, impulse=impulse, velocity=velocity)
        return replace(self._found, impulse=self._found.impulse.copy())

    def settle(self, problem: Assembled, resolve: Callable[[], StepSolution], h: float) -> StepSolution:
        """Solve, see what joints carry, and solve again with the bounds that follow, until these stay."""
        mixing, friction_rows, predicted = DampedAnderson(), problem.rule.friction_rows, 0
        self._map = self._linear(problem)
        for k in range(1, MOST + 1):
            self._turn = k
            solution = resolve()
            self._impulses[self._variables] = solution.constraint_impulse[self._rows]
            self._u = self._impulses / h
            _, found = self.carried(self.wrenches(solution, h), self._u)
            most = float(found.max(initial=0.0))
            moved = float(np.abs(found - self.bounds).max(initial=0.0)) / most if most > 0.0 else 0.0
            if moved <= TOLERANCE or k == MOST:
                break
            sure = None
            if not predicted and self.idle and (self.bounds[self._blocks] > 0.0).all():
                sure, predicted = self._predict(problem, solution, found, h)
            self._allow(mixing.next(self.bounds, found) if sure is None else sure, h)
        slips = np.zeros(self.size)
        reached = solution.outcome.velocity[solution.pushes : solution.pushes + friction_rows.size]
        slips[self._variables] = reached[np.searchsorted(friction_rows, self._rows)]
        for _, variables, places, matrix in self._discs:
            slips[variables] = matrix @ reached[places]
        solution.joint_friction = np.zeros(self.kept.size)
        kept = self.kept.view(solution.joint_friction)
        kept.bound, kept.slip, kept.friction, kept.iterations, kept.change = self.bounds, self.speeds(slips), self._u, k + predicted, moved
        return solution

    def sticking_balls(self, rows: int) -> np.ndarray:
        """(friction rows,) those of balls some of whose points are held within their bounds, at the last solution."""
        out = np.zeros(rows, bool)
        for blocks, variables, places, _ in self._discs:
            pushed = np.linalg.norm(self._u[variables].reshape(-1, 2), axis=1)
            out[places] = (pushed < (1.0 - SATURATED) * self.bounds[blocks]).any()
        return out

    def _predict(self, problem: Assembled, solution: StepSolution, found: np.ndarray, h: float) -> tuple[np.ndarray | None, int]:
        """Bounds where friction moves nothing and all rows push at theirs: reactions are then linear in the bounds, and no problem need
        be solved between two of them. None where that is not so or does not settle; and the turns that it took."""
        if self._map is None or self._discs:
            return None, 1
        unit, constraints, closure = self._map[1], problem.constraints, problem.closure
        sign = np.sign(solution.constraint_impulse[self._rows])
        push = unit[:, self._rows]
        if closure is not None:
            push = push - unit[:, closure.bilateral] @ (closure.inverse @ (constraints.J[closure.bilateral] @ constraints.Y[self._rows].T))
        push = push * sign
        start = self.wrenches(solution, h).ravel() - push @ self.bounds[self._blocks]
        mixing, bounds, u = DampedAnderson(), self.bounds, self._u.copy()
        for k in range(1, MOST + 1):
            bounds = mixing.next(bounds, found)
            own = bounds[self._blocks]
            u[self._variables] = sign * own
            _, found = self.carried((start + push @ own).reshape(-1, 6), u)
            if np.abs(found - bounds).max() <= PREDICTED * TOLERANCE * found.max():
                return bounds, k
        return None, MOST

    def _linear(self, problem: Assembled) -> tuple[np.ndarray, np.ndarray] | None:
        """Reactions (6 parts) at M in M's axes without impulses, and those of unit impulses of all rows, the constraints' first; none in
        maximal coordinates, nor where rows repeat others, so that reactions are not unique."""
        system, rows = self.system, problem.rows
        rank, count = system.rank()
        if not isinstance(system, ImpulseReduced) or (problem.closure is not None and rank < count):
            return None
        k, w = len(problem.constraints.rate), problem.w
        system.view(MULTIPLIER)[:] = 0.0
        pairs = np.repeat(rows.bodies, w, axis=0)
        through = through_tree(system, problem.constraints.Y, pairs, problem.wrenches.reshape(-1, 2, 6), problem.responses)
        out, tree = self.units(through, system.poses()), len(system.model.tree_joints)
        T, joints = system.view(T_SLOT).reshape(-1, 6), system.constraints.joints
        for p in np.flatnonzero(self.joints >= tree):
            first, size = joints[6 * (self.joints[p] - tree) + 4 : 6 * (self.joints[p] - tree) + 6]
            out[first : first + size, p] = T[first : first + size]
        assert len(out) == k + rows.directions.shape[0] * w
        return self.reduced_wrenches(system.dynamics).ravel(), np.ascontiguousarray(out.reshape(len(out), 6 * self.joints.size).T)

    def wrenches(self, solution: StepSolution, h: float) -> np.ndarray:
        """(parts, 6) reactions under the impulses of a step, at M in M's axes; the system is left as it was."""
        if self._map is not None:
            free, unit = self._map
            return (free + unit @ np.concatenate([solution.constraint_impulse, solution.impulse.ravel()]) / h).reshape(-1, 6)
        system = self.system
        saved = system.work.copy()
        on = solution.rows.on_bodies(solution.wrenches, solution.impulse, self.n_bodies)
        system.accelerate(solution.constraint_impulse, solution.constraints, on, h)
        out = (
            self.reduced_wrenches(system.dynamics)
            if isinstance(system, ImpulseReduced)
            else self.local(system.through().reactions, system.poses())
        )
        system.work[:] = saved
        return out

    def seen(self, reactions: np.ndarray, kept: np.ndarray) -> dict[str, JointFrictionState]:
        """What a recording keeps, of the reactions (joints, 6) at M in world axes, and of what the step has left."""
        last = self.kept.view(kept)
        return self.states(self.local(reactions, self.system.poses()), last.friction, last.slip)
