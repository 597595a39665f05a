"""Symmetric 6×6 blocks as seven triples (`unibody.triple`): their diagonals, wrapped around.

Of  B = (A M; Mᵀ C), angular first, with all indices modulo 3:

    A and C by two triples each     d_i = A_ii,   o_i = A_{i+1,i+2}
    M by three                      m_i = M_ii,   n_i = M_{i,i+1},   l_i = M_{i,i+2}

so that with turn(x)_i = x_{i+1} and back(x)_i = x_{i+2}

    A s = d s + back(o) turn(s) + turn(o) back(s)
    M t = m t + n turn(t) + l back(t)
    Mᵀ s = m s + back(n s) + turn(l s)

and u vᵀ has the diagonals u v, u turn(v), u back(v). A block is the tuple (A's d, A's o, m, n, l, C's d, C's o); in memory it is these 21
numbers in this order.
"""

from __future__ import annotations

from unibody.kernel import device
from unibody.spatial.triples import crossed, times_diagonals
from unibody.triple import back, fetch, minus, plus, put, spread, turn


@device
def no_block():
    zero = spread(0.0)
    return (zero, zero, zero, zero, zero, zero, zero)


@device
def fetch_block(a, k):
    return (fetch(a, k), fetch(a, k + 3), fetch(a, k + 6), fetch(a, k + 9), fetch(a, k + 12), fetch(a, k + 15), fetch(a, k + 18))


@device
def put_block(b, k, a_out):
    """Spoils the number after the block."""
    put(b[0], k, a_out)
    put(b[1], k + 3, a_out)
    put(b[2], k + 6, a_out)
    put(b[3], k + 9, a_out)
    put(b[4], k + 12, a_out)
    put(b[5], k + 15, a_out)
    put(b[6], k + 18, a_out)


@device
def plus_block(b, c):
    return (b[0] + c[0], b[1] + c[1], b[2] + c[2], b[3] + c[3], b[4] + c[4], b[5] + c[5], b[6] + c[6])


@device
def plus_rigid(b, a, k):
    """B and the rigid inertia at a[k]: mass, h = m c, and d and o of J; its M is [h]× and its C is m 1."""
    h = fetch(a, k + 1)
    return (b[0] + fetch(a, k + 4), b[1] + fetch(a, k + 7), b[2], b[3] - back(h), b[4] + turn(h), b[5] + spread(a[k]), b[6])


@device
def times_angular(b, s):
    """B (s, 0)."""
    return times_diagonals(b[0], b[1], s), b[2] * s + (back(b[3] * s) + turn(b[4] * s))


@device
def times_motion(b, s, t):
    """B (s, t)."""
    x = turn(t)
    y = back(t)
    a = plus(plus(b[2] * t, b[3], x), b[4], y)
    l = plus(plus(plus(b[2] * s, b[5], t), back(b[6]), x), turn(b[6]), y)
    return times_diagonals(b[0], b[1], s) + a, l + (back(b[3] * s) + turn(b[4] * s))


@device
def without(b, a, l, factor):
    """B − factor u uᵀ with u = (a, l)."""
    x = turn(l)
    y = back(l)
    return (
        minus(b[0], factor, a * a), minus(b[1], factor, turn(a) * back(a)),
        minus(b[2], factor, a * l), minus(b[3], factor, a * x), minus(b[4], factor, a * y),
        minus(b[5], factor, l * l), minus(b[6], factor, x * y),
    )  # fmt: skip


@device
def shifted(b, r):
    """Tᵀ B T, with T the shift of a twist by r, v_i = v − r × ω:  M' = M + [r]× C,  A' = A − M [r]× − (M' [r]×)ᵀ."""
    x = turn(r)
    y = back(r)
    c = r * b[6]
    m = b[2] + (turn(c) - back(c))
    n = minus(plus(b[3], x, b[6]), y, turn(b[5]))
    l = minus(plus(b[4], x, back(b[5])), y, b[6])
    return (
        minus(plus(b[0], b[4] + l, x), b[3] + n, y),
        plus(b[1] + (back(n * r) - turn(b[4] * r)), turn(b[2]) - back(m), r),
        m, n, l, b[5], b[6],
    )  # fmt: skip


@device
def shifted_wrench(t, f, r):
    """The torque of a wrench (t, f), or of a column of B, at a point from which its own is r away."""
    return t + crossed(r, f)
