"""Second derivatives of a function of a contact's stencil, as blocks over the control points of its two sides.

A contact's laws depend on r = Σ uₖ xₖ from the second side to the first, and on two material directions e = Σ vₖ xₖ and f = Σ wₖ xₖ along
which its closest points move. Of the second derivative H by (r, e, f), six blocks 3×3, the blocks over control points are Jᵀ H J. The three
rows of H J for r, for e and for f are made once for each side,

    R = H_rr ⊗ u + H_re ⊗ v + H_rf ⊗ w,   E = H_er ⊗ u + H_ee ⊗ v + H_ef ⊗ w,   F = H_fr ⊗ u + H_fe ⊗ v + H_ff ⊗ w      (3×12 each)

and every block is u ⊗ R + v ⊗ E + w ⊗ F, twelve numbers in a row at a time. f lies on the second side; e on either.
"""

from __future__ import annotations

from unibody.kernel import device, inlined
from unibody.triple import fetch_four, join_four, plus, put_four

ALONG_E, ALONG_F = 15, 19
"""Where a contact's record holds v and w."""


@device
def outer3(a, b):
    return (a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[0], a[1] * b[1], a[1] * b[2], a[2] * b[0], a[2] * b[1], a[2] * b[2])


@device
def scaled(f, S):
    """f S of a 3×3 matrix."""
    return (f * S[0], f * S[1], f * S[2], f * S[3], f * S[4], f * S[5], f * S[6], f * S[7], f * S[8])


@device
def sum3(S, f, P):
    """S + f P."""
    return (
        S[0] + f * P[0], S[1] + f * P[1], S[2] + f * P[2], S[3] + f * P[3], S[4] + f * P[4], S[5] + f * P[5], S[6] + f * P[6],
        S[7] + f * P[7], S[8] + f * P[8],
    )  # fmt: skip


@device
def transposed(S):
    return (S[0], S[3], S[6], S[1], S[4], S[7], S[2], S[5], S[8])


@device
def widened(v, j):
    """Four numbers v[j:], each three times, as three fours."""
    a = v[j]
    b = v[j + 1]
    c = v[j + 2]
    d = v[j + 3]
    return (join_four(a, a, a, b), join_four(b, b, c, c), join_four(c, d, d, d))


@device
def row(x, y, z, v):
    """v ⊗ (x, y, z) of a widened v: twelve numbers as three fours."""
    return (v[0] * join_four(x, y, z, x), v[1] * join_four(y, z, x, y), v[2] * join_four(z, x, y, z))


@device
def row_plus(r, x, y, z, v):
    """r + v ⊗ (x, y, z)."""
    return (
        plus(r[0], v[0], join_four(x, y, z, x)), plus(r[1], v[1], join_four(y, z, x, y)), plus(r[2], v[2], join_four(z, x, y, z)),
    )  # fmt: skip


@device
def rows(S, v):
    """S ⊗ v of a widened v: three rows of twelve numbers."""
    return (row(S[0], S[1], S[2], v), row(S[3], S[4], S[5], v), row(S[6], S[7], S[8], v))


@device
def rows_plus(R, S, v):
    """R + S ⊗ v."""
    return (row_plus(R[0], S[0], S[1], S[2], v), row_plus(R[1], S[3], S[4], S[5], v), row_plus(R[2], S[6], S[7], S[8], v))


@inlined
def add_row(f, r, at, block_out):
    """Twelve numbers += f r."""
    put_four(plus(fetch_four(block_out, at), f, r[0]), at, block_out)
    put_four(plus(fetch_four(block_out, at + 4), f, r[1]), at + 4, block_out)
    put_four(plus(fetch_four(block_out, at + 8), f, r[2]), at + 8, block_out)


@inlined
def add_rows(u, i, R, at, block_out):
    """block (12×12 at `at`) += u ⊗ R, of four numbers at u[i:]."""
    for p in range(4):
        f = u[i + p]
        if f != 0.0:
            k = at + 36 * p
            add_row(f, R[0], k, block_out)
            add_row(f, R[1], k + 12, block_out)
            add_row(f, R[2], k + 24, block_out)


@device
def add_outer(scale, u, i, v, j, S, at, block_out):
    """block += scale (u ⊗ 1) S (v ⊗ 1)ᵀ: 12×12 from four numbers at u[i:], four at v[j:] and a 3×3 matrix."""
    add_rows(u, i, rows(scaled(scale, S), widened(v, j)), at, block_out)


@device
def add_distance_blocks(a, b, place, record, at, S, own_out, between_out):
    """own (144 per body) and between (144 per pair, at `place`; < 0: transposed, −1 − place) += those of H_rr = S, symmetric; the record's
    weights u of both sides begin at `at`."""
    first = rows(S, widened(record, at))
    second = rows(S, widened(record, at + 4))
    add_rows(record, at, first, 144 * a, own_out)
    add_rows(record, at + 4, second, 144 * b, own_out)
    if place < 0:
        add_rows(record, at + 4, first, 144 * (-1 - place), between_out)
    else:
        add_rows(record, at, second, 144 * place, between_out)


@device
def add_stencil_blocks(a, b, place, record, at, e_side, rr, re, rf, ee, ef, ff, own_out, between_out):
    """As `add_distance_blocks`, of all six blocks of H; e lies on the first side (0) or the second (1)."""
    e = at + ALONG_E
    f = at + ALONG_F
    er = transposed(re)
    fr = transposed(rf)
    # H J of both sides
    u_a = widened(record, at)
    u_b = widened(record, at + 4)
    v = widened(record, e)
    w = widened(record, f)
    R_a = rows(rr, u_a)
    E_a = rows(er, u_a)
    F_a = rows(fr, u_a)
    R_b = rows_plus(rows(rr, u_b), rf, w)
    E_b = rows_plus(rows(er, u_b), ef, w)
    F_b = rows_plus(rows(fr, u_b), ff, w)
    if e_side == 0:
        R_a = rows_plus(R_a, re, v)
        E_a = rows_plus(E_a, ee, v)
        F_a = rows_plus(F_a, transposed(ef), v)
        add_rows(record, e, E_a, 144 * a, own_out)
    else:
        R_b = rows_plus(R_b, re, v)
        E_b = rows_plus(E_b, ee, v)
        F_b = rows_plus(F_b, transposed(ef), v)
        add_rows(record, e, E_b, 144 * b, own_out)
    # Jᵀ of that
    add_rows(record, at, R_a, 144 * a, own_out)
    add_rows(record, at + 4, R_b, 144 * b, own_out)
    add_rows(record, f, F_b, 144 * b, own_out)
    if place < 0:
        spot = 144 * (-1 - place)
        add_rows(record, at + 4, R_a, spot, between_out)
        add_rows(record, f, F_a, spot, between_out)
        if e_side == 1:
            add_rows(record, e, E_a, spot, between_out)
    else:
        spot = 144 * place
        add_rows(record, at, R_b, spot, between_out)
        if e_side == 0:
            add_rows(record, e, E_b, spot, between_out)
