"""JointCoupling: a linear relation of joint coordinates: gears, belts, racks.

    C = Σ c_k q_k − offset,   J_k = c_k,   bias = 0

Tables: own integers: number of coordinates n, n q indices. Own parameters: offset, n coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows
from unibody.element import Kinematics, Packing, name_of, number
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.pose import vector


@kernel
def fill_joint_couplings(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        row = index[i]
        entry = index[i + 2]
        n = index[i + 3]
        residual = -parameters[f]
        for k in range(n):
            coefficient = parameters[f + 1 + k]
            residual += coefficient * q[index[i + 4 + k]]
            J_out[entry + k] = coefficient
        residual_out[row] = residual
        bias_out[row] = 0.0
        i += 4 + n
        f += 1 + n


@dataclass(frozen=True, init=False)
class JointCoupling(Constraint):
    """Σ `coefficients`·q = `offset` over `joints`: each a joint (its first coordinate) or a pair (joint, dof).

    The violation counts as an angle; with slides among the joints it has the unit that the coefficients give it.

    >>> JointCoupling(["sun", ("wrist", 1)], (1.0, -3.0)).coordinates
    (('sun', 0), ('wrist', 1))
    """

    coordinates: tuple[tuple[str, int], ...]
    coefficients: tuple[float, ...]
    offset: float

    rows = 1
    units = ("rad",)
    fill_kernel = fill_joint_couplings

    def __init__(self, joints: Sequence[Any], coefficients: Sequence[float], offset: float = 0.0):
        if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
            raise ModelError(f"JointCoupling: joints {joints!r} is not a list of joints; give names, handles or pairs (joint, dof)")
        coordinates = tuple(_coordinate(j) for j in joints)
        for c in coordinates:
            if coordinates.count(c) > 1:
                raise ModelError(f"JointCoupling: joint '{c[0]}' dof {c[1]} is given more than once; add up its coefficients")
        values = vector(coefficients, len(coordinates), "JointCoupling coefficients")
        if not values.any():
            raise ModelError("JointCoupling: all coefficients are 0, which couples nothing; give at least one other")
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "coefficients", tuple(values.tolist()))
        object.__setattr__(self, "offset", number(offset, "JointCoupling offset"))

    def joints(self) -> list[str]:
        return list(dict.fromkeys(joint for joint, _ in self.coordinates))

    def dofs(self, packing: Packing) -> list[int]:
        return [packing.joint(joint).v_start + dof for joint, dof in self.coordinates]

    def started(self, packing: Packing, name: str) -> JointCoupling:
        self._places(packing)
        return self

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        places = self._places(packing)
        return [len(places), *places], [self.offset, *self.coefficients]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        residual = np.array([np.array(self.coefficients) @ kinematics.q[self._places(kinematics.names)] - self.offset])
        J = {joint: np.zeros((1, kinematics.names.joint(joint).nv)) for joint in self.joints()}
        for (joint, dof), coefficient in zip(self.coordinates, self.coefficients, strict=True):
            J[joint][0, dof] = coefficient
        return Rows(residual, {}, J, np.zeros(1))

    def _places(self, packing: Packing) -> list[int]:
        """The q indices of the coordinates; refuses degrees of freedom that have none."""
        places = []
        for name, dof in self.coordinates:
            joint = packing.joint(name)
            if dof >= joint.nv:
                raise ModelError(f"JointCoupling: joint '{name}' has no dof {dof}; it has {joint.nv} degrees of freedom, counted from 0")
            if dof not in joint.scalar_dofs():
                kind = type(joint.element).__name__
                raise ModelError(f"JointCoupling: joint '{name}' dof {dof} of {kind} has no scalar coordinate; couple angles or slides")
            places.append(joint.scalar_dofs()[dof])
        return places


def _coordinate(given: Any) -> tuple[str, int]:
    """(joint name, dof) from a joint, or from a pair."""
    joint, dof = given if isinstance(given, tuple | list) and len(given) == 2 else (given, 0)
    if isinstance(dof, bool) or not isinstance(dof, int | np.integer) or dof < 0:
        raise ModelError(f"JointCoupling: {given!r} names no degree of freedom; give a joint, or (joint, dof) with dof 0, 1, ...")
    return name_of(joint, "JointCoupling joints"), int(dof)
