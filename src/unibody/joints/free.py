"""Free: any motion.   q = (p, wxyz),  v = twist of M in F in M's axes,  S = 1,  Ṡ = 0,  ṗ = R v_lin,  q̇ = ½ q ⊗ (0, ω).

Constant v moves M along a screw: R ← R exp(h[ω]×),  p ← p + R Γ(hω) h v_lin, with
Γ(φ) = 1 + (1 − cos φ)/φ² [φ]× + (φ − sin φ)/φ³ [φ]×².
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from unibody.joints.ball import Ball
from unibody.joints.base import Joint
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.pose import rotation_from_quaternion, vector_from_rotation

from unibody.spatial.devices import (  # isort: skip
    add3, cross, load3, norm3, put_quaternion_rate, rotate, rotation_of_quaternion, scale3, store9, turned_quaternion,
)  # fmt: skip

__all__ = ["Free"]


@device
def screw_displacement(phi, d):
    """Γ(φ) d."""
    angle = norm3(phi)
    if angle < 1e-4:
        a = 0.5 - angle * angle / 24.0
        b = 1.0 / 6.0 - angle * angle / 120.0
    else:
        a = (1.0 - cos(angle)) / (angle * angle)
        b = (angle - sin(angle)) / (angle * angle * angle)
    c1 = cross(phi, d)
    c2 = cross(phi, c1)
    return add3(d, add3(scale3(a, c1), scale3(b, c2)))


@kernel
def fill_free(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        q0 = index[3 * k + 1]
        s = 6 * index[3 * k + 2]
        store9(rotation_of_quaternion(q[q0 + 3], q[q0 + 4], q[q0 + 5], q[q0 + 6]), 12 * row, X_out)
        for j in range(3):
            X_out[12 * row + 9 + j] = q[q0 + j]
        for j in range(6):
            c_out[6 * row + j] = 0.0
            for i in range(6):
                S_out[s + 6 * j + i] = 1.0 if i == j else 0.0


@kernel
def advance_free(index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        R = rotation_of_quaternion(q[a + 3], q[a + 4], q[a + 5], q[a + 6])
        way = rotate(R, screw_displacement(scale3(h, load3(v, b)), scale3(h, load3(v, b + 3))))
        t = turned_quaternion(q[a + 3], q[a + 4], q[a + 5], q[a + 6], v[b], v[b + 1], v[b + 2], h)
        for j in range(3):
            q_out[a + j] = q[a + j] + way[j]
        for j in range(4):
            q_out[a + 3 + j] = t[j]


@kernel
def rate_free(index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        w, x, y, z = q[a + 3], q[a + 4], q[a + 5], q[a + 6]
        way = rotate(rotation_of_quaternion(w, x, y, z), load3(v, b + 3))
        for j in range(3):
            qdot_out[a + j] = way[j]
        put_quaternion_rate(q, a + 3, v[b], v[b + 1], v[b + 2], qdot_out)


@dataclass(frozen=True)
class Free(Joint):
    """p [m] then a unit quaternion; velocities are the twist of M in F in M's axes (angular first)."""

    nq = 7
    nv = 6
    fill_kernel = fill_free
    advance_kernel = advance_free
    rate_kernel = rate_free
    quaternion = 3

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rotation_from_quaternion(q[3:]), np.array(q[:3], float)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([rotation_from_quaternion(q[3:]) @ v[3:], Ball().rate(q[3:], v[:3])])

    def advance(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        way = screw_displacement(tuple(dt * np.asarray(v[:3])), tuple(dt * np.asarray(v[3:])))
        return np.concatenate([q[:3] + rotation_from_quaternion(q[3:]) @ np.array(way), Ball().advance(q[3:], v[:3], dt)])

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def fit(self, R: np.ndarray, p: np.ndarray, q_near: np.ndarray) -> np.ndarray:
        turn = vector_from_rotation(rotation_from_quaternion(q_near[3:]).T @ R)
        return np.concatenate([p, Ball().advance(q_near[3:], turn, 1.0)])
