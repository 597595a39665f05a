"""Spinning bodies: torque-free, and the heavy symmetric top."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import add_body
from unibody.shapes import MassProperties, combine


@dataclass(frozen=True)
class TorqueFree:
    """Euler's equations without torque, solved by Jacobi's elliptic functions (Landau and Lifshitz, Mechanics §37).

    Axes are relabelled so that the third, about which L circles in the body, has the largest principal inertia when L² ≥ 2 E I₂
    and the smallest otherwise; the second is always the middle one. With |·| where the order of inertias turns signs,

    ω₁ = a₁ cn u,  ω₂ = a₂ sn u,  ω₃ = a₃ dn u,  u = ν t + u₀,
    a₁² = (2E I₃ − L²)/(I₁ (I₃ − I₁)),  a₂² = (2E I₃ − L²)/(I₂ (I₃ − I₂)),  a₃² = (L² − 2E I₁)/(I₃ (I₃ − I₁)),
    ν² = (I₃ − I₂)(L² − 2E I₁)/(I₁ I₂ I₃),  k² = (I₂ − I₁)(2E I₃ − L²)/((I₃ − I₂)(L² − 2E I₁)).
    """

    inertia: tuple[float, float, float]
    """Principal inertias along the body's x, y, z [kg m²]."""
    omega0: tuple[float, float, float]
    """In body axes, at t = 0 [rad/s]."""

    @property
    def kinetic_energy(self) -> float:
        return 0.5 * sum(i * w * w for i, w in zip(self.inertia, self.omega0, strict=True))

    @property
    def angular_momentum(self) -> np.ndarray:
        """In world axes, constant, for a body that starts aligned with the world, (3,)."""
        return np.array(self.inertia) * self.omega0

    @cached_property
    def _solution(self) -> tuple[np.ndarray, np.ndarray, float, float, float]:
        """Order of the axes, signed amplitudes, ν, k² and u₀."""
        J, w0 = np.array(self.inertia, dtype=float), np.array(self.omega0, dtype=float)
        twice_E, L2 = float(J @ w0**2), float((J**2) @ w0**2)
        order = np.argsort(J, kind="stable")
        if L2 < twice_E * J[order[1]]:
            order = order[::-1]
        if np.count_nonzero(w0) <= 1:
            return order, np.zeros(3), 0.0, 0.0, 0.0
        I1, I2, I3 = J[order]
        w1, w2, w3 = w0[order]
        # 2E I₃ − L² and L² − 2E I₁ as sums of squares: no digits cancel.
        toward_3 = I1 * (I3 - I1) * w1**2 + I2 * (I3 - I2) * w2**2
        toward_1 = I2 * (I2 - I1) * w2**2 + I3 * (I3 - I1) * w3**2
        nu2 = (I3 - I2) * toward_1 / (I1 * I2 * I3)
        if nu2 <= 0.0 or toward_3 == 0.0:
            return order, np.zeros(3), 0.0, 0.0, 0.0
        a1, a2 = math.sqrt(toward_3 / (I1 * (I3 - I1))), math.sqrt(toward_3 / (I2 * (I3 - I2)))
        a3 = math.copysign(math.sqrt(toward_1 / (I3 * (I3 - I1))), w3)
        even = np.linalg.det(np.eye(3)[order]) > 0.0
        a2 *= math.copysign(1.0, a3) * (1.0 if even else -1.0) * (1.0 if I3 > I2 else -1.0)
        k2 = min(1.0, (I2 - I1) * toward_3 / ((I3 - I2) * toward_1))
        from scipy.special import ellipkinc

        u0 = float(ellipkinc(math.atan2(w2 / a2, w1 / a1), k2))
        return order, np.array([a1, a2, a3]), math.sqrt(nu2), k2, u0

    @property
    def period(self) -> float:
        """Of ω in body axes [s]; infinite when ω is constant or on the separatrix."""
        from scipy.special import ellipk

        _, _, nu, k2, _ = self._solution
        return float(4.0 * ellipk(k2) / nu) if nu > 0.0 else math.inf

    def omega(self, t: np.ndarray) -> np.ndarray:
        """Angular velocity in body axes, (…, 3) [rad/s]."""
        from scipy.special import ellipj

        order, amplitude, nu, k2, u0 = self._solution
        t = np.asarray(t, dtype=float)
        if nu == 0.0:
            return np.broadcast_to(np.array(self.omega0, dtype=float), (*t.shape, 3)).copy()
        sn, cn, dn, _ = ellipj(nu * t + u0, k2)
        out = np.empty((*t.shape, 3))
        out[..., order] = amplitude * np.stack([cn, sn, dn], axis=-1)
        return out

    def rotation(self, t: float) -> np.ndarray:
        """R_WB at one time for a body with two equal inertias, aligned with the world at t = 0, (3, 3).

        R = exp(t L/I₁) exp(t (1 − I₃/I₁) ω₃ e₃), since ω = L/I₁ + (1 − I₃/I₁) ω₃ e₃ in every body with I₁ = I₂.
        """
        from unibody.spatial.pose import rotation_from_vector

        J = np.array(self.inertia, dtype=float)
        for axis in range(3):
            first, second = J[(axis + 1) % 3], J[(axis + 2) % 3]
            if first == second:
                spin = np.zeros(3)
                spin[axis] = (1.0 - J[axis] / first) * self.omega0[axis]
                return rotation_from_vector(t * self.angular_momentum / first) @ rotation_from_vector(t * spin)
        raise ValueError(f"rotation(t) needs two equal principal inertias, not {self.inertia}")


@scene("spinning-body", summary="a torque-free body spinning about its middle axis (Dzhanibekov), exact by elliptic functions")
def spinning_body(
    *,
    inertia: tuple[float, float, float] = (1.0, 2.0, 3.0),
    omega: tuple[float, float, float] = (0.01, 1.0, 0.0),
    mass: float = 1.0,
) -> Scene:
    """Principal inertias and angular velocity in body axes; two equal inertias give the axisymmetric closed form."""
    import unibody as ub

    b = ub.Builder(gravity=(0, 0, 0))
    properties = MassProperties(mass, (0, 0, 0), inertia)
    properties.check("scene 'spinning-body'")
    # The box with these inertias has sides² = 6 (Σ I − 2 Iₖ) / m; a flat one gets a little thickness to be seen.
    sides = np.sqrt(np.maximum(6.0 * (sum(inertia) - 2.0 * np.array(inertia)) / mass, 0.0))
    sides = np.maximum(sides, 0.05 * sides.max())
    add_body(b, "body", [ub.Box(tuple(sides))], properties, V_WB=(*omega, 0, 0, 0))
    exact = TorqueFree(inertia, omega)
    duration = exact.period if math.isfinite(exact.period) else 10.0
    return Scene(b.build(), duration, 1e-2, exact, "Angular velocity in body axes is exact.omega(t); energy and momentum are constant.")


@dataclass(frozen=True)
class SteadyPrecession:
    """A heavy symmetric top precessing without nutation: A Ω² cos θ − C ω₃ Ω + m g d = 0."""

    precession: float
    """Ω about the vertical [rad/s]."""
    spin: float
    """ψ̇ about the top's axis, relative to the precessing frame [rad/s]."""
    tilt: float
    """θ between the axis and the vertical [rad]."""

    @property
    def period(self) -> float:
        """Of the precession [s]."""
        return 2.0 * math.pi / abs(self.precession)

    def axis(self, t: np.ndarray) -> np.ndarray:
        """The top's axis in world axes, (…, 3)."""
        phase = self.precession * np.asarray(t, dtype=float)
        s = math.sin(self.tilt)
        return np.stack([s * np.cos(phase), s * np.sin(phase), np.full_like(phase, math.cos(self.tilt))], axis=-1)

    def rotation(self, t: float) -> np.ndarray:
        """R_WB at one time, (3, 3)."""
        from unibody.spatial.pose import rotation_from_vector

        turn, tilt, spin = ((0, 0, self.precession * t), (0, self.tilt, 0), (0, 0, self.spin * t))
        return rotation_from_vector(turn) @ rotation_from_vector(tilt) @ rotation_from_vector(spin)

    def omega(self, t: float) -> np.ndarray:
        """Angular velocity in world axes at one time, (3,) [rad/s]."""
        return np.array([0.0, 0.0, self.precession]) + self.spin * self.axis(np.array(t))


@scene("precessing-top", summary="a heavy symmetric top on a ball joint in steady precession")
def precessing_top(
    *,
    spin: float = 200.0,
    tilt: float = 0.5,
    root: Literal["slow", "fast"] = "slow",
    gravity: float = 9.81,
    density: float = 2700.0,
) -> Scene:
    """`spin` is the angular velocity ω₃ along the top's own axis; `root` picks the slow or the fast precession."""
    import unibody as ub

    require("precessing-top", 0.0 < tilt < 0.5 * math.pi, f"tilt={tilt} must lie between 0 and π/2")
    b = ub.Builder(gravity=(0, 0, -gravity))
    shapes = [
        ub.Placed(ub.Ellipsoid((0.006, 0.006, 0.03)), ub.Pose(p=(0, 0, 0.03))),
        ub.Placed(ub.Cylinder(0.05, 0.012), ub.Pose(p=(0, 0, 0.05))),
        ub.Placed(ub.Cylinder(0.004, 0.05), ub.Pose(p=(0, 0, 0.081))),
    ]
    properties = combine(shape.mass_properties(density) for shape in shapes)
    A, _, C = np.diag(properties.about((0, 0, 0)))
    weight = properties.mass * gravity * properties.com[2]
    discriminant = (C * spin) ** 2 - 4.0 * A * weight * math.cos(tilt)
    least = 2.0 * math.sqrt(A * weight * math.cos(tilt)) / C
    require("precessing-top", discriminant > 0.0, f"spin={spin} is too slow to precess steadily; give more than {least:.4g} rad/s")
    sign = 1.0 if root == "fast" else -1.0
    precession = (C * spin + sign * math.copysign(math.sqrt(discriminant), spin)) / (2.0 * A * math.cos(tilt))
    exact = SteadyPrecession(precession, spin - precession * math.cos(tilt), tilt)
    start = ub.Pose.about((0, 1, 0), tilt)
    top = b.body("top", shape=shapes, density=density)
    b.joint("tip", ub.Ball(), parent=b.world, child=top, q=start.wxyz, v=start.R.T @ exact.omega(0.0))
    notes = "The axis stays at the tilt and precesses with the period exact.period; rules of first order let it rise."
    return Scene(b.build(), exact.period, 2e-4, exact, notes, solver="articulated:rule=rk4")
