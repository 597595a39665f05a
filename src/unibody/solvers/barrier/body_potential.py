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
from unibody.spatial.devices import add3, dot3, load3, scale3

SWEEPS = 8
DIGITS = 2e-16
"""Of coordinates."""


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
def body_noise(Q: Floats, moving: Ints, M4: Floats, predicted: Floats, loads: Floats, c: Floats, factor: float) -> float:
    """Σ |∂/∂Q| |Q|, term by term: by how much the value changes if coordinates change by parts of themselves."""
    total = 0.0
    for k in range(moving.size):
        at = 12 * moving[k]
        E = strain_of(load3(Q, at + 3), load3(Q, at + 6), load3(Q, at + 9))
        most = max(max(abs(E[0]), max(abs(E[1]), abs(E[2]))), max(abs(E[3]), max(abs(E[4]), abs(E[5]))))
        total += 4.5 * factor * c[k] * most
        for p in range(4):
            for r in range(3):
                g = factor * abs(loads[12 * k + 3 * p + r])
                for q in range(4):
                    g += abs(M4[16 * k + 4 * p + q] * (Q[at + 3 * q + r] - predicted[12 * k + 3 * q + r]))
                total += g * abs(Q[at + 3 * p + r])
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


@kernel
def fill_stretch(
    Q: Floats, first: Floats, p: Floats, moving: Ints, c: Floats, factor: float, gradient_out: Floats, blocks_out: Floats
) -> float:
    """½ k |D|², D = A₁ᵀA₁ − 1 − E − L with A₁ = A + δA of p and L = AᵀδA + δAᵀA of `first`, k = β h² Y V / 4: by what the moving bodies
    are stretched at Q + p beyond what P's derivatives at Q tell of Q + first. Its gradient (12 each), and blocks (144 each) to add to the
    second derivative of P at Q for that of P with the strains E + L at Q + p."""
    total = 0.0
    for n in range(moving.size):
        at = 12 * moving[n]
        a = (load3(Q, at + 3), load3(Q, at + 6), load3(Q, at + 9))
        d = (load3(first, at + 3), load3(first, at + 6), load3(first, at + 9))
        b = (add3(a[0], load3(p, at + 3)), add3(a[1], load3(p, at + 6)), add3(a[2], load3(p, at + 9)))
        f = 0.5 * factor * c[n]
        for j in range(3):
            pull = (0.0, 0.0, 0.0)
            for i in range(3):
                D = dot3(b[i], b[j]) - dot3(a[i], a[j]) - dot3(a[i], d[j]) - dot3(d[i], a[j])
                total += 0.25 * f * D * D
                pull = add3(pull, scale3(f * D, b[i]))
            for r in range(3):
                gradient_out[12 * n + 3 * (j + 1) + r] = pull[r]
        # (Y V / 4) |δAᵀA₁ + A₁ᵀδA|² instead of that with A
        for i in range(3):
            for j in range(3):
                outer = 0.0
                for u in range(3):
                    outer += b[u][i] * b[u][j] - a[u][i] * a[u][j]
                for u in range(3):
                    row = 144 * n + 12 * (3 * (u + 1) + i)
                    blocks_out[row + 3 * (u + 1) + j] += f * outer
                    for v in range(3):
                        blocks_out[row + 3 * (v + 1) + j] += f * (b[v][i] * b[u][j] - a[v][i] * a[u][j])
    return total


class BodyPotential(Potential):
    """Of the moving bodies, with prediction and loads (moving, 4, 3) of a step and stiffnesses c = Y V [J] (moving,)."""

    def __init__(self, system: AffineSystem, predicted: np.ndarray, loads: np.ndarray, stiffness: np.ndarray, factor: float):
        self._bodies = system.moving, system.M4.ravel()
        self._step = np.ascontiguousarray(predicted).ravel(), np.ascontiguousarray(loads).ravel()
        self.stiffness, self._factor = stiffness, factor

    def stretch(self, x: np.ndarray, first: np.ndarray, p: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        m = self._bodies[0]
        gradient, blocks = np.zeros(12 * m.size), np.zeros((m.size, 12, 12))
        excess = fill_stretch(x, first, p, m, self.stiffness, self._factor, gradient, blocks.ravel())
        return excess, gradient, blocks

    def value(self, x: np.ndarray) -> float:
        return body_value(x, *self._bodies, *self._step, self.stiffness, self._factor)

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        return DIGITS * body_noise(x, *self._bodies, *self._step, self.stiffness, self._factor), 0.0

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        add_body_gradient(x, *self._bodies, *self._step, self.stiffness, self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        add_body_blocks(x, *self._bodies, self.stiffness, self._factor, careful, own_out)
