"""What tree joints carry of impulses along rows: a linear map, made in one sweep a row, so that many impulses can be tried.

A row with a load F on the bodies and the response y = M⁻¹ Jᵀ of the velocities sends through every joint the sum over its subtree of
B (J y) − F. Elsewhere, in the reactions of a whole state, velocities and forces add to it what does not depend on impulses.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.aba import BODY, RIGID, ROW, P
from unibody.algebra.tree.factor import rigid_block, times_block
from unibody.coordinates.reduced.kinematics import wrench_at_joint
from unibody.coordinates.reduced.products import push_velocities
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS
from unibody.coordinates.system import System
from unibody.coordinates.workspace import ENTRY_BODY, X_WB, G
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import cross, load3, load6, sub3
from unibody.stepping.body_motion import cross_rows
from unibody.stepping.impulse_reduced import ImpulseReduced


@kernel
def send_through_joints(
    body: Ints, rows: Floats, columns: Floats, X: Floats, F: Floats, y: Floats, twist_out: Floats, f_out: Floats
) -> None:
    """Row by row, from loads F (6 a body, body axes) and responses y: wrenches through the joints (6 a body; world axes, at M's origin)."""
    n = body.size // BODY
    count = F.size // (6 * n)
    nv = y.size // count
    for r in range(count):
        f = f_out[6 * n * r : 6 * n * (r + 1)]
        load = F[6 * n * r : 6 * n * (r + 1)]
        push_velocities(body, rows, columns, y[nv * r : nv * (r + 1)], twist_out)
        for m in range(6):
            f[m] = 0.0
        for i in range(1, n):
            w = times_block(rigid_block(rows, ROW * i + RIGID), load6(twist_out, 6 * i))
            t, l = wrench_at_joint(X, rows, i, load3(load, 6 * i), load3(load, 6 * i + 3))
            for m in range(3):
                f[6 * i + m] = w[m] - t[m]
                f[6 * i + 3 + m] = w[3 + m] - l[m]
        for i in range(n - 1, 0, -1):
            parent = body[BODY * i]
            a = load3(f, 6 * i)
            b = load3(f, 6 * i + 3)
            t = cross(sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P)), b)
            for m in range(3):
                f[6 * parent + m] += a[m] + t[m]
                f[6 * parent + 3 + m] += b[m]


def through_tree(system: ImpulseReduced, Y_constraints: np.ndarray, bodies: np.ndarray, wrenches: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """(k + m, tree joints, 6) wrenches through the joints (world axes, at M) of unit impulses along the k constraint rows, with responses
    Y_book (k, nv), and along m rows that are wrenches (m, 2, 6) on pairs of bodies (world axes, at centres of mass), with responses Y."""
    n, k, m = system.model.n_bodies, len(Y_constraints), len(Y)
    F = np.zeros((k + m, n, 6))
    constraints = system.constraints
    of_rows = np.repeat(np.arange(k), np.diff(constraints.row_start))
    np.add.at(F, (of_rows, system.view(ENTRY_BODY)[constraints.row_entry]), system.view(G).reshape(-1, 6)[constraints.row_entry])
    R = system.poses()[:, :9].reshape(-1, 3, 3)[bodies]
    force = np.einsum("mpji,mpj->mpi", R, wrenches[..., 3:])
    torque = np.einsum("mpji,mpj->mpi", R, wrenches[..., :3]) + cross_rows(system._com[bodies], force)
    np.add.at(F, (k + np.arange(m)[:, None], bodies), np.concatenate([torque, force], axis=2))
    return sent(system, F, np.concatenate([Y_constraints, Y]))


def sent(system: System, F: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """(m, tree joints, 6) wrenches through the joints (world axes, at M) of loads F (m, bodies, 6) in body axes and responses Y (m, nv)."""
    out = np.zeros_like(F)
    if F.size:
        send_through_joints(
            system.view(BODIES), system.view(ROWS), system.view(COLUMNS), system.view(X_WB), F.ravel(),
            np.ascontiguousarray(Y).ravel(), np.zeros(F[0].size), out.ravel(),
        )  # fmt: skip
    return out[:, 1:]
