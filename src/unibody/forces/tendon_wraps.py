"""One stretch of a tendon around a sphere or a cylinder between two points: its length, gradient and Hessian over three bodies' poses.

In the axes of the obstacle's body, with x and y from its centre to the points, p = |x|, q = |y| (for a cylinder of their parts across its
axis), α the angle between them and β = α, or 2π − α the long way around,

    planar   ℓ = √(p² − r²) + √(q² − r²) + r (β − arccos r/p − arccos r/q)
    L = ℓ  (sphere, in the plane of x, y and the centre),        L = √(ℓ² + ζ²), ζ = a·(y − x)  (cylinder: the unrolled helix)

It is the shortest way on the surface, so that ∂L/∂x is the unit pull on the point. With f(p) = √(p² − r²) − r arccos r/p, the unit vector e
across x̂ towards ŷ, e' across ŷ towards x̂, n = x̂ × e, s = ±1 for β = ±α + …

    f' = √(p² − r²)/p,   f'' = r²/(p² √(p² − r²)),   ∂α/∂x = −e/p,   ∂²α/∂x² = (x̂ eᵀ + e x̂ᵀ + cot α n nᵀ)/p²,   ∂²α/∂x∂y = −n nᵀ/(p q sin α)

(without the terms of n in a cylinder's plane). The stretch is straight where it does not touch: without a side where the line misses the
obstacle, with one also where it passes on that side (Todorov, MuJoCo's documentation of spatial tendons).
"""

from __future__ import annotations

from math import acos, atan2, cos, pi, sin

from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

WRAP = 17
"""Numbers of an obstacle: centre 3, axis a 3 (a sphere: 0), radius, whether it has a side, side 3 from the centre, x 3 and y 3 across a."""
WRAP_SCRATCH = 6 + 36 + 6 * 18
"""Gradient and Hessian over (x, y), and their derivatives by the three displacements."""
NOT_TOUCHED, SHORT_WAY, LONG_WAY = 0, 1, -1


@device
def seen_from_obstacle(X, body, p, obstacle, centre):
    """A point of a body from the centre of an obstacle, in the axes of its body."""
    P = add3(load3(X, 12 * body + 9), rotate(load9(X, 12 * body), p))
    return sub3(rotate_back(load9(X, 12 * obstacle), sub3(P, load3(X, 12 * obstacle + 9))), centre)


@device
def across_axis(v, numbers, w):
    """The part of v across the cylinder's axis; all of it for a sphere."""
    a = load3(numbers, w + 3)
    return sub3(v, scale3(dot3(v, a), a))


@device
def way_around(x, y, numbers, w):
    """Whether a stretch touches its obstacle, and which way it goes around; x and y across the axis."""
    r = numbers[w + 6]
    p = norm3(x)
    q = norm3(y)
    if p <= r or q <= r:
        return NOT_TOUCHED
    d = sub3(y, x)
    length = dot3(d, d)
    part = min(1.0, max(0.0, -dot3(x, d) / length)) if length > 0.0 else 0.0
    near = add3(x, scale3(part, d))
    sided = numbers[w + 7] != 0.0
    side = load3(numbers, w + 8)
    misses = norm3(near) > r
    if misses and (not sided or dot3(side, near) >= 0.0):
        return NOT_TOUCHED
    x1 = scale3(1.0 / p, x)
    y1 = scale3(1.0 / q, y)
    c = min(1.0, max(-1.0, dot3(x1, y1)))
    alpha = acos(c)
    a = acos(r / p)
    b = acos(r / q)
    e = sub3(y1, scale3(c, x1))
    long = norm3(e)
    if long < 1e-12:
        return NOT_TOUCHED
    e = scale3(1.0 / long, e)
    if sided:
        # the middle of the two tangent points, either way around
        short = add3(scale3(cos(a) + cos(alpha - b), x1), scale3(sin(a) + sin(alpha - b), e))
        other = add3(scale3(cos(a) + cos(alpha + b), x1), scale3(sin(alpha + b) - sin(a), e))
        if dot3(side, short) * norm3(other) < dot3(side, other) * norm3(short):
            return LONG_WAY
    return SHORT_WAY if alpha > a + b else NOT_TOUCHED


@device
def fill_planar(x, y, way, numbers, w, scratch_out):
    """L, and in the scratch its gradient (6) and Hessian (36) over x and y, in the obstacle's axes."""
    # x and y across the axis, the angle between them, and the units across each towards the other
    r = numbers[w + 6]
    axis = load3(numbers, w + 3)
    # ℓ in the plane across the axis: two tangents and the arc between them
    flat_x = across_axis(x, numbers, w)
    flat_y = across_axis(y, numbers, w)
    p = norm3(flat_x)
    q = norm3(flat_y)
    x1 = scale3(1.0 / p, flat_x)
    y1 = scale3(1.0 / q, flat_y)
    c = min(1.0, max(-1.0, dot3(x1, y1)))
    alpha = acos(c)
    sine = sin(alpha)
    e = scale3(1.0 / sine, sub3(y1, scale3(c, x1)))
    e_y = scale3(1.0 / sine, sub3(x1, scale3(c, y1)))
    # ℓ
    free_p = (p * p - r * r) ** 0.5
    free_q = (q * q - r * r) ** 0.5
    turn = alpha if way == SHORT_WAY else 2.0 * pi - alpha
    s = float(way) * r
    planar = free_p + free_q + r * (turn - acos(r / p) - acos(r / q))
    # gradient and Hessian of ℓ; out of the plane of a sphere's arc along n
    sphere = dot3(axis, axis) == 0.0
    n = cross(x1, e)
    for i in range(3):
        scratch_out[i] = free_p / p * x1[i] - s / p * e[i]
        scratch_out[3 + i] = free_q / q * y1[i] - s / q * e_y[i]
        for j in range(3):
            one = (1.0 if i == j else 0.0) - axis[i] * axis[j]
            H = r * r / (p * p * free_p) * x1[i] * x1[j] + free_p / (p * p) * (one - x1[i] * x1[j])
            K = r * r / (q * q * free_q) * y1[i] * y1[j] + free_q / (q * q) * (one - y1[i] * y1[j])
            H += s / (p * p) * (x1[i] * e[j] + e[i] * x1[j])
            K += s / (q * q) * (y1[i] * e_y[j] + e_y[i] * y1[j])
            # a sphere's plane turns with its points
            cross_term = 0.0
            if sphere:
                H += s / (p * p) * c / sine * n[i] * n[j]
                K += s / (q * q) * c / sine * n[i] * n[j]
                cross_term = -s / (p * q * sine) * n[i] * n[j]
            scratch_out[6 + 6 * i + j] = H
            scratch_out[6 + 6 * (3 + i) + 3 + j] = K
            scratch_out[6 + 6 * i + 3 + j] = cross_term
            scratch_out[6 + 6 * (3 + i) + j] = cross_term
    if sphere:
        return planar
    # the helix: L = √(ℓ² + ζ²), L L_z = ℓ ℓ_z + ζ ζ_z, L L_zz = ℓ_z ℓ_zᵀ + ℓ ℓ_zz + ζ_z ζ_zᵀ − L_z L_zᵀ
    zeta = dot3(axis, sub3(y, x))
    total = (planar * planar + zeta * zeta) ** 0.5
    for i in range(6):
        z_i = axis[i % 3] if i >= 3 else -axis[i]
        for j in range(6):
            z_j = axis[j % 3] if j >= 3 else -axis[j]
            L_i = (planar * scratch_out[i] + zeta * z_i) / total
            L_j = (planar * scratch_out[j] + zeta * z_j) / total
            at = 6 + 6 * i + j
            scratch_out[at] = (scratch_out[i] * scratch_out[j] + planar * scratch_out[at] + z_i * z_j - L_i * L_j) / total
    for i in range(6):
        z_i = axis[i % 3] if i >= 3 else -axis[i]
        scratch_out[i] = (planar * scratch_out[i] + zeta * z_i) / total
    return total


@device
def fill_columns(X, body, p, obstacle, centred, first, scratch_out):
    """∂x/∂ξ of one point in the scratch (3×18): of its own body at `first`, of the obstacle's at 12; `centred` = x + c."""
    R = load9(X, 12 * body)
    C = load9(X, 12 * obstacle)
    row = 42 + (0 if first == 0 else 54)
    for k in range(54):
        scratch_out[row + k] = 0.0
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        turned = rotate_back(C, rotate(R, cross(e, p)))
        moved = rotate_back(C, rotate(R, e))
        back = cross(e, centred)
        for j in range(3):
            scratch_out[row + 18 * j + first + k] = turned[j]
            scratch_out[row + 18 * j + first + 3 + k] = moved[j]
            scratch_out[row + 18 * j + 12 + k] = -back[j]
            scratch_out[row + 18 * j + 15 + k] = -e[j]


@device
def add_curves(X, body, p, obstacle, centred, first, g, H, scratch, H_out):
    """What the curved motions of a point and of its obstacle add: g·∂²x, to rows and columns `first` and 12 of H (18×18 at H)."""
    f = rotate_back(load9(X, 12 * body), rotate(load9(X, 12 * obstacle), g))
    add_curve(p, f, H + 19 * first, H_out)
    add_curve(centred, g, H + 19 * 12, H_out)
    row = 42 + (0 if first == 0 else 54)
    for k in range(6):
        d = (scratch[row + first + k], scratch[row + 18 + first + k], scratch[row + 36 + first + k])
        turn = cross(g, d)
        for j in range(3):
            H_out[H + 18 * (12 + j) + first + k] += turn[j]
            H_out[H + 18 * (first + k) + 12 + j] += turn[j]


@device
def add_curve(rho, f, at, H_out):
    """½ (f ρᵀ + ρ fᵀ) − (f·ρ) 1 between turnings, ∓½ [f]× between turning and moving, at `at` in an 18×18 matrix."""
    fp = dot3(f, rho)
    for i in range(3):
        for j in range(3):
            H_out[at + 18 * i + j] += 0.5 * (f[i] * rho[j] + rho[i] * f[j]) - (fp if i == j else 0.0)
        j = (i + 1) % 3
        m = (i + 2) % 3
        H_out[at + 18 * i + 3 + j] += 0.5 * f[m]
        H_out[at + 18 * i + 3 + m] -= 0.5 * f[j]
        H_out[at + 18 * (3 + j) + i] += 0.5 * f[m]
        H_out[at + 18 * (3 + m) + i] -= 0.5 * f[j]


@device
def fill_wrap(X, a, p_a, b, p_b, obstacle, way, numbers, w, with_hessian, G, H, tendon_out, scratch_out):
    """L of the stretch; G (18: of a, b, obstacle) and, if wanted, H (18×18) in `tendon_out` at these places."""
    centre = load3(numbers, w)
    x = seen_from_obstacle(X, a, p_a, obstacle, centre)
    y = seen_from_obstacle(X, b, p_b, obstacle, centre)
    L = fill_planar(x, y, way, numbers, w, scratch_out)
    from_x = add3(x, centre)
    from_y = add3(y, centre)
    fill_columns(X, a, p_a, obstacle, from_x, 0, scratch_out)
    fill_columns(X, b, p_b, obstacle, from_y, 6, scratch_out)
    for k in range(18):
        total = 0.0
        for j in range(3):
            total += scratch_out[j] * scratch_out[42 + 18 * j + k] + scratch_out[3 + j] * scratch_out[96 + 18 * j + k]
        tendon_out[G + k] = total
    if with_hessian:
        for k in range(18):
            for m in range(18):
                total = 0.0
                for i in range(6):
                    left = scratch_out[42 + 18 * i + k]
                    if left != 0.0:
                        for j in range(6):
                            total += left * scratch_out[6 + 6 * i + j] * scratch_out[42 + 18 * j + m]
                tendon_out[H + 18 * k + m] = total
        add_curves(X, a, p_a, obstacle, from_x, 0, load3(scratch_out, 0), H, scratch_out, tendon_out)
        add_curves(X, b, p_b, obstacle, from_y, 6, load3(scratch_out, 3), H, scratch_out, tendon_out)
    return L


@device
def touching_points(X, a, p_a, b, p_b, obstacle, way, numbers, w):
    """Where the arc begins, and where on the circle (centre, x̂, e, angle from and to) it runs, in the axes of the obstacle's body."""
    centre = load3(numbers, w)
    x = across_axis(seen_from_obstacle(X, a, p_a, obstacle, centre), numbers, w)
    y = across_axis(seen_from_obstacle(X, b, p_b, obstacle, centre), numbers, w)
    r = numbers[w + 6]
    alpha = atan2(norm3(cross(x, y)), dot3(x, y))
    first = float(way) * acos(r / norm3(x))
    last = alpha - acos(r / norm3(y)) if way == SHORT_WAY else alpha - 2.0 * pi + acos(r / norm3(y))
    return first, last
