"""Everything derived at a state in maximal or planar coordinates: reactions are the multipliers, as wrenches at the joint frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unibody.coordinates.energy_balance import Masses
from unibody.coordinates.loop_closure import closure_null
from unibody.coordinates.observation import HeldLoads, Observation, bearings_in_world, element_multipliers, null_shift, observation_of

from unibody.coordinates.workspace import (  # isort: skip
    ARMATURE, CLOSURE, DUAL, MULTIPLIER, NODE_JOINT, NODE_L, RESPONSE_Y, RIGHT, V_WB, X_WB, J, T,
)  # fmt: skip

if TYPE_CHECKING:
    from unibody.coordinates.maximal.system import MaximalSystem


def observe_maximal(system: MaximalSystem, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
    """Evaluate at a state (by the tree, whatever the method) and derive poses, energies, reactions and the violation."""
    system.evaluate(t, q, v, control, tree=True)
    each, gravity = Masses(system.model).energies(system.view(X_WB), system.view(V_WB))
    held = reactions_maximal(system)._replace(kinetic=float(each.sum()), gravity=gravity)
    own_q, own_v = system.q_width * system.n, system.width * system.n
    return observation_of(system, t, q[own_q:], v[own_v:], held, system.constraints.names[system.constraints.primary_rows :])


def reactions_maximal(system: MaximalSystem) -> HeldLoads:
    """From the multipliers of the last evaluation; of energies nothing."""
    constraints, X = system.constraints, system.view(X_WB).reshape(-1, 12)
    primary = system.view(NODE_L)
    auxiliary = system.view(MULTIPLIER)
    constraint = held_wrenches(system, primary, auxiliary, X)
    reactions = constraint + driven_wrenches(system, primary, auxiliary, X)
    null = closure_null(system.view(CLOSURE), constraints.auxiliary, system.rank()[0]) if constraints.auxiliary else np.zeros((0, 0))
    if len(null):
        responses = system.view(RESPONSE_Y).reshape(constraints.auxiliary, -1)
        bearings = bearings_in_world(system.bearings, system.model.joints, X)
        shift = null_shift(constraint, [held_wrenches(system, z @ responses, z, X) for z in null], bearings)
        constraint = constraint - shift
        reactions = reactions - shift
    multipliers = element_multipliers(constraints, row_multipliers(system, primary, auxiliary))
    return HeldLoads(reactions, constraint, null, multipliers, 0.0, 0.0)


def row_multipliers(system: MaximalSystem, primary: np.ndarray, auxiliary: np.ndarray) -> np.ndarray:
    """Multipliers of all rows in the order of the rows."""
    constraints, w = system.constraints, system.width
    out = np.zeros(constraints.rows)
    for i, (k, _) in enumerate(system.view(NODE_JOINT).reshape(-1, 2)):
        if k >= 0:
            row, count = constraints.joints[6 * k + 4 : 6 * k + 6]
            out[row : row + count] = primary[w * i : w * i + count]
    out[constraints.primary_rows :] = auxiliary
    return out


def _in_world(system: MaximalSystem, k: int, wrench: np.ndarray, X: np.ndarray) -> np.ndarray:
    joint = system.relative[k]
    R = X[joint.child, :9].reshape(3, 3) @ joint.X_BM.R
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])


def held_wrenches(system: MaximalSystem, primary: np.ndarray, auxiliary: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Constraint wrenches (joints, 6) of given multipliers, in the model's order."""
    constraints = system.constraints
    multipliers = row_multipliers(system, primary, auxiliary)
    rows = system.view(T).reshape(-1, 6)
    place = {id(j): n for n, j in enumerate(system.model.joints)}
    out = np.zeros((len(system.model.joints), 6))
    for k, joint in enumerate(system.relative):
        row, count = constraints.joints[6 * k + 4 : 6 * k + 6]
        out[place[id(joint)]] = _in_world(system, k, rows[row : row + count].T @ multipliers[row : row + count], X)
    return out


def driven_wrenches(system: MaximalSystem, primary: np.ndarray, auxiliary: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Wrenches (joints, 6) of efforts: motors, springs, dampers, armatures and coupled coordinates."""
    constraints, w = system.constraints, system.width
    effort = np.array(system.view(RIGHT))
    armature = system.view(ARMATURE)
    for i, (k, _) in enumerate(system.view(NODE_JOINT).reshape(-1, 2)):
        if k >= 0:
            first, count, _, rows = constraints.joints[6 * k + 2 : 6 * k + 6]
            armed = [j for j in range(first, first + count) if armature[j] > 0.0]
            effort[armed] += primary[w * i + rows : w * i + rows + len(armed)]
    numbers = system.view(J)
    for row, where, _, j, *_ in constraints.borrowed.reshape(-1, 6):
        effort[j] += auxiliary[row - constraints.primary_rows] * numbers[where]
    duals = system.view(DUAL).reshape(-1, 6)
    place = {id(j): n for n, j in enumerate(system.model.joints)}
    out = np.zeros((len(system.model.joints), 6))
    for k, joint in enumerate(system.relative):
        mine = slice(joint.v_start, joint.v_start + joint.nv)
        out[place[id(joint)]] = _in_world(system, k, duals[mine].T @ effort[mine], X)
    return out
