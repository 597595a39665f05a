"""The units of `scaling` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) for rows in islands: tables of blocks, into units and out of them.

What a sweep needs of a block lies in its table, made by `pgs_scaling`; tangents are in its axes, which lie apart.
"""

from __future__ import annotations

from unibody.algebra.contact.pgs_cards import AT, CARD, ROWS
from unibody.kernel import Floats, Ints, inlined, kernel

TABLE, INVERSE, PACE = 12, 7, 11
"""Numbers of a block: w_n, w (3) and d (3) as in `pgs`; 1 / w_n and 1 / d (3); what a velocity² along the normal is in units of
û²."""
LOWER, UPPER = 1, 2
"""Of a single row, instead of w: the bounds of x."""
AXES = 9
"""Numbers of a block's axes (3×3, as columns)."""


@inlined
def begin_at(l, c, of, card, D, table, axes, warm, impulse, x_out):
    """x of block l, whose rows begin at `of` among those given: of given impulses, in the axes; if these are not warm, as near to zero as
    bounds allow."""
    at, rows = card[c + AT], card[c + ROWS]
    if warm == 0:
        for r in range(rows):
            x_out[at + r] = 0.0
        if rows == 1:
            x_out[at] = min(max(0.0, table[TABLE * l + LOWER]), table[TABLE * l + UPPER])
        return
    if rows == 3:
        x1 = impulse[of + 1] / D[at + 1] if D[at + 1] > 0.0 else 0.0
        x2 = impulse[of + 2] / D[at + 2] if D[at + 2] > 0.0 else 0.0
        v = AXES * l
        x_out[at] = impulse[of] / D[at]
        x_out[at + 1], x_out[at + 2] = axes[v] * x1 + axes[v + 3] * x2, axes[v + 1] * x1 + axes[v + 4] * x2
        return
    for r in range(rows):
        x_out[at + r] = impulse[of + r] / D[at + r] if D[at + r] > 0.0 else 0.0
    if rows > 1:
        turn_in(rows - 1, axes, AXES * l, 1, 3, at + 1, x_out)


@kernel
def impulses_of(
    order: Ints, start: Ints, card: Ints, D: Floats, axes: Floats, x: Floats, scratch_out: Floats, impulse_out: Floats
) -> float:
    """λ = D x, out of the axes, in the order of the rows as they came; the largest. A scratch of four numbers."""
    largest = 0.0
    for l in range(order.size):
        to, at, rows = start[order[l]], card[CARD * l + AT], card[CARD * l + ROWS]
        if rows == 3:
            x1, x2, v = x[at + 1], x[at + 2], AXES * l
            f0 = D[at] * x[at]
            f1, f2 = D[at + 1] * (axes[v] * x1 + axes[v + 1] * x2), D[at + 2] * (axes[v + 3] * x1 + axes[v + 4] * x2)
            impulse_out[to], impulse_out[to + 1], impulse_out[to + 2] = f0, f1, f2
            largest = max(largest, abs(f0), abs(f1), abs(f2))
            continue
        for r in range(rows):
            scratch_out[r] = x[at + r]
        if rows > 1:
            turn_in(rows - 1, axes, AXES * l, 3, 1, 1, scratch_out)
        for r in range(rows):
            impulse_out[to + r] = D[at + r] * scratch_out[r]
            largest = max(largest, abs(impulse_out[to + r]))
    return largest


@inlined
def turn_in(n, axes, v, along, across, at, x_out):
    """x_i ← Σ_j axes[v + along i + across j] x_j of n tangents: along 1, across 3 into the axes, the other way around out of them."""
    x0 = x_out[at]
    x1 = x_out[at + 1] if n > 1 else 0.0
    x2 = x_out[at + 2] if n > 2 else 0.0
    for i in range(n):
        w = v + along * i
        x_out[at + i] = axes[w] * x0 + axes[w + across] * x1 + axes[w + 2 * across] * x2
