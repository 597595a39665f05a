"""PointOnLine: a point of one body stays on a line fixed in another.

The line runs through the point y of body B along a direction; e₁, e₂ are unit vectors of B perpendicular to it and to each other.
With r = R_Bᵀ (x − p_WB), where B sees the point x of body A,

    C_i = e_i·(r − y),      ṙ = R_Bᵀ ẋ − v_B − ω_B × r
    G_A = e_iᵀ R_Bᵀ R_A Γ_A,   G_B = −((r × e_i)ᵀ, e_iᵀ),   bias = e_i·(R_Bᵀ R_A (ω_A × Γ_A V_A) − 2 ω_B × ṙ − ω_B × (v_B + ω_B × r))

Tables: own integers: bodies A, B. Own parameters: x in A (3), y in B (3), e₁ (3), e₂ (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, fill_seen_blocks, refuse_same_body, see_point, seen_point, unit_direction
from unibody.element import Kinematics, Packing, Point, point_of
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import MeasuredRow, height
from unibody.spatial.devices import dot3, load3, sub3

__all__ = ["PointOnLine"]


@kernel
def fill_points_on_lines(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 5):
        row = index[5 * e]
        entry = index[5 * e + 1]
        a = index[5 * e + 3]
        b = index[5 * e + 4]
        p = load3(parameters, 12 * e)
        r, c = see_point(X, V, a, p, b)
        off = sub3(r, load3(parameters, 12 * e + 3))
        for i in range(2):
            axis = load3(parameters, 12 * e + 6 + 3 * i)
            residual_out[row + i] = dot3(axis, off)
            bias_out[row + i] = dot3(axis, c)
            fill_seen_blocks(X, a, p, b, r, axis, entry + 2 * i, G_out)


@dataclass(frozen=True)
class PointOnLine(Constraint):
    """`point` stays on the line through the point `on` of another body along `direction` (that body's axes).

    >>> PointOnLine(Point("bead"), Point("world"), (1, 0, 0)).rows
    2
    """

    point: Point
    on: Point
    direction: Any

    rows = 2
    units = ("m", "m")
    fill_kernel = fill_points_on_lines

    def __post_init__(self) -> None:
        refuse_same_body(point_of(self.point, "PointOnLine point"), point_of(self.on, "PointOnLine on"), "PointOnLine")
        object.__setattr__(self, "direction", unit_direction(self.direction, "PointOnLine", "direction"))

    def bodies(self) -> list[str]:
        return [self.point.body, self.on.body]

    def axes(self) -> np.ndarray:
        """e₁ and e₂ (2×3), in the axes of the line's body."""
        direction = np.array(self.direction)
        first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
        first /= np.linalg.norm(first)
        return np.array([first, np.cross(direction, first)])

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(b) for b in self.bodies()], [*self.point.p, *self.on.p, *self.axes().ravel().tolist()]

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        bodies = self.point.body, self.on.body
        return [MeasuredRow(0.0, 1.0, height(self.point, self.on, axis), bodies) for axis in self.axes()]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        seen, axes = seen_point(kinematics, self.point, self.on.body), self.axes()
        G = {self.point.body: axes @ seen.on_point, self.on.body: axes @ seen.on_seer}
        return Rows(axes @ (seen.r - np.array(self.on.p)), G, {}, axes @ seen.bias)
