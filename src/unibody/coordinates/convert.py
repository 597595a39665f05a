"""From one system's coordinates to another's, by way of the bodies' poses and twists (NumPy; used between runs, not inside steps)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from unibody.coordinates.affine.body import polar, twist_of_rate
from unibody.errors import ModelError
from unibody.model.model import Model
from unibody.model.state import State
from unibody.spatial.pose import Pose, adjoint, vector_from_rotation


def poses_and_twists(model: Model, state: State) -> tuple[list[Pose], list[np.ndarray]]:
    """X_WB and V_WB_B of every body in a state of any coordinates; free vertices of deformables stand behind the bodies of affine ones,
    and may stand behind the joints of reduced ones."""
    if state.coordinates == "reduced":
        return _from_reduced(model, state)
    moving = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
    width, speeds = {"maximal": (7, 6), "affine": (12, 12)}.get(state.coordinates, (3, 3))
    links, vertices = 0, 0
    if state.coordinates == "affine":
        from unibody.coordinates.affine.links import expand

        links, vertices = len(expand(model)[1]), 3 * len(model.free_vertices)
    check_size(state, width * (len(moving) + links) + vertices, speeds * (len(moving) + links) + vertices)
    from unibody.coordinates.signals import drive

    poses = [b.X_WB for b in model.bodies]
    twists = [np.zeros(6) for _ in model.bodies]
    for i, body in enumerate(model.bodies):
        if body.kind == "kinematic":
            now = drive(body, state.t)
            poses[i] = Pose.from_rotation(now[:9].reshape(3, 3), now[9:12])
            twists[i] = now[12:18]
    for k, i in enumerate(moving):
        q, v = state.q[width * k : width * (k + 1)], state.v[speeds * k : speeds * (k + 1)]
        if state.coordinates == "maximal":
            poses[i], twists[i] = Pose(q[:3], q[3:]), np.array(v)
        elif state.coordinates == "affine":
            poses[i], twists[i] = _from_affine(q.reshape(4, 3), v.reshape(4, 3))
        else:
            poses[i], twists[i] = lift(model, i, q, v)
    return poses, twists


def _from_affine(Q: np.ndarray, rate: np.ndarray) -> tuple[Pose, np.ndarray]:
    """The rigid pose nearest to a body's affine coordinates, and the twist of it in body axes."""
    R, twist = polar(Q)[0], twist_of_rate(Q, rate)
    return Pose.from_rotation(R, Q[0]), np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])


def lift(model: Model, i: int, q: np.ndarray, v: np.ndarray) -> tuple[Pose, np.ndarray]:
    """Planar coordinates of body i (two positions, angle from its start; ω, two velocities in body axes) in space."""
    assert model.plane is not None
    e1, e2, n = model.plane
    X0 = model.bodies[i].X_WB
    out_of_plane = n * (n @ np.array(X0.p))
    X = Pose.about(n, q[2] - start_angle(model, i)) @ Pose(wxyz=X0.wxyz)
    axes = plane_in_body(model, i)
    twist = np.concatenate([axes[:, 2] * v[0], axes[:, 0] * v[1] + axes[:, 1] * v[2]])
    return Pose(e1 * q[0] + e2 * q[1] + out_of_plane, X.wxyz), twist


def start_angle(model: Model, i: int) -> float:
    """The angle of body i about the plane's normal at the start (0 if its axes are turned out of the plane)."""
    assert model.plane is not None
    n = model.plane[2]
    turned = vector_from_rotation(model.bodies[i].X_WB.R)
    angle = float(n @ turned)
    return angle if np.abs(turned - n * angle).max() < 1e-9 else 0.0


def plane_in_body(model: Model, i: int) -> np.ndarray:
    """The plane's axes e₁, e₂, n turned with body i by its angle, as columns in its own axes: constants of the body."""
    assert model.plane is not None
    turned = Pose.about(model.plane[2], start_angle(model, i)).R @ np.stack(model.plane, axis=1)
    return model.bodies[i].X_WB.R.T @ turned


def check_size(state: State, nq: int, nv: int) -> None:
    """Refuse a state of another model."""
    if state.q.shape != (nq,) or state.v.shape != (nv,):
        shapes = f"q of shape {state.q.shape}, v of {state.v.shape}"
        raise ModelError(f"state with {shapes}: this model has {nq} and {nv} in {state.coordinates} coordinates")


def check_reduced(model: Model, state: State) -> None:
    """Refuse a reduced state of another model: of all joints of the tree, with the free vertices behind them or without."""
    more = 3 * len(model.free_vertices)
    if not more or state.q.shape != (model.nq + more,):
        check_size(state, model.nq, model.nv)
    else:
        check_size(state, model.nq + more, model.nv + more)


def _from_reduced(model: Model, state: State) -> tuple[list[Pose], list[np.ndarray]]:
    from dataclasses import replace

    from unibody.coordinates.signals import drive
    from unibody.model.model import start_poses, start_twists

    check_reduced(model, state)
    bodies = []
    for body in model.bodies:
        if body.kind == "kinematic":
            now = drive(body, state.t)
            X = Pose.from_rotation(now[:9].reshape(3, 3), now[9:12])
            body = replace(body, X_WB=X, V_WB=tuple(np.concatenate([X.R @ now[12:15], X.R @ now[15:18]])))
        bodies.append(body)
    joints = [
        replace(j, q0=state.q[j.q_start : j.q_start + j.nq], v0=state.v[j.v_start : j.v_start + j.nv]) for j in model.tree_joints
    ]
    poses = start_poses(bodies, joints)
    return poses, start_twists(bodies, joints, poses)


def to_reduced(model: Model, state: State) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the tree joints that fit a state best."""
    if state.coordinates == "reduced":
        check_reduced(model, state)
        return np.array(state.q[: model.nq]), np.array(state.v[: model.nv])
    tree = {k for k, j in enumerate(model.joints) if not j.loop}
    q, v = joint_coordinates(model, state, *poses_and_twists(model, state), tree)
    return q[: model.nq], v[: model.nv]


def joint_coordinates(
    model: Model, state: State, poses: list[Pose], twists: list[np.ndarray], joints: Collection[int]
) -> tuple[np.ndarray, np.ndarray]:
    """q and v of all joints, of which those named fit poses and twists best: the others as they start. A reduced state knows its own."""
    q, v = model.start_q(), model.start_v()
    if state.coordinates == "reduced":
        q[: model.nq], v[: model.nv] = state.q[: model.nq], state.v[: model.nv]
    for k in joints:
        j = model.joints[k]
        if state.coordinates == "reduced" and not j.loop:
            continue
        X_FM = (poses[j.parent] @ j.X_PF).inverse() @ poses[j.child] @ j.X_BM
        q[j.q_start : j.q_start + j.nq] = j.element.fit(X_FM.R, np.array(X_FM.p), np.array(j.q0))
        X_MB = j.X_BM.inverse()
        X_MP = X_MB @ poses[j.child].inverse() @ poses[j.parent]
        V = adjoint(X_MB.R, np.array(X_MB.p)) @ twists[j.child] - adjoint(X_MP.R, np.array(X_MP.p)) @ twists[j.parent]
        S = j.element.motion(q[j.q_start : j.q_start + j.nq])
        v[j.v_start : j.v_start + j.nv] = np.linalg.lstsq(S, V, rcond=None)[0] if j.nv else 0.0
    return q, v


def to_maximal(model: Model, state: State) -> tuple[np.ndarray, np.ndarray]:
    """p, wxyz and V_WB_B of every moving body."""
    poses, twists = poses_and_twists(model, state)
    moving = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
    q = np.concatenate([np.concatenate([poses[i].p, poses[i].wxyz]) for i in moving]) if moving else np.zeros(0)
    v = np.concatenate([twists[i] for i in moving]) if moving else np.zeros(0)
    return q, v


def to_planar(model: Model, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Two positions and an angle, then ω and two velocities in body axes, of every moving body."""
    if state.coordinates == "planar":
        moving = sum(b.kind == "dynamic" for b in model.bodies)
        check_size(state, 3 * moving, 3 * moving)
        return np.array(state.q), np.array(state.v)
    assert model.plane is not None
    e1, e2, n = model.plane
    poses, twists = poses_and_twists(model, state)
    q, v = [], []
    for i, body in enumerate(model.bodies):
        if body.kind != "dynamic":
            continue
        turn = float(n @ vector_from_rotation(poses[i].R @ body.X_WB.R.T))
        p = np.array(poses[i].p)
        q += [e1 @ p, e2 @ p, start_angle(model, i) + turn]
        axes, V = plane_in_body(model, i), twists[i]
        v += [axes[:, 2] @ V[:3], axes[:, 0] @ V[3:], axes[:, 1] @ V[3:]]
    return np.array(q), np.array(v)

