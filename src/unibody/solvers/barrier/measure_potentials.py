"""Potentials of gauges: ranges as barriers (paper 003, §4.3), stiff springs for equations that are not linear (§4.2), damping (§5).

    range     C = sign (gauge − bound) ≥ 0     P = κ b(C/ĉ)
    stiff     C = gauge − bound = 0            P = ½ k C²
    damping   ½ c (∇C·w)²,  c = k_d P″ and ∇C at the beginning of the step, w = x − x₀ the way that velocity counts (Eq. 20–22)

Second derivatives are P″ ∇C ∇Cᵀ, which is positive, and, exactly, P′ ∂²C besides.

How far x + t p may go without C ≤ 0: distances, slides and turns cross their bound where a polynomial of second degree in t falls through
zero; angles of cones change at most by |δy₀|/|y₀| + |δy₁|/|y₁|, and are followed in steps that cannot jump over the bound.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from unibody.contact.barrier import add_outer, barrier_terms
from unibody.kernel import Floats, Ints, device, kernel
from unibody.solvers.barrier.measures import (
    CONE,
    DISTANCE,
    SLIDE,
    TURN,
    WIDTH,
    down_crossing,
    gauge_value,
    least_length,
    seen,
    sine_and_cosine,
    store_curve,
)
from unibody.spatial.devices import add3, dot3, norm3, scale3

SHARE = 0.9
"""Of the way to a bound that a step may use."""
FOLLOWED = 200
GENTLE = 60


@kernel
def weigh_gauges(stiff: Ints, value: Floats, sign: Floats, bound: Floats, reach: Floats, scale: Floats, weight_out: Floats) -> float:
    """ΣP [J], infinite where a range is left; P′ and P″ with respect to the gauge (2 numbers each)."""
    total = 0.0
    for k in range(stiff.size):
        C = sign[k] * (value[k] - bound[k])
        weight_out[2 * k] = 0.0
        weight_out[2 * k + 1] = 0.0
        if stiff[k] != 0:
            total += 0.5 * scale[k] * C * C
            weight_out[2 * k] = sign[k] * scale[k] * C
            weight_out[2 * k + 1] = scale[k]
        elif not C > 0.0:
            return np.inf
        elif C < reach[k]:
            b, b1, b2 = barrier_terms(C / reach[k])
            total += scale[k] * b
            weight_out[2 * k] = sign[k] * scale[k] * b1 / reach[k]
            weight_out[2 * k + 1] = scale[k] * b2 / (reach[k] * reach[k])
    return total


@kernel
def add_gauge_gradient(pair: Ints, vectors: Floats, weight: Floats, slope: Floats, factor: float, gradient_out: Floats) -> None:
    """gradient += factor ∂ΣP/∂Q, 12 numbers per body."""
    for k in range(pair.size // 2):
        f = factor * weight[2 * k]
        if f == 0.0:
            continue
        for side in range(2):
            at = 12 * pair[2 * k + side]
            for i in range(4):
                for p in range(4):
                    u = f * vectors[WIDTH * k + 16 * side + 4 * i + p]
                    if u != 0.0:
                        for r in range(3):
                            gradient_out[at + 3 * p + r] += u * slope[12 * k + 3 * i + r]


@kernel
def add_gauge_blocks(
    kind: Ints, pair: Ints, place: Ints, vectors: Floats, weight: Floats, slope: Floats, Q: Floats, exact: int, factor: float,
    curve_out: Floats, own_out: Floats, between_out: Floats,
) -> None:  # fmt: skip
    """own (bodies × 144) and between (pairs × 144; place < 0: transposed, −1 − place) += factor ∂²ΣP/∂Q², its positive part or exact."""
    for k in range(kind.size):
        first = factor * weight[2 * k] * exact
        second = factor * weight[2 * k + 1]
        if first == 0.0 and second == 0.0:
            continue
        a = pair[2 * k]
        b = pair[2 * k + 1]
        if first != 0.0:
            y0 = seen(vectors, k, 0, Q, 12 * a, 12 * b)
            y1 = seen(vectors, k, 1, Q, 12 * a, 12 * b)
            y2 = seen(vectors, k, 2, Q, 12 * a, 12 * b)
            y3 = seen(vectors, k, 3, Q, 12 * a, 12 * b)
            store_curve(kind[k], y0, y1, y2, y3, slope, 12 * k, curve_out)
        swap = place[k] < 0
        spot = 144 * (-1 - place[k] if swap else place[k])
        for i in range(4):
            u_i = WIDTH * k + 4 * i
            for j in range(4):
                u_j = WIDTH * k + 4 * j
                S = curvature(second, slope, 12 * k, i, j, first, curve_out)
                add_outer(1.0, vectors, u_i, vectors, u_j, S, 144 * a, own_out)
                add_outer(1.0, vectors, u_i + 16, vectors, u_j + 16, S, 144 * b, own_out)
                if swap:
                    add_outer(1.0, vectors, u_i + 16, vectors, u_j, S, spot, between_out)
                else:
                    add_outer(1.0, vectors, u_i, vectors, u_j + 16, S, spot, between_out)


@device
def curvature(second, slope, at, i, j, first, H):
    """P″ gᵢ gⱼᵀ + P′ Hᵢⱼ, nine numbers."""
    p = at + 3 * i
    q = at + 3 * j
    h = 36 * i + 3 * j
    S = (
        second * slope[p] * slope[q], second * slope[p] * slope[q + 1], second * slope[p] * slope[q + 2],
        second * slope[p + 1] * slope[q], second * slope[p + 1] * slope[q + 1], second * slope[p + 1] * slope[q + 2],
        second * slope[p + 2] * slope[q], second * slope[p + 2] * slope[q + 1], second * slope[p + 2] * slope[q + 2],
    )  # fmt: skip
    if first == 0.0:
        return S
    return (
        S[0] + first * H[h], S[1] + first * H[h + 1], S[2] + first * H[h + 2],
        S[3] + first * H[h + 12], S[4] + first * H[h + 13], S[5] + first * H[h + 14],
        S[6] + first * H[h + 24], S[7] + first * H[h + 25], S[8] + first * H[h + 26],
    )  # fmt: skip


@kernel
def dashpot_value(pair: Ints, direction: Floats, strength: Floats, Q: Floats, origin: Floats, factor: float, gradient_out: Floats) -> float:
    """Σ ½ c (g·w)², and factor times its gradient added; g is 24 numbers for each pair."""
    total = 0.0
    for k in range(strength.size):
        way = 0.0
        for side in range(2):
            at = 12 * pair[2 * k + side]
            for i in range(12):
                way += direction[24 * k + 12 * side + i] * (Q[at + i] - origin[at + i])
        total += 0.5 * strength[k] * way * way
        if factor != 0.0:
            for side in range(2):
                at = 12 * pair[2 * k + side]
                for i in range(12):
                    gradient_out[at + i] += factor * strength[k] * way * direction[24 * k + 12 * side + i]
    return total


@kernel
def add_dashpot_blocks(
    pair: Ints, place: Ints, direction: Floats, strength: Floats, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """As `add_gauge_blocks`, of c g gᵀ."""
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


@device
def products(x, dx, y, dy):
    """x·y along x + t dx, y + t dy: three coefficients."""
    return dot3(x, y), dot3(dx, y) + dot3(x, dy), dot3(dx, dy)


@device
def followed(sign, bound, y0, d0, y1, d1, t):
    """How far up to t the angle of a cone may go."""
    l0 = least_length(y0, d0)
    l1 = least_length(y1, d1)
    if l0 == 0.0 or l1 == 0.0:
        return 0.0
    fastest = norm3(d0) / l0 + norm3(d1) / l1
    zero = (0.0, 0.0, 0.0)
    start = sign * (gauge_value(CONE, y0, y1, zero, zero, 0.0) - bound)
    if start > fastest * t:
        return t
    least = (1.0 - SHARE) * start
    now = 0.0
    for _ in range(FOLLOWED):
        C = sign * (gauge_value(CONE, add3(y0, scale3(now, d0)), add3(y1, scale3(now, d1)), zero, zero, 0.0) - bound)
        if C <= 1.5 * least:
            return now
        now += (C - least) / fastest
        if now >= t:
            return t
    return now


@device
def turn_crossing(sign, bound, near, y0, d0, y1, d1, y2, d2, y3, d3):
    """t at which a turn reaches its bound: N sin(θ − bound) falls through zero where the cosine is positive."""
    S, K = sine_and_cosine(y0, y1, y2, y3)
    if sign * (gauge_value(TURN, y0, y1, y2, y3, near) - bound) >= 2.0 * pi:
        return 2.0
    s = sin(bound)
    c = cos(bound)
    a = products(y1, d1, y2, d2)
    b = products(y0, d0, y3, d3)
    e = products(y0, d0, y2, d2)
    f = products(y1, d1, y3, d3)
    S1 = a[1] - b[1]
    S2 = a[2] - b[2]
    K1 = e[1] + f[1]
    K2 = e[2] + f[2]
    t = down_crossing(sign * (c * S - s * K), sign * (c * S1 - s * K1), sign * (c * S2 - s * K2))
    if t > 1.0:
        return 2.0
    cosine = c * (K + t * (K1 + t * K2)) + s * (S + t * (S1 + t * S2))
    return t if cosine > 0.0 else 2.0


@device
def along(kind, y0, d0, y1, d1, y2, d2, y3, d3, t, near):
    """The gauge at y + t d."""
    return gauge_value(kind, moved(y0, d0, t), moved(y1, d1, t), moved(y2, d2, t), moved(y3, d3, t), near)


@device
def moved(y, d, t):
    return (y[0] + t * d[0], y[1] + t * d[1], y[2] + t * d[2])


@kernel
def safe_gauge_step(
    stiff: Ints, kind: Ints, pair: Ints, vectors: Floats, near: Floats, sign: Floats, bound: Floats, reach: Floats, slope: Floats,
    Q: Floats, step: Floats, t: float,
) -> float:  # fmt: skip
    """The largest part of a step, at most t, within which no range reaches its bound, and within a barrier none falls below half of what
    its slope says: along a curved bound, steps that lose more than they mean to end up ever nearer to it."""
    for k in range(kind.size):
        if stiff[k] != 0:
            continue
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0 = seen(vectors, k, 0, Q, a, b)
        d0 = seen(vectors, k, 0, step, a, b)
        y1 = seen(vectors, k, 1, Q, a, b)
        d1 = seen(vectors, k, 1, step, a, b)
        y2 = seen(vectors, k, 2, Q, a, b)
        d2 = seen(vectors, k, 2, step, a, b)
        y3 = seen(vectors, k, 3, Q, a, b)
        d3 = seen(vectors, k, 3, step, a, b)
        m = bound[k]
        if kind[k] == DISTANCE:
            c = products(y0, d0, y0, d0)
            t = min(t, SHARE * down_crossing(sign[k] * (c[0] - m * m), sign[k] * c[1], sign[k] * c[2]))
        elif kind[k] == SLIDE:
            c = products(y0, d0, y1, d1)
            e = products(y1, d1, y1, d1)
            cross = down_crossing(sign[k] * (c[0] - m * e[0]), sign[k] * (c[1] - m * e[1]), sign[k] * (c[2] - m * e[2]))
            t = min(t, SHARE * cross)
        elif kind[k] == CONE:
            t = followed(sign[k], m, y0, d0, y1, d1, t)
        else:
            t = min(t, SHARE * turn_crossing(sign[k], m, near[k], y0, d0, y1, d1, y2, d2, y3, d3))
        C = sign[k] * (along(kind[k], y0, d0, y1, d1, y2, d2, y3, d3, 0.0, near[k]) - m)
        rate = 0.0
        for r in range(3):
            at = 12 * k + r
            rate += sign[k] * (slope[at] * d0[r] + slope[at + 3] * d1[r] + slope[at + 6] * d2[r] + slope[at + 9] * d3[r])
        for _ in range(GENTLE):
            now = sign[k] * (along(kind[k], y0, d0, y1, d1, y2, d2, y3, d3, t, near[k]) - m)
            if now >= reach[k] or now >= 0.5 * (C + t * rate):
                break
            t *= 0.7
    return t
