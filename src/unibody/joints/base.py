"""What a joint is: how frame M, fixed in the child, may move in frame F, fixed in the parent.

    X_FM(q)        `pose`      where M is in F
    V_FM = S(q) v  `motion`    twist of M in F, in M's axes at M's origin, angular first
    Ṡ v            `bias`      the rate of S along the motion, times v, in M's axes

That suffices for every coordinate system: reduced coordinates move along the columns of S, maximal ones forbid the
complement of S. Joints whose velocities are not the rates of their coordinates (quaternions) add `rate` and `advance`.

A class with only these NumPy methods works in every solver, through a callback. A class that also gives `fill_kernel` (and
`advance_kernel`, `rate_kernel` where its coordinates need them) runs at compiled speed. Kernels see all joints of a class at
once: `index` holds three numbers per joint (its row, the offset of its q, the offset of its v), `parameters` the numbers of
`Joint.parameters` one joint after the other.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, kernel, prototype
from unibody.measure import Measure
from unibody.spatial.pose import vector3, vector_from_rotation

__all__ = ["Joint"]

JOINT_CLASS = 9
"""fill, advance, rate: addresses; index from, to; parameters from, to; parameters of advance and rate from, to."""

PART = 5
"""A part of a composite joint: its joint's row, its own row, first v, number of v, 1 if it is the first part."""


@prototype
def FillJoints(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    """X_FM (12 numbers a row: R row-major, p), S (6 a degree of freedom), Ṡ v (6 a row) of all joints of a class."""


@prototype
def AdvanceJoints(index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """q moved along v for a time h, back on its manifold (with h = 0: only that)."""


@prototype
def RateJoints(index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """The time derivative of q."""


class Joint:
    """Base of all joints. Subclasses are frozen dataclasses and set `nq` and `nv`."""

    nq: int
    nv: int
    fill_kernel: ClassVar[Kernel | None] = None
    advance_kernel: ClassVar[Kernel | None] = None
    rate_kernel: ClassVar[Kernel | None] = None
    column: ClassVar[str] = ""
    """A promise that sweeps may rely on, made by a class for itself (subclasses do not inherit it): "rotation" for R = exp([a]× q), p = 0,
    S = (a, 0) with a constant unit axis a; "slide" for R = 1, S = (0, a) with a constant axis; "none" for R = 1, p = 0 and no S."""

    quaternion: ClassVar[int | None] = None
    """A promise that a class makes: q holds the unit quaternion of R_FM from here on, with p_FM before it if nv = 6, and v is the twist of
    M in F, in M's axes, of which a joint with nv = 3 has the angular part."""

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R_FM (3×3) and p_FM (3)."""
        raise NotImplementedError(f"{type(self).__name__} must give pose(q)")

    def motion(self, q: np.ndarray) -> np.ndarray:
        """S (6×nv)."""
        raise NotImplementedError(f"{type(self).__name__} must give motion(q)")

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ṡ v (6). Unless given: central differences of `motion` along the motion, good to about nine digits."""
        step = 1e-5 / max(1.0, float(np.abs(v).max(initial=0.0)))
        ahead, behind = self.motion(self.advance(q, v, step)), self.motion(self.advance(q, v, -step))
        return (ahead - behind) @ v / (2.0 * step)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The time derivative of q (nq). Unless given: v itself."""
        if self.nq != self.nv:
            raise ModelError(f"joint class {type(self).__name__}: nq = {self.nq} differs from nv = {self.nv}; give rate(q, v)")
        return np.array(v, float)

    def advance(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        """q after moving with constant v for dt. Unless given: a straight line in q."""
        return q + dt * self.rate(q, v)

    def neutral(self) -> np.ndarray:
        """The q at which F and M coincide, or the natural zero."""
        return np.zeros(self.nq)

    def difference(self, q_rest: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The displacement (nv) from q_rest to q that joint springs pull on. Unless given: q − q_rest."""
        if self.nq != self.nv:
            raise ModelError(f"joint class {type(self).__name__} has no springs of its own; give difference(q_rest, q)")
        return q - q_rest

    def fit(self, R: np.ndarray, p: np.ndarray, q_near: np.ndarray) -> np.ndarray:
        """The q nearest to the pose (R, p) of M in F, starting from q_near: Gauss–Newton on pose and motion."""
        q = np.array(q_near, float)
        for _ in range(20):
            R0, p0 = self.pose(q)
            error = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
            step = np.linalg.lstsq(self.motion(q), error, rcond=1e-10)[0]
            q = self.advance(q, step, 1.0)
            if np.abs(step).max(initial=0.0) < 1e-13:
                break
        return q

    def parameters(self) -> np.ndarray:
        """The numbers that kernels need; every instance of a class has equally many."""
        values = [np.asarray(getattr(self, f.name), float).ravel() for f in fields(self)]  # type: ignore[arg-type]
        return np.concatenate(values) if values else np.zeros(0)

    def parts(self) -> list[Joint]:
        """The elementary joints this one consists of, from F to M."""
        return [self]

    def measures(self) -> dict[int, Measure]:
        """Optional: which measures between M (first) and F (second) its coordinates are, by their places in q, of those whose rate is their
        velocity. Solvers that ask for them find the other coordinates by `pose` and `motion`."""
        return {}


@kernel
def advance_straight(index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """q + h v for joints whose rates are their velocities. `parameters[0]` is their number of degrees of freedom."""
    n = int(parameters[0])
    for k in range(index.size // 3):
        q0 = index[3 * k + 1]
        v0 = index[3 * k + 2]
        for j in range(n):
            q_out[q0 + j] = q[q0 + j] + h * v[v0 + j]


@kernel
def rate_straight(index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """v for joints whose rates are their velocities. `parameters[0]` is their number of degrees of freedom."""
    n = int(parameters[0])
    for k in range(index.size // 3):
        for j in range(n):
            qdot_out[index[3 * k + 1] + j] = v[index[3 * k + 2] + j]


def unit_axis(axis: Any, what: str) -> tuple[float, float, float]:
    """The axis made unit; a zero or non-finite one is refused."""
    a = vector3(axis, f"{what} axis")
    size = float(np.linalg.norm(a))
    if size == 0.0:
        raise ModelError(f"{what}: axis {tuple(float(x) for x in a)} has no direction; give a non-zero axis")
    a = a / size if abs(size - 1.0) > 1e-15 else a  # unit already: the same numbers again
    return (float(a[0]), float(a[1]), float(a[2]))
