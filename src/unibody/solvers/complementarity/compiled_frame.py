"""What steps of few contacts in one kernel read: the frame of `compiled_step`, bound to a system, a rule and a collision loop."""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.cones import clip_to_cones
from unibody.algebra.contact.delassus import spread, write_gram
from unibody.algebra.contact.newton import newton_in_workspace
from unibody.algebra.contact.problem import CONVEX, COULOMB
from unibody.arena import CallFrame
from unibody.collision.rigid.contacts import arrange_touches
from unibody.collision.rigid.touching_pairs import find_pairs
from unibody.coordinates.kick import keep_courses, kick_reduced, mark_struck
from unibody.joints.table import advance_joints
from unibody.rules.base import TIME
from unibody.solvers.complementarity import compiled_layout as at
from unibody.solvers.complementarity.compiled_impulses import part_what_overlaps, solve_rows, take_blocks
from unibody.solvers.complementarity.compiled_step import find_near, roll_contacts, step_contacts
from unibody.stepping.body_motion import fill_motion_reduced
from unibody.stepping.constraint_responses import respond_to_constraints
from unibody.stepping.contact_margin import pace
from unibody.stepping.depenetration import find_separable, part_overlaps
from unibody.stepping.impulse_reduced import ImpulseReduced
from unibody.stepping.impulses import FEW_ROWS
from unibody.stepping.island_roots import begin_roots, leave_roots, root_row, root_three_rows, root_wrenches
from unibody.stepping.islands import lay_blocks
from unibody.stepping.memory import COUNT, NONE, SteppingMemory, begin_memory, write_step
from unibody.stepping.midpoint_coriolis import predict_change
from unibody.stepping.midpoint_rows import LOOSE as LOOSE_BODY
from unibody.stepping.step_arrays import add_works, fill_targets, lay_problem, meet, order_upwards, without_shift
from unibody.stepping.time_stepping import GAIN, Stepping

USUAL = {
    at.FILL_MOTION: fill_motion_reduced, at.RESPOND_TO_CONSTRAINTS: respond_to_constraints, at.FIND_PAIRS: find_pairs, at.MEET: meet,
    at.LAY_BLOCKS: lay_blocks, at.BEGIN_ROOTS: begin_roots, at.ROOT_ROW: root_row, at.LEAVE_ROOTS: leave_roots,
    at.NEWTON: newton_in_workspace, at.KICK: kick_reduced, at.PREDICT: predict_change, at.TARGETS: fill_targets,
    at.PACE: pace, at.ARRANGE: arrange_touches, at.LAY_PROBLEM: lay_problem, at.CLIP: clip_to_cones, at.GRAM: write_gram,
    at.SPREAD: spread, at.SHIFT: without_shift, at.WORKS: add_works, at.STRUCK: mark_struck, at.ADVANCE: advance_joints,
    at.COURSES: keep_courses, at.BEGIN: begin_memory, at.WRITE: write_step, at.FIND_NEAR: find_near, at.TAKE: take_blocks,
    at.SOLVE: solve_rows, at.STEP: step_contacts,
}  # fmt: skip
"""The kernels that every step calls."""

PARTING = {at.PART: part_overlaps, at.LEAVE: find_separable, at.UPWARDS: order_upwards, at.PART_ALL: part_what_overlaps}
"""Those of steps in which something overlaps."""


class ContactSteps:
    """`roll_contacts` bound to a system whose rows are limits, dry friction and contacts."""

    def __init__(self, rule: Stepping, system: ImpulseReduced, layout: SteppingMemory):
        self.rule, self.system, self.near = rule, system, rule.near
        self.frame = frame = CallFrame(at.KERNELS, at.ARRAYS)
        self.told = np.zeros(at.TOLD)
        self._ready = False
        near, islands, laws, deep = rule.near, system.islands, rule.pair_laws, rule.deep
        assert near is not None
        spots, table = islands.tables
        reach, least = near.reach
        flags = np.zeros(at.FLAG_COUNT, np.int64)
        flags[at.BODIES], flags[at.ROW_WIDTH], flags[at.SPIN] = system.model.n_bodies, rule.width, int(rule.spin)
        flags[at.LAW] = COULOMB if rule.options.law == "coulomb" else CONVEX
        flags[at.PUSHES], flags[at.ROOM], flags[at.MIDPOINTS] = rule.pushed.size, layout.contacts, layout.midpoints
        flags[at.FLIES], flags[at.LOOSE] = int(system.flies), int((rule.roles == LOOSE_BODY).any())
        flags[at.CONSTRAINT_SIZE], flags[at.FEW] = system.constraint_room.J.size, near.collision.few
        sizes = np.zeros(at.SIZE_COUNT)
        sizes[at.TOLERANCE], sizes[at.RADIUS], sizes[at.DEEPEST] = rule.options.tolerance, rule.radius, deep.least
        sizes[at.FARTHEST], sizes[at.NEAREST], sizes[at.THIN] = near.farthest, least, near.thin
        sizes[at.FIXED] = -1.0 if near.fixed is None else near.fixed
        sizes[at.OFFSET], sizes[at.GAIN] = near.collision.most_offset, GAIN
        room = at.room_for_steps(
            system.nq_all, system.nv_all, system.model.n_bodies, rule.rest.size, system.constraint_room.J.size, layout.midpoints, rule.width
        )
        for slot, array in {
            at.ROOM_FLOATS: np.empty(room[0]), at.ROOM_INTS: np.empty(room[1], np.int64), at.ROOM_ROWS: np.empty(room[2]),
            at.LAYOUT: system.layout, at.INTS: system.ints, at.CONSTANTS: system.constants, at.WORK: system.work,
            at.CLOCK: system.dynamics.clock, at.STAGES: system.stages_of_steps(layout.midpoints > 0), at.SPOTS: spots, at.TABLE: table,
            at.SHAPES: near.collision.frame.flat, at.MOVING: rule.moving, at.FLAGS: flags, at.SIZES: sizes, at.REST: rule.rest,
            at.ROLE: rule.role, at.KEYS: laws.keys, at.LAW_CLASSES: laws.classes, at.COEFFICIENTS: laws.coefficients,
            at.PLANE_NORMAL: NONE if rule.plane_normal is None else rule.plane_normal, at.NO_WISHES: NONE, at.RADII: reach,
            at.COM: system.flat_com, at.CONSTRAINT_PLACE: system.constraint_room.place, at.FRONT_ROWS: system.constraint_room.rows,
            at.BOUND: np.ascontiguousarray(rule.bound[rule.friction_rows]), at.ROW_SIZES: np.ascontiguousarray(rule.sizes[rule.pushed]),
            at.TIED: deep.tied, at.LIGHT: deep.light, at.AGILE: deep.agile, at.UP: rule.up, at.HALVES: system.halves,
            at.ROOTS: np.empty(system.model.nv), at.CHANGE: np.empty(system.model.nv),
        }.items():  # fmt: skip
            frame.point(slot, array)

    @staticmethod
    def suit(rule: Stepping) -> bool:
        """Whether steps of this rule may be of the usual kind: no bilateral rows, no contacts that bounce or have laws of their own."""
        laws, asked = rule.pair_laws, rule.options
        plain = not (laws.bounces or laws.sticks or laws.directed or rule.bilateral.size or rule.friction is not None)
        usual = asked.method == "auto" and not asked.iterations and not asked.directions
        return rule.near is not None and plain and usual and rule.in_order and rule.rest.size <= FEW_ROWS

    def may(self, memory: np.ndarray) -> bool:
        """Whether a step after one with this memory may be of the usual kind."""
        return self.rule.rest.size + self.rule.width * memory[COUNT] <= FEW_ROWS

    def prepare(self) -> None:
        """Before steps: arrays may have grown, and kernels may have been needed for the first time."""
        frame, rule = self.frame, self.rule
        if not self._ready:
            for slot, kernel in USUAL.items():
                frame.call(slot, kernel)
            frame.call(at.ROOT_WRENCHES, root_three_rows if rule.width == 3 else root_wrenches)
            self._ready = True
        frame.call(at.EVALUATE, self.system.evaluation)
        self.near.collision.refresh()

    def roll(
        self, t: float, h: float, control: np.ndarray, steps: int, done: int, every: int, speed_limit: float, q: np.ndarray, v: np.ndarray,
        memory: np.ndarray, rows: np.ndarray,
    ) -> int:  # fmt: skip
        """Steps number `done` … steps − 1, in place, as far as they are of the usual kind: how many are done then."""
        made, learnt = done, (-1, 0.0)
        while True:
            self.prepare()
            made = int(roll_contacts(self.frame.flat, control, t, h, steps, made, every, speed_limit, q, v, memory, rows, self.told))
            self.system.looked_elsewhere()
            missing = made, float(self.told[at.WHY])
            if missing == learnt or not self._learn(h):
                break
            t, learnt = float(memory[TIME]) if made > done else t, missing
        if made > done:
            self._tell()
        return made

    def _tell(self) -> None:
        """Have reports say of the last step what there is to say."""
        deep, (found, depth, one, other) = self.rule.deep, self.told[: at.WHY].tolist()
        self.rule.speed_warning, deep.warning = "", "" if found < 0.0 else deep.words(int(one), int(other), depth, int(found) % 2 == 1)

    def _learn(self, h: float) -> bool:
        """Find the room and the kernels that the last step asked for, which the work arrays still show at its beginning; whether it did."""
        if self.told[at.WHY] == at.FIRST_OVERLAP:
            for slot, kernel in PARTING.items():
                self.frame.call(slot, kernel)
            return True
        if self.told[at.WHY] == at.FIRST_PAIRS:
            self.rule.touches(self.system.motion(), h)
            self.near.collision.learn()
            return True
        return False
