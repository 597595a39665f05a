"""One block of rows in islands by itself: the impulse that obeys the laws while all others stay (`pgs` has the equations).

With e = S⁻¹ (u_t − w u_n / w_n), S = W_t − w wᵀ / w_n in its axes, the velocity is gone after

    s ← s − e,      ℓ ← ℓ − (u_n − wᵀ e) / w_n

which is the answer if it lies in the cone. Otherwise the contact slides: u_t = −α s.
"""

from __future__ import annotations

import math

from unibody.algebra.contact.island_scaling import INVERSE
from unibody.algebra.contact.pgs import norm3, single_convex
from unibody.kernel import device

NEARLY = 1e-14
"""Of the impulse: how exactly the friction of a contact that slides is found."""
ENDLESS = 1e300


@device
def single_of_convex_law(t, table, xn, x1, x2, x3, un, u1, u2, u3):
    """A contact's new x, in its own axes, from its old one and its velocity; t: where its table begins."""
    wn, w1, w2, w3 = table[t], table[t + 1], table[t + 2], table[t + 3]
    d1, d2, d3 = table[t + 4], table[t + 5], table[t + 6]
    qn = un - wn * xn - (w1 * x1 + w2 * x2 + w3 * x3)
    q1, q2, q3 = u1 - w1 * xn - d1 * x1, u2 - w2 * xn - d2 * x2, u3 - w3 * xn - d3 * x3
    return single_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)


@device
def single(t, table, xn, x1, x2, x3, un, u1, u2, u3):
    """The same under Coulomb's law."""
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
    return slide(t, table, pressed, s1, s2, s3, slip / grip if grip > 0.0 else 0.0)


@device
def slide(t, table, pressed, s1, s2, s3, guess):
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
