"""JointLimit: joint coordinates stay within bounds; a Ball within a cone.

    scalar coordinates:  C = q − lower ≥ 0,  C = upper − q ≥ 0       (a row for every finite bound)
    Ball:                C = upper − φ ≥ 0,  φ the angle between an axis a of M and the same axis of F

With u = R_FMᵀ a, what F's axis is in M, and m = u × a:  tan φ = |m| / (u·a),  φ̇ = n·ω,  n = m / |m|, so that J = −nᵀ and

    bias = −ṅ·ω = −(ṁ·ω − (n·ṁ)(n·ω)) / |m|,   ṁ = −(ω × u) × a

Where the axes are parallel there is no direction and the row is zero. The multiplier is the effort [N m or N] away from the bound, ≥ 0.

Tables: own integers of scalar coordinates: number of coordinates n, number of rows m, then m pairs (which coordinate, q index); own
parameters: m pairs (sign, bound). Of a Ball: −1, its q index, its v index; upper, a (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import atan2
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, unit_direction
from unibody.constraints.joint_coordinates import chosen_dofs, place_of, unit_of
from unibody.element import JointView, Kinematics, Packing, name_of, number
from unibody.errors import ModelError
from unibody.joints.ball import Ball
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import cross, dot3, load3, norm3, rotate_back, rotation_of_quaternion, scale3
from unibody.spatial.pose import rotation_from_quaternion

PARALLEL = 1e-9
"""Below this sine of the angle there is no direction in which it grows."""


@kernel
def fill_joint_limits(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        row = index[i]
        entry = index[i + 2]
        n = index[i + 3]
        if n >= 0:
            rows = index[i + 4]
            for k in range(rows):
                sign = parameters[f + 2 * k]
                residual_out[row + k] = sign * (q[index[i + 6 + 2 * k]] - parameters[f + 2 * k + 1])
                bias_out[row + k] = 0.0
                for j in range(n):
                    J_out[entry + n * k + j] = sign if j == index[i + 5 + 2 * k] else 0.0
            i += 5 + 2 * rows
            f += 2 * rows
        else:
            at = index[i + 4]
            omega = load3(v, index[i + 5])
            a = load3(parameters, f + 1)
            u = rotate_back(rotation_of_quaternion(q[at], q[at + 1], q[at + 2], q[at + 3]), a)
            m = cross(u, a)
            size = norm3(m)
            inverse = 1.0 / size if size > PARALLEL else 0.0
            normal = scale3(inverse, m)
            m_rate = cross(cross(u, omega), a)
            residual_out[row] = parameters[f] - atan2(size, dot3(u, a))
            bias_out[row] = -(dot3(m_rate, omega) - dot3(normal, m_rate) * dot3(normal, omega)) * inverse
            for j in range(3):
                J_out[entry + j] = -normal[j]
            i += 6
            f += 4


@dataclass(frozen=True)
class JointLimit(Constraint):
    """`lower` ≤ q ≤ `upper` for the coordinates of `joint`: numbers, or one per degree of freedom; infinite bounds hold nothing.
    `dof`: None all of them, or which. On a Ball: `upper` is the largest angle between its `axis` in F and in M.

    >>> JointLimit("knee", lower=0.0, upper=2.5).unilateral
    True
    """

    joint: Any
    lower: Any = -np.inf
    upper: Any = np.inf
    dof: Any = None
    axis: Any = (0.0, 0.0, 1.0)
    rows: int = field(default=1, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("rad",), init=False, repr=False, compare=False)
    cone: bool = field(default=False, init=False, repr=False, compare=False)

    unilateral = True
    fill_kernel = fill_joint_limits

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "JointLimit joint"))
        what = f"JointLimit on joint '{self.joint}'"
        for name in ("lower", "upper"):
            given = getattr(self, name)
            values = [number(x, f"{what} {name}", infinite=True) for x in (given if np.ndim(given) else [given])]
            object.__setattr__(self, name, tuple(values) if np.ndim(given) else values[0])
        low, high = np.broadcast_arrays(self.lower, self.upper) if self._match() else (None, None)
        if low is None or high is None:
            raise ModelError(f"{what}: {np.size(self.lower)} lower and {np.size(self.upper)} upper bounds; give numbers or one per dof")
        if not (np.isfinite(low).any() or np.isfinite(high).any()):
            raise ModelError(f"{what}: no bound is finite, which limits nothing; give lower or upper")
        if (low > high).any() or (low == np.inf).any() or (high == -np.inf).any():
            raise ModelError(f"{what}: lower {self.lower} lies above upper {self.upper}; give lower ≤ upper")
        object.__setattr__(self, "axis", unit_direction(self.axis, what, "axis"))

    def _match(self) -> bool:
        return np.ndim(self.lower) == 0 or np.ndim(self.upper) == 0 or np.shape(self.lower) == np.shape(self.upper)

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing: Packing) -> list[int]:
        joint = packing.joint(self.joint)
        return [joint.v_start + d for d in self._chosen(joint)]

    def started(self, packing: Packing, name: str) -> JointLimit:
        joint, what = packing.joint(self.joint), f"JointLimit '{name}'"
        if isinstance(joint.element, Ball):
            return self._coned(what)
        dofs = self._chosen(joint)
        self._places(packing)
        bounds = []
        for given, side in ((self.lower, "lower"), (self.upper, "upper")):
            if np.ndim(given) and len(given) != len(dofs):
                raise ModelError(f"{what}: {len(given)} {side} bounds for {len(dofs)} degrees of freedom; give a number or {len(dofs)}")
            bounds.append(tuple(np.broadcast_to(given, len(dofs)).tolist()))
        out = replace(self, lower=bounds[0], upper=bounds[1], dof=dofs)
        rows = out._bounds()
        object.__setattr__(out, "rows", len(rows))
        object.__setattr__(out, "units", tuple(unit_of(joint, dofs[k]) for k, _, _ in rows))
        return out

    def _coned(self, what: str) -> JointLimit:
        if np.ndim(self.upper) or not np.isfinite(self.upper) or not 0.0 < self.upper <= np.pi:
            raise ModelError(f"{what}: upper {self.upper} is no angle of a Ball's cone; give one number above 0, at most π")
        if np.ndim(self.lower) or (np.isfinite(self.lower) and self.lower != 0.0) or self.dof is not None:
            raise ModelError(f"{what}: a Ball has no scalar coordinate, so lower and dof say nothing; give upper, the angle of its cone")
        out = replace(self)
        object.__setattr__(out, "cone", True)
        return out

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        if self.cone:
            return [-1, joint.q_start, joint.v_start], [self.upper, *self.axis]
        places, rows = self._places(packing), self._bounds()
        own = [i for k, _, _ in rows for i in (k, places[k])]
        return [len(places), len(rows), *own], [x for _, sign, bound in rows for x in (sign, bound)]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        joint = kinematics.names.joint(self.joint)
        if self.cone:
            return self._evaluate_cone(kinematics)
        places, rows, dofs = self._places(kinematics.names), self._bounds(), self._chosen(joint)
        J = np.zeros((len(rows), joint.nv))
        for r, (k, sign, _) in enumerate(rows):
            J[r, dofs[k]] = sign
        residual = np.array([sign * (kinematics.q[places[k]] - bound) for k, sign, bound in rows])
        return Rows(residual, {}, {self.joint: J}, np.zeros(len(rows)))

    def _evaluate_cone(self, kinematics: Kinematics) -> Rows:
        a, omega = np.array(self.axis), kinematics.joint_v(self.joint)
        u = rotation_from_quaternion(kinematics.joint_q(self.joint)).T @ a
        m = np.cross(u, a)
        size = float(np.linalg.norm(m))
        inverse = 1.0 / size if size > PARALLEL else 0.0
        n, m_rate = inverse * m, np.cross(np.cross(u, omega), a)
        bias = -(m_rate @ omega - (n @ m_rate) * (n @ omega)) * inverse
        return Rows(np.array([self.upper - np.arctan2(size, u @ a)]), {}, {self.joint: -n[None, :]}, np.array([bias]))

    def _bounds(self) -> list[tuple[int, float, float]]:
        """Which coordinate, sign and bound of every row."""
        pairs = zip(np.atleast_1d(self.lower), np.atleast_1d(self.upper), strict=True)
        rows = [(k, sign, float(b)) for k, ends in enumerate(pairs) for sign, b in zip((1.0, -1.0), ends, strict=True)]
        return [row for row in rows if np.isfinite(row[2])]

    def _chosen(self, joint: JointView) -> tuple[int, ...]:
        return (0, 1, 2) if isinstance(joint.element, Ball) else chosen_dofs(joint, self.dof, "JointLimit")

    def _places(self, packing: Packing) -> list[int]:
        return [place_of(packing, (self.joint, d), "JointLimit") for d in self._chosen(packing.joint(self.joint))]
