"""Cones and intervals of the laws: projections onto them, and maps F(x, û) that are zero exactly where the laws hold.

In scaled variables (`scaling`) every cone is K = {‖x_t‖ ≤ x_n}. A block has up to four rows; absent tangents are zero.

*Natural map:* F = x − P(x − û), P the projection onto the cone or the interval; under Coulomb's law with De Saxcé's ‖û_t‖ added to û_n. By
its size solutions are judged.

*Alart and Curnier's map*, for Newton's method: F = x − Φ(x − û). Single rows: Φ clips to the bounds; convex law: it projects onto the cone;
Coulomb's law: with (a, y) = x − û, Φ_n = max(a, 0), and Φ_t projects y onto the ball of radius Φ_n. It is smooth in pieces, with the slopes
A = ∂F/∂x = 1 − Φ', B = ∂F/∂û = Φ', block by block (4×4).
"""

from __future__ import annotations

import math

from unibody.algebra.contact.problem import COULOMB
from unibody.kernel import Floats, Ints, device, kernel


@device
def norm3(a, b, c):
    return math.sqrt(a * a + b * b + c * c)


@device
def load_block(count, at, x):
    """x of the rows of a block, zeros where it has fewer than load_block."""
    return (
        x[at],
        x[at + 1] if count > 1 else 0.0,
        x[at + 2] if count > 2 else 0.0,
        x[at + 3] if count > 3 else 0.0,
    )


@device
def project_cone(n, a, b, c):
    """The nearest point with ‖(a, b, c)‖ ≤ n."""
    r = norm3(a, b, c)
    if r <= n:
        return n, a, b, c
    if r <= -n:
        return 0.0, 0.0, 0.0, 0.0
    l = 0.5 * (n + r)
    f = l / r
    return l, f * a, f * b, f * c


@device
def interval_residual(x, u, lower, upper):
    """x − clip(x − u), without a difference of large numbers where nothing is clipped."""
    if x - u < lower:
        return x - lower
    if x - u > upper:
        return x - upper
    return u


@device
def cone_residual(law, xn, x1, x2, x3, un, u1, u2, u3):
    """x − P(x − û) of a contact, with De Saxcé's ‖u_t‖ added to u_n under Coulomb's law."""
    if law == COULOMB:
        if xn == 0.0 and un >= 0.0 and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            return 0.0, 0.0, 0.0, 0.0
        un += norm3(u1, u2, u3)
    y1, y2, y3 = x1 - u1, x2 - u2, x3 - u3
    if norm3(y1, y2, y3) <= xn - un:
        return un, u1, u2, u3
    l, s1, s2, s3 = project_cone(xn - un, y1, y2, y3)
    return xn - l, x1 - s1, x2 - s2, x3 - s3


@kernel
def natural_map(law: int, start: Ints, lower: Floats, upper: Floats, x: Floats, u: Floats, F_out: Floats) -> None:
    """x − P(x − û) of all blocks."""
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k]
        if count == 1:
            F_out[at] = interval_residual(x[at], u[at], lower[k], upper[k])
            continue
        n, a, b, c = load_block(count, at, x)
        un, u1, u2, u3 = load_block(count, at, u)
        f = cone_residual(law, n, a, b, c, un, u1, u2, u3)
        for r in range(count):
            F_out[at + r] = f[r]


@device
def alart_curnier_block(law, count, p, a, y1, y2, y3, slope_out):
    """Φ of a contact at (a, y); Φ' (4×4) is written from p on, where zeros stand."""
    y, r = (y1, y2, y3), norm3(y1, y2, y3)
    if law == COULOMB:
        l = max(a, 0.0)
        f = 1.0 if r <= l else l / r
        if a > 0.0:
            slope_out[p] = 1.0
            for i in range(count - 1):
                slope_out[p + 5 * (i + 1)] = f
                if r > l:
                    slope_out[p + 4 * (i + 1)] = y[i] / r
                    for j in range(count - 1):
                        slope_out[p + 4 * (i + 1) + j + 1] -= f * y[i] * y[j] / (r * r)
        return l, f * y1, f * y2, f * y3
    if r <= a:
        for i in range(count):
            slope_out[p + 5 * i] = 1.0
    elif r > -a:
        slope_out[p] = 0.5
        for i in range(count - 1):
            slope_out[p + i + 1] = 0.5 * y[i] / r
            slope_out[p + 4 * (i + 1)] = 0.5 * y[i] / r
            slope_out[p + 5 * (i + 1)] = 0.5 * (1.0 + a / r)
            for j in range(count - 1):
                slope_out[p + 4 * (i + 1) + j + 1] -= 0.5 * a / r * y[i] * y[j] / (r * r)
    return project_cone(a, y1, y2, y3)


@kernel
def alart_curnier(
    law: int, start: Ints, lower: Floats, upper: Floats, x: Floats, u: Floats, F_out: Floats, A_out: Floats, B_out: Floats
) -> None:
    """F, A and B."""
    B_out[:] = 0.0
    A_out[:] = 0.0
    for k in range(start.size - 1):
        at, count, p = start[k], start[k + 1] - start[k], 16 * k
        if count == 1:
            a = x[at] - u[at]
            F_out[at] = interval_residual(x[at], u[at], lower[k], upper[k])
            B_out[p] = 1.0 if lower[k] < a < upper[k] else 0.0
            A_out[p] = 1.0 - B_out[p]
            continue
        n, x1, x2, x3 = load_block(count, at, x)
        un, u1, u2, u3 = load_block(count, at, u)
        a = n - un
        y = (x1 - u1, x2 - u2, x3 - u3)
        r = norm3(y[0], y[1], y[2])
        value = alart_curnier_block(law, count, p, a, y[0], y[1], y[2], B_out)
        missed = (un if law == COULOMB and a > 0.0 else n - value[0], x1 - value[1], x2 - value[2], x3 - value[3])
        if r <= a:
            missed = (un, u1, u2, u3)
        for i in range(count):
            F_out[at + i] = missed[i]
            for j in range(count):
                A_out[p + 4 * i + j] = (1.0 if i == j else 0.0) - B_out[p + 4 * i + j]


@kernel
def clip_to_cones(rows: Ints, friction: Floats, impulse_out: Floats) -> None:
    """Impulses in their own units back in their cones: normals that do not pull, tangents made shorter where they are too long for them."""
    at = 0
    for k in range(rows.size):
        if rows[k] > 1:
            normal, reach = max(impulse_out[at], 0.0), 0.0
            for r in range(1, rows[k]):
                mu = friction[3 * k + r - 1]
                reach += (impulse_out[at + r] / mu) ** 2 if mu > 0.0 else 0.0
            reach = math.sqrt(reach)
            share = normal / reach if reach > normal else 1.0
            impulse_out[at] = normal
            for r in range(1, rows[k]):
                impulse_out[at + r] *= share if friction[3 * k + r - 1] > 0.0 else 0.0
        at += rows[k]
