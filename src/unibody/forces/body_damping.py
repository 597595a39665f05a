"""BodyDamping: a drag on a body's twist.   F = −(d_ω ω, d_v v) for V_WB_B = (ω, v), body axes, at the body's origin.

Tables: `index` per instance: body. `parameters` per instance: d_ω, d_v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import DAMPER_POWER, Kinematics, Packing, name_of, number
from unibody.forces.base import Blocks, Force, Loads
from unibody.forces.implicit import OWN
from unibody.kernel import Floats, Ints, kernel

__all__ = ["BodyDamping"]

DIAGONAL = (0, 3, 5, 15, 18, 20)
"""Places of the diagonal in a body's own block."""


@kernel
def add_body_damping(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        at = 6 * index[e]
        for j in range(6):
            force = -parameters[2 * e + j // 3] * V[at + j]
            F_out[at + j] += force
            ledger_out[DAMPER_POWER] += force * V[at + j]


@kernel
def add_implicit_body_damping(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        at = OWN * index[e]
        for k in DIAGONAL:
            own_out[at + k] += h * parameters[2 * e + (1 if k > 5 else 0)]


@dataclass(frozen=True)
class BodyDamping(Force):
    """`angular` [N m s/rad] and `linear` [N s/m] drag on the body's motion through the world.

    >>> BodyDamping("fan", angular=0.1).bodies()
    ['fan']
    """

    body: Any
    angular: float = 0.0
    linear: float = 0.0

    add_kernel = add_body_damping
    implicit_kernel = add_implicit_body_damping

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", name_of(self.body, "BodyDamping body"))
        object.__setattr__(self, "angular", number(self.angular, "BodyDamping angular", minimum=0.0))
        object.__setattr__(self, "linear", number(self.linear, "BodyDamping linear", minimum=0.0))

    def bodies(self) -> list[str]:
        return [self.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(self.body)], [self.angular, self.linear]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        V = kinematics.twist(self.body)
        loads.add_wrench(self.body, -self.angular * V[:3], -self.linear * V[3:])
        loads.ledger[DAMPER_POWER] -= self.angular * (V[:3] @ V[:3]) + self.linear * (V[3:] @ V[3:])

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        return {(self.body, self.body): -np.diag([self.angular] * 3 + [self.linear] * 3)}
