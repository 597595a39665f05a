"""One contact at a time: the exact solution of a single block with the others held, and sweeps of it over all (Gauss–Seidel).

In units in which the cone is ‖s‖ ≤ ℓ, with q the velocity that the other blocks leave, w the coupling of normal and tangents:

    u_n = w_n ℓ + wᵀ s + q_n,     u_t = w ℓ + W_t s + q_t

*Coulomb.* q_n ≥ 0: nothing. Else u_n = 0 gives ℓ = −(q_n + wᵀ s) / w_n and, with u_t = −α s and S = W_t − w wᵀ / w_n, (S + α) s = −(q_t
− w q_n / w_n). α = 0 is sticking, if its s lies in the cone; otherwise a root α > 0 of ‖s(α)‖ = ℓ(α) exists, since s → 0 and ℓ → −q_n /
w_n > 0 as α grows. In the axes of S each s_i is one division, and the root is found by Newton's method on ℓ / ‖s‖ − 1 inside a bracket.

*Convex.* For given ℓ, s minimises the block's energy over the ball of radius ℓ: (W_t + α) s = −(q_t + w ℓ), the same kind of root; the
derivative of that minimum, u_n − α ℓ, grows with ℓ, and its zero is found by bracketing.

A block's table of 16 numbers: w_n; w (3) and the eigenvalues of S or W_t (3) in its axes; the axes (3×3, as columns); absent
tangents are zero.
"""

from __future__ import annotations

import math

from unibody.kernel import Floats, Ints, device, kernel

COULOMB, CONVEX = 0, 1
LOCAL = 16
TINY = 1e-15
"""Diagonals below this, in units where they are about one, cannot carry an impulse."""
CLOSE = 4e-16


@device
def share(c, d, alpha):
    """−c / (d + α), zero where c is."""
    if c == 0.0:
        return 0.0
    return -c / max(d + alpha, 1e-300)


@device
def norm3(a, b, c):
    return math.sqrt(a * a + b * b + c * c)


@device
def single_coulomb(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(ℓ, s₁, s₂, s₃) of one contact under Coulomb's law; the d are those of S."""
    if not (qn < 0.0 and wn > TINY):
        return 0.0, 0.0, 0.0, 0.0
    c1, c2, c3 = q1 - w1 * qn / wn, q2 - w2 * qn / wn, q3 - w3 * qn / wn
    size = norm3(c1, c2, c3)
    if size == 0.0:
        return -qn / wn, 0.0, 0.0, 0.0
    low = 0.0
    alpha = 0.0
    s1, s2, s3 = share(c1, d1, 0.0), share(c2, d2, 0.0), share(c3, d3, 0.0)
    l = -(qn + w1 * s1 + w2 * s2 + w3 * s3) / wn
    if norm3(s1, s2, s3) <= l:
        return l, s1, s2, s3
    high = size * wn / -qn + norm3(w1, w2, w3) + 1e-300
    for _ in range(200):
        s1, s2, s3 = share(c1, d1, high), share(c2, d2, high), share(c3, d3, high)
        l = -(qn + w1 * s1 + w2 * s2 + w3 * s3) / wn
        if norm3(s1, s2, s3) <= l:
            break
        low = high
        high *= 2.0
    alpha = high
    for _ in range(100):
        s1, s2, s3 = share(c1, d1, alpha), share(c2, d2, alpha), share(c3, d3, alpha)
        l = -(qn + w1 * s1 + w2 * s2 + w3 * s3) / wn
        r = norm3(s1, s2, s3)
        if l > r:
            high = alpha
        else:
            low = alpha
        if abs(l - r) <= CLOSE * r or high - low <= CLOSE * high:
            break
        e1, e2, e3 = s1 / max(d1 + alpha, 1e-300), s2 / max(d2 + alpha, 1e-300), s3 / max(d3 + alpha, 1e-300)
        slope = (w1 * e1 + w2 * e2 + w3 * e3) / (wn * r) + l * (s1 * e1 + s2 * e2 + s3 * e3) / (r * r * r)
        step = alpha - (l / r - 1.0) / slope if slope > 0.0 else low - 1.0
        alpha = step if low < step < high else 0.5 * (low + high)
    return r, s1, s2, s3


@device
def in_ball(p1, p2, p3, d1, d2, d3, radius):
    """(α, s₁, s₂, s₃): (d + α) s = −p with ‖s‖ ≤ radius, α ≥ 0, one of them zero."""
    size = norm3(p1, p2, p3)
    s1, s2, s3 = share(p1, d1, 0.0), share(p2, d2, 0.0), share(p3, d3, 0.0)
    if size == 0.0 or norm3(s1, s2, s3) <= radius:
        return 0.0, s1, s2, s3
    low = max(0.0, size / radius - max(d1, d2, d3))
    high = size / radius
    alpha = low
    for _ in range(100):
        s1, s2, s3 = share(p1, d1, alpha), share(p2, d2, alpha), share(p3, d3, alpha)
        r = norm3(s1, s2, s3)
        if r > radius:
            low = alpha
        else:
            high = alpha
        if abs(r - radius) <= CLOSE * radius or high - low <= CLOSE * high:
            break
        e = (s1 * s1 / max(d1 + alpha, 1e-300) + s2 * s2 / max(d2 + alpha, 1e-300) + s3 * s3 / max(d3 + alpha, 1e-300)) / (r * r)
        step = alpha + (r / radius - 1.0) / e
        alpha = step if low < step < high else 0.5 * (low + high)
    return alpha, s1, s2, s3


@device
def lift(l, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(u_n − α ℓ, s₁, s₂, s₃) at the best s for this ℓ > 0."""
    alpha, s1, s2, s3 = in_ball(q1 + w1 * l, q2 + w2 * l, q3 + w3 * l, d1, d2, d3, l)
    return wn * l + w1 * s1 + w2 * s2 + w3 * s3 + qn - alpha * l, s1, s2, s3


@device
def single_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(ℓ, s₁, s₂, s₃) of one contact under the convex law; the d are those of W_t."""
    at_low = qn - norm3(q1, q2, q3)
    if at_low >= 0.0 or wn + d1 + d2 + d3 <= TINY:
        return 0.0, 0.0, 0.0, 0.0
    low = 0.0
    high = -at_low / max(wn, 1e-6)
    at_high, s1, s2, s3 = lift(high, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    for _ in range(60):
        if at_high >= 0.0:
            break
        low, at_low = high, at_high
        high *= 4.0
        at_high, s1, s2, s3 = lift(high, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    if at_high < 0.0:
        return 0.0, 0.0, 0.0, 0.0
    l = high
    side = 0
    for _ in range(120):
        if high - low <= CLOSE * high or at_high == at_low:
            break
        l = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < l < high:
            l = 0.5 * (low + high)
            if not low < l < high:
                break
        found, s1, s2, s3 = lift(l, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
        if found == 0.0:
            break
        if found > 0.0:
            high, at_high = l, found
            at_low *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            low, at_low = l, found
            at_high *= 0.5 if side == -1 else 1.0
            side = -1
    return l, s1, s2, s3


@device
def single_block(law, relaxation, k, count, lower, upper, table, xn, x1, x2, x3, un, u1, u2, u3):
    """The block's new x from its old one and its velocity."""
    at = LOCAL * k
    wn = table[at]
    if count == 1:
        if wn <= TINY:
            return xn, 0.0, 0.0, 0.0
        return min(max(xn - relaxation * un / wn, lower), upper), 0.0, 0.0, 0.0
    w1, w2, w3 = table[at + 1], table[at + 2], table[at + 3]
    d1, d2, d3 = table[at + 4], table[at + 5], table[at + 6]
    a11, a12, a13 = table[at + 7], table[at + 8], table[at + 9]
    a21, a22, a23 = table[at + 10], table[at + 11], table[at + 12]
    a31, a32, a33 = table[at + 13], table[at + 14], table[at + 15]
    y1, y2, y3 = a11 * x1 + a21 * x2 + a31 * x3, a12 * x1 + a22 * x2 + a32 * x3, a13 * x1 + a23 * x2 + a33 * x3
    v1, v2, v3 = a11 * u1 + a21 * u2 + a31 * u3, a12 * u1 + a22 * u2 + a32 * u3, a13 * u1 + a23 * u2 + a33 * u3
    side = w1 * y1 + w2 * y2 + w3 * y3
    qn = un - wn * xn - side
    through = xn + (side / wn if law == COULOMB and wn > TINY else 0.0)
    q1, q2, q3 = v1 - w1 * through - d1 * y1, v2 - w2 * through - d2 * y2, v3 - w3 * through - d3 * y3
    if law == COULOMB:
        l, s1, s2, s3 = single_coulomb(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    else:
        l, s1, s2, s3 = single_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    if relaxation != 1.0:
        l, s1, s2, s3 = xn + relaxation * (l - xn), y1 + relaxation * (s1 - y1), y2 + relaxation * (s2 - y2), y3 + relaxation * (s3 - y3)
        l, s1, s2, s3 = into_cone(l, s1, s2, s3)
    return l, a11 * s1 + a12 * s2 + a13 * s3, a21 * s1 + a22 * s2 + a23 * s3, a31 * s1 + a32 * s2 + a33 * s3


@device
def into_cone(n, a, b, c):
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
def four(count, at, x):
    """x of the rows of a block, zeros where it has fewer than four."""
    return (
        x[at],
        x[at + 1] if count > 1 else 0.0,
        x[at + 2] if count > 2 else 0.0,
        x[at + 3] if count > 3 else 0.0,
    )


@device
def miss(x, u, lower, upper):
    """x − clip(x − u), without a difference of large numbers where nothing is clipped."""
    if x - u < lower:
        return x - lower
    if x - u > upper:
        return x - upper
    return u


@device
def missed(law, xn, x1, x2, x3, un, u1, u2, u3):
    """x − P(x − û) of a contact, with De Saxcé's ‖u_t‖ added to u_n under Coulomb's law."""
    if law == COULOMB:
        if xn == 0.0 and un >= 0.0 and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            return 0.0, 0.0, 0.0, 0.0
        un += norm3(u1, u2, u3)
    y1, y2, y3 = x1 - u1, x2 - u2, x3 - u3
    if norm3(y1, y2, y3) <= xn - un:
        return un, u1, u2, u3
    l, s1, s2, s3 = into_cone(xn - un, y1, y2, y3)
    return xn - l, x1 - s1, x2 - s2, x3 - s3


@kernel
def natural_map(law: int, start: Ints, lower: Floats, upper: Floats, x: Floats, u: Floats, F_out: Floats) -> None:
    """x − P(x − û) of all blocks."""
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k]
        if count == 1:
            F_out[at] = miss(x[at], u[at], lower[k], upper[k])
            continue
        n, a, b, c = four(count, at, x)
        un, u1, u2, u3 = four(count, at, u)
        f = missed(law, n, a, b, c, un, u1, u2, u3)
        for r in range(count):
            F_out[at + r] = f[r]


@kernel
def sweep_dense(
    law: int, count: int, relaxation: float, symmetric: int, stop: float, start: Ints, lower: Floats, upper: Floats, table: Floats,
    W: Floats, u_out: Floats, x_out: Floats,
) -> int:  # fmt: skip
    """Up to `count` sweeps, W whole; u = W x + b is kept along. The number done."""
    m, blocks = x_out.size, start.size - 1
    for turn in range(count):
        change = 0.0
        for i in range(blocks):
            k = blocks - 1 - i if symmetric == 1 and turn % 2 == 1 else i
            at, rows = start[k], start[k + 1] - start[k]
            xn, x1, x2, x3 = four(rows, at, x_out)
            un, u1, u2, u3 = four(rows, at, u_out)
            new = single_block(law, relaxation, k, rows, lower[k], upper[k], table, xn, x1, x2, x3, un, u1, u2, u3)
            step = (new[0] - xn, new[1] - x1, new[2] - x2, new[3] - x3)
            for r in range(rows):
                dx = step[r]
                if dx != 0.0:
                    change = max(change, abs(dx))
                    x_out[at + r] = new[r]
                    row = (at + r) * m
                    for j in range(m):
                        u_out[j] += W[row + j] * dx
        if change <= stop:
            return turn + 1
    return count


@device
def row_velocity(J, R, b, row, a, c, x, motion):
    """û of one row."""
    found = b[row] + R[row] * x[row]
    for i in range(6):
        if a >= 0:
            found += J[12 * row + i] * motion[6 * a + i]
        if c >= 0:
            found += J[12 * row + 6 + i] * motion[6 * c + i]
    return found


@kernel
def sweep_factored(
    law: int, count: int, relaxation: float, symmetric: int, stop: float, start: Ints, lower: Floats, upper: Floats, table: Floats,
    islands: Ints, J: Floats, Y: Floats, R: Floats, b: Floats, motion_out: Floats, x_out: Floats,
) -> int:  # fmt: skip
    """Up to `count` sweeps, W in factors; motion = M⁻¹ Jᵀ x is kept along. The number done."""
    blocks = start.size - 1
    for turn in range(count):
        change = 0.0
        for i in range(blocks):
            k = blocks - 1 - i if symmetric == 1 and turn % 2 == 1 else i
            at, rows = start[k], start[k + 1] - start[k]
            a, c = islands[2 * k], islands[2 * k + 1]
            xn, x1, x2, x3 = four(rows, at, x_out)
            un = row_velocity(J, R, b, at, a, c, x_out, motion_out)
            u1 = row_velocity(J, R, b, at + 1, a, c, x_out, motion_out) if rows > 1 else 0.0
            u2 = row_velocity(J, R, b, at + 2, a, c, x_out, motion_out) if rows > 2 else 0.0
            u3 = row_velocity(J, R, b, at + 3, a, c, x_out, motion_out) if rows > 3 else 0.0
            new = single_block(law, relaxation, k, rows, lower[k], upper[k], table, xn, x1, x2, x3, un, u1, u2, u3)
            step = (new[0] - xn, new[1] - x1, new[2] - x2, new[3] - x3)
            for r in range(rows):
                dx = step[r]
                if dx != 0.0:
                    change = max(change, abs(dx))
                    x_out[at + r] = new[r]
                    for j in range(6):
                        if a >= 0:
                            motion_out[6 * a + j] += Y[12 * (at + r) + j] * dx
                        if c >= 0:
                            motion_out[6 * c + j] += Y[12 * (at + r) + 6 + j] * dx
        if change <= stop:
            return turn + 1
    return count
