"""`Pose`: where a frame is, p and a unit quaternion; and the NumPy side of rotations and twists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError


def skew(a: np.ndarray) -> np.ndarray:
    """[a]×, so that skew(a) @ b = a × b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotation_from_quaternion(wxyz: Any) -> np.ndarray:
    """The 3×3 rotation of a quaternion (normalised)."""
    w, x, y, z = np.asarray(wxyz, float).tolist()
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if size == 0.0:
        return np.full((3, 3), np.nan)
    w, x, y, z = w / size, x / size, y / size, z / size
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(R: np.ndarray) -> np.ndarray:
    """The unit quaternion (wxyz, w ≥ 0) of a 3×3 rotation."""
    from unibody.spatial.devices import quaternion_of_rotation

    q = np.array(quaternion_of_rotation(tuple(np.asarray(R, float).ravel())))
    q = -q if q[0] < 0 else q
    return q / np.linalg.norm(q)


def quaternions_from_rotations(R: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions (wxyz, w ≥ 0) of rotations (n, 3, 3): the longest row of 4 q qᵀ, which is linear in R.

    >>> quaternions_from_rotations(np.array([np.diag([1.0, -1.0, -1.0]), np.eye(3)])).tolist()
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    K = np.empty((len(R), 4, 4))
    a, b, c = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    K[:, 0, 0], K[:, 1, 1], K[:, 2, 2], K[:, 3, 3] = 1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c
    K[:, 0, 1] = K[:, 1, 0] = R[:, 2, 1] - R[:, 1, 2]
    K[:, 0, 2] = K[:, 2, 0] = R[:, 0, 2] - R[:, 2, 0]
    K[:, 0, 3] = K[:, 3, 0] = R[:, 1, 0] - R[:, 0, 1]
    K[:, 1, 2] = K[:, 2, 1] = R[:, 1, 0] + R[:, 0, 1]
    K[:, 1, 3] = K[:, 3, 1] = R[:, 0, 2] + R[:, 2, 0]
    K[:, 2, 3] = K[:, 3, 2] = R[:, 2, 1] + R[:, 1, 2]
    q = K[np.arange(len(R)), np.argmax(np.einsum("nii->ni", K), axis=1)]
    q = np.where(q[:, :1] < 0.0, -q, q) + 0.0
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def rotation_from_vector(phi: Any) -> np.ndarray:
    """exp([φ]×)."""
    phi = np.asarray(phi, float)
    angle = float(np.linalg.norm(phi))
    K = skew(phi)
    if angle < 1e-8:
        return np.eye(3) + K + 0.5 * K @ K
    return np.eye(3) + np.sin(angle) / angle * K + (1 - np.cos(angle)) / angle**2 * K @ K


def vector_from_rotation(R: np.ndarray) -> np.ndarray:
    """The rotation vector of a 3×3 rotation (angle in [0, π])."""
    from unibody.spatial.devices import rotation_vector

    return np.array(rotation_vector(tuple(np.asarray(R, float).ravel())))


def adjoint(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Ad of the pose X_AB = (R, p): twists of B's axes and origin to A's (angular first)."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = R
    out[3:, :3] = skew(p) @ R
    return out


def ad(V: np.ndarray) -> np.ndarray:
    """ad(V) W = V × W for twists (angular first)."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(V[:3])
    out[3:, :3] = skew(V[3:])
    return out


def spatial_inertia(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """The 6×6 inertia about the frame's origin from mass, centre of mass and inertia about the centre of mass."""
    C = skew(com)
    out = np.zeros((6, 6))
    out[:3, :3] = inertia - mass * C @ C
    out[:3, 3:] = mass * C
    out[3:, :3] = -mass * C
    out[3:, 3:] = mass * np.eye(3)
    return out


def vector3(value: Any, what: str) -> np.ndarray:
    """Three finite numbers, or a ModelError that says what they should be."""
    return vector(value, 3, what)


def vector(value: Any, n: int, what: str) -> np.ndarray:
    """n finite numbers, or a ModelError that says what they should be."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {value!r} is not numeric; give {n} numbers") from None
    if out.shape != (n,):
        raise ModelError(f"{what}: shape {out.shape} of {value!r}; give {n} numbers")
    if not np.isfinite(out).all():
        raise ModelError(f"{what}: {value!r} is not finite; give finite numbers")
    return out


def _is_rotation(R: list[list[float]]) -> bool:
    """Whether the first two rows are orthonormal and the third is their cross product, to 1e-6."""
    (a, b, c), (d, e, f), (g, h, i) = R
    off = (
        a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, a * d + b * e + c * f,
        b * f - c * e - g, c * d - a * f - h, a * e - b * d - i,
    )  # fmt: skip
    return max(map(abs, off)) < 1e-6


def _rotate(wxyz: Any, p: Any) -> tuple[float, float, float]:
    """R p = p + 2 w (u × p) + 2 u × (u × p) for a unit quaternion (w, u)."""
    w, x, y, z = wxyz
    a, b, c = p
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


@dataclass(frozen=True)
class Pose:
    """Position p [m] and orientation wxyz of a frame B in a frame A; `X_AB @ X_BC` is `X_AC`.

    >>> (Pose(p=(1, 0, 0)) @ Pose(p=(0, 2, 0))).p
    (1.0, 2.0, 0.0)
    """

    p: Any = (0.0, 0.0, 0.0)
    wxyz: Any = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        p = vector3(self.p, "Pose p")
        wxyz = vector(self.wxyz, 4, "Pose wxyz")
        if (most := float(np.abs(wxyz).max())) > 1e100:  # its square is no number
            wxyz = wxyz / most
        size = float(np.linalg.norm(wxyz))
        if size < 1e-12:
            raise ModelError(f"Pose wxyz: {self.wxyz!r} has no direction; give a quaternion such as (1, 0, 0, 0)")
        if abs(size - 1.0) > 1e-15:
            wxyz = wxyz / size
        object.__setattr__(self, "p", tuple(float(x) for x in p))
        object.__setattr__(self, "wxyz", tuple(float(x) for x in wxyz))

    @staticmethod
    def from_matrix(X: Any) -> Pose:
        """From a 4×4 homogeneous matrix."""
        X = np.array(X, float)
        if X.shape != (4, 4) or not np.isfinite(X).all():
            raise ModelError(f"Pose.from_matrix: shape {X.shape}; give a finite 4×4 matrix")
        R = X[:3, :3]
        if not _is_rotation(R.tolist()):
            raise ModelError("Pose.from_matrix: the upper left 3×3 block is not a rotation; orthonormalise it first")
        x, y, z = X[:3, 3].tolist()
        w, i, j, k = quaternion_from_rotation(R).tolist()
        return Pose._made((x, y, z), (w, i, j, k))

    @staticmethod
    def from_rotation(R: Any, p: Any = (0.0, 0.0, 0.0)) -> Pose:
        """From a 3×3 rotation and a position."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, p
        return Pose.from_matrix(X)

    @staticmethod
    def about(axis: Sequence[float], angle: float, p: Any = (0.0, 0.0, 0.0)) -> Pose:
        """Turned about an axis through the origin by an angle [rad], then moved by p."""
        a = vector3(axis, "Pose.about axis")
        size = float(np.linalg.norm(a))
        if size == 0.0:
            raise ModelError(f"Pose.about: axis {tuple(axis)} has no direction; give a non-zero axis")
        return Pose(p, np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * a / size]))

    @staticmethod
    def from_euler(sequence: str, angles: Any, degrees: bool = False, p: Any = (0.0, 0.0, 0.0)) -> Pose:
        """Turned about one axis after the other, then moved by p. `sequence` names the axes in the order of the angles: capital letters
        turn with the body ("ZYX": yaw, pitch, roll), small ones stay in the world ("xyz": the roll, pitch, yaw of URDF), which is the
        same the other way round.

        >>> Pose.from_euler("ZYX", (90, 0, 0), degrees=True).apply((1, 0, 0)).round(9)
        array([0., 1., 0.])
        """
        letters = sequence if isinstance(sequence, str) else ""
        if not 1 <= len(letters) <= 3 or letters.lower().strip("xyz") or letters not in (letters.lower(), letters.upper()):
            raise ModelError(f"Pose.from_euler: sequence {sequence!r}; give one to three of x, y, z, all capital or all small: 'ZYX'")
        turns = vector(np.atleast_1d(angles), len(letters), "Pose.from_euler angles")
        out = Pose()
        for letter, angle in zip(letters.lower(), np.radians(turns) if degrees else turns, strict=True):
            turn = Pose.about([float(letter == axis) for axis in "xyz"], float(angle))
            out = out @ turn if letters.isupper() else turn @ out
        return Pose(p, out.wxyz)

    @property
    def R(self) -> np.ndarray:
        """The 3×3 rotation."""
        return rotation_from_quaternion(self.wxyz)

    def matrix(self) -> np.ndarray:
        """The 4×4 homogeneous matrix."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.p
        return X

    def inverse(self) -> Pose:
        w, x, y, z = self.wxyz
        back = (w, -x, -y, -z)
        x, y, z = _rotate(back, self.p)
        return Pose._made((-x, -y, -z), back)

    def apply(self, point: Any) -> np.ndarray:
        """The point, given in B, in A."""
        return self.R @ np.asarray(point, float) + np.array(self.p)

    def __matmul__(self, other: Pose) -> Pose:
        a, b, p, q = self.wxyz, other.wxyz, self.p, _rotate(self.wxyz, other.p)
        w, x, y, z = (
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        )
        size = math.sqrt(w * w + x * x + y * y + z * z)
        return Pose._made((p[0] + q[0], p[1] + q[1], p[2] + q[2]), (w / size, x / size, y / size, z / size))

    @staticmethod
    def _made(p: tuple[float, float, float], wxyz: tuple[float, float, float, float]) -> Pose:
        """From numbers that came out of poses and need no checks; models of many bodies are built by this."""
        made = object.__new__(Pose)
        object.__setattr__(made, "p", p)
        object.__setattr__(made, "wxyz", wxyz)
        return made

    def flat(self) -> np.ndarray:
        """Twelve numbers: R row-major, then p, as kernels read it."""
        return np.concatenate([self.R.ravel(), self.p])
