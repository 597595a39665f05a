"""Linear equations in affine coordinates that joints, fixed points and planes obey exactly (paper 003, §4.1), for any joint class.

Between two bodies that move, a joint has an exact linear equation for every pair of material vectors (w_M, w_F), homogeneous, with
X_FM(q) w_M = w_F for all q: a point of the hinge's axis that both bodies share, a direction that a slide keeps. Pairs are the null
space of the stacked (X_FM(q_k), −1) at sampled q_k. Each is three equations Q_cᵀ (X_BM w_M) = Q_pᵀ (X_PF w_F): weld 12, prismatic and
translational 9, revolute 6, ball, universal, planar and screw 3.

If one of the two is static, every linear relation between the twelve numbers of X_FM(q) is an equation of its own (a slide stays on its
line), found in the same way. What is still left free beyond the joint's own freedoms is `missing`, and held by a stiff potential elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from unibody.constraints.fixed_point import FixedPoint
from unibody.joints import Planar
from unibody.joints.base import Joint
from unibody.model import Model
from unibody.model.plane import plane_frame
from unibody.spatial.pose import Pose, skew

SAMPLES = 40
SAME = 1e-9
"""Relative size below which a singular value is round-off."""


@dataclass(frozen=True)
class JointPart:
    """One joint between two affine bodies, whole or a part of one of the model's."""

    joint: int
    """Index into `model.joints`."""
    name: str
    """Of that joint."""
    element: Joint
    parent: int
    """Affine body: below `model.n_bodies` a body, from there on a virtual link."""
    child: int
    X_PF: Pose
    """Frame on the parent."""
    X_BM: Pose
    """Frame on the child."""
    q_start: int
    nq: int
    v_start: int
    nv: int
    """Its coordinates within the model's joint coordinates."""


@dataclass(frozen=True)
class Equation:
    """Rows on_child · Q_child + on_parent · Q_parent = right of a part of a joint or of an element, which `owner` names; `joint` is −1 for
    elements; `last`: the part is the one at the joint's child."""

    owner: str
    joint: int
    child: int
    parent: int
    on_child: np.ndarray
    on_parent: np.ndarray
    right: np.ndarray
    last: bool = True

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


def missing_freedoms(joint: Joint, L: np.ndarray, normal: np.ndarray | None = None) -> int:
    """Rigid relative motions that rows L (k, 4, 3) on (p, columns of R) allow beyond the joint's own; in a planar world, of those in the
    plane, whose normal is given in F's axes."""
    X = samples(joint, 1, seed=11)[0]
    Q = X[1:].T
    # A twist (ω, v) in F's axes moves p by v + ω × p and a column a by ω × a.
    motion = np.array([np.concatenate([-skew(row), (k == 0) * np.eye(3)], axis=1) for k, row in enumerate(Q)])
    if normal is not None:
        inside = np.linalg.svd(normal[None])[2][1:]
        plane = np.zeros((6, 3))
        plane[:3, 0], plane[3:, 1], plane[3:, 2] = normal, *inside
        motion = motion @ plane
    rank = np.linalg.matrix_rank(np.einsum("rki,kij->rj", L, motion), tol=1e-8) if len(L) else 0
    return int(motion.shape[2] - rank - joint.nv)


def remembered(function: Any) -> Any:
    """The same, remembering its answers for joints that can be hashed."""
    known = lru_cache(maxsize=1024)(function)

    def ask(*given: Any) -> Any:
        try:
            return known(*given)
        except TypeError:  # a class of somebody's own that cannot be hashed
            return function(*given)

    return ask


@remembered
def shared(joint: Joint) -> tuple[np.ndarray, np.ndarray, int]:
    """w_M, w_F, and how many rigid motions their rows leave free that the joint does not."""
    w_M, w_F = shared_vectors(joint)
    return w_M, w_F, missing_freedoms(joint, np.einsum("ka,ri->krai", w_M, np.eye(3)).reshape(-1, 4, 3))


@remembered
def relations(joint: Joint, inverse: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """The same of L and c towards a static body."""
    L, c = linear_relations(joint, inverse)
    return L, c, missing_freedoms(joint, L if not inverse else linear_relations(joint, False)[0])


class JointRows:
    """Rows of the parts of joints of one model."""

    def __init__(self, model: Model, starts: Sequence[Pose]):
        self.model, self._starts = model, starts

    def of(self, part: JointPart) -> tuple[Equation, int]:
        """The part's rows, and how many rigid motions they leave free that it does not."""
        w_M, w_F, left = shared(part.element)
        still = [i < self.model.n_bodies and self.model.bodies[i].kind == "static" for i in (part.parent, part.child)]
        if left and any(still):
            return self._to_static(part, still[1])
        X_BM, X_PF = (homogeneous(np.asarray(X.R), np.asarray(X.p)) for X in (part.X_BM, part.X_PF))
        axes = np.eye(3) if self.model.plane is None else np.array(self.model.plane)
        on_child = np.einsum("ka,ri->krai", w_M @ X_BM.T, axes).reshape(-1, 4, 3)
        on_parent = -np.einsum("ka,ri->krai", w_F @ X_PF.T, axes).reshape(-1, 4, 3)
        if self.model.plane is not None:
            L = np.einsum("ka,ri->krai", w_M, np.eye(3)).reshape(-1, 4, 3)
            left = missing_freedoms(part.element, L, self._normal(part))
        return self._equation(part, part.child, part.parent, on_child, on_parent, np.zeros(len(on_child))), left

    def _equation(
        self, part: JointPart, child: int, parent: int, on_child: np.ndarray, on_parent: np.ndarray, right: np.ndarray
    ) -> Equation:
        last = part.child == self.model.joints[part.joint].child
        return Equation(part.name, part.joint, child, parent, on_child, on_parent, right, last)

    def _normal(self, part: JointPart) -> np.ndarray:
        """The plane's, in F's axes."""
        assert self.model.plane is not None
        return (self._starts[part.parent] @ part.X_PF).R.T @ self.model.plane[2]

    def _to_static(self, part: JointPart, child_still: bool) -> tuple[Equation, int]:
        """Rows on the one body that moves, whose frame is seen from the static one's."""
        body, seen = (part.parent, part.X_PF) if child_still else (part.child, part.X_BM)
        at = self._starts[part.child if child_still else part.parent] @ (part.X_BM if child_still else part.X_PF)
        L, c, left = relations(part.element, child_still)
        if self.model.plane is not None:
            own = L if not child_still else linear_relations(part.element, False)[0]
            left = missing_freedoms(part.element, own, self._normal(part))
        rows, right = seen_rows(L, c, at, seen)
        return self._equation(part, body, 0, rows, np.zeros_like(rows), right), left


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


def plane_rows(model: Model, body: int, start: Pose) -> Equation:
    """Of a body in a planar world: it stays in the plane, and does not shear in it."""
    assert model.plane is not None
    at = Pose(start.p, plane_frame(model.plane).wxyz)
    L, c = linear_relations(Planar(), False)
    rows, right = seen_rows(L, c, at, start.inverse() @ at)
    return Equation("plane", -1, body, 0, rows, np.zeros_like(rows), right)


def equations(
    model: Model, parts: Sequence[JointPart], moving: Sequence[int], starts: Sequence[Pose]
) -> tuple[list[Equation], dict[int, int]]:
    """Of planes, if the world is planar, of the parts of joints, and of fixed points; and by joint how many rigid motions its rows leave
    free that the joint does not. `moving` are the affine bodies that do, `starts` where all begin. Parts between bodies that both do not
    move have none."""
    maker, out, missing = JointRows(model, starts), [], {}
    moves = set(moving)
    planes = {i: plane_rows(model, i, starts[i]) for i in sorted(moves)} if model.plane is not None else {}
    for part in parts:
        if not {part.child, part.parent} & moves:
            continue
        rows, left = maker.of(part)
        out.append(beyond_planes(rows, planes))
        if left > 0:
            missing[part.joint] = left
    out += [beyond_planes(rows, planes) for rows in fixed_points(model) if rows.child in moves]
    return [*planes.values(), *out], missing


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
    return replace(rows, on_child=rows.on_child[keep], on_parent=rows.on_parent[keep], right=rows.right[keep])
