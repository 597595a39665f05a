"""Elimination of some unknowns of a symmetric matrix, and what it leaves between the others: its border.

    [A  Bᵀ] [x]   [b]            A = L Lᵀ,   S = C − B A⁻¹ Bᵀ         (Schur complement)
    [B  C ] [z] = [c]            S z = c − B A⁻¹ b,   x = A⁻¹ (b − Bᵀ z)

The unknowns of the border stand behind all others in the order of elimination and are no pivots; they are rows in the fronts of those that
they meet. What the fronts at the roots of the elimination tree hand up, −B A⁻¹ Bᵀ, stays on the stack of the factorisation: nobody takes
it from there. Two unknowns of the border are coupled only where one tree of pivots meets both.

    plan = BorderedPlan.of(n, m, rows, columns, node, positions)     unknowns n … n + m − 1 are the border; no entry within it
    plan.pivots.factor(values, work)                                 as of any plan
    plan.rows, plan.columns, plan.at                                 work.stack[at] is (−B A⁻¹ Bᵀ)[row, column], row ≥ column
    reduce_border(…),  recover_border(…)                             the two halves of a solution
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.supernodal.graph import graph_of
from unibody.algebra.supernodal.layout import place_entries
from unibody.algebra.supernodal.numeric import dot_column
from unibody.algebra.supernodal.plan import SupernodalPlan, elimination_order, laid_out, merged_supernodes
from unibody.algebra.supernodal.symbolic import count_rows, eliminate, postorder
from unibody.kernel import Floats, Ints, kernel


@dataclass(frozen=True)
class BorderedPlan:
    """A plan whose last unknowns are a border, and where the border's update stands on the stack."""

    pivots: SupernodalPlan
    """`order` lists the pivots, then the border as it is numbered."""
    rows: np.ndarray
    columns: np.ndarray
    """Numbers within the border, row ≥ column."""
    at: np.ndarray

    @staticmethod
    def of(
        n: int, m: int, rows: np.ndarray, columns: np.ndarray, node: np.ndarray, positions: np.ndarray | None = None
    ) -> BorderedPlan:  # fmt: skip
        """For n pivots and m unknowns of the border, entries (row, column) as of `SupernodalPlan.of`, and the node of every unknown, those
        of the border behind the others. `positions` of the pivots' nodes (k, 3) order by nested dissection."""
        rows, columns, node = (np.ascontiguousarray(i, np.int64) for i in (rows, columns, node))
        count, inner = int(node.max(initial=-1)) + 1, int(node[:n].max(initial=-1)) + 1
        widths = np.bincount(node, minlength=count).astype(np.int64)
        start, neighbours = graph_of(node, count, rows, columns)
        # an order of the pivots, as if there were no border; then their elimination tree within the whole
        within = (rows < n) & (columns < n)
        own = elimination_order(*graph_of(node[:n], inner, rows[within], columns[within]), widths[:inner], positions)
        border = np.arange(inner, count)
        rank, a, parent, nodes, below = (np.empty(count, np.int64) for _ in range(5))
        eliminate(start, neighbours, np.concatenate([own, border]), rank, a, parent)
        tree = np.where(parent[:inner] < inner, parent[:inner], -1)
        b, c, d, post = (np.empty(inner, np.int64) for _ in range(4))
        postorder(tree, b, c, d, post)
        order = np.concatenate([own[post], border])
        eliminate(start, neighbours, order, rank, a, parent)
        count_rows(start, neighbours, widths, order, rank, parent, a, nodes, below)
        tree = np.where(parent[:inner] < inner, parent[:inner], -1)
        own, first_node, column_nodes, above = merged_supernodes(widths, order[:inner], tree, nodes[:inner], below[:inner])
        order = np.concatenate([own, border])
        # unknowns in the order of their nodes; where the entries go
        offset = np.concatenate([[0], np.cumsum(widths[order])]).astype(np.int64)
        rank[order] = np.arange(count)
        unknowns = np.argsort(rank[node], kind="stable").astype(np.int64)
        place = np.empty(n + m, np.int64)
        place[unknowns] = np.arange(n + m)
        s = laid_out(start, neighbours, order, rank, first_node, column_nodes, above, offset)
        of = np.repeat(np.arange(len(above)), s.sizes[0])
        entry_first, source, target = (np.empty(k, np.int64) for k in (len(above) + 1, len(rows), len(rows)))
        local = np.empty(max(n + m, len(above)), np.int64)
        place_entries(rows, columns, place, of, s.column_first, s.lower_first, s.lower, local, entry_first, source, target)
        plan = SupernodalPlan(unknowns, s, entry_first, source, target)
        # the updates of the roots: lower triangles by columns
        found = [(np.zeros(0, np.int64),) * 3]
        for root in np.flatnonzero(above < 0):
            below_root = s.lower[s.lower_first[root] : s.lower_first[root + 1]] - n
            j, i = np.triu_indices(len(below_root))
            found.append((below_root[i], below_root[j], s.update_at[root] + np.arange(len(i))))
        return BorderedPlan(plan, *(np.concatenate(part).astype(np.int64) for part in zip(*found, strict=True)))


@kernel
def reduce_border(
    column_first: Ints, lower_first: Ints, lower: Ints, factor_at: Ints, order: Ints, factor: Floats, b: Floats, work_out: Floats,
    y_out: Floats,
) -> None:  # fmt: skip
    """y = L⁻¹ b at the places of the pivots, and c − B A⁻¹ b behind them, of a right side (b, c); `work` as in `solve_one`."""
    for k in range(order.size):
        y_out[k] = b[order[k]]
    for s in range(column_first.size - 1):
        low = column_first[s]
        width = column_first[s + 1] - low
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        for i in range(width):
            work_out[i] = y_out[low + i]
        for i in range(width, n):
            work_out[i] = 0.0
        for j in range(width):
            at = factor_at[s] + n * j
            f = work_out[j] / factor[at + j]
            y_out[low + j] = f
            for i in range(j + 1, n):
                work_out[i] -= f * factor[at + i]
        for i in range(below):
            y_out[lower[lower_first[s] + i]] += work_out[width + i]


@kernel
def recover_border(
    column_first: Ints, lower_first: Ints, lower: Ints, factor_at: Ints, order: Ints, factor: Floats, work_out: Floats, y_out: Floats,
    x_out: Floats,
) -> None:  # fmt: skip
    """(x, z) by unknowns, from y of `reduce_border` with z behind the pivots' places; y is overwritten."""
    for s in range(column_first.size - 2, -1, -1):
        low = column_first[s]
        width = column_first[s + 1] - low
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        for i in range(below):
            work_out[i] = y_out[lower[lower_first[s] + i]]
        for j in range(width - 1, -1, -1):
            at = factor_at[s] + n * j
            f = y_out[low + j] - dot_column(factor, at + width, below, work_out)
            for i in range(j + 1, width):
                f -= factor[at + i] * y_out[low + i]
            y_out[low + j] = f / factor[at + j]
    for k in range(order.size):
        x_out[order[k]] = y_out[k]
