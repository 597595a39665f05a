"""The motion of any mechanism with one degree of freedom, from its geometry alone.

With the centres of mass c(θ) and orientations R(θ) of all bodies as functions of one coordinate,

T = ½ I(θ) θ̇²,   I(θ) = Σ m |c'|² + wᵀ J w,   [w]× = Rᵀ R'            (primes: d/dθ, w in body axes)
I θ̈ + ½ I' θ̇² + V' = 0,   V(θ) = −Σ m g · c

No constraint, no joint and no multiplier enters: an independent witness for solvers of loops. Derivatives are central differences
of eighth order on a grid of 0.01 rad, which for the smooth maps of linkages leaves about 1e-13 in first and 1e-11 in second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STEP = 0.01
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / STEP
_SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]) / STEP**2
_GRID = STEP * np.arange(-4, 5)


def slope(function: Callable[[float], np.ndarray], x: float) -> np.ndarray:
    """The derivative of a smooth function of one number, by the same differences."""
    return np.tensordot(_FIRST, np.stack([function(x + offset) for offset in _GRID]), 1)


Configuration = Callable[[float], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class OneDegree:
    """Reference motion of a mechanism with the coordinate θ.

    `configuration(θ)` gives the centres of mass (n, 3) [m] and the orientations (n, 3, 3) of the bodies `names`.
    """

    names: tuple[str, ...]
    configuration: Configuration
    masses: np.ndarray
    """[kg], (n,)"""
    inertias: np.ndarray
    """About the centres of mass, body axes [kg m²], (n, 3, 3)."""
    gravity: float
    """Along −z [m/s²]."""
    theta: float
    """At t = 0 [rad]."""
    rate: float
    """At t = 0 [rad/s]."""

    def derivatives(self, theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """c', c'' (n, 3) and w, w' (n, 3) in body axes."""
        samples = [self.configuration(theta + offset) for offset in _GRID]
        coms = np.stack([sample[0] for sample in samples])
        rotations = np.stack([sample[1] for sample in samples])
        R = rotations[4]
        w = _vee(np.einsum("nji,njk->nik", R, np.tensordot(_FIRST, rotations, 1)))
        w_prime = _vee(np.einsum("nji,njk->nik", R, np.tensordot(_SECOND, rotations, 1)))
        return np.tensordot(_FIRST, coms, 1), np.tensordot(_SECOND, coms, 1), w, w_prime

    def angular_rates(self, theta: float) -> np.ndarray:
        """Angular velocities per θ̇ in world axes, (n, 3)."""
        w = self.derivatives(theta)[2]
        return np.einsum("nij,nj->ni", self.configuration(theta)[1], w)

    def inertia(self, theta: float) -> float:
        """I(θ) [kg m²]."""
        c1, _, w, _ = self.derivatives(theta)
        return float(self.masses @ (c1 * c1).sum(axis=1) + np.einsum("ni,nij,nj->", w, self.inertias, w))

    def potential(self, theta: float) -> float:
        """V(θ) [J], zero at z = 0."""
        return float(self.gravity * self.masses @ self.configuration(theta)[0][:, 2])

    def energy(self, theta: float, rate: float) -> float:
        """Kinetic and potential energy [J]."""
        return 0.5 * self.inertia(theta) * rate * rate + self.potential(theta)

    def acceleration(self, theta: float, rate: float) -> float:
        """θ̈ [rad/s²]."""
        c1, c2, w, w_prime = self.derivatives(theta)
        inertia = self.masses @ (c1 * c1).sum(axis=1) + np.einsum("ni,nij,nj->", w, self.inertias, w)
        half_slope = self.masses @ (c1 * c2).sum(axis=1) + np.einsum("ni,nij,nj->", w, self.inertias, w_prime)
        return float(-(half_slope * rate * rate + self.gravity * self.masses @ c1[:, 2]) / inertia)

    def solve(self, t: np.ndarray, tolerance: float = 1e-11) -> tuple[np.ndarray, np.ndarray]:
        """θ and θ̇ at the times t ≥ 0 (ascending)."""
        from scipy.integrate import solve_ivp

        t = np.atleast_1d(np.asarray(t, dtype=float))
        result = solve_ivp(
            lambda _, y: (y[1], self.acceleration(y[0], y[1])),
            (0.0, float(t[-1]) or 1e-9),
            (self.theta, self.rate),
            method="DOP853",
            t_eval=t,
            rtol=tolerance,
            atol=tolerance,
        )
        return result.y[0], result.y[1]

    def coms(self, t: np.ndarray) -> np.ndarray:
        """Centres of mass at the times t, (T, n, 3) [m]."""
        return np.stack([self.configuration(theta)[0] for theta in self.solve(t)[0]])


def _vee(skews: np.ndarray) -> np.ndarray:
    """The vectors of the skew parts of matrices (n, 3, 3)."""
    axial = np.stack([skews[:, 2, 1] - skews[:, 1, 2], skews[:, 0, 2] - skews[:, 2, 0], skews[:, 1, 0] - skews[:, 0, 1]], axis=1)
    return 0.5 * axial
