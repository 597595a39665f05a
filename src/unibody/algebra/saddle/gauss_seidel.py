"""Rows in small groups, one group after the other: block Gauss–Seidel on G y = b, M y − Gᵀ λ = 0 with M in blocks of `width`.

A row is a list of entries; entry e meets the velocities y at place[e] (−1: none) with `width` numbers. A group is up to six rows that are
solved together, exactly, as if nothing else were held::

    A_g = G_g M⁻¹ G_gᵀ,     A_g Δλ = b_g − G_g y,     y ← y + M⁻¹ G_gᵀ Δλ

Memory: M⁻¹ G_eᵀ of every entry (`width` each), then 36 numbers a group: L below the diagonal and 1/d on it, 0 for a row that repeats
others of its group; then 6 of scratch.
"""

from __future__ import annotations

from unibody.kernel import Floats, Ints, kernel

REPEATED = 1e-12
"""A pivot below this part of its diagonal entry is that of a row that repeats others."""


def sweep_memory(width: int, entries: int, groups: int) -> int:
    """Numbers of memory."""
    return width * entries + 36 * groups + 6


@kernel
def factor_groups(
    width: int, groups: Ints, starts: Ints, entry: Ints, place: Ints, entries: Floats, inverse: Floats, memory_out: Floats
) -> None:
    """Responses of all entries and the factors of every A_g. groups: first row and number of rows; row r has entry[starts[r]:starts[r+1]];
    inverse: blocks of M⁻¹."""
    for e in range(place.size):
        for m in range(width):
            total = 0.0
            if place[e] >= 0:
                for j in range(width):
                    total += inverse[place[e] * width + width * m + j] * entries[width * e + j]
            memory_out[width * e + m] = total
    for g in range(groups.size // 2):
        first = groups[2 * g]
        at = width * place.size + 36 * g
        for a in range(groups[2 * g + 1]):
            for b in range(a + 1):
                total = 0.0
                for i in range(starts[first + a], starts[first + a + 1]):
                    for j in range(starts[first + b], starts[first + b + 1]):
                        e = entry[i]
                        f = entry[j]
                        if place[e] >= 0 and place[e] == place[f]:
                            for m in range(width):
                                total += entries[width * e + m] * memory_out[width * f + m]
                memory_out[at + 6 * a + b] = total
            d = memory_out[at + 7 * a]
            least = REPEATED * d
            for b in range(a):
                for c in range(b):
                    memory_out[at + 6 * a + b] -= memory_out[at + 6 * a + c] * memory_out[at + 6 * b + c]
            for b in range(a):
                u = memory_out[at + 6 * a + b]
                memory_out[at + 6 * a + b] = u * memory_out[at + 7 * b]
                d -= u * memory_out[at + 6 * a + b]
            memory_out[at + 7 * a] = 1.0 / d if d > least else 0.0


@kernel
def sweep_groups(
    sweeps: int, width: int, groups: Ints, starts: Ints, entry: Ints, place: Ints, entries: Floats, right: Floats, memory_out: Floats,
    y_out: Floats, impulse_out: Floats,
) -> None:  # fmt: skip
    """Sweeps over all groups in their order; y and the impulses λ of all rows (right: b) are changed in place."""
    scratch = memory_out.size - 6
    for _ in range(sweeps):
        for g in range(groups.size // 2):
            first = groups[2 * g]
            count = groups[2 * g + 1]
            at = width * place.size + 36 * g
            for a in range(count):
                x = right[first + a]
                for i in range(starts[first + a], starts[first + a + 1]):
                    e = entry[i]
                    if place[e] >= 0:
                        for m in range(width):
                            x -= entries[width * e + m] * y_out[place[e] + m]
                for b in range(a):
                    x -= memory_out[at + 6 * a + b] * memory_out[scratch + b]
                memory_out[scratch + a] = x
            for a in range(count - 1, -1, -1):
                x = memory_out[scratch + a] * memory_out[at + 7 * a]
                for b in range(a + 1, count):
                    x -= memory_out[at + 6 * b + a] * memory_out[scratch + b]
                memory_out[scratch + a] = x if memory_out[at + 7 * a] > 0.0 else 0.0
            for a in range(count):
                impulse_out[first + a] += memory_out[scratch + a]
                for i in range(starts[first + a], starts[first + a + 1]):
                    e = entry[i]
                    if place[e] >= 0:
                        for m in range(width):
                            y_out[place[e] + m] += memory_out[width * e + m] * memory_out[scratch + a]
