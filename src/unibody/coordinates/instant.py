"""A model at one configuration, as dense matrices of the tree's velocities v (nv of them).

    δξ_b = J_b v          how bodies move (6×nv each, body axes), and δv_j = J_j v the joints, also those that close loops
    M, K                  mass matrix; Jacobian of the rows C(q) = 0 of loops and constraint elements
    r(q, v; a, F, μ)      M a + c − Jᵀ F − Kᵀ μ − τ: what is left of the equations of motion, with wrenches F in body axes

The armature of a joint that closes a loop is mass along its velocity and joins M. Everything comes from the compiled system of reduced
coordinates, at the time t (0 unless given).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.algebra.tree.aba import COLUMN, ROW, P
from unibody.coordinates.reduced.dynamics import load_bodies, see_loops
from unibody.coordinates.reduced.kinematics import fill_bodies
from unibody.coordinates.reduced.products import carry_accelerations, fill_mass_matrix, fill_wrenches, gather_wrenches
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, FRAMES, ROWS

from unibody.coordinates.workspace import (  # isort: skip
    ARMATURE, DRIFT, F, G, GRAVITY, J, RATE, RESIDUAL, RIGHT, SIGNALS, V_WB, X_WB,
)  # fmt: skip
from unibody.coordinates.signals import FillSignals
from unibody.element import Kinematics
from unibody.kernel import Floats, kernel
from unibody.model.model import Model
from unibody.model.tables import Names
from unibody.spatial.pose import Pose, adjoint


@kernel
def signals_at(address: int, t: float, signals_out: Floats) -> None:
    """All functions of time at t."""
    FillSignals(address, t, signals_out)


class Instant:
    """The model at (q, v), the start unless given, at the time t; `place` moves it elsewhere."""

    def __init__(self, model: Model, t: float = 0.0):
        self.model, self.t = model, 0.0
        self.system = ReducedSystem(ReducedTables(model))
        self.set_time(t)
        self.control = model.neutral_control()
        self.names = Names(model)
        constraints = self.system.constraints
        self.bilateral = np.flatnonzero(~constraints.unilateral & (constraints.compliance == 0.0))
        """Rows C = 0 (not those C ≥ 0, nor those of armature)."""
        self.place(*self.system.start())

    def set_time(self, t: float) -> None:
        """Functions of time at t; `place` follows."""
        if t != self.t and self.system.signal_address:
            signals_at(self.system.signal_address, t, self.system.view(SIGNALS))
        self.t = t

    def place(self, q: np.ndarray, v: np.ndarray) -> None:
        """Go to another configuration; loop joints are fitted."""
        s = self.system
        self.q, self.v = np.array(q), np.array(v)
        s.sweep(self.q, self.v)
        if s.nv_all > self.model.nv or s.constraints.rows:
            see_loops(s.layout, s.ints, s.constants, self.control, s.work, self.q, self.v)
        else:
            fill_bodies(s.view(FRAMES), s.view(ROWS), s.view(X_WB), s.view(V_WB))
        for name in ("maps", "mass", "rows"):
            self.__dict__.pop(name, None)

    def moved(self, step: np.ndarray) -> np.ndarray:
        """q displaced along a velocity step of the tree joints."""
        out = self.q.copy()
        self.system.advance(out, np.concatenate([step, np.zeros(self.system.nv_all - step.size)]), 1.0)
        return out

    @property
    def X(self) -> np.ndarray:
        """(bodies, 12) R_WB row-major, p_WB."""
        return self.system.view(X_WB).reshape(-1, 12)

    @property
    def residual(self) -> np.ndarray:
        """C of all rows."""
        return self.system.view(RESIDUAL).copy()

    @property
    def rates(self) -> np.ndarray:
        """Ċ of all rows."""
        return self.system.view(RATE).copy()

    @property
    def drift(self) -> np.ndarray:
        """∂C/∂t of all rows."""
        return self.system.view(DRIFT).copy()

    @property
    def row_names(self) -> list[str]:
        return self.system.constraints.names

    def kinematics(self) -> Kinematics:
        """A copy of where everything is, for NumPy methods of elements."""
        V, signals = self.system.view(V_WB).reshape(-1, 6).copy(), self.system.view(SIGNALS).copy()
        return Kinematics(self.t, self.X.copy(), V, self.q.copy(), self.v.copy(), signals, self.control, self.names)

    def paths(self) -> list[list[int]]:
        """Of every body: the velocities of the tree joints that move it."""
        out: list[list[int]] = [[]]
        for j in self.model.tree_joints:
            out.append(out[j.parent] + list(range(j.v_start, j.v_start + j.nv)))
        return out

    def row_dofs(self) -> list[set[int]]:
        """Of every row: the velocities of the tree that it can depend on, at this configuration or at another."""
        constraints, path = self.system.constraints, self.paths()
        out = []
        for r in range(constraints.rows):
            touched = {
                v
                for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]
                for v in path[constraints.entry_body[e]]
            }
            out.append(
                touched | {int(constraints.dof_index[2 * k + 1]) for k in range(constraints.dof_start[r], constraints.dof_start[r + 1])}
            )
        return out

    @cached_property
    def maps(self) -> np.ndarray:
        """J_b of all bodies (n, 6, nv)."""
        model, s = self.model, self.system
        columns, rows = s.view(COLUMNS).reshape(-1, COLUMN)[:, :6], s.view(ROWS).reshape(-1, ROW)
        out = np.zeros((model.n_bodies, 6, model.nv))
        path = self.paths()
        origin = np.zeros((model.nv, 3))
        for i, j in enumerate(model.tree_joints, start=1):
            own = list(range(j.v_start, j.v_start + j.nv))
            origin[own] = rows[i, P : P + 3]
            if path[i]:
                R, at = self.X[i, :9].reshape(3, 3), path[i]
                turn = columns[at, :3]
                shift = columns[at, 3:] + np.cross(turn, self.X[i, 9:] - origin[at])
                out[i][:, at] = np.concatenate([R.T @ turn.T, R.T @ shift.T])
        return out

    def joint_map(self, name: str) -> np.ndarray:
        """J_j (nv of the joint × nv)."""
        model, joint = self.model, self.model.joint(name)
        if not joint.loop:
            return np.eye(model.nv)[joint.v_start : joint.v_start + joint.nv]
        S = joint.element.motion(self.q[joint.q_start : joint.q_start + joint.nq])
        X_MB = joint.X_BM.inverse()
        child, parent = (Pose.from_rotation(x[:9].reshape(3, 3), x[9:]) for x in (self.X[joint.child], self.X[joint.parent]))
        X_MP = X_MB @ child.inverse() @ parent
        across = adjoint(X_MB.R, np.array(X_MB.p)) @ self.maps[joint.child] - adjoint(X_MP.R, np.array(X_MP.p)) @ self.maps[joint.parent]
        return np.linalg.pinv(S) @ across

    @cached_property
    def mass(self) -> np.ndarray:
        """M (nv×nv)."""
        s, nv = self.system, self.model.nv
        flat = np.zeros(nv * nv)
        if nv:
            s.sweep(self.q, self.v)
            fill_mass_matrix(s.view(BODIES), s.view(ARMATURE), s.view(ROWS), s.view(COLUMNS), np.zeros(21 * self.model.n_bodies), flat)
        M = flat.reshape(nv, nv)
        for joint in self.model.loop_joints:
            if joint.armature.any():
                across = self.joint_map(joint.name)
                M += across.T @ (joint.armature[:, None] * across)
        return M

    @cached_property
    def rows(self) -> np.ndarray:
        """K (rows × nv) of all rows."""
        constraints, s = self.system.constraints, self.system
        blocks, numbers = s.view(G).reshape(-1, 6), s.view(J)
        out = np.zeros((constraints.rows, self.model.nv))
        for r in range(constraints.rows):
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
                out[r] += blocks[e] @ self.maps[constraints.entry_body[e]]
            for k in range(constraints.dof_start[r], constraints.dof_start[r + 1]):
                out[r, constraints.dof_index[2 * k + 1]] += numbers[constraints.dof_index[2 * k]]
        return out

    def free_response(self) -> np.ndarray:
        """Of every row: what its Gram entry K M⁻¹ Kᵀ would be if all bodies were free; 0 for rows of joint coordinates alone."""
        constraints, blocks = self.system.constraints, self.system.view(G).reshape(-1, 6)
        out = np.zeros(constraints.rows)
        for r in range(constraints.rows):
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
                body = self.model.bodies[constraints.entry_body[e]]
                if body.kind == "dynamic":
                    torque = blocks[e, :3] - np.cross(body.com, blocks[e, 3:])
                    out[r] += blocks[e, 3:] @ blocks[e, 3:] / body.mass + torque @ torque * 3.0 / np.trace(body.inertia)
        return out

    def loads(self) -> tuple[np.ndarray, np.ndarray]:
        """The wrenches (n, 6) of all forces here, body axes, and the efforts in the tree joints (nv)."""
        s = self.system
        load_bodies(s.layout, s.ints, s.constants, self.control, s.work, self.q, self.v)
        return s.view(F).reshape(-1, 6).copy(), s.view(RIGHT)[: self.model.nv].copy()

    def remainder(self, a: np.ndarray, wrenches: np.ndarray, efforts: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """r here, with F, τ and μ as given."""
        s, constraints = self.system, self.system.constraints
        total = wrenches.copy()
        extra = np.zeros(self.model.nv)
        blocks, numbers = s.view(G).reshape(-1, 6), s.view(J)
        for r in np.flatnonzero(multipliers):
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
                total[constraints.entry_body[e]] += multipliers[r] * blocks[e]
            for k in range(constraints.dof_start[r], constraints.dof_start[r + 1]):
                extra[constraints.dof_index[2 * k + 1]] += multipliers[r] * numbers[constraints.dof_index[2 * k]]
        f, needed = np.zeros(6 * self.model.n_bodies), np.zeros(self.model.nv)
        s.sweep(self.q, self.v)
        carry_accelerations(s.view(BODIES), np.ascontiguousarray(a), s.view(COLUMNS), s.view(ROWS))
        fill_wrenches(s.view(BODIES), s.view(ROWS), s.view(X_WB), total.ravel(), s.view(GRAVITY), f, np.zeros(2))
        gather_wrenches(s.view(BODIES), s.view(ROWS), s.view(COLUMNS), f, needed)
        return needed + s.view(ARMATURE)[: self.model.nv] * a - efforts - extra
