"""Dry friction rows: joint velocities as rows, for friction that is bounded by itself: v = 0 unless the effort reaches its bound.

    Ċ = v_d,   |multiplier| ≤ bound

It is what a solver with impulses makes of DryFriction; C itself means nothing. Tables: own integers: number of velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unibody.constraints.base import Constraint, Rows
from unibody.element import Kinematics, Packing
from unibody.kernel import Floats, Ints, kernel


@kernel
def fill_dry_friction_rows(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    for i in range(index.size // 4):
        row = index[4 * i]
        entry = index[4 * i + 2]
        n = index[4 * i + 3]
        for a in range(n):
            residual_out[row + a] = 0.0
            bias_out[row + a] = 0.0
            for b in range(n):
                J_out[entry + n * a + b] = 1.0 if a == b else 0.0


@dataclass(frozen=True)
class DryFrictionRows(Constraint):
    """Friction of at most `bounds` [N m or N] in the degrees of freedom `chosen` of `joint`.

    >>> DryFrictionRows("knee", (0,), (0.5,)).rows
    1
    """

    joint: str
    chosen: tuple[int, ...]
    bounds: tuple[float, ...]
    rows: int = field(default=0, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    nonholonomic = True
    fill_kernel = fill_dry_friction_rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", len(self.chosen))
        object.__setattr__(self, "units", ("rad",) * len(self.chosen))

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing: Packing) -> list[int]:
        start = packing.joint(self.joint).v_start
        return [start + d for d in self.chosen]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [len(self.chosen)], []

    def evaluate(self, kinematics: Kinematics) -> Rows:
        n = len(self.chosen)
        J = np.zeros((n, kinematics.names.joint(self.joint).nv))
        J[np.arange(n), list(self.chosen)] = 1.0
        return Rows(np.zeros(n), {}, {self.joint: J}, np.zeros(n))
