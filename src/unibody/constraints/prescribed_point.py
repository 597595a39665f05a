"""PrescribedPoint: world components of a body's point follow a motion over time.

    C_k = e_k·(x − m(t)),   G = e_kᵀ R Γ,   drift = −e_k·ṁ,   bias = e_k·(R (ω × Γ V) − m̈)

The multiplier is the force [N] on the body at the point, along the world axes chosen.

Tables: own integers: body, number of axes n, first slot of `signals` (m, ṁ, m̈: 3 each), n axes. Own parameters: p (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unibody.constraints.base import Constraint, Rows, chosen_numbers, fill_point_block, moving_point, point_bias, point_map, signal_motion
from unibody.element import Kinematics, Packing, Point, point_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3
from unibody.spatial.motion import Track, checked_motion, vector_track

__all__ = ["PrescribedPoint"]


@kernel
def fill_prescribed_points(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        row = index[i]
        body = index[i + 3]
        n = index[i + 4]
        at = index[i + 5]
        p = load3(parameters, f)
        x, _, bias = moving_point(X, V, body, p)
        for k in range(n):
            e = index[i + 6 + k]
            axis = (1.0 if e == 0 else 0.0, 1.0 if e == 1 else 0.0, 1.0 if e == 2 else 0.0)
            residual_out[row + k] = x[e] - signals[at + e]
            drift_out[row + k] = -signals[at + 3 + e]
            bias_out[row + k] = bias[e] - signals[at + 6 + e]
            fill_point_block(X, body, p, axis, index[i + 1] + k, G_out)
        i += 6 + n
        f += 3


@dataclass(frozen=True)
class PrescribedPoint(Constraint):
    """`point` follows `motion` [m] in the world: a function of time that gives three numbers, a table (times, positions), or a place.
    `axes`: which world components are held. `rate` and `acceleration`: functions of time, else by differences.

    >>> PrescribedPoint(Point("hand"), lambda t: (t, 0, 0), axes=(0, 2)).rows
    2
    """

    point: Point
    motion: Any
    axes: Any = (0, 1, 2)
    rate: Any = None
    acceleration: Any = None
    rows: int = field(default=3, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("m", "m", "m"), init=False, repr=False, compare=False)

    fill_kernel = fill_prescribed_points

    def __post_init__(self) -> None:
        if point_of(self.point, "PrescribedPoint point").body == "world":
            raise ModelError("PrescribedPoint: a point of the world does not move; give a point of another body")
        what = f"PrescribedPoint on body '{self.point.body}'"
        axes = chosen_numbers(self.axes, 3, f"{what} axes")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "rows", len(axes))
        object.__setattr__(self, "units", ("m",) * len(axes))
        object.__setattr__(self, "motion", checked_motion(self.motion, self.rate, self.acceleration, what))

    def bodies(self) -> list[str]:
        return [self.point.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        what = f"PrescribedPoint '{name}'"
        slot = signal_motion(packing, self.motion, self._track(what), 9, what)
        return [packing.body(self.point.body), len(self.axes), slot, *self.axes], self.point.p

    def evaluate(self, kinematics: Kinematics) -> Rows:
        m = self._track(f"PrescribedPoint on body '{self.point.body}'")(kinematics.t).reshape(3, 3)
        chosen = list(self.axes)
        G = {self.point.body: point_map(kinematics, self.point)[chosen]}
        bias = point_bias(kinematics, self.point) - m[2]
        return Rows((kinematics.position(self.point) - m[0])[chosen], G, {}, bias[chosen], -m[1][chosen])

    def _track(self, what: str) -> Track:
        return vector_track(self.motion, 3, what, self.rate, self.acceleration)
