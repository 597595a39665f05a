"""TorsionSpring: springs and dampers in the coordinates of a joint.

A coordinate q that counts along a degree of freedom (angle or slide):

    effort = −k (q − q₀) − c v,     E = ½ k (q − q₀)²

A Ball joint, by the rotation vector φ = log(R₀ᵀ R) from the rest R₀, with K = diag(k), v = ω:

    E = ½ φᵀ K φ,   δφ = J_r⁻¹ δω,   effort = −J_r⁻ᵀ K φ − c ω,   J_r⁻¹ = 1 + ½ [φ]× + b [φ]×²,
    b(θ) = 1/θ² − (1 + cos θ) / (2 θ sin θ) = (1 − (θ/2) cot(θ/2)) / θ²,   θ = |φ| ≤ π

which is finite up to θ = π, where φ, and with it the torque, changes sign: a Ball does not count turns. The derivative of the effort,
with w = K φ, is the product of two matrices:

    ∂(J_r⁻ᵀ w)/∂φ = K + ½ [w]× − ½ [φ]× K + (b′/θ) φ×(φ×w) φᵀ + b ([φ]×² K − [φ×w]× − [φ]× [w]×),   δφ = J_r⁻¹ δω

The implicit terms of a Ball are the diagonal above the symmetric part of that matrix (see `AddImplicit`); those of coordinates are exact.

Any other joint can be damped, −c v, and not sprung. A Composite is treated part by part.

Tables, one row per coordinate or Ball: `index`: kind (0 coordinate, 1 Ball, 2 damped only), q index, v index. `parameters`, ten:
k (3), c (3), rest (4, the quaternion of a Ball); a single degree of freedom uses the first of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from unibody.element import DAMPER_POWER, SPRING_ENERGY, JointView, Kinematics, Packing, name_of
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.joints.ball import Ball
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_back, cross, dot3, load3, norm3, rotation_of_quaternion, rotation_vector, scale3, sub3
from unibody.spatial.pose import skew

__all__ = ["TorsionSpring"]

COORDINATE, BALL, DAMPED = range(3)


@device
def inverse_jacobian_coefficient(angle):
    """b(θ)."""
    if angle < 1e-2:
        return 1.0 / 12.0 + angle * angle * (1.0 / 720.0 + angle * angle / 30240.0)
    half = 0.5 * angle
    return (1.0 - half * cos(half) / sin(half)) / (angle * angle)


@device
def inverse_jacobian_slope(angle):
    """b′(θ)/θ."""
    if angle < 0.1:
        return 1.0 / 360.0 + angle**2 / 7560.0 + angle**4 / 201600.0
    half = 0.5 * angle
    cot = cos(half) / sin(half)
    return ((half / sin(half) ** 2 - cot) / 2.0 - 2.0 * (1.0 - half * cot) / angle) / angle**3


@device
def ball_slope(phi, k, e):
    """The derivative of J_r⁻ᵀ K φ along a turn δω = e of M."""
    angle = norm3(phi)
    b = inverse_jacobian_coefficient(angle)
    turn = cross(phi, e)
    d = add3(e, add3(scale3(0.5, turn), scale3(b, cross(phi, turn))))
    w = (k[0] * phi[0], k[1] * phi[1], k[2] * phi[2])
    dw = (k[0] * d[0], k[1] * d[1], k[2] * d[2])
    once = cross(phi, w)
    rest = sub3(cross(phi, cross(phi, dw)), add3(cross(once, d), cross(phi, cross(w, d))))
    first = add3(dw, scale3(0.5, sub3(cross(w, d), cross(phi, dw))))
    return add3(first, add3(scale3(inverse_jacobian_slope(angle) * dot3(phi, d), cross(phi, once)), scale3(b, rest)))


@kernel
def add_torsion_springs(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 3):
        kind = index[3 * e]
        q0 = index[3 * e + 1]
        v0 = index[3 * e + 2]
        f = 10 * e
        if kind == BALL:
            rest = rotation_of_quaternion(parameters[f + 6], parameters[f + 7], parameters[f + 8], parameters[f + 9])
            phi = rotation_vector(compose_back(rest, rotation_of_quaternion(q[q0], q[q0 + 1], q[q0 + 2], q[q0 + 3])))
            w = (parameters[f] * phi[0], parameters[f + 1] * phi[1], parameters[f + 2] * phi[2])
            once = cross(phi, w)
            twice = scale3(inverse_jacobian_coefficient(norm3(phi)), cross(phi, once))
            torque = add3(w, add3(scale3(-0.5, once), twice))
            ledger_out[SPRING_ENERGY] += 0.5 * dot3(phi, w)
            for j in range(3):
                drag = parameters[f + 3 + j] * v[v0 + j]
                ledger_out[DAMPER_POWER] -= drag * v[v0 + j]
                effort_out[v0 + j] -= torque[j] + drag
        else:
            drag = parameters[f + 3] * v[v0]
            ledger_out[DAMPER_POWER] -= drag * v[v0]
            effort_out[v0] -= drag
            if kind == COORDINATE:
                stretch = q[q0] - parameters[f + 6]
                ledger_out[SPRING_ENERGY] += 0.5 * parameters[f] * stretch * stretch
                effort_out[v0] -= parameters[f] * stretch


@kernel
def add_implicit_torsion_springs(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 3):
        kind = index[3 * e]
        v0 = index[3 * e + 2]
        f = 10 * e
        if kind == BALL:
            q0 = index[3 * e + 1]
            rest = rotation_of_quaternion(parameters[f + 6], parameters[f + 7], parameters[f + 8], parameters[f + 9])
            phi = rotation_vector(compose_back(rest, rotation_of_quaternion(q[q0], q[q0 + 1], q[q0 + 2], q[q0 + 3])))
            k = load3(parameters, f)
            x = ball_slope(phi, k, (1.0, 0.0, 0.0))
            y = ball_slope(phi, k, (0.0, 1.0, 0.0))
            z = ball_slope(phi, k, (0.0, 0.0, 1.0))
            xy = 0.5 * abs(x[1] + y[0])
            xz = 0.5 * abs(x[2] + z[0])
            yz = 0.5 * abs(y[2] + z[1])
            above = (max(0.0, x[0] + xy + xz), max(0.0, y[1] + xy + yz), max(0.0, z[2] + xz + yz))
            for j in range(3):
                diagonal_out[v0 + j] += h * parameters[f + 3 + j] + h * h * above[j]
                effort_out[v0 + j] -= h * above[j] * v[v0 + j]
        else:
            diagonal_out[v0] += h * parameters[f + 3]
            if kind == COORDINATE:
                diagonal_out[v0] += h * h * parameters[f]
                effort_out[v0] -= h * parameters[f] * v[v0]


class Spring(NamedTuple):
    """One row: its q index, its place among the joint's own v, and its numbers (one each, or three and a quaternion)."""

    kind: int
    q: int
    v: int
    k: np.ndarray
    c: np.ndarray
    rest: np.ndarray


@dataclass(frozen=True)
class TorsionSpring(Force):
    """`stiffness` [N m/rad or N/m] and `damping` [N m s/rad or N s/m]: scalars, or one per degree of freedom; `rest`: a joint position
    (None: the neutral one; a scalar for a single coordinate); `dof`: one degree of freedom only (None: all).

    >>> TorsionSpring("elbow", stiffness=5.0, damping=0.1, rest=0.5).joints()
    ['elbow']
    """

    joint: Any
    stiffness: Any = 0.0
    damping: Any = 0.0
    rest: Any = None
    dof: int | None = None

    add_kernel = add_torsion_springs
    implicit_kernel = add_implicit_torsion_springs

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "TorsionSpring joint"))
        object.__setattr__(self, "stiffness", _numbers(self.stiffness, f"{self._title()} stiffness", negative=False))
        object.__setattr__(self, "damping", _numbers(self.damping, f"{self._title()} damping", negative=False))
        if self.rest is not None:
            object.__setattr__(self, "rest", _numbers(self.rest, f"{self._title()} rest", negative=True))
            if not np.any(self.stiffness):
                raise ModelError(f"{self._title()} rest given without stiffness; give stiffness= or leave rest out")
        if self.dof is None:
            return
        if isinstance(self.dof, bool) or not isinstance(self.dof, int | np.integer) or self.dof < 0:
            raise ModelError(f"{self._title()} dof {self.dof!r} is not a degree of freedom; give None, 0, 1, ...")
        for field in ("stiffness", "damping"):
            if isinstance(getattr(self, field), tuple):
                raise ModelError(f"{self._title()} {field} {getattr(self, field)} for the one dof {self.dof}; give one number")

    def joints(self) -> list[str]:
        return [self.joint]

    def started(self, packing: Packing, name: str) -> TorsionSpring:
        self._springs(packing.joint(self.joint))
        return self

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        index: list[int] = []
        parameters: list[float] = []
        for s in self._springs(joint):
            index += [s.kind, s.q, joint.v_start + s.v]
            for values, width in ((s.k, 3), (s.c, 3), (s.rest, 4)):
                parameters += [*values.tolist(), *[0.0] * (width - values.size)]
        return index, parameters

    def energy(self, kinematics: Kinematics) -> float:
        return sum(0.5 * float(s.k @ _displacement(s, kinematics.q) ** 2) for s in self._springs_of(kinematics))

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        v = kinematics.joint_v(self.joint)
        effort = np.zeros(v.size)
        for s in self._springs_of(kinematics):
            along = slice(s.v, s.v + s.c.size)
            phi = _displacement(s, kinematics.q)
            pull = s.k * phi
            effort[along] -= (_inverse_jacobian(phi).T @ pull if s.kind == BALL else pull) + s.c * v[along]
            loads.ledger[SPRING_ENERGY] += 0.5 * float(phi @ pull)
            loads.ledger[DAMPER_POWER] -= float(s.c @ v[along] ** 2)
        loads.add_effort(self.joint, effort)

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        nv = kinematics.names.joint(self.joint).nv
        block = np.zeros((nv, nv))
        for s in self._springs_of(kinematics):
            along = slice(s.v, s.v + s.c.size)
            block[along, along] = _ball_stiffness(_displacement(s, kinematics.q), s.k) if s.kind == BALL else -np.diag(s.k)
        return {(self.joint, self.joint): block}

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        damping = np.zeros(kinematics.names.joint(self.joint).nv)
        for s in self._springs_of(kinematics):
            damping[s.v : s.v + s.c.size] = s.c
        return {(self.joint, self.joint): -np.diag(damping)}

    def _title(self) -> str:
        return f"TorsionSpring on joint '{self.joint}':"

    def _springs_of(self, kinematics: Kinematics) -> list[Spring]:
        return self._springs(kinematics.names.joint(self.joint))

    def _springs(self, joint: JointView) -> list[Spring]:
        """One row per coordinate, Ball or damped degree of freedom that is sprung or damped; refuses what the joint cannot have."""
        if self.dof is not None and self.dof >= joint.nv:
            raise ModelError(f"{self._title()} dof {self.dof} of a joint with {joint.nv} degrees of freedom; give a smaller one, or None")
        k, c = self._per_dof(self.stiffness, "stiffness", joint.nv), self._per_dof(self.damping, "damping", joint.nv)
        rest = self._rest(joint)
        scalar = joint.scalar_dofs()
        springs: list[Spring] = []
        at_q = at_v = 0
        for part in joint.element.parts():
            dofs = range(at_v, at_v + part.nv)
            sprung = bool(k[at_v : at_v + part.nv].any())
            if sprung and isinstance(part, Ball):
                span = slice(at_v, at_v + 3)
                springs.append(Spring(BALL, joint.q_start + at_q, at_v, k[span], c[span], self._rest_rotation(rest[at_q : at_q + 4])))
            else:
                for i in dofs:
                    if i in scalar and (k[i] > 0.0 or c[i] > 0.0):
                        own = scalar[i] - joint.q_start
                        springs.append(Spring(COORDINATE, scalar[i], i, k[i : i + 1], c[i : i + 1], rest[own : own + 1]))
                    elif k[i] > 0.0:
                        raise ModelError(
                            f"{self._title()} stiffness {k[i]:g} on dof {i} of {type(part).__name__}, which has no scalar coordinate;"
                            " leave it 0 (damping works), use SpringDamper between points, or build the joint from Ball and Translational"
                        )
                    elif c[i] > 0.0:
                        springs.append(Spring(DAMPED, 0, i, np.zeros(1), c[i : i + 1], np.zeros(1)))
            at_q, at_v = at_q + part.nq, at_v + part.nv
        return springs

    def _per_dof(self, value: float | tuple[float, ...], field: str, nv: int) -> np.ndarray:
        if isinstance(value, tuple):
            if len(value) != nv:
                raise ModelError(f"{self._title()} {len(value)} values of {field} for {nv} degrees of freedom; give one, or one for each")
            return np.array(value)
        out = np.zeros(nv)
        out[slice(None) if self.dof is None else self.dof] = value
        return out

    def _rest(self, joint: JointView) -> np.ndarray:
        neutral = np.asarray(joint.element.neutral(), float)
        if self.rest is None:
            return neutral
        if isinstance(self.rest, tuple):
            if len(self.rest) != joint.nq:
                raise ModelError(f"{self._title()} rest has {len(self.rest)} numbers; a position of this joint has {joint.nq}")
            return np.array(self.rest)
        coordinate = joint.scalar_dofs().get(0 if self.dof is None else int(self.dof))
        if coordinate is None or (self.dof is None and joint.nv != 1):
            raise ModelError(f"{self._title()} rest {self.rest:g} is one number; a position of this joint has {joint.nq}")
        neutral[coordinate - joint.q_start] = self.rest
        return neutral

    def _rest_rotation(self, quaternion: np.ndarray) -> np.ndarray:
        size = float(np.linalg.norm(quaternion))
        if size < 1e-12:
            raise ModelError(f"{self._title()} rest {tuple(quaternion.tolist())} of a Ball has no direction; give a unit wxyz")
        return quaternion / size


def _displacement(spring: Spring, q: np.ndarray) -> np.ndarray:
    """q − q₀, or φ."""
    if spring.kind == BALL:
        return Ball().difference(spring.rest, q[spring.q : spring.q + 4])
    if spring.kind == COORDINATE:
        return q[spring.q : spring.q + 1] - spring.rest
    return np.zeros(1)


def _inverse_jacobian(phi: np.ndarray) -> np.ndarray:
    """J_r⁻¹(φ)."""
    P = skew(phi)
    return np.eye(3) + 0.5 * P + inverse_jacobian_coefficient(float(np.linalg.norm(phi))) * P @ P


def _ball_stiffness(phi: np.ndarray, k: np.ndarray) -> np.ndarray:
    """The derivative of −J_r⁻ᵀ K φ with respect to a turn δω of M."""
    angle = float(np.linalg.norm(phi))
    b, slope = inverse_jacobian_coefficient(angle), inverse_jacobian_slope(angle)
    K, P, w = np.diag(k), skew(phi), k * phi
    by_phi = K + 0.5 * skew(w) - 0.5 * P @ K + slope * np.outer(P @ P @ w, phi) + b * (P @ P @ K - skew(P @ w) - P @ skew(w))
    return -by_phi @ _inverse_jacobian(phi)


def _numbers(value: Any, what: str, *, negative: bool) -> float | tuple[float, ...]:
    """A finite number, or a tuple of them."""
    try:
        x = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} {value!r} is not numeric; give a number, or a list of them") from None
    if x.ndim > 1:
        raise ModelError(f"{what} has shape {x.shape}; give a number, or one for each degree of freedom")
    if not np.isfinite(x).all():
        raise ModelError(f"{what} {value!r} is not finite; give finite numbers")
    if not negative and (x < 0.0).any():
        raise ModelError(f"{what} {value!r} is negative; give 0 or more")
    return float(x) if x.ndim == 0 else tuple(x.tolist())
