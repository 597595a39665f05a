"""PointPlane: a point stays on one side of a plane, without friction.

The plane goes through the point y of body B (the world among them), normal to n in B's axes. With r, the point as B sees it,

    C = n·(r − y) ≥ 0,   G_A = nᵀ R_Bᵀ R_A Γ_A,   G_B = −((r × n)ᵀ, nᵀ)

The multiplier is the normal force [N] on the point, ≥ 0.

Tables: own integers: bodies A, B. Own parameters: the point in A (3), y (3), n (3).
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
from unibody.spatial.pose import vector3

__all__ = ["PointPlane"]


@kernel
def fill_points_on_planes(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 5):
        row = index[5 * e]
        a = index[5 * e + 3]
        b = index[5 * e + 4]
        p = load3(parameters, 9 * e)
        normal = load3(parameters, 9 * e + 6)
        r, c = see_point(X, V, a, p, b)
        residual_out[row] = dot3(normal, sub3(r, load3(parameters, 9 * e + 3)))
        bias_out[row] = dot3(normal, c)
        fill_seen_blocks(X, a, p, b, r, normal, index[5 * e + 1], G_out)


@dataclass(frozen=True)
class PointPlane(Constraint):
    """`point` stays on the side of the plane through `origin` to which `normal` points. `origin`: a place in the world, or a point of
    another body, whose axes `normal` then has.

    >>> PointPlane(Point("toe"), (0, 0, 0), (0, 0, 1)).bodies()
    ['toe', 'world']
    """

    point: Point
    origin: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)

    rows = 1
    units = ("m",)
    unilateral = True
    fill_kernel = fill_points_on_planes

    def __post_init__(self) -> None:
        origin = self.origin
        if not isinstance(origin, Point):
            origin = Point("world", tuple(vector3(origin, "PointPlane origin").tolist()))
        refuse_same_body(point_of(self.point, "PointPlane point"), origin, "PointPlane")
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "normal", unit_direction(self.normal, "PointPlane", "normal"))

    def bodies(self) -> list[str]:
        return [self.point.body, self.origin.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(b) for b in self.bodies()], [*self.point.p, *self.origin.p, *self.normal]

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        apart, bodies = height(self.point, self.origin, self.normal), (self.point.body, self.origin.body)
        return [MeasuredRow(0.0, 1.0, apart, bodies)]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        seen, n = seen_point(kinematics, self.point, self.origin.body), np.array([self.normal])
        G = {self.point.body: n @ seen.on_point, self.origin.body: n @ seen.on_seer}
        return Rows(n @ (seen.r - np.array(self.origin.p)), G, {}, n @ seen.bias)
