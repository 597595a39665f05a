"""Functions of time: the values that elements take from `signals`, and the prescribed motion of kinematic bodies.

A kinematic body follows X_WB(t): a constant twist in world axes, p = p₀ + v t and R = exp([ω] t) R₀, or a function of time that gives a
pose, whose velocity and acceleration are differences (`unibody.spatial.motion`). Each such body owns DRIVE signals: X_FM, then the twist
and its rate in M's axes, with F the world and M the body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.errors import ModelError
from unibody.kernel import Floats, prototype
from unibody.model.model import BodyInfo, Model
from unibody.model.tables import CallbackErrors
from unibody.spatial.motion import POSE, differentiated_pose
from unibody.spatial.pose import rotation_from_vector

DRIVE = POSE


@prototype
def FillSignals(t: float, signals_out: Floats) -> None:
    """All signals at the time t."""


@dataclass
class Signals:
    """Start values and, for each kinematic body, where its drive stands."""

    values: np.ndarray
    drives: dict[int, int]


def drive(body: BodyInfo, t: float) -> np.ndarray:
    """X_WB, V_WB_B and its component derivative at time t."""
    if body.motion is None:
        spin, slide = np.array(body.V_WB[:3]), np.array(body.V_WB[3:])
        R = rotation_from_vector(spin * t) @ body.X_WB.R
        p = np.array(body.X_WB.p) + slide * t
        o, v = R.T @ spin, R.T @ slide
        return np.concatenate([R.ravel(), p, o, v, np.zeros(3), -np.cross(o, v)])
    return differentiated_pose(body.motion, t, f"body '{body.name}'")


def signal_function(
    model: Model, callback_errors: CallbackErrors, clock: np.ndarray
) -> tuple[Signals, Callable[[float, np.ndarray], None] | None]:
    """Where signals start, and the function that fills them at a time, which also sets the clock (None if nothing depends on time)."""
    driven = [(i, b) for i, b in enumerate(model.bodies) if b.kind == "kinematic"]
    start = model.signals.size
    drives = {i: start + DRIVE * k for k, (i, _) in enumerate(driven)}
    values = np.concatenate([model.signals, *(drive(b, 0.0) for _, b in driven)])

    def fill(t: float, signals: np.ndarray) -> None:
        clock[0] = t
        signals[:start] = model.signals  # constants too: an earlier failure has left NaN there
        for slot, count, function, what in model.signal_functions:
            callback_errors.element = what
            values = np.asarray(function(t), float)
            if values.size != count:
                raise ModelError(f"{what}: shape {values.shape} at t = {t:g}; it must give {count} numbers")
            if not np.isfinite(values).all():
                raise ModelError(f"{what}: {values.tolist()} at t = {t:g}; functions of time must be finite")
            signals[slot : slot + count] = values.ravel()
        for i, body in driven:
            callback_errors.element = body.name
            signals[drives[i] : drives[i] + DRIVE] = drive(body, t)

    # NumPy methods are told the time
    asked = any(type(force).add_kernel is None for _, force in model.forces)
    rows = [c for _, c in model.constraints if not getattr(c, "surfaces", False)]
    asked = asked or any(type(constraint).fill_kernel is None for constraint in rows)
    timed = bool(model.signal_functions or driven or asked)
    return Signals(values, drives), fill if timed else None


def signal_filler(model: Model, callback_errors: CallbackErrors, clock: np.ndarray) -> tuple[Signals, int]:
    """Where signals start, and the address of what updates them (0 if nothing depends on time)."""
    signals, fill = signal_function(model, callback_errors, clock)
    return signals, 0 if fill is None else FillSignals.callback(callback_errors.guard(fill, 1))
