"""One free span of a cable between two ends, each a point or a grooved wheel: its length, gradient and Hessian over both bodies' poses.

An end is a centre c, an axis a with n(φ) = x cos φ + y sin φ and t(φ) = a × n, all fixed in its body, a radius r and a side s = ±1, the
sense in which the cable travels around the axis (a point has r = 0). The span touches the wheels at P = c + r n(φ) so that it has no radial
part:

    d = P_b − P_a,  ℓ = |d|,  u = d/ℓ,        h_a = n_a·d = 0,   h_b = n_b·d = 0                                     (tangency)
    λ = ℓ + s_a r_a φ_a − s_b r_b φ_b                                     (cable between two marks, φ = 0, on the wheels)

Two wheels in one plane have the common tangent; wheels that are not keep the cable in their grooves, which it leaves at a small angle β, so
that ∂λ/∂φ = ±s r (1 − cos β) is not quite zero. With multipliers μ from ∂𝓛/∂φ = 0, 𝓛 = λ + μ_a h_a + μ_b h_b, and Y = ∂φ/∂ξ = −h_φ⁻¹ h_ξ,
derivatives of λ alone follow, whatever the planes (the Hessian of a function under constraints):

    G = 𝓛_ξ,        H = (1, Yᵀ) 𝓛_zz (1, Y)ᵀ,  z = (ξ_a, ξ_b, φ_a, φ_b)

A body moves by X ← X exp(ξ), ξ in its axes: a point ρ by ω×ρ + v + ½ ω×(ω×ρ + v), a direction n by ω×n + ½ ω×(ω×n). So with
w = u + μ_a n_a + μ_b n_b, D = ∂d/∂z and N = ∂n/∂z

    𝓛_zz = Dᵀ (1 − u uᵀ)/ℓ D + Σ_e [ ±w·∂²P_e + μ_e (N_eᵀ D + Dᵀ N_e) + μ_e d·∂²n_e ]

and H without all but the first term, which is positive semidefinite, is the projected one. The rate λ̇ = G·V changes with ξ by

    E = H V + ½ (ω×G_ω + v×G_v, ω×G_v)            (bodies' own axes do not commute; by bodies)
"""

from __future__ import annotations

from math import acos, atan2, cos, sin

from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

LENGTH, FIRST_ANGLE, SECOND_ANGLE, FIRST_AT, SECOND_AT, MISSED, GRADIENT, RATE, HESSIAN = 0, 1, 2, 3, 6, 9, 10, 22, 34
SPAN = 178
"""Numbers of a span, in this order: ℓ, φ_a, φ_b, P_a 3, P_b 3, how far it is from being tangent (|h|, in radii), G 12, E 12, H 12×12."""
TANGENT = 1e-6
"""Of |h|, in radii: what Newton's method ends with is 1e-14, and what has no tangent (a point within a wheel, wheels that overlap) is off
by as much as it lies within."""
SCRATCH = 3 * 14 * 3 + 14 * 14
"""Numbers that `fill_hessian` works with: D, N_a, N_b and 𝓛_zz."""
SHORTEST = 1e-12
"""Below this length [m] a span has no direction."""
MOST = 30
"""Newton steps to the tangents; from planar tangents three or four are enough."""


@device
def end_frame(X, body, e, numbers):
    """c in the world, and a, x, y of an end, in world axes."""
    R = load9(X, 12 * body)
    c = add3(load3(X, 12 * body + 9), rotate(R, load3(numbers, e)))
    a = rotate(R, load3(numbers, e + 3))
    x = rotate(R, load3(numbers, e + 6))
    return c, a, x, cross(a, x)


@device
def radial(x, y, angle):
    """n and t at an angle."""
    c = cos(angle)
    s = sin(angle)
    return add3(scale3(c, x), scale3(s, y)), sub3(scale3(c, y), scale3(s, x))


@device
def tangent_angle(c, x, y, r, turn, target):
    """Where the tangent from a target, seen along the axis, touches a wheel; turn = −s where the cable leaves, s where it arrives. From
    within the wheel there is none: the nearest place."""
    d = sub3(target, c)
    along = dot3(d, x)
    up = dot3(d, y)
    distance = (along * along + up * up) ** 0.5
    if distance <= r:
        return atan2(up, along)
    return atan2(up, along) + turn * acos(r / distance)


@device
def touching(X, a, at_a, s_a, b, at_b, s_b, numbers):
    """φ_a, φ_b of the tangents."""
    r_a = numbers[at_a + 9]
    r_b = numbers[at_b + 9]
    c_a, _, x_a, y_a = end_frame(X, a, at_a, numbers)
    c_b, _, x_b, y_b = end_frame(X, b, at_b, numbers)
    phi_a = 0.0
    phi_b = 0.0
    # planar tangents from each other's last guess, which are exact where one end is a point
    P_a = c_a
    P_b = c_b
    for _ in range(6):
        if r_a > 0.0:
            phi_a = tangent_angle(c_a, x_a, y_a, r_a, -s_a, P_b)
            P_a = add3(c_a, scale3(r_a, radial(x_a, y_a, phi_a)[0]))
        if r_b > 0.0:
            phi_b = tangent_angle(c_b, x_b, y_b, r_b, s_b, P_a)
            P_b = add3(c_b, scale3(r_b, radial(x_b, y_b, phi_b)[0]))
        if r_a == 0.0 or r_b == 0.0:
            return phi_a, phi_b
    # Newton's method on both tangencies
    for _ in range(MOST):
        n_a, t_a = radial(x_a, y_a, phi_a)
        n_b, t_b = radial(x_b, y_b, phi_b)
        d = sub3(add3(c_b, scale3(r_b, n_b)), add3(c_a, scale3(r_a, n_a)))
        h_a = dot3(n_a, d)
        h_b = dot3(n_b, d)
        aa = dot3(t_a, d)
        ab = r_b * dot3(n_a, t_b)
        ba = -r_a * dot3(n_b, t_a)
        bb = dot3(t_b, d)
        det = aa * bb - ab * ba
        if det == 0.0:
            break
        step_a = -(bb * h_a - ab * h_b) / det
        step_b = -(aa * h_b - ba * h_a) / det
        big = max(abs(step_a), abs(step_b))
        shorten = min(1.0, 0.5 / big) if big > 0.0 else 1.0
        phi_a += shorten * step_a
        phi_b += shorten * step_b
        if big < 1e-14:
            break
    return phi_a, phi_b


@device
def fill_span(X, V, a, at_a, s_a, b, at_b, s_b, numbers, exact, with_hessian, first, spans_out, scratch_out):
    """ℓ, angles, places and G of a span, at `first` in `spans_out`; with its Hessian also H and E: exact, or projected and E = 0."""
    # where the span leaves one wheel and meets the other, and how long it is between
    phi_a, phi_b = touching(X, a, at_a, s_a, b, at_b, s_b, numbers)
    r_a = numbers[at_a + 9]
    r_b = numbers[at_b + 9]
    c_a, _, x_a, y_a = end_frame(X, a, at_a, numbers)
    c_b, _, x_b, y_b = end_frame(X, b, at_b, numbers)
    n_a, t_a = radial(x_a, y_a, phi_a)
    n_b, t_b = radial(x_b, y_b, phi_b)
    P_a = add3(c_a, scale3(r_a, n_a))
    P_b = add3(c_b, scale3(r_b, n_b))
    d = sub3(P_b, P_a)
    length = norm3(d)
    spans_out[first + LENGTH] = length
    spans_out[first + FIRST_ANGLE] = phi_a
    spans_out[first + SECOND_ANGLE] = phi_b
    for j in range(3):
        spans_out[first + FIRST_AT + j] = P_a[j]
        spans_out[first + SECOND_AT + j] = P_b[j]
    missed_a = abs(dot3(n_a, d)) / r_a if r_a > 0.0 else 0.0
    missed_b = abs(dot3(n_b, d)) / r_b if r_b > 0.0 else 0.0
    spans_out[first + MISSED] = max(missed_a, missed_b)
    # circles that cross have no tangent but h = 0 where they cross; nor does a cable run backwards
    backwards = (r_a > 0.0 and s_a * dot3(d, t_a) < 0.0) or (r_b > 0.0 and s_b * dot3(d, t_b) < 0.0)
    if backwards or (r_a > 0.0 and r_b > 0.0 and length <= TANGENT * (r_a + r_b)):
        spans_out[first + MISSED] = 1.0
    for j in range(GRADIENT, SPAN if with_hessian else RATE):
        spans_out[first + j] = 0.0
    if length <= SHORTEST:
        return
    # μ from ∂𝓛/∂φ = 0
    u = scale3(1.0 / length, d)
    mu_a = 0.0
    mu_b = 0.0
    slope_a = r_a * (s_a - dot3(u, t_a))
    slope_b = r_b * (dot3(u, t_b) - s_b)
    aa = dot3(t_a, d) if r_a > 0.0 else 1.0
    bb = dot3(t_b, d) if r_b > 0.0 else 1.0
    ab = r_b * dot3(n_a, t_b) if r_a > 0.0 else 0.0
    ba = -r_a * dot3(n_b, t_a) if r_b > 0.0 else 0.0
    det = aa * bb - ab * ba
    if det != 0.0:
        mu_a = -(bb * slope_a - ba * slope_b) / det
        mu_b = -(aa * slope_b - ab * slope_a) / det
    # G = 𝓛_ξ: the pull w at both places, and what the grooves turn by
    w = add3(u, add3(scale3(mu_a, n_a), scale3(mu_b, n_b)))
    R_a = load9(X, 12 * a)
    R_b = load9(X, 12 * b)
    arm_a = rotate_back(R_a, sub3(P_a, load3(X, 12 * a + 9)))
    arm_b = rotate_back(R_b, sub3(P_b, load3(X, 12 * b + 9)))
    w_a = rotate_back(R_a, w)
    w_b = rotate_back(R_b, w)
    turn_a = sub3(rotate_back(R_a, scale3(mu_a, cross(n_a, d))), cross(arm_a, w_a))
    turn_b = add3(rotate_back(R_b, scale3(mu_b, cross(n_b, d))), cross(arm_b, w_b))
    for j in range(3):
        spans_out[first + GRADIENT + j] = turn_a[j]
        spans_out[first + GRADIENT + 3 + j] = -w_a[j]
        spans_out[first + GRADIENT + 6 + j] = turn_b[j]
        spans_out[first + GRADIENT + 9 + j] = w_b[j]
    if with_hessian:
        fill_maps(R_a, arm_a, r_a, n_a, t_a, R_b, arm_b, r_b, n_b, t_b, scratch_out)
        fill_hessian(
            R_a, arm_a, r_a, n_a, t_a, mu_a, R_b, arm_b, r_b, n_b, t_b, mu_b, d, length, u, w, aa, bb, ab, ba, det, exact,
            first + HESSIAN, spans_out, scratch_out,
        )  # fmt: skip
        if exact:
            fill_rate(V, a, b, first, spans_out)


@device
def fill_maps(R_a, arm_a, r_a, n_a, t_a, R_b, arm_b, r_b, n_b, t_b, scratch_out):
    """D, N_a and N_b (3×14 each, column by column)."""
    for k in range(14 * 9):
        scratch_out[k] = 0.0
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        turned_a = rotate(R_a, cross(e, arm_a))
        turned_b = rotate(R_b, cross(e, arm_b))
        moved_a = rotate(R_a, e)
        moved_b = rotate(R_b, e)
        tilted_a = cross(moved_a, n_a)
        tilted_b = cross(moved_b, n_b)
        for j in range(3):
            scratch_out[3 * k + j] = -turned_a[j]
            scratch_out[3 * (3 + k) + j] = -moved_a[j]
            scratch_out[3 * (6 + k) + j] = turned_b[j]
            scratch_out[3 * (9 + k) + j] = moved_b[j]
            scratch_out[42 + 3 * k + j] = tilted_a[j]
            scratch_out[84 + 3 * (6 + k) + j] = tilted_b[j]
    for j in range(3):
        scratch_out[36 + j] = -r_a * t_a[j]
        scratch_out[39 + j] = r_b * t_b[j]
        scratch_out[42 + 36 + j] = t_a[j]
        scratch_out[84 + 39 + j] = t_b[j]


@device
def add_second(rho, f, moved, radius, n, t, k, phi, L, scratch_out):
    """f·∂² of a point ρ + r n(φ) of a body, or with moved = 0 of a direction ρ = n, r = 1 (all in its axes), to 𝓛_zz at rows k and φ."""
    fp = dot3(f, rho)
    tf = cross(t, f)
    for i in range(3):
        for j in range(3):
            scratch_out[L + 14 * (k + i) + k + j] += 0.5 * (f[i] * rho[j] + rho[i] * f[j]) - (fp if i == j else 0.0)
        scratch_out[L + 14 * (k + i) + phi] += radius * tf[i]
        scratch_out[L + 14 * phi + k + i] += radius * tf[i]
    scratch_out[L + 15 * phi] -= radius * dot3(f, n)
    if moved:
        # −½ [f]× between turning and moving
        for i in range(3):
            j = (i + 1) % 3
            m = (i + 2) % 3
            scratch_out[L + 14 * (k + i) + k + 3 + j] += 0.5 * f[m]
            scratch_out[L + 14 * (k + i) + k + 3 + m] -= 0.5 * f[j]
            scratch_out[L + 14 * (k + 3 + j) + k + i] += 0.5 * f[m]
            scratch_out[L + 14 * (k + 3 + m) + k + i] -= 0.5 * f[j]


@device
def fill_hessian(
    R_a, arm_a, r_a, n_a, t_a, mu_a, R_b, arm_b, r_b, n_b, t_b, mu_b, d, length, u, w, aa, bb, ab, ba, det, exact, first, spans_out,
    scratch_out,
):  # fmt: skip
    """H (12×12) at `first`, from D, N_a and N_b in the scratch."""
    L = 126
    # along the span nothing, across it 1/ℓ
    for i in range(14):
        D_i = load3(scratch_out, 3 * i)
        along = dot3(u, D_i)
        for j in range(14):
            D_j = load3(scratch_out, 3 * j)
            value = (dot3(D_i, D_j) - along * dot3(u, D_j)) / length
            if exact:
                N = mu_a * (dot3(load3(scratch_out, 42 + 3 * i), D_j) + dot3(D_i, load3(scratch_out, 42 + 3 * j)))
                value += N + mu_b * (dot3(load3(scratch_out, 84 + 3 * i), D_j) + dot3(D_i, load3(scratch_out, 84 + 3 * j)))
            scratch_out[L + 14 * i + j] = value
    if exact:
        nn_a = rotate_back(R_a, n_a)
        tt_a = rotate_back(R_a, t_a)
        nn_b = rotate_back(R_b, n_b)
        tt_b = rotate_back(R_b, t_b)
        add_second(arm_a, rotate_back(R_a, scale3(-1.0, w)), True, r_a, nn_a, tt_a, 0, 12, L, scratch_out)
        add_second(arm_b, rotate_back(R_b, w), True, r_b, nn_b, tt_b, 6, 13, L, scratch_out)
        add_second(nn_a, rotate_back(R_a, scale3(mu_a, d)), False, 1.0, nn_a, tt_a, 0, 12, L, scratch_out)
        add_second(nn_b, rotate_back(R_b, scale3(mu_b, d)), False, 1.0, nn_b, tt_b, 6, 13, L, scratch_out)
    # Y = −h_φ⁻¹ h_ξ; h_ξ of a wheel: n·D + N·d
    for i in range(12):
        D_i = load3(scratch_out, 3 * i)
        h_a = dot3(n_a, D_i) + dot3(load3(scratch_out, 42 + 3 * i), d) if r_a > 0.0 else 0.0
        h_b = dot3(n_b, D_i) + dot3(load3(scratch_out, 84 + 3 * i), d) if r_b > 0.0 else 0.0
        # kept where N was: the columns of N are not asked for again
        scratch_out[42 + 3 * i] = -(bb * h_a - ab * h_b) / det if det != 0.0 else 0.0
        scratch_out[43 + 3 * i] = -(aa * h_b - ba * h_a) / det if det != 0.0 else 0.0
        scratch_out[44 + 3 * i] = 0.0
        scratch_out[84 + 3 * i] = 0.0
        scratch_out[85 + 3 * i] = 0.0
        scratch_out[86 + 3 * i] = 0.0
    for i in range(12):
        y_a = scratch_out[42 + 3 * i]
        y_b = scratch_out[43 + 3 * i]
        for j in range(12):
            z_a = scratch_out[42 + 3 * j]
            z_b = scratch_out[43 + 3 * j]
            value = scratch_out[L + 14 * i + j] + y_a * scratch_out[L + 168 + j] + y_b * scratch_out[L + 182 + j]
            value += z_a * (scratch_out[L + 14 * i + 12] + y_a * scratch_out[L + 180] + y_b * scratch_out[L + 194])
            value += z_b * (scratch_out[L + 14 * i + 13] + y_a * scratch_out[L + 181] + y_b * scratch_out[L + 195])
            spans_out[first + 12 * i + j] = value


@device
def fill_rate(V, a, b, first, spans_out):
    """E from H, G and the twists."""
    for i in range(12):
        total = 0.0
        for j in range(6):
            total += spans_out[first + HESSIAN + 12 * i + j] * V[6 * a + j]
            total += spans_out[first + HESSIAN + 12 * i + 6 + j] * V[6 * b + j]
        spans_out[first + RATE + i] = total
    for side in range(2):
        body = b if side else a
        at = first + GRADIENT + 6 * side
        omega = load3(V, 6 * body)
        G_w = load3(spans_out, at)
        G_v = load3(spans_out, at + 3)
        turning = add3(cross(omega, G_w), cross(load3(V, 6 * body + 3), G_v))
        moving = cross(omega, G_v)
        for j in range(3):
            spans_out[first + RATE + 6 * side + j] += 0.5 * turning[j]
            spans_out[first + RATE + 6 * side + 3 + j] += 0.5 * moving[j]
