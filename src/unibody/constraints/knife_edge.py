"""KnifeEdge: a point of a body does not move along one direction of the body: a skate, a sail's keel, the axle of a car's wheels.

    Ċ = d·Γ V = 0,   G = ((p × d)ᵀ, dᵀ),   bias = 0          d fixed in the body's axes

A condition on velocities alone, from which no position follows (nonholonomic): the body still reaches every place. The multiplier is the
side force [N] along d.

Tables: own integers: body. Own parameters: p (3), d (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, unit_direction
from unibody.element import Kinematics, Packing, Point, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import cross, load3

__all__ = ["KnifeEdge"]


@kernel
def fill_knife_edges(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 4):
        entry = 6 * index[4 * e + 1]
        d = load3(parameters, 6 * e + 3)
        turn = cross(load3(parameters, 6 * e), d)
        residual_out[index[4 * e]] = 0.0
        bias_out[index[4 * e]] = 0.0
        for j in range(3):
            G_out[entry + j] = turn[j]
            G_out[entry + 3 + j] = d[j]


@dataclass(frozen=True)
class KnifeEdge(Constraint):
    """`point` has no velocity along `direction`, which is fixed in its body's axes.

    >>> KnifeEdge(Point("sledge"), (0, 1, 0)).bodies()
    ['sledge']
    """

    point: Point
    direction: Any

    rows = 1
    units = ("m",)
    nonholonomic = True
    fill_kernel = fill_knife_edges

    def __post_init__(self) -> None:
        if point_of(self.point, "KnifeEdge point").body == "world":
            raise ModelError("KnifeEdge: a point of the world does not move; give a point of another body")
        object.__setattr__(self, "direction", unit_direction(self.direction, f"KnifeEdge on '{self.point.body}'", "direction"))

    def bodies(self) -> list[str]:
        return [self.point.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(self.point.body)], [*self.point.p, *self.direction]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        d = np.array(self.direction)
        G = np.concatenate([np.cross(self.point.p, d), d])[None, :]
        return Rows(np.zeros(1), {self.point.body: G}, {}, np.zeros(1))
