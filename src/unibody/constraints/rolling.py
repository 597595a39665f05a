"""Rolling: a ball rolls on a plane without slipping.

Where the ball touches, its centre's velocity and that of its spin cancel across the plane's normal n, along two world directions t₁, t₂:

    Ċ = t·(ẋ + Rω × (−r n)) = 0,   G = tᵀ R Γ + ((t × r n)ᵀ R, 0),   bias = t·R (ω × Γ V)

It says nothing of the height: let the ball rest on the plane by contact, or hold its centre by PointPlane. Nonholonomic: turned and rolled
back to its place, the ball has another side up. The multipliers are the forces of friction [N].

Tables: own integers: body. Own parameters: the centre in the body (3), r n (3), t₁ (3), t₂ (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, fill_point_block, moving_point, point_bias, point_map, unit_direction
from unibody.element import Kinematics, Packing, Point, number, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import cross, dot3, load3, load9, rotate_back

__all__ = ["Rolling"]


@kernel
def fill_rollings(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 4):
        body = index[4 * e + 3]
        p = load3(parameters, 12 * e)
        arm = load3(parameters, 12 * e + 3)
        _, _, bias = moving_point(X, V, body, p)
        for k in range(2):
            t = load3(parameters, 12 * e + 6 + 3 * k)
            entry = index[4 * e + 1] + k
            fill_point_block(X, body, p, t, entry, G_out)
            turn = rotate_back(load9(X, 12 * body), cross(t, arm))
            for j in range(3):
                G_out[6 * entry + j] += turn[j]
            residual_out[index[4 * e] + k] = 0.0
            bias_out[index[4 * e] + k] = dot3(t, bias)


@dataclass(frozen=True)
class Rolling(Constraint):
    """The ball of `radius` [m] about the point `centre` rolls on a plane with `normal` (world axes) beneath it.

    >>> Rolling(Point("ball"), radius=0.1).rows
    2
    """

    centre: Point
    radius: float
    normal: Any = (0.0, 0.0, 1.0)

    rows = 2
    units = ("m", "m")
    nonholonomic = True
    fill_kernel = fill_rollings

    def __post_init__(self) -> None:
        if point_of(self.centre, "Rolling centre").body == "world":
            raise ModelError("Rolling: the world does not roll; give a point of another body")
        object.__setattr__(self, "radius", number(self.radius, f"Rolling of '{self.centre.body}' radius", positive=True))
        object.__setattr__(self, "normal", unit_direction(self.normal, f"Rolling of '{self.centre.body}'", "normal"))

    def bodies(self) -> list[str]:
        return [self.centre.body]

    def _directions(self) -> np.ndarray:
        n = np.array(self.normal)
        first = np.eye(3)[np.abs(n).argmin()]
        first = first - (first @ n) * n
        first /= np.linalg.norm(first)
        return np.array([first, np.cross(n, first)])

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        arm = self.radius * np.array(self.normal)
        return [packing.body(self.centre.body)], [*self.centre.p, *arm.tolist(), *self._directions().ravel().tolist()]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        t, R = self._directions(), kinematics.pose(self.centre.body)[0]
        G = t @ point_map(kinematics, self.centre)
        G[:, :3] += np.cross(t, self.radius * np.array(self.normal)) @ R
        return Rows(np.zeros(2), {self.centre.body: G}, {}, t @ point_bias(kinematics, self.centre))
