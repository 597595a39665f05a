"""The paper's form of a step with deformables (paper 000, Eq. 6): attached vertices are unknowns that multipliers hold to their bodies.

    [M̃_r     Jᵀ Cᵀ  Jᵀ Γᵀ] [y]   [right + Jᵀ f]      y joints, a free and attached vertices, λ forces with which they hold bodies
    [C J     H      −E   ] [a] = [R            ]      H = Tᵀ (M + h D + h² K) T over both; C: elements between vertices and bodies
    [Γ J     −Eᵀ     0   ] [λ]   [0            ]      Γ: attached points by twists of their bodies; E picks them out of a

written out and factored densely, by LU, in NumPy: `linear="kkt"`, for comparison. Rows are solved for one by one, as always with vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.tree.factor import push_tree
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS, SHIFT, SIDE
from unibody.coordinates.stages import FactorMatrix, SolveMatrix, Stage
from unibody.coordinates.workspace import ENTRY_W, MULTIPLIER, X_WB, F, J, Y
from unibody.model.tables import CallbackErrors
from unibody.solvers.redmax.flesh_workspace import POINT_BLOCKS, ROW_STATE, UNKNOWNS, VERTEX_F
from unibody.solvers.redmax.linear import fill_dense
from unibody.solvers.redmax.matrix import fill_least
from unibody.solvers.redmax.workspace import SIDE_F
from unibody.spatial.pose import skew


class PaperForm:
    """Eq. 6 of a system of bodies and vertices, which is known once it has arrays."""

    system: Any

    def bind(self, errors: CallbackErrors) -> None:
        """Addresses of what compiled code asks for."""
        self.factor_address = FactorMatrix.callback(errors.guard(self._factor))
        self.solve_address = SolveMatrix.callback(errors.guard(self._solve, 6, 7))
        self.recover_address = Stage.callback(errors.guard(self._recover))

    # the matrix

    def _factor(self, *_: Any) -> None:
        from scipy.linalg import lu_factor

        system = self.system
        flesh, vertices, n = system.flesh, system.vertices, system.model.n_bodies
        nv, points, held = system.view(Y).size, 3 * system.vertices.points, 3 * system.vertices.moved
        self.J = self._jacobian(nv)
        self.twists = {i: self._twists(i) for i in flesh.border.tolist()}
        K = np.zeros((nv + points + held, nv + points + held))
        fill_least(system.layout, system.ints, system.constants, system.work)
        # joints, without vertices
        M = np.zeros(nv * nv)
        fill_dense(system.layout, system.ints, system.work, M)
        K[:nv, :nv] = M.reshape(nv, nv)
        # vertices with each other, and with bodies that elements tie them to
        blocks = system.view(POINT_BLOCKS)
        for unit, a, b in flesh.point_blocks:
            block, i, j = blocks[9 * unit : 9 * unit + 9].reshape(3, 3), nv + 3 * a, nv + 3 * b
            K[i : i + 3, j : j + 3] = block
            K[j : j + 3, i : i + 3] = block.T
        self.ties = np.zeros((points, 6 * n))
        for unit, a, place in flesh.body_blocks:
            body = int(flesh.border[place])
            self.ties[3 * a : 3 * a + 3, 6 * body : 6 * body + 6] += blocks[9 * unit : 9 * unit + 18].reshape(3, 6)
        for body, twist in self.twists.items():
            between = self.ties[:, 6 * body : 6 * body + 6] @ twist
            K[nv : nv + points, :nv] += between
            K[:nv, nv : nv + points] += between.T
        # Γ J − E
        X = system.view(X_WB).reshape(-1, 12)
        self.arms = []
        for k, ((_, body), p) in enumerate(zip(vertices.held[: vertices.moved].tolist(), vertices.held_p, strict=False)):
            arm = X[body, :9].reshape(3, 3) @ np.hstack([-skew(p), np.eye(3)])
            self.arms.append((body, arm))
            row, at = nv + points + 3 * k, nv + 3 * (len(vertices.free) + k)
            K[row : row + 3, :nv] = arm @ self.twists[body]
            K[:nv, row : row + 3] = K[row : row + 3, :nv].T
            K[row : row + 3, at : at + 3] = K[at : at + 3, row : row + 3] = -np.eye(3)
        self.lu = lu_factor(K, check_finite=False) if np.isfinite(K).all() else None

    def _jacobian(self, nv: int) -> np.ndarray:
        """(6n, nv) motions of bodies in the tree's axes."""
        system = self.system
        out = np.zeros((nv, 6 * system.model.n_bodies))
        for j, unit in enumerate(np.eye(nv)):
            push_tree(system.view(BODIES), system.view(SHIFT), system.view(COLUMNS), unit, out[j])
        return out.T

    def _twists(self, body: int) -> np.ndarray:
        """(6, nv) of one in its axes at its origin."""
        X, rows = self.system.view(X_WB).reshape(-1, 12)[body], self.system.view(ROWS).reshape(self._frames, -1)[body]
        turn, way = self.J[6 * body : 6 * body + 3], self.J[6 * body + 3 : 6 * body + 6]
        R = X[:9].reshape(3, 3)
        return np.vstack([R.T @ turn, R.T @ (way - skew(X[9:] - rows[9:12]) @ turn)])

    @property
    def _frames(self) -> int:
        return self.system.model.n_frames

    # solutions

    def _solution(self, right: np.ndarray, f: np.ndarray, loads: np.ndarray) -> np.ndarray:
        """(y, a, λ) of efforts, wrenches in the tree's axes and forces on vertices (N, 3)."""
        from scipy.linalg import lu_solve

        v, n = self.system.vertices, self.system.model.n_bodies
        R = np.zeros((v.points, 3))
        which = np.repeat(np.arange(v.count), np.diff(v.stands_for.start))
        np.add.at(R, v.stands_for.of, v.stands_for.weight[:, None] * loads[which])
        b = np.concatenate([right[: self.J.shape[1]] + self.J.T @ f[: 6 * n], R.ravel(), np.zeros(3 * v.moved)])
        return lu_solve(self.lu, b, check_finite=False) if self.lu is not None else np.full(b.size, np.nan)

    def _on_vertices(self, f: np.ndarray) -> np.ndarray:
        """(N, 3) of forces on points behind the bodies (6 a frame, the last three count)."""
        model = self.system.model
        out = np.zeros((self.system.vertices.count, 3))
        for point, force in zip(model.vertex_points, f[6 * model.n_bodies :].reshape(-1, 6)[:, 3:], strict=True):
            np.add.at(out, point.vertices, np.outer(point.weights, force))
        return out

    def _of_vertices(self, a: np.ndarray) -> np.ndarray:
        """(N, 3) of free and attached ones."""
        v = self.system.vertices
        out = np.zeros((v.count, 3))
        which = np.repeat(np.arange(v.count), np.diff(v.stands_for.start))
        np.add.at(out, which, v.stands_for.weight[:, None] * a.reshape(-1, 3)[v.stands_for.of])
        return out

    def _solve(self, layout, ints, constants, right, work, f, x, y) -> None:
        system, state = self.system, self.system.view(ROW_STATE)
        n, nv, points = system.model.n_bodies, y.size, 3 * system.vertices.points
        own = system.view(VERTEX_F).reshape(-1, 3) if state[0] > 0.0 else self._on_vertices(f)
        state[0] = 0.0
        found = self._solution(right, f, own)
        y[:], x[: 6 * n], f[:] = found[:nv], self.J @ found[:nv], 0.0
        moved = self._of_vertices(found[nv : nv + points])
        for k, point in enumerate(system.model.vertex_points):
            x[6 * (n + k) : 6 * (n + k) + 6] = np.concatenate([np.zeros(3), point.weights @ moved[point.vertices]])

    def _total(self) -> np.ndarray:
        """The solution of the step with the multipliers of its rows."""
        system, constraints = self.system, self.system.constraints
        right, f = system.view(SIDE).copy(), system.view(SIDE_F).copy()
        entries, numbers, index = system.view(ENTRY_W).reshape(-1, 6), system.view(J), constraints.dof_index.reshape(-1, 2)
        f[6 * system.model.n_bodies :] = 0.0
        for r, mu in enumerate(system.view(MULTIPLIER)):
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
                at = 6 * int(constraints.entry_body[e])
                f[at : at + 6] += mu * entries[e]
            for place, dof in index[constraints.dof_start[r] : constraints.dof_start[r + 1]]:
                right[dof] += mu * numbers[place]
        return self._solution(right, f, system.view(VERTEX_F).reshape(-1, 3) + self._on_vertices(f))

    def _recover(self, *_: Any) -> None:
        system, found = self.system, self._total()
        nv, free = system.view(Y).size, 3 * len(system.vertices.free)
        twists = [self.twists[i] @ found[:nv] for i in system.flesh.border.tolist()]
        system.view(UNKNOWNS)[:] = np.concatenate([found[nv : nv + free], *twists])

    def load_bodies(self) -> None:
        """What vertices do to bodies over the step, into F."""
        system, found = self.system, self._total()
        nv, points, wrenches = system.view(Y).size, 3 * system.vertices.points, system.view(F).reshape(-1, 6)
        a, held = found[nv : nv + points], found[nv + points :].reshape(-1, 3)
        for (body, arm), force in zip(self.arms, held, strict=True):
            wrenches[body] -= arm.T @ force
        wrenches[: system.model.n_bodies] -= (self.ties.T @ a).reshape(-1, 6)
