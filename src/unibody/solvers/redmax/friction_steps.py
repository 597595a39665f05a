"""Linearly implicit steps with friction in the joints of a tree: many in one compiled loop, each with the friction of its own.

A step that begins slower, because kinetic energy came from nowhere (`linearly_implicit`), is taken again with the friction of that. Where
compiled code does not find the friction, and in all systems that are not such trees, it is found in Python, step by step.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.arrays import all_finite, largest
from unibody.coordinates.reduced.products import fill_wrenches, gather_wrenches
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, COUNTDOWN, ROWS, STATUS, X_SOLVED
from unibody.coordinates.stages import EVALUATE_STAGE, Evaluate
from unibody.coordinates.workspace import GRAVITY, SPEED_LIMIT, X_WB, F, Y
from unibody.kernel import Floats, Ints, device, kernel, long_kernel
from unibody.memory import Field, MemorySchema, MemoryView, count
from unibody.rules.base import COMMON, DAMPER_WORK, TIME, begun_fields, finish_step
from unibody.solvers.redmax.joint_friction import JointFrictions, Moment
from unibody.solvers.redmax.step import settle_loads

from unibody.solvers.redmax.linearly_implicit import (  # isort: skip
    BEGINNING, BEGUN_Q, CURBED, KEPT_COUNTDOWN, roll_linearly_implicit, step_linearly_implicit,
)  # fmt: skip

from unibody.solvers.redmax.friction_projections import (  # isort: skip
    AT_START, BEFORE, ENERGIES, FIRST, FRICTION_ROWS, MORE, RATES, RESPONSE, SAVED_MEMORY, SAVED_Q, SAVED_V, SLIP, SLOWER, TOTALS,
    VELOCITIES, CompiledJointFriction, respond_efforts, project_friction, pull_variables, see_in_joints,
)  # fmt: skip
from unibody.contact.joint_friction_variables import MOST, TOLERANCE


@device
def keep(x, copy_out):
    for k in range(x.size):
        copy_out[k] = x[k]


@kernel
def find_friction(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, friction_layout: Ints, friction_ints: Ints,
    friction_numbers: Floats, t: float, h: float, tolerance: float, most: int, work_out: Floats, friction_out: Floats, efforts_out: Floats,
    q_out: Floats, v_out: Floats, found_out: Floats,
) -> bool:  # fmt: skip
    """The friction of a step from (t, q, v), from the guess that was found last (u, then iterations and change), and its efforts. False if
    the step is not finite, or its friction not found."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    y = part(work_out, layout, Y)
    R = part(friction_numbers, friction_layout, FRICTION_ROWS)
    velocities = part(friction_ints, friction_layout, VELOCITIES)
    first = part(friction_out, friction_layout, FIRST)
    slip = part(friction_out, friction_layout, SLIP)
    more = part(friction_out, friction_layout, MORE)
    totals = part(friction_out, friction_layout, TOTALS)
    H = part(friction_out, friction_layout, RESPONSE)
    m = first.size
    e = velocities.size
    # the step with the friction u₀ that was found last: its efforts Rᵀ u₀, and the acceleration a
    u = found_out[:m]
    first[:] = 0.0
    pull_variables(R, u, first, efforts_out)
    y[:] = 0.0
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    if not all_finite(y):
        return False
    # w(u₀): the wrenches in the joints with friction
    settle_loads(layout, ints, constants, part(work_out, layout, X_SOLVED), y, work_out)
    fill_wrenches(
        body, rows, X, part(work_out, layout, F), part(constants, layout, GRAVITY), totals, part(friction_out, friction_layout, ENERGIES)
    )  # fmt: skip
    gather_wrenches(body, rows, columns, totals, part(friction_out, friction_layout, RATES))
    see_in_joints(friction_layout, friction_ints, friction_numbers, X, totals, part(friction_out, friction_layout, AT_START))
    # slip(u) = R (v + h a) + H (u − u₀): the constant part R (v + h a) − H u₀
    if not respond_efforts(layout, ints, friction_layout, friction_ints, friction_numbers, h, work_out, friction_out):
        return False
    for i in range(e):
        more[i] = v_out[velocities[i]] + h * y[velocities[i]]
    for a in range(m):
        first[a] = u[a]
    for a in range(m):
        slip[a] = 0.0
        for i in range(e):
            slip[a] += R[e * a + i] * more[i]
        for b in range(m):
            slip[a] -= H[m * a + b] * first[b]
    # staggered projections, and the efforts Rᵀ u of what they find
    if not project_friction(friction_layout, friction_ints, friction_numbers, tolerance, most, friction_out, u, found_out[m:]):
        return False
    first[:] = 0.0
    pull_variables(R, u, first, efforts_out)
    return True


@long_kernel
def roll_joint_friction(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, friction_layout: Ints, friction_ints: Ints,
    friction_numbers: Floats, t0: float, h: float, tolerance: float, most: int, done: int, steps: int, every: int, explicit: int,
    work_out: Floats, friction_out: Floats, efforts_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps from the one that follows `done` on; returns how many are done then. Before a step that is not finite, or whose friction
    was not found here, q, v and memory are as they were. Memory ends with `joint_friction`."""
    y = part(work_out, layout, Y)
    velocities = part(friction_ints, friction_layout, VELOCITIES)
    before = part(friction_out, friction_layout, BEFORE)
    q = part(friction_out, friction_layout, SAVED_Q)
    v = part(friction_out, friction_layout, SAVED_V)
    memory = part(friction_out, friction_layout, SAVED_MEMORY)
    slowed = part(friction_out, friction_layout, SLOWER)
    first_v = BEGUN_Q + q.size
    first_found = first_v + v.size
    found = memory_out[first_found:]
    part(work_out, layout, STATUS)[COUNTDOWN] = memory_out[KEPT_COUNTDOWN]
    t = t0
    for k in range(done, steps):
        # copies, for a step that has to be taken again
        keep(q_out, q)
        keep(v_out, v)
        keep(memory_out, memory)
        keep(v_out, slowed)
        # friction for the velocities at the beginning, then the step; once more where it had to begin slower
        for attempt in range(2):
            good = find_friction(
                layout, ints, constants, stages, control, friction_layout, friction_ints, friction_numbers, t, h, tolerance, most,
                work_out, friction_out, efforts_out, q_out, slowed, found,
            )  # fmt: skip
            if good:
                good = step_linearly_implicit(
                    layout, ints, constants, stages, control, t, h, explicit, work_out, before, q_out, v_out, memory_out
                )  # fmt: skip
            curbed = memory_out[CURBED] != memory[CURBED]
            if not good or (attempt == 0 and curbed):
                keep(memory_out[first_v : first_v + v.size], slowed)  # begun slower: friction of that
                keep(q, q_out)
                keep(v, v_out)
                keep(memory[:first_found] if good else memory, memory_out)
            if not good:
                return k
            if not curbed:
                break
        # the work of friction, h τ · v in the middle of the step
        for i in range(velocities.size):
            memory_out[DAMPER_WORK] += h * efforts_out[i] * (memory_out[first_v + velocities[i]] + 0.5 * h * y[velocities[i]])
        t = t + h
        if finish_step(layout, k, every, t, q_out, v_out, work_out, memory_out, record_out):
            return k + 1
    return steps


class JointFrictionSteps:
    """Steps of a system with friction in joints, called as `roll_linearly_implicit`. `kept`: the fields of their memory; `last`: what the
    last of them left there."""

    def __init__(self, frictions: JointFrictions):
        self.frictions, self.system = frictions, frictions.system
        found = MemorySchema(
            Field("friction", (frictions.size,), "N", "at the contact points of joints, along their tangents"),
            count("iterations", "in which it was found"),
            Field("change", (), "1", "the last relative change of what the contact points carry", low=0.0, infinite=True),
        )
        friction = Field("joint_friction", (), "", "friction in joints in the last step", record=found)
        self.kept = (*BEGINNING, *begun_fields(self.system.nq_all, self.system.nv_all), friction)
        self.schema = COMMON.followed_by(*self.kept)
        self.last = np.zeros(self.schema.size)
        self.compiled = CompiledJointFriction(frictions, self.system, self.schema.size) if frictions.linear else None

    def __call__(
        self, layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int,
        explicit: int, work: Floats, scratch: Floats, q: Floats, v: Floats, memory: Floats, record: Floats,
    ) -> int:  # fmt: skip
        common, width, done = (layout, ints, constants, stages, control), 1 + q.size + v.size + memory.size, 0
        limit, own = float(self.system.view(SPEED_LIMIT)[0]), v[: self.system.view(Y).size]
        while done < steps and not (done and largest(own) > limit):
            made, before, t = self.compiled, done, float(memory[TIME]) if done else t0
            if made is not None:
                done = roll_joint_friction(
                    *common, made.layout, made.ints, made.numbers, t, h, TOLERANCE, MOST, done, steps, every, explicit, work, made.scratch,
                    self.frictions.efforts, q, v, memory, record,
                )  # fmt: skip
                t = float(memory[TIME]) if done else t0
            if done < steps and not (done > before and largest(own) > limit):
                if not self._step(common, t, h, explicit, q, v, memory):
                    break
                done += 1
                if done % every == 0:
                    record[width * (done // every - 1) : width * (done // every)] = np.concatenate([[memory[TIME]], q, v, memory])
        self.last = memory
        return done

    def kept_friction(self, memory: np.ndarray) -> MemoryView:
        """The friction in a memory."""
        return self.schema.view(memory).joint_friction

    def _step(self, common: tuple, t: float, h: float, explicit: int, q_out: Floats, v_out: Floats, memory_out: Floats) -> bool:
        """One step, its friction found in Python; false, with q, v and memory as they were, if it is not finite."""
        start, u, system = v_out, self.kept_friction(memory_out).friction.copy(), self.system
        found = memory_out.copy()
        for _ in range(2):
            u = self.find(Moment(t, q_out, start, common[-1], h), u, found)
            self.frictions.act(u)
            system.prepare(h)
            q, v, new = q_out.copy(), v_out.copy(), memory_out.copy()
            if not roll_linearly_implicit(*common, t, h, 1, 2, explicit, system.work, np.zeros(0), q, v, new, np.zeros(0)):
                return False
            start = self.schema.view(new).begun_v
            if new[CURBED] == memory_out[CURBED]:  # else begun slower: friction of that
                break
        new[DAMPER_WORK] += self.frictions.work(start, system.view(Y), h, u)
        mine = self.schema.slices["joint_friction"]
        new[mine] = found[mine]
        q_out[:], v_out[:], memory_out[:] = q, v, new
        return True

    def find(self, moment: Moment, u: np.ndarray, memory_out: np.ndarray) -> np.ndarray:
        """The friction of a step, kept with how it was found; none where motion is not finite, which the step itself then reports."""
        try:
            found = self.frictions.solve(moment, u)
        except FloatingPointError:
            return np.zeros_like(u)
        kept = self.kept_friction(memory_out)
        kept.friction, kept.iterations, kept.change = found.friction, found.iterations, found.change
        return found.friction
