"""The model's forces, constraints and joint remainders in affine coordinates, by way of the bodies' rigid poses.

Elements speak about rigid poses and twists, so they are evaluated at the polar projection of each body and pulled back by its
derivative (`rigid_maps`).

    forces with an energy   a potential, with its exact gradient; of its second derivative the positive part of each element
    other forces            linear about the beginning of the step (or its prediction), with the positive parts of stiffness and damping
    dampers                 the latter: a dissipation potential
    constraints C = 0       a stiff potential ½ k C²,  k = s m [N/m] or s m ℓ² [N m],  s = `stiffness`/h²
    constraints C ≥ 0       a barrier κ b(C/ĉ),  κ = m ĉ (10 g + ĉ/h²), ĉ = ℓ/100;  of angles m ℓ² ĉ (10 g/ℓ + ĉ/h²), ĉ = 1/100
    joints                  what their linear equations leave open (a slide across its axis): ½ k |d|² + ½ k ℓ² |φ|² of what is left
                            between the pose and the nearest that the joint allows
    armatures               efforts −I v̇ with v̇ of the time rule, along the joint's motions at the beginning (or prediction)

m is the mass of the bodies that joints connect to the element's, ℓ² the largest tr(I)/m of its own bodies: it moves, turns and carries on
these scales.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows
from unibody.contact.barrier import barrier
from unibody.coordinates.affine.body import polar, twist_of_rate
from unibody.element import Kinematics
from unibody.forces.base import Blocks, Force, Loads
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.tables import Names, answer
from unibody.solvers.barrier.forces import has_energy
from unibody.solvers.barrier.pull import ElementPull, Stiff, scales
from unibody.solvers.barrier.rigid_maps import nearest, relative, relative_twist, twist_maps
from unibody.spatial.pose import vector_from_rotation

__all__ = ["Elements", "ElementFailed", "Lag", "ElementPull", "Stiff", "relative", "relative_twist", "twist_maps"]


class ElementFailed(RuntimeError):
    """An element's own code raised, or gave something that is not finite."""

    def __init__(self, element: str, why: str):
        super().__init__(why)
        self.element = element


@dataclass
class Lag:
    """Forces without an energy, f ≈ wrench − K δξ − D V: wrenches (bodies, 6) already with D V of where they were taken; efforts of joints
    among them; powers of dampers, motors, applied wrenches there [W]."""

    wrench: np.ndarray
    efforts: np.ndarray
    stiffness: dict[tuple[int, int], np.ndarray]
    damping: dict[tuple[int, int], np.ndarray]
    powers: np.ndarray

    @staticmethod
    def none(model: Model) -> Lag:
        return Lag(np.zeros((model.n_bodies, 6)), np.zeros(model.nv_joints), {}, {}, np.zeros(3))


def positive(matrix: np.ndarray) -> np.ndarray:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


class Elements:
    """Forces, constraints and joints of one model, on rigid projections. `missing`: joints whose equations leave something open; `exact`:
    names of constraints that are equations themselves or that gauges stand for."""

    def __init__(self, model: Model, missing: Iterable[int], exact: Collection[str] = ()):
        self.model, self.names = model, Names(model)
        self.missing = [model.joints[k] for k in missing]
        self.place = {id(j): k for k, j in enumerate(model.joints)}
        self.forces = [(name, f) for name, f in model.forces]
        self.constraints = [(n, c) for n, c in model.constraints if not getattr(c, "surfaces", False) and n not in exact]
        self.ranges = [(n, c) for n, c in self.constraints if c.unilateral]
        self.damped = any(getattr(c, "damping", 0.0) for _, c in self.ranges)
        self.armed = [j for j in model.joints if j.armature.any()]
        asked = {j for _, e in (*self.forces, *self.constraints) for j in e.joints()}
        self.seen = [j for j in model.joints if j.name in asked or j in self.missing or j in self.armed]
        self._fitted = {id(j) for j in self.seen}
        self.any = bool(self.forces or self.constraints or self.missing or self.armed)
        self._last: tuple[Any, Kinematics] | None = None
        self._bodies = {b.name for b in model.bodies}
        self._mass, self._arm = scales(model)

    def kinematics(
        self, t: float, Q: np.ndarray, rate: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> Kinematics:
        """Poses, twists and fitted joint coordinates of affine bodies; asked for the same again, they are remembered. Virtual links, which
        come after the model's bodies, are left out."""
        Q, rate = Q[: self.model.n_bodies], rate[: self.model.n_bodies]
        key = t, Q.tobytes(), rate.tobytes(), q_near.tobytes(), control.tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        R, _ = polar(Q)
        X = np.concatenate([R.reshape(-1, 9), Q[:, 0]], axis=1)
        V = twist_of_rate(Q, rate)
        V = np.concatenate([np.einsum("nji,nj->ni", R, V[:, :3]), np.einsum("nji,nj->ni", R, V[:, 3:])], axis=1)
        k = Kinematics(t, X, V, q_near.copy(), np.zeros(self.model.nv_joints), signals, control, self.names)
        self.fit(k, self.seen)
        self._last = key, k
        return k

    def fit(self, k: Kinematics, joints: Iterable[JointInfo]) -> None:
        """Coordinates and velocities of joints, from poses and twists."""
        for j in joints:
            mine = slice(j.q_start, j.q_start + j.nq)
            k.q[mine] = nearest(j.element, *relative(j, k.X), k.q[mine], self._length((j.child, j.parent)))
            if k.V.any():
                A_c, A_p = relative_twist(j, k.X)
                V = A_c @ k.V[j.child] + A_p @ k.V[j.parent]
                k.v[j.v_start : j.v_start + j.nv] = np.linalg.pinv(j.element.motion(k.q[mine])) @ V

    def without_equalities(self) -> Elements:
        """The same without what stands for C = 0 and for joints."""
        out = copy(self)
        out.missing, out.constraints = [], [(n, c) for n, c in self.constraints if c.unilateral]
        return out

    def without_forces(self) -> Elements:
        """The same without forces, which kernels apply instead."""
        out = copy(self)
        out.forces, out._last = [], None
        asked = {j for _, c in self.constraints for j in c.joints()}
        out.seen = [j for j in self.seen if j.name in asked or j in self.missing or j in self.armed]
        out._fitted = {id(j) for j in out.seen}
        out.any = bool(self.constraints or self.missing or self.armed)
        return out

    def still(self, k: Kinematics) -> Kinematics:
        return Kinematics(k.t, k.X, np.zeros_like(k.V), k.q, np.zeros_like(k.v), k.signals, k.control, k.names)

    def potential(self, k: Kinematics, stiff: Stiff, blocks: bool) -> ElementPull:
        """Everything with a value, at rest."""
        out, still = ElementPull.of(self.model), self.still(k)
        for name, force in self.forces:
            if not has_energy(force):
                continue
            out.stored += asked(name, lambda f=force: f.energy(still))
            loads = Loads()
            asked(name, lambda f=force, to=loads: f.apply(still, to))
            self._add(loads, out.wrench, out.efforts)
            if blocks:
                self._add_blocks(force.stiffness_blocks(still), still, out, -1.0)
        out.value = out.stored
        for name, constraint in self.constraints:
            self._add_constraint(name, constraint, still, stiff, blocks, out)
        for j in self.missing:
            self._add_joint(j, still, stiff, blocks, out)
        self._spread(out.efforts, still, out.wrench)
        return out

    def least_gap(self, k: Kinematics) -> tuple[float, str, str]:
        """The least C of C ≥ 0, its unit, and whose it is."""
        least = np.inf, "m", ""
        for name, c in self.ranges:
            residual = evaluated(name, c, k).residual
            r = int(np.argmin(residual)) if len(residual) else -1
            if r >= 0 and residual[r] < least[0]:
                least = float(residual[r]), c.units[r], name
        return least

    def dashpots(self, k: Kinematics, Q: np.ndarray, stiff: Stiff, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Damping of ranges that have no gauge, at the beginning of a step: pairs of bodies, ∂C/∂Q (n, 2, 4, 3), k_d P″ · rate."""
        pairs, along, strength = [], [], []
        T = twist_maps(Q)
        for name, c in self.ranges:
            damping = getattr(c, "damping", 0.0)
            rows = evaluated(name, c, k) if damping else None
            for joint, J in rows.J.items() if rows is not None else ():
                j = self.model.joint(joint)
                parts = [(i, np.asarray(J) @ L @ T[i]) for i, L in self.rows(j, k)]
                arm, mass = self._length((j.child, j.parent)), self._heavy((j.child, j.parent))
                for r, C in enumerate(rows.residual):
                    pairs.append([i for i, _ in parts])
                    along.append([G[r].reshape(4, 3) for _, G in parts])
                    strength.append(rate * damping * limit(float(C), c.units[r], mass, arm, stiff, c)[2])
        return np.array(pairs, np.int64).reshape(-1, 2), np.array(along).reshape(-1, 2, 4, 3), np.array(strength, float)

    def lagged(self, k: Kinematics) -> Lag:
        """Forces that have no energy, control's efforts among them."""
        model, still = self.model, self.still(k)
        wrench, passive, driven = np.zeros((model.n_bodies, 6)), np.zeros(model.nv_joints), k.control[: model.nv_joints].copy()
        K, D, ledger = ElementPull.of(model), ElementPull.of(model), np.zeros(4)
        limits = np.concatenate([np.zeros(0), *(j.effort_limit for j in model.joints)])
        slopes: list[tuple[Force, bool, list[str]]] = []
        for name, force in self.forces:
            moving, resting = Loads(), Loads()
            asked(name, lambda f=force, to=moving: f.apply(k, to))
            self._add(moving, wrench, passive, 1.0, driven)
            ledger += moving.ledger
            stores = has_energy(force)
            if stores:
                force.apply(still, resting)
                self._add(resting, wrench, passive, -1.0)
            slopes.append((force, stores, list(moving.actuation)))
        clamped = np.clip(driven, -limits, limits)
        for force, stores, actuated in slopes:
            for given, out in ((force.damping_blocks(k), D), ({} if stores else force.stiffness_blocks(k), K)):
                self._add_blocks({pair: block for pair, block in given.items() if self._free(pair, actuated, driven, limits)}, k, out, -1.0)
        efforts = passive + clamped
        self._spread(efforts, k, wrench)
        for (a, b), block in D.blocks.items():
            wrench[a] += block @ k.V[b]
        wrenches = k.control[model.nv_joints : model.nv_joints + 6 * model.n_bodies].reshape(-1, 6)
        powers = np.array([ledger[1], ledger[2] + float(clamped @ k.v), ledger[3]])
        if wrenches.any():
            R = k.X[:, :9].reshape(-1, 3, 3)
            given = np.concatenate([np.einsum("nji,nj->ni", R, wrenches[:, :3]), np.einsum("nji,nj->ni", R, wrenches[:, 3:])], axis=1)
            given[0] = 0.0
            wrench += given
            powers[2] += float((given * k.V).sum())
        return Lag(wrench, efforts, K.blocks, D.blocks, powers)

    def add_armatures(self, k: Kinematics, lag: Lag, rate: float, before: np.ndarray) -> None:
        """Efforts −I v̇ with v̇ = rate (v − before) of the time rule: a damper and a constant."""
        held = ElementPull.of(self.model)
        for j in self.armed:
            rows, mine = self.rows(j, k), slice(j.v_start, j.v_start + j.nv)
            for a, J in rows:
                lag.wrench[a] += J.T @ (rate * j.armature * before[mine])
                for b, L in rows:
                    held.add_block(a, b, J.T @ (rate * j.armature[:, None] * L))
        for pair, block in held.blocks.items():
            lag.damping[pair] = lag.damping.get(pair, 0.0) + block

    def _free(self, pair: tuple[str, str], actuated: list[str], driven: np.ndarray, limits: np.ndarray) -> bool:
        """Whether a block's joint is not an actuated one at its effort limit."""
        if pair[0] not in actuated:
            return True
        j = self.model.joint(pair[0])
        mine = slice(j.v_start, j.v_start + j.nv)
        return bool((np.abs(driven[mine]) <= limits[mine]).all())

    def _add(self, loads: Loads, wrench: np.ndarray, passive: np.ndarray, sign: float = 1.0, driven: np.ndarray | None = None) -> None:
        for body, w in loads.wrenches.items():
            wrench[self.model.body(body)] += sign * w
        for efforts, out in ((loads.efforts, passive), (loads.actuation, passive if driven is None else driven)):
            for name, effort in efforts.items():
                j = self.model.joint(name)
                out[j.v_start : j.v_start + j.nv] += sign * np.asarray(effort)

    def _spread(self, efforts: np.ndarray, k: Kinematics, wrench: np.ndarray) -> None:
        """Efforts of joints as wrenches on their bodies."""
        for j in self.model.joints if efforts.any() else ():
            mine = efforts[j.v_start : j.v_start + j.nv]
            if mine.any():
                for body, J in self.rows(j, k):
                    wrench[body] += J.T @ mine

    def rows(self, j: JointInfo, k: Kinematics) -> list[tuple[int, np.ndarray]]:
        """v_j = Σ J V over the joint's two bodies."""
        if id(j) not in self._fitted:
            self.fit(k, [j])
        inverse = np.linalg.pinv(j.element.motion(k.joint_q(j.name)))
        A_c, A_p = relative_twist(j, k.X)
        return [(j.child, inverse @ A_c), (j.parent, inverse @ A_p)]

    def _add_blocks(self, given: Blocks, k: Kinematics, out: ElementPull, sign: float) -> None:
        """sign × blocks of one element, made symmetric and positive as a whole."""
        rows: dict[str, list[tuple[int, np.ndarray]]] = {}
        for pair in given:
            for name in pair:
                if name not in rows:
                    on_body = self._is_body(name, given)
                    rows[name] = [(self.model.body(name), np.eye(6))] if on_body else self.rows(self.model.joint(name), k)
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
        return name in self._bodies and block.shape[pair.index(name)] == 6

    def _length(self, bodies: Iterable[int]) -> float:
        """ℓ"""
        return max((self._arm[b] for b in bodies), default=0.0) or 1.0

    def _heavy(self, bodies: Iterable[int]) -> float:
        """m"""
        return max((self._mass[b] for b in bodies), default=0.0) or 1.0

    def _add_constraint(self, name: str, constraint: Constraint, k: Kinematics, stiff: Stiff, blocks: bool, out: ElementPull) -> None:
        rows = evaluated(name, constraint, k)
        parts: dict[int, np.ndarray] = {}
        for body, G in rows.G.items():
            i = self.model.body(body)
            parts[i] = parts.get(i, 0.0) + np.asarray(G)
        direct = dict(parts)
        for joint, J in rows.J.items():
            for i, L in self.rows(self.model.joint(joint), k):
                parts[i] = parts.get(i, 0.0) + np.asarray(J) @ L
        arm, mass, force = self._length(parts), self._heavy(parts), np.zeros(len(rows.residual))
        for r, (C, unit) in enumerate(zip(rows.residual, constraint.units, strict=True)):
            if constraint.unilateral:
                out.violation = max(out.violation, -C)
                if C <= 0.0:
                    out.value = np.inf
                    continue
                value, first, second = limit(float(C), unit, mass, arm, stiff, constraint)
            else:
                out.violation = max(out.violation, abs(C))
                s = stiff.scale * mass * (1.0 if unit == "m" else arm**2)
                s = s / (1.0 + s * constraint.compliance)
                value, first, second = 0.5 * s * C * C, s * C, s
            out.value += float(value)
            force[r] = -first
            for a, G in parts.items() if blocks else ():
                for b, L in parts.items():
                    out.add_block(a, b, second * np.outer(G[r], L[r]))
        out.multipliers[name] = force
        for i, G in direct.items():
            out.wrench[i] += G.T @ force
        for joint, J in rows.J.items():
            j = self.model.joint(joint)
            out.efforts[j.v_start : j.v_start + j.nv] += np.asarray(J).T @ force

    def _add_joint(self, j: JointInfo, k: Kinematics, stiff: Stiff, blocks: bool, out: ElementPull) -> None:
        """By the envelope theorem the gradient is that at the nearest q held still: k ℓ² φ and k d, turned to M's axes."""
        arm, mass = self._length((j.child, j.parent)), self._heavy((j.child, j.parent))
        R, p = relative(j, k.X)
        q = k.joint_q(j.name)
        R0, p0 = j.element.pose(q)
        xi = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
        weight = stiff.scale * mass * np.array([arm**2] * 3 + [1.0] * 3)
        out.value += 0.5 * float(weight @ xi**2)
        out.violation = max(out.violation, float(np.abs(xi).max()))
        gradient = np.concatenate([weight[:3] * xi[:3], R.T @ R0 @ (weight[3:] * xi[3:])])
        out.holding[self.place[id(j)]] = -gradient
        parts = dict(zip((j.child, j.parent), relative_twist(j, k.X), strict=True))
        for a, A in parts.items():
            out.wrench[a] -= A.T @ gradient
        if not blocks:
            return
        S = j.element.motion(q)
        WS = weight[:, None] * S
        K = np.diag(weight) - (WS @ np.linalg.pinv(S.T @ WS) @ WS.T if j.nv else 0.0)
        for a, A in parts.items():
            for b, B in parts.items():
                out.add_block(a, b, A.T @ K @ B)


def limit(C: float, unit: str, mass: float, arm: float, stiff: Stiff, owner: Constraint) -> tuple[float, float, float]:
    """A barrier's value and first two derivatives with respect to C."""
    c = getattr(owner, "reach", None) or 0.01 * (arm if unit == "m" else 1.0)
    per = mass if unit == "m" else mass * arm**2
    kappa = getattr(owner, "stiffness", None) or per * c * (10.0 * stiff.gravity / (1.0 if unit == "m" else arm) + c / stiff.step**2)
    b, b1, b2 = barrier(np.array(C / c))
    return kappa * float(b), kappa * float(b1) / c, kappa * float(b2) / c**2


def evaluated(name: str, constraint: Constraint, k: Kinematics) -> Rows:
    """The rows of a constraint, looked at as its own code gives them."""

    def rows() -> Rows:
        found = constraint.evaluate(k)
        n = (constraint.rows,)
        drift = None if found.drift is None else answer(found.drift, n, "drift")
        G = {b: answer(block, (*n, 6), f"G of '{b}'") for b, block in found.G.items()}
        return found._replace(residual=answer(found.residual, n, "residual"), bias=answer(found.bias, n, "bias"), G=G, drift=drift)

    return asked(name, rows)


def asked(name: str, call):  # type: ignore[no-untyped-def]
    """What an element's own code gives; what it raises is told with its name."""
    try:
        return call()
    except ElementFailed:
        raise
    except Exception as error:
        raise ElementFailed(name, f"{type(error).__name__}: {error}") from error
