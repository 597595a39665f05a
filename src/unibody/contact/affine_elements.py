"""The model's forces, constraints and joint remainders in affine coordinates, by way of the bodies' rigid poses.

Elements speak about rigid poses and twists, so they are evaluated at the polar projection of each body and pulled back by its
derivative: with δξ = T δQ (6×12, body axes), a wrench F becomes Tᵀ F and a block K becomes T_aᵀ K T_b.

    forces with an energy   a potential, with its exact gradient; of its second derivative the positive part of each element
    other forces            constant over the step, as they are at its beginning (lagged)
    dampers                 what of a force changes with velocity: a dissipation potential with the damping blocks of the beginning
    constraints C = 0       a stiff potential ½ k C²
    constraints C ≥ 0       a barrier of C
    joints                  what their linear equations leave open (a slide across its axis): ½ k |ξ|², ξ the pose beyond the nearest
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unibody.constraints.base import Constraint
from unibody.contact.barrier import barrier
from unibody.coordinates.affine import polar, twist_of_rate
from unibody.element import Kinematics
from unibody.forces.base import Blocks, Force, Loads
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.tables import Names
from unibody.spatial.pose import adjoint, vector_from_rotation


@dataclass(frozen=True)
class Stiff:
    """Numbers of the potentials that stand for constraints."""

    k: float
    """of C = 0 in metres [N/m]"""
    k_turn: float
    """of C = 0 in radians [N m]"""
    pressure: float
    """κ of barriers: energy per C/ĉ [J]"""
    range: float
    """ĉ [m or rad]"""


@dataclass
class Pull:
    """A value, wrenches (bodies, 6) in body axes, which are its negative gradient, and positive 6×6 blocks by pairs of bodies."""

    value: float
    wrench: np.ndarray
    blocks: dict[tuple[int, int], np.ndarray]

    def add_block(self, a: int, b: int, block: np.ndarray) -> None:
        known = self.blocks.get((a, b))
        self.blocks[a, b] = block if known is None else known + block


def positive(matrix: np.ndarray) -> np.ndarray:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


class Elements:
    """Forces, constraints and joints of one model, on rigid projections."""

    def __init__(self, model: Model, missing: Iterable[int]):
        self.model, self.names = model, Names(model)
        self.missing = [model.joints[k] for k in missing]
        self.forces = [(name, f) for name, f in model.forces]
        self.constraints = [(name, c) for name, c in model.constraints if not getattr(c, "surfaces", False)]
        asked = {j for _, e in (*self.forces, *self.constraints) for j in e.joints()}
        self.seen = [j for j in model.joints if j.name in asked or j in self.missing]
        self.any = bool(self.forces or self.constraints or self.missing)

    def kinematics(
        self, t: float, Q: np.ndarray, rate: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> Kinematics:
        """Poses, twists and fitted joint coordinates of affine bodies."""
        R, _ = polar(Q)
        X = np.concatenate([R.reshape(-1, 9), Q[:, 0]], axis=1)
        V = twist_of_rate(Q, rate)
        V = np.concatenate([np.einsum("nji,nj->ni", R, V[:, :3]), np.einsum("nji,nj->ni", R, V[:, 3:])], axis=1)
        q, v = q_near.copy(), np.zeros(self.model.nv_joints)
        k = Kinematics(t, X, V, q, v, signals, control, self.names)
        for j in self.seen:
            Rj, pj = relative(j, X)
            q[j.q_start : j.q_start + j.nq] = j.element.fit(Rj, pj, q[j.q_start : j.q_start + j.nq])
            A_c, A_p = relative_twist(j, X)
            S = j.element.motion(q[j.q_start : j.q_start + j.nq])
            v[j.v_start : j.v_start + j.nv] = np.linalg.pinv(S) @ (A_c @ V[j.child] + A_p @ V[j.parent])
        return k

    def still(self, k: Kinematics) -> Kinematics:
        return Kinematics(k.t, k.X, np.zeros_like(k.V), k.q, np.zeros_like(k.v), k.signals, k.control, k.names)

    def potential(self, k: Kinematics, stiff: Stiff, blocks: bool) -> Pull:
        """Everything with a value, at rest."""
        out = Pull(0.0, np.zeros((self.model.n_bodies, 6)), {})
        still = self.still(k)
        for _, force in self.forces:
            if not has_energy(force):
                continue
            out.value += force.energy(still)
            loads = Loads()
            force.apply(still, loads)
            self._add(loads, still, out.wrench)
            if blocks:
                self._add_blocks(force.stiffness_blocks(still), still, out, -1.0)
        for _, constraint in self.constraints:
            self._add_constraint(constraint, still, stiff, blocks, out)
        for j in self.missing:
            self._add_joint(j, still, stiff, blocks, out)
        return out

    def lagged(self, k: Kinematics) -> tuple[np.ndarray, dict[tuple[int, int], np.ndarray]]:
        """Wrenches (bodies, 6) constant over the step, and positive damping blocks: f ≈ constant − D V."""
        wrench, still = np.zeros((self.model.n_bodies, 6)), self.still(k)
        damping = Pull(0.0, np.zeros((self.model.n_bodies, 6)), {})
        for _, force in self.forces:
            moving, resting = Loads(), Loads()
            force.apply(k, moving)
            self._add(moving, k, wrench)
            if has_energy(force):
                force.apply(still, resting)
                self._add(resting, still, wrench, -1.0)
            self._add_blocks(force.damping_blocks(k), k, damping, -1.0)
        for (a, b), D in damping.blocks.items():
            wrench[a] += D @ k.V[b]
        return wrench, damping.blocks

    def _add(self, loads: Loads, k: Kinematics, wrench: np.ndarray, sign: float = 1.0) -> None:
        for body, w in loads.wrenches.items():
            wrench[self.model.body(body)] += sign * w
        for efforts, clamped in ((loads.efforts, False), (loads.actuation, True)):
            for name, effort in efforts.items():
                j = self.model.joint(name)
                given = np.clip(effort, -j.effort_limit, j.effort_limit) if clamped else effort
                for body, J in self._rows(j, k):
                    wrench[body] += sign * (J.T @ np.broadcast_to(given, (j.nv,)))

    def _rows(self, j: JointInfo, k: Kinematics) -> list[tuple[int, np.ndarray]]:
        """v_j = Σ J V over the joint's two bodies."""
        inverse = np.linalg.pinv(j.element.motion(k.joint_q(j.name)))
        A_c, A_p = relative_twist(j, k.X)
        return [(j.child, inverse @ A_c), (j.parent, inverse @ A_p)]

    def _add_blocks(self, given: Blocks, k: Kinematics, out: Pull, sign: float) -> None:
        """sign × blocks of one element, made symmetric and positive as a whole."""
        rows: dict[str, list[tuple[int, np.ndarray]]] = {}
        for pair in given:
            for name in pair:
                if name not in rows:
                    on_body = self._is_body(name, given)
                    rows[name] = [(self.model.body(name), np.eye(6))] if on_body else self._rows(self.model.joint(name), k)
        bodies = sorted({b for r in rows.values() for b, _ in r})
        place = {b: 6 * i for i, b in enumerate(bodies)}
        whole = np.zeros((6 * len(bodies), 6 * len(bodies)))
        for (a, b), block in given.items():
            for i, J in rows[a]:
                for l, L in rows[b]:
                    whole[place[i] : place[i] + 6, place[l] : place[l] + 6] += sign * (J.T @ block @ L)
        whole = positive(whole)
        for a in bodies:
            for b in bodies:
                out.add_block(a, b, whole[place[a] : place[a] + 6, place[b] : place[b] + 6])

    def _is_body(self, name: str, given: Blocks) -> bool:
        """A name may be that of a body and of a joint: bodies' blocks are 6 wide."""
        pair, block = next((p, v) for p, v in given.items() if name in p)
        known = any(b.name == name for b in self.model.bodies)
        return known and block.shape[pair.index(name)] == 6

    def _add_constraint(self, constraint: Constraint, k: Kinematics, stiff: Stiff, blocks: bool, out: Pull) -> None:
        rows = constraint.evaluate(k)
        parts: dict[int, np.ndarray] = {}
        for body, G in rows.G.items():
            i = self.model.body(body)
            parts[i] = parts.get(i, 0.0) + np.asarray(G)
        for name, J in rows.J.items():
            for i, L in self._rows(self.model.joint(name), k):
                parts[i] = parts.get(i, 0.0) + np.asarray(J) @ L
        for r, (C, unit) in enumerate(zip(rows.residual, constraint.units, strict=True)):
            if constraint.unilateral:
                if C <= 0.0:
                    out.value = np.inf
                    continue
                b, b1, b2 = barrier(np.array(C / stiff.range))
                value, first, second = stiff.pressure * b, stiff.pressure * b1 / stiff.range, stiff.pressure * b2 / stiff.range**2
            else:
                s = stiff.k if unit == "m" else stiff.k_turn
                value, first, second = 0.5 * s * C * C, s * C, s
            out.value += float(value)
            for a, G in parts.items():
                out.wrench[a] -= first * G[r]
                for b, L in parts.items() if blocks else ():
                    out.add_block(a, b, second * np.outer(G[r], L[r]))

    def _add_joint(self, j: JointInfo, k: Kinematics, stiff: Stiff, blocks: bool, out: Pull) -> None:
        R, p = relative(j, k.X)
        R0, p0 = j.element.pose(k.joint_q(j.name))
        xi = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
        weight = np.concatenate([np.full(3, stiff.k_turn), np.full(3, stiff.k)])
        out.value += 0.5 * float(weight @ xi**2)
        parts = dict(zip((j.child, j.parent), relative_twist(j, k.X), strict=True))
        S = j.element.motion(k.joint_q(j.name))
        # Along the joint's own freedoms nothing resists: the fitted coordinate follows.
        free = np.eye(6) - S @ np.linalg.pinv(S)
        K = free.T @ (weight[:, None] * free)
        for a, A in parts.items():
            out.wrench[a] -= A.T @ (weight * xi)
            for b, B in parts.items() if blocks else ():
                out.add_block(a, b, A.T @ K @ B)


def has_energy(force: Force) -> bool:
    return type(force).energy is not Force.energy


def relative(j: JointInfo, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and p of M in F."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_F, p_F = R_P @ j.X_PF.R, p_P + R_P @ j.X_PF.p
    R_M, p_M = R_C @ j.X_BM.R, p_C + R_C @ j.X_BM.p
    return R_F.T @ R_M, R_F.T @ (p_M - p_F)


def relative_twist(j: JointInfo, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A_c, A_p (6×6): the twist of M in F, in M's axes, is A_c V_c + A_p V_p."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_MB, p_MB = j.X_BM.R.T, -j.X_BM.R.T @ j.X_BM.p
    A_c = adjoint(R_MB, p_MB)
    R_MP = R_MB @ R_C.T @ R_P
    p_MP = R_MB @ (R_C.T @ (p_P - p_C)) + p_MB
    return A_c, -adjoint(R_MP, p_MP)


def twist_maps(Q: np.ndarray) -> np.ndarray:
    """T (n, 6, 12): δξ = T δQ in body axes, the derivative of the polar projection."""
    R, S = polar(Q)
    n = len(Q)
    D = np.linalg.inv(np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S)
    out = np.zeros((n, 6, 4, 3))
    # In body axes: L = Rᵀ δA, whose column k is Rᵀ δa_k; axial(L − Lᵀ)_i = Σ_k ε_{ilk} L_lk… and ω_B = D axial.
    for k in range(3):
        unit = np.zeros(3)
        unit[k] = 1.0
        cross = np.array([[0, -unit[2], unit[1]], [unit[2], 0, -unit[0]], [-unit[1], unit[0], 0]])
        out[:, :3, k + 1, :] = np.einsum("nij,jl,nml->nim", D, cross, R)
    out[:, 3:, 0, :] = np.swapaxes(R, 1, 2)
    return out.reshape(n, 6, 12)
