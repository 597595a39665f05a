"""Symmetric matrices over m bodies of 12 unknowns and n points of 3.

    H = ( B  X )      B: blocks 12×12 as in `BlockMatrix`;  X: blocks 12×3 of a body and a point;
        ( Xᵀ V )      V: blocks 3×3 of two points, row ≤ column

The numbers stand in one array, those of B's diagonal first, then those of B between bodies, X and V, block after block. A pattern says
where; a matrix may have fewer blocks than its pattern, the others are zero. So one plan of a factorisation (`mixed_solver`) serves many
matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix, W, multiply
from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.arrays import distinct
from unibody.kernel import Floats, Ints, device, kernel

REMEMBERED = 6
"""Lists of places that a pattern keeps."""

Places = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of blocks: which of a list, where it goes, how far its rows are apart there, and whether it is transposed."""


@kernel
def add_point_blocks(source: Ints, offset: Ints, stride: Ints, flip: Ints, blocks: Floats, values_out: Floats) -> None:
    """Block source[k], or its transpose, is added at offset[k], rows `stride[k]` apart."""
    for k in range(source.size):
        at = 9 * source[k]
        to = offset[k]
        wide = stride[k]
        if flip[k] == 0:
            for r in range(3):
                for c in range(3):
                    values_out[to + wide * r + c] += blocks[at + 3 * r + c]
        else:
            for r in range(3):
                for c in range(3):
                    values_out[to + wide * r + c] += blocks[at + 3 * c + r]


@kernel
def add_products(
    bodies: Ints, points: Ints, across: Floats, rows: Ints, columns: Ints, pairs: Floats, first: int, x: Floats, y_out: Floats
) -> None:
    """y += (X, V) x; points begin at x[first]."""
    for k in range(bodies.size):
        a = 12 * bodies[k]
        f = first + 3 * points[k]
        for i in range(12):
            for j in range(3):
                h = across[36 * k + 3 * i + j]
                y_out[a + i] += h * x[f + j]
                y_out[f + j] += h * x[a + i]
    for k in range(rows.size):
        a = first + 3 * rows[k]
        f = first + 3 * columns[k]
        for i in range(3):
            for j in range(3):
                h = pairs[9 * k + 3 * i + j]
                y_out[a + i] += h * x[f + j]
                if a != f:
                    y_out[f + j] += h * x[a + i]


@dataclass(frozen=True)
class MixedPattern:
    """Sorted keys of the blocks that there are: a m + b of bodies a < b; a n + f of a body and a point; f n + g of points f ≤ g."""

    m: int
    n: int
    between: np.ndarray
    across: np.ndarray
    pairs: np.ndarray
    _known: list[tuple[np.ndarray, np.ndarray, Places]] = field(default_factory=list, compare=False, repr=False)

    @staticmethod
    def of(m: int, n: int, between: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> MixedPattern:
        """Of keys between bodies, and blocks over points (4 of each body first), with all diagonals of points."""
        own, across, pairs = _keys(m, n, rows, columns)
        return MixedPattern(
            m, n, distinct(np.concatenate([between, own])), distinct(across), distinct(np.concatenate([pairs, diagonal_keys(n)]))
        )

    @staticmethod
    def empty(m: int, n: int) -> MixedPattern:
        """With the diagonals alone."""
        none = np.zeros(0, np.int64)
        return MixedPattern.of(m, n, none, none, none)

    def plus(self, other: MixedPattern) -> MixedPattern:
        """That has the blocks of both: this one, if it has all."""
        parts = [(self.between, other.between), (self.across, other.across), (self.pairs, other.pairs)]
        if all(_place(some, more) is not None for some, more in parts):
            return self
        return MixedPattern(self.m, self.n, *(distinct(np.concatenate(part)) for part in parts))

    def same(self, other: MixedPattern) -> bool:
        return self is other or (
            np.array_equal(self.between, other.between)
            and np.array_equal(self.across, other.across)
            and np.array_equal(self.pairs, other.pairs)
        )

    @cached_property
    def bodies(self) -> tuple[np.ndarray, np.ndarray]:
        return self.between // max(self.m, 1), self.between % max(self.m, 1)

    @cached_property
    def body_points(self) -> tuple[np.ndarray, np.ndarray]:
        return self.across // max(self.n, 1), self.across % max(self.n, 1)

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        return self.pairs // max(self.n, 1), self.pairs % max(self.n, 1)

    @cached_property
    def starts(self) -> tuple[int, int, int, int]:
        """Where the numbers between bodies, of X and of V begin, and how many there are."""
        b = W * W * self.m
        c = b + W * W * len(self.between)
        d = c + 36 * len(self.across)
        return b, c, d, d + 9 * len(self.pairs)

    def places(self, rows: np.ndarray, columns: np.ndarray) -> Places | None:
        """For `add_point_blocks`: where blocks over points at rows ≤ columns stand; None if the pattern has not all of them. Lists that are
        asked for again, the same arrays, are remembered."""
        for known_rows, known_columns, known in self._known:
            if known_rows is rows and known_columns is columns:
                return known
        found = self._found(rows, columns)
        if found is not None:
            self._known[:] = [*self._known[-REMEMBERED + 1 :], (rows, columns, found)]
        return found

    def _found(self, rows: np.ndarray, columns: np.ndarray) -> Places | None:
        bodies = int((rows < 4 * self.m).sum()) if self.m else 0
        out = np.empty((4, len(rows) + bodies), np.int64)
        asked = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
        n = find_places(self.m, self.n, *asked, self.between, self.across, self.pairs, self._row_starts, self._starts, *out)
        return tuple(part[:n] for part in out) if n >= 0 else None  # type: ignore[return-value]

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.array(self.starts, np.int64)

    @cached_property
    def _row_starts(self) -> np.ndarray:
        """(n + 1,) where the blocks of each point's row begin among the pairs."""
        return np.searchsorted(self.pairs, np.arange(self.n + 1) * self.n).astype(np.int64)


@device
def place_of(keys, key, low, high):
    """Where a key stands among sorted ones from `low` to `high`; −1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and keys[low] == key else -1


@kernel
def find_places(
    m: int, n: int, rows: Ints, columns: Ints, between: Ints, across: Ints, pairs: Ints, row_starts: Ints, starts: Ints, source_out: Ints,
    offset_out: Ints, stride_out: Ints, flip_out: Ints,
) -> int:  # fmt: skip
    """Of blocks over points at rows ≤ columns, what `add_point_blocks` asks for; how many there are: those of one body off its diagonal
    stand twice. −1 if one is not in the pattern."""
    found = 0
    for k in range(rows.size):
        a, i = rows[k] // 4, rows[k] % 4
        e, j = columns[k] // 4, columns[k] % 4
        source_out[found] = k
        flip_out[found] = 0
        stride_out[found] = 12
        if a >= m:
            f = rows[k] - 4 * m
            at = place_of(pairs, f * n + columns[k] - 4 * m, row_starts[f], row_starts[f + 1])
            stride_out[found] = 3
            offset_out[found] = starts[2] + 9 * at
        elif e >= m:
            at = place_of(across, a * n + columns[k] - 4 * m, 0, across.size)
            stride_out[found] = 3
            offset_out[found] = starts[1] + 36 * at + 9 * i
        elif a != e:
            at = place_of(between, a * m + e, 0, between.size)
            offset_out[found] = starts[0] + 144 * at + 36 * i + 3 * j
        else:
            at = a
            offset_out[found] = 144 * a + 36 * i + 3 * j
            if i != j:
                found += 1
                source_out[found] = k
                flip_out[found] = 1
                stride_out[found] = 12
                offset_out[found] = 144 * a + 36 * j + 3 * i
        if at < 0:
            return -1
        found += 1
    return found


def _keys(m: int, n: int, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    body, other = rows < 4 * m, columns < 4 * m
    apart = body & other & (rows // 4 != columns // 4)
    mixed, free = body & ~other, ~body
    return (
        rows[apart] // 4 * m + columns[apart] // 4, rows[mixed] // 4 * n + columns[mixed] - 4 * m,
        (rows[free] - 4 * m) * n + columns[free] - 4 * m,
    )  # fmt: skip


def diagonal_keys(n: int) -> np.ndarray:
    """Of points with themselves."""
    return np.arange(n) * (n + 1)


def _place(known: np.ndarray, keys: np.ndarray) -> np.ndarray | None:
    """Where keys stand among the sorted ones; None if one is not there."""
    place = np.searchsorted(known, keys)
    if len(keys) and (not len(known) or not (known[np.minimum(place, len(known) - 1)] == keys).all()):
        return None
    return place


@dataclass(frozen=True)
class MixedMatrix:
    """Its numbers, where the pattern says."""

    pattern: MixedPattern
    values: np.ndarray

    @staticmethod
    def of(pattern: MixedPattern, bodies: BlockMatrix, parts: Sequence[NodeBlocks]) -> MixedMatrix:
        """The sum of a matrix over the bodies and of blocks over points (4 of each body first), with a pattern that has at least the blocks
        of the given one."""
        keys = bodies.rows * pattern.m + bodies.columns
        places = [pattern.places(part.rows, part.columns) for part in parts]
        if any(place is None for place in places) or _place(pattern.between, keys) is None:
            rows, columns = (
                np.concatenate([np.zeros(0, np.int64), *some]) for some in ([p.rows for p in parts], [p.columns for p in parts])
            )
            pattern = pattern.plus(MixedPattern.of(pattern.m, pattern.n, keys, rows, columns))
            places = [pattern.places(part.rows, part.columns) for part in parts]
        out = MixedMatrix(pattern, np.zeros(pattern.starts[3]))
        out.values[: pattern.starts[0]] = bodies.diagonal.ravel()
        out.bodies.between[np.searchsorted(pattern.between, keys)] = bodies.between
        for part, place in zip(parts, places, strict=True):
            assert place is not None
            add_point_blocks(*place, np.ascontiguousarray(part.blocks).ravel(), out.values)
        return out

    @cached_property
    def bodies(self) -> BlockMatrix:
        """B: its blocks are views."""
        b, c, _, _ = self.pattern.starts
        return BlockMatrix(self.values[:b].reshape(-1, W, W), *self.pattern.bodies, self.values[b:c].reshape(-1, W, W))

    def between_this_and(self, other: MixedMatrix, share: float) -> MixedMatrix:
        """This matrix moved by a share of the way to another with the same pattern."""
        return MixedMatrix(self.pattern, (1.0 - share) * self.values + share * other.values)

    def widened(self, pattern: MixedPattern) -> MixedMatrix:
        """The same matrix with a pattern that has more blocks."""
        if pattern is self.pattern:
            return self
        out, p = np.zeros(pattern.starts[3]), self.pattern
        out[: p.starts[0]] = self.values[: p.starts[0]]
        for k, (few, many, size) in enumerate(
            ((p.between, pattern.between, W * W), (p.across, pattern.across, 36), (p.pairs, pattern.pairs, 9))
        ):
            to, given = out[pattern.starts[k] :].reshape(-1), self.values[p.starts[k] : p.starts[k + 1]].reshape(-1, size)
            to[: size * len(many)].reshape(-1, size)[np.searchsorted(many, few)] = given
        return MixedMatrix(pattern, out)

    def lifted(self, share: float) -> MixedMatrix:
        """With a share of its diagonal more."""
        values, p = self.values.copy(), self.pattern
        of_bodies = values[: p.starts[0]].reshape(-1, W * W)
        of_bodies[:, :: W + 1] *= 1.0 + share
        rows, columns = p.points
        of_points = values[p.starts[2] :].reshape(-1, 9)
        own = np.flatnonzero(rows == columns)
        for i in (0, 4, 8):
            of_points[own, i] *= 1.0 + share
        return MixedMatrix(p, values)

    def product(self, x: np.ndarray) -> np.ndarray:
        """H x"""
        p, x = self.pattern, np.ascontiguousarray(x)
        b, c, d, _ = p.starts
        out, at = np.empty(x.size), W * p.m
        B = self.bodies
        transposed = np.ascontiguousarray(np.swapaxes(B.between, 1, 2)).ravel()
        multiply(self.values[:b], B.rows, B.columns, self.values[b:c], transposed, x[:at], out[:at])
        out[at:] = 0.0
        add_products(*p.body_points, self.values[c:d], *p.points, self.values[d:], at, x, out)
        return out
