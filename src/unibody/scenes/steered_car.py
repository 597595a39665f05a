"""A car whose wheels cannot move sideways (knife edges): with Ackermann's angles all axles meet in one point, about which it turns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Cylinder, Placed
from unibody.spatial.pose import Pose

BASE, TRACK, WHEEL = 2.5, 1.4, 0.3
"""Wheelbase, track and radius of the wheels [m]."""


@dataclass(frozen=True)
class AckermannCircle:
    """The middle of the rear axle runs at a constant speed on a circle of radius L / tan δ about a point on the rear axle's line."""

    steer: float
    """δ of the wheel that would be in the middle [rad]; positive: to the left."""
    speed: float

    @property
    def radius(self) -> float:
        """Signed, positive to the left [m]."""
        return BASE / math.tan(self.steer) if self.steer else math.inf

    @property
    def rate(self) -> float:
        """Of the car's heading [rad/s]."""
        return self.speed / self.radius

    def wheel(self, y: float) -> float:
        """The angle of a front wheel y to the left of the middle: its axle points to the same centre."""
        return math.atan2(BASE, self.radius - y) if self.radius > 0.0 else -math.atan2(BASE, y - self.radius)

    def place(self, t: Any) -> tuple[Any, Any, Any]:
        """x, y and heading of the middle of the rear axle at time t; it starts at the origin towards +x."""
        t = np.asarray(t, dtype=float)
        if not self.steer:
            return self.speed * t, np.zeros_like(t), np.zeros_like(t)
        turn = self.rate * t
        return self.radius * np.sin(turn), self.radius * (1.0 - np.cos(turn)), turn


@scene("steered-car", summary="A car whose wheels are knife edges turns about the point where its axles meet (Ackermann)")
def steered_car(*, speed: float = 5.0, degrees: float = 20.0) -> Scene:
    """A car of 800 kg, wheelbase 2.5 m, track 1.4 m, coasts with `speed` [m/s] on a level plane; its front wheels (15 kg) are held at the
    angles whose middle is `degrees`, positive to the left. Knife edges at the rear axle and at both front wheels: three rows for two
    conditions, of which the redundant one shares the load."""
    import unibody as ub

    require("steered-car", abs(degrees) <= 45.0, f"degrees={degrees:g}; give −45 … 45")
    exact = AckermannCircle(math.radians(degrees), speed)
    b = ub.Builder()
    side = Pose.about((1, 0, 0), 0.5 * math.pi)
    low = [Placed(Box((3.6, 1.3, 0.35)), Pose(p=(0.5 * BASE, 0, 0.15))), Placed(Box((1.7, 1.2, 0.4)), Pose(p=(0.45 * BASE, 0, 0.5)))]
    rear = [Placed(Cylinder(WHEEL, 0.2), Pose((0, s * 0.5 * TRACK, 0), side.wxyz), (0.15, 0.15, 0.15)) for s in (-1, 1)]
    car = b.body("car", shape=[*low, *rear], mass=800.0)
    b.joint("road", ub.Planar(), b.world, car, X_PF=Pose(p=(0, 0, WHEEL)), v=(speed, 0, exact.rate))
    b.add(ub.KnifeEdge(car.at(), (0, 1, 0)), name="rear")
    for name, y in (("left", 0.5 * TRACK), ("right", -0.5 * TRACK)):
        wheel = b.body(name, shape=Placed(Cylinder(WHEEL, 0.2), side, (0.15, 0.15, 0.15)), mass=15.0)
        angle = exact.wheel(y)
        b.joint(f"{name}.steering", ub.Revolute(axis=(0, 0, 1)), car, wheel, X_PF=Pose(p=(BASE, y, 0)), q=angle)
        b.add(ub.PrescribedJoint(f"{name}.steering", angle), name=f"{name}.held")
        b.add(ub.KnifeEdge(wheel.at(), (0, 1, 0)), name=f"{name}.edge")
    duration = min(2.0 * math.pi / abs(exact.rate), 20.0) if exact.rate and speed else 2.0
    notes = "exact.place(t): one full turn on a circle of L / tan δ. Nothing does work; first-order steps gain 2 % of the energy a turn."
    return Scene(b.build(), duration=duration, dt=min(5e-3, 1e-2 * duration), exact=exact, notes=notes, solver="complementarity")
