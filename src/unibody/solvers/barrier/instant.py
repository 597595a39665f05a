"""Rigid bodies at one instant: accelerations and reactions where no step has been made yet, and what redundant joints share.

    ( I  −Gᵀ ) (V̇)   (F − gyroscopic)
    ( G    0 ) (λ) = (−bias)              per group of bodies that joints and constraints connect

A joint's rows are the complement U of its motions S: Uᵀ (A_c V̇_c + A_p V̇_p + ad(V_FM) W − Ṡ v) = 0 with W the parent's twist seen in
M. λ is that of least norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unibody.coordinates.affine.rigid_view import RigidView, relative_twist
from unibody.element import Kinematics
from unibody.model.model import JointInfo
from unibody.spatial.pose import ad, spatial_inertia

SMALL = 1e-11


@dataclass
class InstantRow:
    """Rows of one joint or constraint: by body (r×6), right side, and to whom they belong."""

    parts: dict[int, np.ndarray]
    right: np.ndarray
    joint: int = -1
    name: str = ""
    complement: np.ndarray | None = None


def joint_rows(k: Kinematics, place: int, j: JointInfo) -> InstantRow:
    S = j.element.motion(k.joint_q(j.name))
    U = np.linalg.svd(S, full_matrices=True)[0][:, np.linalg.matrix_rank(S) :] if j.nv else np.eye(6)
    A_c, A_p = relative_twist(j, k.X)
    W = -A_p @ k.V[j.parent]
    V = A_c @ k.V[j.child] - W
    right = j.element.bias(k.joint_q(j.name), k.joint_v(j.name)) - ad(V) @ W
    return InstantRow({j.child: U.T @ A_c, j.parent: U.T @ A_p}, U.T @ right, place, j.name, U)


def all_rows(view: RigidView, k: Kinematics, moving: set[int], constraints: bool) -> list[InstantRow]:
    """Of joints with a body that moves, and of bilateral constraints if asked for; joints' q and v must have been fitted."""
    model = view.model
    users = [(i, j) for i, j in enumerate(model.joints) if not j.implicit and {j.child, j.parent} & moving]
    out = [joint_rows(k, i, j) for i, j in users]
    if constraints:
        out += bilateral_rows(view, k)
    return [row for row in out if len(row.right)]


def bilateral_rows(view: RigidView, k: Kinematics) -> list[InstantRow]:
    """Of constraints C = 0 that the model holds; q and v of joints must have been fitted."""
    model, out = view.model, []
    for name, constraint in model.constraints:
        if getattr(constraint, "surfaces", False) or constraint.unilateral:
            continue
        rows = constraint.evaluate(k)
        if any(model.body(b) >= model.n_bodies for b in rows.G):  # of points of deformables no acceleration is known
            continue
        parts, right = {model.body(b): np.asarray(G) for b, G in rows.G.items()}, -np.asarray(rows.bias, float)
        for joint, J in rows.J.items():
            j = model.joint(joint)
            for body, L in view.rows(j, k):
                parts[body] = parts.get(body, 0.0) + np.asarray(J) @ L
            right -= np.asarray(J) @ joint_bias(j, k)
        out.append(InstantRow(parts, right, name=name))
    return out


def joint_bias(j: JointInfo, k: Kinematics) -> np.ndarray:
    """v̇ of a joint when its bodies' V̇ = 0."""
    A_c, A_p = relative_twist(j, k.X)
    W = -A_p @ k.V[j.parent]
    V = A_c @ k.V[j.child] - W
    q = k.joint_q(j.name)
    return np.linalg.pinv(j.element.motion(q)) @ (ad(V) @ W - j.element.bias(q, k.joint_v(j.name)))


def groups(rows: list[InstantRow], moving: list[int], n: int) -> list[tuple[list[int], list[InstantRow]]]:
    """Moving bodies and rows that belong together."""
    moves = set(moving)
    ends = [[b for b in row.parts if b in moves] for row in rows]
    pairs = np.array([(e[0], b) for e in ends for b in e[1:]], int).reshape(-1, 2)
    _, label = sp.csgraph.connected_components(sp.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)
    members: dict[int, tuple[list[int], list[InstantRow]]] = {}
    for i in moving:
        members.setdefault(int(label[i]), ([], []))[0].append(i)
    for row, e in zip(rows, ends, strict=True):
        if e:
            members[int(label[e[0]])][1].append(row)
    return list(members.values())


def stacked(bodies: list[int], rows: list[InstantRow]) -> np.ndarray:
    """G (rows, 6 per body)."""
    place = {b: 6 * i for i, b in enumerate(bodies)}
    out, at = np.zeros((sum(len(r.right) for r in rows), 6 * len(bodies))), 0
    for row in rows:
        for b, G in row.parts.items():
            if b in place:
                out[at : at + len(row.right), place[b] : place[b] + 6] += G
        at += len(row.right)
    return out


@dataclass
class RigidInstant:
    """V̇ (bodies, 6), wrenches that hold joints (6, M's axes) by joint, and multipliers of constraints by name."""

    acceleration: np.ndarray
    holding: dict[int, np.ndarray]
    multipliers: dict[str, np.ndarray]


def instant(view: RigidView, k: Kinematics, moving: list[int], wrench: np.ndarray, driven: np.ndarray) -> RigidInstant:
    """For given wrenches (bodies, 6, body axes, gravity among them); `driven` holds V̇ of bodies that do not move freely."""
    model, out = view.model, RigidInstant(driven.copy(), {}, {})
    rows = all_rows(view, k, set(moving), True)
    for bodies, own in groups(rows, moving, model.n_bodies):
        place = {b: 6 * i for i, b in enumerate(bodies)}
        M, f = np.zeros((6 * len(bodies), 6 * len(bodies))), np.zeros(6 * len(bodies))
        for b, at in place.items():
            body, V = model.bodies[b], k.V[b]
            I = spatial_inertia(body.mass, np.asarray(body.com), np.asarray(body.inertia))
            M[at : at + 6, at : at + 6] = I
            f[at : at + 6] = wrench[b] + ad(V).T @ (I @ V)
        for j in (j for j in model.joints if j.armature.any()):
            parts = [(place[b], J) for b, J in view.rows(j, k) if b in place]
            bias = joint_bias(j, k)
            for at, J in parts:
                f[at : at + 6] -= J.T @ (j.armature * bias)
                for other, L in parts:
                    M[at : at + 6, other : other + 6] += J.T @ (j.armature[:, None] * L)
        G = stacked(bodies, own)
        right = np.concatenate([np.zeros(0), *(r.right - sum(G @ driven[b] for b, G in r.parts.items() if b not in place) for r in own)])
        free = np.linalg.solve(M, np.column_stack([f, G.T]))
        response = G @ free[:, 1:]
        force = np.linalg.pinv(response, rcond=SMALL, hermitian=True) @ (right - G @ free[:, 0]) if len(G) else np.zeros(0)
        out.acceleration[bodies] = (free[:, 0] + free[:, 1:] @ force).reshape(-1, 6)
        at = 0
        for row in own:
            mine = force[at : at + len(row.right)]
            if row.complement is not None:
                out.holding[row.joint] = row.complement @ mine
            else:
                out.multipliers[row.name] = mine
            at += len(row.right)
    return out


def least_shift(view: RigidView, k: Kinematics, moving: list[int], holding: np.ndarray) -> np.ndarray:
    """Wrenches that hold joints (joints, 6, M's axes) without what no body notices: null vectors of Gᵀ in closed loops."""
    out = holding.copy()
    if not any(j.loop for j in view.model.joints):
        return out
    for bodies, own in groups(all_rows(view, k, set(moving), False), moving, view.model.n_bodies):
        if not any(view.model.joints[r.joint].loop for r in own):
            continue
        G = stacked(bodies, own)
        U, s, _ = np.linalg.svd(G)
        null = U[:, int((s > 1e-7 * s[0]).sum()) :]
        at, force = 0, np.concatenate([r.complement.T @ out[r.joint] for r in own])
        force = force - null @ (null.T @ force)
        for r in own:
            out[r.joint] = r.complement @ force[at : at + len(r.right)]
            at += len(r.right)
    return out
