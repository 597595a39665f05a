"""Joints as linear equations in affine coordinates (paper 003, §4.1), for any joint class, and the change of variables that holds them.

A joint has an exact linear equation for every pair of material vectors (w_M, w_F), homogeneous, with X_FM(q) w_M = w_F for all q: a
point of the hinge's axis that both bodies share, a direction that a slide keeps. Pairs are the null space of the stacked (X_FM(q_k), −1) at
sampled q_k. Each is three equations Q_cᵀ (X_BM w_M) = Q_pᵀ (X_PF w_F): weld 12, prismatic 9, revolute 6, ball, universal and screw 3.
What they leave free beyond the joint's own freedoms (a slide across its axis) is `missing`, and held by a stiff potential elsewhere.

All equations C x = s are solved for pivot coordinates, chosen by pivoted QR within each connected group of bodies:
x_dep = C_dep⁻¹ (s − C_free x_free), so x = x₀(s) + N z with z the free coordinates. Equations that repeat others are dropped and named;
those that contradict them are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from unibody.errors import ModelError
from unibody.joints.base import Joint
from unibody.model import Model
from unibody.spatial.pose import skew

SAMPLES = 12
RANK = 1e-9
"""Relative size below which a pivot is round-off."""
FITS = 1e-7
"""Of contradictory equations: how far [m] equations that repeat others may be apart at the start."""


def homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """4×4 for vectors (1, X, Y, Z)."""
    out = np.zeros((4, 4))
    out[0, 0], out[1:, 0], out[1:, 1:] = 1.0, p, R
    return out


def shared_vectors(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """w_M and w_F (k, 4): what the joint keeps together, simple where possible (points first, then directions)."""
    rng = np.random.default_rng(7)
    stack = []
    for _ in range(SAMPLES):
        q = joint.advance(np.asarray(joint.neutral(), float), rng.uniform(-1.2, 1.2, joint.nv), 1.0) if joint.nv else joint.neutral()
        stack.append(np.concatenate([homogeneous(*joint.pose(q)), -np.eye(4)], axis=1))
    _, s, Vt = np.linalg.svd(np.concatenate(stack))
    rank = int((s > 1e-9 * s[0]).sum())
    null = Vt[rank:]
    return simple(null)[:, :4], simple(null)[:, 4:]


def simple(rows: np.ndarray) -> np.ndarray:
    """The same row space in reduced echelon form: few, round numbers."""
    rows, at = rows.copy(), 0
    for column in range(rows.shape[1]):
        if at == len(rows):
            break
        pivot = at + int(np.argmax(np.abs(rows[at:, column])))
        if abs(rows[pivot, column]) < 1e-9:
            continue
        rows[[at, pivot]] = rows[[pivot, at]]
        rows[at] /= rows[at, column]
        others = np.arange(len(rows)) != at
        rows[others] -= np.outer(rows[others, column], rows[at])
        at += 1
    rows[np.abs(rows) < 1e-12] = 0.0
    return rows


def missing_freedoms(joint: Joint, w_M: np.ndarray, w_F: np.ndarray) -> int:
    """Rigid relative motions that the shared vectors allow beyond the joint's own."""
    rng = np.random.default_rng(11)
    q = joint.advance(np.asarray(joint.neutral(), float), rng.uniform(-0.7, 0.7, joint.nv), 1.0) if joint.nv else joint.neutral()
    R, p = joint.pose(q)
    rows = [np.concatenate([-skew(R @ w[1:] + p * w[0]), w[0] * np.eye(3)], axis=1) for w in w_M]
    rank = np.linalg.matrix_rank(np.concatenate(rows), tol=1e-8) if rows else 0
    return 6 - rank - joint.nv


@dataclass(frozen=True)
class Equation:
    """Three equations Q_cᵀ u_c − Q_pᵀ u_p = 0 of a joint, with homogeneous material vectors in the bodies' frames."""

    joint: int
    child: int
    parent: int
    u_c: np.ndarray
    u_p: np.ndarray


def equations(model: Model) -> tuple[list[Equation], dict[int, int]]:
    """Of all joints that a user made; and by joint how many rigid motions they leave free that the joint does not."""
    out, missing = [], {}
    known: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}
    for k, j in enumerate(model.joints):
        if j.implicit:
            continue
        if id(j.element) not in known:
            w_M, w_F = shared_vectors(j.element)
            known[id(j.element)] = (w_M, w_F, missing_freedoms(j.element, w_M, w_F))
        w_M, w_F, left = known[id(j.element)]
        X_BM, X_PF = (homogeneous(np.asarray(X.R), np.asarray(X.p)) for X in (j.X_BM, j.X_PF))
        out += [Equation(k, j.child, j.parent, X_BM @ m, X_PF @ f) for m, f in zip(w_M, w_F, strict=True)]
        if left > 0:
            missing[k] = left
    return out, missing


class Reduction:
    """x = x₀ + N z over the moving bodies, 12 numbers each in the order of `moving`."""

    def __init__(self, model: Model, moving: list[int], Q: np.ndarray):
        self.model, self.moving = model, moving
        self._place = {b: k for k, b in enumerate(moving)}
        every, self.missing = equations(model)
        self.equations = [e for e in every if e.child in self._place or e.parent in self._place]
        self.redundant: list[str] = []
        n = 12 * len(moving)
        C = self._matrix()
        self._dependent, self._rows, self._solvers, columns = [], [], [], []
        free = np.ones(n, bool)
        for group in self._groups():
            rows = np.array([3 * e + i for e in group for i in range(3)])
            used = np.unique(C[rows].indices)
            dense = C[rows][:, used].toarray()
            dependent, independent = self._pivots(dense, rows, Q)
            inner = dense[np.ix_(independent, dependent)]
            factor = scipy.linalg.lu_factor(inner)
            other = np.setdiff1d(np.arange(len(used)), dependent)
            block = -scipy.linalg.lu_solve(factor, dense[np.ix_(independent, other)])
            block[np.abs(block) < 1e-13] = 0.0
            free[used[dependent]] = False
            self._dependent.append(used[dependent])
            self._rows.append(rows[independent])
            self._solvers.append(factor)
            columns.append((used[dependent], used[other], block))
        self.C = C
        self.free = np.flatnonzero(free)
        number = np.full(n, -1)
        number[self.free] = np.arange(len(self.free))
        i, j, a = [self.free], [np.arange(len(self.free))], [np.ones(len(self.free))]
        for rows, others, block in columns:
            at = np.nonzero(block)
            i.append(rows[at[0]])
            j.append(number[others[at[1]]])
            a.append(block[at])
        self.N = sp.csr_matrix((np.concatenate(a), (np.concatenate(i), np.concatenate(j))), shape=(n, len(self.free)))

    def _matrix(self) -> sp.csr_matrix:
        i, j, a = [], [], []
        for e, q in enumerate(self.equations):
            for body, u, sign in ((q.child, q.u_c, 1.0), (q.parent, q.u_p, -1.0)):
                if body in self._place:
                    for r in range(3):
                        i += [3 * e + r] * 4
                        j += [12 * self._place[body] + 3 * k + r for k in range(4)]
                        a += list(sign * u)
        shape = (3 * len(self.equations), 12 * len(self.moving))
        out = sp.csr_matrix((a, (i, j)), shape=shape)
        out.eliminate_zeros()
        return out

    def _groups(self) -> list[list[int]]:
        """Equations by connected group of moving bodies."""
        parent = list(range(len(self.moving)))

        def root(k: int) -> int:
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            return k

        for e in self.equations:
            if e.child in self._place and e.parent in self._place:
                parent[root(self._place[e.child])] = root(self._place[e.parent])
        groups: dict[int, list[int]] = {}
        for k, e in enumerate(self.equations):
            body = e.child if e.child in self._place else e.parent
            groups.setdefault(root(self._place[body]), []).append(k)
        return list(groups.values())

    def _pivots(self, dense: np.ndarray, rows: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns to solve for and rows to solve; the other rows must say the same at the start."""
        scale = np.linalg.norm(dense, axis=1)
        _, R, order = scipy.linalg.qr(dense / scale[:, None], mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        rank = int((size > RANK * size[0]).sum())
        dependent = np.sort(order[:rank])
        _, _, by_row = scipy.linalg.qr((dense / scale[:, None])[:, dependent].T, mode="economic", pivoting=True)
        independent = np.sort(by_row[:rank])
        dropped = np.setdiff1d(np.arange(len(rows)), independent)
        names = [self.model.joints[self.equations[rows[d] // 3].joint].name for d in dropped]
        self.redundant += [n for n in dict.fromkeys(names) if n not in self.redundant]
        error = np.abs(self.residual(Q)[rows])
        if len(dropped) and error[dropped].max() > FITS and error[independent].max() < FITS:
            listed, worst = ", ".join(dict.fromkeys(names)), error[dropped].max()
            raise ModelError(f"joints {listed} contradict the others by {worst:.3g} m; correct the start")
        return dependent, independent

    def residual(self, Q: np.ndarray) -> np.ndarray:
        """(3 per equation,) Q_cᵀ u_c − Q_pᵀ u_p [m]; Q of all bodies."""
        if not self.equations:
            return np.zeros(0)
        return np.concatenate([e.u_c @ Q[e.child] - e.u_p @ Q[e.parent] for e in self.equations])

    def put(self, Q: np.ndarray) -> np.ndarray:
        """Q of all bodies with the dependent coordinates solved for, from the free ones and the bodies that do not move freely."""
        out = Q.copy()
        flat = out[self.moving].reshape(-1)
        error = self.residual(out)
        for dependent, rows, factor in zip(self._dependent, self._rows, self._solvers, strict=True):
            flat[dependent] -= scipy.linalg.lu_solve(factor, error[rows])
        out[self.moving] = flat.reshape(-1, 4, 3)
        return out

    def multipliers(self, gradient: np.ndarray) -> np.ndarray:
        """λ (3 per equation,) with gradient + Cᵀ λ = 0 on the dependent coordinates; of dropped equations 0."""
        out = np.zeros(3 * len(self.equations))
        for dependent, rows, factor in zip(self._dependent, self._rows, self._solvers, strict=True):
            out[rows] = scipy.linalg.lu_solve(factor, -gradient[dependent], trans=1)
        return out

