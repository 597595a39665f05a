"""Gauges in tables, and which gauge is which coordinate of a joint.

Revolute, Hinge    the turn about the axis
Prismatic          the slide along it; Translational, Free and Planar along F's axes
Ball, Free         the cone between an axis of F and of M, and the twist about it
Universal          turns of each axis about the other
gimbal             three turns in a row with a ⊥ b ⊥ c: of c about a, between a and c, of a about c
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unibody.element import Point
from unibody.joints import Free, Hinge, Planar, Prismatic, Revolute, Translational, Universal
from unibody.solvers.barrier.measures import CONE, DISTANCE, SLIDE, TURN, gradients_of_gauges, measure_gauges, slopes_of_gauges
from unibody.spatial.pose import Pose

ACROSS = 1e-9
"""Cosine below which two axes count as perpendicular."""
NOTHING = np.zeros(4)


class AffineJoint(Protocol):
    """A joint between two affine bodies: `coordinates.affine.links.JointPart`, or one of the model's."""

    element: Any
    parent: int
    child: int
    X_PF: Pose
    X_BM: Pose


@dataclass(frozen=True)
class Gauge:
    """One gauge: its material vectors (4, 4) on child and parent. What it stands for is flip · (C − offset)."""

    kind: int
    child: int
    parent: int
    on_child: np.ndarray
    on_parent: np.ndarray
    flip: float = 1.0
    offset: float = 0.0


def gauge(kind: int, child: int, parent: int, vectors: Sequence[tuple[Any, Any]], flip: float = 1.0, offset: float = 0.0) -> Gauge:
    """From pairs (on the child, on the parent) for y₀, y₁ …"""
    whole = [*vectors, *[(NOTHING, NOTHING)] * (4 - len(vectors))]
    return Gauge(kind, child, parent, np.array([v[0] for v in whole], float), np.array([v[1] for v in whole], float), flip, offset)


class Frames:
    """Material vectors of a joint's frames: directions of M and F, and from F's origin to M's."""

    def __init__(self, part: AffineJoint):
        self.part = part
        self.between = np.array([1.0, *part.X_BM.p]), -np.array([1.0, *part.X_PF.p])

    def in_child(self, direction: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.0, *(self.part.X_BM.R @ np.asarray(direction, float))]), NOTHING

    def in_parent(self, direction: Any) -> tuple[np.ndarray, np.ndarray]:
        return NOTHING, np.array([0.0, *(self.part.X_PF.R @ np.asarray(direction, float))])

    def gauge(self, kind: int, *vectors: tuple[np.ndarray, np.ndarray], flip: float = 1.0, offset: float = 0.0) -> Gauge:
        return gauge(kind, self.part.child, self.part.parent, vectors, flip, offset)

    def turn(self, axis: Any) -> Gauge:
        e, f = across(axis)
        return self.gauge(TURN, self.in_parent(e), self.in_parent(f), self.in_child(e), self.in_child(f))

    def slide(self, axis: Any) -> Gauge:
        return self.gauge(SLIDE, self.between, self.in_parent(axis))

    def cone(self, axis: Any) -> Gauge:
        return self.gauge(CONE, self.in_parent(axis), self.in_child(axis))

    def of_child_about(self, axis: np.ndarray, vector: np.ndarray, zero: np.ndarray) -> Gauge:
        """The turn of a vector of M about an axis of F, zero where it lies towards `zero`."""
        e = unit(zero - (zero @ axis) * axis)
        return self.gauge(TURN, self.in_parent(e), self.in_parent(np.cross(axis, e)), self.in_child(vector))

    def of_parent_about(self, axis: np.ndarray, vector: np.ndarray, zero: np.ndarray) -> Gauge:
        """The turn of M about its own axis, zero where the vector of F lies towards `zero` of M."""
        e = unit(zero - (zero @ axis) * axis)
        return self.gauge(TURN, self.in_parent(vector), (NOTHING, NOTHING), self.in_child(e), self.in_child(np.cross(axis, e)))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def across(axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """e, f with e × f along the axis."""
    a = unit(np.asarray(axis, float))
    e = unit(np.cross(a, np.eye(3)[np.argmin(np.abs(a))]))
    return e, np.cross(a, e)


def coordinates_of(part: AffineJoint) -> dict[int, Gauge]:
    """Place of a scalar coordinate within the part's q → its gauge, for those that have one."""
    element, see = part.element, Frames(part)
    if type(element) in (Revolute, Hinge):
        return {0: see.turn(element.axis)}
    if type(element) is Prismatic:
        return {0: see.slide(element.axis)}
    if type(element) in (Translational, Free):
        return {k: see.slide(np.eye(3)[k]) for k in range(3)}
    if type(element) is Planar:
        return {0: see.slide((1, 0, 0)), 1: see.slide((0, 1, 0)), 2: see.turn((0, 0, 1))}
    if type(element) is Universal:
        return _universal(see, np.array(element.axis1), np.array(element.axis2))
    inner = element.parts()
    if len(inner) > 1 and all(type(p) is Revolute for p in inner):
        axes = [np.array(p.axis) for p in inner]
        if len(axes) == 2:
            return _universal(see, *axes)
        if abs(axes[0] @ axes[1]) < ACROSS and abs(axes[1] @ axes[2]) < ACROSS:
            return _gimbal(see, *axes)
    return {}


def _universal(see: Frames, a: np.ndarray, b: np.ndarray) -> dict[int, Gauge]:
    if np.linalg.norm(np.cross(a, b)) < ACROSS:
        return {}
    return {0: see.of_child_about(a, b, b), 1: see.of_parent_about(b, a, a)}


def _gimbal(see: Frames, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> dict[int, Gauge]:
    """Turning by q₂ about b takes a towards b × a, so the angle between a and c grows with q₂ if c lies on that side, and else shrinks."""
    angle = np.arccos(np.clip(a @ c, -1.0, 1.0))
    if min(angle, np.pi - angle) < 1e-6:
        return {}
    flip = 1.0 if c @ np.cross(b, a) > 0.0 else -1.0
    return {
        0: see.of_child_about(a, c, c),
        1: see.gauge(CONE, see.in_parent(a), see.in_child(c), flip=flip, offset=float(angle)),
        2: see.of_parent_about(c, a, a),
    }


def swing_and_twist(part: AffineJoint, axis: Any) -> tuple[Gauge, Gauge]:
    see = Frames(part)
    return see.cone(axis), see.turn(axis)


def point_gauge(kind: int, point: tuple[int, Point], other: tuple[int, Point], direction: Any = None) -> Gauge:
    """DISTANCE of two points, or SLIDE of the first along a direction of the other's body."""
    (child, a), (parent, b) = point, other
    vectors = [(np.array([1.0, *a.p]), -np.array([1.0, *b.p]))]
    if kind != DISTANCE:
        vectors.append((NOTHING, np.array([0.0, *direction])))
    return gauge(kind, child, parent, vectors)


class MeasureTable:
    """Gauges as kernels see them."""

    def __init__(self, gauges: Sequence[Gauge]):
        self.kind = np.array([g.kind for g in gauges], np.int64)
        self.pair = np.array([(g.child, g.parent) for g in gauges], np.int64).reshape(-1, 2)
        on = [np.concatenate([g.on_child.ravel(), g.on_parent.ravel()]) for g in gauges]
        self.vectors = np.concatenate([np.zeros(0), *on])
        self.flip, self.offset = np.array([g.flip for g in gauges]), np.array([g.offset for g in gauges])
        self.flat = self.pair.ravel()

    def __len__(self) -> int:
        return len(self.kind)

    def values(self, x: np.ndarray, near: np.ndarray) -> np.ndarray:
        """C of all gauges at coordinates x (flat); turns nearest to `near`."""
        out = np.empty(len(self))
        measure_gauges(self.kind, self.flat, self.vectors, near, x, out)
        return out

    def slopes(self, x: np.ndarray) -> np.ndarray:
        out = np.empty(12 * len(self))
        slopes_of_gauges(self.kind, self.flat, self.vectors, x, out)
        return out

    def gradients(self, x: np.ndarray) -> np.ndarray:
        """(n, 2, 4, 3) ∂C/∂Q of child and parent."""
        out = np.empty(24 * len(self))
        gradients_of_gauges(self.kind, self.flat, self.vectors, self.slopes(x), out)
        return out.reshape(-1, 2, 4, 3)


def place_relations(poses: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Directions n (k, 3) and places c (k) with n · p_FM = c for all sampled poses (4×4): where M's origin stays in F."""
    rows = np.array([[*X[1:, 0], -1.0] for X in poses])
    _, s, Vt = np.linalg.svd(rows)
    null = Vt[int((s > 1e-9 * s[0]).sum()) :]
    sizes = np.linalg.norm(null[:, :3], axis=1)
    Q, R = np.linalg.qr(null[:, :3].T) if len(null) else (np.zeros((3, 0)), np.zeros((0, 0)))
    if not len(null) or (np.abs(np.diag(R)) < 1e-9 * max(sizes)).any():
        return np.zeros((0, 3)), np.zeros(0)
    return Q.T, np.linalg.solve(R.T, null[:, 3])
