"""What overlaps: the problem of pseudo-velocities that move positions apart and leave velocities alone.

Only normals take part. A row that overlaps wants to part with a share of its overlap in the step; others may use up what is left of their
gaps. With the wishes w, 0 ≤ λ ⟂ W_nn λ − w ≥ 0 is the least motion in the sense of M.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact_groups import Grouped
from unibody.kernel import Floats, Ints, kernel

CORRECTED, FASTEST = 0.3, 1.0
"""The part of an overlap taken away in a step, and the speed [m/s] at which at most."""


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
def copy_first_rows(origin: int, rows: Ints, place: Ints, source: Floats, to: Ints, copy_out: Floats) -> None:
    """The first row of every block from `origin` on of numbers that lie as in `Grouped`, one after the other as `to` says."""
    for k in range(to.size - 1):
        step = rows[origin + k]
        p = place[origin + k]
        for i in range(to[k], to[k + 1]):
            copy_out[i] = source[p]
            p += step


def normals_of(W: Grouped, push: int, begin: int, count: int) -> Grouped:
    """The first `push` blocks, which are single rows, and the first rows of the `count` blocks from `begin` on."""
    groups = W.groups if push == begin else np.concatenate([W.groups[:push], W.groups[begin:]])
    out = Grouped.room(W.first, np.ones(push + count, np.int64), groups)
    end = int(out.place[push])
    for part, whole in ((out.J, W.J), (out.Y, W.Y)):
        part[:end] = whole[:end]
        copy_first_rows(begin, W.rows, W.place, whole, out.place[push:], part)
    return out
