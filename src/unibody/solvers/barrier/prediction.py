"""The time rule of a step: where everything would be if nothing held it (paper 003, Eq. 2–3).

    implicit Euler   x̃ = x + h v,                                  β = 1,     v⁺ = (x⁺ − x) / h
    BDF-2            x̃ = (4 x − x₋)/3 + 2 h/3 (4 v − v₋)/3,         β = 4/9,   v⁺ = 3/2 (x⁺ − (4 x − x₋)/3) / h

BDF-2 begins with a step of implicit Euler, and again where the step changes. Euler's velocities are means over a step: a first step begins
with v − h n/2, n the accelerations that keep bodies rigid and on their joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.coordinates.affine.rigid_view import RigidView
from unibody.model import State
from unibody.model.model import JointInfo
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.instant import InstantRow, bilateral_rows
from unibody.solvers.barrier.memory import LastStep
from unibody.solvers.barrier.normal_acceleration import normal_acceleration


@dataclass(frozen=True)
class StepBeginning:
    """What a step of length h begins with: the step before, x of all control points and their rates (flat), those of bodies among them."""

    state: State
    control: np.ndarray
    h: float
    last: LastStep
    x: np.ndarray
    speed: np.ndarray
    Q: np.ndarray
    V: np.ndarray


@dataclass
class Prediction:
    """Of a time rule (Eq. 2–3): x̃ of the unknowns (flat), x₀ of all control points (flat) from which velocity counts, β h², ∂v/∂x; where
    the step will end, to its order: Q and V of all bodies."""

    predicted: np.ndarray
    origin: np.ndarray
    factor: float
    rate: float
    second: bool
    ahead: tuple[np.ndarray, np.ndarray]
    later: np.ndarray | float
    """(unknowns,) What velocities at the end have beyond ∂v/∂x (x⁺ − x₀): before BDF-2, that from the middle of its first step on."""


class Predictor:
    """The rule on a system, "bdf2" or implicit Euler; `armed`: joints with rotors, whose inertia is no part of the bodies' masses."""

    def __init__(self, affine: AffineSystem, view: RigidView, armed: list[JointInfo], bdf2: bool):
        self._affine, self._view, self._armed, self._bdf2, self._n = affine, view, armed, bdf2, len(affine.moving)

    def predict(self, begun: StepBeginning, q_near: np.ndarray) -> Prediction:
        """Eq. 2, or Eq. 3 where the step before was as long."""
        a, h, last, t, own, vel, later = self._affine, begun.h, begun.last, begun.state.t, begun.state.q, begun.state.v, 0.0
        second = self._bdf2 and last.made and last.length == h
        if second:
            predicted, beta, rate = (4.0 * own - last.Q + 2.0 * h / 3.0 * (4.0 * vel - last.V)) / 3.0, 4.0 / 9.0, 1.5 / h
            origin = a.velocity_origin(t, h, (4.0 * own - last.Q) / 3.0, True, begun.x)
        else:
            # velocities that earlier steps of this length would have left; those of BDF-2 are not means over a step
            two = self._bdf2
            longer = h if two or not last.made else h - last.length
            bent = np.zeros(len(own))
            if longer:
                bent[: 12 * self._n] = self._normal_acceleration(t, h, begun.Q, begun.V, q_near).ravel()
            vel = vel - 0.5 * longer * bent
            later = 0.5 * h * bent if two else 0.0
            predicted, beta, rate, origin = own + h * vel, 1.0, 1.0 / h, begun.x.copy()
        ahead = begun.Q, begun.V
        if second or self._armed:  # forces without an energy where the step will end, to its order
            speed = 2.0 * vel - last.V if second else vel
            there = own + h * vel
            ends = a.everything(a.whole(there, t + h), there, t + h), a.rates_of_all(a.rates(speed, t + h), speed, t + h)
            ahead = a.bodies_of(ends[0]), a.bodies_of(ends[1])
        return Prediction(predicted, origin, beta * h * h, rate, second, ahead, later)

    def _normal_acceleration(self, t: float, h: float, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray) -> np.ndarray:
        """What keeps bodies rigid, on their joints and on constraints C = 0 at the beginning of a step. Rotors (armatures) are no part of
        the bodies' masses: with them it is not known, and 0."""
        if self._armed:
            return np.zeros((self._n, 4, 3))
        model = self._affine.model
        constraints: list[InstantRow] = []
        if any(not (c.unilateral or getattr(c, "surfaces", False)) for _, c in model.constraints):
            at = t, Q, V, q_near, self._affine.signals(t), model.neutral_control(), model.joints
            k = self._view.kinematics(*at)
            constraints = bilateral_rows(self._view, k)
        return normal_acceleration(self._affine, t, Q, V, h, constraints)

    def speeds_before(
        self, t: float, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, rule: Prediction, last: LastStep
    ) -> np.ndarray:
        """Joint velocities from which accelerations of the rule count."""
        a, armed, none = self._affine, self._armed, np.zeros(0)
        now = self._view.kinematics(t, Q, V, q_near, none, none, armed)
        if not rule.second:
            return now.v
        t_old = t - last.length
        old = self._view.kinematics(t_old, a.whole(last.Q, t_old), a.rates(last.V, t_old), now.q, none, none, armed)
        return (4.0 * now.v - old.v) / 3.0
