"""W = J M⁻¹ Jᵀ of rows on islands of velocities, in factors: a sweep over n contacts costs O(n), whatever hangs together.

An island is a set of velocities that are coupled with each other: a free body, a tree, trees that loops tie together. A block of rows (a
contact, a limit) acts on at most two islands, with J (rows × velocities of the island) and Y = M⁻¹ Jᵀ there, so that

    u_i = Σ over its islands of J_i · m,      m = Σ over all blocks of Y λ            (m: how the islands move)

and nothing is ever made that couples all rows with all others. `first` says where the velocities of each island begin in m; a block's
numbers lie velocity by velocity, its rows next to each other, those of its first island before those of its second.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from unibody.algebra.block.sym6 import offset
from unibody.kernel import Floats, Ints, device, inlined, kernel
from unibody.triple import fetch, plus, x_of, y_of, z_of
from unibody.triple import spread as spread_triple


@kernel
def lay_out(first: Ints, islands: Ints, rows: Ints, start_out: Ints, place_out: Ints) -> None:
    """Where each block's rows and numbers begin; one more than there are blocks."""
    start_out[0] = 0
    place_out[0] = 0
    for k in range(rows.size):
        size = 0
        for side in range(2):
            g = islands[2 * k + side]
            if g >= 0:
                size += first[g + 1] - first[g]
        start_out[k + 1] = start_out[k] + rows[k]
        place_out[k + 1] = place_out[k] + rows[k] * size


@kernel
def spread(first: Ints, islands: Ints, start: Ints, place: Ints, Y: Floats, x: Floats, motion_out: Floats) -> None:
    """m += Y x."""
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            if rows == 3:
                x0, x1, x2 = x[at], x[at + 1], x[at + 2]
                for i in range(first[g], first[g + 1]):
                    motion_out[i] += Y[p] * x0 + Y[p + 1] * x1 + Y[p + 2] * x2
                    p += 3
                continue
            for i in range(first[g], first[g + 1]):
                total = 0.0
                for r in range(rows):
                    total += Y[p + r] * x[at + r]
                motion_out[i] += total
                p += rows


@kernel
def gather(first: Ints, islands: Ints, start: Ints, place: Ints, J: Floats, motion: Floats, u_out: Floats) -> None:
    """u += J m."""
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            if rows == 3 and p + 3 * (first[g + 1] - first[g]) < J.size:  # a triple is fetched with the number after it
                u = spread_triple(0.0)
                for i in range(first[g], first[g + 1]):
                    u = plus(u, fetch(J, p), motion[i])
                    p += 3
                u_out[at] += x_of(u)
                u_out[at + 1] += y_of(u)
                u_out[at + 2] += z_of(u)
                continue
            if rows == 1:
                u0 = u_out[at]
                for i in range(first[g], first[g + 1]):
                    u0 += J[p] * motion[i]
                    p += 1
                u_out[at] = u0
                continue
            for i in range(first[g], first[g + 1]):
                for r in range(rows):
                    u_out[at + r] += J[p + r] * motion[i]
                p += rows


@kernel
def write_whole(first: Ints, islands: Ints, start: Ints, place: Ints, A: Floats, width: int, whole_out: Floats) -> None:
    """J or Y as rows of `width` numbers."""
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            for i in range(first[g], first[g + 1]):
                for r in range(rows):
                    whole_out[width * (at + r) + i] = A[p + r]
                p += rows


@kernel
def write_dense(first: Ints, islands: Ints, start: Ints, place: Ints, J: Floats, Y: Floats, W_out: Floats) -> None:
    """W = J Yᵀ of few rows: entries below the diagonal by these, above it the same."""
    m, n = start[start.size - 1], first[first.size - 1]
    whole, across = np.zeros(2 * m * n), np.empty(m * n)
    rows, responses = whole[: m * n], whole[m * n :]
    write_whole(first, islands, start, place, J, n, rows)
    write_whole(first, islands, start, place, Y, n, responses)
    for j in range(m):
        for v in range(n):
            across[m * v + j] = responses[n * j + v]
    W_out[:] = 0.0
    for i in range(m):
        for v in range(n):
            x = rows[n * i + v]
            if x != 0.0:
                for j in range(i + 1):
                    W_out[m * i + j] += x * across[m * v + j]
        for j in range(i):
            W_out[m * j + i] = W_out[m * i + j]


@inlined
def multiply_blocks(A, p, rows, o, columns, felt, count, to, m, W_out):
    """Add Σ a_k a_lᵀ over the velocities that are felt to the block of W at `to`, of the numbers of one block from p on and of another from
    o on, which lie velocity by velocity."""
    if rows == 3 and columns == 3:
        x, y, z = spread_triple(0.0), spread_triple(0.0), spread_triple(0.0)
        for i in range(count):
            one, a = offset(p + 3 * felt[i]), fetch(A, offset(o + 3 * felt[i]))
            x, y, z = plus(x, A[one], a), plus(y, A[one + 1], a), plus(z, A[one + 2], a)
        add_to_row(x, to, W_out)
        add_to_row(y, to + m, W_out)
        add_to_row(z, to + 2 * m, W_out)
    elif rows == 3 and columns == 1:
        x = spread_triple(0.0)
        for i in range(count):
            x = plus(x, A[offset(o + felt[i])], fetch(A, offset(p + 3 * felt[i])))
        W_out[to] += x_of(x)
        W_out[to + m] += y_of(x)
        W_out[to + 2 * m] += z_of(x)
    else:
        for i in range(count):
            for r in range(rows):
                for c in range(columns):
                    W_out[to + m * r + c] += A[p + rows * felt[i] + r] * A[o + columns * felt[i] + c]


@device
def add_to_row(x, k, W_out):
    """Add a triple."""
    W_out[k] += x_of(x)
    W_out[k + 1] += y_of(x)
    W_out[k + 2] += z_of(x)


@kernel
def write_gram(first: Ints, islands: Ints, start: Ints, place: Ints, A: Floats, felt_out: Ints, W_out: Floats) -> None:
    """W = A Aᵀ of few rows, where velocities are such that M = 1: block by block, those below the diagonal, and above it the same, each
    over the velocities in which its first block has numbers. A has one number more than there are; `felt_out`: workspace for as many as an
    island has velocities."""
    m = start[start.size - 1]
    for i in range(m * m):
        W_out[i] = 0.0
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            n, count = first[g + 1] - first[g], 0
            for v in range(n):
                some = 0.0
                for r in range(rows):
                    some += abs(A[p + rows * v + r])
                felt_out[count] = v
                count += 1 if some != 0.0 else 0
            for l in range(k + 1):
                o, columns, other = place[l], start[l + 1] - start[l], islands[2 * l]
                if other != g:
                    if islands[2 * l + 1] != g:
                        continue
                    o += columns * (first[other + 1] - first[other]) if other >= 0 else 0
                multiply_blocks(A, p, rows, o, columns, felt_out, count, offset(m * at + start[l]), m, W_out)
            p += rows * n
    for i in range(m):
        for j in range(i):
            W_out[m * j + i] = W_out[m * i + j]


@kernel
def read_whole(first: Ints, islands: Ints, start: Ints, place: Ints, whole: Floats, width: int, column: Ints, A_out: Floats) -> None:
    """The reverse of `write_whole`: J or Y from rows of `width` numbers, of which column[i] belongs to place i of m."""
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            for i in range(first[g], first[g + 1]):
                for r in range(rows):
                    A_out[p + r] = whole[width * (at + r) + column[i]]
                p += rows


@kernel
def pick(which: Ints, rows: Ints, place: Ints, row: int, new_place: Ints, A: Floats, A_out: Floats) -> None:
    """The numbers of some blocks; row ≥ 0: only those of this row of each."""
    for i in range(which.size):
        k = which[i]
        at, step = (place[k], 1) if row < 0 else (place[k] + row, rows[k])
        for p in range(new_place[i], new_place[i + 1]):
            A_out[p] = A[at]
            at += step


@kernel
def eliminate(
    first: Ints, islands: Ints, start: Ints, place: Ints, held_start: Ints, held: Ints, held_place: Ints, held_J: Floats, held_Y: Floats,
    inverse: Floats, count: int, Y_out: Floats,
) -> None:  # fmt: skip
    """Y ← Y − Y_h W_hh⁺ (J_h Y): responses with held rows held. Those of island g are held[held_start[g]:held_start[g + 1]], each with the
    numbers from held_place; inverse: of all `count` held rows."""
    most = 0
    for g in range(first.size - 1):
        most = max(most, held_start[g + 1] - held_start[g])
    met = np.zeros(most)
    for k in range(start.size - 1):
        rows, p = start[k + 1] - start[k], place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            size = first[g + 1] - first[g]
            lo, hi = held_start[g], held_start[g + 1]
            for r in range(rows):
                for a in range(lo, hi):
                    total = 0.0
                    for i in range(size):
                        total += held_J[held_place[held[a]] + i] * Y_out[p + rows * i + r]
                    met[a - lo] = total
                for a in range(lo, hi):
                    push = 0.0
                    for c in range(lo, hi):
                        push += inverse[count * held[a] + held[c]] * met[c - lo]
                    for i in range(size):
                        Y_out[p + rows * i + r] -= push * held_Y[held_place[held[a]] + i]
            p += rows * size


@dataclass
class DelassusFactors:
    """W = J Yᵀ. first: (islands + 1,); rows: (k,) of each block; islands: (k, 2) that it touches, −1 for none, never the same twice; J, Y:
    the numbers of all blocks one after the other. unit: (islands,) 1 where velocities are such that M = 1, and so Y = J; where that holds
    for all islands, J and Y may be one array."""

    first: np.ndarray
    rows: np.ndarray
    islands: np.ndarray
    J: np.ndarray
    Y: np.ndarray
    start: np.ndarray = field(repr=False)
    place: np.ndarray = field(repr=False)
    unit: np.ndarray = field(repr=False)

    @classmethod
    def zeros(cls, first: np.ndarray, rows: np.ndarray, islands: np.ndarray) -> DelassusFactors:
        """J and Y of zeros, to be filled in."""
        start, place = np.empty(len(rows) + 1, np.int64), np.empty(len(rows) + 1, np.int64)
        islands = np.ascontiguousarray(islands, np.int64).reshape(-1, 2)
        lay_out(first, islands.ravel(), rows, start, place)
        return cls(first, rows, islands, np.zeros(place[-1]), np.zeros(place[-1]), start, place, np.zeros(len(first) - 1, np.int64))

    @classmethod
    def from_whole(
        cls, first: np.ndarray, rows: np.ndarray, islands: np.ndarray, J: np.ndarray, Y: np.ndarray, column: np.ndarray
    ) -> DelassusFactors:
        """From J and Y (m, n), of which column[i] is the i-th velocity of the islands."""
        out = cls.zeros(first, rows, islands)
        for whole, part in ((J, out.J), (Y, out.Y)):
            read_whole(first, out.flat_islands, out.start, out.place, np.ascontiguousarray(whole).ravel(), J.shape[1], column, part)
        return out

    @property
    def flat_islands(self) -> np.ndarray:
        return self.islands.ravel()

    @property
    def size(self) -> int:
        """Rows."""
        return int(self.start[-1])

    def motion(self, x: np.ndarray) -> np.ndarray:
        """m = Y x."""
        out = np.zeros(self.first[-1])
        spread(self.first, self.flat_islands, self.start, self.place, self.Y, x, out)
        return out

    def pull(self, x: np.ndarray) -> np.ndarray:
        """Jᵀ x, in the order of m."""
        out = np.zeros(self.first[-1])
        spread(self.first, self.flat_islands, self.start, self.place, self.J, x, out)
        return out

    def along(self, motion: np.ndarray) -> np.ndarray:
        """J m."""
        out = np.zeros(self.size)
        gather(self.first, self.flat_islands, self.start, self.place, self.J, motion, out)
        return out

    def responses(self, load: np.ndarray) -> np.ndarray:
        """Y · load: along the rows, what loads do that are given in the order of m."""
        out = np.zeros(self.size)
        gather(self.first, self.flat_islands, self.start, self.place, self.Y, load, out)
        return out

    def times(self, x: np.ndarray) -> np.ndarray:
        """W x."""
        return self.along(self.motion(x))

    def wholes(self) -> tuple[np.ndarray, np.ndarray]:
        """J and Y as (m, n) arrays, columns in the order of m."""
        n = int(self.first[-1])
        out = np.zeros((2, self.size * n))
        for k, part in enumerate((self.J, self.Y)):
            write_whole(self.first, self.flat_islands, self.start, self.place, part, n, out[k])
        return out[0].reshape(-1, n), out[1].reshape(-1, n)

    def dense(self) -> np.ndarray:
        """W as an m×m array."""
        J, Y = self.wholes()
        W = J @ Y.T
        return 0.5 * (W + W.T)

    def sparse_parts(self):
        """J and Y as SciPy matrices (CSR), columns in the order of m."""
        import scipy.sparse as sp

        return tuple(sp.csr_array((part, self._columns), shape=(self.size, int(self.first[-1]))) for part in (self.J, self.Y))

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """(row, column) of every number of J."""
        width = np.append(np.diff(self.first), 0)
        entries = np.repeat(self.rows[:, None], 2, axis=1) * width[self.islands]
        side = np.repeat(np.arange(entries.size), entries.ravel())
        inside = np.arange(side.size) - np.repeat(np.cumsum(entries.ravel()) - entries.ravel(), entries.ravel())
        rows = self.rows[side // 2]
        return self.start[side // 2] + inside % rows, self.first[self.flat_islands[side]] + inside // rows

    def some(self, which: np.ndarray, row: int | None = None) -> DelassusFactors:
        """The blocks of these numbers; of each only its row number `row`, if given."""
        rows = self.rows[which] if row is None else np.ones(len(which), np.int64)
        out = DelassusFactors.zeros(self.first, rows, self.islands[which])
        for source, part in ((self.J, out.J), (self.Y, out.Y)):
            pick(which, self.rows, self.place, -1 if row is None else row, out.place, source, part)
        return replace(out, unit=self.unit)

    def diagonal(self, blocks: int) -> np.ndarray:
        """Of W, of the rows of the first so many blocks."""
        end = self.place[blocks]
        return np.bincount(self._columns[0][:end], self.J[:end] * self.Y[:end], minlength=int(self.start[blocks]))[: self.start[blocks]]

    def without(self, which: np.ndarray) -> DelassusFactors:
        """W with the blocks of these numbers coupled to nothing: their J and Y are zero."""
        if not len(which):
            return self
        J, Y = self.J.copy(), self.Y.copy()
        for k in which:
            J[self.place[k] : self.place[k + 1]] = Y[self.place[k] : self.place[k + 1]] = 0.0
        return replace(self, J=J, Y=Y)

    def followed_by(self, other: DelassusFactors) -> DelassusFactors:
        """These blocks and then the others, on the same islands."""
        if not len(other.rows) or not len(self.rows):
            return self if len(self.rows) else other
        parts = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("rows", "islands", "J", "Y"))
        start, place = (np.concatenate([a, a[-1] + b[1:]]) for a, b in ((self.start, other.start), (self.place, other.place)))
        return DelassusFactors(self.first, *parts, start, place, self.unit & other.unit)

    def holding(self, held: DelassusFactors, inverse: np.ndarray) -> DelassusFactors:
        """The same rows where single rows `held`, each on one island, hold: W − W_rh W_hh⁺ W_hr."""
        order = np.argsort(held.islands[:, 0], kind="stable")
        held_start = np.searchsorted(held.islands[order, 0], np.arange(len(self.first)))
        Y = self.Y.copy()
        eliminate(
            self.first, self.flat_islands, self.start, self.place, held_start, order, held.place, held.J, held.Y,
            np.ascontiguousarray(inverse).ravel(), len(order), Y,
        )  # fmt: skip
        unit = self.unit.copy()
        unit[held.islands[:, 0]] = 0
        return replace(self, Y=Y, unit=unit)
