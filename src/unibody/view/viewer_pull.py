"""Pulling a body by hand: a spring and a damper from a point of it to the pointer, as a wrench that every solver takes.

    f = k (x_target − x) − c ẋ,        τ = (x − p) × f − d I ω   about the body's origin p

The force is held for a time h (a step or a few), so it is as stable as explicit things are. With the point's effective mass as the
body alone has it, 1/m_e = 1/m + λ_max([r]ᵀ I⁻¹ [r]), r from the centre of mass to the point, which joints and neighbours only increase,

    k = min(s m ω², m_e (½ / dt)²),   ω = 2π · 2 Hz,      c = 2 √(k m_e),      h ≈ ¼ √(m_e / k)   and at least one step

and d, by which a body stops spinning about the hand, is a few per second and at most ½ / dt.
A body that hardly resists turning about its centre of mass (a point mass) is taken at that centre instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.errors import ModelError
from unibody.model import Model
from unibody.model.model import BodyInfo
from unibody.spatial.pose import rotation_from_quaternion, skew

FREQUENCY = 2.0
"""Of a body that hangs on the hand alone [Hz]."""
LONGEST_HOLD = 1.0 / 60.0
"""How long one force may be held [s]."""
CALM = 6.0
"""How fast a held body stops spinning [1/s]."""
LIGHTEST = 0.05
"""Part of a body's mass; a point with a smaller effective one is not held."""


@dataclass
class MousePull:
    """A hand that holds the point `p` (body coordinates) of a body and goes to `target` (world)."""

    model: Model
    body: int
    p: np.ndarray
    target: np.ndarray
    strength: float = 1.0
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """From the pointer to the held point when the body was grabbed."""

    @staticmethod
    def grab(model: Model, seen: Observation, body: int, at: Any, strength: float = 1.0) -> MousePull:
        """Take a body at a place of the world."""
        info = model.bodies[body]
        if info.kind != "dynamic":
            raise ModelError(f"body '{info.name}' cannot be pulled: it is {info.kind}; take one that moves freely")
        place = np.asarray(at, float)
        R, origin = rotation_from_quaternion(seen.poses[body, 3:]), seen.poses[body, :3]
        p = R.T @ (place - origin)
        if _effective_mass(info, p) < LIGHTEST * info.mass:
            p = np.array(info.com)
        held = origin + R @ p
        return MousePull(model, body, p, held, strength, held - place)

    def __post_init__(self) -> None:
        self._mass = self.model.bodies[self.body].mass
        self._effective = _effective_mass(self.model.bodies[self.body], self.p)

    def move(self, pointer: Any) -> None:
        """The pointer has gone to another place of the world."""
        self.target = np.asarray(pointer, float) + self.shift

    def spring(self, dt: float) -> tuple[float, float]:
        """k [N/m] and c [N s/m] for steps of dt."""
        k = min(self.strength * self._mass * (2.0 * pi * FREQUENCY) ** 2, self._effective * (0.5 / dt) ** 2)
        return k, 2.0 * sqrt(k * self._effective)

    def steps_held(self, dt: float) -> int:
        """How many steps of dt may pass before the force must be looked at again."""
        k, _ = self.spring(dt)
        return max(1, int(min(LONGEST_HOLD, 0.25 * sqrt(self._effective / k)) / dt))

    def point(self, seen: Observation) -> np.ndarray:
        """Where the held point is in the world."""
        pose = seen.poses[self.body]
        return pose[:3] + rotation_from_quaternion(pose[3:]) @ self.p

    def wrench(self, seen: Observation, dt: float) -> np.ndarray:
        """(6,) torque then force on the body, world axes, at its origin; in a planar world only what stays in the plane."""
        x, twist = self.point(seen), seen.twists[self.body]
        arm = x - seen.poses[self.body, :3]
        k, c = self.spring(dt)
        force = k * (self.target - x) - c * (twist[3:] + np.cross(twist[:3], arm))
        if self.model.plane is not None:
            n = self.model.plane[2]
            force = force - n * (n @ force)
        torque = np.cross(arm, force) - self._spin_brake(seen, dt)
        if self.model.plane is not None:
            torque = n * (n @ torque)
        return np.concatenate([torque, force])

    def _spin_brake(self, seen: Observation, dt: float) -> np.ndarray:
        R = rotation_from_quaternion(seen.poses[self.body, 3:])
        return min(CALM, 0.5 / dt) * (R @ self.model.bodies[self.body].inertia @ R.T @ seen.twists[self.body, :3])


def _effective_mass(info: BodyInfo, p: np.ndarray) -> float:
    """m_e [kg] of a point of a body that is free: the least over all directions."""
    lever = skew(p - info.com)
    reach = float(np.abs(lever).max())
    principal = np.linalg.eigvalsh(info.inertia)
    if principal[0] <= 1e-9 * info.mass * reach**2:
        return info.mass if reach == 0.0 else 0.0
    mobility = float(np.linalg.eigvalsh(lever.T @ np.linalg.solve(info.inertia, lever))[-1])
    return 1.0 / (1.0 / info.mass + max(0.0, mobility))
