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

from unibody.collision.proximity import ALONG_A, ALONG_B, ALONG_BOTH, CORNER, FLAT, ON_EDGE, ON_FACE, SHARE, WIDTH
from unibody.contact.barrier import across, barrier_terms
from unibody.contact.stencil_blocks import add_distance_blocks, add_stencil_blocks, outer3, scaled, sum3
from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3


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
    reach *= record[at + SHARE]
    xi = record[at + 11] / reach
    if xi >= 1.0:
        return
    d = record[at + 30]
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
    # rr = α n nᵀ + γ (1 − n nᵀ − Σ T eₖ eₗᵀ): across n only where the closest points do not follow; both directions leave nothing of it
    across_n = 0.0 if kind == FLAT or kind == ON_FACE or kind == ALONG_BOTH else gamma
    rr = sum3((across_n, 0.0, 0.0, 0.0, across_n, 0.0, 0.0, 0.0, across_n), alpha - across_n, N)
    if kind == ON_EDGE or kind == ALONG_A:
        rr = sum3(rr, -gamma * T[0], outer3(e, e))
    elif kind == ALONG_B:
        rr = sum3(rr, -gamma * T[2], outer3(f, f))
    if record[at + 14] == 0.0 and (kind == FLAT or kind == CORNER):
        add_distance_blocks(a, b, place, record, at, rr, own_out, between_out)
        return
    # the closest points move along e and f: −γ d (u ⊗ Σ T e)(v ⊗ n)ᵀ with its transpose, and −γ d² T (v ⊗ n)(v ⊗ n)ᵀ
    g = -gamma * d
    re = scaled(g, outer3(add3(scale3(T[0], e), scale3(T[1], f)), n))
    rf = scaled(g, outer3(add3(scale3(T[1], e), scale3(T[2], f)), n))
    ee = scaled(g * d * T[0], N)
    ef = scaled(g * d * T[1], N)
    ff = scaled(g * d * T[2], N)
    # nearly parallel edges: B depends on c = |e × f|² through m; c_a and c_b are ∂c/∂e and ∂c/∂f
    if record[at + 14] != 0.0:
        size = cross(e, f)
        c_a = scale3(2.0, cross(f, size))
        c_b = scale3(2.0, cross(size, e))
        soft = weight * reach * value * record[at + 14]
        bend = -weight * reach * value * 0.5 * record[at + 14] * record[at + 14] / (1.0 - m)
        mixed = weight * first * record[at + 14]
        # B m′ ∂²c + B m″ ∂c ∂cᵀ, with m″ = −m′²/(2 (1 − m))
        ee = sum3(sum3(ee, 2.0 * soft, across(f, f)), bend, outer3(c_a, c_a))
        ef = sum3(sum3(ef, soft, mixed_of_square(e, f)), bend, outer3(c_a, c_b))
        ff = sum3(sum3(ff, 2.0 * soft, across(e, e)), bend, outer3(c_b, c_b))
        # B′ m′ (∂c ∂dᵀ + ∂d ∂cᵀ), with ∂d = u ⊗ n
        re = sum3(re, mixed, outer3(n, c_a))
        rf = sum3(rf, mixed, outer3(n, c_b))
    e_side = 1 if kind == ON_FACE or kind == ON_EDGE else 0
    add_stencil_blocks(a, b, place, record, at, e_side, rr, re, rf, ee, ef, ff, own_out, between_out)


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
    reach *= record[at + SHARE]
    xi = record[at + 11] / reach
    kind = record[at + 29]
    if xi >= 1.0 or kind == FLAT or kind == CORNER:
        return
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
    t = add3(scale3(T[0], e), scale3(T[1], f))
    u = add3(scale3(T[1], e), scale3(T[2], f))
    ratio_e = ratio(length(record, at + 15, 4), size_u * norm3(t))
    ratio_f = ratio(length(record, at + 19, 4), size_u * norm3(u))
    half = 0.5 * force
    rr = sum3(scaled(half * ratio_e, outer3(t, t)), half * ratio_f, outer3(u, u))
    re = scaled(half if ratio_e > 0.0 else 0.0, outer3(t, n))
    rf = scaled(half if ratio_f > 0.0 else 0.0, outer3(u, n))
    # with |B′| d Σ Tₖₗ (vₖ ⊗ n)(vₗ ⊗ n)ᵀ
    g = force * record[at + 30]
    ee = scaled(g * T[0] + (half / ratio_e if ratio_e > 0.0 else 0.0), N)
    ff = scaled(g * T[2] + (half / ratio_f if ratio_f > 0.0 else 0.0), N)
    add_stencil_blocks(a, b, place, record, at, e_side, rr, re, rf, ee, scaled(g * T[1], N), ff, own_out, between_out)


@device
def ratio(b, a):
    """b/a; 0 if one of them vanishes."""
    return b / a if a > 0.0 and b > 0.0 else 0.0


@device
def length(a, at, count):
    s = 0.0
    for i in range(count):
        s += a[at + i] * a[at + i]
    return sqrt(s)
