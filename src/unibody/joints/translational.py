"""Translational: a slide in three directions, no turn.   R_FM = 1,  p_FM = q,  S = (0; 1),  Ṡ = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, slide

__all__ = ["Translational"]


@kernel
def fill_translational(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        q0 = index[3 * k + 1]
        s = 6 * index[3 * k + 2]
        for j in range(9):
            X_out[12 * row + j] = 1.0 if j == 0 or j == 4 or j == 8 else 0.0
        for j in range(3):
            X_out[12 * row + 9 + j] = q[q0 + j]
            for i in range(6):
                S_out[s + 6 * j + i] = 1.0 if i == j + 3 else 0.0
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Translational(Joint):
    """x, y, z [m] in F's axes."""

    nq = 3
    nv = 3
    fill_kernel = fill_translational

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), np.array(q, float)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)[:, 3:]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def measures(self) -> dict[int, Measure]:
        return {k: slide(axis) for k, axis in enumerate(np.eye(3))}
