"""Weld: M stays on F."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, kernel

__all__ = ["Weld"]


@kernel
def fill_weld(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        for j in range(12):
            X_out[12 * row + j] = 1.0 if j == 0 or j == 4 or j == 8 else 0.0
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Weld(Joint):
    """No relative motion."""

    nq = 0
    nv = 0
    fill_kernel = fill_weld
    column = "none"

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), np.zeros(3)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.zeros((6, 0))

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)
