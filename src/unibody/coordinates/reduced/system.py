"""A model in reduced coordinates, ready to compute: its arenas, and accelerations in one compiled call (`dynamics`).

Others are made around it: they give the tables with slots of their own and the block that declares these, and take `shared_stages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from unibody.algebra.tree.aba import ROW
from unibody.arena import SlotBlock
from unibody.coordinates.convert import to_reduced
from unibody.coordinates.kick import kick_reduced
from unibody.coordinates.loop_closure import feedback_gains
from unibody.coordinates.observation import Observation
from unibody.coordinates.reduced.dynamics import close_loops, evaluate_reduced, load_bodies, project_reduced, see_loops, spread_responses
from unibody.coordinates.reduced.kinematics import fill_bodies, fill_turns, sweep_reduced
from unibody.coordinates.reduced.observe import observe_reduced
from unibody.coordinates.reduced.products import copy_in_middle, gather_wrenches, push_velocities
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.joints.table import fill_joint_table

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, CONSTANTS, FLOATING, FRAMES, FREE, MIDDLE_ROWS, PARTS, REDUCED, ROWS, TABLE_C, TABLE_S, TABLE_X, TURNS,
)  # fmt: skip
from unibody.coordinates.stages import (  # isort: skip
    AGAIN_STAGE, CLOSE_STAGE, EVALUATE_STAGE, FORCE_STAGE, KICK_STAGE, PROJECT_STAGE, SEE_STAGE, SIGNAL_STAGE, STAGES,
)  # fmt: skip
from unibody.coordinates.system import TabledSystem
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, SIGNALS, STABILISER, V_WB, X_WB
from unibody.model.state import State
from unibody.spatial.pose import skew


class ReducedSystem(TabledSystem):
    """Arrays of a model in reduced coordinates. `more`: slots that others add, or give another size, and `block`, where all are
    declared."""

    def __init__(self, tables: ReducedTables, more: Mapping[int, Any] = MappingProxyType({}), block: SlotBlock = REDUCED):
        super().__init__(tables, more, block)
        self.force_ranges = tables.force_ranges
        self.nq_all, self.nv_all = self.model.nq_joints, self.model.nv_joints
        self.has_loops = self.constraints.rows > 0
        sees = self.has_loops or bool(self.model.loop_joints)
        self._see = see_loops.address if sees else 0
        self._always_load = bool(self.model.forces) or sees
        self._load: int | None = None
        self._project = 0
        self._prepared: tuple[float, float | None] | None = None
        self.momenta = False
        """Whether steps carry the velocities of Free joints over in axes that do not turn (`kick_reduced`)."""
        self.evaluations = 0
        """How often the arrays were filled at a state: what is kept of one look is known to be of that."""

    def shared_stages(self, control: np.ndarray, loads: bool = False) -> np.ndarray:
        """The stages that this control needs, whatever finds accelerations; `loads`: wrenches and the ledger in any case."""
        loads = loads or self._always_load or bool(control[: self.model.nv_joints + 6 * self.model.n_bodies].any())
        if loads and self._load is None:
            self._load = load_bodies.address
        out = np.zeros(STAGES, np.int64)
        out[SIGNAL_STAGE], out[SEE_STAGE] = self.signal_address, self._see
        out[FORCE_STAGE] = self._load if loads else 0
        out[PROJECT_STAGE] = self._project
        if self.momenta and (self.view(FREE).size or self.view(FLOATING).size):
            out[KICK_STAGE] = kick_reduced.address
        return out

    def stages(self, control: np.ndarray, loads: bool = False) -> np.ndarray:
        """All stages: accelerations by elimination, loops by anticipation."""
        out = self.shared_stages(control, loads)
        out[EVALUATE_STAGE] = evaluate_reduced.address
        if self.has_loops:
            out[CLOSE_STAGE], out[AGAIN_STAGE] = close_loops.address, spread_responses.address
        return out

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state; q and v hold all joints and the loops' part is fitted in place."""
        self.evaluate_by(self.stages(control, loads), t, q, v, control)

    def evaluate_by(self, stages: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        """The same by other stages, with terms in velocities at v."""
        self.clock[0] = t
        self.evaluations += 1
        self.view(MIDDLE_ROWS)[:1] = 0.0
        evaluate_reduced(self.layout, self.ints, self.constants, stages, control, t, self.work, q, v)

    def sweep(self, q: np.ndarray, v: np.ndarray) -> None:
        """Only the joint table and the sweep: rows with rigid inertias, columns with S."""
        X, S, c = self.view(TABLE_X), self.view(TABLE_S), self.view(TABLE_C)
        fill_joint_table(self.view(CLASSES), self.view(INDEX), self.view(PARAMETERS), self.view(PARTS), q, v, X, S, c)
        fill_turns(self.view(TURNS), q, X)
        sweep_reduced(self.view(BODIES), self.view(CONSTANTS), X, S, c, v, self.view(SIGNALS), self.view(ROWS), self.view(COLUMNS))

    def balanced_rows(self) -> np.ndarray:
        """The rows of the last evaluation, with the velocities that their accelerations and loads balance with: those of the middle of a
        step where it took them there."""
        if not self.view(MIDDLE_ROWS)[:1].any():
            return self.view(ROWS)
        out = np.empty(self.view(ROWS).size)
        copy_in_middle(self.layout, self.ints, self.work, out)
        return out

    def set_projection(self, on: bool) -> None:
        """Whether q is brought back onto the constraints after every step."""
        self._project = project_reduced.address if on and self.has_loops else 0

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

    def push(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """P v: twists (bodies, 6) of velocities of the tree."""
        self._place(q)
        twists = np.zeros(6 * self.model.n_bodies)
        push_velocities(self.view(BODIES), self.view(ROWS), self.view(COLUMNS), np.ascontiguousarray(v, float), twists)
        return self.in_bodies(twists.reshape(-1, 6))

    def pull(self, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """Pᵀ F: efforts (nv,) of wrenches (bodies, 6)."""
        self._place(q)
        X, rows = self.view(X_WB).reshape(-1, 12), self.view(ROWS).reshape(-1, ROW)
        f, effort = np.zeros((self.model.n_bodies, 6)), np.zeros(self.model.nv)
        for i, wrench in enumerate(wrenches):
            R = X[i, :9].reshape(3, 3)
            f[i, 3:] = R @ wrench[3:]
            f[i, :3] = R @ wrench[:3] + skew(X[i, 9:] - rows[i, 9:12]) @ f[i, 3:]
        gather_wrenches(self.view(BODIES), self.view(ROWS), self.view(COLUMNS), f.ravel(), effort)
        return effort

    def _place(self, q: np.ndarray) -> None:
        """Poses and columns at q, at rest."""
        self.evaluations += 1
        self.sweep(q, np.zeros(self.nv_all))
        fill_bodies(self.view(FRAMES), self.view(ROWS), self.view(X_WB), self.view(V_WB))

    def in_bodies(self, twists: np.ndarray) -> np.ndarray:
        """Motion vectors (bodies, 6) in world axes at the joint frames' origins, in body axes at the bodies' origins."""
        X, rows = self.view(X_WB).reshape(-1, 12), self.view(ROWS).reshape(-1, ROW)
        out = np.zeros_like(twists)
        for i, V in enumerate(twists):
            R = X[i, :9].reshape(3, 3)
            out[i, :3] = R.T @ V[:3]
            out[i, 3:] = R.T @ (V[3:] + np.cross(V[:3], X[i, 9:] - rows[i, 9:12]))
        return out

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The joint whose acceleration is the first that is not finite, or the largest."""
        self.evaluate(t, q, v, control)
        return self.at_fault()

    def at_fault(self) -> str:
        """The joint that `culprit` names, at the last evaluation."""
        return next((j.name for j in self.model.tree_joints if j.v_start <= self.worst() < j.v_start + j.nv), "model")

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        self.evaluate(t, q, v, control, loads=True)
        return observe_reduced(self, t, q, v)
