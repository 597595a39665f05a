"""Ball: any rotation about the common origin.   q = wxyz,  v = ω_FM in M's axes,  S = (1; 0),  Ṡ = 0,  q̇ = ½ q ⊗ (0, ω)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import put_quaternion_rate, rotation_of_quaternion, store9, turned_quaternion
from unibody.spatial.pose import rotation_from_quaternion, vector_from_rotation

__all__ = ["Ball"]


@kernel
def fill_ball(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        q0 = index[3 * k + 1]
        s = 6 * index[3 * k + 2]
        store9(rotation_of_quaternion(q[q0], q[q0 + 1], q[q0 + 2], q[q0 + 3]), 12 * row, X_out)
        for j in range(3):
            X_out[12 * row + 9 + j] = 0.0
            for i in range(6):
                S_out[s + 6 * j + i] = 1.0 if i == j else 0.0
        for j in range(6):
            c_out[6 * row + j] = 0.0


@kernel
def advance_ball(index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        t = turned_quaternion(q[a], q[a + 1], q[a + 2], q[a + 3], v[b], v[b + 1], v[b + 2], h)
        for j in range(4):
            q_out[a + j] = t[j]


@kernel
def rate_ball(index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        put_quaternion_rate(q, a, v[b], v[b + 1], v[b + 2], qdot_out)


@dataclass(frozen=True)
class Ball(Joint):
    """A unit quaternion; velocities are the angular velocity [rad/s] of M in F, in M's axes."""

    nq = 4
    nv = 3
    fill_kernel = fill_ball
    advance_kernel = advance_ball
    rate_kernel = rate_ball
    quaternion = 0

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rotation_from_quaternion(q), np.zeros(3)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)[:, :3]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        w, u = q[0], np.asarray(q[1:4])
        return 0.5 * np.concatenate([[-u @ v], w * np.asarray(v) + np.cross(u, v)])

    def advance(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        return np.array(turned_quaternion(*q, *v, dt))

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def difference(self, q_rest: np.ndarray, q: np.ndarray) -> np.ndarray:
        return vector_from_rotation(rotation_from_quaternion(q_rest).T @ rotation_from_quaternion(q))
