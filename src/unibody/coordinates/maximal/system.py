"""A model in maximal or planar coordinates, ready to compute: its arenas, and a way to solve the saddle problem of an instant.

Others are made around it: they give the tables, slots of their own with the block that declares these, and perhaps a way to solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from unibody.arena import SlotBlock
from unibody.coordinates.convert import to_maximal, to_planar
from unibody.coordinates.loop_closure import feedback_gains
from unibody.coordinates.maximal import forest
from unibody.coordinates.maximal.block_gauss_seidel import solve_by_sweeps, solve_by_sweeps_again
from unibody.coordinates.maximal.dynamics import evaluate_maximal, kick_maximal, kick_planar
from unibody.coordinates.maximal.observe import observe_maximal
from unibody.coordinates.maximal.projection import kick_onto_rows, project_maximal
from unibody.coordinates.maximal.tables import MaximalTables, plane_map
from unibody.coordinates.maximal.workspace import MAXIMAL
from unibody.coordinates.observation import Observation

from unibody.coordinates.stages import (  # isort: skip
    AGAIN_STAGE, CLOSE_STAGE, EVALUATE_STAGE, KICK_ONTO_ROWS_STAGE, KICK_STAGE, PROJECT_STAGE, SIGNAL_STAGE, STAGES,
)  # fmt: skip
from unibody.coordinates.system import TabledSystem
from unibody.coordinates.workspace import STABILISER
from unibody.kernel import Kernel
from unibody.model.state import State


class MaximalSystem(TabledSystem):
    """Arrays of a model in maximal coordinates (6 velocities per body) or planar ones (3). `more`: slots that others add, and `block`,
    where all are declared; `solve`: what finds accelerations and multipliers, instead of the method of the tables."""

    def __init__(
        self, tables: MaximalTables, more: Mapping[int, Any] = MappingProxyType({}), block: SlotBlock = MAXIMAL,
        solve: Kernel | None = None,
    ):  # fmt: skip
        super().__init__(tables, more, block)
        self.relative, self.planar, self.method = tables.relative, tables.planar, tables.method
        self.n, self.width, self.q_width = tables.n, tables.width, tables.q_width
        self.nq_all = self.q_width * self.n + self.model.nq_joints
        self.nv_all = self.width * self.n + self.model.nv_joints
        self.k_v: float | None = None
        self.k_q: float | None = None
        self.momenta = False
        """Whether steps are made in world momenta (`kick_maximal`)."""
        self._project = False
        self._moving = [(i, b) for i, b in enumerate(self.model.bodies) if b.kind == "dynamic"]
        self._tree = solve or (forest.solve_by_planar_tree if self.planar else forest.solve_by_tree)
        ways = {"tree": self._tree, "schur": forest.solve_by_schur, "dense": forest.solve_by_dense, "local": solve_by_sweeps}
        self._solve = solve or ways[self.method]
        self._again = forest.solve_by_planar_tree_again if self.planar else forest.solve_by_tree_again
        if self.method == "local":
            self._again = solve_by_sweeps_again

    def stages(self, control: np.ndarray, tree: bool = False) -> np.ndarray:
        """Addresses of the stages; `tree`: the problem is solved by the forest, whatever the method."""
        solve, out = (self._tree if tree else self._solve).address, np.zeros(STAGES, np.int64)
        out[EVALUATE_STAGE], out[SIGNAL_STAGE], out[CLOSE_STAGE] = evaluate_maximal.address, self.signal_address, solve
        out[KICK_STAGE] = (kick_planar if self.planar else kick_maximal).address if self.momenta else 0
        if self._project and self.constraints.rows:
            out[KICK_ONTO_ROWS_STAGE if self.momenta else PROJECT_STAGE] = (kick_onto_rows if self.momenta else project_maximal).address
            out[AGAIN_STAGE] = self._again.address if self.method in ("tree", "local") else solve
        return out

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = True, tree: bool = False) -> None:
        """Fill the work space at a state; q and v hold the bodies' coordinates, then those of all joints, which are fitted in place.
        `loads` are found in any case; `tree`: by the forest, whatever the method."""
        self.clock[0] = t
        evaluate_maximal(self.layout, self.ints, self.constants, self.stages(control, tree), control, t, self.work, q, v)

    def set_projection(self, on: bool) -> None:
        """Whether q and v are brought back onto the constraints after every step."""
        self._project = on

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

    def push(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """P v: twists (bodies, 6), which own velocities are, or are the parts of in a plane."""
        out = np.zeros((self.model.n_bodies, 6))
        for (i, _), own in zip(self._moving, v[: self.width * self.n].reshape(self.n, self.width), strict=True):
            out[i] = plane_map(self.model, i) @ own if self.planar else own
        return out

    def pull(self, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """Pᵀ F of wrenches (bodies, 6)."""
        out = np.zeros((self.n, self.width))
        for k, (i, _) in enumerate(self._moving):
            out[k] = plane_map(self.model, i).T @ wrenches[i] if self.planar else wrenches[i]
        return out.ravel()

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The body whose acceleration is the first that is not finite, or the largest."""
        self.evaluate(t, q, v, control)
        return self.at_fault()

    def at_fault(self) -> str:
        """The body that `culprit` names, at the last evaluation."""
        return self._moving[self.worst() // self.width][1].name if self._moving else "model"

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions by the forest, whatever the method."""
        self.evaluate(t, q, v, control, tree=True)
        return observe_maximal(self, t, q, v)
