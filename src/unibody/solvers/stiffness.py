"""How stiff a model's forces are at its start, for rules that take them from the beginning of a step.

With K and D the stiffness and damping of the forces (what opposes displacements and velocities), a semi-implicit step h of a mode x is
stable while 2 h d + h² k < 4, where k = xᵀKx / xᵀMx and d = xᵀDx / xᵀMx. So the largest eigenvalue

    λ = max eig M⁻¹ (2 h D + h² K)

says all: below 4 no mode grows (the condition holds for the quotients of every x, and so for every mode). An undamped spring has
λ = (h ω)²; λ = 1 means about six steps in a period.

Everything is NumPy at t = 0 in the coordinates of the tree joints: M = Σ_b J_bᵀ I_b J_b + armature, K = Σ_e A_eᵀ K_e A_e over the positive
semidefinite parts of every element's blocks. Constraints and loops are left out: they only keep x from where it would like to go, so that λ
is never too small. A cable counts as taut and a motor as not clamped, so that the answer holds later, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from unibody.element import Kinematics
from unibody.forces import DryFriction, Force, Motor
from unibody.model import Model
from unibody.model.implicit_tables import ElementMatrix, is_implicit
from unibody.model.model import start_poses, start_twists
from unibody.model.tables import Names
from unibody.spatial.pose import Pose, adjoint, skew
from unibody.stepping.implicit_joints import joint_efforts

UNSTABLE = 4.0
"""λ from which semi-implicit steps grow."""
STIFF = 1.0
"""λ from which springs are not resolved any more; they may become four times as stiff on the way before steps grow."""
LARGEST = 1000
"""Degrees of freedom of what forces touch, beyond which dense matrices are not made."""


@dataclass(frozen=True)
class Stiffness:
    """λ of a step, the force that has most of it, and the step at which λ reaches `UNSTABLE` [s], by the same mode."""

    load: float
    element: str
    largest_dt: float


def stiffness(model: Model, dt: float, solver: str = "", most: int = LARGEST) -> Stiffness | None:
    """The stiffest mode of all forces with blocks that a solver takes at the beginning of a step; None where there are none, or more
    than `most` freedoms to look at (`too_many`).

    >>> import unibody as ub
    >>> b = ub.Builder()
    >>> bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    >>> _ = b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), b.world, bob, stiffness=1e4)
    >>> found = stiffness(b.build(), dt=1e-2)
    >>> round(found.load, 9), round(found.largest_dt, 9)
    (1.0, 0.02)
    """
    forces = _with_blocks(model, solver)
    places = _freedoms(model, [force for _, force in forces])
    if not forces or not places or len(places) > most:
        return None
    names = Names(model)
    poses = start_poses(model.bodies, model.tree_joints)
    X = np.array([[*np.ravel(pose.R), *pose.p] for pose in poses])
    V = np.array(start_twists(model.bodies, model.tree_joints, poses))
    at = Kinematics(0.0, X, V, model.start_q(), model.start_v(), model.signals.copy(), model.neutral_control(), names)
    maps = _maps(model, poses, places)
    try:
        root = np.linalg.inv(np.linalg.cholesky(_mass(model, maps, places))).T
    except np.linalg.LinAlgError:  # something has no mass: no rule can say anything
        return None
    # the rows A_e of all elements, and 2 h D_e A_e and h² K_e A_e under them
    rows, damped, stiffened, spans = [], [], [], {}
    for name, force in forces:
        matrix = ElementMatrix(model, name, force, [-1] * len(force.pairs()))
        plain = unclamped(force, at)
        K, D = (matrix.assembled(blocks, [], True) for blocks in (plain.stiffness_blocks(at), plain.damping_blocks(at)))
        across = [maps[b] for b in matrix.bodies] + [_joint_map(model, poses, maps, places, j) for j in dict.fromkeys(force.joints())]
        if matrix.size:
            first = sum(map(len, rows))
            spans[name] = slice(first, first + matrix.size)
            rows.append(np.concatenate(across))
            damped.append(2.0 * dt * D @ rows[-1])
            stiffened.append(dt * dt * K @ rows[-1])
    A, damping, stiffening = (np.concatenate(parts) for parts in (rows, damped, stiffened))
    total = root.T @ (A.T @ (damping + stiffening)) @ root
    if not np.isfinite(total).all():
        return None
    values, vectors = np.linalg.eigh(total)
    x = root @ vectors[:, -1]
    d, k = ((A @ x) * (part @ x) for part in (damping, stiffening))
    blamed = max(spans, key=lambda name: float((d + k)[spans[name]].sum()))
    d, k = float(d.sum()) / (2.0 * dt), float(k.sum()) / (dt * dt)
    # 2 h d + h² k = UNSTABLE
    limit = UNSTABLE / (d + sqrt(d * d + UNSTABLE * k)) if d + k > 0.0 else float("inf")
    return Stiffness(float(values[-1]), blamed, limit)


def too_many(model: Model) -> bool:
    """Whether forces with blocks touch more degrees of freedom than are looked at."""
    return len(_freedoms(model, [force for _, force in _with_blocks(model)])) > LARGEST


def unclamped(force: Force, at: Kinematics) -> Force:
    """A cable as it is when taut, a motor as it is within its limit; others as they are."""
    if isinstance(force, Motor):
        return replace(force, limit=float("inf"))
    taut = getattr(force, "taut", None)
    return force if taut is None else taut(at)


def _with_blocks(model: Model, solver: str = "") -> list[tuple[str, Force]]:
    """Forces with blocks. `complementarity` holds dry friction by rows, and takes stiff efforts of tree joints at the end of a step."""
    held: set[str] = set()
    if solver == "complementarity":
        loops = {j.name for j in model.loop_joints}
        held = {name for name in joint_efforts(model) if not loops & set(dict(model.forces)[name].joints())}
        held |= {name for name, force in model.forces if isinstance(force, DryFriction)}
    return [(name, force) for name, force in model.forces if is_implicit(force) and name not in held]


def _freedoms(model: Model, forces: Sequence[Force]) -> dict[int, int]:
    """Velocity → its place among those of the trees that forces touch."""
    root = list(range(model.n_bodies))
    for i, joint in enumerate(model.tree_joints, start=1):
        if joint.parent:
            root[i] = root[joint.parent]
    touched: set[int] = set()
    for force in forces:
        touched.update(root[model.body(b)] for b in force.bodies())
        for j in map(model.joint, force.joints()):
            touched.update((root[j.parent], root[j.child]))
    own = [v for i, j in enumerate(model.tree_joints, start=1) if root[i] in touched for v in range(j.v_start, j.v_start + j.nv)]
    return {v: k for k, v in enumerate(own)}


def _maps(model: Model, poses: Sequence[Pose], places: dict[int, int]) -> list[np.ndarray]:
    """J_b of all bodies (6 × freedoms): twists in body axes."""
    maps = [np.zeros((6, len(places)))]
    for i, (body, joint) in enumerate(zip(model.bodies[1:], model.tree_joints, strict=True), start=1):
        J = np.zeros((6, len(places)))
        if body.kind == "dynamic":
            X_BP = poses[i].inverse() @ poses[joint.parent]
            J = adjoint(X_BP.R, np.array(X_BP.p)) @ maps[joint.parent]
            if joint.nv and joint.v_start in places:
                at = places[joint.v_start]
                J[:, at : at + joint.nv] += adjoint(joint.X_BM.R, np.array(joint.X_BM.p)) @ joint.element.motion(joint.q0)
        maps.append(J)
    return maps


def _mass(model: Model, maps: Sequence[np.ndarray], places: dict[int, int]) -> np.ndarray:
    out = np.zeros((len(places), len(places)))
    for body, joint, J in zip(model.bodies[1:], model.tree_joints, maps[1:], strict=True):
        for k in range(joint.nv if joint.v_start in places else 0):
            at = places[joint.v_start + k]
            out[at, at] += joint.armature[k] if body.kind == "dynamic" else 1.0  # what is driven does not answer
        if body.kind == "dynamic" and J.any():
            c = skew(np.asarray(body.com))
            about = np.block([[body.inertia - body.mass * c @ c, body.mass * c], [-body.mass * c, body.mass * np.eye(3)]])
            out += J.T @ about @ J
    return out


def _joint_map(model: Model, poses: Sequence[Pose], maps: Sequence[np.ndarray], places: dict[int, int], name: str) -> np.ndarray:
    """How a joint's velocities follow from those of the tree."""
    joint = model.joint(name)
    if not joint.loop:
        out = np.zeros((joint.nv, len(places)))
        for k in range(joint.nv):
            out[k, places[joint.v_start + k]] = 1.0
        return out
    X_MB = joint.X_BM.inverse()
    X_MP = X_MB @ poses[joint.child].inverse() @ poses[joint.parent]
    across = adjoint(X_MB.R, np.array(X_MB.p)) @ maps[joint.child] - adjoint(X_MP.R, np.array(X_MP.p)) @ maps[joint.parent]
    return np.linalg.pinv(joint.element.motion(joint.q0)) @ across
