"""`Report` and `Observation`: what is said of a step, and what is derived at a state."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Report:
    """What happened in a step; never printed by itself.

    `violation` is the largest constraint violation [m or rad]; `redundant` counts constraint rows that repeat others, `redundant_names` the elements they
    belong to; `notes` say what ran through Python callbacks; `energies` in J, `seconds` of wall-clock time.
    """

    status: str = "ok"
    time: float = 0.0
    iterations: int = 0
    residual: float = 0.0
    violation: float = 0.0
    minimum_distance: float = float("inf")
    redundant: int = 0
    redundant_names: tuple[str, ...] = ()
    element: str | None = None
    energies: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass
class Observation:
    """Everything derived at one state. Arrays run over bodies (the world first) or joints, in the model's order."""

    time: float
    poses: np.ndarray
    """(bodies, 7): p_WB then wxyz."""
    twists: np.ndarray
    """(bodies, 6): angular then linear, world axes, at the body's origin."""
    joint_q: np.ndarray
    joint_v: np.ndarray
    kinetic: float
    gravity: float
    springs: float
    powers: np.ndarray
    """(3,): of dampers, motors, applied wrenches, on the bodies [W]."""
    reactions: np.ndarray
    """(joints, 6): torque then force on the child at M, world axes: the whole wrench."""
    constraint_wrenches: np.ndarray
    """(joints, 6): the part of it that does no work."""
    violation: float
    redundant: int
    redundant_names: tuple[str, ...]
    accelerations: np.ndarray
    work: np.ndarray = field(default_factory=lambda: np.zeros(3))
