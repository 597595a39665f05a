"""The graph of a symmetric sparse matrix: nodes are groups of unknowns, and neighbours are those between which an entry stands.

Entries (row, column) may repeat and may stand on either side of the diagonal. Unknowns of one node have the same neighbours: the three
coordinates of a vertex, the twelve of an affine body. Where nobody says which unknowns form a node, consecutive ones that have the same
neighbours and each other do.
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import Ints, kernel


@kernel
def count_neighbours(node: Ints, rows: Ints, columns: Ints, start_out: Ints) -> None:
    """start[v + 1] = how many entries lead from node v to others."""
    for v in range(start_out.size):
        start_out[v] = 0
    for e in range(rows.size):
        a = node[rows[e]]
        b = node[columns[e]]
        if a != b:
            start_out[a + 1] += 1
            start_out[b + 1] += 1


@kernel
def fill_neighbours(node: Ints, rows: Ints, columns: Ints, mark_out: Ints, start_out: Ints, neighbours_out: Ints) -> int:
    """Neighbours of every node, each once, in the order of entries; how many in all. `start` comes with counts and leaves with places."""
    n = start_out.size - 1
    for v in range(n):
        start_out[v + 1] += start_out[v]
        mark_out[v] = start_out[v]
    for e in range(rows.size):
        a = node[rows[e]]
        b = node[columns[e]]
        if a != b:
            neighbours_out[mark_out[a]] = b
            mark_out[a] += 1
            neighbours_out[mark_out[b]] = a
            mark_out[b] += 1
    # each neighbour once
    for v in range(n):
        mark_out[v] = -1
    count = 0
    begin = 0
    for v in range(n):
        end = start_out[v + 1]
        for k in range(begin, end):
            w = neighbours_out[k]
            if mark_out[w] != v:
                mark_out[w] = v
                neighbours_out[count] = w
                count += 1
        begin = end
        start_out[v + 1] = count
    return count


@kernel
def group_alike(start: Ints, neighbours: Ints, mark_out: Ints, node_out: Ints) -> int:
    """node[v] of unknowns in rising order: that of the one before if both have the same neighbours and each other. Their number."""
    n = node_out.size
    for v in range(n):
        mark_out[v] = -1
    count = 0
    head = -1
    for v in range(n):
        alike = head >= 0 and start[v + 1] - start[v] == start[head + 1] - start[head] and mark_out[v] == head
        if alike:
            for k in range(start[v], start[v + 1]):
                alike = alike and mark_out[neighbours[k]] == head
        if not alike:
            head = v
            count += 1
            mark_out[v] = v
            for k in range(start[v], start[v + 1]):
                mark_out[neighbours[k]] = v
        node_out[v] = count - 1
    return count


def graph_of(node: np.ndarray, count: int, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the neighbours of each of `count` nodes begin, and the neighbours."""
    start, mark = np.empty(count + 1, np.int64), np.empty(count, np.int64)
    count_neighbours(node, rows, columns, start)
    neighbours = np.empty(int(start.sum()), np.int64)
    used = fill_neighbours(node, rows, columns, mark, start, neighbours)
    return start, neighbours[:used]


def alike_nodes(n: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The node of each of n unknowns: consecutive ones with the same neighbours are one."""
    start, neighbours = graph_of(np.arange(n), n, rows, columns)
    node, mark = np.empty(n, np.int64), np.empty(n, np.int64)
    group_alike(start, neighbours, mark, node)
    return node
