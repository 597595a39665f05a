"""A model in reduced coordinates, ready to compute: tables, arenas, and accelerations in one compiled call.

`evaluate_reduced` goes from (q, v) to the accelerations; what a scene does not need (forces, loops, functions of time) is neither run nor
compiled: those stages are called by address, 0 meaning none. Loops are auxiliary constraints by anticipation (paper 001 §4): with the
tree's response M⁻¹ kᵢ to every row kᵢ at hand,

    A μ = −(K a + bias) − (2/τ) Ċ − C/τ²,     A = K M⁻¹ Kᵀ (k×k, perhaps singular),     a ← a + M⁻¹ Kᵀ μ

at O(nk + k³).
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from unibody.algebra.tree.aba import BODY, GENERAL, ROTATION, ROW, SLIDE, WELD, A, C, eliminate_tree, fill_shifts, solve_tree
from unibody.arena import Arena, HoldsAddresses, part
from unibody.coordinates.constraint_layout import joint_planes, lay_out_constraints, row_sizes
from unibody.coordinates.convert import to_reduced
from unibody.coordinates.evaluate_rows import see_rows
from unibody.coordinates.external_forces import load_forces
from unibody.coordinates.kick import floating_table, free_table, kick_reduced
from unibody.coordinates.loop_closure import close_rows, closure_size, fill_reference, solve_closure, solve_closure_again
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH, PROJECT_LIMIT
from unibody.coordinates.observation import Bearings, Observation
from unibody.coordinates.reduced.careful_projection import project_carefully, see_state
from unibody.coordinates.reduced.observe import observe_reduced
from unibody.coordinates.reduced.products import twice_kinetic_energy
from unibody.coordinates.relative_joints import add_joint_efforts
from unibody.coordinates.signals import FillSignals, signal_filler

from unibody.coordinates.reduced.kinematics import (  # isort: skip
    CONSTANTS as NUMBERS, advance_joints, fill_bodies, fill_joint_table, fill_turns, load_wrenches, place_entries, sweep_reduced,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, ARMATURE, BIAS, BODIES, BORROWED, CLASSES, CLOSURE, COLUMNS, COMPLIANCE, CONSTANTS, COUNTS, DOF_INDEX, DOF_START, DRIFT, DUAL,
    EFFORT, ENTRY_BODY, ENTRY_W, F, FORCE_CLASSES, FORCE_INDEX, FORCE_PARAMETERS, FRAMES, FREE, G, GRAM, GRAVITY, INDEX, J, JOINTS, JOINT_C,
    JOINT_CLASSES, JOINT_FRAMES, JOINT_INDEX, JOINT_PARAMETERS, JOINT_PARTS, JOINT_PLANES, JOINT_S, JOINT_X, LAST, LEDGER, LIMIT, LOAD,
    MASSES, MULTIPLIER, NODE_CONSTANTS, NODE_OF, PARAMETERS, PARTS, RANK, RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y, RIGHT, ROWS, ROW_CLASSES,
    ROW_ENTRY, ROW_INDEX, ROW_PARAMETERS, ROW_START, SCRATCH, SEEN, SHIFT, SIGNALS, SPEED_LIMIT, STABILISER, STEP, T, TABLE_C, TABLE_S,
    TABLE_X, TARGET, TURNS, V_WB, X_WB, Y, MOVING, ROW_COUNT, ROW_SIZE, STATUS, UNPROJECTED, VIOLATION, FLOATING, DIAGONAL, LEAST, BLOCKS,
    SUMS,
)  # fmt: skip
from unibody.coordinates.stages import (  # isort: skip
    AGAIN_STAGE, CLOSE_STAGE, EVALUATE_STAGE, FORCE_STAGE, KICK_STAGE, PROJECT_STAGE, SEE_STAGE, SIGNAL_STAGE, STAGES, Stage,
)  # fmt: skip
from unibody.element import LEDGER as LEDGER_SIZE
from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.model.state import State
from unibody.model.tables import CallbackErrors, ConstraintTables, ForceTables, JointTables
from unibody.spatial.devices import load3
from unibody.spatial.pose import Pose


@device
def see_and_load(layout, ints, constants, stages, control, t, work_out, q_out, v_out):
    """Poses, velocities and loads of the tree at (t, q, v); the coordinates and velocities of loop joints are fitted on the way."""
    table_X = part(work_out, layout, TABLE_X)
    table_S = part(work_out, layout, TABLE_S)
    table_c = part(work_out, layout, TABLE_C)
    signals = part(work_out, layout, SIGNALS)
    right = part(work_out, layout, RIGHT)
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, signals)
    fill_joint_table(
        part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), part(ints, layout, PARTS), q_out,
        v_out, table_X, table_S, table_c,
    )  # fmt: skip
    fill_turns(part(ints, layout, TURNS), q_out, table_X)
    sweep_reduced(
        part(ints, layout, BODIES), part(constants, layout, CONSTANTS), table_X, table_S, table_c, v_out, signals,
        part(work_out, layout, ROWS), part(work_out, layout, COLUMNS),
    )  # fmt: skip
    if stages[SEE_STAGE] != 0:
        Stage(stages[SEE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    if stages[FORCE_STAGE] != 0:
        Stage(stages[FORCE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    else:
        limit = part(constants, layout, LIMIT)
        for j in range(right.size):
            right[j] = min(max(control[j], -limit[j]), limit[j])


@kernel
def evaluate_reduced(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Accelerations (slot Y) of the tree joints at (t, q, v)."""
    see_and_load(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    eliminate_tree(
        part(ints, layout, BODIES), part(constants, layout, ARMATURE), part(work_out, layout, RIGHT), part(work_out, layout, ROWS),
        part(work_out, layout, COLUMNS), part(work_out, layout, Y),
    )  # fmt: skip
    if stages[CLOSE_STAGE] != 0:
        Stage(stages[CLOSE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def see_loops(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Where the bodies are; loop joints fitted; the rows of loops and constraint elements."""
    fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), part(work_out, layout, X_WB), part(work_out, layout, V_WB))
    see_rows(layout, ints, constants, work_out, q_out, v_out)


@kernel
def load_bodies(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """All forces, as wrenches in the sweep's rows and efforts in RIGHT."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    V = part(work_out, layout, V_WB)
    wrenches = part(work_out, layout, F)
    right = part(work_out, layout, RIGHT)
    joints = part(ints, layout, JOINTS)
    if joints.size == 0 and part(ints, layout, COUNTS)[ROW_COUNT] == 0:  # else they were seen with the rows
        fill_bodies(part(constants, layout, FRAMES), rows, X, V)
    load_forces(
        part(ints, layout, FORCE_CLASSES), part(ints, layout, FORCE_INDEX), part(constants, layout, FORCE_PARAMETERS),
        part(constants, layout, LIMIT), part(work_out, layout, SIGNALS), X, V, q_out, v_out, control, wrenches,
        part(work_out, layout, EFFORT), part(work_out, layout, LEDGER), right,
    )  # fmt: skip
    if joints.size > 0:
        add_joint_efforts(joints, part(work_out, layout, DUAL), part(work_out, layout, SEEN), right, wrenches)
    load_wrenches(X, wrenches, rows)


@kernel
def close_loops(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The auxiliary constraints by anticipation; corrects Y, the accelerations in ROWS, and F."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    blocks = part(work_out, layout, G)
    joint_numbers = part(work_out, layout, J)
    world = part(work_out, layout, ENTRY_W)
    load = part(work_out, layout, LOAD)
    shift = part(work_out, layout, SHIFT)
    step = part(work_out, layout, STEP)
    response_x = part(work_out, layout, RESPONSE_X)
    response_y = part(work_out, layout, RESPONSE_Y)
    y = part(work_out, layout, Y)
    target = part(work_out, layout, TARGET)
    multiplier = part(work_out, layout, MULTIPLIER)
    wrenches = part(work_out, layout, F)
    gravity = load3(part(constants, layout, GRAVITY), 0)
    stabiliser = part(constants, layout, STABILISER)
    n = body.size // BODY
    count = row_start.size - 1
    nv = y.size
    first = part(ints, layout, COUNTS)[0]
    place_entries(entry_body, blocks, X, rows, world)
    fill_shifts(body, rows, shift)
    for k in range(load.size):
        load[k] = 0.0
    for r in range(count):
        for k in range(step.size):
            step[k] = 0.0
        moved = part(work_out, layout, BIAS)[first + r]
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            b = entry_body[e]
            for m in range(6):
                load[6 * b + m] += world[6 * e + m]
                moved += world[6 * e + m] * rows[ROW * b + A + m]
            for m in range(3):
                moved += world[6 * e + 3 + m] * gravity[m]
        for k in range(dof_start[r], dof_start[r + 1]):
            step[dof_index[2 * k + 1]] += joint_numbers[dof_index[2 * k]]
            moved += joint_numbers[dof_index[2 * k]] * y[dof_index[2 * k + 1]]
        if part(constants, layout, COMPLIANCE)[r] > 0.0:
            target[r] = -moved
        else:
            rate, residual = part(work_out, layout, RATE)[first + r], part(work_out, layout, RESIDUAL)[first + r]
            target[r] = -moved - stabiliser[0] * rate - stabiliser[1] * residual
        solve_tree(body, shift, columns, step, load, response_x[6 * n * r : 6 * n * (r + 1)], response_y[nv * r : nv * (r + 1)])
    close_rows(
        6, row_start, row_entry, part(ints, layout, NODE_OF), dof_start, dof_index, world, joint_numbers,
        part(constants, layout, COMPLIANCE), response_x, response_y, nv, part(work_out, layout, GRAM),
    )  # fmt: skip
    fill_reference(row_start, row_entry, entry_body, world, part(constants, layout, MASSES), part(work_out, layout, CLOSURE))
    solve_closure(
        part(work_out, layout, GRAM), target, part(work_out, layout, VIOLATION), part(work_out, layout, CLOSURE),
        multiplier, part(work_out, layout, RANK),
    )  # fmt: skip
    for r in range(count):
        mu = multiplier[r]
        for j in range(nv):
            y[j] += mu * response_y[nv * r + j]
        for i in range(1, n):
            for m in range(6):
                rows[ROW * i + A + m] += mu * response_x[6 * n * r + 6 * i + m]
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            for m in range(6):
                wrenches[6 * entry_body[e] + m] += mu * blocks[6 * e + m]


FEEDBACK_STEPS = 10.0
"""The default time of the feedback, in steps."""


SLOW, SLIGHT, SMALL = 0.5, 1e-9, 0.05
"""What the factors of a step's beginning must do to serve at its end: bring violations down to this part an iteration, or to this size, and
take no more than this part of the kinetic energy."""


@kernel
def project_reduced(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Post-stabilisation: q ← q ⊕ M⁻¹ Kᵀ μ with A μ = −C(q), then v ← v + M⁻¹ Kᵀ μ with A μ = −Ċ, by the factors of the last evaluation;
    where these do not serve, near singular configurations, with those of every iterate (`careful_projection`)."""
    target = part(work_out, layout, TARGET)
    multiplier = part(work_out, layout, MULTIPLIER)
    step = part(work_out, layout, STEP)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    active = part(work_out, layout, ACTIVE)
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    rank = part(work_out, layout, RANK)
    classes = part(ints, layout, CLASSES)
    index = part(ints, layout, INDEX)
    parameters = part(constants, layout, PARAMETERS)
    assembled = closure[closure.size - 1] < PROJECT_BELOW
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    begun = part(work_out, layout, UNPROJECTED)
    for j in range(begun.size):
        begun[j] = q_out[j]
    # positions, by the factors of the step's beginning, as long as these bring violations down
    serves = True
    before = 0.0
    for k in range(PROJECT_LIMIT):
        largest = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
        if not largest < PROJECT_BELOW:
            if not (assembled and largest < inf):
                return
            serves = False
        elif k > 0 and largest > max(SLIGHT, SLOW * before):
            serves = False
        if not serves or not largest > PROJECT_ENOUGH:
            break
        before = largest
        for r in range(target.size):
            target[r] = -active[r] * residual[r]
        solve_closure_again(gram, target, closure, multiplier, rank)
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        advance_joints(classes, index, parameters, q_out, step, 1.0, q_out)
    # velocities; a projection that takes much of the motion says that rows have turned since
    if serves:
        for r in range(target.size):
            target[r] = -active[r] * rate[r] if part(constants, layout, COMPLIANCE)[r] == 0.0 else 0.0
        solve_closure_again(gram, target, closure, multiplier, rank)
        taken = 0.0
        for r in range(target.size):
            taken += target[r] * multiplier[r]
        status = part(work_out, layout, STATUS)
        moving = status[MOVING] if status.size > 0 else twice_kinetic_energy(layout, ints, constants, v_out, work_out)
        serves = not taken > SMALL * moving
    if serves:
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        for j in range(part(work_out, layout, Y).size):
            v_out[j] += step[j]
    else:  # from where it began, with the factors of every iterate
        for j in range(begun.size):
            q_out[j] = begun[j]
        project_carefully(layout, ints, constants, stages, control, work_out, q_out, v_out)


@kernel
def spread_responses(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """M⁻¹ Kᵀ μ of the multipliers at hand, into STEP, from the rows' responses."""
    multiplier = part(work_out, layout, MULTIPLIER)
    response_y = part(work_out, layout, RESPONSE_Y)
    step = part(work_out, layout, STEP)
    nv = part(work_out, layout, Y).size
    for j in range(nv):
        total = 0.0
        for r in range(multiplier.size):
            total += multiplier[r] * response_y[nv * r + j]
        step[j] = total


def feedback_gains(dt: float, time: float | None, k_v: float | None = None, k_q: float | None = None) -> tuple[float, float]:
    """k_v, k_q of C̈ = −k_v Ċ − k_q C: critically damped within `time` (None: FEEDBACK_STEPS steps) unless given; 0 for an infinite dt."""
    if np.isinf(dt):
        return 0.0, 0.0
    time = FEEDBACK_STEPS * dt if time is None else time
    k_q = 1.0 / time**2 if k_q is None else k_q
    return 2.0 * float(np.sqrt(k_q)) if k_v is None else k_v, k_q


def inverse_masses(model: Model) -> np.ndarray:
    """1/m and 3/trace of the inertia about the centre of mass of every body; 0 where it cannot be moved."""
    out = np.zeros((model.n_bodies, 2))
    for i, b in enumerate(model.bodies):
        if b.kind == "dynamic":
            out[i] = 1.0 / b.mass, 3.0 / np.trace(b.inertia)
    return out


def column_kind(joint: Joint) -> int:
    """What the tree may take for granted of a joint's only column, or of one without: what its class promises."""
    return {"rotation": ROTATION, "slide": SLIDE, "none": WELD}.get(type(joint).__dict__.get("column", ""), GENERAL)


def _z_to_axis(joint: Joint) -> Pose:
    """A rotation that takes z to the axis of a joint that is a pure rotation; none for others."""
    if column_kind(joint) != ROTATION:
        return Pose()
    a = joint.motion(joint.neutral())[:3, 0]
    if a[2] > -0.5:
        return Pose(wxyz=(1.0 + a[2], -a[1], a[0], 0.0))
    # near −z: first half a turn about x, then from −z
    return Pose(wxyz=(1.0 - a[2], a[1], -a[0], 0.0)) @ Pose(wxyz=(0.0, 1.0, 0.0, 0.0))


class ReducedSystem(HoldsAddresses):
    """Tables and work space of a model in reduced coordinates."""

    def __init__(self, model: Model):
        self.model = model
        self.callback_errors = CallbackErrors()
        self.clock = np.zeros(1)
        self.bearings: Bearings | None = None
        """What shares loads out where rows repeat each other, if friction asks for it."""
        n = model.n_bodies
        tree, loops = model.tree_joints, model.loop_joints
        tables = JointTables(tree, self.callback_errors, turns=True)
        loop_tables = JointTables(loops, self.callback_errors)
        forces = ForceTables(model, self.callback_errors, self.clock)
        self.force_ranges = forces.ranges
        elements = ConstraintTables(model, self.callback_errors, self.clock)
        self.constraints = constraints = lay_out_constraints(model, loops, 0, elements, model.nv, model.planar)
        self.python_classes = sorted({name for group in (tables, loop_tables, forces, elements) for name in group.python_classes})
        signals, self._signal_address = signal_filler(model, self.callback_errors, self.clock)
        slots: list[Any] = [0] * LAST
        slots[BODIES] = self._body_integers(signals.drives)
        slots[TURNS] = self._turns()
        slots[CLASSES], slots[INDEX], slots[PARTS] = tables.classes, tables.index, tables.parts
        slots[FORCE_CLASSES], slots[FORCE_INDEX] = forces.classes, forces.index
        slots[JOINTS], slots[JOINT_CLASSES] = constraints.joints, loop_tables.classes
        slots[JOINT_INDEX], slots[JOINT_PARTS] = loop_tables.index, loop_tables.parts
        slots[ROW_CLASSES], slots[ROW_INDEX] = elements.classes, elements.index
        slots[ROW_START], slots[ROW_ENTRY], slots[ENTRY_BODY] = constraints.row_start, constraints.row_entry, constraints.entry_body
        slots[DOF_START], slots[DOF_INDEX], slots[BORROWED] = constraints.dof_start, constraints.dof_index, constraints.borrowed
        slots[COUNTS] = np.array([0, constraints.joint_rows, constraints.rows, constraints.entries, elements.rows, 6, model.nq], np.int64)
        slots[NODE_OF] = 6 * constraints.entry_body
        slots[JOINT_PLANES] = joint_planes(model, loops, model.planar)
        slots[CONSTANTS], slots[FRAMES] = self._constants()
        slots[PARAMETERS], slots[FORCE_PARAMETERS] = tables.parameters, forces.parameters
        slots[JOINT_FRAMES] = np.concatenate([np.concatenate([j.X_PF.flat(), j.X_BM.flat()]) for j in loops]) if loops else np.zeros(0)
        slots[JOINT_PARAMETERS], slots[ROW_PARAMETERS] = loop_tables.parameters, elements.parameters
        slots[ARMATURE] = np.concatenate([j.armature for j in model.joints]) if model.joints else np.zeros(0)
        slots[LIMIT] = np.concatenate([j.effort_limit for j in model.joints]) if model.joints else np.zeros(0)
        slots[GRAVITY], slots[STABILISER], slots[COMPLIANCE] = model.gravity, np.zeros(2), constraints.compliance
        slots[MASSES] = inverse_masses(model)
        slots[FREE], slots[NODE_CONSTANTS] = free_table(model, tables)
        k, nvj = constraints.rows, model.nv_joints
        sizes = {
            SIGNALS: signals.values, TABLE_X: 12 * tables.rows, TABLE_S: 6 * nvj, TABLE_C: 6 * tables.rows, ROWS: self._ground(),
            COLUMNS: 14 * max(1, model.nv), X_WB: 12 * n, V_WB: 6 * n, F: 6 * n, EFFORT: 2 * nvj, RIGHT: nvj, LEDGER: LEDGER_SIZE,
            SPEED_LIMIT: 1, Y: model.nv, JOINT_X: 12 * loop_tables.rows, JOINT_S: 6 * nvj, JOINT_C: 6 * loop_tables.rows,
            SCRATCH: 36 + max(36, nvj), STEP: nvj, SEEN: 42 * len(loops), T: 6 * constraints.joint_rows, DUAL: 6 * nvj,
            G: 6 * constraints.entries, J: np.ones(constraints.places), RESIDUAL: k, RATE: k, BIAS: k, DRIFT: k, RESPONSE_X: 6 * n * k,
            RESPONSE_Y: model.nv * k, GRAM: k * k, TARGET: k, MULTIPLIER: k, CLOSURE: closure_size(k), RANK: 1, LOAD: 6 * n,
            ENTRY_W: 6 * constraints.entries, SHIFT: 3 * n, ACTIVE: np.ones(k),
            ROW_SIZE: row_sizes(model, loops, constraints, slots[JOINT_PLANES]), VIOLATION: k, UNPROJECTED: model.nq_joints if k else 0,
            FLOATING: floating_table(model, constraints.bodies_of_rows(), set(constraints.dof_index[1::2].tolist())),
            DIAGONAL: nvj if k else 0, LEAST: model.nv if k else 0, BLOCKS: 21 * n if k else 0, SUMS: max(21 * n, model.nv) if k else 0,
        }  # fmt: skip
        for slot, size in sizes.items():
            slots[slot] = size
        self.extend(slots)
        first_work = SIGNALS
        first_constant = CONSTANTS
        ints = Arena(slots[:first_constant], np.int64, frozen=True)
        constants = Arena(slots[first_constant:first_work], np.float64)
        work = Arena(slots[first_work:], np.float64)
        self.layout = np.concatenate([ints.layout, constants.layout, work.layout])
        self.layout.flags.writeable = False
        self.ints, self.constants, self.work = ints.flat, constants.flat, work.flat
        self._views: dict[int, np.ndarray] = {}
        self._prepared: tuple[float, float | None] | None = None
        self.has_loops = constraints.rows > 0
        self._sees = self.has_loops or bool(loops)
        self._see = see_loops.address if self._sees else 0
        self._load: int | None = None
        self._project = 0
        self.momenta = False
        """Whether steps carry the velocities of Free joints over in axes that do not turn (`kick_reduced`)."""
        self.feedback_time: float | None = None
        self._always_load = bool(model.forces) or self._sees

    def extend(self, slots: list[Any]) -> None:
        """For systems that need more: fill in further slots before the arenas are made."""

    def _body_integers(self, drives: dict[int, int]) -> np.ndarray:
        out = np.zeros((self.model.n_bodies, BODY), np.int64)
        eliminated: set[int] = set()
        for i, j in reversed(list(enumerate(self.model.tree_joints, start=1))):
            role = (1 if i in eliminated else 0) + (0 if j.parent in eliminated else 2)
            eliminated.add(j.parent)
            out[i] = (j.parent, j.v_start, j.nv, drives.get(i, -1), column_kind(j.element), role)
        return out

    def _turns(self) -> np.ndarray:
        """What `fill_turns` reads; the last joint stands in for those that are missing in the last three."""
        places = [(j.q_start, 12 * i) for i, j in enumerate(self.model.tree_joints) if column_kind(j.element) == ROTATION]
        places += places[-1:] * (-len(places) % 3)
        return np.array(places, np.int64).reshape(-1, 3, 2).swapaxes(1, 2)

    def _constants(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        numbers = np.zeros((model.n_bodies, NUMBERS))
        frames = np.zeros((model.n_bodies, 12))
        frames[0] = Pose().flat()
        turned = [Pose()] + [_z_to_axis(j.element) for j in model.tree_joints]
        X_MB = [Pose()] + [turned[i].inverse() @ j.X_BM.inverse() for i, j in enumerate(model.tree_joints, start=1)]
        for i, j in enumerate(model.tree_joints, start=1):
            numbers[i, :12] = (X_MB[j.parent] @ j.X_PF @ turned[i]).flat()
            frames[i] = X_MB[i].flat()
            body = model.bodies[i]
            if body.kind == "dynamic":
                R = X_MB[i].R
                c = X_MB[i].apply(body.com)
                inertia = R @ body.inertia @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
                numbers[i, 12] = body.mass
                numbers[i, 13:16] = body.mass * c
                numbers[i, 16:22] = inertia[np.triu_indices(3)]
        return numbers, frames

    def _ground(self) -> np.ndarray:
        rows = np.zeros((self.model.n_bodies, ROW))
        rows[:, [0, 4, 8]] = 1.0
        rows[0, A + 3 : A + 6] = rows[0, C + 3 : C + 6] = -self.model.gravity
        return rows

    def view(self, slot: int) -> np.ndarray:
        """The memory of a slot of any arena."""
        found = self._views.get(slot)
        if found is None:
            arena = self.ints if slot < CONSTANTS else self.constants if slot < SIGNALS else self.work
            found = self._views[slot] = arena[self.layout[2 * slot] : self.layout[2 * slot + 1]]
        return found

    @property
    def signal_address(self) -> int:
        """The address of what fills the functions of time; 0 if there are none."""
        return self._signal_address

    def stages(self, control: np.ndarray, loads: bool = False) -> np.ndarray:
        """Which optional stages this control needs; `loads` asks for wrenches and the ledger in any case."""
        loads = loads or self._always_load or bool(control[: self.model.nv_joints + 6 * self.model.n_bodies].any())
        if loads and self._load is None:
            self._load = load_bodies.address
        out = np.zeros(STAGES, np.int64)
        self.set_method(out)
        out[SIGNAL_STAGE], out[SEE_STAGE] = self._signal_address, self._see
        out[FORCE_STAGE] = self._load if loads else 0
        out[PROJECT_STAGE] = self._project
        return out

    def set_method(self, stages: np.ndarray) -> None:
        """The addresses of what finds accelerations and closes loops."""
        stages[EVALUATE_STAGE] = evaluate_reduced.address
        if self.momenta and (self.view(FREE).size or self.view(FLOATING).size):
            stages[KICK_STAGE] = kick_reduced.address
        if self.has_loops:
            stages[CLOSE_STAGE], stages[AGAIN_STAGE] = close_loops.address, spread_responses.address

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state; q and v hold all joints and the loops' part is fitted in place."""
        self.clock[0] = t
        evaluate_reduced(self.layout, self.ints, self.constants, self.stages(control, loads), control, t, self.work, q, v)

    def sweep(self, q: np.ndarray, v: np.ndarray) -> None:
        """Only the joint table and the sweep: rows with rigid inertias, columns with S."""
        X, S, c = self.view(TABLE_X), self.view(TABLE_S), self.view(TABLE_C)
        fill_joint_table(self.view(CLASSES), self.view(INDEX), self.view(PARAMETERS), self.view(PARTS), q, v, X, S, c)
        fill_turns(self.view(TURNS), q, X)
        sweep_reduced(self.view(BODIES), self.view(CONSTANTS), X, S, c, v, self.view(SIGNALS), self.view(ROWS), self.view(COLUMNS))

    def balanced_rows(self) -> np.ndarray:
        """The rows of the last evaluation, with the velocities that their accelerations and loads balance with."""
        return self.view(ROWS)

    def set_projection(self, on: bool) -> None:
        """Whether q is brought back onto the constraints after every step."""
        self._project = project_reduced.address if on and self.has_loops else 0

    @property
    def nq_all(self) -> int:
        return self.model.nq_joints

    @property
    def nv_all(self) -> int:
        return self.model.nv_joints

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities of all joints at the start."""
        return self.model.start_q(), self.model.start_v()

    def convert(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """A state of any coordinates in reduced ones."""
        return to_reduced(self.model, state)

    def prepare(self, dt: float) -> None:
        """Before steps of length dt: feedback within FEEDBACK_STEPS of them unless a time was chosen; none if dt is infinite."""
        if self._prepared != (dt, self.feedback_time):
            self.view(STABILISER)[:] = feedback_gains(dt, self.feedback_time)
            self._prepared = (dt, self.feedback_time)

    def rank(self) -> tuple[int, int]:
        """Rank and number of the auxiliary rows at the last evaluation."""
        return (int(self.view(RANK)[0]), self.constraints.rows) if self.has_loops else (0, 0)

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model."""
        return (f"Python callbacks: {', '.join(self.python_classes)}",) if self.python_classes else ()

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The joint whose acceleration is the first that is not finite, or the largest."""
        self.evaluate(t, q, v, control)
        y = self.view(Y)
        bad = np.flatnonzero(~np.isfinite(y))
        at = int(bad[0]) if bad.size else int(np.argmax(np.abs(y))) if y.size else 0
        return next((j.name for j in self.model.tree_joints if j.v_start <= at < j.v_start + j.nv), "model")

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        return observe_reduced(self, t, q, v, control)
