"""Motor: an effort on one degree of freedom of a joint, given, or from a proportional–derivative law, or both.

    effort = feed-forward + kp (target − q) + kd (target_rate − v),   clamped to ±limit

A target that `control` holds for this motor (not NaN) replaces its own. The efforts are actuation: the model clamps the sum of a
joint's actuation to its effort limit and only then books the motors' power, so nothing is written to the ledger here.

Implicit terms are kd and kp while the law holds: not where it has reached the motor's own limit, nor where it has, with the effort that
`control` adds, reached the joint's. The targets' motion within a step stays explicit.

Tables: `index` per instance: q index (−1: none), v index, slots of `signals` for the feed-forward, target and target rate, place of
the motor's target in `control`. `parameters` per instance: kp, kd, limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from unibody.element import JointView, Kinematics, Packing, name_of, number
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.kernel import Floats, Ints, device, kernel

__all__ = ["Motor"]


@device
def asked_effort(index, parameters, signals, q, v, control, e):
    """The effort of motor e before it is clamped."""
    i = 6 * e
    target = control[index[i + 5]]
    if isnan(target):
        target = signals[index[i + 3]]
    target_rate = control[index[i + 5] + 1]
    if isnan(target_rate):
        target_rate = signals[index[i + 4]]
    effort = signals[index[i + 2]] + parameters[3 * e + 1] * (target_rate - v[index[i + 1]])
    if parameters[3 * e] > 0.0:
        effort += parameters[3 * e] * (target - q[index[i]])
    return effort


@kernel
def add_motors(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    actuation = effort_out.size // 2
    for e in range(index.size // 6):
        limit = parameters[3 * e + 2]
        effort_out[actuation + index[6 * e + 1]] += min(limit, max(-limit, asked_effort(index, parameters, signals, q, v, control, e)))


@kernel
def add_implicit_motors(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 6):
        j = index[6 * e + 1]
        kp = parameters[3 * e]
        kd = parameters[3 * e + 1]
        effort = asked_effort(index, parameters, signals, q, v, control, e)
        if abs(effort) <= parameters[3 * e + 2] and abs(effort + control[j]) <= limit[j]:
            diagonal_out[j] += h * kd + h * h * kp
            effort_out[j] -= h * kp * v[j]


@dataclass(frozen=True)
class Motor(Force):
    """`effort`, `target`, `target_rate`: numbers or functions of time, 0 when not given (a `target` too: a motor with `kp` alone
    drives its coordinate to 0, not to where it starts). `kp`, `kd` ≥ 0; `limit` [N m or N]; `dof` of the joint's degrees of
    freedom. `kp` needs a coordinate that counts along the degree of freedom; `effort` and `kd` work on every joint.

    `name` is filled in when the model is built, so that `control` finds the motor.

    >>> Motor("elbow", kp=40.0, kd=4.0, target=0.5, limit=10.0).joints()
    ['elbow']
    """

    joint: Any
    effort: Any = None
    kp: float = 0.0
    kd: float = 0.0
    target: Any = None
    target_rate: Any = None
    limit: float = float("inf")
    dof: int = 0
    name: str = ""

    add_kernel = add_motors
    implicit_kernel = add_implicit_motors

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "Motor joint"))
        for field in ("effort", "target", "target_rate"):
            value = getattr(self, field)
            if value is not None and not callable(value):
                object.__setattr__(self, field, number(value, f"Motor {field}"))
        object.__setattr__(self, "kp", number(self.kp, "Motor kp", minimum=0.0))
        object.__setattr__(self, "kd", number(self.kd, "Motor kd", minimum=0.0))
        object.__setattr__(self, "limit", number(self.limit, "Motor limit", minimum=0.0, infinite=True))
        if isinstance(self.dof, bool) or not isinstance(self.dof, int | np.integer) or self.dof < 0:
            raise ModelError(f"Motor on joint '{self.joint}': dof {self.dof!r} is not a degree of freedom; give 0, 1, ...")
        for field, gain in (("target", "kp"), ("target_rate", "kd")):
            if getattr(self, field) is not None and getattr(self, gain) == 0.0:
                raise ModelError(f"Motor on joint '{self.joint}': {field} without {gain} has no effect; give {gain} above 0")

    def joints(self) -> list[str]:
        return [self.joint]

    def started(self, packing: Packing, name: str) -> Motor:
        self._coordinate(packing.joint(self.joint))
        return replace(self, name=name)

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        coordinate = self._coordinate(joint)
        slots = [
            packing.signal(0.0 if value is None else value, f"Motor '{name}' {field}")
            for field, value in (("effort", self.effort), ("target", self.target), ("target_rate", self.target_rate))
        ]
        index = [-1 if coordinate is None else coordinate, joint.v_start + self.dof, *slots, packing.motor_target(name)]
        return index, [self.kp, self.kd, self.limit]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        effort = np.zeros(kinematics.names.joint(self.joint).nv)
        effort[self.dof] = np.clip(self._asked(kinematics), -self.limit, self.limit)
        loads.add_actuation(self.joint, effort)

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        return self._block(kinematics, -self.kp)

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        return self._block(kinematics, -self.kd)

    def _block(self, kinematics: Kinematics, slope: float) -> Blocks:
        """The slope of the law; zero where it is clamped."""
        nv = kinematics.names.joint(self.joint).nv
        block = np.zeros((nv, nv))
        if abs(self._asked(kinematics)) <= self.limit:
            block[self.dof, self.dof] = slope
        return {(self.joint, self.joint): block}

    def _asked(self, kinematics: Kinematics) -> float:
        """The effort before it is clamped."""
        effort, target, target_rate = (
            0.0 if x is None else float(x(kinematics.t)) if callable(x) else x for x in (self.effort, self.target, self.target_rate)
        )
        if self.name:
            slot = kinematics.names.motor_target(self.name)
            target = target if isnan(kinematics.control[slot]) else float(kinematics.control[slot])
            target_rate = target_rate if isnan(kinematics.control[slot + 1]) else float(kinematics.control[slot + 1])
        effort += self.kd * (target_rate - kinematics.joint_v(self.joint)[self.dof])
        if self.kp > 0.0:
            coordinate = self._coordinate(kinematics.names.joint(self.joint))
            effort += self.kp * (target - kinematics.q[coordinate])
        return float(effort)

    def _coordinate(self, joint: JointView) -> int | None:
        """The q index of the coordinate that counts along the degree of freedom, if any; refuses what cannot be driven."""
        if self.dof >= joint.nv:
            has = f"{joint.nv} degree{'' if joint.nv == 1 else 's'} of freedom"
            remedy = f"give 0 to {joint.nv - 1}" if joint.nv else "drive a joint that can move"
            raise ModelError(f"Motor on joint '{joint.name}': dof {self.dof} of a joint with {has}; {remedy}")
        coordinate = joint.scalar_dofs().get(int(self.dof))
        if coordinate is None and self.kp > 0.0:
            raise ModelError(
                f"Motor on joint '{joint.name}': kp = {self.kp:g} needs a scalar coordinate, and {type(joint.element).__name__} has none"
                f" for dof {self.dof}; use effort= (and kd=), or a TorsionSpring"
            )
        return coordinate
