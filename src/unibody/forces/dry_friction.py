"""DryFriction: Coulomb's friction in the degrees of freedom of a joint, made smooth below a slip speed s.

    effort = −b tanh(v / s),      power = −b v tanh(v / s) ≤ 0

Above a few s it is ±b against the motion, whatever the speed. Below, it is a stiff damper of b/s: what Coulomb would hold still creeps,
under a load e < b, at the speed s artanh(e / b), about s e / b. It stores nothing, so a joint does not spring back.

Implicit methods take the chord from rest, D = −(b / v) tanh(v / s), and not the slope, which is almost nothing above s: then a step of the
linearly implicit rule, v⁺ = v / (1 + h |D| / I) for an inertia I, never overshoots rest, at any h, and fully implicit ones converge. Where
it sticks the two are the same. An explicit method wants h < 2 I s / b; above it v is not driven to 0 but flutters by about h b / I (it
cannot grow, because the effort is bounded): enlarge s.

Tables, one row per degree of freedom: `index`: v index. `parameters`: b, s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from typing import Any

import numpy as np

from unibody.element import DAMPER_POWER, JointView, Kinematics, Packing, name_of, number, several
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.kernel import Floats, Ints, device, kernel

__all__ = ["DryFriction"]

SLIP_SPEED = 1e-3
"""[rad/s or m/s]"""


@device
def mean_slope(x):
    """tanh(x) / x."""
    if abs(x) < 1e-4:
        return 1.0 - x * x / 3.0
    return tanh(x) / x


@kernel
def add_dry_friction(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        speed = v[index[e]]
        effort = -parameters[2 * e] * tanh(speed / parameters[2 * e + 1])
        effort_out[index[e]] += effort
        ledger_out[DAMPER_POWER] += effort * speed


@kernel
def add_implicit_dry_friction(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        s = parameters[2 * e + 1]
        diagonal_out[index[e]] += h * parameters[2 * e] / s * mean_slope(v[index[e]] / s)


@dataclass(frozen=True)
class DryFriction(Force):
    """`bound` [N m or N]: the friction when sliding, a number or one per degree of freedom; `slip_speed` [rad/s or m/s]; `dof`: one degree
    of freedom only (None: all). On a Ball or a Free joint it acts on each component of the velocity by itself.

    >>> DryFriction("elbow", bound=0.4).joints()
    ['elbow']
    """

    joint: Any
    bound: Any
    slip_speed: float = SLIP_SPEED
    dof: int | None = None

    add_kernel = add_dry_friction
    implicit_kernel = add_implicit_dry_friction

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "DryFriction joint"))
        values = [number(x, f"{self._title()} bound", minimum=0.0) for x in (self.bound if several(self.bound) else [self.bound])]
        object.__setattr__(self, "bound", tuple(values) if np.ndim(self.bound) else values[0])
        object.__setattr__(self, "slip_speed", number(self.slip_speed, f"{self._title()} slip_speed", positive=True))
        if self.dof is None:
            return
        if isinstance(self.dof, bool) or not isinstance(self.dof, int | np.integer) or self.dof < 0:
            raise ModelError(f"{self._title()} dof {self.dof!r} is not a degree of freedom; give None, 0, 1, ...")
        if isinstance(self.bound, tuple):
            raise ModelError(f"{self._title()} bound {self.bound} for the one dof {self.dof}; give one number")

    def joints(self) -> list[str]:
        return [self.joint]

    def started(self, packing: Packing, name: str) -> DryFriction:
        self.bounds_on(packing.joint(self.joint))
        return self

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        bounds = self.bounds_on(joint)
        bounded = [d for d in range(joint.nv) if bounds[d] > 0.0]
        return [joint.v_start + d for d in bounded], [x for d in bounded for x in (float(bounds[d]), self.slip_speed)]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        v = kinematics.joint_v(self.joint)
        effort = -self.bounds_on(kinematics.names.joint(self.joint)) * np.tanh(v / self.slip_speed)
        loads.add_effort(self.joint, effort)
        loads.ledger[DAMPER_POWER] += float(effort @ v)

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        """The chord, not the slope: see the head of this file."""
        x = kinematics.joint_v(self.joint) / self.slip_speed
        slope = self.bounds_on(kinematics.names.joint(self.joint)) / self.slip_speed * np.array([mean_slope(float(y)) for y in x])
        return {(self.joint, self.joint): -np.diag(slope)}

    def _title(self) -> str:
        return f"DryFriction on joint '{self.joint}':"

    def bounds_on(self, joint: JointView) -> np.ndarray:
        """The friction of every degree of freedom; refuses what the joint does not have."""
        if joint.nv == 0:
            raise ModelError(f"{self._title()} the joint cannot move; leave the friction out")
        if self.dof is not None:
            if self.dof >= joint.nv:
                raise ModelError(f"{self._title()} dof {self.dof} of a joint with {joint.nv} degrees of freedom; give a smaller one")
            return np.where(np.arange(joint.nv) == self.dof, self.bound, 0.0)
        if np.ndim(self.bound) and len(self.bound) != joint.nv:
            raise ModelError(f"{self._title()} {len(self.bound)} bounds for {joint.nv} degrees of freedom; give one number or {joint.nv}")
        return np.broadcast_to(np.asarray(self.bound, float), joint.nv)
