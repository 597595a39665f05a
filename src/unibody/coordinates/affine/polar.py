"""Rigid projections of affine bodies in kernels: poses, how they move with the coordinates, and rotations between frames of joints.

    A = R S (polar),   δξ = T δQ in body axes:   ω = D Σ_k e_k × Rᵀ δa_k,  D = (tr S − S)⁻¹,   v = Rᵀ δt

R by Newton's iteration R ← ½ (R + R⁻ᵀ), which converges quadratically; affine bodies are nearly rigid.

Of a Ball or Free joint with frames F on the parent and M on the child: q from R_FM (and p_FM), and its velocities as
v = g_c · Q̇_c + g_p · Q̇_p, 24 numbers for each. Tables: integers child, parent, first q, first v, whether it is Free; numbers R_PF (9),
p_PF, R_BM (9), p_BM.
"""

from __future__ import annotations

from unibody.forces.implicit import OWN
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import (
    add3,
    compose_back,
    compose_rotations,
    cross,
    load3,
    load9,
    quaternion_of_rotation,
    rotate,
    rotate_back,
    store9,
    sub3,
)

ITERATIONS = 60
ROUND_OFF = 1e-15


@device
def cofactors(A):
    """det(A) A⁻ᵀ and det(A), of nine numbers by rows."""
    x = (A[0], A[1], A[2])
    y = (A[3], A[4], A[5])
    z = (A[6], A[7], A[8])
    a = cross(y, z)
    b = cross(z, x)
    c = cross(x, y)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]), a[0] * x[0] + a[1] * x[1] + a[2] * x[2]


@device
def rotation_part(A):
    """R of A = R S."""
    R = A
    for _ in range(ITERATIONS):
        C, det = cofactors(R)
        f = 0.5 / det
        N = (
            0.5 * R[0] + f * C[0], 0.5 * R[1] + f * C[1], 0.5 * R[2] + f * C[2], 0.5 * R[3] + f * C[3], 0.5 * R[4] + f * C[4],
            0.5 * R[5] + f * C[5], 0.5 * R[6] + f * C[6], 0.5 * R[7] + f * C[7], 0.5 * R[8] + f * C[8],
        )  # fmt: skip
        change = 0.0
        for i in range(9):
            change = max(change, abs(N[i] - R[i]))
        R = N
        if change < ROUND_OFF:
            break
    return R


@kernel
def project_bodies(Q: Floats, X_out: Floats, T_out: Floats) -> None:
    """Poses (12: R by rows, p) and T (6×12 by rows) of every body."""
    for body in range(Q.size // 12):
        at = 12 * body
        A = (
            Q[at + 3], Q[at + 6], Q[at + 9], Q[at + 4], Q[at + 7], Q[at + 10], Q[at + 5], Q[at + 8], Q[at + 11],
        )  # fmt: skip
        R = rotation_part(A)
        store9(R, at, X_out)
        S = compose_back(R, A)
        trace = S[0] + S[4] + S[8]
        C, det = cofactors((trace - S[0], -S[1], -S[2], -S[3], trace - S[4], -S[5], -S[6], -S[7], trace - S[8]))
        to = 72 * body
        for i in range(72):
            T_out[to + i] = 0.0
        for m in range(3):
            X_out[at + 9 + m] = Q[at + m]
            row = (R[3 * m], R[3 * m + 1], R[3 * m + 2])
            for k in range(3):
                unit = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
                w = cross(unit, row)
                T_out[to + 12 * (3 + k) + m] = row[k]
                for i in range(3):
                    T_out[to + 12 * i + 3 * (k + 1) + m] = (C[i] * w[0] + C[3 + i] * w[1] + C[6 + i] * w[2]) / det


@device
def add_seen_row(T, body, x, w, at, rows_out):
    """The row of ω·x + v·w of a body, x and w in body axes."""
    for j in range(12):
        total = 0.0
        for i in range(3):
            total += x[i] * T[72 * body + 12 * i + j] + w[i] * T[72 * body + 12 * (3 + i) + j]
        rows_out[at + j] += total


@kernel
def see_rotations(index: Ints, frames: Floats, X: Floats, T: Floats, q_out: Floats, rows_out: Floats) -> None:
    """q of Balls and Frees, near to what q_out holds, and the rows (24) of their velocities."""
    for k in range(index.size // 5):
        c = index[5 * k]
        p = index[5 * k + 1]
        to_q = index[5 * k + 2]
        to_v = index[5 * k + 3]
        free = index[5 * k + 4] != 0
        R_BM = load9(frames, 24 * k + 12)
        p_BM = load3(frames, 24 * k + 21)
        R_c = load9(X, 12 * c)
        R_p = load9(X, 12 * p)
        # the frames M on the child and F on the parent, in world axes
        R_M = compose_rotations(R_c, R_BM)
        R_F = compose_rotations(R_p, load9(frames, 24 * k))
        here = add3(load3(X, 12 * c + 9), rotate(R_c, p_BM))
        if free:
            there = add3(load3(X, 12 * p + 9), rotate(R_p, load3(frames, 24 * k + 9)))
            place = rotate_back(R_F, sub3(here, there))
            for i in range(3):
                q_out[to_q + i] = place[i]
            to_q += 3
        # the quaternion of R_FM; of its two signs the one near the last
        turn = quaternion_of_rotation(compose_back(R_F, R_M))
        near = turn[0] * q_out[to_q] + turn[1] * q_out[to_q + 1] + turn[2] * q_out[to_q + 2] + turn[3] * q_out[to_q + 3]
        for i in range(4):
            q_out[to_q + i] = turn[i] if near >= 0.0 else -turn[i]
        # velocities along the axes of M: ω_M · (ω_c − ω_p) first, then, of a Free joint, the velocity of its origin
        R_PM = compose_back(R_p, R_M)
        seen = rotate_back(R_p, sub3(here, load3(X, 12 * p + 9)))
        zero = (0.0, 0.0, 0.0)
        for i in range(6 if free else 3):
            at = 24 * (to_v + i)
            for j in range(24):
                rows_out[at + j] = 0.0
            m = i % 3
            on_child = (R_BM[m], R_BM[3 + m], R_BM[6 + m])
            on_parent = (-R_PM[m], -R_PM[3 + m], -R_PM[6 + m])
            if i < 3:
                add_seen_row(T, c, on_child, zero, at, rows_out)
                add_seen_row(T, p, on_parent, zero, at + 12, rows_out)
            else:
                add_seen_row(T, c, cross(p_BM, on_child), on_child, at, rows_out)
                add_seen_row(T, p, cross(seen, on_parent), on_parent, at + 12, rows_out)


@device
def own_entry(own, body, i, j):
    """An entry of a body's own block of 21 numbers."""
    if i > j:
        i, j = j, i
    at = OWN * body
    if j < 3:
        return own[at + j + (0 if i == 0 else 2 if i == 1 else 3)]
    if i < 3:
        return own[at + 6 + 3 * i + j - 3]
    i, j = i - 3, j - 3
    return own[at + 15 + j + (0 if i == 0 else 2 if i == 1 else 3)]


@kernel
def add_pulled_blocks(
    own: Floats, coupled: Ints, coupling: Floats, place: Ints, T: Floats, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """Blocks in body axes (own 21 a body, couplings 36 a pair) as blocks of affine coordinates, Tᵀ B T, times factor: own (bodies × 144)
    and between (pairs × 144; place < 0: transposed, −1 − place)."""
    for body in range(own.size // OWN):
        some = False
        for i in range(OWN):
            some = some or own[OWN * body + i] != 0.0
        if not some:
            continue
        for c in range(12):
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += own_entry(own, body, i, j) * T[72 * body + 12 * j + c]
                for r in range(12):
                    own_out[144 * body + 12 * r + c] += factor * T[72 * body + 12 * i + r] * total
    for k in range(coupling.size // 36):
        a = coupled[2 * k]
        b = coupled[2 * k + 1]
        swap = place[k] < 0
        spot = 144 * (-1 - place[k] if swap else place[k])
        for c in range(12):
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += coupling[36 * k + 6 * i + j] * T[72 * b + 12 * j + c]
                for r in range(12):
                    change = factor * T[72 * a + 12 * i + r] * total
                    if swap:
                        between_out[spot + 12 * c + r] += change
                    else:
                        between_out[spot + 12 * r + c] += change


@kernel
def add_pulled_loads(
    F: Floats, T: Floats, velocity: Ints, pair: Ints, rows: Floats, effort: Floats, factor: float, gradient_out: Floats
) -> None:
    """12 numbers a body += factor (Tᵀ F + Σ effort × row); rows of the joint velocities listed, and the bodies of each."""
    for body in range(F.size // 6):
        for i in range(6):
            f = factor * F[6 * body + i]
            if f != 0.0:
                for j in range(12):
                    gradient_out[12 * body + j] += f * T[72 * body + 12 * i + j]
    for k in range(velocity.size):
        v = velocity[k]
        f = factor * effort[v]
        if f != 0.0:
            for side in range(2):
                for j in range(12):
                    gradient_out[12 * pair[2 * k + side] + j] += f * rows[24 * v + 12 * side + j]


@kernel
def add_dashpot_blocks(
    pair: Ints, place: Ints, direction: Floats, strength: Floats, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """own (bodies × 144) and between (pairs × 144; place < 0: transposed, −1 − place) += factor c g gᵀ, g 24 numbers for each pair."""
    for k in range(strength.size):
        swap = place[k] < 0
        spot = 144 * (-1 - place[k] if swap else place[k])
        c = factor * strength[k]
        at = 24 * k
        low = at + 12 if swap else at
        high = at if swap else at + 12
        for i in range(12):
            for j in range(12):
                own_out[144 * pair[2 * k] + 12 * i + j] += c * direction[at + i] * direction[at + j]
                own_out[144 * pair[2 * k + 1] + 12 * i + j] += c * direction[at + 12 + i] * direction[at + 12 + j]
                between_out[spot + 12 * i + j] += c * direction[low + i] * direction[high + j]
