"""Elements as a user would write them, against the public contract only: first with NumPy methods, then the same with a kernel.

`SlowCam` turns about z and rises by a (q + sin q), so that its S and Ṡ depend on q:

    R_FM = R_z(q),  p_FM = a (q + sin q) e_z,   S = (e_z; a (1 + cos q) e_z),   Ṡ v = (0; −a sin q v² e_z)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

import unibody as ub
from unibody.element import SPRING_ENERGY, Kinematics, Packing, Point
from unibody.forces import Force, Loads
from unibody.joints import Joint
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3, load9, norm3, rotate, rotate_back, scale3, sub3

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class SlowCam(Joint):
    """NumPy only."""

    rise: float = 0.2

    nq = 1
    nv = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), self.rise * (q[0] + s) * UP

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([UP, self.rise * (1.0 + np.cos(q[0])) * UP])[:, None]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(3), -self.rise * np.sin(q[0]) * v[0] ** 2 * UP])


@dataclass(frozen=True)
class LazyCam(SlowCam):
    """The least that a joint must give: its bias comes by differences."""

    bias = Joint.bias


@kernel
def fill_cam(index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        angle = q[index[3 * k + 1]]
        rate = v[index[3 * k + 2]]
        s = 6 * index[3 * k + 2]
        rise = parameters[k]
        for j in range(12):
            X_out[12 * row + j] = 0.0
        for j in range(6):
            S_out[s + j] = 0.0
            c_out[6 * row + j] = 0.0
        X_out[12 * row] = cos(angle)
        X_out[12 * row + 1] = -sin(angle)
        X_out[12 * row + 3] = sin(angle)
        X_out[12 * row + 4] = cos(angle)
        X_out[12 * row + 8] = 1.0
        X_out[12 * row + 11] = rise * (angle + sin(angle))
        S_out[s + 2] = 1.0
        S_out[s + 5] = rise * (1.0 + cos(angle))
        c_out[6 * row + 5] = -rise * sin(angle) * rate * rate


@dataclass(frozen=True)
class Cam(SlowCam):
    """The same with a kernel."""

    fill_kernel = fill_cam


@dataclass(frozen=True)
class SlowBall(Joint):
    """A joint with a quaternion, NumPy only: it must also say how q follows v."""

    nq = 4
    nv = 3

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ub.Pose(wxyz=q).R, np.zeros(3)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)[:, :3]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return 0.5 * np.concatenate([[-q[1:] @ v], q[0] * v + np.cross(q[1:], v)])

    def advance(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        angle = dt * float(np.linalg.norm(v))
        axis = np.asarray(v) / np.linalg.norm(v) if angle != 0.0 else UP
        turned = ub.Pose(wxyz=q) @ ub.Pose.about(axis, angle)
        return np.array(turned.wxyz)

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class SlowTether(Force):
    """A spring without length from a point of a body to a place in the world, NumPy only."""

    point: Point
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stiffness: float = 1.0

    def bodies(self) -> list[str]:
        return [self.point.body]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        pull = np.array(self.anchor) - kinematics.position(self.point)
        loads.add_force_at(kinematics, self.point.body, self.point.p, self.stiffness * pull)
        loads.ledger[SPRING_ENERGY] += 0.5 * self.stiffness * float(pull @ pull)

    def energy(self, kinematics: Kinematics) -> float:
        pull = np.array(self.anchor) - kinematics.position(self.point)
        return 0.5 * self.stiffness * float(pull @ pull)


@kernel
def add_tethers(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        body = index[e]
        p = load3(parameters, 7 * e)
        R = load9(X, 12 * body)
        at = rotate(R, p)
        here = (X[12 * body + 9] + at[0], X[12 * body + 10] + at[1], X[12 * body + 11] + at[2])
        pull = sub3(load3(parameters, 7 * e + 3), here)
        k = parameters[7 * e + 6]
        f = scale3(k, rotate_back(R, pull))
        length = norm3(pull)
        ledger_out[SPRING_ENERGY] += 0.5 * k * length * length
        F_out[6 * body] += p[1] * f[2] - p[2] * f[1]
        F_out[6 * body + 1] += p[2] * f[0] - p[0] * f[2]
        F_out[6 * body + 2] += p[0] * f[1] - p[1] * f[0]
        for j in range(3):
            F_out[6 * body + 3 + j] += f[j]


@dataclass(frozen=True)
class Tether(SlowTether):
    """The same with a kernel."""

    add_kernel = add_tethers

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return [packing.body(self.point.body)], [*self.point.p, *self.anchor, self.stiffness]


@dataclass(frozen=True)
class Gust(Force):
    """A force along x that grows with time, NumPy only: f = rate · t."""

    body: str
    rate: float = 1.0

    def bodies(self) -> list[str]:
        return [self.body]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), np.array([self.rate * kinematics.t, 0.0, 0.0]))


@dataclass(frozen=True)
class Fuse(Force):
    """Nothing until its body has moved `far` from the origin; then it fails: by an exception, or by a number that is none."""

    body: str
    far: float
    how: str

    def bodies(self) -> list[str]:
        return [self.body]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        if np.linalg.norm(kinematics.pose(self.body)[1]) > self.far:
            if self.how == "raises":
                raise RuntimeError("the fuse has blown")
            loads.add_wrench(self.body, np.full(3, np.nan), np.zeros(3))


def swell(t: float) -> float:
    """A smooth function of time, importable, so that a file can name it."""
    return float(np.sin(3.0 * t))


def push(t: float) -> Any:
    return (np.cos(2.0 * t), 0.3 * t, -1.0)


def sway(t: float) -> ub.Pose:
    """The motion of a platform."""
    return ub.Pose((0.2 * np.sin(2.0 * t), 0.0, 0.1 * np.cos(t)), (np.cos(0.2 * np.sin(t)), 0.0, np.sin(0.2 * np.sin(t)), 0.0))
