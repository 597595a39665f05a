"""The local solve: the exact impulse of one block with all others held. Block Gauss–Seidel repeats it (`pgs`).

In scaled variables the cone is ‖s‖ ≤ ℓ. With q the velocity that the other blocks leave, w the coupling of normal and tangents:

    u_n = w_n ℓ + wᵀ s + q_n,     u_t = w ℓ + W_t s + q_t

*Coulomb.* q_n ≥ 0: no impulse. Else u_n = 0 gives ℓ = −(q_n + wᵀ s) / w_n and, with u_t = −α s and S = W_t − w wᵀ / w_n, (S + α) s = −(q_t
− w q_n / w_n). α = 0 is sticking, if its s lies in the cone; otherwise a root α > 0 of ‖s(α)‖ = ℓ(α) exists, since s → 0 and ℓ → −q_n /
w_n > 0 as α grows. In the axes of S each s_i is one division, and the root is found by Newton's method on ℓ / ‖s‖ − 1 inside a bracket.

*Convex.* For given ℓ, s minimises the block's energy over the ball of radius ℓ: (W_t + α) s = −(q_t + w ℓ), the same kind of root; the
derivative of that minimum, u_n − α ℓ, grows with ℓ, and its zero is found by bracketing.

A block's table holds what it needs of the block's own matrix: w_n; w (3) and the eigenvalues d of S or W_t (3) in its axes. Where x and u
are in the problem's axes the axes follow (9 numbers, 3×3, as columns), `LOCAL` numbers in all; packed blocks (`pgs_packing`) are in the
axes already, and have the inverses of w_n and d instead (`TABLE`). Absent tangents are zero.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.cones import norm3
from unibody.algebra.contact.problem import COULOMB
from unibody.kernel import Floats, Ints, device, inlined, kernel

LOCAL = 16
TABLE, INVERSE, PACE = 12, 7, 11
"""Numbers of a packed block: w_n, w (3), d (3); from INVERSE on 1 / w_n and 1 / d (3); what a velocity² along the normal is in units of
û²."""
LOWER, UPPER = 1, 2
"""Of a packed single row, instead of w: the bounds of x."""
TINY = 1e-15
"""Diagonals below this, in units where they are about one, cannot carry an impulse."""
CLOSE = 4e-16
"""How exactly roots are found, as a part of them."""
NEARLY = 1e-14
"""How exactly the friction of a packed contact that slides is found, as a part of the impulse."""
ENDLESS = 1e300
JACOBI = 12
"""Rounds of Jacobi's rotations at most."""


@device
def shifted_quotient(c, d, alpha):
    """−c / (d + α), zero where c is."""
    if c == 0.0:
        return 0.0
    return -c / max(d + alpha, 1e-300)


@device
def solve_coulomb(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(ℓ, s₁, s₂, s₃) of one contact under Coulomb's law; the d are those of S."""
    if not (qn < 0.0 and wn > TINY):
        return 0.0, 0.0, 0.0, 0.0
    c1, c2, c3 = q1 - w1 * qn / wn, q2 - w2 * qn / wn, q3 - w3 * qn / wn
    size = norm3(c1, c2, c3)
    if size == 0.0:
        return -qn / wn, 0.0, 0.0, 0.0
    # sticking: α = 0
    low = 0.0
    alpha = 0.0
    s1, s2, s3 = shifted_quotient(c1, d1, 0.0), shifted_quotient(c2, d2, 0.0), shifted_quotient(c3, d3, 0.0)
    l = -(qn + w1 * s1 + w2 * s2 + w3 * s3) / wn
    if norm3(s1, s2, s3) <= l:
        return l, s1, s2, s3
    # sliding: a bracket of α
    high = size * wn / -qn + norm3(w1, w2, w3) + 1e-300
    for _ in range(200):
        s1, s2, s3 = shifted_quotient(c1, d1, high), shifted_quotient(c2, d2, high), shifted_quotient(c3, d3, high)
        l = -(qn + w1 * s1 + w2 * s2 + w3 * s3) / wn
        if norm3(s1, s2, s3) <= l:
            break
        low = high
        high *= 2.0
    # Newton's method on ℓ / ‖s‖ − 1 inside it
    alpha = high
    for _ in range(100):
        s1, s2, s3 = shifted_quotient(c1, d1, alpha), shifted_quotient(c2, d2, alpha), shifted_quotient(c3, d3, alpha)
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
def minimise_in_ball(p1, p2, p3, d1, d2, d3, radius):
    """(α, s₁, s₂, s₃): (d + α) s = −p with ‖s‖ ≤ radius, α ≥ 0, one of them zero."""
    size = norm3(p1, p2, p3)
    s1, s2, s3 = shifted_quotient(p1, d1, 0.0), shifted_quotient(p2, d2, 0.0), shifted_quotient(p3, d3, 0.0)
    if size == 0.0 or norm3(s1, s2, s3) <= radius:
        return 0.0, s1, s2, s3
    low = max(0.0, size / radius - max(d1, d2, d3))
    high = size / radius
    alpha = low
    for _ in range(100):
        s1, s2, s3 = shifted_quotient(p1, d1, alpha), shifted_quotient(p2, d2, alpha), shifted_quotient(p3, d3, alpha)
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
def normal_residual(l, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(u_n − α ℓ, s₁, s₂, s₃) at the best s for this ℓ > 0."""
    alpha, s1, s2, s3 = minimise_in_ball(q1 + w1 * l, q2 + w2 * l, q3 + w3 * l, d1, d2, d3, l)
    return wn * l + w1 * s1 + w2 * s2 + w3 * s3 + qn - alpha * l, s1, s2, s3


@device
def solve_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3):
    """(ℓ, s₁, s₂, s₃) of one contact under the convex law; the d are those of W_t."""
    at_low = qn - norm3(q1, q2, q3)
    if at_low >= 0.0 or wn + d1 + d2 + d3 <= TINY:
        return 0.0, 0.0, 0.0, 0.0
    # a bracket of ℓ: the derivative u_n − α ℓ is negative below and positive above
    low = 0.0
    high = -at_low / max(wn, 1e-6)
    at_high, s1, s2, s3 = normal_residual(high, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    for _ in range(60):
        if at_high >= 0.0:
            break
        low, at_low = high, at_high
        high *= 4.0
        at_high, s1, s2, s3 = normal_residual(high, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    if at_high < 0.0:
        return 0.0, 0.0, 0.0, 0.0
    # its zero by regula falsi, in the Illinois way
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
        found, s1, s2, s3 = normal_residual(l, qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
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
def solve_block(law, k, count, lower, upper, table, xn, x1, x2, x3, un, u1, u2, u3):
    """The block's new x from its old one and its velocity."""
    at = LOCAL * k
    wn = table[at]
    if count == 1:
        if wn <= TINY:
            return xn, 0.0, 0.0, 0.0
        return min(max(xn - un / wn, lower), upper), 0.0, 0.0, 0.0
    w1, w2, w3 = table[at + 1], table[at + 2], table[at + 3]
    d1, d2, d3 = table[at + 4], table[at + 5], table[at + 6]
    a11, a12, a13 = table[at + 7], table[at + 8], table[at + 9]
    a21, a22, a23 = table[at + 10], table[at + 11], table[at + 12]
    a31, a32, a33 = table[at + 13], table[at + 14], table[at + 15]
    # x and u in the block's axes, and q, what the other blocks leave of u
    y1, y2, y3 = a11 * x1 + a21 * x2 + a31 * x3, a12 * x1 + a22 * x2 + a32 * x3, a13 * x1 + a23 * x2 + a33 * x3
    v1, v2, v3 = a11 * u1 + a21 * u2 + a31 * u3, a12 * u1 + a22 * u2 + a32 * u3, a13 * u1 + a23 * u2 + a33 * u3
    side = w1 * y1 + w2 * y2 + w3 * y3
    qn = un - wn * xn - side
    through = xn + (side / wn if law == COULOMB and wn > TINY else 0.0)
    q1, q2, q3 = v1 - w1 * through - d1 * y1, v2 - w2 * through - d2 * y2, v3 - w3 * through - d3 * y3
    # the new x, back in the problem's axes
    if law == COULOMB:
        l, s1, s2, s3 = solve_coulomb(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    else:
        l, s1, s2, s3 = solve_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    return l, a11 * s1 + a12 * s2 + a13 * s3, a21 * s1 + a22 * s2 + a23 * s3, a31 * s1 + a32 * s2 + a33 * s3


@device
def solve_packed_convex(t, table, xn, x1, x2, x3, un, u1, u2, u3):
    """A contact's new x under the convex law, in its own axes, from its old one and its velocity; t: where its table begins."""
    wn, w1, w2, w3 = table[t], table[t + 1], table[t + 2], table[t + 3]
    d1, d2, d3 = table[t + 4], table[t + 5], table[t + 6]
    qn = un - wn * xn - (w1 * x1 + w2 * x2 + w3 * x3)
    q1, q2, q3 = u1 - w1 * xn - d1 * x1, u2 - w2 * xn - d2 * x2, u3 - w3 * xn - d3 * x3
    return solve_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)


@device
def solve_packed_coulomb(t, table, xn, x1, x2, x3, un, u1, u2, u3):
    """A contact's new x under Coulomb's law: with e = S⁻¹ (u_t − w u_n / w_n), s − e and ℓ − (u_n − wᵀ e) / w_n take the velocity away, and
    are the solution if they lie in the cone; otherwise the contact slides."""
    w1, w2, w3, inverse = table[t + 1], table[t + 2], table[t + 3], table[t + INVERSE]
    lift = un * inverse
    pressed = xn - lift + (w1 * x1 + w2 * x2 + w3 * x3) * inverse
    if pressed <= 0.0 or inverse == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    e1, e2 = (u1 - w1 * lift) * table[t + INVERSE + 1], (u2 - w2 * lift) * table[t + INVERSE + 2]
    e3 = (u3 - w3 * lift) * table[t + INVERSE + 3]
    l = xn - lift + (w1 * e1 + w2 * e2 + w3 * e3) * inverse
    s1, s2, s3 = x1 - e1, x2 - e2, x3 - e3
    if l >= 0.0 and s1 * s1 + s2 * s2 + s3 * s3 <= l * l:
        return l, s1, s2, s3
    grip, slip = x1 * x1 + x2 * x2 + x3 * x3, u1 * u1 + u2 * u2 + u3 * u3
    return solve_sliding(t, table, pressed, s1, s2, s3, slip / grip if grip > 0.0 else 0.0)


@device
def solve_sliding(t, table, pressed, s1, s2, s3, guess):
    """(ℓ, s₁, s₂, s₃) with (d + α) s = −c, ‖s‖ = ℓ = pressed − wᵀ s / w_n: the root of ℓ(α) / ‖s(α)‖ − 1 by Newton's method within a
    bracket that widens. Given s of α = 0, and a guess of α² or 0."""
    w1, w2, w3, inverse = table[t + 1], table[t + 2], table[t + 3], table[t + INVERSE]
    d1, d2, d3 = table[t + 4], table[t + 5], table[t + 6]
    c1, c2, c3 = -d1 * s1, -d2 * s2, -d3 * s3
    low, high = 0.0, ENDLESS
    alpha = math.sqrt(guess) if guess > 0.0 else norm3(c1, c2, c3) / pressed
    alpha = min(max(alpha, 1e-12), 1e12)
    r, s3, e3 = 0.0, 0.0, 0.0
    for _ in range(100):
        g1, g2 = 1.0 / (d1 + alpha), 1.0 / (d2 + alpha)
        s1, s2 = -c1 * g1, -c2 * g2
        if c3 != 0.0:
            g3 = 1.0 / (d3 + alpha)
            s3 = -c3 * g3
            e3 = s3 * g3
        l = pressed - (w1 * s1 + w2 * s2 + w3 * s3) * inverse
        square = s1 * s1 + s2 * s2 + s3 * s3
        r = math.sqrt(square)
        if r == 0.0 or abs(l - r) <= NEARLY * r:
            break
        if l > r:
            high = alpha
        else:
            low = alpha
        if high - low <= NEARLY * high:
            break
        e1, e2 = s1 * g1, s2 * g2
        slope = (w1 * e1 + w2 * e2 + w3 * e3) * inverse * square + l * (s1 * e1 + s2 * e2 + s3 * e3)
        step = alpha - (l - r) * square / slope if slope > 0.0 else -1.0
        if not low < step < high:
            step = 4.0 * alpha if high == ENDLESS else 0.5 * (low + high)
        alpha = step
    return r, s1, s2, s3


@inlined
def rotation(a, b, c):
    """cos, sin, tan of the turn that makes the symmetric (a c; c b) diagonal."""
    if abs(c) <= 1e-17 * (abs(a) + abs(b)):
        return 1.0, 0.0, 0.0
    tau = (b - a) / (2.0 * c)
    t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + math.sqrt(1.0 + tau * tau))
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    return cosine, t * cosine, t


@kernel
def diagonalise(n: int, A_out: Floats, V_out: Floats) -> None:
    """Axes V (3×3, columns) and eigenvalues (left on the diagonal of A, 3×3) of the first n ≤ 3 rows, by Jacobi's rotations."""
    for i in range(3):
        for j in range(3):
            V_out[3 * i + j] = 1.0 if i == j else 0.0
    for _ in range(1 if n == 2 else JACOBI):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                c, s, _ = rotation(A_out[4 * p], A_out[4 * q], A_out[3 * p + q])
                off += abs(s)
                for k in range(n):
                    x, y = A_out[3 * k + p], A_out[3 * k + q]
                    A_out[3 * k + p], A_out[3 * k + q] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = A_out[3 * p + k], A_out[3 * q + k]
                    A_out[3 * p + k], A_out[3 * q + k] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = V_out[3 * k + p], V_out[3 * k + q]
                    V_out[3 * k + p], V_out[3 * k + q] = c * x - s * y, s * x + c * y
        if off == 0.0:
            break


def local_tables(law: int, rows: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The tables of sweeps from the blocks' own matrices (k, 4, 4) of so many rows each."""
    table = np.zeros((rows.size, LOCAL))
    for d in range(1, 5):
        which = np.flatnonzero(rows == d)
        if not which.size:
            continue
        own = blocks[which, :d, :d]
        normal, side = own[:, 0, 0], own[:, 1:, 0]
        table[which, 0] = normal
        if d == 1:
            continue
        tangent = own[:, 1:, 1:]
        if law == COULOMB:
            safe = np.where(normal > 0.0, normal, 1.0)
            tangent = tangent - side[:, :, None] * side[:, None, :] / safe[:, None, None]
        values, vectors = np.linalg.eigh(0.5 * (tangent + tangent.transpose(0, 2, 1)))
        table[which, 1:d] = np.einsum("kij,ki->kj", vectors, side)
        table[which, 4 : 3 + d] = np.maximum(values, 0.0)
        axes = np.zeros((which.size, 3, 3))
        axes[:, : d - 1, : d - 1] = vectors
        table[which, 7:16] = axes.reshape(-1, 9)
    return table.ravel()


@kernel
def fill_local_tables(law: int, n: int, start: Ints, V: Floats, table_out: Floats) -> None:
    """As `local_tables`, in a kernel and by Jacobi's rotations; V: Ŵ (n × n)."""
    own, axes = np.empty(9), np.empty(9)
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k] - 1
        normal, t = V[at * n + at], LOCAL * k
        for m in range(LOCAL):
            table_out[t + m] = 0.0
        table_out[t] = normal
        if count == 0:
            continue
        own[:] = 0.0
        for i in range(count):
            for j in range(count):
                own[3 * i + j] = V[(at + 1 + i) * n + at + 1 + j]
                if law == COULOMB and normal > 0.0:
                    own[3 * i + j] -= V[(at + 1 + i) * n + at] * V[(at + 1 + j) * n + at] / normal
        diagonalise(count, own, axes)
        for j in range(count):
            for i in range(count):
                table_out[t + 1 + j] += axes[3 * i + j] * V[(at + 1 + i) * n + at]
                table_out[t + 7 + 3 * i + j] = axes[3 * i + j]
            table_out[t + 4 + j] = max(own[4 * j], 0.0)
