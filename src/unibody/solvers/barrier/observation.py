"""Everything derived at a state of affine bodies: rigid poses, joint coordinates, energies, reactions, contacts.

Behind a step, what holds a joint together are the multipliers of its linear equations, forces at material vectors of its bodies, and what
the stiff potential of the rest pulls; both belong to the balance that the step has found. At a start, they follow from accelerations.
The energy of springs includes what barriers, stiff potentials and deformation store.

Of contacts, the normal force is −B′, that of friction −μ λ f₁(|w|) ŵ with the slip w of the step that ended here and the normal force λ at
its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.collision.proximity import DISTANCE, WIDTH, ContactSet
from unibody.contact.barrier import contact_forces
from unibody.contact.node_blocks import NodeBarrier
from unibody.coordinates.affine.body import strain_energy
from unibody.coordinates.affine.rigid_view import relative_twist
from unibody.coordinates.observation import Observation, Touching, public_poses, public_twists
from unibody.element import Kinematics
from unibody.model import State
from unibody.rules.base import trapezoidal_work
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.constraint_rows import remainder_loads
from unibody.solvers.barrier.contact_potential import add_barrier_gradient, barrier_value
from unibody.solvers.barrier.damped_contacts import damper_forces, with_dampers
from unibody.solvers.barrier.element_loads import ElementLoads
from unibody.solvers.barrier.energy_potential import dissipation
from unibody.solvers.barrier.instant import instant, joint_bias, least_shift
from unibody.solvers.barrier.measure_potential import measure_loads
from unibody.solvers.barrier.memory import USUAL_STEP, LastStep
from unibody.solvers.barrier.point_contact import contact_slips
from unibody.solvers.barrier.system import BarrierSystem
from unibody.solvers.barrier.vertex_observation import observe_vertices


def observe_affine(system: BarrierSystem, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
    """Poses, energies, reactions and the violation at a state, with the memory of the step that ended there."""
    model, a, kept = system.model, system.affine, system.memory.view(memory)
    # Bodies and joints as elements see them.
    Q, V, last = a.whole(state.q, state.t), a.rates(state.v, state.t), system.memory.last_step(memory)
    x, speed = a.everything(Q, state.q, state.t), a.rates_of_all(V, state.v, state.t)
    Q, V = a.bodies_of(x), a.bodies_of(speed)
    k = system.view.kinematics(state.t, Q, V, kept.joint_q, a.signals(state.t), control, model.joints)
    # What forces, constraints and remainders do.
    F, acting, powers = np.zeros(k.V.size), np.zeros(model.nv_joints), np.zeros(3)
    if not system.lagged.is_idle(control):
        F, acting, powers = system.forces.acting(k.X.ravel(), k.V.ravel(), k.q, k.v, k.signals, control)
    stored = system.forces.stored(k.X.ravel(), k.q, k.signals)[0] if system.forces.energetic else 0.0
    held = _held_loads(system, Q, k, last.length, kept.stiffer_ranges, True)
    multipliers = dict(held.multipliers)
    if last.made:
        efforts = held.efforts + acting + _armatures(system, last, k)
        holding = _held(system, Q, k, kept.multipliers)
        for j, wrench in held.holding.items():
            holding[j] += wrench
        for name, rows in system.exact.items():
            multipliers[name] = kept.multipliers[rows]
    else:
        holding, found, efforts = _at_rest(system, x, k, F.reshape(-1, 6), acting)
        multipliers.update(found)
    holding = least_shift(system.view, k, a.own, holding)
    reactions = holding.copy()
    for i, j in enumerate(model.joints):
        if j.nv and efforts[j.v_start : j.v_start + j.nv].any():
            reactions[i] += np.linalg.pinv(j.element.motion(k.joint_q(j.name))).T @ efforts[j.v_start : j.v_start + j.nv]
    # Energies.
    n = model.n_bodies
    contacts, near, barriers = _contacts(system, x, state.t, memory, last)
    own, M4 = V[a.own], a.M4[: a.real]
    kinetic = 0.5 * float(np.einsum("nai,nab,nbi->", own, M4, own))
    kinetic += sum(0.5 * float(j.armature @ k.joint_v(j.name) ** 2) for j in system.lagged.armed)
    height = float(-(np.einsum("na,nai->ni", M4[:, 0], Q[a.own]) @ model.gravity).sum())
    seen: dict[str, Any] = {}
    if a.vertices is not None:
        soft = observe_vertices(system, x, speed, memory, near, contacts)
        seen, kinetic, height = soft.fields, kinetic + soft.kinetic, height + soft.gravity
        powers[0] -= dissipation(system.matter.damping(a.vertices.of(x).ravel()), speed)
    barriers += float(strain_energy(Q[a.moving], system.stiffness.of(last.length, kept.stiffer_bodies)).sum())
    return Observation(
        time=state.t, poses=public_poses(k.X[:n]), twists=public_twists(k.X[:n], k.V[:n]), joint_q=k.q, joint_v=k.v, kinetic=kinetic,
        gravity=height, springs=stored + held.value + barriers, powers=powers, reactions=_in_world(system, k, reactions),
        constraint_wrenches=_in_world(system, k, holding),
        violation=max(held.violation, float(np.abs(system.reduction.residual(Q)).max(initial=0.0))),
        redundant=system.reduction.dropped, redundant_names=tuple(system.reduction.redundant), multipliers=multipliers,
        iterations=int(kept.iterations), distance=float(kept.least_distance) if last.made else np.inf, notes=system.notes(),
        contacts=contacts, drive_work=float(kept.drive_work) if system.driven else 0.0,
        material=Q[: model.n_bodies], work=trapezoidal_work(memory, powers), **seen,
    )  # fmt: skip


def _held_loads(
    system: BarrierSystem, Q: np.ndarray, k: Kinematics, h: float, doubled: np.ndarray | float, equalities: bool
) -> ElementLoads:
    """Of constraints and of what joints leave open, in a step of length h; without `equalities` only of ranges."""
    scales = system.scales(h)
    out = system.rows.loads(k, system.view, scales, equalities)
    if equalities:
        out = out.join(remainder_loads(system.view, system.remainders, k, scales))
    return out.join(measure_loads(system.measured, Q, k.q, scales, doubled, equalities))


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


def _armatures(system: BarrierSystem, last: LastStep, k: Kinematics) -> np.ndarray:
    """Efforts −I v̇ over the last step."""
    out, armed = np.zeros(system.model.nv_joints), system.lagged.armed
    if armed:
        a, t = system.affine, k.t - last.length
        old = system.view.kinematics(t, a.whole(last.Q, t), a.rates(last.V, t), k.q, k.signals, k.control, armed)
        for j in armed:
            mine = slice(j.v_start, j.v_start + j.nv)
            out[mine] = -j.armature * (k.v[mine] - old.v[mine]) / last.length
    return out


def _at_rest(
    system: BarrierSystem, x: np.ndarray, k: Kinematics, F: np.ndarray, acting: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Where no step has been: wrenches that hold joints, multipliers, and efforts, from accelerations of rigid bodies under wrenches F
    (bodies, 6) and efforts of forces."""
    model, held = system.model, _held_loads(system, system.affine.bodies_of(x), k, USUAL_STEP, 0.0, False)
    wrench = F + held.wrench + _contact_wrenches(system, x, k)
    system.view.spread(acting, k, wrench)
    R, V = k.X[:, :9].reshape(-1, 3, 3), np.zeros((model.n_frames, 6))
    for i, body in enumerate(model.bodies):
        weight = body.mass * R[i].T @ model.gravity if body.kind == "dynamic" else np.zeros(3)
        wrench[i] += np.concatenate([np.cross(body.com, weight), weight])
    for i, rate in system.affine.accelerations(k.t).items():
        V[i] = rate
    found = instant(system.view, k, system.affine.own, wrench, V)
    holding = np.zeros((len(model.joints), 6))
    for i, w in found.holding.items():
        holding[i] = w
    efforts = held.efforts + acting
    for name, constraint in model.constraints:
        if name in found.multipliers:
            for joint, J in constraint.evaluate(k).J.items():
                j = model.joint(joint)
                efforts[j.v_start : j.v_start + j.nv] += np.asarray(J).T @ found.multipliers[name]
    for j in system.lagged.armed:
        A_c, A_p = relative_twist(j, k.X)
        inverse = np.linalg.pinv(j.element.motion(k.joint_q(j.name)))
        rate = inverse @ (A_c @ found.acceleration[j.child] + A_p @ found.acceleration[j.parent]) + joint_bias(j, k)
        efforts[j.v_start : j.v_start + j.nv] -= j.armature * rate
    return holding, {**held.multipliers, **found.multipliers}, efforts


def _contact_wrenches(system: BarrierSystem, x: np.ndarray, k: Kinematics) -> np.ndarray:
    """(bodies, 6) of the barriers, and of what deformables pull, body axes."""
    a, n = system.affine, system.model.n_frames
    if not a.touching and a.vertices is None:
        return np.zeros((n, 6))
    gradient = np.zeros(x.size)
    if a.touching:
        law = system.law(USUAL_STEP)
        contacts = system.contacts(x, law)
        if a.vertices is None:
            add_barrier_gradient(contacts.pair.ravel(), contacts.record.ravel(), law.pressure, law.reach, 1.0, gradient)
        else:
            NodeBarrier(contacts, law.pressure, law.reach).add_gradient(1.0, gradient)
    if a.vertices is not None:
        gradient[12 * a.rows :] += system.matter.gradient(a.vertices.of(x).ravel())
        a.vertices.of(gradient)[:] -= a.vertices.mass[:, None] * system.model.gravity
        a.vertices.pulled(gradient)
    F, Q = -a.bodies_of(gradient)[:n], a.bodies_of(x)
    R = k.X[:, :9].reshape(-1, 3, 3)
    torque = np.cross(Q[: len(F), 1:], F[:, 1:]).sum(axis=1)
    return np.concatenate([np.einsum("nji,nj->ni", R, torque), np.einsum("nji,nj->ni", R, F[:, 0])], axis=1)


def _contacts(system: BarrierSystem, x: np.ndarray, t: float, memory: np.ndarray, last: LastStep) -> tuple[Touching, ContactSet, float]:
    """Contacts at all control points x with the memory of the step that ended there, and what their barriers store [J]."""
    a, h = system.affine, last.length
    if not a.touching:
        none = ContactSet(np.zeros((0, 2), np.int64), np.zeros((0, WIDTH)))
        return touching(a, none, np.zeros(0), 1.0, 1.0, x, None, 1.0), none, 0.0
    law = system.law(h, memory)
    contacts, origin = system.contacts(x, law), None
    if last.made:
        second = last.rate * h > 1.25  # BDF-2: velocities count from (4 x − x_old) / 3
        origin = a.velocity_origin(t - h, h, last.origin, second, x)
    mu = system.friction[contacts.pair[:, 0], contacts.pair[:, 1]]
    slip: np.ndarray | float = 1.0
    if last.made:
        begun = a.rates_of_all(a.rates(last.V, t - h), last.V, t - h)
        slip = contact_slips(a, contacts, begun, law.slip_speed, last.rate)
    seen = touching(a, contacts, mu, law.pressure, law.reach, x, origin, slip)
    stored = barrier_value(contacts.record.ravel(), law.pressure, law.reach)
    if origin is not None and system.damping.any():
        early = system.contacts(a.everything(a.whole(last.Q, t - h), last.Q, t - h), law)
        k_d = system.damping[early.pair[:, 0], early.pair[:, 1]]
        early, k_d = early.among(k_d > 0.0), k_d[k_d > 0.0]
        late = touching(a, early, np.zeros(len(early)), 0.0, law.reach, x, None, 1.0)
        apart = np.einsum("nk,nki,ni->n", early.record[:, :8], _at_nodes(early, x).reshape(-1, 8, 3), early.normal)
        late.gaps = early.distance + apart - early.record[:, DISTANCE]
        force = damper_forces(early, k_d, law, x - origin, last.rate)
        seen, contacts = with_dampers(seen, contacts, late, early, force)
    return seen, contacts, stored


def touching(
    system: AffineSystem, contacts: ContactSet, mu: np.ndarray, pressure: float, reach: float, x: np.ndarray, origin: np.ndarray | None,
    slip: np.ndarray | float,
) -> Touching:  # fmt: skip
    """mu (n,); `origin` (all control points) from where slips count (None before the first step), `slip` [m] (n,) below which friction
    holds."""
    contacts = contacts.at_surfaces(x)
    u, n = contacts.u, contacts.normal
    at = _at_nodes(contacts, x)
    first = np.einsum("nk,nki->ni", u[:, 0], at[:, 0])
    second = -np.einsum("nk,nki->ni", u[:, 1], at[:, 1])
    press = contact_forces(contacts, pressure, reach)
    w = np.zeros((len(contacts), 3))
    if origin is not None:
        w = np.einsum("nsk,nski->ni", u, _at_nodes(contacts, x - origin))
        w = w - np.einsum("ni,ni->n", w, n)[:, None] * n
    size = np.linalg.norm(w, axis=1)
    part = np.minimum(size / slip, 1.0)
    grip = np.where(size > 0.0, mu * press * part * (2.0 - part) / np.maximum(size, 1e-300), 0.0)
    bodies = np.where(contacts.pair < system.rows, contacts.pair, contacts.pair - system.rows + system.model.n_bodies)
    return Touching(
        points=0.5 * (first + second), bodies=bodies, normals=n.copy(), gaps=contacts.distance.copy(), normal_forces=press,
        friction=-grip[:, None] * w, sliding=(size >= slip) & (mu * press > 0.0),
    )  # fmt: skip


def _at_nodes(contacts: ContactSet, x: np.ndarray) -> np.ndarray:
    """(n, 2, 4, 3) of x at the control points of contacts, 0 where there is none."""
    nodes = contacts.nodes
    return np.where(nodes[:, :, None] >= 0, x.reshape(-1, 3)[np.maximum(nodes, 0)], 0.0).reshape(-1, 2, 4, 3)
