"""Triangles in space as sheets, for kernels: one point each, its whole area times the thickness, w.

    F = (x₁ − x₀, x₂ − x₀) Λ   (3 × 2),    Λ = (U₁ − U₀, U₂ − U₀)⁻¹,    fₐ = w P Λₐᵀ,    f₀ = −f₁ − f₂

with U the triangle at rest in its plane. In principal axes u₀, u₁ and the normal n a law gives A (00, 01, 11), p, q as in
`principal_stretches`, and o = (P̂₀/σ₀, P̂₁/σ₁) along the normal. Parameters of a stencil: Λ by rows (four), w, then constants.
"""

from __future__ import annotations

from unibody.energies.principal_stretches import positive_pair, put_first_vertex, put_pair, turned_matrix
from unibody.kernel import device

SHEET_HEAD = 5


@device
def sheet_gradient(index, parameters, at, x, e):
    """F of a triangle, 3 × 2 by rows."""
    a = 3 * index[3 * e]
    b = 3 * index[3 * e + 1]
    c = 3 * index[3 * e + 2]
    l00, l01, l10, l11 = parameters[at], parameters[at + 1], parameters[at + 2], parameters[at + 3]
    p0, p1, p2 = x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]
    q0, q1, q2 = x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]
    return (
        p0 * l00 + q0 * l10, p0 * l01 + q0 * l11, p1 * l00 + q1 * l10, p1 * l01 + q1 * l11, p2 * l00 + q2 * l10, p2 * l01 + q2 * l11,
    )  # fmt: skip


@device
def add_sheet_forces(index, parameters, at, e, P, gradient_out):
    """w P Λᵀ, P 3 × 2 by rows."""
    w = parameters[at + 4]
    l00, l01, l10, l11 = w * parameters[at], w * parameters[at + 1], w * parameters[at + 2], w * parameters[at + 3]
    a = 3 * index[3 * e]
    b = 3 * index[3 * e + 1]
    c = 3 * index[3 * e + 2]
    for r in range(3):
        f = P[2 * r] * l00 + P[2 * r + 1] * l01
        g = P[2 * r] * l10 + P[2 * r + 1] * l11
        gradient_out[b + r] += f
        gradient_out[c + r] += g
        gradient_out[a + r] -= f + g


@device
def stress_from_axes(Q, r, a, b):
    """P = a u₀ v₀ᵀ + b u₁ v₁ᵀ, 3 × 2 by rows; v₀ = (c, −s), v₁ = (s, c)."""
    c, s = r[0], r[1]
    return (
        a * Q[0] * c + b * Q[1] * s, -a * Q[0] * s + b * Q[1] * c, a * Q[3] * c + b * Q[4] * s, -a * Q[3] * s + b * Q[4] * c,
        a * Q[6] * c + b * Q[7] * s, -a * Q[6] * s + b * Q[7] * c,
    )  # fmt: skip


@device
def positive_sheet_law(A, p, q, o):
    """A, p, q and o with their negative eigenvalues cut at 0."""
    return (positive_pair(A[0], A[1], A[2]), max(p, 0.0), max(q, 0.0), (max(o[0], 0.0), max(o[1], 0.0)))


@device
def sheet_block(Q, A, p, q, o, h, k):
    """The 3 × 3 block of two shape functions with gradients h, k in principal axes."""
    alpha = 0.5 * (p + q)
    beta = 0.5 * (p - q)
    s, t = h[0] * k[0], h[1] * k[1]
    M = (
        A[0] * s + alpha * t, A[1] * h[0] * k[1] + beta * h[1] * k[0], 0.0,
        A[1] * h[1] * k[0] + beta * h[0] * k[1], A[2] * t + alpha * s, 0.0,
        0.0, 0.0, o[0] * s + o[1] * t,
    )  # fmt: skip
    return turned_matrix(Q, M)


@device
def put_sheet_blocks(parameters, at, Q, r, A, p, q, o, first, blocks_out):
    """The 9 × 9 matrix of a triangle by rows, from the law in principal axes; r = (c, s) of V."""
    w = parameters[at + 4]
    c, s = r[0], r[1]
    h = (c * parameters[at] - s * parameters[at + 1], s * parameters[at] + c * parameters[at + 1])
    k = (c * parameters[at + 2] - s * parameters[at + 3], s * parameters[at + 2] + c * parameters[at + 3])
    put_pair(sheet_block(Q, A, p, q, o, h, h), w, first, 1, 1, 9, blocks_out)
    put_pair(sheet_block(Q, A, p, q, o, h, k), w, first, 1, 2, 9, blocks_out)
    put_pair(sheet_block(Q, A, p, q, o, k, k), w, first, 2, 2, 9, blocks_out)
    put_first_vertex(3, first, 9, blocks_out)
