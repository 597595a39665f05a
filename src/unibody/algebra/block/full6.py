"""Full 6×6 blocks, stored by rows, and the 6-vectors that they multiply: rows are loaded, changed and stored as a whole, which the compiler
turns into vector operations.

T is the shift of a twist by r, T (ω, v) = (ω, v + ω × r); its transpose shifts wrenches, Tᵀ (τ, f) = (τ + r × f, f). Symmetric blocks
packed in 21 numbers are those of `algebra.tree.aba`.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import add6, add_scaled6, load6, offset, store6
from unibody.kernel import device


@device
def shifted_twist(x, r):
    """T x: the twist x at a point r away."""
    return (
        x[0], x[1], x[2],
        x[3] + (x[1] * r[2] - x[2] * r[1]), x[4] + (x[2] * r[0] - x[0] * r[2]), x[5] + (x[0] * r[1] - x[1] * r[0]),
    )  # fmt: skip


@device
def shifted_wrench(f, r):
    """Tᵀ f: the wrench f at r, seen from the origin of r."""
    return (
        f[0] + (r[1] * f[5] - r[2] * f[4]), f[1] + (r[2] * f[3] - r[0] * f[5]), f[2] + (r[0] * f[4] - r[1] * f[3]),
        f[3], f[4], f[5],
    )  # fmt: skip


@device
def reversed_column(s, r):
    """−T⁻¹ s."""
    return (
        -s[0], -s[1], -s[2],
        (s[1] * r[2] - s[2] * r[1]) - s[3], (s[2] * r[0] - s[0] * r[2]) - s[4], (s[0] * r[1] - s[1] * r[0]) - s[5],
    )  # fmt: skip


@device
def unit6(k):
    """The unit vector e_k."""
    return (
        1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0,
    )  # fmt: skip


@device
def scaled6(a, s):
    """s a."""
    return (a[0] * s, a[1] * s, a[2] * s, a[3] * s, a[4] * s, a[5] * s)


@device
def row_times(s, a, at):
    """sᵀ A for the block at `at`."""
    at = offset(at)
    u = add_scaled6(scaled6(load6(a, at), s[0]), s[1], load6(a, at + 6))
    u = add_scaled6(add_scaled6(u, s[2], load6(a, at + 12)), s[3], load6(a, at + 18))
    return add_scaled6(add_scaled6(u, s[4], load6(a, at + 24)), s[5], load6(a, at + 30))


@device
def add_to_row(s, x, at, a_out):
    """a ← a + s x on six numbers."""
    at = offset(at)
    store6(add_scaled6(load6(a_out, at), s, x), at, a_out)


@device
def add_row(x, at, a_out):
    """a ← a + x on six numbers."""
    at = offset(at)
    store6(add6(load6(a_out, at), x), at, a_out)


@device
def subtract_outer(p, q, at, a_out):
    """A ← A − p qᵀ on the block at `at`."""
    at = offset(at)
    add_to_row(-p[0], q, at, a_out)
    add_to_row(-p[1], q, at + 6, a_out)
    add_to_row(-p[2], q, at + 12, a_out)
    add_to_row(-p[3], q, at + 18, a_out)
    add_to_row(-p[4], q, at + 24, a_out)
    add_to_row(-p[5], q, at + 30, a_out)


@device
def add_block(a, source, at, a_out):
    """A ← A + the block at `source` of a."""
    source, at = offset(source), offset(at)
    add_row(load6(a, source), at, a_out)
    add_row(load6(a, source + 6), at + 6, a_out)
    add_row(load6(a, source + 12), at + 12, a_out)
    add_row(load6(a, source + 18), at + 18, a_out)
    add_row(load6(a, source + 24), at + 24, a_out)
    add_row(load6(a, source + 30), at + 30, a_out)


@device
def stride6(a, at):
    """A column of a block."""
    at = offset(at)
    return (a[at], a[at + 6], a[at + 12], a[at + 18], a[at + 24], a[at + 30])


@device
def add_transposed(a, source, at, a_out):
    """A ← A + the transpose of the block at `source` of a."""
    source, at = offset(source), offset(at)
    add_row(stride6(a, source), at, a_out)
    add_row(stride6(a, source + 1), at + 6, a_out)
    add_row(stride6(a, source + 2), at + 12, a_out)
    add_row(stride6(a, source + 3), at + 18, a_out)
    add_row(stride6(a, source + 4), at + 24, a_out)
    add_row(stride6(a, source + 5), at + 30, a_out)


@device
def add_packed(b, at, a_out):
    """A ← A + a symmetric block of 21 numbers."""
    at = offset(at)
    add_row((b[0], b[1], b[2], b[6], b[7], b[8]), at, a_out)
    add_row((b[1], b[3], b[4], b[9], b[10], b[11]), at + 6, a_out)
    add_row((b[2], b[4], b[5], b[12], b[13], b[14]), at + 12, a_out)
    add_row((b[6], b[9], b[12], b[15], b[16], b[17]), at + 18, a_out)
    add_row((b[7], b[10], b[13], b[16], b[18], b[19]), at + 24, a_out)
    add_row((b[8], b[11], b[14], b[17], b[19], b[20]), at + 30, a_out)


@device
def packed(a, at):
    """The 21 numbers of a symmetric block stored in full, from its upper triangle."""
    at = offset(at)
    return (
        a[at], a[at + 1], a[at + 2], a[at + 7], a[at + 8], a[at + 14],
        a[at + 3], a[at + 4], a[at + 5], a[at + 9], a[at + 10], a[at + 11], a[at + 15], a[at + 16], a[at + 17],
        a[at + 21], a[at + 22], a[at + 23], a[at + 28], a[at + 29], a[at + 35],
    )  # fmt: skip


@device
def shift_rows(r, at, a_out):
    """A ← Tᵀ A on the block at `at`."""
    at = offset(at)
    x3, x4, x5 = load6(a_out, at + 18), load6(a_out, at + 24), load6(a_out, at + 30)
    store6(add_scaled6(add_scaled6(load6(a_out, at), r[1], x5), -r[2], x4), at, a_out)
    store6(add_scaled6(add_scaled6(load6(a_out, at + 6), r[2], x3), -r[0], x5), at + 6, a_out)
    store6(add_scaled6(add_scaled6(load6(a_out, at + 12), r[0], x4), -r[1], x3), at + 12, a_out)


@device
def shift_columns(r, at, a_out):
    """A ← A T on the block at `at`: every row is a wrench."""
    at = offset(at)
    store6(shifted_wrench(load6(a_out, at), r), at, a_out)
    store6(shifted_wrench(load6(a_out, at + 6), r), at + 6, a_out)
    store6(shifted_wrench(load6(a_out, at + 12), r), at + 12, a_out)
    store6(shifted_wrench(load6(a_out, at + 18), r), at + 18, a_out)
    store6(shifted_wrench(load6(a_out, at + 24), r), at + 24, a_out)
    store6(shifted_wrench(load6(a_out, at + 30), r), at + 30, a_out)
