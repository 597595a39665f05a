"""Gauges: scalar functions of two affine bodies, with their first and second derivatives.

A gauge is a function C(y₀ … y₃) of vectors that are linear in affine coordinates, yᵢ = Q_aᵀ uᵢ + Q_bᵀ wᵢ, with material vectors u, w of
four numbers: (1, X) is a point, (0, X) a direction. With gᵢ = ∂C/∂yᵢ and Hᵢⱼ = ∂²C/∂yᵢ∂yⱼ its derivatives are ∂C/∂Q_a = Σ uᵢ ⊗ gᵢ and
∂²C/∂Q_a∂Q_b = Σ uᵢ wⱼᵀ ⊗ Hᵢⱼ:

    DISTANCE   |y₀|                                   y₀ between two points
    SLIDE      y₀·y₁ / y₁·y₁                          y₀ between two points, y₁ the direction, of material length one
    CONE       the angle between y₀ and y₁
    TURN       arg(K + i S),  S = y₁·y₂ − y₀·y₃,  K = y₀·y₂ + y₁·y₃
               y₀, y₁ across the axis on the one body, y₂, y₃ the same on the other: the angle of a hinge; of any rotation the twist that
               is left when the swing is taken away; with y₃ = 0 the turn of y₂ about an axis, with y₁ = 0 that of y₀

No polar projection comes in: they are as exact as the coordinates. Angles of a TURN count turns from the nearest to a given `near`.

Record of a gauge, 32 numbers: u₀ … u₃, then w₀ … w₃, on the first and the second body of its pair.
"""

from __future__ import annotations

from math import atan2, floor, pi, sqrt

from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, dot3, load3, norm3, scale3, store3, sub3

DISTANCE, SLIDE, CONE, TURN = range(4)
WIDTH = 32

SHORTEST = 1e-12
"""Lengths [m] and sines of angles below this have no direction: their slope is zero."""


@device
def seen(vectors, k, i, Q, a, b):
    """yᵢ of gauge k."""
    u = WIDTH * k + 4 * i
    w = u + 16
    x, y, z = 0.0, 0.0, 0.0
    for p in range(4):
        f = vectors[u + p]
        g = vectors[w + p]
        x += f * Q[a + 3 * p] + g * Q[b + 3 * p]
        y += f * Q[a + 3 * p + 1] + g * Q[b + 3 * p + 1]
        z += f * Q[a + 3 * p + 2] + g * Q[b + 3 * p + 2]
    return (x, y, z)


@device
def nearest_turn(angle, near):
    """The angle plus a whole number of turns, at most half a turn from `near`."""
    return angle - 2.0 * pi * floor((angle - near) / (2.0 * pi) + 0.5)


@device
def sine_and_cosine(y0, y1, y2, y3):
    """S and K of a turn."""
    return dot3(y1, y2) - dot3(y0, y3), dot3(y0, y2) + dot3(y1, y3)


@device
def gauge_value(kind, y0, y1, y2, y3, near):
    if kind == DISTANCE:
        return norm3(y0)
    if kind == SLIDE:
        return dot3(y0, y1) / dot3(y1, y1)
    if kind == CONE:
        return atan2(norm3(cross(y0, y1)), dot3(y0, y1))
    S, K = sine_and_cosine(y0, y1, y2, y3)
    return nearest_turn(atan2(S, K), near)


@device
def cone_directions(y0, y1):
    """Unit vectors across y₀ towards y₁, across y₁ towards y₀, and across both; the sine of the angle. Zero where there is none."""
    a = scale3(1.0 / norm3(y0), y0)
    b = scale3(1.0 / norm3(y1), y1)
    m = cross(a, b)
    s = norm3(m)
    m = scale3(1.0 / s if s > SHORTEST else 0.0, m)
    return cross(m, a), cross(b, m), m, s


@device
def store_slope(kind, y0, y1, y2, y3, at, slope_out):
    """g₀ … g₃."""
    for i in range(12):
        slope_out[at + i] = 0.0
    if kind == DISTANCE:
        d = norm3(y0)
        store3(scale3(1.0 / d if d > SHORTEST else 0.0, y0), at, slope_out)
    elif kind == SLIDE:
        inverse = 1.0 / dot3(y1, y1)
        store3(scale3(inverse, y1), at, slope_out)
        store3(scale3(inverse, sub3(y0, scale3(2.0 * inverse * dot3(y0, y1), y1))), at + 3, slope_out)
    elif kind == CONE:
        e_a, e_b, _, _ = cone_directions(y0, y1)
        store3(scale3(-1.0 / norm3(y0), e_a), at, slope_out)
        store3(scale3(-1.0 / norm3(y1), e_b), at + 3, slope_out)
    else:
        S, K = sine_and_cosine(y0, y1, y2, y3)
        N = S * S + K * K
        s = -S / N if N > SHORTEST * SHORTEST else 0.0
        c = K / N if N > SHORTEST * SHORTEST else 0.0
        for r in range(3):
            slope_out[at + r] = s * y2[r] - c * y3[r]
            slope_out[at + 3 + r] = c * y2[r] + s * y3[r]
            slope_out[at + 6 + r] = c * y1[r] + s * y0[r]
            slope_out[at + 9 + r] = s * y1[r] - c * y0[r]


@device
def add_dyad(f, x, i, y, j, curve_out):
    """H_ij += f x yᵀ, and its transpose as H_ji; of i = j only once."""
    for r in range(3):
        for c in range(3):
            curve_out[12 * (3 * i + r) + 3 * j + c] += f * x[r] * y[c]
            if i != j:
                curve_out[12 * (3 * j + c) + 3 * i + r] += f * x[r] * y[c]


@device
def add_unit(f, i, j, curve_out):
    """H_ij += f 1, and H_ji."""
    for r in range(3):
        curve_out[12 * (3 * i + r) + 3 * j + r] += f
        if i != j:
            curve_out[12 * (3 * j + r) + 3 * i + r] += f


@device
def store_curve(kind, y0, y1, y2, y3, slope, at, curve_out):
    """H (12×12) from the y and the slopes at `at`.

    Of a turn, log(K + i S) = ρ + i θ gives ∂²θ = (K ∂²S − S ∂²K)/(K² + S²) − (∂ρ ∂θᵀ + ∂θ ∂ρᵀ)."""
    for i in range(144):
        curve_out[i] = 0.0
    if kind == DISTANCE:
        d = norm3(y0)
        if d > SHORTEST:
            n = load3(slope, at)
            add_unit(1.0 / d, 0, 0, curve_out)
            add_dyad(-1.0 / d, n, 0, n, 0, curve_out)
    elif kind == SLIDE:
        inverse = 1.0 / dot3(y1, y1)
        g1 = load3(slope, at + 3)
        add_unit(inverse, 0, 1, curve_out)
        add_dyad(-2.0 * inverse * inverse, y1, 0, y1, 1, curve_out)
        add_unit(-2.0 * inverse * inverse * dot3(y0, y1), 1, 1, curve_out)
        add_dyad(-2.0 * inverse, y1, 1, g1, 1, curve_out)
        add_dyad(-2.0 * inverse, g1, 1, y1, 1, curve_out)
    elif kind == CONE:
        e_a, e_b, m, s = cone_directions(y0, y1)
        if s > SHORTEST:
            a = 1.0 / norm3(y0)
            b = 1.0 / norm3(y1)
            cot = dot3(y0, y1) * a * b / s
            add_dyad(cot * a * a, m, 0, m, 0, curve_out)
            add_dyad(a * a * a, y0, 0, e_a, 0, curve_out)
            add_dyad(a * a * a, e_a, 0, y0, 0, curve_out)
            add_dyad(cot * b * b, m, 1, m, 1, curve_out)
            add_dyad(b * b * b, y1, 1, e_b, 1, curve_out)
            add_dyad(b * b * b, e_b, 1, y1, 1, curve_out)
            add_dyad(-a * b / s, m, 0, m, 1, curve_out)
    else:
        S, K = sine_and_cosine(y0, y1, y2, y3)
        N = S * S + K * K
        if N <= SHORTEST * SHORTEST:
            return
        s = S / N
        c = K / N
        add_unit(c, 1, 2, curve_out)
        add_unit(-c, 0, 3, curve_out)
        add_unit(-s, 0, 2, curve_out)
        add_unit(-s, 1, 3, curve_out)
        for i in range(4):
            for r in range(3):
                d_i = log_slope(i, r, c, s, y0, y1, y2, y3)
                for j in range(4):
                    for q in range(3):
                        d_j = log_slope(j, q, c, s, y0, y1, y2, y3)
                        change = d_i * slope[at + 3 * j + q] + slope[at + 3 * i + r] * d_j
                        curve_out[12 * (3 * i + r) + 3 * j + q] -= change


@device
def log_slope(i, r, c, s, y0, y1, y2, y3):
    """A component of ∂ρ = (K ∂K + S ∂S)/N."""
    if i == 0:
        return c * y2[r] - s * y3[r]
    if i == 1:
        return c * y3[r] + s * y2[r]
    if i == 2:
        return c * y0[r] + s * y1[r]
    return c * y1[r] - s * y0[r]


@kernel
def measure_gauges(kind: Ints, pair: Ints, vectors: Floats, near: Floats, Q: Floats, value_out: Floats) -> None:
    """C of every gauge."""
    for k in range(kind.size):
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0 = seen(vectors, k, 0, Q, a, b)
        y1 = seen(vectors, k, 1, Q, a, b)
        y2 = seen(vectors, k, 2, Q, a, b)
        y3 = seen(vectors, k, 3, Q, a, b)
        value_out[k] = gauge_value(kind[k], y0, y1, y2, y3, near[k])


@kernel
def slopes_of_gauges(kind: Ints, pair: Ints, vectors: Floats, Q: Floats, slope_out: Floats) -> None:
    """g₀ … g₃ (12) of every gauge."""
    for k in range(kind.size):
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0 = seen(vectors, k, 0, Q, a, b)
        y1 = seen(vectors, k, 1, Q, a, b)
        y2 = seen(vectors, k, 2, Q, a, b)
        y3 = seen(vectors, k, 3, Q, a, b)
        store_slope(kind[k], y0, y1, y2, y3, 12 * k, slope_out)


@kernel
def gradients_of_gauges(kind: Ints, pair: Ints, vectors: Floats, slope: Floats, gradient_out: Floats) -> None:
    """∂C/∂Q (24: twelve for each body of the pair) of every gauge, from its slopes."""
    for k in range(kind.size):
        for side in range(2):
            for p in range(4):
                for r in range(3):
                    total = 0.0
                    for i in range(4):
                        total += vectors[WIDTH * k + 16 * side + 4 * i + p] * slope[12 * k + 3 * i + r]
                    gradient_out[24 * k + 12 * side + 3 * p + r] = total


@device
def down_crossing(c0, c1, c2):
    """The t > 0 at which c₀ + c₁ t + c₂ t² falls through zero, or 2."""
    disc = c1 * c1 - 4.0 * c0 * c2
    if disc < 0.0:
        return 2.0
    root = sqrt(disc)
    if c1 <= 0.0:
        t = 2.0 * c0 / (root - c1) if root - c1 > 0.0 else 2.0
    else:
        t = -(c1 + root) / (2.0 * c2) if c2 != 0.0 else 2.0
    return t if t > 0.0 else 2.0


@device
def least_length(y, dy):
    """min |y + t dy| over 0 ≤ t ≤ 1."""
    squared = dot3(dy, dy)
    t = min(max(-dot3(y, dy) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    return norm3((y[0] + t * dy[0], y[1] + t * dy[1], y[2] + t * dy[2]))
