"""What the ways to solve Eq. 2 cost, counted: by these a choice is made, not by clocks, so that it is the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unibody.algebra.tree.joint_matrix import node_above
from unibody.algebra.tree.multifrontal_plan import MultifrontalPlan

NODE_NS, PAIR_NS, ROW_NS, RESPONSE_NS = 55.0, 40.0, 4.0, 55.0
"""Costs of the iteration [ns]: of a body, of a coupling and of a row times a body in one iteration; of a row's response, a body."""

FLOP_NS, PLAN_NS = 0.27, 120.0
"""Costs of the direct solution [ns]: of one of its multiplications, and of a body besides."""

FACTOR_NS, ENTRY_NS, WRITTEN_NS, SWEEP_NS, MOVED_NS, PRODUCT_NS = 0.4, 1.2, 30.0, 12.0, 9.0, 1.5
"""Costs of writing A out [ns]: of a multiplication of its factors, of an entry, of a body, and of a body in each solution; of a column that
moves one end of a force between points against the other, and of two such columns."""

WRITTEN = 200
"""Columns above which A is not written out unless it is asked for."""

FEWEST = 6.0
"""Iterations that are rarely undercut: a direct solution that costs less than these is taken without trying."""


def iteration_ns(n: int, pairs: int, rows: int) -> float:
    """An iteration of the fused conjugate gradients: n bodies, couplings of pairs, rows."""
    return NODE_NS * n + PAIR_NS * pairs + ROW_NS * rows * n


def direct_ns(plan: MultifrontalPlan, n: int) -> float:
    """A direct solution for n bodies."""
    return FLOP_NS * plan.flops + PLAN_NS * n


def written_ns(bodies: np.ndarray, ends: Sequence[tuple[int, int]], pairs: Sequence[tuple[int, int]], rows: int) -> float:
    """To write A out, with forces between points of two bodies (`ends`) and other couplings, to factor it, and to solve with it, once and
    for every row."""
    parent, own = bodies[:, 0].tolist(), bodies[:, 2].tolist()
    n, nv = len(parent), sum(own)
    if nv > WRITTEN:
        return math.inf
    # columns from each body up to the root
    way = [0] * n
    for i in range(1, n):
        way[i] = way[parent[i]] + own[i]
    # entries that bodies, forces between points and couplings fill
    cost = ENTRY_NS * sum(own[i] * way[i] for i in range(1, n)) + WRITTEN_NS * n
    for a, b in ends:
        moved = way[a] + way[b] - 2 * way[node_above(parent, a, b)] if a and b else 0
        cost += MOVED_NS * moved + 0.5 * PRODUCT_NS * moved * moved
    cost += sum(ENTRY_NS * (6 + way[a]) * way[b] for a, b in pairs)
    # factors, and solutions with them
    return cost + FACTOR_NS * nv**3 / 6.0 + (1 + rows) * (ENTRY_NS * nv * nv + SWEEP_NS * n)
