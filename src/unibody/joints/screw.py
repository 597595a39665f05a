"""Screw: a turn about an axis a that also moves along it.   R_FM = exp([a]× q),  p_FM = a ρ q,  S = (a, ρ a),  Ṡ = 0."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.joints.base import Joint, unit_axis
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3, rotation_about, store9
from unibody.spatial.pose import rotation_from_vector, vector_from_rotation

__all__ = ["Screw"]


@kernel
def fill_screw(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        angle = q[index[3 * k + 1]]
        s = 6 * index[3 * k + 2]
        a = load3(parameters, 4 * k)
        pitch = parameters[4 * k + 3]
        store9(rotation_about(a, sin(angle), cos(angle)), 12 * row, X_out)
        for j in range(3):
            X_out[12 * row + 9 + j] = a[j] * pitch * angle
            S_out[s + j] = a[j]
            S_out[s + 3 + j] = a[j] * pitch
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Screw(Joint):
    """One angle [rad] about `axis`; each radian also moves M by `pitch` [m/rad] along it."""

    axis: Any = (0.0, 0.0, 1.0)
    pitch: float = 0.0

    nq = 1
    nv = 1
    fill_kernel = fill_screw

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Screw"))
        try:
            pitch = float(self.pitch)
        except (TypeError, ValueError, OverflowError):
            pitch = np.nan
        if not np.isfinite(pitch):
            raise ModelError(f"Screw: pitch {self.pitch!r} is not finite; give metres per radian")

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a = np.array(self.axis)
        return rotation_from_vector(a * q[0]), a * (self.pitch * q[0])

    def motion(self, q: np.ndarray) -> np.ndarray:
        a = np.array(self.axis)
        return np.concatenate([a, self.pitch * a])[:, None]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def fit(self, R: np.ndarray, p: np.ndarray, q_near: np.ndarray) -> np.ndarray:
        """The way along the axis tells the turns, which the rotation alone does not."""
        if self.pitch == 0.0:
            return super().fit(R, p, q_near)
        far = float(np.dot(self.axis, p)) / self.pitch
        R_far = rotation_from_vector(np.array(self.axis) * far)
        return super().fit(R, p, np.array([far + float(np.dot(self.axis, vector_from_rotation(R_far.T @ R)))]))
