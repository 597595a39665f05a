"""PrescribedJoint: joint coordinates follow a motion over time, whatever effort that takes.

    C = q − m(t),   J = 1,   drift = −ṁ,   bias = −m̈

The multiplier is the effort [N m or N] that the drive gives.

Tables: own integers: number of coordinates n, first slot of `signals` (m, ṁ, m̈: n each), n q indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, signal_motion
from unibody.constraints.joint_coordinates import chosen_dofs, place_of, unit_of
from unibody.element import Kinematics, Packing, name_of
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.motion import Track, checked_motion, vector_track

__all__ = ["PrescribedJoint"]


@kernel
def fill_prescribed_joints(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    while i < index.size:
        row = index[i]
        entry = index[i + 2]
        n = index[i + 3]
        at = index[i + 4]
        for k in range(n):
            residual_out[row + k] = q[index[i + 5 + k]] - signals[at + k]
            drift_out[row + k] = -signals[at + n + k]
            bias_out[row + k] = -signals[at + 2 * n + k]
            for j in range(n):
                J_out[entry + n * k + j] = 1.0 if j == k else 0.0
        i += 5 + n


@dataclass(frozen=True)
class PrescribedJoint(Constraint):
    """The coordinates of `joint` follow `motion`: a function of time, a table (times, values) or a constant; a float, or one number per
    degree of freedom. `dof`: None all of them, or which. `rate` and `acceleration`: functions of time, else by differences.

    >>> PrescribedJoint("elbow", lambda t: 0.3 * t).joints()
    ['elbow']
    """

    joint: Any
    motion: Any
    dof: Any = None
    rate: Any = None
    acceleration: Any = None
    rows: int = field(default=1, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("rad",), init=False, repr=False, compare=False)

    fill_kernel = fill_prescribed_joints

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "PrescribedJoint joint"))
        what = f"PrescribedJoint on joint '{self.joint}'"
        object.__setattr__(self, "motion", checked_motion(self.motion, self.rate, self.acceleration, what))

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing: Packing) -> list[int]:
        first = packing.joint(self.joint).v_start
        return [first + d for d in self._chosen(packing)]

    def started(self, packing: Packing, name: str) -> PrescribedJoint:
        joint = packing.joint(self.joint)
        dofs = self._chosen(packing)
        self._places(packing)
        out = replace(self, dof=dofs)
        object.__setattr__(out, "rows", len(dofs))
        object.__setattr__(out, "units", tuple(unit_of(joint, d) for d in dofs))
        return out

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        places = self._places(packing)
        what = f"PrescribedJoint '{name}'"
        slot = signal_motion(packing, self.motion, self._track(len(places), what), 3 * len(places), what)
        return [len(places), slot, *places], []

    def evaluate(self, kinematics: Kinematics) -> Rows:
        places = self._places(kinematics.names)
        n = len(places)
        m = self._track(n, f"PrescribedJoint on joint '{self.joint}'")(kinematics.t)
        J = np.zeros((n, kinematics.names.joint(self.joint).nv))
        J[range(n), self._chosen(kinematics.names)] = 1.0
        return Rows(kinematics.q[places] - m[:n], {}, {self.joint: J}, -m[2 * n :], -m[n : 2 * n])

    def _track(self, count: int, what: str) -> Track:
        return vector_track(self.motion, count, what, self.rate, self.acceleration)

    def _chosen(self, packing: Packing) -> tuple[int, ...]:
        return chosen_dofs(packing.joint(self.joint), self.dof, "PrescribedJoint")

    def _places(self, packing: Packing) -> list[int]:
        return [place_of(packing, (self.joint, d), "PrescribedJoint") for d in self._chosen(packing)]
