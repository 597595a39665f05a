"""Everything derived at a state of affine bodies: rigid poses, joint coordinates, energies, reactions.

Behind a step, what holds a joint together are the multipliers of its linear equations, forces at material vectors of its bodies, and what
the stiff potential of the rest pulls; both belong to the balance that the step has found. At a start, they follow from accelerations.
The energy of springs includes what barriers, stiff potentials and deformation store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unibody.contact.barrier import add_barrier_gradient
from unibody.coordinates.observation import Observation, public_poses, public_twists
from unibody.coordinates.signals import drive
from unibody.element import Kinematics
from unibody.model import State
from unibody.solvers.barrier.contacts import contacts_at
from unibody.solvers.barrier.elements import Lag, relative_twist
from unibody.solvers.barrier.instant import instant, joint_bias, least_shift
from unibody.solvers.barrier.measure_terms import gauge_pull

if TYPE_CHECKING:
    from unibody.solvers.barrier.step import BarrierSystem


def observe_affine(system: BarrierSystem, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
    """Poses, energies, reactions and the violation at a state, with the memory of the step that ended there."""
    model, elements = system.model, system.elements
    Q, V = system.whole(state.q, state.t), system.rates(state.v, state.t)
    before, last = system.had_step(memory), system.last_step(memory)
    k = elements.kinematics(state.t, Q, V, memory[system.fitted], system.signals(state.t), control)
    elements.fit(k, model.joints)
    lag = elements.lagged(k)
    pull = elements.potential(k, system.stiff(last), blocks=False).join(
        gauge_pull(system.gauged, Q, k.q, system.stiff(last), memory[system.stiffer_ranges])
    )
    multipliers = dict(pull.multipliers)
    if before:
        efforts = pull.efforts + lag.efforts + _armatures(system, memory, k)
        held = _held(system, Q, k, memory[system.multipliers])
        for j, wrench in pull.holding.items():
            held[j] += wrench
        for name, rows in system.exact.items():
            multipliers[name] = memory[system.multipliers][rows]
    else:
        held, found, efforts = _at_rest(system, Q, k, lag, control)
        multipliers.update(found)
    contacts, stored = contacts_at(system, Q, state.t, memory)
    held = least_shift(elements, k, system.own, held)
    own, M4 = V[system.own], system.affine.M4[: len(system.own)]
    kinetic = 0.5 * float(np.einsum("nai,nab,nbi->", own, M4, own))
    kinetic += sum(0.5 * float(j.armature @ k.joint_v(j.name) ** 2) for j in elements.armed)
    height = float(-(np.einsum("na,nai->ni", M4[:, 0], Q[system.own]) @ model.gravity).sum())
    reactions = held.copy()
    for i, j in enumerate(model.joints):
        if j.nv and efforts[j.v_start : j.v_start + j.nv].any():
            reactions[i] += np.linalg.pinv(j.element.motion(k.joint_q(j.name))).T @ efforts[j.v_start : j.v_start + j.nv]
    out = Observation(
        time=state.t, poses=public_poses(k.X), twists=public_twists(k.X, k.V), joint_q=k.q, joint_v=k.v, kinetic=kinetic, gravity=height,
        springs=pull.value + stored, powers=lag.powers, reactions=_in_world(system, k, reactions),
        constraint_wrenches=_in_world(system, k, held),
        violation=max(pull.violation, float(np.abs(system.reduction.residual(Q)).max(initial=0.0))),
        redundant=system.reduction.dropped, redundant_names=tuple(system.reduction.redundant), multipliers=multipliers,
        iterations=system.iterations(memory), notes=system.notes(), contacts=contacts,
        material=Q[: model.n_bodies],
    )  # fmt: skip
    out.work = np.array(memory[:3]) + 0.5 * memory[6] * (memory[3:6] + lag.powers)
    return out


def _in_world(system: BarrierSystem, k: Kinematics, wrenches: np.ndarray) -> np.ndarray:
    """(joints, 6) from M's axes to the world's."""
    out = np.zeros_like(wrenches)
    for i, j in enumerate(system.model.joints):
        R = k.X[j.child, :9].reshape(3, 3) @ j.X_BM.R
        out[i] = np.concatenate([R @ wrenches[i, :3], R @ wrenches[i, 3:]])
    return out


def _held(system: BarrierSystem, Q: np.ndarray, k: Kinematics, multipliers: np.ndarray) -> np.ndarray:
    """(joints, 6) torque and force on the child at M, in M's axes, of the linear equations; of a chain of parts, those of the last."""
    r, model = system.reduction, system.model
    out = np.zeros((len(model.joints), 6))
    rows = np.flatnonzero((r.joint >= 0) & r.last)
    if len(rows):
        wrench, body, joint = r.wrenches(Q, multipliers)[rows], r.child[rows], r.joint[rows]
        child = np.array([j.child for j in model.joints])
        X = k.X[child, :9].reshape(-1, 3, 3)
        R = X @ np.array([j.X_BM.R for j in model.joints])
        at = k.X[child, 9:] + np.einsum("nij,nj->ni", X, np.array([j.X_BM.p for j in model.joints]))
        torque = wrench[:, :3] - np.cross(at[joint] - Q[body, 0], wrench[:, 3:])
        # Rows of a joint whose child is static act on the parent: the child gets the opposite.
        sign = np.where(body == child[joint], 1.0, -1.0)[:, None]
        at_M = [np.einsum("nji,nj->ni", R[joint], part) for part in (torque, wrench[:, 3:])]
        np.add.at(out, joint, sign * np.concatenate(at_M, axis=1))
    for joint in {link.joint for link in system.affine.links}:  # efforts on links come to the child by way of the last part's rows
        j = model.joints[joint]
        S = j.element.motion(k.joint_q(j.name))
        out[joint] -= np.linalg.pinv(S).T @ (S.T @ out[joint])
    return out


def _armatures(system: BarrierSystem, memory: np.ndarray, k: Kinematics) -> np.ndarray:
    """Efforts −I v̇ over the last step."""
    out, armed = np.zeros(system.model.nv_joints), system.elements.armed
    if armed:
        h = system.last_step(memory)
        Q, V = system.before(memory, k.t - h)
        old = system.elements.kinematics(k.t - h, Q, V, k.q, k.signals, k.control)
        for j in armed:
            mine = slice(j.v_start, j.v_start + j.nv)
            out[mine] = -j.armature * (k.v[mine] - old.v[mine]) / h
    return out


def _at_rest(
    system: BarrierSystem, Q: np.ndarray, k: Kinematics, lag: Lag, control: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Where no step has been: wrenches that hold joints, multipliers, and efforts, from accelerations of rigid bodies."""
    model, elements = system.model, system.elements
    stiff, only = system.stiff(1e-2), elements.without_equalities()
    pull = only.potential(k, stiff, blocks=False).join(gauge_pull(system.gauged, Q, k.q, stiff, equalities=False))
    wrench = lag.wrench + pull.wrench + _contact_wrenches(system, Q, k)
    for (a, b), D in lag.damping.items():
        wrench[a] -= D @ k.V[b]
    R, V = k.X[:, :9].reshape(-1, 3, 3), np.zeros((model.n_bodies, 6))
    for i, body in enumerate(model.bodies):
        weight = body.mass * R[i].T @ model.gravity if body.kind == "dynamic" else np.zeros(3)
        wrench[i] += np.concatenate([np.cross(body.com, weight), weight])
        if body.kind == "kinematic":
            V[i] = drive(body, k.t)[18:24]
    found = instant(elements, k, system.own, wrench, V)
    held = np.zeros((len(model.joints), 6))
    for i, w in found.holding.items():
        held[i] = w
    efforts = pull.efforts + lag.efforts
    for name, constraint in model.constraints:
        if name in found.multipliers:
            for joint, J in constraint.evaluate(k).J.items():
                j = model.joint(joint)
                efforts[j.v_start : j.v_start + j.nv] += np.asarray(J).T @ found.multipliers[name]
    for j in elements.armed:
        A_c, A_p = relative_twist(j, k.X)
        inverse = np.linalg.pinv(j.element.motion(k.joint_q(j.name)))
        rate = inverse @ (A_c @ found.acceleration[j.child] + A_p @ found.acceleration[j.parent]) + joint_bias(j, k)
        efforts[j.v_start : j.v_start + j.nv] -= j.armature * rate
    return held, {**pull.multipliers, **found.multipliers}, efforts


def _contact_wrenches(system: BarrierSystem, Q: np.ndarray, k: Kinematics) -> np.ndarray:
    """(bodies, 6) of the barriers, body axes."""
    out = np.zeros((system.model.n_bodies, 6))
    if not system.rules:
        return out
    law = system.law(1e-2)
    contacts = system.contacts(Q, law)
    gradient = np.zeros(Q.size)
    add_barrier_gradient(contacts.pair.ravel(), contacts.record.ravel(), law.pressure, law.reach, 1.0, gradient)
    F = -gradient.reshape(-1, 4, 3)[: system.model.n_bodies]
    R = k.X[:, :9].reshape(-1, 3, 3)
    torque = np.cross(Q[: len(F), 1:], F[:, 1:]).sum(axis=1)
    return np.concatenate([np.einsum("nji,nj->ni", R, torque), np.einsum("nji,nj->ni", R, F[:, 0])], axis=1)
