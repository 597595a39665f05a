"""What overlaps: the problem of pseudo-velocities that move positions apart and leave velocities alone.

Only normals take part. A row that overlaps wants to part with a share of its overlap in the step; others may use up what is left of their
gaps. With the wishes w, 0 ≤ λ ⟂ W_nn λ − w ≥ 0 is the least motion in the sense of M (`contact_group_parting`).
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact_group_parting import LEAF, PARTING_SLOTS, part_rows
from unibody.algebra.contact_group_room import room
from unibody.algebra.contact_groups import Grouped
from unibody.kernel import Floats, Ints, kernel

CORRECTED, FASTEST = 0.3, 1.0
"""The part of an overlap taken away in a step, and the speed [m/s] at which at most."""

OVERLAP = 1e-6
"""[m, rad] The overlap that is left alone."""

ROUGHLY, SWEEPS = 1e-7, 100
"""The tolerance of pseudo-velocities [m/s], and the most sweeps for them."""

MANY, ROUGH_PART, FEW_SWEEPS = 64, 1e-2, 16
"""From so many contacts on the tolerance is a part of the largest one that is wanted, and sweeps are fewer: what is left goes in the next
steps."""


@kernel
def wish_apart(
    h: float, width: int, residual: Floats, reached: Floats, gaps: Floats, after: Floats, wish_out: Floats
) -> float:
    """Minus the velocities that one-sided rows of the book and then normals of contacts are to reach; the largest wish. `residual` and
    `gaps`: how far they are apart; `reached`: of the book's, (C⁺ + h Ċ)/h at the end of the step; `after`: velocities of contacts, `width`
    each."""
    push, most = residual.size, 0.0
    for k in range(wish_out.size):
        gap = residual[k] if k < push else gaps[k - push]
        u = reached[k] - max(gap, 0.0) / h if k < push else after[width * (k - push)]
        wish = min(-CORRECTED * gap / h, FASTEST) if gap < 0.0 else -max(gap / h + u, 0.0)
        most = max(most, wish)
        wish_out[k] = -wish
    return most


@kernel
def part_overlaps(
    h: float, width: int, origin: int, limit: int, residual: Floats, reached: Floats, gaps: Floats, after: Floats, order: Ints,
    first: Ints, unit: Ints, groups: Ints, start: Ints, place: Ints, J: Floats, Y: Floats, ints_out: Ints, work_out: Floats,
    wish_out: Floats, impulse_out: Floats,
) -> int:  # fmt: skip
    """As `part_rows`, of what `wish_apart` wants, by at most `limit` sweeps if that is not 0; 0 where nothing overlaps."""
    deepest = 0.0
    for k in range(residual.size):
        deepest = min(deepest, residual[k])
    for k in range(gaps.size):
        deepest = min(deepest, gaps[k])
    if not deepest < -OVERLAP:
        return 0
    tolerance, most = ROUGHLY, SWEEPS
    fastest = wish_apart(h, width, residual, reached, gaps, after, wish_out)
    if gaps.size >= MANY:
        tolerance, most = max(ROUGHLY, ROUGH_PART * fastest), FEW_SWEEPS
    if limit > 0:
        most = min(most, limit)
    return part_rows(
        residual.size, origin, most, tolerance, order, first, unit, groups, start, place, J, Y, wish_out, ints_out, work_out, impulse_out
    )


def impulses_apart(
    W: Grouped, h: float, origin: int, limit: int, residual: np.ndarray, reached: np.ndarray, gaps: np.ndarray, after: np.ndarray,
    order: np.ndarray,
) -> np.ndarray | None:  # fmt: skip
    """Of one-sided rows of the book, the first blocks of W, with these residuals, and of the normals of contacts, its blocks from `origin`
    on, the impulses that part what overlaps; None where nothing does."""
    count, done = residual.size + gaps.size, -1
    wish, impulse = np.empty(count), np.empty(count)
    while done < 0:
        room.have(-done, LEAF * count + W.first.size + 2 * PARTING_SLOTS)
        done = part_overlaps(
            h, after.shape[1], origin, limit, residual, reached, gaps, after.reshape(-1), order, W.first, W.unit, W.flat_groups, W.start,
            W.place, W.J, W.Y, room.ints, room.floats, wish, impulse,
        )  # fmt: skip
    return impulse if done > 0 else None
