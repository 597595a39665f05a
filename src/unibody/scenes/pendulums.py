"""Pendulums: simple, double and conical."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE, add_body, pendulum_body


@dataclass(frozen=True)
class PendulumSolution:
    """θ̈ = −w² sin θ, solved by Jacobi's elliptic functions, θ counted from the stable equilibrium.

    With k² = sin²(θ₀/2) + θ̇₀²/(4w²):
    swinging (k < 1):  sin(θ/2) = k sn(w t + u₀, k),  θ̇ = 2 k w cn
    turning (k ≥ 1):   θ/2 = am(k w t + u₀, 1/k),     θ̇ = 2 k w dn       (mirrored when θ̇₀ < 0)
    """

    w: float
    """√(m g d / I) of small swings, I about the pivot [rad/s]."""
    theta0: float
    rate0: float = 0.0

    @property
    def k(self) -> float:
        """Modulus: below 1 it swings, above it turns over."""
        return math.hypot(math.sin(0.5 * self.theta0), 0.5 * self.rate0 / self.w)

    @property
    def period(self) -> float:
        """Of a swing, or of a revolution when it turns over [s]."""
        from scipy.special import ellipk

        k = self.k
        if k < 1.0:
            return float(4.0 * ellipk(k * k) / self.w)
        return float(2.0 * ellipk(1.0 / (k * k)) / (k * self.w))

    def angle(self, t: np.ndarray) -> np.ndarray:
        """θ(t) [rad], counting turns."""
        return self._evaluate(t)[0]

    def rate(self, t: np.ndarray) -> np.ndarray:
        """θ̇(t) [rad/s]."""
        return self._evaluate(t)[1]

    def acceleration(self, t: np.ndarray) -> np.ndarray:
        """θ̈(t) [rad/s²]."""
        return -(self.w**2) * np.sin(self.angle(t))

    def _evaluate(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from scipy.special import ellipj, ellipk, ellipkinc

        t, k, w = np.asarray(t, dtype=float), self.k, self.w
        if k == 0.0:
            return np.zeros_like(t) + self.theta0, np.zeros_like(t)
        if k < 1.0:
            # Whole turns of the start are kept apart: sin(θ/2) changes sign with each.
            turns = round(self.theta0 / (2.0 * math.pi))
            start = self.theta0 - 2.0 * math.pi * turns
            u0 = ellipkinc(math.atan2(math.sin(0.5 * start) / k, 0.5 * self.rate0 / (k * w)), k * k)
            sn, cn, _, _ = ellipj(w * t + u0, k * k)
            return 2.0 * np.arcsin(k * sn) + 2.0 * math.pi * turns, 2.0 * k * w * cn
        sign, m = math.copysign(1.0, self.rate0), 1.0 / (k * k)
        u = k * w * t + ellipkinc(0.5 * sign * self.theta0, m)
        half_turns = np.round(u / (2.0 * ellipk(m))) if m < 1.0 else np.zeros_like(u)
        _, _, dn, amplitude = ellipj(u - 2.0 * half_turns * ellipk(m) if m < 1.0 else u, m)
        return 2.0 * sign * (amplitude + math.pi * half_turns), 2.0 * sign * k * w * dn


@dataclass(frozen=True)
class HungPendulum(PendulumSolution):
    """A pendulum on a hinge at the origin, with the force on it."""

    mass: float = 1.0
    lever: float = 1.0
    """Pivot to centre of mass [m]."""
    gravity: float = 9.81

    def com(self, t: np.ndarray) -> np.ndarray:
        """Centre of mass, (…, 3) [m]."""
        theta = self.angle(t)
        return self.lever * np.stack([np.sin(theta), np.zeros_like(theta), -np.cos(theta)], axis=-1)

    def reaction(self, t: np.ndarray) -> np.ndarray:
        """Force of the pivot on the pendulum, world axes, (…, 3) [N]: m (c̈ − g)."""
        theta, rate = self._evaluate(t)
        along = np.stack([np.cos(theta), np.zeros_like(theta), np.sin(theta)], axis=-1)
        inward = np.stack([-np.sin(theta), np.zeros_like(theta), np.cos(theta)], axis=-1)
        c_ddot = self.lever * (self.acceleration(t)[..., None] * along + (rate * rate)[..., None] * inward)
        return self.mass * (c_ddot + np.array([0.0, 0.0, self.gravity]))


@scene("pendulum", summary="a pendulum on a hinge: point mass or slender rod, exact by elliptic functions")
def pendulum(
    *,
    kind: Literal["point", "rod"] = "point",
    angle: float = 0.5 * math.pi,
    rate: float = 0.0,
    length: float = 1.0,
    mass: float = 1.0,
    gravity: float = 9.81,
    planar: bool = False,
) -> Scene:
    """`angle` counts from hanging down, counter-clockwise. The defaults are IFToMM benchmark A01."""
    import unibody as ub

    require("pendulum", length > 0 and gravity > 0, f"length={length}, gravity={gravity} must be positive")
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    shapes, properties = pendulum_body(kind, length, mass)
    bob = add_body(b, "bob", shapes, properties)
    b.joint("pivot", ub.Revolute(axis=HINGE), parent=b.world, child=bob, q=angle, v=rate)
    lever = -properties.com[2]
    w = math.sqrt(mass * gravity * lever / properties.about((0, 0, 0))[1, 1])
    exact = HungPendulum(w, angle, rate, mass=mass, lever=lever, gravity=gravity)
    return Scene(b.build(), 10.0, 1e-3, exact, "The angle of joint 'pivot' is exact.angle(t); energy is constant.")


@dataclass(frozen=True)
class DoublePendulum:
    """Lagrange's equations of two point masses on massless rods; angles from hanging down, both absolute."""

    masses: tuple[float, float]
    lengths: tuple[float, float]
    gravity: float
    angles: tuple[float, float]
    rates: tuple[float, float]

    def acceleration(self, angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """(θ̈₁, θ̈₂) [rad/s²]."""
        (m1, m2), (l1, l2), g = self.masses, self.lengths, self.gravity
        c, s = math.cos(angles[0] - angles[1]), math.sin(angles[0] - angles[1])
        M = np.array([[(m1 + m2) * l1 * l1, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2 * l2]])
        f = [
            -m2 * l1 * l2 * s * rates[1] ** 2 - (m1 + m2) * g * l1 * math.sin(angles[0]),
            m2 * l1 * l2 * s * rates[0] ** 2 - m2 * g * l2 * math.sin(angles[1]),
        ]
        return np.linalg.solve(M, f)

    def energy(self, angles: np.ndarray, rates: np.ndarray) -> float:
        """[J], zero potential at the height of the pivot."""
        (m1, m2), (l1, l2), g = self.masses, self.lengths, self.gravity
        v1 = l1 * rates[0] * np.array([math.cos(angles[0]), math.sin(angles[0])])
        v2 = v1 + l2 * rates[1] * np.array([math.cos(angles[1]), math.sin(angles[1])])
        height1 = -l1 * math.cos(angles[0])
        height2 = height1 - l2 * math.cos(angles[1])
        return 0.5 * m1 * v1 @ v1 + 0.5 * m2 * v2 @ v2 + g * (m1 * height1 + m2 * height2)

    def solve(self, t: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """(θ₁, θ₂, θ̇₁, θ̇₂) at the times t ≥ 0 (ascending), (T, 4)."""
        from scipy.integrate import solve_ivp

        t = np.atleast_1d(np.asarray(t, dtype=float))
        result = solve_ivp(
            lambda _, y: np.concatenate([y[2:], self.acceleration(y[:2], y[2:])]),
            (0.0, float(t[-1]) or 1e-9),
            (*self.angles, *self.rates),
            method="DOP853",
            t_eval=t,
            rtol=tolerance,
            atol=tolerance,
        )
        return result.y.T


@scene("double-pendulum", summary="two point masses on massless rods, chaotic when released high")
def double_pendulum(
    *,
    angle1: float = 0.5 * math.pi,
    angle2: float = 0.5 * math.pi,
    rate1: float = 0.0,
    rate2: float = 0.0,
    length1: float = 1.0,
    length2: float = 1.0,
    mass1: float = 1.0,
    mass2: float = 1.0,
    gravity: float = 9.81,
    planar: bool = False,
) -> Scene:
    """Angles and rates are absolute, from hanging down; the elbow's coordinate is their difference."""
    import unibody as ub

    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    upper = add_body(b, "upper", *pendulum_body("point", length1, mass1))
    lower = add_body(b, "lower", *pendulum_body("point", length2, mass2))
    hinge = ub.Revolute(axis=HINGE)
    b.joint("shoulder", hinge, parent=b.world, child=upper, q=angle1, v=rate1)
    b.joint("elbow", hinge, parent=upper, child=lower, X_PF=ub.Pose(p=(0, 0, -length1)), q=angle2 - angle1, v=rate2 - rate1)
    exact = DoublePendulum((mass1, mass2), (length1, length2), gravity, (angle1, angle2), (rate1, rate2))
    return Scene(b.build(), 10.0, 1e-3, exact, "The reference is a tight integration; neighbouring starts part within seconds.")


@dataclass(frozen=True)
class SteadyTurn:
    """A rigid body turning about the vertical through the origin at a constant rate, as if frozen."""

    omega: float
    """About z [rad/s]."""
    com0: np.ndarray
    """Centre of mass at t = 0 [m], (3,)."""

    @property
    def period(self) -> float:
        return 2.0 * math.pi / abs(self.omega)

    def com(self, t: np.ndarray) -> np.ndarray:
        """Centre of mass, (…, 3) [m]."""
        phase = self.omega * np.asarray(t, dtype=float)
        x, y, z = self.com0
        c, s = np.cos(phase), np.sin(phase)
        return np.stack([c * x - s * y, s * x + c * y, np.full_like(phase, z)], axis=-1)


@scene("conical-pendulum", summary="a pendulum on a ball joint, circling at constant height")
def conical_pendulum(
    *,
    kind: Literal["point", "rod"] = "point",
    angle: float = math.pi / 6.0,
    length: float = 1.0,
    mass: float = 1.0,
    gravity: float = 9.81,
) -> Scene:
    """The body turns as a whole: ω² = m g d / ((A − C) cos θ), A and C about the pivot, which for a point mass is g / (l cos θ)."""
    import unibody as ub

    require("conical-pendulum", 0.0 < angle < 0.5 * math.pi, f"angle={angle} must lie between 0 and π/2")
    b = ub.Builder(gravity=(0, 0, -gravity))
    shapes, properties = pendulum_body(kind, length, mass)
    about = properties.about((0, 0, 0))
    omega = math.sqrt(-mass * gravity * properties.com[2] / ((about[0, 0] - about[2, 2]) * math.cos(angle)))
    tilt = ub.Pose.about(HINGE, angle)
    bob = add_body(b, "bob", shapes, properties)
    b.joint("pivot", ub.Ball(), parent=b.world, child=bob, q=tilt.wxyz, v=tilt.R.T @ (0.0, 0.0, omega))
    exact = SteadyTurn(omega, tilt.R @ properties.com)
    return Scene(b.build(), 2.0 * exact.period, 1e-3, exact, "The bob circles at constant height with the period exact.period.")
