"""Maps F(x, û) that are zero exactly where the laws hold, and their slopes A = ∂F/∂x, B = ∂F/∂û, block by block (4×4).

*Alart and Curnier:* F = x − Φ(x − û). Single rows: Φ clips to the bounds; convex law: it projects onto the cone; Coulomb's law: with (a, y)
= x − û, Φ_n = max(a, 0), and Φ_t projects y onto the ball of radius Φ_n. Smooth in pieces with plain kinks; A = 1 − Φ', B = Φ'.

*Fischer and Burmeister:* F = x + w − (x² + w²)^½, a sum of numbers for single rows, of elements of the cone's Jordan algebra for contacts,

    x ∘ y = (xᵀ y, x_n y_t + y_n x_t),     L_x y = x ∘ y,     F' = (1 − L_c⁻¹ L_x, 1 − L_c⁻¹ L_w),  c = (x² + w²)^½

with w = û, under Coulomb's law û + ‖û_t‖ e_n. ½‖F‖² is smooth but for De Saxcé's term, kinks are rounded off. Rows with two bounds: the
function of x − l and of (minus) that of u − x and −û. On towers, piles and walls Newton's method takes twice as many steps to its zero.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.pgs import COULOMB, four, into_cone, miss, norm3
from unibody.kernel import Floats, Ints, device, kernel

EDGE = 1e-14
"""Part of the larger eigenvalue of x² + w² that the smaller one counts for at least: on the cone's edge the slope is one of many."""


@device
def pressed(law, count, p, a, y1, y2, y3, slope_out):
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
    return into_cone(a, y1, y2, y3)


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
            F_out[at] = miss(x[at], u[at], lower[k], upper[k])
            B_out[p] = 1.0 if lower[k] < a < upper[k] else 0.0
            A_out[p] = 1.0 - B_out[p]
            continue
        n, x1, x2, x3 = four(count, at, x)
        un, u1, u2, u3 = four(count, at, u)
        a = n - un
        y = (x1 - u1, x2 - u2, x3 - u3)
        r = norm3(y[0], y[1], y[2])
        value = pressed(law, count, p, a, y[0], y[1], y[2], B_out)
        missed = (un if law == COULOMB and a > 0.0 else n - value[0], x1 - value[1], x2 - value[2], x3 - value[3])
        if r <= a:
            missed = (un, u1, u2, u3)
        for i in range(count):
            F_out[at + i] = missed[i]
            for j in range(count):
                A_out[p + 4 * i + j] = (1.0 if i == j else 0.0) - B_out[p + 4 * i + j]


@device
def burmeister(a, b):
    """a + b − (a² + b²)^½ and its slopes in a and b."""
    r = math.sqrt(a * a + b * b)
    if r == 0.0:
        return 0.0, 1.0 - math.sqrt(0.5), 1.0 - math.sqrt(0.5)
    if a > 0.0 and b > 0.0:
        return 2.0 * a * b / (a + b + r), 1.0 - a / r, 1.0 - b / r
    return a + b - r, 1.0 - a / r, 1.0 - b / r


@device
def smaller(x, w):
    """The product of both eigenvalues of x² + w², without a difference of large numbers where x and w are nearly complementary."""
    a, b = norm3(x[1], x[2], x[3]), norm3(w[1], w[2], w[3])
    across = x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
    own = ((x[0] - a) * (x[0] + a)) ** 2 + ((w[0] - b) * (w[0] + b)) ** 2
    return max(own + 2.0 * (x[0] * x[0] + a * a) * (w[0] * w[0] + b * b) - 8.0 * x[0] * w[0] * across, 0.0)


@device
def between(x, u, low, high):
    """F and its slopes for a row with bounds, of which either may be infinite."""
    if low == high:
        return x - low, 1.0, 0.0
    if low == -np.inf and high == np.inf:
        return u, 0.0, 1.0
    if high == np.inf:
        return burmeister(x - low, u)
    above, from_x, from_u = burmeister(high - x, -u)
    if low == -np.inf:
        return -above, from_x, from_u
    f, by_x, by_above = burmeister(x - low, -above)
    return f, by_x + by_above * from_x, by_above * from_u


@kernel
def fischer_burmeister(
    law: int, start: Ints, lower: Floats, upper: Floats, x: Floats, u: Floats, F_out: Floats, A_out: Floats, B_out: Floats
) -> None:
    """F, A and B."""
    B_out[:] = 0.0
    A_out[:] = 0.0
    X, w, c, slip, row = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    for k in range(start.size - 1):
        at, count, p = start[k], start[k + 1] - start[k], 16 * k
        if count == 1:
            F_out[at], A_out[p], B_out[p] = between(x[at], u[at], lower[k], upper[k])
            continue
        X[0], X[1], X[2], X[3] = four(count, at, x)
        w[0], w[1], w[2], w[3] = four(count, at, u)
        speed = norm3(w[1], w[2], w[3]) if law == COULOMB else 0.0
        slip[0] = 0.0
        for i in range(1, 4):
            slip[i] = w[i] / speed if speed > 0.0 else 0.0
        w[0] += speed
        c[0] = 0.0
        for i in range(4):
            c[0] += X[i] * X[i] + w[i] * w[i]
        for i in range(1, 4):
            c[i] = 2.0 * (X[0] * X[i] + w[0] * w[i])
        r = norm3(c[1], c[2], c[3])
        if c[0] + r == 0.0:
            for i in range(count):
                F_out[at + i] = 0.0
                A_out[p + 5 * i] = 1.0 - math.sqrt(0.5)
                B_out[p + 5 * i] = 1.0 - math.sqrt(0.5)
            continue
        least = smaller(X, w) / (c[0] + r)
        edge = math.sqrt(least)
        large, small = math.sqrt(c[0] + r), math.sqrt(max(least, EDGE * (c[0] + r)))
        c[0] = 0.5 * (large + small)
        for i in range(1, 4):
            c[i] = 0.5 * (large - small) * c[i] / r if r > 0.0 else 0.0
        for i in range(count):
            root = 0.5 * (large + edge) if i == 0 else (c[i] * (large - edge) / (large - small) if large > small else 0.0)
            F_out[at + i] = X[i] + w[i] - root
        for j in range(count):
            for which in range(2):
                v = X if which == 0 else w
                for i in range(4):
                    row[i] = v[0] if i == j else 0.0
                row[0] = v[j]
                if j > 0:
                    row[j] = v[0]
                else:
                    for i in range(1, 4):
                        row[i] = v[i]
                inner = c[0] * row[0]
                for i in range(1, 4):
                    inner -= c[i] * row[i]
                inner /= large * small
                for i in range(count):
                    value = (1.0 if i == j else 0.0) - (inner if i == 0 else (row[i] - inner * c[i]) / c[0])
                    if which == 0:
                        A_out[p + 4 * i + j] = value
                    else:
                        B_out[p + 4 * i + j] = value
        for i in range(count):
            for j in range(1, count):
                B_out[p + 4 * i + j] += B_out[p + 4 * i] * slip[j]
