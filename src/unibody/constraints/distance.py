"""Distance: two points of two bodies stay a length apart, as if joined by a massless rod.

    d = x_b − x_a,  u = d / |d|,   C = |d| − L,   G_a = −uᵀ R_a Γ_a,   G_b = uᵀ R_b Γ_b
    bias = u·(R_b (ω_b × Γ_b V_b) − R_a (ω_a × Γ_a V_a)) + (|ḋ|² − (u·ḋ)²) / |d|

Tables: own integers: bodies a, b. Own parameters: p_a (3), p_b (3), L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unibody.constraints.base import Constraint, Rows, fill_point_block, moving_point, point_bias, point_map, refuse_same_body
from unibody.element import Kinematics, Packing, Point, number, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel
from unibody.measure import MeasuredRow, distance
from unibody.spatial.devices import dot3, load3, norm3, scale3, sub3

__all__ = ["Distance"]

SHORTEST = 1e-12
"""Below this distance [m] there is no direction to hold along, and the row is zero."""


@device
def separation(X, V, a, p_a, b, p_b):
    """|d|, u, and the second rate of |d| when V̇ = 0."""
    x_a, v_a, bias_a = moving_point(X, V, a, p_a)
    x_b, v_b, bias_b = moving_point(X, V, b, p_b)
    d = sub3(x_b, x_a)
    length = norm3(d)
    inverse = 1.0 / length if length > SHORTEST else 0.0
    u = scale3(inverse, d)
    velocity = sub3(v_b, v_a)
    rate = dot3(u, velocity)
    return length, u, dot3(u, sub3(bias_b, bias_a)) + (dot3(velocity, velocity) - rate * rate) * inverse


@kernel
def fill_distances(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 5):
        row = index[5 * e]
        entry = index[5 * e + 1]
        a = index[5 * e + 3]
        b = index[5 * e + 4]
        p_a = load3(parameters, 7 * e)
        p_b = load3(parameters, 7 * e + 3)
        length, u, bias = separation(X, V, a, p_a, b, p_b)
        residual_out[row] = length - parameters[7 * e + 6]
        bias_out[row] = bias
        fill_point_block(X, a, p_a, scale3(-1.0, u), entry, G_out)
        fill_point_block(X, b, p_b, u, entry + 1, G_out)


@dataclass(frozen=True)
class Distance(Constraint):
    """The points `a` and `b` stay `length` [m] apart (None: as far as they are at the start).

    >>> Distance(Point("bob"), Point("world", (0, 0, 1)), 0.5).bodies()
    ['bob', 'world']
    """

    a: Point
    b: Point
    length: float | None = None

    rows = 1
    units = ("m",)
    fill_kernel = fill_distances

    def __post_init__(self) -> None:
        refuse_same_body(point_of(self.a, "Distance a"), point_of(self.b, "Distance b"), "Distance")
        if self.length is not None:
            object.__setattr__(self, "length", _positive(self.length, "Distance"))

    def bodies(self) -> list[str]:
        return [self.a.body, self.b.body]

    def started(self, packing: Packing, name: str) -> Distance:
        if self.length is not None:
            return self
        length = float(np.linalg.norm(packing.start_position(self.b) - packing.start_position(self.a)))
        return replace(self, length=_positive(length if length > SHORTEST else 0.0, f"Distance '{name}' at the start"))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        assert self.length is not None
        return [packing.body(self.a.body), packing.body(self.b.body)], [*self.a.p, *self.b.p, self.length]

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        return [MeasuredRow(float(self.length or 0.0), 1.0, distance(self.a, self.b), (self.a.body, self.b.body))]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        assert self.length is not None
        length, G, bias = separated(kinematics, self.a, self.b)
        return Rows(np.array([length - self.length]), G, {}, np.array([bias]))


def separated(kinematics: Kinematics, a: Point, b: Point) -> tuple[float, dict[str, np.ndarray], float]:
    """|d|, its row by body (1×6), and its second rate when V̇ = 0."""
    d = kinematics.position(b) - kinematics.position(a)
    length = float(np.linalg.norm(d))
    inverse = 1.0 / length if length > SHORTEST else 0.0
    u = d * inverse
    velocity = kinematics.velocity(b) - kinematics.velocity(a)
    bias = u @ (point_bias(kinematics, b) - point_bias(kinematics, a)) + (velocity @ velocity - (u @ velocity) ** 2) * inverse
    G = {a.body: -(u @ point_map(kinematics, a))[None, :], b.body: (u @ point_map(kinematics, b))[None, :]}
    return length, G, float(bias)


def _positive(length: float, what: str) -> float:
    length = number(length, f"{what}: length")
    if length <= 0.0:
        raise ModelError(f"{what}: length {length:g} is not positive; for points that coincide use FixedPoint or a Ball joint")
    return length
