"""A model in maximal or planar coordinates, ready to compute: spanning forest, tables, arenas."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.saddle import baraff, baraff_planar
from unibody.algebra.saddle.gauss_seidel import sweep_memory
from unibody.algebra.saddle.schur import dense_work, schur_work
from unibody.arena import Arena, HoldsAddresses
from unibody.coordinates.convert import plane_in_body, start_angle, to_maximal, to_planar
from unibody.coordinates.kick import NODE_NUMBERS, free_joints, kicked_numbers
from unibody.coordinates.loop_closure import closure_size
from unibody.coordinates.maximal import forest

from unibody.coordinates.maximal.dynamics import (  # isort: skip
    advance_plane, evaluate_maximal, kick_maximal, kick_planar, rate_plane,
)  # fmt: skip
from unibody.coordinates.constraint_layout import joint_planes, lay_out_constraints, row_count, row_sizes
from unibody.coordinates.maximal.observe import observe_maximal
from unibody.coordinates.maximal.projection import correct_maximal, project_maximal
from unibody.coordinates.observation import Bearings, Observation
from unibody.coordinates.reduced.system import feedback_gains, inverse_masses
from unibody.coordinates.signals import signal_filler

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, AIM, A_WB, ARMATURE, BIAS, BORROWED, CLASSES, CLOSURE, COMPLIANCE, CONSTANTS, COUNTS, DOF_INDEX, DOF_START, DRIFT, DRIVEN, DUAL,
    EFFORT, ENTRY_BODY, ENTRY_W, FACTOR, FORCE_CLASSES, FORCE_INDEX, FORCE_PARAMETERS, GRAM, GRAVITY, GROUPS, HELD_Y, INDEX, INVERSE,
    JOINT_C, JOINT_CLASSES, JOINT_FRAMES, JOINT_INDEX, JOINT_PARAMETERS, JOINT_PARTS, JOINT_PLANES, JOINT_S, JOINT_X, JOINTS, LAST, LEDGER,
    LIMIT, LOAD, MASSES, MULTIPLIER, NODE_B, NODE_BODY, NODE_C, NODE_CONSTANTS, NODE_F, NODE_G, NODE_JOINT, NODE_L, NODE_M, NODE_OF, NODE_P,
    NODE_PARENT, NODE_PLAN, NODE_ROWS, NODE_Y, PARAMETERS, PENALTY, PLANES, RANK, RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y, RIGHT,
    ROW_CLASSES, ROW_ENTRY, ROW_INDEX, ROW_PARAMETERS, ROW_START, SCRATCH, SEEN, SIDE, SIGNALS, SPEED_LIMIT, STABILISER, STEP, TARGET, V_WB,
    WORLD_PLANE, X_WB, F, G, J, ROW_SIZE, T, VIOLATION, Y,
)  # fmt: skip
from unibody.coordinates.stages import (  # isort: skip
    AGAIN_STAGE, CLOSE_STAGE, CORRECT_STAGE, EVALUATE_STAGE, KICK_STAGE, PROJECT_STAGE, SIGNAL_STAGE, STAGES,
)  # fmt: skip
from unibody.coordinates.maximal.block_gauss_seidel import make_groups, solve_by_sweeps, solve_by_sweeps_again
from unibody.element import LEDGER as LEDGER_SIZE
from unibody.joints.free import advance_free, rate_free
from unibody.model.model import JointInfo, Model
from unibody.model.state import State
from unibody.model.tables import CallbackErrors, ConstraintTables, ForceTables, JointTables
from unibody.spatial.pose import spatial_inertia

Node = tuple[int, int, JointInfo | None, int]
"""Body, parent node or −1, the joint between them or None, 1 if the node's body is the joint's parent."""


def span_forest(model: Model, planar: bool) -> list[Node]:
    """Moving bodies as nodes, parents first; each hangs by the first joint that can take it. Free joints without armature hold nothing."""
    group = list(range(model.n_bodies))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for i, body in enumerate(model.bodies):
        if body.kind != "dynamic":
            group[root(i)] = root(0)
    neighbours: dict[int, list[tuple[int, JointInfo]]] = {i: [] for i in range(model.n_bodies)}
    for joint in model.joints:
        a, b = root(joint.parent), root(joint.child)
        if a != b and (row_count(model, joint, planar) > 0 or joint.armature.any()):
            group[b] = a
            neighbours[joint.parent].append((joint.child, joint))
            neighbours[joint.child].append((joint.parent, joint))
    nodes: list[Node] = []
    number: dict[int, int] = {i: -1 for i, b in enumerate(model.bodies) if b.kind != "dynamic"}
    starts: list[int] = [*number, *(i for i in range(model.n_bodies) if i not in number)]
    for start in starts:
        if start not in number:
            number[start] = len(nodes)
            nodes.append((start, -1, None, 0))
        stack = [(start, other, joint) for other, joint in reversed(neighbours[start])]
        while stack:
            parent, body, joint = stack.pop()
            if body in number:
                continue
            number[body] = len(nodes)
            nodes.append((body, number[parent], joint, 1 if joint.parent == body else 0))
            stack += [(body, other, j) for other, j in reversed(neighbours[body])]
    return nodes


class MaximalSystem(HoldsAddresses):
    """Tables and work space of a model in maximal coordinates (6 velocities per body) or planar ones (3)."""

    row_numbers = 0
    """Numbers per row of how it gives way, where rows do."""

    def __init__(self, model: Model, planar: bool, method: str):
        self.model, self.planar, self.method = model, planar, method
        self.width, self.q_width = (3, 3) if planar else (6, 7)
        self.callback_errors = CallbackErrors()
        self.clock = np.zeros(1)
        self.bearings: Bearings | None = None
        """What shares loads out where rows repeat each other, if friction asks for it."""
        self.feedback_time: float | None = None
        self.k_v: float | None = None
        self.k_q: float | None = None
        self._project = False
        self.nodes = nodes = span_forest(model, planar)
        primary = [joint for _, _, joint, _ in nodes if joint is not None]
        held = {id(j) for j in primary}
        self.relative = relative = primary + [j for j in model.joints if id(j) not in held]
        tables = JointTables(relative, self.callback_errors)
        forces = ForceTables(model, self.callback_errors, self.clock)
        elements = ConstraintTables(model, self.callback_errors, self.clock)
        self.constraints = constraints = lay_out_constraints(model, relative, len(primary), elements, 0, planar)
        self.python_classes = sorted({*tables.python_classes, *forces.python_classes, *elements.python_classes})
        signals, self._signal_address = signal_filler(model, self.callback_errors, self.clock)
        moving = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
        self.n = n = len(moving)
        state_of = {i: m for m, i in enumerate(moving)}
        node_of = {body: k for k, (body, *_) in enumerate(nodes)}
        order = {id(j): k for k, j in enumerate(relative)}
        rows = np.array([self._rows_of(joint, order) for _, _, joint, _ in nodes], np.int64)
        parents = np.array([p for _, p, _, _ in nodes], np.int64)
        w, k, nvj = self.width, constraints.auxiliary, model.nv_joints
        slots: list[Any] = [0] * LAST
        slots[CLASSES], slots[INDEX] = self._movement()
        slots[FORCE_CLASSES], slots[FORCE_INDEX] = forces.classes, forces.index
        slots[JOINTS], slots[JOINT_CLASSES] = constraints.joints, tables.classes
        slots[JOINT_INDEX], slots[JOINT_PARTS] = tables.index, tables.parts
        slots[ROW_CLASSES], slots[ROW_INDEX] = elements.classes, elements.index
        slots[ROW_START], slots[ROW_ENTRY], slots[ENTRY_BODY] = constraints.row_start, constraints.row_entry, constraints.entry_body
        slots[DOF_START], slots[DOF_INDEX], slots[BORROWED] = constraints.dof_start, constraints.dof_index, constraints.borrowed
        counts = [
            constraints.primary_rows,
            constraints.joint_rows,
            constraints.rows,
            constraints.entries,
            elements.rows,
            w,
            self.q_width * n,
        ]
        slots[COUNTS] = np.array(counts, np.int64)
        slots[NODE_PARENT], slots[NODE_ROWS] = parents, rows
        slots[NODE_PLAN] = plan = (baraff_planar if planar else baraff).plan_tree(parents, rows)
        slots[NODE_BODY] = np.array([(body, state_of[body]) for body, *_ in nodes], np.int64)
        slots[NODE_JOINT] = np.array([(order[id(j)] if j is not None else -1, flip) for _, _, j, flip in nodes], np.int64)
        slots[NODE_OF] = np.array([w * node_of[b] if b in node_of else -1 for b in constraints.entry_body], np.int64)
        slots[DRIVEN] = np.array([(i, s) for i, s in signals.drives.items()], np.int64)
        slots[PARAMETERS], slots[FORCE_PARAMETERS] = np.zeros(0), forces.parameters
        slots[JOINT_FRAMES] = np.concatenate([X.flat() for j in relative for X in (j.X_PF, j.X_BM)]) if relative else np.zeros(0)
        slots[JOINT_PARAMETERS], slots[ROW_PARAMETERS] = tables.parameters, elements.parameters
        slots[ARMATURE] = np.concatenate([j.armature for j in model.joints]) if model.joints else np.zeros(0)
        slots[LIMIT] = np.concatenate([j.effort_limit for j in model.joints]) if model.joints else np.zeros(0)
        slots[GRAVITY], slots[STABILISER], slots[COMPLIANCE] = model.gravity, np.zeros(2), constraints.compliance
        slots[MASSES] = inverse_masses(model)
        slots[JOINT_PLANES] = joint_planes(model, relative, planar)
        slots[PLANES], slots[WORLD_PLANE] = self._planes()
        slots[NODE_M], slots[NODE_CONSTANTS] = self._masses()
        slots[PENALTY] = np.zeros(self.row_numbers * constraints.rows)
        memory = {"tree": int(plan[-1]), "schur": schur_work(w, k, n, int(rows.sum())), "dense": dense_work(w, k, n, int(rows.sum()))}
        if method == "local":
            slots[GROUPS] = groups = make_groups(constraints)
            memory["local"] = sweep_memory(w, constraints.entries, int(groups[0]))
        sizes = {
            SIGNALS: signals.values, X_WB: self._start_poses(), V_WB: 6 * model.n_bodies, A_WB: 6 * model.n_bodies, F: 6 * model.n_bodies,
            EFFORT: 2 * nvj, RIGHT: nvj, LEDGER: LEDGER_SIZE, SPEED_LIMIT: 1, Y: w * n, JOINT_X: 12 * tables.rows, JOINT_S: 6 * nvj,
            JOINT_C: 6 * tables.rows, SCRATCH: 36 + max(36, nvj), STEP: nvj, SEEN: 42 * len(relative), T: 6 * constraints.joint_rows,
            DUAL: 6 * nvj, G: 6 * constraints.entries, J: np.ones(constraints.places), RESIDUAL: constraints.rows, RATE: constraints.rows,
            BIAS: constraints.rows, DRIFT: constraints.rows, ROW_SIZE: row_sizes(model, relative, constraints, slots[JOINT_PLANES]),
            VIOLATION: constraints.rows, RESPONSE_X: k * n * w, RESPONSE_Y: k * n * w, GRAM: k * k, TARGET: k, MULTIPLIER: k,
            CLOSURE: closure_size(k), RANK: 1, LOAD: k * n * w, ENTRY_W: w * constraints.entries, NODE_G: n * w * w, NODE_P: n * w * w,
            NODE_C: n * w, NODE_B: n * w, NODE_F: n * w, NODE_Y: n * w, NODE_L: n * w, HELD_Y: n * w,
            FACTOR: max(int(plan[-1]), memory[method]), AIM: k if self.row_numbers else 0,
            ACTIVE: k if self.row_numbers and constraints.unilateral.any() else 0,
        }  # fmt: skip
        if method == "local":
            sizes[INVERSE], sizes[SIDE] = np.linalg.inv(slots[NODE_M].reshape(n, w, w)), 2 * constraints.rows
        for slot, size in sizes.items():
            slots[slot] = size
        ints = Arena(slots[:CONSTANTS], np.int64, frozen=True)
        constants = Arena(slots[CONSTANTS:SIGNALS], np.float64)
        work = Arena(slots[SIGNALS:], np.float64)
        self.layout = np.concatenate([ints.layout, constants.layout, work.layout])
        self.layout.flags.writeable = False
        self.ints, self.constants, self.work = ints.flat, constants.flat, work.flat
        self._tree = forest.solve_by_planar_tree if planar else forest.solve_by_tree
        self._again = forest.solve_by_planar_tree_again if planar else forest.solve_by_tree_again
        if method == "local":
            self._again = solve_by_sweeps_again
        ways = {"tree": self._tree, "schur": forest.solve_by_schur, "dense": forest.solve_by_dense, "local": solve_by_sweeps}
        self._solve = ways[method]
        self.momenta = False

    def _rows_of(self, joint: JointInfo | None, order: dict[int, int]) -> int:
        """Rows of a node's joint: its own, and one per armature."""
        return 0 if joint is None else int(self.constraints.joints[6 * order[id(joint)] + 5]) + int((joint.armature > 0.0).sum())

    def _movement(self) -> tuple[np.ndarray, np.ndarray]:
        """One class of moving bodies: how their coordinates follow their velocities."""
        advance, rate = (advance_plane, rate_plane) if self.planar else (advance_free, rate_free)
        index = np.array([(m, self.q_width * m, self.width * m) for m in range(self.n)], np.int64).ravel()
        return np.array([0, advance.address, rate.address, 0, index.size, 0, 0, 0, 0], np.int64), index

    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if not self.planar or model.plane is None:
            return np.zeros(0), np.zeros(0)
        e1, e2, normal = model.plane
        out = np.zeros((model.n_bodies, 21))
        from unibody.spatial.pose import Pose

        for i, body in enumerate(model.bodies):
            axes = plane_in_body(model, i)
            out[i, :9] = np.concatenate([axes[:, 2], axes[:, 0], axes[:, 1]])
            out[i, 9:18] = (Pose.about(normal, -start_angle(model, i)).R @ body.X_WB.R).ravel()
            out[i, 18:] = normal * (normal @ np.array(body.X_WB.p))
        return out, np.concatenate([normal, e1, e2])

    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        blocks, numbers = [], np.zeros((self.n, NODE_NUMBERS))
        alone = {joint.child for _, _, body, joint in free_joints(self.model) if body is not None}
        for k, (i, *_) in enumerate(self.nodes):
            body = self.model.bodies[i]
            M = spatial_inertia(body.mass, body.com, body.inertia)
            numbers[k] = kicked_numbers(body.mass, body.com, body.inertia, 0.5 if i in alone else 0.0)
            if self.planar:
                axes = plane_in_body(self.model, i)
                P = np.zeros((6, 3))
                P[:3, 0], P[3:, 1], P[3:, 2] = axes[:, 2], axes[:, 0], axes[:, 1]
                M = P.T @ M @ P
            blocks.append(M.ravel())
        return np.concatenate(blocks) if blocks else np.zeros(0), numbers

    def _start_poses(self) -> np.ndarray:
        return np.concatenate([b.X_WB.flat() for b in self.model.bodies])

    def view(self, slot: int) -> np.ndarray:
        """The memory of a slot of any arena."""
        arena = self.ints if slot < CONSTANTS else self.constants if slot < SIGNALS else self.work
        return arena[self.layout[2 * slot] : self.layout[2 * slot + 1]]

    def stages(self, control: np.ndarray) -> np.ndarray:
        """Addresses of the stages."""
        return self._stages(self._solve.address)

    def _stages(self, solve: int) -> np.ndarray:
        out = np.zeros(STAGES, np.int64)
        out[EVALUATE_STAGE], out[SIGNAL_STAGE], out[CLOSE_STAGE] = evaluate_maximal.address, self._signal_address, solve
        out[KICK_STAGE] = (kick_planar if self.planar else kick_maximal).address if self.momenta else 0
        if self._project and self.constraints.rows:
            out[CORRECT_STAGE if self.momenta else PROJECT_STAGE] = (correct_maximal if self.momenta else project_maximal).address
            out[AGAIN_STAGE] = self._again.address if self.method in ("tree", "local") else solve
        return out

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = True, tree: bool = False) -> None:
        """Fill the work space at a state; q and v hold the bodies' coordinates, then those of all joints. `tree` forces that method;
        `loads` are found in any case."""
        self.clock[0] = t
        solve = self._tree.address if tree else self._solve.address
        evaluate_maximal(self.layout, self.ints, self.constants, self._stages(solve), control, t, self.work, q, v)

    def set_projection(self, on: bool) -> None:
        """Whether q and v are brought back onto the constraints after every step."""
        self._project = on

    @property
    def nq_all(self) -> int:
        return self.q_width * self.n + self.model.nq_joints

    @property
    def nv_all(self) -> int:
        return self.width * self.n + self.model.nv_joints

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities at the start: the bodies', then the joints'."""
        start = State(0.0, self.model.start_q()[: self.model.nq], self.model.start_v()[: self.model.nv], "reduced")
        q, v = self.convert(start)
        return np.concatenate([q, self.model.start_q()]), np.concatenate([v, self.model.start_v()])

    def convert(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """A state of any coordinates in these."""
        return to_planar(self.model, state) if self.planar else to_maximal(self.model, state)

    def prepare(self, dt: float) -> None:
        """Before steps of length dt: feedback within FEEDBACK_STEPS of them unless a time was chosen; none if dt is infinite."""
        self.view(STABILISER)[:] = feedback_gains(dt, self.feedback_time, self.k_v, self.k_q)

    def rank(self) -> tuple[int, int]:
        """Rank and number of the auxiliary rows at the last evaluation."""
        return (int(self.view(RANK)[0]), self.constraints.auxiliary) if self.constraints.auxiliary else (0, 0)

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model."""
        return (f"Python callbacks: {', '.join(self.python_classes)}",) if self.python_classes else ()

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The body whose acceleration is the first that is not finite, or the largest."""
        self.evaluate(t, q, v, control)
        y = self.view(Y)
        bad = np.flatnonzero(~np.isfinite(y))
        at = int(bad[0]) if bad.size else int(np.argmax(np.abs(y))) if y.size else 0
        moving = [b.name for b in self.model.bodies if b.kind == "dynamic"]
        return moving[at // self.width] if moving else "model"

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        return observe_maximal(self, t, q, v, control)
