"""Principal stretches: F = U Σ Vᵀ, and the second derivative of an isotropic density ψ(σ) in their axes, for kernels.

With dF̂ = Uᵀ dF V and P̂ₐ = ∂ψ/∂σₐ, the derivative dP̂ of the stress P = ∂ψ/∂F is (no sum over a ≠ b)

    dP̂ₐₐ = Σ_b Aₐ_b dF̂_bb,    dP̂ₐ_b = αₐ_b dF̂ₐ_b + βₐ_b dF̂_bₐ,    A = ∂²ψ/∂σ²,    α = (p + q)/2,    β = (p − q)/2,
    p = (P̂ₐ − P̂_b)/(σₐ − σ_b)   (dF̂ₐ_b = dF̂_bₐ),    q = (P̂ₐ + P̂_b)/(σₐ + σ_b)   (dF̂ₐ_b = −dF̂_bₐ),

so its eigenvalues are those of A, and p and q of each pair of axes; made positive semidefinite, all of them are cut at 0. A sheet (F 3 × 2)
has a third axis, its normal, with eigenvalues P̂ₐ/σₐ.

U and V are found by Jacobi's one-sided rotations: columns of F V are turned until they are orthogonal, which keeps small stretches
accurate. U and V are rotations, and the last stretch has the sign of det F.

Pairs of axes are in the order 01, 02, 12, symmetric 3 × 3 matrices in the order 00, 01, 02, 11, 12, 22.
"""

from __future__ import annotations

from math import sqrt

from unibody.kernel import device
from unibody.spatial.devices import cross, dot3, norm3, rotate_back, scale3

TINY = 1e-30
"""Columns whose cosine squared is below this are orthogonal."""


@device
def half_turn(p, q):
    """Cosine and sine of the rotation in the plane of two columns that makes them orthogonal; (1, 0) where they are."""
    a = dot3(p, p)
    b = dot3(q, q)
    c = dot3(p, q)
    if c * c <= TINY * a * b:
        return (1.0, 0.0)
    zeta = (b - a) / (2.0 * c)
    t = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        t = -t
    s = 1.0 / sqrt(1.0 + t * t)
    return (s, s * t)


@device
def turned_first(r, p, q):
    return (r[0] * p[0] - r[1] * q[0], r[0] * p[1] - r[1] * q[1], r[0] * p[2] - r[1] * q[2])


@device
def turned_second(r, p, q):
    return (r[1] * p[0] + r[0] * q[0], r[1] * p[1] + r[0] * q[1], r[1] * p[2] + r[0] * q[2])


@device
def any_normal(a):
    """A unit vector perpendicular to the unit vector a."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    n = (0.0, -a[2], a[1])
    if y <= x and y <= z:
        n = (a[2], 0.0, -a[0])
    elif z <= x and z <= y:
        n = (-a[1], a[0], 0.0)
    return scale3(1.0 / norm3(n), n)


@device
def singular_values(F):
    """U, σ, V with F = U diag(σ) Vᵀ; σ₀ ≥ σ₁ ≥ |σ₂|. Matrices are nine numbers by rows."""
    b0, b1, b2 = (F[0], F[3], F[6]), (F[1], F[4], F[7]), (F[2], F[5], F[8])
    v0, v1, v2 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    # turn pairs of columns until all are orthogonal: three or four rounds
    for _ in range(30):
        r = half_turn(b0, b1)
        moved = r[1] != 0.0
        b0, b1 = turned_first(r, b0, b1), turned_second(r, b0, b1)
        v0, v1 = turned_first(r, v0, v1), turned_second(r, v0, v1)
        r = half_turn(b0, b2)
        moved = moved or r[1] != 0.0
        b0, b2 = turned_first(r, b0, b2), turned_second(r, b0, b2)
        v0, v2 = turned_first(r, v0, v2), turned_second(r, v0, v2)
        r = half_turn(b1, b2)
        moved = moved or r[1] != 0.0
        b1, b2 = turned_first(r, b1, b2), turned_second(r, b1, b2)
        v1, v2 = turned_first(r, v1, v2), turned_second(r, v1, v2)
        if not moved:
            break
    # the longest first; V stays a rotation
    if dot3(b0, b0) < dot3(b1, b1):
        b0, b1, v0, v1 = b1, scale3(-1.0, b0), v1, scale3(-1.0, v0)
    if dot3(b1, b1) < dot3(b2, b2):
        b1, b2, v1, v2 = b2, scale3(-1.0, b1), v2, scale3(-1.0, v1)
    if dot3(b0, b0) < dot3(b1, b1):
        b0, b1, v0, v1 = b1, scale3(-1.0, b0), v1, scale3(-1.0, v0)
    # U from the columns that have a length
    s0 = norm3(b0)
    s1 = norm3(b1)
    u0 = scale3(1.0 / s0, b0) if s0 > 0.0 else (1.0, 0.0, 0.0)
    u1 = scale3(1.0 / s1, b1) if s1 > 1e-14 * s0 else any_normal(u0)
    u2 = cross(u0, u1)
    U = (u0[0], u1[0], u2[0], u0[1], u1[1], u2[1], u0[2], u1[2], u2[2])
    V = (v0[0], v1[0], v2[0], v0[1], v1[1], v2[1], v0[2], v1[2], v2[2])
    return (U, (s0, s1, dot3(u2, b2)), V)


@device
def singular_values_sheet(F):
    """Q = (u₀ u₁ n) by rows, σ, V = (cosine, sine) of F 3 × 2 by rows: F = (u₀ u₁) diag(σ) Vᵀ with V = ((c, s), (−s, c)) by rows."""
    b0, b1 = (F[0], F[2], F[4]), (F[1], F[3], F[5])
    r = half_turn(b0, b1)
    b0, b1 = turned_first(r, b0, b1), turned_second(r, b0, b1)
    s0 = norm3(b0)
    s1 = norm3(b1)
    u0 = scale3(1.0 / s0, b0) if s0 > 0.0 else (1.0, 0.0, 0.0)
    if s0 == 0.0 and s1 > 0.0:
        u0 = any_normal(scale3(1.0 / s1, b1))
    u1 = scale3(1.0 / s1, b1) if s1 > 1e-14 * s0 else any_normal(u0)
    n = cross(u0, u1)
    return ((u0[0], u1[0], n[0], u0[1], u1[1], n[1], u0[2], u1[2], n[2]), (s0, s1), r)


@device
def positive_pair(a, b, c):
    """The positive semidefinite part of ((a, b), (b, c))."""
    if a >= 0.0 and c >= 0.0 and a * c >= b * b:
        return (a, b, c)
    mean = 0.5 * (a + c)
    half = 0.5 * (a - c)
    radius = sqrt(half * half + b * b)
    high = mean + radius
    if high <= 0.0:
        return (0.0, 0.0, 0.0)
    # the one positive eigenvalue with its axis: λ (1 + M/r)/2, M the traceless part
    k = 0.5 * high / radius
    return (k * (radius + half), k * b, k * (radius - half))


@device
def positive_triple(A):
    """The positive semidefinite part of a symmetric 3 × 3 matrix: (A + |A|)/2, |A| = V |Σ| Vᵀ of A = U Σ Vᵀ; A itself if it is."""
    m = A[0] * A[3] - A[1] * A[1]
    det = A[0] * (A[3] * A[5] - A[4] * A[4]) - A[1] * (A[1] * A[5] - A[4] * A[2]) + A[2] * (A[1] * A[4] - A[3] * A[2])
    if A[0] > 0.0 and m > 0.0 and det >= 0.0:
        return A
    _, s, V = singular_values((A[0], A[1], A[2], A[1], A[3], A[4], A[2], A[4], A[5]))
    s2 = abs(s[2])
    return (
        0.5 * (A[0] + s[0] * V[0] * V[0] + s[1] * V[1] * V[1] + s2 * V[2] * V[2]),
        0.5 * (A[1] + s[0] * V[0] * V[3] + s[1] * V[1] * V[4] + s2 * V[2] * V[5]),
        0.5 * (A[2] + s[0] * V[0] * V[6] + s[1] * V[1] * V[7] + s2 * V[2] * V[8]),
        0.5 * (A[3] + s[0] * V[3] * V[3] + s[1] * V[4] * V[4] + s2 * V[5] * V[5]),
        0.5 * (A[4] + s[0] * V[3] * V[6] + s[1] * V[4] * V[7] + s2 * V[5] * V[8]),
        0.5 * (A[5] + s[0] * V[6] * V[6] + s[1] * V[7] * V[7] + s2 * V[8] * V[8]),
    )


@device
def positive_law(A, p, q):
    """A, p and q with their negative eigenvalues cut at 0."""
    return (
        positive_triple(A),
        (max(p[0], 0.0), max(p[1], 0.0), max(p[2], 0.0)),
        (max(q[0], 0.0), max(q[1], 0.0), max(q[2], 0.0)),
    )


@device
def contracted(A, p, q, h, k):
    """Mₓ_y = hₓ Aₓ_y k_y + δₓ_y Σ_c αₓ_c h_c k_c + βₓ_y h_y kₓ (c, y ≠ x in α, β): the force of dF̂ = ŷ kᵀ against h, along U's axes."""
    a01, b01 = 0.5 * (p[0] + q[0]), 0.5 * (p[0] - q[0])
    a02, b02 = 0.5 * (p[1] + q[1]), 0.5 * (p[1] - q[1])
    a12, b12 = 0.5 * (p[2] + q[2]), 0.5 * (p[2] - q[2])
    s0, s1, s2 = h[0] * k[0], h[1] * k[1], h[2] * k[2]
    return (
        A[0] * s0 + a01 * s1 + a02 * s2, A[1] * h[0] * k[1] + b01 * h[1] * k[0], A[2] * h[0] * k[2] + b02 * h[2] * k[0],
        A[1] * h[1] * k[0] + b01 * h[0] * k[1], A[3] * s1 + a01 * s0 + a12 * s2, A[4] * h[1] * k[2] + b12 * h[2] * k[1],
        A[2] * h[2] * k[0] + b02 * h[0] * k[2], A[4] * h[2] * k[1] + b12 * h[1] * k[2], A[5] * s2 + a02 * s0 + a12 * s1,
    )  # fmt: skip


@device
def turned_matrix(U, M):
    """U M Uᵀ."""
    a = (
        U[0] * M[0] + U[1] * M[3] + U[2] * M[6], U[0] * M[1] + U[1] * M[4] + U[2] * M[7], U[0] * M[2] + U[1] * M[5] + U[2] * M[8],
        U[3] * M[0] + U[4] * M[3] + U[5] * M[6], U[3] * M[1] + U[4] * M[4] + U[5] * M[7], U[3] * M[2] + U[4] * M[5] + U[5] * M[8],
        U[6] * M[0] + U[7] * M[3] + U[8] * M[6], U[6] * M[1] + U[7] * M[4] + U[8] * M[7], U[6] * M[2] + U[7] * M[5] + U[8] * M[8],
    )  # fmt: skip
    return (
        a[0] * U[0] + a[1] * U[1] + a[2] * U[2], a[0] * U[3] + a[1] * U[4] + a[2] * U[5], a[0] * U[6] + a[1] * U[7] + a[2] * U[8],
        a[3] * U[0] + a[4] * U[1] + a[5] * U[2], a[3] * U[3] + a[4] * U[4] + a[5] * U[5], a[3] * U[6] + a[4] * U[7] + a[5] * U[8],
        a[6] * U[0] + a[7] * U[1] + a[8] * U[2], a[6] * U[3] + a[7] * U[4] + a[8] * U[5], a[6] * U[6] + a[7] * U[7] + a[8] * U[8],
    )  # fmt: skip


@device
def put_block(S, w, at, width, blocks_out):
    """w S at a place of a matrix by rows."""
    for r in range(3):
        blocks_out[at + width * r] = w * S[3 * r]
        blocks_out[at + width * r + 1] = w * S[3 * r + 1]
        blocks_out[at + width * r + 2] = w * S[3 * r + 2]


@device
def put_transposed(S, w, at, width, blocks_out):
    for r in range(3):
        blocks_out[at + width * r] = w * S[r]
        blocks_out[at + width * r + 1] = w * S[3 + r]
        blocks_out[at + width * r + 2] = w * S[6 + r]


@device
def put_pair(S, w, first, a, b, width, blocks_out):
    """w S as block (a, b) of a symmetric matrix of a stencil, and its transpose as block (b, a)."""
    put_block(S, w, first + 3 * width * a + 3 * b, width, blocks_out)
    if a != b:
        put_transposed(S, w, first + 3 * width * b + 3 * a, width, blocks_out)


@device
def put_first_vertex(count, first, width, blocks_out):
    """Blocks of vertex 0, which moves against the others: rows and columns of the matrix add up to 0."""
    for i in range(1, count):
        for r in range(3):
            for c in range(3):
                total = 0.0
                for j in range(1, count):
                    total += blocks_out[first + width * (3 * j + r) + 3 * i + c]
                blocks_out[first + width * r + 3 * i + c] = -total
                blocks_out[first + width * (3 * i + c) + r] = -total
    for r in range(3):
        for c in range(3):
            total = 0.0
            for j in range(1, count):
                total += blocks_out[first + width * r + 3 * j + c]
            blocks_out[first + width * r + c] = -total


@device
def clear(first, count, blocks_out):
    for k in range(first, first + count):
        blocks_out[k] = 0.0


@device
def axes_times(V, g):
    """Vᵀ g."""
    return rotate_back(V, g)
