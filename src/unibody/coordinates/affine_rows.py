"""Linear equations in affine coordinates that joints, fixed points and planes obey exactly (paper 003, §4.1), for any joint class.

Between two bodies that move, a joint has an exact linear equation for every pair of material vectors (w_M, w_F), homogeneous, with
X_FM(q) w_M = w_F for all q: a point of the hinge's axis that both bodies share, a direction that a slide keeps. Pairs are the null
space of the stacked (X_FM(q_k), −1) at sampled q_k. Each is three equations Q_cᵀ (X_BM w_M) = Q_pᵀ (X_PF w_F): weld 12, prismatic and
translational 9, revolute 6, ball, universal, planar and screw 3.

If one of the two is static, every linear relation between the twelve numbers of X_FM(q) is an equation of its own (a slide stays on its
line), found in the same way. What is still left free beyond the joint's own freedoms is `missing`, and held by a stiff potential elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.constraints.fixed_point import FixedPoint
from unibody.joints import Planar
from unibody.joints.base import Joint
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.plane import plane_frame
from unibody.spatial.pose import Pose, skew

SAMPLES = 40
SAME = 1e-9
"""Relative size below which a singular value is round-off."""


@dataclass(frozen=True)
class Equation:
    """Rows on_child · Q_child + on_parent · Q_parent = right of one joint or element, which `owner` names; `joint` is −1 for elements."""

    owner: str
    joint: int
    child: int
    parent: int
    on_child: np.ndarray
    on_parent: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.right)


def homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """4×4 for vectors (1, X, Y, Z)."""
    out = np.zeros((4, 4))
    out[0, 0], out[1:, 0], out[1:, 1:] = 1.0, p, R
    return out


def samples(joint: Joint, count: int = SAMPLES, seed: int = 7) -> list[np.ndarray]:
    """X_FM as 4×4 at random q."""
    rng = np.random.default_rng(seed)
    q0 = np.asarray(joint.neutral(), float)
    drawn = [joint.advance(q0, rng.uniform(-1.2, 1.2, joint.nv), 1.0) if joint.nv else q0 for _ in range(count)]
    return [homogeneous(*joint.pose(q)) for q in drawn]


def null_rows(matrix: np.ndarray) -> np.ndarray:
    """A basis of the null space, in echelon form."""
    _, s, Vt = np.linalg.svd(matrix)
    return simple(Vt[int((s > SAME * s[0]).sum()) :])


def shared_vectors(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """w_M and w_F (k, 4): what the joint keeps together, simple where possible (points first, then directions)."""
    null = null_rows(np.concatenate([np.concatenate([X, -np.eye(4)], axis=1) for X in samples(joint)]))
    return null[:, :4], null[:, 4:]


def linear_relations(joint: Joint, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """L (k, 4, 3) and c (k): L · (p, columns of R) = c for all X_FM(q), or for their inverses."""
    poses = [np.linalg.inv(X) if inverse else X for X in samples(joint)]
    null = null_rows(np.array([np.append(X[1:].T.ravel(), -1.0) for X in poses]))
    return null[:, :12].reshape(-1, 4, 3), null[:, 12]


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


def missing_freedoms(joint: Joint, L: np.ndarray) -> int:
    """Rigid relative motions that rows L (k, 4, 3) on (p, columns of R) allow beyond the joint's own."""
    X = samples(joint, 1, seed=11)[0]
    Q = X[1:].T
    # A twist (ω, v) in F's axes moves p by v + ω × p and a column a by ω × a.
    motion = np.array([np.concatenate([-skew(row), (k == 0) * np.eye(3)], axis=1) for k, row in enumerate(Q)])
    rank = np.linalg.matrix_rank(np.einsum("rki,kij->rj", L, motion), tol=1e-8) if len(L) else 0
    return int(6 - rank - joint.nv)


class JointRows:
    """Rows of joints of one model, each joint element looked at once."""

    def __init__(self, model: Model):
        self.model = model
        self._pairs: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}
        self._alone: dict[tuple[int, bool], tuple[np.ndarray, np.ndarray, int]] = {}

    def of(self, k: int, j: JointInfo) -> tuple[Equation, int]:
        """The joint's rows, and how many rigid motions they leave free that it does not."""
        w_M, w_F, left = self._shared(j.element)
        still = [self.model.bodies[i].kind == "static" for i in (j.parent, j.child)]
        if left and any(still):
            return self._to_static(k, j, still[1])
        X_BM, X_PF = (homogeneous(np.asarray(X.R), np.asarray(X.p)) for X in (j.X_BM, j.X_PF))
        axes = np.eye(3) if self.model.plane is None else np.array(self.model.plane)
        on_child = np.einsum("ka,ri->krai", w_M @ X_BM.T, axes).reshape(-1, 4, 3)
        on_parent = -np.einsum("ka,ri->krai", w_F @ X_PF.T, axes).reshape(-1, 4, 3)
        return Equation(j.name, k, j.child, j.parent, on_child, on_parent, np.zeros(len(on_child))), left

    def _shared(self, joint: Joint) -> tuple[np.ndarray, np.ndarray, int]:
        if id(joint) not in self._pairs:
            w_M, w_F = shared_vectors(joint)
            L = np.einsum("ka,ri->krai", w_M, np.eye(3)).reshape(-1, 4, 3)
            self._pairs[id(joint)] = w_M, w_F, missing_freedoms(joint, L)
        return self._pairs[id(joint)]

    def _to_static(self, k: int, j: JointInfo, child_still: bool) -> tuple[Equation, int]:
        """Rows on the one body that moves, whose frame is seen from the static one's."""
        body, seen = (j.parent, j.X_PF) if child_still else (j.child, j.X_BM)
        at = self.model.bodies[j.child if child_still else j.parent].X_WB @ (j.X_BM if child_still else j.X_PF)
        L, c, left = self._relations(j.element, child_still)
        rows, right = seen_rows(L, c, at, seen)
        return Equation(j.name, k, body, 0, rows, np.zeros_like(rows), right), left

    def _relations(self, joint: Joint, inverse: bool) -> tuple[np.ndarray, np.ndarray, int]:
        if (id(joint), inverse) not in self._alone:
            L, c = linear_relations(joint, inverse)
            own = L if not inverse else linear_relations(joint, False)[0]
            self._alone[id(joint), inverse] = L, c, missing_freedoms(joint, own)
        return self._alone[id(joint), inverse]


def seen_rows(L: np.ndarray, c: np.ndarray, at: Pose, seen: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Rows on a body's affine coordinates from rows L · P = c, P = (p, columns of R) of its frame `seen` in the still frame `at`."""
    u = homogeneous(np.asarray(seen.R), np.asarray(seen.p))
    turned = L @ at.R.T
    return np.einsum("ak,rki->rai", u, turned), c + turned[:, 0] @ np.asarray(at.p)


def fixed_points(model: Model) -> list[Equation]:
    """FixedPoint elements: three rows each."""
    out = []
    for name, element in model.constraints:
        if isinstance(element, FixedPoint):
            on = np.einsum("a,ri->rai", np.array([1.0, *element.point.p]), np.eye(3))
            out.append(Equation(name, -1, model.body(element.point.body), 0, on, np.zeros_like(on), np.array(element.position, float)))
    return out


def plane_rows(model: Model, body: int) -> Equation:
    """Of a body in a planar world: it stays in the plane, and does not shear in it."""
    assert model.plane is not None
    start, frame = model.bodies[body].X_WB, plane_frame(model.plane)
    at = Pose(start.p, frame.wxyz)
    L, c = linear_relations(Planar(), False)
    rows, right = seen_rows(L, c, at, start.inverse() @ at)
    return Equation("plane", -1, body, 0, rows, np.zeros_like(rows), right)


def equations(model: Model) -> tuple[list[Equation], dict[int, int], list[Equation]]:
    """Of joints that a user made and of fixed points; by joint how many rigid motions they leave free that the joint does not; and those of
    the plane, if the world is planar. Joints between bodies that both do not move have none."""
    maker, out, missing = JointRows(model), [], {}
    moving = {i for i, b in enumerate(model.bodies) if b.kind == "dynamic"}
    planes = {i: plane_rows(model, i) for i in sorted(moving)} if model.plane is not None else {}
    for k, j in enumerate(model.joints):
        if j.implicit or not {j.child, j.parent} & moving:
            continue
        rows, left = maker.of(k, j)
        out.append(beyond_planes(rows, planes))
        if left > 0 and not planes:
            missing[k] = left
    out += [beyond_planes(rows, planes) for rows in fixed_points(model) if rows.child in moving]
    return out, missing, list(planes.values())


def beyond_planes(rows: Equation, planes: dict[int, Equation]) -> Equation:
    """The rows that the planes of the two bodies do not imply."""
    if not planes:
        return rows
    spans = {i: np.linalg.qr(planes[i].on_child.reshape(-1, 12).T)[0] for i in (rows.child, rows.parent) if i in planes}
    keep = []
    for r in range(len(rows)):
        size = np.sqrt((rows.on_child[r] ** 2).sum() + (rows.on_parent[r] ** 2).sum())
        left = 0.0
        for i, part in ((rows.child, rows.on_child[r].ravel()), (rows.parent, rows.on_parent[r].ravel())):
            if i in spans:
                left = max(left, float(np.abs(part - spans[i] @ (spans[i].T @ part)).max()))
        if left > SAME * size:
            keep.append(r)
    return Equation(rows.owner, rows.joint, rows.child, rows.parent, rows.on_child[keep], rows.on_parent[keep], rows.right[keep])
