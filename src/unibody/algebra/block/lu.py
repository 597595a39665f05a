"""A = 1 + Yᵀ C J over islands of velocities, C block diagonal over contacts, not symmetric: LU factors by blocks, with little fill.

The order is that of minimum degree (SuperLU's, on the graph of the islands, whose number is small beside that of the rows). Island j leaves

    A_ab ← A_ab − A_aj A_jj⁻¹ A_jb        for all a, b after j that it is coupled with

behind. The blocks A_jj are inverted with pivots; between islands there are none: A is 1 plus something that is nearly positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from unibody.kernel import Floats, Ints, kernel
from unibody.triple import fetch, minus, plus, put_only

KEPT = 8
"""Plans that are kept for problems of the same contacts."""


@kernel
def columns_of(pointer: Ints, neighbour: Ints, capacity: int, column_out: Ints, row_out: Ints) -> int:
    """The rows below the diagonal of each column of the factor, sorted; how many there are, or −1 if there is no room."""
    n = column_out.size - 1
    mark, head, following = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    count = 0
    for j in range(n):
        column_out[j] = count
        mark[j] = j
        for e in range(pointer[j], pointer[j + 1]):
            i = neighbour[e]
            if i > j and mark[i] != j:
                mark[i] = j
                if count >= capacity:
                    return -1
                row_out[count] = i
                count += 1
        child = head[j]
        while child >= 0:
            for e in range(column_out[child], column_out[child + 1]):
                i = row_out[e]
                if mark[i] != j:
                    mark[i] = j
                    if count >= capacity:
                        return -1
                    row_out[count] = i
                    count += 1
            child = following[child]
        for a in range(column_out[j] + 1, count):
            value = row_out[a]
            c = a
            while c > column_out[j] and row_out[c - 1] > value:
                row_out[c] = row_out[c - 1]
                c -= 1
            row_out[c] = value
        if count > column_out[j]:
            parent = row_out[column_out[j]]
            following[j] = head[parent]
            head[parent] = j
        column_out[j + 1] = count
    return count


@kernel
def block_of(column: Ints, row: Ints, diagonal: Ints, lower: Ints, upper: Ints, a: int, b: int) -> int:
    """Where block (a, b) begins."""
    if a == b:
        return diagonal[a]
    j, i = min(a, b), max(a, b)
    low, high = column[j], column[j + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if row[middle] <= i:
            low = middle
        else:
            high = middle
    return lower[low] if a > b else upper[low]


@kernel
def targets_of(column: Ints, row: Ints, diagonal: Ints, lower: Ints, upper: Ints, target_out: Ints) -> None:
    """Where what each island leaves behind goes."""
    at = 0
    for j in range(diagonal.size):
        for p in range(column[j], column[j + 1]):
            for q in range(column[j], column[j + 1]):
                target_out[at] = block_of(column, row, diagonal, lower, upper, row[p], row[q])
                at += 1


@kernel
def places_of(column: Ints, row: Ints, diagonal: Ints, lower: Ints, upper: Ints, islands: Ints, where_out: Ints) -> None:
    """Where the blocks of each contact are."""
    for k in range(islands.size // 2):
        for left in range(2):
            for right in range(2):
                a, b = islands[2 * k + left], islands[2 * k + right]
                if a >= 0 and b >= 0:
                    where_out[4 * k + 2 * left + right] = block_of(column, row, diagonal, lower, upper, a, b)


@kernel
def invert(n: int, at: int, pivot_out: Ints, A_out: Floats) -> int:
    """The n×n block that begins at `at` becomes its inverse (Gauss and Jordan, pivots by rows); 1 if it has none."""
    for j in range(n):
        best, chosen = abs(A_out[at + n * j + j]), j
        for i in range(j + 1, n):
            if abs(A_out[at + n * i + j]) > best:
                best, chosen = abs(A_out[at + n * i + j]), i
        if not best > 0.0:
            return 1
        pivot_out[j] = chosen
        if chosen != j:
            for c in range(n):
                A_out[at + n * j + c], A_out[at + n * chosen + c] = A_out[at + n * chosen + c], A_out[at + n * j + c]
        d = 1.0 / A_out[at + n * j + j]
        A_out[at + n * j + j] = 1.0
        for c in range(n):
            A_out[at + n * j + c] *= d
        for i in range(n):
            if i != j:
                f = A_out[at + n * i + j]
                A_out[at + n * i + j] = 0.0
                if f != 0.0:
                    for c in range(n):
                        A_out[at + n * i + c] -= f * A_out[at + n * j + c]
    for back in range(n):
        j = n - 1 - back
        other = pivot_out[j]
        if other != j:
            for i in range(n):
                A_out[at + n * i + j], A_out[at + n * i + other] = A_out[at + n * i + other], A_out[at + n * i + j]
    return 0


@kernel
def take_six(left: int, L: Floats, right: int, U: Floats, to: int, A_out: Floats) -> None:
    """`take_product` of bodies: 6×6 times 6×6, without a loop whose length is not known."""
    for i in range(6):
        l0, a0 = left + 6 * i, to + 6 * i
        s, t = fetch(A_out, a0), fetch(A_out, a0 + 3)
        for l in range(6):
            s, t = minus(s, L[l0 + l], fetch(U, right + 6 * l)), minus(t, L[l0 + l], fetch(U, right + 6 * l + 3))
        put_only(s, a0, A_out)
        put_only(t, a0 + 3, A_out)


@kernel
def take_product(height: int, n: int, width: int, left: int, L: Floats, right: int, U: Floats, to: int, A_out: Floats) -> None:
    """The block of A at `to` less (height × n at `left` of L) (n × width at `right` of U), three columns at once."""
    whole = width - width % 3
    for i in range(height):
        l0, a0 = left + n * i, to + width * i
        for c in range(0, whole, 3):
            s = fetch(A_out, a0 + c)
            for l in range(n):
                s = minus(s, L[l0 + l], fetch(U, right + width * l + c))
            put_only(s, a0 + c, A_out)
        for c in range(whole, width):
            s = A_out[a0 + c]
            for l in range(n):
                s -= L[l0 + l] * U[right + width * l + c]
            A_out[a0 + c] = s


@kernel
def add_three(height: int, width: int, by: int, Y: Floats, rows: Floats, to: int, A_out: Floats) -> None:
    """The block of A at `to` plus (height × 3 at `by` of Y) (3 × width), three columns at once."""
    whole = width - width % 3
    for i in range(height):
        f1, f2, f3, a0 = Y[by + 3 * i], Y[by + 3 * i + 1], Y[by + 3 * i + 2], to + width * i
        for c in range(0, whole, 3):
            s = plus(fetch(A_out, a0 + c), f1, fetch(rows, c))
            s = plus(plus(s, f2, fetch(rows, width + c)), f3, fetch(rows, 2 * width + c))
            put_only(s, a0 + c, A_out)
        for c in range(whole, width):
            A_out[a0 + c] += f1 * rows[c] + f2 * rows[width + c] + f3 * rows[2 * width + c]


@kernel
def factor_blocks(
    first: Ints, column: Ints, row: Ints, diagonal: Ints, lower: Ints, upper: Ints, target: Ints, scratch_out: Floats, pivot_out: Ints,
    A_out: Floats,
) -> int:  # fmt: skip
    """The factors in place of A: A_jj⁻¹, A_aj as it was met, A_jj⁻¹ A_jb. 0, or 1 more than the island that stopped it. A and the scratch
    have a number more than they need, as triples ask."""
    t = 0
    for j in range(diagonal.size):
        n = first[j + 1] - first[j]
        at = diagonal[j]
        if invert(n, at, pivot_out, A_out) == 1:
            return j + 1
        for e in range(column[j], column[j + 1]):
            width, U = first[row[e] + 1] - first[row[e]], upper[e]
            for c in range(n * width):
                scratch_out[c] = -A_out[U + c]
                A_out[U + c] = 0.0
            take_product(n, n, width, at, A_out, 0, scratch_out, U, A_out)
        for p in range(column[j], column[j + 1]):
            height, L = first[row[p] + 1] - first[row[p]], lower[p]
            for q in range(column[j], column[j + 1]):
                width, U = first[row[q] + 1] - first[row[q]], upper[q]
                to = target[t]
                t += 1
                if height == 6 and n == 6 and width == 6:
                    take_six(L, A_out, U, A_out, to, A_out)
                else:
                    take_product(height, n, width, L, A_out, U, A_out, to, A_out)
    return 0


@kernel
def solve_blocks(
    first: Ints, column: Ints, row: Ints, diagonal: Ints, lower: Ints, upper: Ints, factor: Floats, scratch_out: Floats, r_out: Floats
) -> None:
    """A⁻¹ r in place of r."""
    islands = diagonal.size
    for j in range(islands):
        n, at, x = first[j + 1] - first[j], diagonal[j], first[j]
        for i in range(n):
            s = 0.0
            for l in range(n):
                s += factor[at + n * i + l] * r_out[x + l]
            scratch_out[i] = s
        for i in range(n):
            r_out[x + i] = scratch_out[i]
        for e in range(column[j], column[j + 1]):
            to, height, L = first[row[e]], first[row[e] + 1] - first[row[e]], lower[e]
            for i in range(height):
                s = 0.0
                for l in range(n):
                    s += factor[L + n * i + l] * r_out[x + l]
                r_out[to + i] -= s
    for back in range(islands):
        j = islands - 1 - back
        n, x = first[j + 1] - first[j], first[j]
        for e in range(column[j], column[j + 1]):
            of, width, U = first[row[e]], first[row[e] + 1] - first[row[e]], upper[e]
            for i in range(n):
                s = 0.0
                for l in range(width):
                    s += factor[U + width * i + l] * r_out[of + l]
                r_out[x + i] -= s


@kernel
def fill_blocks(
    first: Ints, islands: Ints, start: Ints, place: Ints, where: Ints, diagonal: Ints, J: Floats, Y: Floats, slope: Floats, weight: float,
    scratch_out: Floats, A_out: Floats,
) -> None:  # fmt: skip
    """1 + Yᵀ C J with C = slope / weight, block by block."""
    # 1 on the diagonal
    A_out[:] = 0.0
    for j in range(diagonal.size):
        n = first[j + 1] - first[j]
        for i in range(n):
            A_out[diagonal[j] + (n + 1) * i] = 1.0
    for k in range(start.size - 1):
        # of each contact whose C is not zero: C J of its right-hand island, then Yᵀ (C J) on both sides
        rows, some = start[k + 1] - start[k], False
        for c in range(16):
            some = some or slope[16 * k + c] != 0.0
        if not some:
            continue
        of = place[k]
        for right in range(2):
            h = islands[2 * k + right]
            if h < 0:
                continue
            width = first[h + 1] - first[h]
            for i in range(width):
                for r in range(rows):
                    s = 0.0
                    for c in range(rows):
                        s += slope[16 * k + 4 * r + c] * J[of + rows * i + c]
                    scratch_out[width * r + i] = s / weight
            of += rows * width
            by = place[k]
            for left in range(2):
                g = islands[2 * k + left]
                if g < 0:
                    continue
                height, to = first[g + 1] - first[g], where[4 * k + 2 * left + right]
                if rows == 3:
                    add_three(height, width, by, Y, scratch_out, to, A_out)
                    by += 3 * height
                    continue
                for i in range(height):
                    for r in range(rows):
                        f = Y[by + rows * i + r]
                        for c in range(width):
                            A_out[to + width * i + c] += f * scratch_out[width * r + c]
                by += rows * height


@dataclass(frozen=True)
class Plan:
    """The order and the places of all blocks. position: of each island in the order; where: (4 k,) of the blocks (a, a), (a, c), (c, a),
    (c, c) that each contact adds to; size: numbers of the factor; largest: velocities of an island."""

    position: np.ndarray
    column: np.ndarray
    row: np.ndarray
    diagonal: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    target: np.ndarray
    where: np.ndarray
    size: int
    largest: int

    @classmethod
    def of(cls, sizes: np.ndarray, islands: np.ndarray) -> Plan:
        """From the number of velocities of each island and the pairs (k, 2) that contacts couple, −1 for none."""
        n, pairs = sizes.size, islands[(islands >= 0).all(axis=1)].astype(np.int64)
        pairs = np.unique(np.sort(pairs, axis=1), axis=0) if len(pairs) else np.zeros((0, 2), np.int64)
        position = _least_degree(n, pairs)
        pairs = position[pairs]
        pointer, neighbour = _adjacency(n, np.concatenate([pairs, pairs[:, ::-1]]))
        column, capacity, count = np.zeros(n + 1, np.int64), 4 * len(pairs) + n + 16, -1
        while count < 0:
            row = np.zeros(capacity, np.int64)
            count, capacity = columns_of(pointer, neighbour, capacity, column, row), 2 * capacity
        row = row[:count].copy()
        sizes = sizes[np.argsort(position)]
        between = sizes[np.repeat(np.arange(n), np.diff(column))] * sizes[row]
        lengths = np.concatenate([sizes**2, between, between])
        at = (np.cumsum(lengths) - lengths).astype(np.int64)
        diagonal, lower, upper = at[:n].copy(), at[n : n + count].copy(), at[n + count :].copy()
        target = np.zeros(int((np.diff(column) ** 2).sum()), np.int64)
        targets_of(column, row, diagonal, lower, upper, target)
        none = np.zeros(0, np.int64)
        return cls(position, column, row, diagonal, lower, upper, target, none, int(lengths.sum()), int(sizes.max(initial=0)))

    @cached_property
    def in_one(self) -> np.ndarray:
        """Where its seven parts begin (8 numbers), then these: column, row, diagonal, lower, upper, target, where."""
        parts = (self.column, self.row, self.diagonal, self.lower, self.upper, self.target, self.where)
        return np.concatenate([8 + np.cumsum([0, *(p.size for p in parts)]), *parts])

    def placed(self, islands: np.ndarray) -> Plan:
        """With the places of contacts on islands (k, 2), by their positions."""
        where = np.zeros(4 * len(islands), np.int64)
        flat = np.ascontiguousarray(islands, np.int64).ravel()
        places_of(self.column, self.row, self.diagonal, self.lower, self.upper, flat, where)
        return replace(self, where=where)


def plan_of(sizes: np.ndarray, islands: np.ndarray) -> tuple[Plan, np.ndarray]:
    """The plan of islands of these sizes with its contacts in their places, and the islands (2 k,) that they touch by position. Contacts
    often touch the same bodies for many steps, so that the last few plans are kept; nobody may write into them."""
    return _kept_plan(np.ascontiguousarray(sizes, np.int64).tobytes(), np.ascontiguousarray(islands, np.int64).tobytes())


@lru_cache(maxsize=KEPT)
def _kept_plan(sizes: bytes, islands: bytes) -> tuple[Plan, np.ndarray]:
    pairs = np.frombuffer(islands, np.int64).reshape(-1, 2)
    plan = Plan.of(np.frombuffer(sizes, np.int64), pairs)
    where = np.where(pairs >= 0, np.append(plan.position, -1)[pairs], -1)
    return plan.placed(where), np.ascontiguousarray(where, np.int64).ravel()


def _adjacency(n: int, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the neighbours of each begin, and the neighbours."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pointer = np.searchsorted(pairs[order, 0], np.arange(n + 1)).astype(np.int64)
    return pointer, np.ascontiguousarray(pairs[order, 1])


def _least_degree(n: int, pairs: np.ndarray) -> np.ndarray:
    """The position of each island in an order of elimination."""
    import scipy.sparse as sp
    import scipy.sparse.linalg as spl

    if n < 3 or not len(pairs):
        return np.arange(n)
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    graph = sp.csc_array((np.ones(i.size), (i, j)), shape=(n, n)) + 2.0 * n * sp.eye_array(n, format="csc")
    found = spl.splu(graph.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return found.perm_c.astype(np.int64)
