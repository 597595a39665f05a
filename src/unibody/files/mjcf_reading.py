"""What the parts of the MJCF reader share: MuJoCo's compiled model, the builder, names, and the list of what is left out.

A compiled model knows every number (defaults, includes, frames, angles and inertias are resolved) and every name. Here a name is given
to what has none, and each of MuJoCo's bodies and joints gets its place in our model:

    bodies[i] = (our body, X)    MuJoCo's body frame i has the pose X in our body (not the identity for bodies without mass)
    joints[j] = (our joint, q, v)    its coordinates and velocities begin at these offsets among those of our joint
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from unibody.element import Point
from unibody.model import Builder
from unibody.spatial.pose import Pose

CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")
"""What the flag `constraint` switches off."""
SHOWN = 4
"""How many names a line of the list spells out."""


class BodyPlace(NamedTuple):
    name: str
    X: Pose


class JointPlace(NamedTuple):
    name: str
    q: int
    v: int


@dataclass
class Reading:
    """One file being read."""

    m: Any
    """MuJoCo's compiled model."""
    mj: Any
    """The module `mujoco`."""
    builder: Builder
    limits: bool = True
    contact: bool = True
    """Whether contact is read, unless the file switches it off."""
    meshes: str = "convex"
    """How meshes touch: by their convex hulls, or "exact", by their triangles."""
    ground: str = ""
    """Our body that has the world's geoms."""
    bodies: dict[int, BodyPlace] = field(default_factory=dict)
    joints: dict[int, JointPlace] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)
    """Our bodies that are dynamic."""
    fixed: set[str] = field(default_factory=set)
    """Our bodies that are not dynamic."""
    order: dict[str, list[int]] = field(default_factory=dict)
    """MuJoCo's joints in each of ours."""
    qpos: np.ndarray = field(default_factory=lambda: np.zeros(0))
    qvel: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """The state that the model starts in."""
    left_out: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=lambda: {"world"})
    _taken_joints: set[str] = field(default_factory=set)
    _taken_elements: set[str] = field(default_factory=lambda: {"gravity"})

    def name(self, kind: str, i: int) -> str:
        """The name of a body, joint, … in the file, or its kind and number."""
        found = self.mj.mj_id2name(self.m, getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}"), int(i))
        return found or f"{kind} {int(i)}"

    def word(self, enumeration: str, value: Any) -> str:
        """MuJoCo's word for a type: `word("Joint", 3)` is "hinge"."""
        return words(self.mj, enumeration)[int(value)]

    def joint_kind(self, j: Any) -> str:
        """free, ball, slide or hinge."""
        return self.word("Joint", self.m.jnt_type[j])

    def element(self, name: str, kind: str) -> str:
        """A name for a force or constraint, its own among those given so far."""
        return self._unique(name, f"{name} ({kind})", self._taken_elements)

    def body_name(self, name: str) -> str:
        return self._unique(name, f"{name} (body)", self._taken)

    def joint_name(self, name: str) -> str:
        """A name for a joint; those of bodies that are not dynamic are taken by the welds that hold them."""
        self._taken_joints |= self.fixed
        return self._unique(name, f"{name} (joint)", self._taken_joints)

    def _unique(self, name: str, otherwise: str, taken: set[str]) -> str:
        given, k = name if name not in taken else otherwise, 2
        while given in taken:
            given, k = f"{otherwise} {k}", k + 1
        taken.add(given)
        return given

    def off(self, what: str) -> bool:
        """Whether the file switches a part of MuJoCo off, alone or with all constraints."""
        words = (what, "constraint") if what in CONSTRAINTS else (what,)
        return any(self.m.opt.disableflags & int(getattr(self.mj.mjtDisableBit, f"mjDSBL_{word.upper()}")) for word in words)

    def point(self, body: int, p: Any) -> Point:
        """A point of MuJoCo's body as a point of ours."""
        place = self.bodies[int(body)]
        return Point(place.name, tuple(place.X.apply(p)))

    def site(self, i: int) -> Point:
        return self.point(self.m.site_bodyid[i], self.m.site_pos[i])

    def coordinate(self, joint: int) -> tuple[str, int]:
        """(joint, degree of freedom) of a hinge or slide."""
        place = self.joints[int(joint)]
        return place.name, place.v

    def leave(self, line: str) -> None:
        if line not in self.left_out:
            self.left_out.append(line)

    def leave_all(self, what: str, kind: str, which: Iterable[int], why: str) -> None:
        """One line for all things of a kind: how many, some names, and why."""
        names = [self.name(kind, i) for i in which]
        if names:
            self.leave(f"{what}: {listed(names)}: {why}")


@lru_cache
def words(mj: Any, enumeration: str) -> dict[int, str]:
    """The members of one of MuJoCo's enumerations: their numbers, and their names without what they have in common."""
    kinds = getattr(mj, f"mjt{enumeration}")
    return {int(getattr(kinds, k)): k.split("_", 1)[1].lower() for k in dir(kinds) if k.startswith("mj") and "_" in k}


def listed(names: list[str]) -> str:
    """'a', 'b' and 7 more.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(f"'{n}'" for n in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def number_text(x: float) -> str:
    return f"{float(x):.6g}"


def frame(pos: Any, quat: Any) -> Pose:
    return Pose(np.array(pos, float), np.array(quat, float))
