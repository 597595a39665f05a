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
from unibody.constraints.coupling import LARGEST
from unibody.constraints.joint_coordinates import coordinates_of, place_of
from unibody.element import Kinematics, Packing, number
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.pose import vector

__all__ = ["JointCoupling"]


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
        coordinates = coordinates_of(joints, "JointCoupling")
        values = vector(coefficients, len(coordinates), "JointCoupling coefficients")
        if not values.any():
            raise ModelError("JointCoupling: all coefficients are 0, which couples nothing; give at least one other")
        if np.abs(values).max() > LARGEST:
            raise ModelError(f"JointCoupling: coefficient {values[np.abs(values).argmax()]:g} is beyond any gear; give at most {LARGEST:g}")
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
        return [place_of(packing, c, "JointCoupling") for c in self.coordinates]
