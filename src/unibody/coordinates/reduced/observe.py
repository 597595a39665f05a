"""Everything derived at a state in reduced coordinates.

The wrench through each tree joint is the sum over its subtree of B a + V ×* B V − F.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from unibody.algebra.tree.aba import COLUMN, ROW
from unibody.coordinates.loop_closure import closure_null

from unibody.coordinates.observation import (  # isort: skip
    Reactions, Observation, bearings_in_world, element_multipliers, null_shift, observation_of, without_efforts,
)  # fmt: skip
from unibody.coordinates.reduced.products import fill_wrenches, gather_wrenches
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS
from unibody.coordinates.system import Dynamics

from unibody.coordinates.workspace import (  # isort: skip
    CLOSURE, DUAL, ENTRY_BODY, F, G, GRAVITY, J, MULTIPLIER, RIGHT, T, X_WB,
)  # fmt: skip
from unibody.spatial.pose import skew


class ReducedArrays(Dynamics, Protocol):
    """What is read of a system in reduced coordinates."""

    has_loops: bool

    def balanced_rows(self) -> np.ndarray:
        """The rows with the velocities that their accelerations and loads balance with."""
        ...


def observe_reduced(system: ReducedArrays, t: float, q: np.ndarray, v: np.ndarray) -> Observation:
    """Poses, energies, reactions and the violation at the state that was evaluated last, with loads."""
    return observation_of(system, t, q, v, reactions_reduced(system), system.constraints.names)


def tree_wrenches(system: ReducedArrays) -> tuple[np.ndarray, np.ndarray]:
    """(tree joints, 6) the wrench through each, from the accelerations and loads of the last evaluation; kinetic and gravity energy."""
    f, energy, effort = np.zeros(6 * system.model.n_bodies), np.zeros(2), np.zeros(system.model.nv)
    rows, columns = system.balanced_rows(), system.view(COLUMNS)
    fill_wrenches(system.view(BODIES), rows, system.view(X_WB), system.view(F), system.view(GRAVITY), f, energy)
    gather_wrenches(system.view(BODIES), rows, columns, f, effort)
    return f.reshape(-1, 6)[1:], energy


def reactions_reduced(system: ReducedArrays) -> Reactions:
    """Reactions from the accelerations and loads of the last evaluation."""
    model, constraints = system.model, system.constraints
    X = system.view(X_WB).reshape(-1, 12)
    through, energy = tree_wrenches(system)
    S = system.view(COLUMNS).reshape(-1, COLUMN)[:, :6]
    reactions = np.zeros((len(model.joints), 6))
    constraint = np.zeros((len(model.joints), 6))
    tree = len(model.tree_joints)
    reactions[:tree] = through
    first, count = np.array([(j.v_start, j.nv) for j in model.tree_joints], int).reshape(-1, 2).T
    constraint[:tree] = without_efforts(reactions[:tree], S, first, count)
    multipliers = system.view(MULTIPLIER)
    null = closure_null(system.view(CLOSURE), constraints.rows, system.rank()[0]) if system.has_loops else np.zeros((0, 0))
    for k, j in enumerate(model.loop_joints):
        wrench, driven = _loop_wrench(system, k, multipliers)
        R = X[j.child, :9].reshape(3, 3) @ j.X_BM.R
        constraint[tree + k] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        reactions[tree + k] = constraint[tree + k] + np.concatenate([R @ driven[:3], R @ driven[3:]])
    if len(null):
        shift = null_shift(constraint, [_null_wrenches(system, z, X) for z in null], bearings_in_world(system.bearings, model.joints, X))
        constraint -= shift
        reactions -= shift
    return Reactions(reactions, constraint, null, element_multipliers(constraints, multipliers), float(energy[0]), float(energy[1]))


def _loop_wrench(system: ReducedArrays, k: int, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The wrench on the child of loop joint k at M in M's axes: what holds it, and what its efforts drive (armature included)."""
    constraints = system.constraints
    _, _, first, count, row, rows = constraints.joints[6 * k : 6 * k + 6]
    wrench = system.view(T).reshape(-1, 6)[row : row + rows].T @ multipliers[row : row + rows]
    efforts = np.array(system.view(RIGHT)[first : first + count])
    for b in constraints.borrowed.reshape(-1, 6):
        if b[2] == k:
            efforts[b[3] - first] += multipliers[b[0]] * system.view(J)[b[1]]
    return wrench, system.view(DUAL).reshape(-1, 6)[first : first + count].T @ efforts


def _null_wrenches(system: ReducedArrays, z: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Constraint wrenches (joints, 6) of a null vector of the auxiliary rows: what the tree joints carry when nothing moves."""
    model, constraints = system.model, system.constraints
    G_all = system.view(G).reshape(-1, 6)
    bodies = system.view(ENTRY_BODY)
    wrench = np.zeros((model.n_frames, 6))
    for r, value in enumerate(z):
        for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
            wrench[bodies[e]] += value * G_all[e]
    rows = system.view(ROWS).reshape(-1, ROW)
    at_joint = np.zeros((model.n_bodies, 6))
    for i in range(1, model.n_bodies):
        R = X[i, :9].reshape(3, 3)
        at_joint[i, 3:] = -R @ wrench[i, 3:]
        at_joint[i, :3] = -R @ wrench[i, :3] + skew(X[i, 9:] - rows[i, 9:12]) @ at_joint[i, 3:]
    flat = at_joint.ravel()
    gather_wrenches(system.view(BODIES), system.view(ROWS), system.view(COLUMNS), flat, np.zeros(model.nv))
    out = np.zeros((len(model.joints), 6))
    tree = len(model.tree_joints)
    out[:tree] = flat.reshape(-1, 6)[1:]
    T_all = system.view(T).reshape(-1, 6)
    for k, j in enumerate(model.loop_joints):
        row, rows_of = constraints.joints[6 * k + 4], constraints.joints[6 * k + 5]
        own = T_all[row : row + rows_of].T @ z[row : row + rows_of]
        R = X[j.child, :9].reshape(3, 3) @ j.X_BM.R
        out[tree + k] = np.concatenate([R @ own[:3], R @ own[3:]])
    return out
