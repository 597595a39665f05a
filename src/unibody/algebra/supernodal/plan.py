"""Plans of a factorisation: all of it that depends on the pattern of a matrix only, and the factors made with one.

    plan = SupernodalPlan.of(n, rows, columns)      entries (row, column) of A, each for both sides of the diagonal; repeated ones add up
    factor = plan.factor(values)                    A = L Lᵀ in the order of the plan
    if factor.bad < 0: x = factor.solve(b)          else A is not positive definite: row `bad` has a pivot that is not positive

A plan depends on nothing but its arguments, and a factor on nothing but the plan and the values, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unibody.algebra.supernodal.dissection import dissect
from unibody.algebra.supernodal.front import front_size, packed_size
from unibody.algebra.supernodal.graph import alike_nodes, graph_of
from unibody.algebra.supernodal.layout import expand_rows, place_entries, place_in_parent, place_updates
from unibody.algebra.supernodal.minimum_degree import order_by_degree
from unibody.algebra.supernodal.numeric import factor, solve_four, solve_one
from unibody.algebra.supernodal.symbolic import amalgamate, count_rows, eliminate, find_supernodes, gather_rows, postorder


@dataclass(frozen=True)
class Supernodes:
    """Columns column_first[s] … of supernode s, in the order of elimination; rows below them, and where those stand in the parent's front;
    places of L and of updates; lists of children."""

    column_first: np.ndarray
    lower_first: np.ndarray
    lower: np.ndarray
    relative: np.ndarray
    factor_at: np.ndarray
    update_at: np.ndarray
    child: np.ndarray
    sibling: np.ndarray
    stack: int

    @cached_property
    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns, and rows below them."""
        return np.diff(self.column_first), np.diff(self.lower_first)


@dataclass(frozen=True)
class SupernodalPlan:
    """`order[k]` is the unknown that is eliminated as the k-th; entries source[…] of the values go to the places `target` of fronts."""

    order: np.ndarray
    nodes: Supernodes
    entry_first: np.ndarray
    source: np.ndarray
    target: np.ndarray

    @staticmethod
    def of(
        n: int, rows: np.ndarray, columns: np.ndarray, node: np.ndarray | None = None, positions: np.ndarray | None = None,
        edges: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> SupernodalPlan:  # fmt: skip
        """For n unknowns. `node` of each: those of a node have the same neighbours (found where it is not given). `positions` of nodes
        (k, 3) order by nested dissection; without them the order is that of minimum degree. `edges` between nodes, where they are known,
        save finding them from the entries."""
        rows, columns = (np.ascontiguousarray(i, np.int64) for i in (rows, columns))
        node = alike_nodes(n, rows, columns) if node is None else np.ascontiguousarray(node, np.int64)
        count = int(node.max(initial=-1)) + 1
        widths = np.bincount(node, minlength=count).astype(np.int64)
        start, neighbours = graph_of(node, count, rows, columns) if edges is None else graph_of(np.arange(count), count, *edges)
        order = elimination_order(start, neighbours, widths, positions)
        order, first_node, column_nodes, above = supernodes_of(start, neighbours, widths, order)
        offset = np.concatenate([[0], np.cumsum(widths[order])])
        # unknowns in the order of their nodes
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        unknowns = np.argsort(rank[node], kind="stable").astype(np.int64)
        place = np.empty(n, np.int64)
        place[unknowns] = np.arange(n)
        nodes = laid_out(start, neighbours, order, rank, first_node, column_nodes, above, offset)
        # entries of the matrix
        m = len(above)
        of = np.repeat(np.arange(m), nodes.sizes[0])
        entry_first, source, target = (np.empty(k, np.int64) for k in (m + 1, len(rows), len(rows)))
        local = np.empty(max(n, m), np.int64)
        place_entries(rows, columns, place, of, nodes.column_first, nodes.lower_first, nodes.lower, local, entry_first, source, target)
        return SupernodalPlan(unknowns, nodes, entry_first, source, target)

    @cached_property
    def flops(self) -> float:
        """Multiplications and additions of a factorisation."""
        k, m = (a.astype(float) for a in self.nodes.sizes)
        return float((k * k * k / 3.0 + k * k * m + k * m * m).sum())

    @cached_property
    def factor_size(self) -> int:
        """Numbers of L as it is kept; a solution takes four times as many flops."""
        k, m = self.nodes.sizes
        return int((k * (k + m)).sum())

    @cached_property
    def tallest(self) -> int:
        """Rows of the largest front."""
        return int(np.add(*self.nodes.sizes).max(initial=0))

    def workspace(self) -> Workspace:
        """Arrays that a factorisation works in and leaves for the next one: new ones would cost more than small factors."""
        sizes = self.nodes.stack, packed_size(self.tallest), front_size(self.tallest), self.factor_size
        return Workspace(*(np.empty(k) for k in sizes))

    def factor(self, values: np.ndarray, workspace: Workspace | None = None) -> SupernodalFactor:
        """L of the matrix whose entries have these values. With a workspace it stands in there, until the next one is made with it."""
        s, work = self.nodes, workspace or self.workspace()
        bad = factor(
            s.column_first, s.lower_first, s.factor_at, s.update_at, s.child, s.sibling, s.relative, self.entry_first, self.source,
            self.target, np.ascontiguousarray(values, float), work.stack, work.packed, work.front, work.L,
        )  # fmt: skip
        return SupernodalFactor(self, work.L, int(self.order[bad]) if bad >= 0 else -1)


@dataclass(frozen=True)
class Workspace:
    """Scratch and result of a factorisation with one plan; two threads need one each."""

    stack: np.ndarray
    packed: np.ndarray
    front: np.ndarray
    L: np.ndarray


@dataclass(frozen=True)
class SupernodalFactor:
    """L, or the row of the matrix at which it was found not to be positive definite (−1: it is)."""

    plan: SupernodalPlan
    L: np.ndarray
    bad: int

    def solve(self, b: np.ndarray) -> np.ndarray:
        """x of A x = b, for one right side (n,) or several (n, m)."""
        p, n = self.plan, len(self.plan.order)
        s = p.nodes
        given = s.column_first, s.lower_first, s.lower, s.factor_at, p.order, self.L
        if b.ndim == 1:
            x = np.empty(n)
            solve_one(*given, np.ascontiguousarray(b, float), np.empty(p.tallest), np.empty(n), x)
            return x
        m = b.shape[1]
        out, four = np.empty((n, m)), np.zeros((n, 4))
        work, y, x4 = np.empty(4 * p.tallest), np.empty(4 * n), np.empty(4 * n)
        for k in range(0, m, 4):
            some = min(4, m - k)
            four[:, :some] = b[:, k : k + some]
            solve_four(*given, four.ravel(), work, y, x4)
            out[:, k : k + some] = x4.reshape(n, 4)[:, :some]
        return out


def elimination_order(start: np.ndarray, neighbours: np.ndarray, widths: np.ndarray, positions: np.ndarray | None) -> np.ndarray:
    """Nodes in the order of elimination."""
    n = len(widths)
    order = np.empty(n, np.int64)
    if positions is not None:
        side, aside, stack = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(2 * n + 4, np.int64)
        dissect(start, neighbours, widths, np.ascontiguousarray(positions, float).ravel(), side, stack, aside, order)
        return order
    room = 2 * len(neighbours) + n + 1
    while True:  # how long lists get is not known before
        scratch = [np.empty(n, np.int64) for _ in range(8)]
        buckets, leader, lists = np.empty(int(widths.sum()) + 3 * n + 1, np.int64), np.empty(n, np.int64), np.empty(room, np.int64)
        if order_by_degree(start, neighbours, widths, *scratch, buckets, leader, lists, order):
            return order
        room *= 2


def supernodes_of(
    start: np.ndarray, neighbours: np.ndarray, widths: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The final order of nodes, the first place of each supernode, nodes below its columns, and its parent."""
    n = len(order)
    rank, a, b, c, parent, post = (np.empty(n, np.int64) for _ in range(6))
    eliminate(start, neighbours, order, rank, a, parent)
    postorder(parent, a, b, c, post)
    order = order[post]
    eliminate(start, neighbours, order, rank, a, parent)
    nodes, rows = (np.empty(n, np.int64) for _ in range(2))
    count_rows(start, neighbours, widths, order, rank, parent, a, nodes, rows)
    return merged_supernodes(widths, order, parent, nodes, rows)


def merged_supernodes(
    widths: np.ndarray, order: np.ndarray, parent: np.ndarray, nodes: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What `supernodes_of` gives, of a postordered elimination tree with so many nodes and rows in its columns: supernodes, merged with
    their parents where that costs little."""
    n = len(order)
    of, width, height, above, into, a = (np.empty(n, np.int64) for _ in range(6))
    m = find_supernodes(widths, order, parent, nodes, rows, of, width, height, above)
    amalgamate(m, above, a, width, height, into)
    top = into[:m]
    for _ in range(m):  # to the end of every chain, by doubling
        further = top[top]
        if np.array_equal(further, top):
            break
        top = further
    kept = np.flatnonzero(top == np.arange(m))
    new = np.empty(m, np.int64)
    new[kept] = np.arange(len(kept))
    above = np.where(above[kept] >= 0, new[top[above[kept]]], -1)
    # children before parents, subtrees contiguous
    k = len(kept)
    post = np.empty(k, np.int64)
    postorder(above, *(np.empty(k, np.int64) for _ in range(3)), post)
    label = np.empty(k, np.int64)
    label[post] = np.arange(k)
    above = np.where(above[post] >= 0, label[above[post]], -1)
    group = label[new[top[of]]]
    final = np.argsort(group, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=k))]).astype(np.int64)
    return order[final], first, nodes[final[first[1:] - 1]] - 1, above


def laid_out(
    start: np.ndarray, neighbours: np.ndarray, order: np.ndarray, rank: np.ndarray, first_node: np.ndarray, below: np.ndarray,
    above: np.ndarray, offset: np.ndarray,
) -> Supernodes:  # fmt: skip
    """Supernodes in unknowns; offset[k] is the first of the node at place k."""
    n, m = len(order), len(above)
    row_first = np.concatenate([[0], np.cumsum(below)]).astype(np.int64)
    child, sibling, mark, rows = (np.empty(k, np.int64) for k in (m, m, n, int(row_first[-1])))
    wrong = gather_rows(start, neighbours, order, rank, first_node, above, row_first, child, sibling, mark, rows)
    assert wrong < 0, f"supernode {wrong} has another number of rows than was counted"
    total = int((offset[rows + 1] - offset[rows]).sum())
    lower_first, lower, relative, update_at = (np.empty(k, np.int64) for k in (m + 1, total, total, m))
    expand_rows(offset, row_first, rows, lower_first, lower)
    column_first = offset[first_node]
    place_in_parent(above, column_first, lower_first, lower, relative)
    sibling[above < 0] = -1
    stack = place_updates(above, child, sibling, lower_first, update_at)
    columns = np.diff(column_first)
    sizes = columns * (columns + np.diff(lower_first))
    factor_at = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if m else np.zeros(0, np.int64)
    return Supernodes(column_first, lower_first, lower, relative, factor_at, update_at, child, sibling, stack)
