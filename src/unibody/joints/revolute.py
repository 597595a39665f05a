"""Revolute: a turn about a fixed axis a.   R_FM = exp([a]× q),  p_FM = 0,  S = (a, 0),  Ṡ = 0."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from unibody.joints.base import Joint, unit_axis
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, turn
from unibody.spatial.devices import load3, rotation_about, store9
from unibody.spatial.pose import rotation_from_vector

__all__ = ["Revolute"]


@kernel
def fill_revolute(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        angle = q[index[3 * k + 1]]
        s = 6 * index[3 * k + 2]
        a = load3(parameters, 3 * k)
        store9(rotation_about(a, sin(angle), cos(angle)), 12 * row, X_out)
        for j in range(3):
            X_out[12 * row + 9 + j] = 0.0
            S_out[s + j] = a[j]
            S_out[s + 3 + j] = 0.0
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Revolute(Joint):
    """One angle [rad] about `axis` (F's axes, through its origin)."""

    axis: Any = (0.0, 0.0, 1.0)

    nq = 1
    nv = 1
    fill_kernel = fill_revolute
    column = "rotation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Revolute"))

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rotation_from_vector(np.array(self.axis) * q[0]), np.zeros(3)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def measures(self) -> dict[int, Measure]:
        return {0: turn(self.axis)}
