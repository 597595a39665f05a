"""JointFriction: Coulomb's friction between the two parts of a joint, as much as the joint is loaded, by its shape (paper 000 §5).

The parts touch at a few points that hold both ways: on the two rims of a cylinder (Revolute), on a sphere (Ball), at the corners of a box
(Prismatic). What the joint carries is shared out among the points, and at each friction is at most μ times what is carried there. So the
friction torque of a hinge grows with its load and with its radius; there is none where nothing is carried.

The effort depends on the reaction of the very step in which it acts, so it follows from no q and v alone: solvers that know how write it
into the table before they evaluate. Until one does it is NaN, so that no solver can leave it out unnoticed.

Tables, one row per degree of freedom: `index`: v index. `parameters`: the effort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from unibody.element import JointView, Kinematics, Packing, name_of, number, several
from unibody.errors import ModelError
from unibody.forces.base import Force, Loads
from unibody.joints.ball import Ball
from unibody.joints.prismatic import Prismatic
from unibody.joints.revolute import Revolute
from unibody.kernel import Floats, Ints, kernel

__all__ = ["JointFriction"]

SIZES: dict[type, tuple[str, ...]] = {Revolute: ("radius", "height"), Ball: ("radius",), Prismatic: ("width", "height")}
"""What the shape of each kind of joint is given by."""

RIM_POINTS, SPHERE_POINTS = 4, (6, 8, 12)
"""Points on a rim, unless told; and the numbers that a sphere can have evenly: corners of an octahedron, a cube, an icosahedron."""


ALONG = 1e-6
"""The sine of the angle to the axis up to which a direction counts as being along it."""


@kernel
def add_joint_friction(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        effort_out[index[e]] += parameters[e]


@dataclass(frozen=True)
class JointFriction(Force):
    """`coefficient` μ. Of a Revolute: `radius` [m] of the pin and `height` [m] of the bearing along the axis; `points` on each of its two
    rims (4). Of a Ball: `radius` [m] and `points` on the sphere: 6, 8 or 12 (6). Of a Prismatic: `width` [m] of the slider across the
    axis, one number or two, and its `height` along it. Points are fixed in the child.

    `direction`, in the joint's frame M: from the axis towards the first point of a rim, or along the first width of a slider; only its part
    across the axis counts. Unless given, that of M's x, y and z along which the axis has its smallest component, the earlier of equals.

    >>> JointFriction("elbow", 0.2, radius=0.01, height=0.03).joints()
    ['elbow']
    """

    joint: Any
    coefficient: float
    radius: float | None = None
    height: float | None = None
    width: Any = None
    points: int | None = None
    direction: Any = None

    add_kernel = add_joint_friction
    needs_reaction = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "JointFriction joint"))
        object.__setattr__(self, "coefficient", number(self.coefficient, f"{self._title()} coefficient", minimum=0.0))
        for name in ("radius", "height"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number(getattr(self, name), f"{self._title()} {name}", positive=True))
        if self.width is not None:
            sides = [number(x, f"{self._title()} width", positive=True) for x in (self.width if several(self.width) else [self.width])]
            if len(sides) > 2:
                raise ModelError(f"{self._title()} width {self.width!r} has {len(sides)} numbers; give one or two")
            object.__setattr__(self, "width", tuple(sides) if np.ndim(self.width) else sides[0])
        if self.points is not None and (isinstance(self.points, bool) or not isinstance(self.points, int | np.integer) or self.points < 3):
            raise ModelError(f"{self._title()} points {self.points!r} is no number of points; give 3 or more")

        if self.direction is not None:
            if not several(self.direction) or len(self.direction) != 3:
                raise ModelError(f"{self._title()} direction {self.direction!r} is no direction; give three numbers, as in (1, 0, 0)")
            ahead = tuple(number(x, f"{self._title()} direction") for x in self.direction)
            object.__setattr__(self, "direction", ahead)

    def joints(self) -> list[str]:
        return [self.joint]

    def started(self, packing: Packing, name: str) -> JointFriction:
        self._check_joint(packing.joint(self.joint))
        return self

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        self._check_joint(joint)
        return [joint.v_start + d for d in range(joint.nv)], [nan] * joint.nv

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        which = "run the scene with solver 'redmax' or 'complementarity'"
        raise ModelError(f"{self._title()} its effort follows from the joint's reaction; {which}")

    def _title(self) -> str:
        return f"JointFriction on joint '{self.joint}':"

    def _check_joint(self, joint: JointView) -> None:
        """Refuses joints whose shape nobody knows, and sizes that are missing or that the shape does not have."""
        kind = type(joint.element)
        if kind not in SIZES:
            known = ", ".join(k.__name__ for k in SIZES)
            raise ModelError(f"{self._title()} a {kind.__name__} has no shape here; give a joint of {known}, or DryFriction")
        for size in ("radius", "height", "width"):
            if (getattr(self, size) is None) == (size in SIZES[kind]):
                what = f"has no {size}; leave it out" if getattr(self, size) is not None else f"needs {size}=; give it in metres"
                raise ModelError(f"{self._title()} a {kind.__name__} {what}")
        if self.direction is not None:
            if kind is Ball:
                raise ModelError(f"{self._title()} a Ball has its points along M's axes, and no direction; leave it out")
            axis = np.asarray(joint.element.axis, float)
            if np.linalg.norm(np.cross(axis, self.direction)) <= ALONG * np.linalg.norm(self.direction):
                given, along = ("(" + ", ".join(f"{x:g}" for x in v) + ")" for v in (self.direction, axis))
                raise ModelError(f"{self._title()} direction {given} has no part across the axis {along}; give one that has")
        if kind is Prismatic and self.points is not None:
            raise ModelError(f"{self._title()} a Prismatic touches at its 8 corners; leave points out")
        if kind is Ball and self.points not in (None, *SPHERE_POINTS):
            raise ModelError(f"{self._title()} points {self.points} do not lie evenly on a Ball; give one of {SPHERE_POINTS}")
