"""The motion near the start, linear: in M-orthonormal directions N along which the rows do not move, v = N ẏ,

    ÿ = A_q y + A_v ẏ,      A_q = Nᵀ (Σ_e K_e − ∂r/∂q) N,      A_v = Nᵀ (Σ_e D_e − ∂r/∂v) N

K_e and D_e are the exact blocks of every force (of a class without blocks: differences of its loads); r is what remains of the equations
of motion when wrenches in body axes, efforts and multipliers stay as they are, so its differences are the stiffness that weight, inertial
forces and reactions have. So that the answer holds later too, a cable counts as taut and a motor as not clamped.

The implicit terms of the linearly implicit rule, B = h D° + h² K°, are the positive semidefinite parts of −D_e and −K_e made symmetric.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unibody.checks.closing import row_space
from unibody.coordinates.instant import Instant
from unibody.element import Kinematics
from unibody.forces import Force
from unibody.forces.base import Blocks, Loads
from unibody.model.implicit_tables import is_implicit
from unibody.solvers.stiffness import unclamped
from unibody.spatial.pose import rotation_from_vector

STEP = 1e-5
"""Of differences [m, rad]: their truncation and their round-off are both near 1e-10."""

INERTIAL = "weight and inertia"
"""What limits a step when no force element does."""


@dataclass
class Term:
    """A force's blocks over the motions of what it touches: `across` (rows × nv), K and D between them, implicit parts K° and D°."""

    name: str
    across: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    implicit: bool
    bodies: list[int]
    velocities: list[int]

    def reduced(self, block: np.ndarray, N: np.ndarray) -> np.ndarray:
        along = self.across @ N
        return along.T @ block @ along


@dataclass
class Linear:
    """A_q, A_v, K°, D° (m×m), the directions N (nv×m), and the forces' terms."""

    A_q: np.ndarray
    A_v: np.ndarray
    implicit_K: np.ndarray
    implicit_D: np.ndarray
    N: np.ndarray
    terms: list[Term]
    inertial_K: np.ndarray
    inertial_D: np.ndarray

    def shares(self, x: np.ndarray, rate: complex) -> dict[str, float]:
        """How much of a mode x (in y) with the eigenvalue `rate` each force carries, |xᴴ (K_e + λ D_e) x|, and weight and inertia."""
        u = self.N @ x
        out = {t.name: abs((t.across @ u).conj() @ (t.stiffness + rate * t.damping) @ (t.across @ u)) for t in self.terms}
        out[INERTIAL] = abs(x.conj() @ (self.inertial_K + rate * self.inertial_D) @ x)
        return out


def linearise(here: Instant, explicit: Collection[str] = ()) -> Linear:
    """The linear motion about the configuration of an instant; forces named `explicit` have no implicit terms."""
    N = free_directions(here)
    terms = [t for name, force in here.model.forces if (t := force_term(here, name, force)) is not None]
    inertial_K, inertial_D = (np.zeros((N.shape[1], N.shape[1])) for _ in range(2))
    if N.shape[1]:
        inertial_K, inertial_D = _inertial(here, N, terms)
    A_q, A_v, K, D = inertial_K.copy(), inertial_D.copy(), np.zeros_like(inertial_K), np.zeros_like(inertial_K)
    for t in terms:
        A_q += t.reduced(t.stiffness, N)
        A_v += t.reduced(t.damping, N)
        if t.implicit and t.name not in explicit:
            K += t.reduced(_resisting(t.stiffness), N)
            D += t.reduced(_resisting(t.damping), N)
    return Linear(A_q, A_v, K, D, N, terms, inertial_K, inertial_D)


def free_directions(here: Instant) -> np.ndarray:
    """N (nv×m): NᵀMN = 1 and K N = 0."""
    space = row_space(here)
    return space.root @ space.Vt[space.rank :].T


def force_term(here: Instant, name: str, force: Force) -> Term | None:
    """The blocks of one force; None if it has none."""
    at = here.kinematics()
    force = _unclamped(force, at)
    joints = list(dict.fromkeys(force.joints()))
    bodies = list(dict.fromkeys(force.bodies()))
    spans, maps, place = {}, [], 0
    for body in bodies:
        spans[body] = slice(place, place + 6)
        maps.append(here.maps[here.model.body(body)])
        place += 6
    for joint in joints:
        width = here.model.joint(joint).nv
        spans.setdefault(joint, slice(place, place + width))
        maps.append(here.joint_map(joint))
        place += width
    if not place:
        return None
    cls = type(force)
    if cls.stiffness_blocks is Force.stiffness_blocks and cls.damping_blocks is Force.damping_blocks:
        stiffness, damping = _differences(here, force, bodies, joints, place)
    else:
        stiffness, damping = (_assembled(b, spans, place) for b in (force.stiffness_blocks(at), force.damping_blocks(at)))
    velocities = [v for j in map(here.model.joint, joints) for v in range(j.v_start, j.v_start + j.nv)]
    touched = [here.model.body(b) for b in bodies]
    return Term(name, np.concatenate(maps), stiffness, damping, is_implicit(force), touched, velocities)


def _unclamped(force: Force, at: Kinematics) -> Force:
    """A cable as it is when taut and at rest, a motor as it is within its limit; others as they are."""
    if hasattr(force, "taut"):
        at.V[:] = 0.0
    return unclamped(force, at)


def _assembled(blocks: Blocks, spans: dict[str, slice], size: int) -> np.ndarray:
    out = np.zeros((size, size))
    for (a, b), block in blocks.items():
        out[spans[a], spans[b]] += block
    return out


def _resisting(block: np.ndarray) -> np.ndarray:
    """The positive semidefinite part of minus the symmetric block."""
    values, vectors = np.linalg.eigh(-0.5 * (block + block.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _differences(here: Instant, force: Force, bodies: list[str], joints: list[str], size: int) -> tuple[np.ndarray, np.ndarray]:
    """K and D of a force that only says what it applies, by central differences of its loads."""
    K, D = np.zeros((size, size)), np.zeros((size, size))
    movable = [(b, k) for b in bodies for k in range(6)] + [(j, k) for j in joints for k in range(here.model.joint(j).nv)]
    for column, (what, k) in enumerate(movable):
        for matrix, shift in ((K, _shift_position), (D, _shift_velocity)):
            ahead, behind = (_loads(shift(here, what in bodies and column < 6 * len(bodies), what, k, sign * STEP), force, bodies, joints)
                             for sign in (1.0, -1.0))  # fmt: skip
            matrix[:, column] = (ahead - behind) / (2.0 * STEP)
    return K, D


def _shift_position(here: Instant, is_body: bool, what: str, k: int, step: float) -> Kinematics:
    at = here.kinematics()
    if is_body:
        i = here.model.body(what)
        R = at.X[i, :9].reshape(3, 3).copy()
        e = np.eye(6)[k] * step
        at.X[i, 9:] += R @ e[3:]
        at.X[i, :9] = (R @ rotation_from_vector(e[:3])).ravel()
    else:
        j = here.model.joint(what)
        span = slice(j.q_start, j.q_start + j.nq)
        at.q[span] = j.element.advance(at.q[span].copy(), np.eye(j.nv)[k], step)
    return at


def _shift_velocity(here: Instant, is_body: bool, what: str, k: int, step: float) -> Kinematics:
    at = here.kinematics()
    if is_body:
        at.V[here.model.body(what), k] += step
    else:
        at.v[here.model.joint(what).v_start + k] += step
    return at


def _loads(at: Kinematics, force: Force, bodies: list[str], joints: list[str]) -> np.ndarray:
    loads = Loads()
    force.apply(at, loads)
    parts = [loads.wrenches.get(b, np.zeros(6)) for b in bodies]
    for j in joints:
        none = np.zeros(at.names.joint(j).nv)
        parts.append(loads.efforts.get(j, none) + loads.actuation.get(j, none))
    return np.concatenate(parts)


class Accelerations(NamedTuple):
    """a of the tree joints, and the wrenches, efforts and multipliers that make it."""

    a: np.ndarray
    wrenches: np.ndarray
    efforts: np.ndarray
    multipliers: np.ndarray


def accelerations(here: Instant) -> Accelerations:
    """The accelerations of an instant."""
    wrenches, efforts = here.loads()
    multipliers = np.zeros(here.system.constraints.rows)
    a = -np.linalg.solve(here.mass, here.remainder(np.zeros(here.model.nv), wrenches, efforts, multipliers))
    if here.bilateral.size:
        K = here.rows[here.bilateral]
        response = np.linalg.solve(here.mass, K.T)
        multipliers[here.bilateral] = -np.linalg.lstsq(K @ response, K @ a, rcond=1e-9)[0]
        a = a + response @ multipliers[here.bilateral]
    return Accelerations(a, wrenches, efforts, multipliers)


def _inertial(here: Instant, N: np.ndarray, terms: list[Term]) -> tuple[np.ndarray, np.ndarray]:
    """−Nᵀ (∂r/∂q) N, with what dampers feel when a displacement turns the velocities, and −Nᵀ (∂r/∂v) N; the instant returns to where it
    was."""
    q0, v0 = here.q.copy(), here.v.copy()
    a, wrenches, efforts, multipliers = accelerations(here)
    damped = [t for t in terms if t.damping.any()] if v0.any() else []
    stiffness, damping = np.zeros((N.shape[1], N.shape[1])), np.zeros((N.shape[1], N.shape[1]))
    for k, along in enumerate(N.T):
        size = STEP / max(1e-12, float(np.abs(along).max()))
        sides, motions = [], []
        for sign in (1.0, -1.0):
            here.place(here.moved(sign * size * along), v0)
            sides.append(here.remainder(a, wrenches, efforts, multipliers))
            at = here.kinematics()
            motions.append([np.concatenate([*at.V[t.bodies], at.v[t.velocities]]) for t in damped])
            here.place(q0, v0)
        stiffness[:, k] = -N.T @ (sides[0] - sides[1]) / (2.0 * size)
        for t, ahead, behind in zip(damped, *motions):
            stiffness[:, k] += (t.across @ N).T @ t.damping @ (ahead - behind) / (2.0 * size)
        if v0.any():
            size = STEP * max(1.0, float(np.abs(v0).max())) / max(1e-12, float(np.abs(along).max()))
            sides = []
            for sign in (1.0, -1.0):
                v = v0.copy()
                v[: along.size] += sign * size * along
                here.place(q0, v)
                sides.append(here.remainder(a, wrenches, efforts, multipliers))
            damping[:, k] = -N.T @ (sides[0] - sides[1]) / (2.0 * size)
            here.place(q0, v0)
    return stiffness, damping
