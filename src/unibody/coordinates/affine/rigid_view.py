"""Affine bodies as elements see them: rigid poses and twists, and the coordinates of joints between them.

Poses are polar projections. Their derivative T (6×12) takes δQ to the displacement δξ in body axes, so that a wrench F becomes Tᵀ F and a
block K becomes T_aᵀ K T_b. A joint's coordinates and velocities are functions of affine coordinates, v = g_c · Q̇_c + g_p · Q̇_p, in one of
three ways that it offers itself:

    measures       q is flip (C − offset), g the gradient of C
    quaternion     q from the pose of M in F, v its twist
    pose, motion   any other joint: q nearest to the pose by Gauss–Newton, v = S⁺ V_FM
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unibody.coordinates.affine.body import polar, twist_of_rate
from unibody.coordinates.affine.links import Link
from unibody.coordinates.affine.measures import BodyMeasure, MeasureTable, joint_measures
from unibody.coordinates.affine.polar import add_pulled_loads, project_bodies, see_rotations
from unibody.coordinates.affine.rows import JointPart
from unibody.element import Kinematics
from unibody.joints.base import Joint
from unibody.joints.free import Free
from unibody.measure import counts_turns
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.tables import Names
from unibody.spatial.pose import adjoint, vector_from_rotation

AnyJoint = JointPart | JointInfo


def relative(j: AnyJoint, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and p of M in F."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_F, p_F = R_P @ j.X_PF.R, p_P + R_P @ j.X_PF.p
    R_M, p_M = R_C @ j.X_BM.R, p_C + R_C @ j.X_BM.p
    return R_F.T @ R_M, R_F.T @ (p_M - p_F)


def relative_twist(j: AnyJoint, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A_c, A_p (6×6): the twist of M in F, in M's axes, is A_c V_c + A_p V_p."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_MB, p_MB = j.X_BM.R.T, -j.X_BM.R.T @ j.X_BM.p
    A_c = adjoint(R_MB, p_MB)
    R_MP = R_MB @ R_C.T @ R_P
    p_MP = R_MB @ (R_C.T @ (p_P - p_C)) + p_MB
    return A_c, -adjoint(R_MP, p_MP)


def velocity_rows(j: AnyJoint, q: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J_c, J_p (nv×6): v = S⁺ V_FM = J_c V_c + J_p V_p."""
    inverse = np.linalg.pinv(j.element.motion(q))
    A_c, A_p = relative_twist(j, X)
    return inverse @ A_c, inverse @ A_p


def nearest(joint: Joint, R: np.ndarray, p: np.ndarray, q: np.ndarray, arm: float) -> np.ndarray:
    """The q with the least arm² |φ|² + |d|² of the turn φ and the way d from X_FM(q) to (R, p), from a q near to it: Gauss–Newton."""
    if not joint.nv:
        return q
    root = np.array([arm] * 3 + [1.0] * 3)
    for _ in range(20):
        R0, p0 = joint.pose(q)
        xi = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
        S = root[:, None] * joint.motion(q)
        step = np.linalg.lstsq(S, root * xi, rcond=1e-10)[0]
        q = joint.advance(q, step, 1.0)
        if np.abs(step).max() < 1e-11:
            break
    return q


@dataclass
class SeenBodies:
    """Coordinates x (flat), poses X (12 a body), maps T (72 a body), joint coordinates q and rows g (24 a velocity)."""

    x: np.ndarray
    X: np.ndarray
    T: np.ndarray
    q: np.ndarray
    rows: np.ndarray


class JointCoordinates:
    """q and v of some joints as functions of affine coordinates; `arm` is the length ℓ of every affine body. Without `measured` all of them
    by pose and motion."""

    def __init__(self, parts: Iterable[JointPart], arm: np.ndarray, nv: int, measured: bool = True):
        measures: dict[int, BodyMeasure] = {}
        index: list[int] = []
        frames: list[float] = []
        pair: dict[int, tuple[int, int]] = {}
        q_of: list[int] = []
        self._others: list[tuple[JointPart, float]] = []
        for part in parts:
            pair.update({part.v_start + k: (part.child, part.parent) for k in range(part.nv)})
            known = joint_measures(part) if measured else {}
            if measured and part.element.quaternion is not None:
                index += [part.child, part.parent, part.q_start, part.v_start, int(part.nv == 6)]
                frames += [*part.X_PF.R.ravel(), *part.X_PF.p, *part.X_BM.R.ravel(), *part.X_BM.p]
            elif len(known) == part.nq:
                measures.update({part.v_start + k: m for k, m in known.items()})
                q_of += [part.q_start + k for k in known]
            else:
                self._others.append((part, max(arm[part.child], arm[part.parent]) or 1.0))
        self._index, self._frames = np.array(index, np.int64), np.array(frames, float)
        self._table, self._v, self._q = MeasureTable(list(measures.values())), np.array(list(measures), int), np.array(q_of, int)
        self.which = np.array(sorted(pair), np.int64)
        """Joint velocities that are known here."""
        self.pair = np.array([pair[v] for v in sorted(pair)], np.int64).reshape(-1, 2)
        """The two bodies of each."""
        self._nv = nv

    def see(self, x: np.ndarray, q_near: np.ndarray) -> SeenBodies:
        """Poses and maps of all bodies; q, those that are not known as given, and rows."""
        X, T = np.empty(x.size), np.empty(6 * x.size)
        project_bodies(x, X, T)
        q, rows = q_near.copy(), np.zeros(24 * self._nv)
        if len(self._index):
            see_rotations(self._index, self._frames, X, T, q, rows)
        if len(self._v):
            t = self._table
            q[self._q] = t.coordinates(x, q_near[self._q])
            rows.reshape(-1, 24)[self._v] = t.flip[:, None] * t.gradients(x).reshape(-1, 24)
        for part, arm in self._others:
            mine, poses, maps = slice(part.q_start, part.q_start + part.nq), X.reshape(-1, 12), T.reshape(-1, 6, 12)
            q[mine] = nearest(part.element, *relative(part, poses), q[mine], arm)
            on_child, on_parent = velocity_rows(part, q[mine], poses)
            own = rows.reshape(-1, 2, 12)[part.v_start : part.v_start + part.nv]
            own[:, 0], own[:, 1] = on_child @ maps[part.child], on_parent @ maps[part.parent]
        return SeenBodies(x.copy(), X, T, q, rows)

    def velocities(self, seen: SeenBodies, V: np.ndarray) -> np.ndarray:
        """v of the joints that are known, 0 of others, for rates V (bodies, 4, 3)."""
        v, rows = np.zeros(self._nv), seen.rows.reshape(-1, 2, 12)[self.which]
        v[self.which] = np.einsum("nsj,nsj->n", rows, V.reshape(-1, 12)[self.pair])
        return v

    def pull(self, seen: SeenBodies, F: np.ndarray, efforts: np.ndarray, factor: float, loads_out: np.ndarray) -> None:
        """loads (12 per body) += wrenches and efforts of the joints that are known, times a factor."""
        add_pulled_loads(F, seen.T, self.which, self.pair.ravel(), seen.rows, efforts, factor, loads_out)

    def fitted(self, x: np.ndarray, q_near: np.ndarray) -> np.ndarray:
        """Coordinates alone, of joints with measures and of those without quaternion."""
        if self._others:
            return self.see(x, q_near).q
        q = q_near.copy()
        if len(self._q):
            q[self._q] = self._table.coordinates(x, q_near[self._q])
        return q


class RigidView:
    """The bodies and joints of one model. `parts`: its joints between affine bodies, `links`: the virtual ones among these."""

    def __init__(self, model: Model, parts: Sequence[JointPart], links: Sequence[Link]):
        self.model, self.names = model, Names(model)
        self.mass, self.arm = scales(model)
        """By body: the mass of all that joints connect to it, and ℓ."""
        self._wholes = [
            JointPart(k, j.name, j.element, j.parent, j.child, j.X_PF, j.X_BM, j.q_start, j.nq, j.v_start, j.nv)
            for k, j in enumerate(model.joints)
        ]
        self._parts = [*parts, *(p for p, j in zip(self._wholes, model.joints, strict=True) if j.implicit)]
        self._arms = np.concatenate([self.arm, [link.radius for link in links]])
        self.turning = self._coordinates([p for p in parts if p.nv and self._may_turn(p.element)])
        """Joints whose coordinates may be off by whole turns, or are only found from near by."""

    @staticmethod
    def _may_turn(joint: Joint) -> bool:
        """Not quaternions, and not places: these are where they are."""
        pieces = [(piece, list(piece.measures().values())) for piece in joint.parts() if piece.quaternion is None]
        return any(counts_turns(known) or len(known) < piece.nq for piece, known in pieces)

    def _coordinates(self, parts: Iterable[JointPart], measured: bool = True) -> JointCoordinates:
        return JointCoordinates(parts, self._arms, self.model.nv_joints, measured)

    def coordinates(self, joints: Collection[str] | None = None, measured: bool = True) -> JointCoordinates:
        """Of joints by name; of all if none are given. Without `measured`, of whole joints by their poses."""
        given = self._parts if measured else self._wholes
        return self._coordinates([p for p in given if joints is None or p.name in joints], measured)

    def length(self, bodies: Iterable[int]) -> float:
        """ℓ of an element on these bodies [m]."""
        return max((self.arm[b] for b in bodies), default=0.0) or 1.0

    def heavy(self, bodies: Iterable[int]) -> float:
        """m of an element on these bodies [kg]."""
        return max((self.mass[b] for b in bodies), default=0.0) or 1.0

    def kinematics(
        self, t: float, Q: np.ndarray, rate: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray,
        joints: Iterable[JointInfo],
    ) -> Kinematics:  # fmt: skip
        """Poses and twists of the model's bodies, and coordinates and velocities of some joints."""
        Q, rate = Q[: self.model.n_frames], rate[: self.model.n_frames]
        R, _ = polar(Q)
        X = np.concatenate([R.reshape(-1, 9), Q[:, 0]], axis=1)
        V = twist_of_rate(Q, rate)
        V = np.concatenate([np.einsum("nji,nj->ni", R, V[:, :3]), np.einsum("nji,nj->ni", R, V[:, 3:])], axis=1)
        k = Kinematics(t, X, V, q_near.copy(), np.zeros(self.model.nv_joints), signals, control, self.names)
        for j in joints:
            mine = slice(j.q_start, j.q_start + j.nq)
            if type(j.element) is Free:  # no fit, no equations: it is where it is
                k.q[mine] = j.element.fit(*relative(j, k.X), k.q[mine])
                if k.V.any():
                    A_c, A_p = relative_twist(j, k.X)
                    k.v[j.v_start : j.v_start + j.nv] = A_c @ k.V[j.child] + A_p @ k.V[j.parent]
                continue
            k.q[mine] = nearest(j.element, *relative(j, k.X), k.q[mine], self.length((j.child, j.parent)))
            if k.V.any():
                A_c, A_p = relative_twist(j, k.X)
                twist = A_c @ k.V[j.child] + A_p @ k.V[j.parent]
                k.v[j.v_start : j.v_start + j.nv] = np.linalg.pinv(j.element.motion(k.q[mine])) @ twist
        return k

    def rows(self, j: JointInfo, k: Kinematics) -> list[tuple[int, np.ndarray]]:
        """v_j = Σ J V over the joint's two bodies, of a joint that has been fitted."""
        return list(zip((j.child, j.parent), velocity_rows(j, k.joint_q(j.name), k.X), strict=True))

    def spread(self, efforts: np.ndarray, k: Kinematics, wrench: np.ndarray) -> None:
        """Efforts of joints, added as wrenches on their bodies."""
        for j in self.model.joints if efforts.any() else ():
            mine = efforts[j.v_start : j.v_start + j.nv]
            if mine.any():
                for body, J in self.rows(j, k):
                    wrench[body] += J.T @ mine


def scales(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """By body: the mass of all that joints connect to it, and √(tr I / m); 0 for those that do not move."""
    n = model.n_bodies
    moves = np.array([b.kind == "dynamic" for b in model.bodies])
    pairs = np.array([(j.child, j.parent) for j in model.joints if moves[j.child] and moves[j.parent]], int).reshape(-1, 2)
    _, group = sp.csgraph.connected_components(sp.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)
    own = np.array([b.mass if move else 0.0 for b, move in zip(model.bodies, moves, strict=True)])
    arm = [np.sqrt(np.trace(b.inertia) / b.mass) if move and b.mass > 0.0 else 0.0 for b, move in zip(model.bodies, moves, strict=True)]
    mass, owner = (
        np.bincount(group, own, n)[group] * moves,
        np.concatenate([np.zeros(0, int), *(np.full(d.n, k) for k, d in enumerate(model.deformables))]),
    )
    of_points = [float(model.deformables[int(owner[p.vertices[0]])].mass.sum()) for p in model.vertex_points]
    return np.concatenate([mass, of_points]), np.array([*arm, *[0.0] * len(of_points)])
