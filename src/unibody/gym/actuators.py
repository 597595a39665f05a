"""What an action drives: efforts of joints, and targets of motors.

A joint gives one number per degree of freedom, an effort [N m or N] within its effort limit. A motor with kp takes a target position within
the joint's limits (without any: ±π rad or ±1 m), one with kd alone a target rate, one with neither an effort within its own limit. Where no
bound is known, `limit` is. Where none is named, a `Free` joint gives nothing: it carries a floating base, on which no motor acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from unibody.constraints import JointLimit
from unibody.constraints.joint_coordinates import unit_of
from unibody.errors import ModelError
from unibody.forces import Motor
from unibody.joints import Free
from unibody.model import Model
from unibody.model.model import with_parts


class Actuator(NamedTuple):
    """One number of an action: its name, where `Control.flat` takes it, and its bounds."""

    name: str
    place: int
    low: float
    high: float


def actuators_of(model: Model, chosen: Sequence[Any] | None, limit: float) -> list[Actuator]:
    """The actuators of joints and motors named, or given as handles or elements; None: all motors, or without any all joints but those of
    floating bases."""
    motors = {name: force for name, force in model.forces if isinstance(force, Motor)}
    joints = with_parts(model.joints)
    if chosen is None:
        chosen = list(motors) or [j.name for j in model.tree_joints if not j.implicit and j.nv and not isinstance(j.element, Free)]
    out: list[Actuator] = []
    for given in chosen:
        name = getattr(given, "name", given)
        if name in motors:
            out.append(_motor(model, name, motors[name], limit))
        elif name in joints:
            out += _joint(model, name, limit)
        else:
            known = [*motors, *(name for name, j in joints.items() if j.nv)]
            raise ModelError(f"make_env: actuator '{name}' is neither a motor nor a joint; give some of {', '.join(known[:12]) or 'none'}")
    if not out:
        raise ModelError("make_env: there is nothing to actuate, neither a motor nor a joint but those of floating bases; give actuators=")
    return out


def _joint(model: Model, name: str, limit: float) -> list[Actuator]:
    joint = model.joint(name)
    bounds = [float(x) if np.isfinite(x) else limit for x in joint.effort_limit]
    return [Actuator(name if joint.nv == 1 else f"{name}.{k}", joint.v_start + k, -b, b) for k, b in enumerate(bounds)]


def _motor(model: Model, name: str, motor: Motor, limit: float) -> Actuator:
    place = model.motor_targets[name]
    if motor.kp > 0.0:
        return Actuator(name, place, *_reach(model, motor))
    if motor.kd > 0.0:
        return Actuator(name, place + 1, -limit, limit)
    bound = motor.limit if np.isfinite(motor.limit) else limit
    return Actuator(name, model.joint(motor.joint).v_start + motor.dof, -bound, bound)


def _reach(model: Model, motor: Motor) -> tuple[float, float]:
    """The joint's limits, where it has some."""
    joint = model.joint(motor.joint)
    widest = np.pi if unit_of(joint, motor.dof) == "rad" else 1.0
    low, high = -widest, widest
    for _, element in model.constraints:
        if isinstance(element, JointLimit) and element.joint == motor.joint and np.ndim(element.lower) and element.dof is not None:
            dofs = list(np.atleast_1d(element.dof))
            if motor.dof in dofs:
                k = dofs.index(motor.dof)
                low = element.lower[k] if np.isfinite(element.lower[k]) else low
                high = element.upper[k] if np.isfinite(element.upper[k]) else high
    return float(low), float(high)
