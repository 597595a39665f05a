"""Composite: several joints in a row between one parent and one child.

    X_FM = X₁ X₂ … X_k,   S = [Ad(Y_i⁻¹) S_i] with Y_i = X_{i+1} … X_k

and with V_i the twist of everything after part i seen from M, the bias adds −ad(V_i) Ad(Y_i⁻¹) S_i v_i. The model lays the
parts out one after the other and composes them without knowing their types, so no massless bodies are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.errors import ModelError
from unibody.joints.base import Joint
from unibody.measure import Measure, gimbal, universal
from unibody.spatial.pose import ad, adjoint

__all__ = ["Composite"]


@dataclass(frozen=True, init=False)
class Composite(Joint):
    """`Composite(Prismatic((1, 0, 0)), Revolute((0, 0, 1)))`: the coordinates of the parts one after the other."""

    joints: tuple[Joint, ...]

    def __init__(self, *joints: Joint):
        flat = [part for joint in joints for part in joint.parts()]
        if not flat:
            raise ModelError("Composite: no joints given; give at least one")
        if sum(j.nv for j in flat) > 6:
            raise ModelError(f"Composite: {sum(j.nv for j in flat)} degrees of freedom; a joint has at most 6")
        object.__setattr__(self, "joints", tuple(flat))

    @property
    def nq(self) -> int:  # type: ignore[override]
        return sum(j.nq for j in self.joints)

    @property
    def nv(self) -> int:  # type: ignore[override]
        return sum(j.nv for j in self.joints)

    def parts(self) -> list[Joint]:
        return list(self.joints)

    def _split(self, x: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
        return np.split(np.asarray(x, float), np.cumsum(sizes)[:-1])

    def _qs(self, q: np.ndarray) -> list[np.ndarray]:
        return self._split(q, [j.nq for j in self.joints])

    def _vs(self, v: np.ndarray) -> list[np.ndarray]:
        return self._split(v, [j.nv for j in self.joints])

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R, p = np.eye(3), np.zeros(3)
        for joint, part in zip(self.joints, self._qs(q), strict=True):
            R_i, p_i = joint.pose(part)
            R, p = R @ R_i, p + R @ p_i
        return R, p

    def motion(self, q: np.ndarray) -> np.ndarray:
        columns: list[np.ndarray] = []
        for joint, part in zip(self.joints, self._qs(q), strict=True):
            R, p = joint.pose(part)
            back = adjoint(R.T, -R.T @ p)
            columns = [back @ c for c in columns] + [joint.motion(part)]
        return np.concatenate(columns, axis=1)

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        V, c = np.zeros(6), np.zeros(6)
        for joint, qi, vi in zip(self.joints, self._qs(q), self._vs(v), strict=True):
            R, p = joint.pose(qi)
            back = adjoint(R.T, -R.T @ p)
            step = joint.motion(qi) @ vi
            V = back @ V
            c = back @ c - ad(step) @ V + joint.bias(qi, vi)
            V = V + step
        return c

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([j.rate(a, b) for j, a, b in zip(self.joints, self._qs(q), self._vs(v), strict=True)])

    def advance(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        return np.concatenate([j.advance(a, b, dt) for j, a, b in zip(self.joints, self._qs(q), self._vs(v), strict=True)])

    def neutral(self) -> np.ndarray:
        return np.concatenate([j.neutral() for j in self.joints])

    def difference(self, q_rest: np.ndarray, q: np.ndarray) -> np.ndarray:
        pairs = zip(self.joints, self._qs(q_rest), self._qs(q), strict=True)
        return np.concatenate([j.difference(a, b) for j, a, b in pairs])

    def measures(self) -> dict[int, Measure]:
        """Of two or three turns in a row about axes through one point."""
        if not 2 <= len(self.joints) <= 3 or any(type(j).__dict__.get("column") != "rotation" for j in self.joints):
            return {}
        axes = [np.asarray(j.motion(j.neutral()))[:3, 0] for j in self.joints]
        return universal(*axes) if len(axes) == 2 else gimbal(*axes)
