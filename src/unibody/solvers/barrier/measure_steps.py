"""How far x + t p may go until a measure reaches its bound, C = sign (measure − bound) ≤ 0.

Distances, slides and turns cross their bound where a polynomial of second degree in t falls through zero; angles of cones change at most by
|δy₀|/|y₀| + |δy₁|/|y₁|, and are followed in steps that cannot jump over the bound. Of gaps that only NumPy evaluates samples are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin, sqrt

from unibody.coordinates.affine.measures import measured_vectors
from unibody.kernel import Floats, Ints, device, kernel
from unibody.measure import CONE, DISTANCE, SLIDE, TURN, measure_value, sine_and_cosine
from unibody.spatial.devices import add3, dot3, norm3, scale3

SHARE = 0.9
"""Of the way to a bound that a step may use."""
FOLLOWED = 200
GENTLE = 60
SAMPLED = (0.25, 0.5, 0.75, 1.0)
HALVINGS = 12


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
    start = sign * (measure_value(CONE, y0, y1, zero, zero, 0.0) - bound)
    if start > fastest * t:
        return t
    least = (1.0 - SHARE) * start
    now = 0.0
    for _ in range(FOLLOWED):
        C = sign * (measure_value(CONE, add3(y0, scale3(now, d0)), add3(y1, scale3(now, d1)), zero, zero, 0.0) - bound)
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
    if sign * (measure_value(TURN, y0, y1, y2, y3, near) - bound) >= 2.0 * pi:
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
    """The measure at y + t d."""
    return measure_value(kind, moved(y0, d0, t), moved(y1, d1, t), moved(y2, d2, t), moved(y3, d3, t), near)


@device
def moved(y, d, t):
    return (y[0] + t * d[0], y[1] + t * d[1], y[2] + t * d[2])


@kernel
def safe_measure_step(
    stiff: Ints, kind: Ints, pair: Ints, vectors: Floats, near: Floats, sign: Floats, bound: Floats, reach: Floats, slope: Floats,
    Q: Floats, step: Floats, t: float,
) -> float:  # fmt: skip
    """The largest part of a step, at most t, within which no range reaches its bound, and within a barrier none falls below half of what
    its slope says: along a curved bound, steps that lose more than they mean to end up ever nearer to it."""
    for k in range(kind.size):
        if stiff[k] != 0 or kind[k] < 0:
            continue
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        # the vectors y of the measure, and d how they change along the step: y(t) = y + t d
        y0, y1, y2, y3 = measured_vectors(vectors, k, Q, a, b)
        d0, d1, d2, d3 = measured_vectors(vectors, k, step, a, b)
        # t at which the measure reaches its bound: |y₀|² = m²; y₀ · y₁ = m |y₁|²; an angle followed step by step; a turn by its sine
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
        # C and Ċ at t = 0; t shrinks until C(t) ≥ ½ (C + t Ċ), or the barrier is not reached
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


def sampled_step(gap: Callable[[float], float], t: float) -> float:
    """The part, at most t, up to which a gap stays open of which nothing else is known: sampled, then halved.

    >>> round(sampled_step(lambda s: 0.6 - s, 1.0), 2)
    0.54
    """
    good = 0.0
    for share in SAMPLED:
        if not gap(share * t) > 0.0:
            bad = share * t
            for _ in range(HALVINGS):
                middle = 0.5 * (good + bad)
                good, bad = (middle, bad) if gap(middle) > 0.0 else (good, middle)
            return SHARE * good
        good = share * t
    return t
