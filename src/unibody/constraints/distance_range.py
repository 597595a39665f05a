"""DistanceRange: two points of two bodies stay within distances of each other: a slack rope, a telescope without a direction.

    d = |x_b − x_a|,   C = d − lower ≥ 0  and  C = upper − d ≥ 0     (a row for a lower above 0, one for a finite upper)

with the rows of `distance`. The multiplier is the force [N] away from the bound, ≥ 0: of a rope its pull.

Tables: own integers: bodies a, b, number of rows. Own parameters: p_a (3), p_b (3), then sign and bound of two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unibody.constraints.base import Constraint, Rows, barrier_numbers, fill_point_block, refuse_same_body
from unibody.constraints.distance import separated, separation
from unibody.element import Kinematics, Packing, Point, number, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import MeasuredRow, distance
from unibody.spatial.devices import load3, scale3

__all__ = ["DistanceRange"]


@kernel
def fill_distance_ranges(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 6):
        row = index[6 * e]
        entry = index[6 * e + 1]
        a = index[6 * e + 3]
        b = index[6 * e + 4]
        p_a = load3(parameters, 10 * e)
        p_b = load3(parameters, 10 * e + 3)
        length, u, bias = separation(X, V, a, p_a, b, p_b)
        for k in range(index[6 * e + 5]):
            sign = parameters[10 * e + 6 + 2 * k]
            residual_out[row + k] = sign * (length - parameters[10 * e + 7 + 2 * k])
            bias_out[row + k] = sign * bias
            fill_point_block(X, a, p_a, scale3(-sign, u), entry + 2 * k, G_out)
            fill_point_block(X, b, p_b, scale3(sign, u), entry + 2 * k + 1, G_out)


@dataclass(frozen=True)
class DistanceRange(Constraint):
    """The points `a` and `b` stay at least `lower` and at most `upper` [m] apart. `damping` [s], `reach` [m] and `stiffness` [J] of its
    barrier: as of a `JointLimit`.

    >>> DistanceRange(Point("bob"), Point("world", (0, 0, 1)), upper=0.5).rows
    1
    """

    a: Point
    b: Point
    lower: float = 0.0
    upper: float = np.inf
    damping: float = 0.0
    reach: float | None = None
    stiffness: float | None = None
    rows: int = field(default=1, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("m",), init=False, repr=False, compare=False)

    unilateral = True
    fill_kernel = fill_distance_ranges

    def __post_init__(self) -> None:
        refuse_same_body(point_of(self.a, "DistanceRange a"), point_of(self.b, "DistanceRange b"), "DistanceRange")
        for name in ("lower", "upper"):
            object.__setattr__(self, name, number(getattr(self, name), f"DistanceRange {name}", minimum=0.0, infinite=True))
        barrier_numbers(self, "DistanceRange")
        if not self.lower < self.upper:
            raise ModelError(f"DistanceRange: lower {self.lower:g} is not below upper {self.upper:g}; give a range, or use Distance")
        if not self.bounds():
            raise ModelError("DistanceRange: neither a lower above 0 nor a finite upper, which limits nothing; give lower or upper")
        object.__setattr__(self, "rows", len(self.bounds()))
        object.__setattr__(self, "units", ("m",) * self.rows)

    @property
    def barred(self) -> bool:
        return bool(self.damping or self.reach or self.stiffness)

    def bounds(self) -> list[tuple[float, float]]:
        """Sign and bound of every row."""
        both = ((1.0, self.lower), (-1.0, self.upper))
        return [(sign, bound) for sign, bound in both if 0.0 < bound < np.inf]

    def bodies(self) -> list[str]:
        return [self.a.body, self.b.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        numbers = [x for pair in (*self.bounds(), (0.0, 0.0))[:2] for x in pair]
        return [packing.body(self.a.body), packing.body(self.b.body), self.rows], [*self.a.p, *self.b.p, *numbers]

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        apart, bodies = distance(self.a, self.b), (self.a.body, self.b.body)
        return [MeasuredRow(bound, sign, apart, bodies) for sign, bound in self.bounds()]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        length, G, bias = separated(kinematics, self.a, self.b)
        sign, bound = np.array(self.bounds()).T
        return Rows(sign * (length - bound), {body: sign[:, None] * row for body, row in G.items()}, {}, sign * bias)
