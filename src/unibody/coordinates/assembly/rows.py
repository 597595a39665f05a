"""A model's rows as functions of how far its joints are displaced from a start, part by part.

    q(Δ) = q₀ ⊕ Δ        every tree joint moved with the constant velocity Δ for a unit of time
    ∂C/∂Δ = K(q) T(Δ)    T = 1 for joints whose velocities are the rates of their coordinates, else by differences of the joint's poses
    y = Lᵀ Δ, W = L Lᵀ   so that ½ Δᵀ W Δ = ½ |y|²

Joints that hang together by the tree or by rows form a part; parts do not know of each other, and joints that are kept (`fixed`) do not
join. A joint that closes a loop, or a body, is kept by rows of its own: its coordinates, its pose, stay what they are at the start.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from unibody.algebra.least_change import LeastChangeProblem
from unibody.coordinates.instant import Instant
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, ROW_SIZE, T
from unibody.joints import Ball, Free
from unibody.joints.table import advance_joints
from unibody.model.model import JointInfo
from unibody.model.scale import body_lengths
from unibody.spatial.pose import ad, skew, vector_from_rotation

DIFFERENCE = 1e-5
"""[rad, m] Of central differences of poses: good to ten digits."""


class Kept:
    """Rows that keep a joint that closes a loop, or a body, where it is; their residual is the twist from there."""

    def __init__(self, here: Instant, name: str, body: int | None):
        self.name, self.body, self.joint = name, body, None if body is not None else here.model.joint(name)
        self.start = self._pose(here)
        self.count = 6 if self.joint is None else self.joint.nv

    def _pose(self, here: Instant) -> tuple[np.ndarray, np.ndarray]:
        if self.joint is not None:
            return self.joint.element.pose(here.q[self.joint.q_start : self.joint.q_start + self.joint.nq])
        X = here.X[self.body]
        return X[:9].reshape(3, 3).copy(), X[9:].copy()

    def residual(self, here: Instant) -> np.ndarray:
        R, p = self._pose(here)
        R0, p0 = self.start
        twist = np.concatenate([vector_from_rotation(R0.T @ R), R.T @ (p - p0)])
        if self.joint is None:
            return twist
        S = self.joint.element.motion(here.q[self.joint.q_start : self.joint.q_start + self.joint.nq])
        return np.linalg.lstsq(S, twist, rcond=None)[0]

    def rows(self, here: Instant) -> np.ndarray:
        return here.joint_map(self.name) if self.joint is not None else here.maps[self.body]

    def sizes(self, lengths: np.ndarray) -> np.ndarray:
        if self.joint is not None:
            return dof_sizes(self.joint, lengths)
        return np.array([1.0] * 3 + [lengths[self.body]] * 3)


class Displaced:
    """The rows of an instant's model as functions of Δ, from where the instant stands."""

    def __init__(self, here: Instant, kept: Collection[tuple[str, int | None]] = ()):
        self.here, model, constraints = here, here.model, here.system.constraints
        self.q0, self.v0 = here.q.copy(), here.v.copy()
        self.lengths = body_lengths(model)
        self.kept = [Kept(here, name, body) for name, body in kept]
        of_element = dict(model.constraints)
        rolling = np.array([getattr(of_element.get(name), "nonholonomic", False) for name in constraints.names], bool)
        rolling[: constraints.joint_rows] = False
        stiff = constraints.compliance == 0.0
        extra = sum(k.count for k in self.kept)
        self.names = [*constraints.names, *(k.name for k in self.kept for _ in range(k.count))]
        self.positional = np.concatenate([stiff & ~rolling, np.ones(extra, bool)])
        """Rows that hold positions."""
        self.equal = np.concatenate([stiff & ~constraints.unilateral, np.ones(extra, bool)])
        """Rows C = 0 or Ċ = 0."""
        self.bounded = np.concatenate([stiff & constraints.unilateral, np.zeros(extra, bool)])
        """Rows C ≥ 0."""
        self.sizes = np.concatenate([here.system.view(ROW_SIZE), *(k.sizes(self.lengths) for k in self.kept)])
        self.extra = extra
        self.room = np.zeros(len(self.names))
        """What rows C ≥ 0 are to stay away from zero by, for a solver that cannot start there."""
        self.dof_sizes = np.ones(model.nv)
        for j in model.tree_joints:
            self.dof_sizes[j.v_start : j.v_start + j.nv] = dof_sizes(j, self.lengths)
        self.bent = [j for j in model.tree_joints if len(j.scalar_dofs()) < j.nv]
        """Joints whose velocities are not the rates of their coordinates."""

    def units(self) -> list[str]:
        """Of every row: "m", "rad", or both where a row is a mixture."""
        constraints, blocks = self.here.system.constraints, self.here.system.view(T).reshape(-1, 6)
        out = list(constraints.units)
        for r in range(constraints.joint_rows):
            turn, way = np.linalg.norm(blocks[r, :3]) > 1e-12, np.linalg.norm(blocks[r, 3:]) > 1e-12
            out[r] = "m or rad" if turn and way else "rad" if turn else "m"
        for k in self.kept:
            out += ["rad" if s == 1.0 else "m" for s in k.sizes(self.lengths)] if k.joint is None else ["m or rad"] * k.count
        return out

    def coordinates(self, delta: np.ndarray) -> np.ndarray:
        """q of all joints at Δ; joints that are not moved keep every bit, loops what was last fitted."""
        s, model = self.here.system, self.here.model
        moved = self.q0.copy()
        along = np.concatenate([delta, np.zeros(s.nv_all - delta.size)])
        advance_joints(s.view(CLASSES), s.view(INDEX), s.view(PARAMETERS), self.q0.copy(), along, 1.0, moved)
        out = self.here.q.copy()
        for j in model.tree_joints:
            mine = slice(j.q_start, j.q_start + j.nq)
            out[mine] = moved[mine] if delta[j.v_start : j.v_start + j.nv].any() else self.q0[mine]
        return out

    def go(self, delta: np.ndarray) -> None:
        """Place the instant at Δ, with the velocities of the start."""
        self.here.place(self.coordinates(delta), self.v0)

    def residual(self) -> np.ndarray:
        """C of all rows here; those of velocities alone are zero."""
        C = np.concatenate([self.here.residual, *(k.residual(self.here) for k in self.kept)])
        return np.where(self.positional, C - self.room, 0.0)

    def rates(self) -> np.ndarray:
        """Ċ of all rows here; what is kept may move as it did."""
        return np.concatenate([self.here.rates, np.zeros(self.extra)])

    def jacobian(self) -> np.ndarray:
        """K of all rows here."""
        return np.concatenate([self.here.rows, *(k.rows(self.here) for k in self.kept)])

    def bent_blocks(self, delta: np.ndarray) -> list[tuple[slice, np.ndarray]]:
        """The blocks of T that are not 1."""
        out = []
        for j in self.bent:
            mine = slice(j.v_start, j.v_start + j.nv)
            if delta[mine].any():
                out.append((mine, _displacing(j, self.q0[j.q_start : j.q_start + j.nq], delta[mine])))
        return out

    def scales(self, free: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Of every row, what makes rows comparable: its response on free bodies, in the metric W; its own for rows of joints alone."""
        K = self.jacobian()[:, free]
        reference = np.concatenate([self.here.free_response(), np.zeros(self.extra)])
        own, weighed = (np.einsum("ij,ji->i", K, np.linalg.solve(A, K.T)) if free.size else np.zeros(len(K)) for A in (self.mass(free), W))
        bigger = np.where(own > 1e-24, weighed / np.where(own > 1e-24, own, 1.0), 1.0)
        square = np.where(reference > 0.0, reference * bigger, weighed)
        return np.sqrt(np.where(square > 0.0, square, 1.0))

    def mass(self, free: np.ndarray) -> np.ndarray:
        return self.here.mass[np.ix_(free, free)]

    def parts(self, free: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """(velocities, rows) of every part that has rows; rows that move with nothing come last, with no velocities."""
        model, path = self.here.model, self.here.paths()
        allowed, lead = set(free.tolist()), list(range(model.nv))

        def root(i: int) -> int:
            while lead[i] != i:
                lead[i] = lead[lead[i]]
                i = lead[i]
            return i

        touched = [*self.here.row_dofs()]
        for k in self.kept:
            ends = [k.body] if k.joint is None else [k.joint.parent, k.joint.child]
            touched += [{v for b in ends for v in path[b]}] * k.count
        groups = [set(path[i]) for i in range(1, model.n_bodies)] + touched
        for group in groups:
            mine = sorted(group & allowed)
            for v in mine[1:]:
                lead[root(v)] = root(mine[0])
        rows: dict[int, list[int]] = {}
        for r, group in enumerate(touched):
            if self.equal[r] or self.bounded[r]:
                mine = group & allowed
                rows.setdefault(root(min(mine)) if mine else -1, []).append(r)
        parts = []
        for at in sorted(rows, key=lambda k: (k < 0, k)):
            parts.append((np.array([v for v in free if root(int(v)) == at], np.int64), np.array(rows[at], np.int64)))
        return parts

    def problem(self, dofs: np.ndarray, rows: np.ndarray, W: np.ndarray, scale: np.ndarray, base: np.ndarray) -> LeastChangeProblem:
        """The rows of one part in y = Lᵀ Δ, the others staying at the displacement `base`."""
        back = np.linalg.inv(np.linalg.cholesky(W)).T
        rows = rows[self.positional[rows]]

        def look(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            delta = base.copy()
            delta[dofs] = back @ y
            self.go(delta)
            K = self.jacobian()[rows]
            for mine, block in self.bent_blocks(delta):
                K[:, mine] = K[:, mine] @ block
            return self.residual()[rows] / scale[rows], (K[:, dofs] / scale[rows, None]) @ back

        return LeastChangeProblem(look, self.bounded[rows], scale[rows] / self.sizes[rows], back / self.dof_sizes[dofs, None])


def dof_units(joint: JointInfo) -> list[str]:
    """ "rad" or "m" of every degree of freedom."""
    S = np.asarray(joint.element.motion(np.asarray(joint.q0, float)), float)
    return ["rad" if np.abs(S[:3, k]).max() > 0.0 else "m" for k in range(joint.nv)]


def dof_sizes(joint: JointInfo, lengths: np.ndarray) -> np.ndarray:
    """1 rad for turns, the natural length of the body that moves for ways."""
    return np.array([1.0 if unit == "rad" else lengths[joint.child] for unit in dof_units(joint)])


def _displacing(joint: JointInfo, q0: np.ndarray, d: np.ndarray) -> np.ndarray:
    """T of one joint: its velocities per change of the displacement d from q0. Free and Ball joints move along the exponential map of their
    group, T = Σ (−ad_d)ᵏ / (k + 1)!; others by differences of their poses."""
    element: Any = joint.element
    if type(element) in (Free, Ball):
        turned = -(ad(d) if type(element) is Free else skew(d))
        out, term = np.eye(joint.nv), np.eye(joint.nv)
        for k in range(1, 60):
            term = term @ turned / (k + 1)
            out = out + term
            if np.abs(term).max() < 1e-17 * np.abs(out).max():
                break
        return out
    q = element.advance(q0, d, 1.0)
    (R, _), S = element.pose(q), element.motion(q)
    columns = []
    for k in range(joint.nv):
        step = np.zeros(joint.nv)
        step[k] = DIFFERENCE
        (Ra, pa), (Rb, pb) = (element.pose(element.advance(q0, d + sign * step, 1.0)) for sign in (1.0, -1.0))
        twist = np.concatenate([vector_from_rotation(R.T @ Ra) - vector_from_rotation(R.T @ Rb), R.T @ (pa - pb)])
        columns.append(np.linalg.lstsq(S, twist / (2.0 * DIFFERENCE), rcond=None)[0])
    return np.stack(columns, axis=1)
