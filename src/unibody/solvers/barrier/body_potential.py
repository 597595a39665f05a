"""What every affine body has by itself in a step: inertia against its prediction, stiffness, constant loads (paper 003, Eq. 1 and §3.2).

    ½ (Q − Q̃)ᵀ M (Q − Q̃) + β h² (P(A) − f · (Q − Q̃)),   P = (Y V / 8) |AᵀA − 1|² as in `coordinates.affine.body`

Q runs over all bodies, 12 numbers each; Q̃, f (12 each), M (16 each) and c = Y V over the moving ones, whose bodies `moving` lists.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Places, Potential
from unibody.spatial.devices import dot3, load3

SWEEPS = 8


@device
def strain_of(a, b, c):
    """(E₁₁, E₂₂, E₃₃, E₂₃, E₁₃, E₁₂) of AᵀA − 1 from the columns of A."""
    return (dot3(a, a) - 1.0, dot3(b, b) - 1.0, dot3(c, c) - 1.0, dot3(b, c), dot3(a, c), dot3(a, b))


@device
def turn(x, y, z):
    """Cosine, sine of the rotation that makes ( x z ; z y ) diagonal (Jacobi)."""
    if z == 0.0:
        return 1.0, 0.0
    theta = (y - x) / (2.0 * z)
    t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + sqrt(theta * theta + 1.0))
    c = 1.0 / sqrt(t * t + 1.0)
    return c, t * c


@device
def positive_part(E):
    """The positive part of a symmetric 3×3 matrix, both as six numbers, by Jacobi's rotations."""
    xx, yy, zz, yz, xz, xy = E
    u = (1.0, 0.0, 0.0)
    v = (0.0, 1.0, 0.0)
    w = (0.0, 0.0, 1.0)
    for _ in range(SWEEPS):
        if yz * yz + xz * xz + xy * xy <= 1e-30 * (xx * xx + yy * yy + zz * zz):
            break
        c, s = turn(xx, yy, xy)
        xx, yy, xy = c * c * xx - 2.0 * c * s * xy + s * s * yy, s * s * xx + 2.0 * c * s * xy + c * c * yy, 0.0
        xz, yz = c * xz - s * yz, s * xz + c * yz
        u, v = (
            (c * u[0] - s * v[0], c * u[1] - s * v[1], c * u[2] - s * v[2]),
            (s * u[0] + c * v[0], s * u[1] + c * v[1], s * u[2] + c * v[2]),
        )
        c, s = turn(xx, zz, xz)
        xx, zz, xz = c * c * xx - 2.0 * c * s * xz + s * s * zz, s * s * xx + 2.0 * c * s * xz + c * c * zz, 0.0
        xy, yz = c * xy - s * yz, s * xy + c * yz
        u, w = (
            (c * u[0] - s * w[0], c * u[1] - s * w[1], c * u[2] - s * w[2]),
            (s * u[0] + c * w[0], s * u[1] + c * w[1], s * u[2] + c * w[2]),
        )
        c, s = turn(yy, zz, yz)
        yy, zz, yz = c * c * yy - 2.0 * c * s * yz + s * s * zz, s * s * yy + 2.0 * c * s * yz + c * c * zz, 0.0
        xy, xz = c * xy - s * xz, s * xy + c * xz
        v, w = (
            (c * v[0] - s * w[0], c * v[1] - s * w[1], c * v[2] - s * w[2]),
            (s * v[0] + c * w[0], s * v[1] + c * w[1], s * v[2] + c * w[2]),
        )
    p = max(xx, 0.0)
    q = max(yy, 0.0)
    r = max(zz, 0.0)
    return (
        p * u[0] * u[0] + q * v[0] * v[0] + r * w[0] * w[0], p * u[1] * u[1] + q * v[1] * v[1] + r * w[1] * w[1],
        p * u[2] * u[2] + q * v[2] * v[2] + r * w[2] * w[2], p * u[1] * u[2] + q * v[1] * v[2] + r * w[1] * w[2],
        p * u[0] * u[2] + q * v[0] * v[2] + r * w[0] * w[2], p * u[0] * u[1] + q * v[0] * v[1] + r * w[0] * w[1],
    )  # fmt: skip


@kernel
def body_value(Q: Floats, moving: Ints, M4: Floats, predicted: Floats, loads: Floats, c: Floats, factor: float) -> float:
    """Sum over the moving bodies [J s²]."""
    total = 0.0
    for k in range(moving.size):
        at = 12 * moving[k]
        for p in range(4):
            for r in range(3):
                d = Q[at + 3 * p + r] - predicted[12 * k + 3 * p + r]
                total -= factor * loads[12 * k + 3 * p + r] * d
                for q in range(4):
                    total += 0.5 * M4[16 * k + 4 * p + q] * d * (Q[at + 3 * q + r] - predicted[12 * k + 3 * q + r])
        E = strain_of(load3(Q, at + 3), load3(Q, at + 6), load3(Q, at + 9))
        squares = E[0] * E[0] + E[1] * E[1] + E[2] * E[2] + 2.0 * (E[3] * E[3] + E[4] * E[4] + E[5] * E[5])
        total += 0.125 * factor * c[k] * squares
    return total


@kernel
def add_body_gradient(
    Q: Floats, moving: Ints, M4: Floats, predicted: Floats, loads: Floats, c: Floats, factor: float, gradient_out: Floats
) -> None:
    """gradient (12 numbers per body) += that of the moving bodies."""
    for k in range(moving.size):
        at = 12 * moving[k]
        E = strain_of(load3(Q, at + 3), load3(Q, at + 6), load3(Q, at + 9))
        rows = ((E[0], E[5], E[4]), (E[5], E[1], E[3]), (E[4], E[3], E[2]))
        for r in range(3):
            # M (Q − Q̃) − β h² f
            for p in range(4):
                g = gradient_out[at + 3 * p + r] - factor * loads[12 * k + 3 * p + r]
                for q in range(4):
                    g += M4[16 * k + 4 * p + q] * (Q[at + 3 * q + r] - predicted[12 * k + 3 * q + r])
                gradient_out[at + 3 * p + r] = g
            # ∂P/∂A = (Y V / 2) A E
            a = (Q[at + 3 + r], Q[at + 6 + r], Q[at + 9 + r])
            gradient_out[at + 3 + r] += 0.5 * factor * c[k] * dot3(rows[0], a)
            gradient_out[at + 6 + r] += 0.5 * factor * c[k] * dot3(rows[1], a)
            gradient_out[at + 9 + r] += 0.5 * factor * c[k] * dot3(rows[2], a)


@kernel
def add_body_blocks(Q: Floats, moving: Ints, M4: Floats, c: Floats, factor: float, careful: bool, own_out: Floats) -> None:
    """own (144 per body) += second derivative of the moving bodies, made positive if `careful`."""
    for k in range(moving.size):
        at = 12 * moving[k]
        to = 144 * moving[k]
        # M ⊗ 1
        for p in range(4):
            for q in range(4):
                for r in range(3):
                    own_out[to + 12 * (3 * p + r) + 3 * q + r] += M4[16 * k + 4 * p + q]
        # δ²P = (Y V / 4) |δAᵀA + AᵀδA|² + (Y V / 2) δA E : δA
        P = strain_of(load3(Q, at + 3), load3(Q, at + 6), load3(Q, at + 9))
        if careful:
            P = positive_part(P)
        rows = ((P[0], P[5], P[4]), (P[5], P[1], P[3]), (P[4], P[3], P[2]))
        f = 0.5 * factor * c[k]
        for i in range(3):
            for j in range(3):
                outer = Q[at + 3 + i] * Q[at + 3 + j] + Q[at + 6 + i] * Q[at + 6 + j] + Q[at + 9 + i] * Q[at + 9 + j]
                for p in range(3):
                    own_out[to + 12 * (3 * (p + 1) + i) + 3 * (p + 1) + j] += f * outer
                    for q in range(3):
                        own_out[to + 12 * (3 * (p + 1) + i) + 3 * (q + 1) + j] += f * Q[at + 3 * (q + 1) + i] * Q[at + 3 * (p + 1) + j]
            for p in range(3):
                for q in range(3):
                    own_out[to + 12 * (3 * (p + 1) + i) + 3 * (q + 1) + i] += f * rows[p][q]


class BodyPotential(Potential):
    """Of the moving bodies, with prediction and loads (moving, 4, 3) of a step and the modulus Y [Pa]."""

    def __init__(self, system: AffineSystem, predicted: np.ndarray, loads: np.ndarray, modulus: float, factor: float):
        self._bodies = system.moving, system.M4.ravel()
        self._step = np.ascontiguousarray(predicted).ravel(), np.ascontiguousarray(loads).ravel()
        self._stiffness, self._factor = modulus * system.stiffness_volumes, factor

    def value(self, x: np.ndarray) -> float:
        return body_value(x, *self._bodies, *self._step, self._stiffness, self._factor)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        add_body_gradient(x, *self._bodies, *self._step, self._stiffness, self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        add_body_blocks(x, *self._bodies, self._stiffness, self._factor, careful, own_out)
