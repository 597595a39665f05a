"""FixedPoint: a point of a body stays where it is in the world.

    C = x − x₀ (three rows, world axes),   G = R Γ,   bias = R (ω × Γ V)

Tables: own integers: body. Own parameters: p (3), x₀ (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, fill_point_block, moving_point, point_bias, point_map
from unibody.element import Kinematics, Packing, Point, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3
from unibody.spatial.pose import vector3

__all__ = ["FixedPoint"]


@kernel
def fill_fixed_points(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 4):
        row = index[4 * e]
        body = index[4 * e + 3]
        p = load3(parameters, 6 * e)
        x, _, bias = moving_point(X, V, body, p)
        for j in range(3):
            residual_out[row + j] = x[j] - parameters[6 * e + 3 + j]
            bias_out[row + j] = bias[j]
            axis = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            fill_point_block(X, body, p, axis, index[4 * e + 1] + j, G_out)


@dataclass(frozen=True)
class FixedPoint(Constraint):
    """`point` stays at `position` [m], world axes (None: where it is at the start).

    >>> FixedPoint(Point("bob", (0, 0, 1)), (0, 0, 2)).bodies()
    ['bob']
    """

    point: Point
    position: Any = None

    rows = 3
    units = ("m", "m", "m")
    fill_kernel = fill_fixed_points

    def __post_init__(self) -> None:
        if point_of(self.point, "FixedPoint point").body == "world":
            raise ModelError("FixedPoint: a point of the world is fixed already; give a point of another body")
        if self.position is not None:
            object.__setattr__(self, "position", tuple(float(x) for x in vector3(self.position, "FixedPoint position")))

    def bodies(self) -> list[str]:
        return [self.point.body]

    def started(self, packing: Packing, name: str) -> FixedPoint:
        if self.position is not None:
            return self
        return replace(self, position=packing.start_position(self.point))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(self.point.body)], [*self.point.p, *self.position]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        residual = kinematics.position(self.point) - np.array(self.position)
        return Rows(residual, {self.point.body: point_map(kinematics, self.point)}, {}, point_bias(kinematics, self.point))
