"""Planar: a slide in F's x–y plane and a turn θ about z.

    p_FM = (x, y, 0),  R_FM = R_z(θ),  S = (0, 0, e_z; R_zᵀ e_x, R_zᵀ e_y, 0),  Ṡ v = (0; −θ̇ e_z × R_zᵀ (ẋ, ẏ, 0))
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, slide, turn
from unibody.spatial.pose import rotation_from_vector

__all__ = ["Planar"]


@kernel
def fill_planar(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        q0 = index[3 * k + 1]
        v0 = index[3 * k + 2]
        c = cos(q[q0 + 2])
        s = sin(q[q0 + 2])
        x = 12 * row
        for j in range(12):
            X_out[x + j] = 0.0
        X_out[x] = c
        X_out[x + 1] = -s
        X_out[x + 3] = s
        X_out[x + 4] = c
        X_out[x + 8] = 1.0
        X_out[x + 9] = q[q0]
        X_out[x + 10] = q[q0 + 1]
        for j in range(18):
            S_out[6 * v0 + j] = 0.0
        S_out[6 * v0 + 3] = c
        S_out[6 * v0 + 4] = -s
        S_out[6 * v0 + 9] = s
        S_out[6 * v0 + 10] = c
        S_out[6 * v0 + 14] = 1.0
        for j in range(6):
            c_out[6 * row + j] = 0.0
        c_out[6 * row + 3] = v[v0 + 2] * (c * v[v0 + 1] - s * v[v0])
        c_out[6 * row + 4] = -v[v0 + 2] * (c * v[v0] + s * v[v0 + 1])


@dataclass(frozen=True)
class Planar(Joint):
    """x, y [m] in F's axes, then the angle [rad] about z."""

    nq = 3
    nv = 3
    fill_kernel = fill_planar

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rotation_from_vector((0.0, 0.0, q[2])), np.array([q[0], q[1], 0.0])

    def motion(self, q: np.ndarray) -> np.ndarray:
        S = np.zeros((6, 3))
        S[3:, :2] = self.pose(q)[0].T[:, :2]
        S[2, 2] = 1.0
        return S

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        slide = self.pose(q)[0].T @ np.array([v[0], v[1], 0.0])
        return np.concatenate([np.zeros(3), -v[2] * np.cross((0.0, 0.0, 1.0), slide)])

    def measures(self) -> dict[int, Measure]:
        return {0: slide((1, 0, 0)), 1: slide((0, 1, 0)), 2: turn((0, 0, 1))}
