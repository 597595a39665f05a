"""What a model holds: bodies, joints and elements with their numbers.

`Model` derives from `Contents`. What `Model` itself uses to describe and copy models, and to show parts of joints, imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.element import Point
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.model.deformable import AttachmentInfo, DeformableInfo, PrescribedVertices, VertexPoint
from unibody.spatial.pose import Pose


@dataclass(frozen=True)
class BodyInfo:
    """One body: mass [kg], centre of mass [m] and inertia about it [kg m²] in body axes, shapes, and how it starts."""

    name: str
    kind: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    shapes: tuple[Any, ...]
    X_WB: Pose
    V_WB: tuple[float, ...]
    motion: Callable[[float], Pose] | None = None

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Point:
        """A point fixed in the body, in its axes [m]."""
        return Point(self.name, (x, y, z))


@dataclass(frozen=True)
class JointInfo:
    """One joint: what it connects and where, its place in the joint coordinates, and what acts in it."""

    name: str
    element: Joint
    parent: int
    child: int
    X_PF: Pose
    X_BM: Pose
    q_start: int
    v_start: int
    q0: np.ndarray
    v0: np.ndarray
    armature: np.ndarray
    effort_limit: np.ndarray
    loop: bool
    implicit: bool
    parts: tuple[str, ...] = ()
    """Names of the joints that it consists of, if they have some."""
    whole: str = ""
    """Of a part: the name of its joint."""

    @property
    def nq(self) -> int:
        return self.element.nq

    @property
    def nv(self) -> int:
        return self.element.nv

    def scalar_dofs(self) -> dict[int, int]:
        """Degree of freedom → offset of its coordinate, for those whose rate is their velocity."""
        out: dict[int, int] = {}
        q, v = self.q_start, 0
        for part in self.element.parts():
            if _counts_velocity(part):
                out.update({v + k: q + k for k in range(part.nv)})
            q, v = q + part.nq, v + part.nv
        return out


def _counts_velocity(part: Joint) -> bool:
    """Whether the rates of the part's coordinates are its velocities, at its neutral position and at another."""
    try:
        return _remembered(part)
    except TypeError:  # a class of somebody's own that cannot be hashed
        return _remembered.__wrapped__(part)


@lru_cache(maxsize=1024)
def _remembered(part: Joint) -> bool:
    if part.nq != part.nv:
        return False
    v = np.cos(1.0 + np.arange(part.nv))
    start = np.asarray(part.neutral(), float)
    return all(np.allclose(part.rate(q, v), v) for q in (start, part.advance(start, v, 1.0)))


@dataclass(frozen=True)
class AskedJoint:
    """A joint as it was asked for: what it connects by name, where, and how it starts."""

    name: str
    element: Joint
    parent: str
    child: str
    X_PF: Pose
    X_BM: Pose
    q: np.ndarray
    v: np.ndarray
    armature: np.ndarray
    effort_limit: np.ndarray
    implicit: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contents:
    """The fields of a `Model`, and what follows from them by counting."""

    bodies: tuple[BodyInfo, ...]
    joints: tuple[JointInfo, ...]
    forces: tuple[tuple[str, Force], ...]
    constraints: tuple[tuple[str, Constraint], ...]
    gravity: np.ndarray
    plane: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    parent: np.ndarray
    nq: int
    nv: int
    nq_joints: int
    nv_joints: int
    signals: np.ndarray
    signal_functions: tuple[tuple[int, int, Callable[[float], Any], str], ...]
    motor_targets: Mapping[str, int]
    description: Mapping[str, Any]
    deformables: tuple[DeformableInfo, ...] = ()
    attachments: tuple[AttachmentInfo, ...] = ()
    prescribed: tuple[PrescribedVertices, ...] = ()
    vertex_points: tuple[VertexPoint, ...] = ()
    """Points of deformables on which elements act; the k-th is body n_bodies + k to them."""

    @property
    def n_bodies(self) -> int:
        """Bodies, the world included."""
        return len(self.bodies)

    @property
    def n_frames(self) -> int:
        """What elements see as bodies: those, then points of deformables."""
        return len(self.bodies) + len(self.vertex_points)

    @property
    def planar(self) -> bool:
        return self.plane is not None

    @property
    def tree_joints(self) -> list[JointInfo]:
        """The joint of each body 1, 2, … to its parent."""
        return [j for j in self.joints if not j.loop]

    @property
    def loop_joints(self) -> list[JointInfo]:
        return [j for j in self.joints if j.loop]

    @property
    def total_mass(self) -> float:
        return float(sum(b.mass for b in self.bodies if b.kind == "dynamic") + sum(d.mass.sum() for d in self.deformables))

    @property
    def n_vertices(self) -> int:
        """Vertices of all deformables."""
        return sum(len(d.X) for d in self.deformables)

    @cached_property
    def attached_vertices(self) -> np.ndarray:
        """Numbers of the vertices that are points of something, in rising order."""
        return _sorted(a.vertices for a in self.attachments)

    @cached_property
    def prescribed_vertices(self) -> np.ndarray:
        """Numbers of the vertices whose motion is given, in rising order."""
        return _sorted(p.vertices for p in self.prescribed)

    @cached_property
    def free_vertices(self) -> np.ndarray:
        """Numbers of the vertices that have coordinates of their own, in rising order: neither attached nor prescribed."""
        held = np.concatenate([self.attached_vertices, self.prescribed_vertices])
        return np.setdiff1d(np.arange(self.n_vertices), held)


def _sorted(numbers: Iterable[np.ndarray]) -> np.ndarray:
    return np.sort(np.concatenate([np.zeros(0, np.int64), *numbers]))
