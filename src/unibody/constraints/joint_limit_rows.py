"""The rows of joint limits: what is measured, its slope along v and the slope's own rate. All are C = sign (x − bound) ≥ 0 of an x:

    COORDINATE    x = q_i                                        ẋ = v_i
    SLIDE         x = a·p, p the place of M in F                 ẋ = (Rᵀ a)·v_lin            ẍ = (Rᵀ a)·(ω × v_lin) where v̇ = 0
    SWING         x = φ, the angle between the axis a of M and the same axis of F
    TWIST         x = θ, the turn about a that is left when the swing is taken away

with R = R_FM and velocities (ω, v_lin) in M's axes. Of a swing: u = Rᵀ a, what F's axis is in M, and m = u × a give

    tan φ = |m| / (u·a),     φ̇ = n·ω,  n = m / |m|,     φ̈ = ṅ·ω = (ṁ·ω − (n·ṁ)(n·ω)) / |m|,   ṁ = −(ω × u) × a

Of a twist: with the unit quaternion (w, u), s = u·a and N = w² + s²,

    tan θ/2 = s / w,     θ̇ = n·ω,  N n = w² a + w a × u + s u,     θ̈ = (d(N n)/dt·ω − Ṅ θ̇) / N

Where there is no direction (axes that are parallel; a swing by half a turn, which has no twist) the row is zero.

Tables: own integers: number of entries of J in a row, number of rows, then per row (kind, first entry, q index, v index); own parameters
per row: sign, bound, a (3).
"""

from __future__ import annotations

from math import atan2
from typing import NamedTuple

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, rotate_back, rotation_of_quaternion, scale3
from unibody.spatial.pose import rotation_from_quaternion

COORDINATE, SLIDE, SWING, TWIST = range(4)

PARALLEL = 1e-9
"""Below this sine of the angle there is no direction in which it grows."""


class LimitRow(NamedTuple):
    """One row: its kind, its first degree of freedom in the joint, where its part begins in q and v, and the rest of the above."""

    kind: int
    dof: int
    place: int
    start: int
    sign: float
    bound: float
    axis: tuple[float, ...]


@device
def swing_of(w, x, y, z, omega, a):
    """φ, n and φ̈ when ω̇ = 0."""
    u = rotate_back(rotation_of_quaternion(w, x, y, z), a)
    m = cross(u, a)
    size = norm3(m)
    inverse = 1.0 / size if size > PARALLEL else 0.0
    n = scale3(inverse, m)
    m_rate = cross(cross(u, omega), a)
    return atan2(size, dot3(u, a)), n, (dot3(m_rate, omega) - dot3(n, m_rate) * dot3(n, omega)) * inverse


@device
def twist_of(w, x, y, z, omega, a):
    """θ in (−π, π], n and θ̈ when ω̇ = 0."""
    turn = -1.0 if w < 0.0 else 1.0
    w, u = turn * w, (turn * x, turn * y, turn * z)
    s = dot3(u, a)
    size = w * w + s * s
    inverse = 1.0 / size if size > PARALLEL * PARALLEL else 0.0
    w_rate = -0.5 * dot3(u, omega)
    u_rate = scale3(0.5, add3(scale3(w, omega), cross(u, omega)))
    s_rate = dot3(u_rate, a)
    n = scale3(inverse, add3(scale3(w * w, a), add3(scale3(w, cross(a, u)), scale3(s, u))))
    first = add3(scale3(2.0 * w * w_rate, a), scale3(w_rate, cross(a, u)))
    second = add3(scale3(w, cross(a, u_rate)), add3(scale3(s_rate, u), scale3(s, u_rate)))
    bias = inverse * (dot3(add3(first, second), omega) - 2.0 * (w * w_rate + s * s_rate) * dot3(n, omega))
    return 2.0 * atan2(s, w), n, bias


@kernel
def fill_joint_limits(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        # a limit: its first row, its first entry of J, its joint's degrees of freedom, its rows
        row = index[i]
        entry = index[i + 2]
        n = index[i + 3]
        rows = index[i + 4]
        i += 5
        for k in range(rows):
            # a row: x of one kind against its bound, sign (x − bound) ≥ 0
            kind = index[i]
            at = entry + n * k + index[i + 1]
            place = index[i + 2]
            start = index[i + 3]
            sign = parameters[f]
            for j in range(n):
                J_out[entry + n * k + j] = 0.0
            bias = 0.0
            if kind == COORDINATE:
                x = q[place]
                J_out[at] = sign
            # along a of a Free joint: x = a · p, its rate u · v with u = Rᵀ a
            elif kind == SLIDE:
                a = load3(parameters, f + 2)
                u = rotate_back(rotation_of_quaternion(q[place + 3], q[place + 4], q[place + 5], q[place + 6]), a)
                x = dot3(a, load3(q, place))
                bias = dot3(u, cross(load3(v, start), load3(v, start + 3)))
                for j in range(3):
                    J_out[at + 3 + j] = sign * u[j]
            # the swing of a, or the twist about a, of a rotation
            else:
                a = load3(parameters, f + 2)
                omega = load3(v, start)
                if kind == SWING:
                    x, slope, bias = swing_of(q[place], q[place + 1], q[place + 2], q[place + 3], omega, a)
                else:
                    x, slope, bias = twist_of(q[place], q[place + 1], q[place + 2], q[place + 3], omega, a)
                for j in range(3):
                    J_out[at + j] = sign * slope[j]
            residual_out[row + k] = sign * (x - parameters[f + 1])
            bias_out[row + k] = sign * bias
            i += 4
            f += 5


def measure(row: LimitRow, q: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray, float]:
    """x, ẋ's coefficients of the velocities from the row's own on, and ẍ when v̇ = 0. `q`, `v`: of the whole model."""
    a = np.array(row.axis)
    if row.kind == COORDINATE:
        return float(q[row.place]), np.ones(1), 0.0
    if row.kind == SLIDE:
        u = rotation_from_quaternion(q[row.place + 3 : row.place + 7]).T @ a
        omega, way = v[row.start : row.start + 3], v[row.start + 3 : row.start + 6]
        return float(a @ q[row.place : row.place + 3]), np.concatenate([np.zeros(3), u]), float(u @ np.cross(omega, way))
    turn, omega = q[row.place : row.place + 4], v[row.start : row.start + 3]
    return _swing(turn, omega, a) if row.kind == SWING else _twist(turn, omega, a)


def _swing(turn: np.ndarray, omega: np.ndarray, a: np.ndarray) -> tuple[float, np.ndarray, float]:
    u = rotation_from_quaternion(turn).T @ a
    m = np.cross(u, a)
    size = float(np.linalg.norm(m))
    inverse = 1.0 / size if size > PARALLEL else 0.0
    n, m_rate = inverse * m, np.cross(np.cross(u, omega), a)
    return float(np.arctan2(size, u @ a)), n, float(m_rate @ omega - (n @ m_rate) * (n @ omega)) * inverse


def _twist(turn: np.ndarray, omega: np.ndarray, a: np.ndarray) -> tuple[float, np.ndarray, float]:
    """By quotients of the pair (w, s) and its rates, θ = 2 arg(w + i s), instead of the kernel's closed form."""
    w, u = (turn[0], turn[1:]) if turn[0] >= 0.0 else (-turn[0], -turn[1:])
    pair = np.array([w, u @ a])
    size = float(pair @ pair)
    if not size > PARALLEL**2:
        return float(2.0 * np.arctan2(pair[1], pair[0])), np.zeros(3), 0.0
    slopes = 0.5 * np.stack([-u, w * a + np.cross(a, u)])
    n = 2.0 * (pair[0] * slopes[1] - pair[1] * slopes[0]) / size
    rate = slopes @ omega
    again = -0.25 * float(omega @ omega) * pair  # the second rate of a quaternion that turns at a constant ω
    bias = 2.0 * (pair[0] * again[1] - pair[1] * again[0]) / size - 2.0 * float(pair @ rate) / size * float(n @ omega)
    return float(2.0 * np.arctan2(pair[1], pair[0])), n, float(bias)
