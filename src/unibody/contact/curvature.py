"""The exact second derivative of the barriers, which is not positive by itself.

Closest points minimise f = ½ |r|² over the parameters sₖ that are free to move (two within a face or along two edges, one along an
edge, none at corners), and r is linear in them, with eₖ = ∂r/∂sₖ = Qᵀ vₖ. So, with S = (eₖ · eₗ), T = S⁻¹, zₖ = u ⊗ eₖ + d vₖ ⊗ n,

    ∂²B = B″ (u ⊗ n)(u ⊗ n)ᵀ + (B′/d) [ u uᵀ ⊗ (1 − n nᵀ) − Σ Tₖₗ zₖ zₗᵀ ]

and for softened edges, m(c) B:  m ∂²B + B m′ ∂²c + B m″ ∇c ∇cᵀ + m′ (∇c ∇Bᵀ + ∇B ∇cᵀ),  c = |e_a|² |e_b|² − (e_a · e_b)².
Here d = |r| is the distance of the closest points; B is that of the gap d − ξ, whose derivatives by d are the same.
Near a minimum the whole matrix is positive, and Newton's method with it converges quadratically; elsewhere `barrier.add_positive_blocks`.
"""

from __future__ import annotations

from math import sqrt

from unibody.collision.proximity import ALONG_A, ALONG_B, ALONG_BOTH, CORNER, FLAT, ON_EDGE, ON_FACE, WIDTH
from unibody.contact.barrier import across, add_outer, barrier_terms, outer3
from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3


@device
def add_term(scale, record, p, p_side, q, q_side, S, own_a, own_b, spot, swap, own_out, between_out):
    """Add scale (p ⊗ 1) S (q ⊗ 1)ᵀ, p and q material vectors at places of the record, on the contact's first or second body.

    Of the two blocks between the bodies only that of the lower body's rows is kept, so every term is added along with its transpose."""
    if p_side == q_side:
        add_outer(scale, record, p, record, q, S, own_a if p_side == 0 else own_b, own_out)
    elif (p_side == 0) != swap:
        add_outer(scale, record, p, record, q, S, spot, between_out)


@device
def transposed(S):
    return (S[0], S[3], S[6], S[1], S[4], S[7], S[2], S[5], S[8])


@device
def inverse2(e, f):
    """T = S⁻¹ of S = ( e·e e·f ; e·f f·f ), as (T₁₁, T₁₂, T₂₂)."""
    n = cross(e, f)
    det = dot3(n, n)
    return (dot3(f, f) / det, -dot3(e, f) / det, dot3(e, e) / det)


@device
def add_exact_contact_blocks(a, b, place, record, k, kappa, reach, factor, own_out, between_out):
    """As `add_positive_blocks`, exact."""
    at = WIDTH * k
    xi = record[at + 11] / reach
    if xi >= 1.0:
        return
    d = record[at + 30]
    own_a = 144 * a
    own_b = 144 * b
    swap = place < 0
    spot = 144 * (-1 - place if swap else place)
    # B = κ area m d̂ b(ξ): α = B″ along n, γ = B′/d across it
    value, first, second = barrier_terms(xi)
    n = load3(record, at + 8)
    weight = factor * kappa * record[at + 12]
    m = record[at + 13]
    alpha = weight * m * second / reach
    gamma = weight * m * first / d
    kind = record[at + 29]
    e = load3(record, at + 23)
    f = load3(record, at + 26)
    # Which of the two material directions move the closest points: T is zero for the others.
    T = (0.0, 0.0, 0.0)
    if kind == ON_FACE or kind == ALONG_BOTH:
        T = inverse2(e, f)
    elif kind == ON_EDGE or kind == ALONG_A:
        T = (1.0 / dot3(e, e), 0.0, 0.0)
    elif kind == ALONG_B:
        T = (0.0, 0.0, 1.0 / dot3(f, f))
    N = outer3(n, n)
    # S = α n nᵀ + γ (1 − n nᵀ − Σ T eₖ eₗᵀ): across n only where the closest points do not follow; both directions leave nothing of it
    across_n = 0.0 if kind == FLAT or kind == ON_FACE or kind == ALONG_BOTH else gamma
    S = (
        across_n + (alpha - across_n) * N[0], (alpha - across_n) * N[1], (alpha - across_n) * N[2],
        (alpha - across_n) * N[3], across_n + (alpha - across_n) * N[4], (alpha - across_n) * N[5],
        (alpha - across_n) * N[6], (alpha - across_n) * N[7], across_n + (alpha - across_n) * N[8],
    )  # fmt: skip
    if kind == ON_EDGE or kind == ALONG_A:
        S = less(S, gamma * T[0], outer3(e, e))
    elif kind == ALONG_B:
        S = less(S, gamma * T[2], outer3(f, f))
    for i in range(2):
        for j in range(2):
            add_term(1.0, record, at + 4 * i, i, at + 4 * j, j, S, own_a, own_b, spot, swap, own_out, between_out)
    # the closest points move along f and g: −γ d (u ⊗ Σ T e)(v ⊗ n)ᵀ with its transpose, and −γ d² T (v ⊗ n)(v ⊗ n)ᵀ
    e_side = 1 if kind == ON_FACE or kind == ON_EDGE else 0
    if kind != FLAT and kind != CORNER:
        K = outer3(add3(scale3(T[0], e), scale3(T[1], f)), n)
        L = outer3(add3(scale3(T[1], e), scale3(T[2], f)), n)
        g = -gamma * d
        for i in range(2):
            add_term(g, record, at + 4 * i, i, at + 15, e_side, K, own_a, own_b, spot, swap, own_out, between_out)
            add_term(g, record, at + 15, e_side, at + 4 * i, i, transposed(K), own_a, own_b, spot, swap, own_out, between_out)
            add_term(g, record, at + 4 * i, i, at + 19, 1, L, own_a, own_b, spot, swap, own_out, between_out)
            add_term(g, record, at + 19, 1, at + 4 * i, i, transposed(L), own_a, own_b, spot, swap, own_out, between_out)
        add_term(g * d * T[0], record, at + 15, e_side, at + 15, e_side, N, own_a, own_b, spot, swap, own_out, between_out)
        add_term(g * d * T[1], record, at + 15, e_side, at + 19, 1, N, own_a, own_b, spot, swap, own_out, between_out)
        add_term(g * d * T[1], record, at + 19, 1, at + 15, e_side, N, own_a, own_b, spot, swap, own_out, between_out)
        add_term(g * d * T[2], record, at + 19, 1, at + 19, 1, N, own_a, own_b, spot, swap, own_out, between_out)
    # nearly parallel edges: B depends on c = |e × f|² through m; c_a and c_b are ∂c/∂e and ∂c/∂f
    if record[at + 14] != 0.0:
        size = cross(e, f)
        c_a = scale3(2.0, cross(f, size))
        c_b = scale3(2.0, cross(size, e))
        soft = weight * reach * value * record[at + 14]
        bend = -weight * reach * value * 0.5 * record[at + 14] * record[at + 14] / (1.0 - m)
        mixed = weight * first * record[at + 14]
        # B m′ ∂²c
        H = mixed_of_square(e, f)
        add_term(2.0 * soft, record, at + 15, 0, at + 15, 0, across(f, f), own_a, own_b, spot, swap, own_out, between_out)
        add_term(2.0 * soft, record, at + 19, 1, at + 19, 1, across(e, e), own_a, own_b, spot, swap, own_out, between_out)
        add_term(soft, record, at + 15, 0, at + 19, 1, H, own_a, own_b, spot, swap, own_out, between_out)
        add_term(soft, record, at + 19, 1, at + 15, 0, transposed(H), own_a, own_b, spot, swap, own_out, between_out)
        # B m″ ∂c ∂cᵀ, with m″ = −m′²/(2 (1 − m))
        add_term(bend, record, at + 15, 0, at + 15, 0, outer3(c_a, c_a), own_a, own_b, spot, swap, own_out, between_out)
        add_term(bend, record, at + 19, 1, at + 19, 1, outer3(c_b, c_b), own_a, own_b, spot, swap, own_out, between_out)
        add_term(bend, record, at + 15, 0, at + 19, 1, outer3(c_a, c_b), own_a, own_b, spot, swap, own_out, between_out)
        add_term(bend, record, at + 19, 1, at + 15, 0, outer3(c_b, c_a), own_a, own_b, spot, swap, own_out, between_out)
        # B′ m′ (∂c ∂dᵀ + ∂d ∂cᵀ), with ∂d = u ⊗ n
        for i in range(2):
            add_term(mixed, record, at + 15, 0, at + 4 * i, i, outer3(c_a, n), own_a, own_b, spot, swap, own_out, between_out)
            add_term(mixed, record, at + 4 * i, i, at + 15, 0, outer3(n, c_a), own_a, own_b, spot, swap, own_out, between_out)
            add_term(mixed, record, at + 19, 1, at + 4 * i, i, outer3(c_b, n), own_a, own_b, spot, swap, own_out, between_out)
            add_term(mixed, record, at + 4 * i, i, at + 19, 1, outer3(n, c_b), own_a, own_b, spot, swap, own_out, between_out)


@device
def less(S, f, P):
    """S − f P."""
    return (
        S[0] - f * P[0], S[1] - f * P[1], S[2] - f * P[2], S[3] - f * P[3], S[4] - f * P[4], S[5] - f * P[5], S[6] - f * P[6],
        S[7] - f * P[7], S[8] - f * P[8],
    )  # fmt: skip


@device
def mixed_of_square(e, f):
    """∂²c/∂e∂f of c = |e × f|²: 4 e fᵀ − 2 f eᵀ − 2 (e · f) 1."""
    d = 2.0 * dot3(e, f)
    return (
        2.0 * e[0] * f[0] - d, 4.0 * e[0] * f[1] - 2.0 * f[0] * e[1], 4.0 * e[0] * f[2] - 2.0 * f[0] * e[2],
        4.0 * e[1] * f[0] - 2.0 * f[1] * e[0], 2.0 * e[1] * f[1] - d, 4.0 * e[1] * f[2] - 2.0 * f[1] * e[2],
        4.0 * e[2] * f[0] - 2.0 * f[2] * e[0], 4.0 * e[2] * f[1] - 2.0 * f[2] * e[1], 2.0 * e[2] * f[2] - d,
    )  # fmt: skip


@device
def add_curvature_contact_blocks(a, b, place, record, k, kappa, reach, factor, own_out, between_out):
    """What `add_positive_blocks` leaves out, each part made positive by itself: κ (a bᵀ + b aᵀ) becomes (κ/2) (a + b)(a + b)ᵀ, a and b
    scaled to equal lengths, which is its positive part; a = u ⊗ Σ Tₖₗ eₖ, b = vₗ ⊗ n, κ = |B′|; and
    |B′| d Σ Tₖₗ (vₖ ⊗ n)(vₗ ⊗ n)ᵀ as it is."""
    at = WIDTH * k
    xi = record[at + 11] / reach
    kind = record[at + 29]
    if xi >= 1.0 or kind == FLAT or kind == CORNER:
        return
    own_a = 144 * a
    own_b = 144 * b
    swap = place < 0
    spot = 144 * (-1 - place if swap else place)
    force = -factor * kappa * record[at + 12] * record[at + 13] * barrier_terms(xi)[1]
    n = load3(record, at + 8)
    e = load3(record, at + 23)
    f = load3(record, at + 26)
    # which of the two material directions move the closest points: T is zero for the others
    T = (0.0, 0.0, 0.0)
    if kind == ON_FACE or kind == ALONG_BOTH:
        T = inverse2(e, f)
    elif kind == ON_EDGE or kind == ALONG_A:
        T = (1.0 / dot3(e, e), 0.0, 0.0)
    else:
        T = (0.0, 0.0, 1.0 / dot3(f, f))
    N = outer3(n, n)
    e_side = 1 if kind == ON_FACE or kind == ON_EDGE else 0
    size_u = length(record, at, 8)
    # (κ/2) (√ρ a + b/√ρ)(√ρ a + b/√ρ)ᵀ with ρ = |b|/|a| and κ = |B′|, for each of both directions
    for l in range(2):
        t = add3(scale3(T[l], e), scale3(T[l + 1], f))
        v = at + 15 + 4 * l
        side = e_side if l == 0 else 1
        size_a = size_u * norm3(t)
        size_b = length(record, v, 4)
        if size_a == 0.0 or size_b == 0.0:
            continue
        ratio = size_b / size_a
        A = outer3(t, t)
        C = outer3(t, n)
        for i in range(2):
            for j in range(2):
                add_term(0.5 * force * ratio, record, at + 4 * i, i, at + 4 * j, j, A, own_a, own_b, spot, swap, own_out, between_out)
            add_term(0.5 * force, record, at + 4 * i, i, v, side, C, own_a, own_b, spot, swap, own_out, between_out)
            add_term(0.5 * force, record, v, side, at + 4 * i, i, transposed(C), own_a, own_b, spot, swap, own_out, between_out)
        add_term(0.5 * force / ratio, record, v, side, v, side, N, own_a, own_b, spot, swap, own_out, between_out)
    # |B′| d Σ Tₖₗ (vₖ ⊗ n)(vₗ ⊗ n)ᵀ
    g = force * record[at + 30]
    add_term(g * T[0], record, at + 15, e_side, at + 15, e_side, N, own_a, own_b, spot, swap, own_out, between_out)
    add_term(g * T[1], record, at + 15, e_side, at + 19, 1, N, own_a, own_b, spot, swap, own_out, between_out)
    add_term(g * T[1], record, at + 19, 1, at + 15, e_side, N, own_a, own_b, spot, swap, own_out, between_out)
    add_term(g * T[2], record, at + 19, 1, at + 19, 1, N, own_a, own_b, spot, swap, own_out, between_out)


@device
def length(a, at, count):
    s = 0.0
    for i in range(count):
        s += a[at + i] * a[at + i]
    return sqrt(s)
