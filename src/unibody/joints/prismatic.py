"""Prismatic: a slide along a fixed axis a.   R_FM = 1,  p_FM = a q,  S = (0, a),  Ṡ = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.joints.base import Joint, unit_axis
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, slide

__all__ = ["Prismatic"]


@kernel
def fill_prismatic(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        way = q[index[3 * k + 1]]
        s = 6 * index[3 * k + 2]
        for j in range(9):
            X_out[12 * row + j] = 1.0 if j == 0 or j == 4 or j == 8 else 0.0
        for j in range(3):
            X_out[12 * row + 9 + j] = parameters[3 * k + j] * way
            S_out[s + j] = 0.0
            S_out[s + 3 + j] = parameters[3 * k + j]
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Prismatic(Joint):
    """One displacement [m] along `axis` (F's axes)."""

    axis: Any = (0.0, 0.0, 1.0)

    nq = 1
    nv = 1
    fill_kernel = fill_prismatic
    column = "slide"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Prismatic"))

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), np.array(self.axis) * q[0]

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.array([[0.0, 0.0, 0.0, *self.axis]]).T

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def measures(self) -> dict[int, Measure]:
        return {0: slide(self.axis)}
