"""Universal: a turn about a, fixed in F, then one about b, fixed in M.

    R_FM = R_a(q₁) R_b(q₂),  p_FM = 0,  S = (R_bᵀ a, b; 0),  Ṡ v = −v₁ v₂ b × R_bᵀ a
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.joints.base import Joint, unit_axis
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, universal
from unibody.spatial.devices import compose_rotations, cross, load3, rotate_back, rotation_about, store9
from unibody.spatial.pose import rotation_from_vector

__all__ = ["Universal"]


@kernel
def fill_universal(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        q0 = index[3 * k + 1]
        v0 = index[3 * k + 2]
        a = load3(parameters, 6 * k)
        b = load3(parameters, 6 * k + 3)
        R_a = rotation_about(a, sin(q[q0]), cos(q[q0]))
        R_b = rotation_about(b, sin(q[q0 + 1]), cos(q[q0 + 1]))
        store9(compose_rotations(R_a, R_b), 12 * row, X_out)
        first = rotate_back(R_b, a)
        turned = cross(b, first)
        w = -v[v0] * v[v0 + 1]
        for j in range(3):
            X_out[12 * row + 9 + j] = 0.0
            S_out[6 * v0 + j] = first[j]
            S_out[6 * v0 + 3 + j] = 0.0
            S_out[6 * v0 + 6 + j] = b[j]
            S_out[6 * v0 + 9 + j] = 0.0
            c_out[6 * row + j] = w * turned[j]
            c_out[6 * row + 3 + j] = 0.0


@dataclass(frozen=True)
class Universal(Joint):
    """Two angles [rad]: about `axis1` (F's axes), then about `axis2` (M's axes)."""

    axis1: Any = (1.0, 0.0, 0.0)
    axis2: Any = (0.0, 1.0, 0.0)

    nq = 2
    nv = 2
    fill_kernel = fill_universal

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis1", unit_axis(self.axis1, "Universal axis1"))
        object.__setattr__(self, "axis2", unit_axis(self.axis2, "Universal axis2"))
        if abs(np.dot(self.axis1, self.axis2)) > 1.0 - 1e-9:
            raise ModelError(f"Universal: axes {self.axis1} and {self.axis2} are parallel; give two different directions")

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.array(self.axis1), np.array(self.axis2)
        return rotation_from_vector(a * q[0]) @ rotation_from_vector(b * q[1]), np.zeros(3)

    def motion(self, q: np.ndarray) -> np.ndarray:
        a, b = np.array(self.axis1), np.array(self.axis2)
        S = np.zeros((6, 2))
        S[:3, 0] = rotation_from_vector(b * q[1]).T @ a
        S[:3, 1] = b
        return S

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        b = np.array(self.axis2)
        return np.concatenate([-v[0] * v[1] * np.cross(b, self.motion(q)[:3, 0]), np.zeros(3)])

    def measures(self) -> dict[int, Measure]:
        return universal(np.array(self.axis1), np.array(self.axis2))
