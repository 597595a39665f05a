"""How velocities respond to efforts in joints, rows held: what a method needs that bounds efforts by what they bring about.

    H = B A⁻¹ Bᵀ − B A⁻¹ Gᵀ (G A⁻¹ Gᵀ + C)⁺ G A⁻¹ Bᵀ

with the matrix A of the last linearly implicit step (Eq. 2), rows B of the joint velocities asked about, and the rows G that hold, with
their compliances C. Joints of the tree are coordinates, so their rows are units; a joint that closes a loop acts on its two bodies.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.factor import pull_tree
from unibody.arena import part
from unibody.coordinates.reduced.kinematics import wrench_at_joint
from unibody.coordinates.reduced.row_responses import load_row
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS, SHIFT
from unibody.coordinates.relative_joints import JOINT, SEEN, wrench_back
from unibody.coordinates.workspace import COMPLIANCE, DUAL, JOINTS, LOAD, MULTIPLIER, X_WB, Y
from unibody.coordinates.workspace import SEEN as SEEN_SLOT
from unibody.kernel import Floats, Ints, kernel
from unibody.solvers.redmax.linear import fill_dense
from unibody.solvers.redmax.system import RedMaxSystem
from unibody.spatial.devices import load6


@kernel
def pull_rows(layout: Ints, ints: Ints, given: Ints, work_out: Floats, G_out: Floats) -> None:
    """The given rows in joint velocities of the tree, one after the other."""
    load = part(work_out, layout, LOAD)
    nv = part(work_out, layout, Y).size
    for k in range(given.size):
        row = G_out[nv * k : nv * (k + 1)]
        row[:] = 0.0
        load[:] = 0.0
        load_row(layout, ints, given[k], 1.0, work_out, load, row)
        pull_tree(part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), load, row)


@kernel
def pull_efforts(layout: Ints, ints: Ints, velocities: Ints, work_out: Floats, B_out: Floats) -> None:
    """The given joint velocities in those of the tree, one after the other."""
    load = part(work_out, layout, LOAD)
    X = part(work_out, layout, X_WB)
    rows = part(work_out, layout, ROWS)
    joints = part(ints, layout, JOINTS)
    nv = part(work_out, layout, Y).size
    for k in range(velocities.size):
        v = velocities[k]
        row = B_out[nv * k : nv * (k + 1)]
        row[:] = 0.0
        if v < nv:
            row[v] = 1.0
        load[:] = 0.0
        for j in range(joints.size // JOINT):
            if joints[JOINT * j + 2] <= v < joints[JOINT * j + 2] + joints[JOINT * j + 3]:
                s = load6(part(work_out, layout, DUAL), 6 * v)
                for side in range(2):
                    body = joints[JOINT * j + side]
                    w = wrench_back(part(work_out, layout, SEEN_SLOT), SEEN * j + 12 * side, s)
                    t, f = wrench_at_joint(X, rows, body, (w[0], w[1], w[2]), (w[3], w[4], w[5]))
                    sign = 1.0 if side == 1 else -1.0
                    for m in range(3):
                        load[6 * body + m] += sign * t[m]
                        load[6 * body + 3 + m] += sign * f[m]
        pull_tree(part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), load, row)
        load[:] = 0.0


def velocity_rows(system: RedMaxSystem, velocities: np.ndarray) -> np.ndarray:
    """B at the last step of a system."""
    B = np.zeros(system.model.nv * velocities.size)
    pull_efforts(system.layout, system.ints, velocities, system.work, B)
    return B.reshape(velocities.size, system.model.nv)


class EffortResponse:
    """B and H at the last step of a system; made once a step, closed again when other rows hold."""

    def __init__(self, system: RedMaxSystem, velocities: np.ndarray):
        from scipy.linalg import cho_factor, cho_solve

        nv, k = system.model.nv, system.constraints.rows
        A, G = np.zeros(nv * nv), np.zeros(nv * k)
        fill_dense(system.layout, system.ints, system.work, A)
        pull_rows(system.layout, system.ints, np.arange(k), system.work, G)
        self._system = system
        self.B = velocity_rows(system, velocities)
        self._G = G.reshape(k, nv)
        factor = cho_factor(A.reshape(nv, nv), check_finite=False) if nv else None
        self._responses = cho_solve(factor, np.concatenate([self.B, self._G]).T, check_finite=False) if nv else np.zeros((0, 0))
        self._acting = np.zeros(0, bool)
        self._closed: np.ndarray | None = None

    @property
    def responses(self) -> np.ndarray:
        """(velocities, nv) accelerations to unit efforts where no row holds."""
        return self._responses[:, : len(self.B)].T

    def closed(self) -> np.ndarray:
        """H with the rows that hold now: those that hold both ways, and those that push."""
        constraints, b = self._system.constraints, len(self.B)
        acting = ~constraints.unilateral | (self._system.view(MULTIPLIER) != 0.0)
        if self._closed is None or (acting != self._acting).any():
            H, G = self.B @ self._responses[:, :b], self._G[acting]
            if acting.any():
                responses = self._responses[:, b:][:, acting]
                gram = G @ responses + np.diag(self._system.view(COMPLIANCE)[acting])
                across = self.B @ responses
                H = H - across @ np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ across.T
            self._closed, self._acting = 0.5 * (H + H.T), acting
        return self._closed
