"""An ellipsoid that rolls on a plane without slip, from mechanics alone: no part of this engine takes part.

In body axes, with k the upward vertical, D the squares of the semi-axes, c the centre of mass and r the contact seen from it,

    s² = k·D k,   r = −D k / s − c,   v = −ω × r,   k̇ = −ω × k
    m v̇ = F − m g k,   I ω̇ + ω × I ω = r × F          v̇ and ṙ as the derivatives of the above, F eliminated
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


@dataclass(frozen=True)
class Rolling:
    """Semi-axes [m], centre of mass [m], mass [kg], inertia about the centre of mass [kg m²], all in body axes."""

    axes: tuple[float, float, float]
    com: tuple[float, float, float]
    mass: float
    inertia: np.ndarray

    def touch(self, R: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """k, s and r at an orientation."""
        k = R[2]
        squares = np.square(self.axes)
        s = float(np.sqrt(k @ (squares * k)))
        return k, s, -squares * k / s - np.array(self.com)

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Of the orientation (9) and the angular velocity in body axes (3)."""
        R, w = y[:9].reshape(3, 3), y[9:]
        k, s, r = self.touch(R)
        squares, k_dot = np.square(self.axes), -np.cross(w, k)
        r_dot = -squares * k_dot / s + squares * k * (k @ (squares * k_dot)) / s**3
        known = -np.cross(w, r_dot) - np.cross(w, np.cross(w, r)) + G * k
        S = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        w_dot = np.linalg.solve(
            self.inertia - self.mass * S @ S, self.mass * np.cross(r, known) - np.cross(w, self.inertia @ w)
        )  # fmt: skip
        W = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        return np.concatenate([(R @ W).ravel(), w_dot])

    def energy(self, y: np.ndarray) -> float:
        """Kinetic and potential [J], the plane at height 0."""
        R, w = y[:9].reshape(3, 3), y[9:]
        k, _, r = self.touch(R)
        v = np.cross(w, r)
        return float(0.5 * self.mass * v @ v + 0.5 * w @ self.inertia @ w - self.mass * G * (k @ r))

    def spin(self, R: np.ndarray, w: np.ndarray, times: np.ndarray) -> np.ndarray:
        """ω about the vertical at these times, from an orientation and an angular velocity in body axes. Its energy stays as it was."""
        start = np.concatenate([R.ravel(), w])
        found = solve_ivp(self.rates, (0.0, times[-1]), start, method="DOP853", rtol=1e-10, atol=1e-12, t_eval=times)
        energies = [self.energy(y) for y in found.y.T]
        assert np.ptp(energies) < 1e-8 * energies[0]
        return np.array([(y[:9].reshape(3, 3) @ y[9:])[2] for y in found.y.T])
