"""The plan of a multifrontal elimination: the order of `elimination_order` as flat lists of integers, which the kernels of `multifrontal`
follow.

The order is rearranged as a postorder of the assembly tree, in which every front is used soon after it was made. All variables are padded
to six numbers, so that kernels see nothing but 6×6 blocks. A plan has steps, one for each variable that is eliminated; records, what is
assembled into their fronts; and lists, with a header, of the fronts' variables, the cut joints, welded nodes and groups of border rows.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.elimination_order import CONTRACT, GROUND, EliminationGraph, Pairs, ordered

STEP = 13
VARIABLE, OTHER, JOINT, FIRST, COUNT, BLOCKS, FRONT, UPDATE, FACTOR, RECORDS, RECORDS_END, FLAGS = range(1, STEP)
"""Integers of a step after its kind: its variable; the node it goes into; the joint (its child node); first column and number of pivots;
number of blocks of the front and where its variables are listed; where its update lies in the scratch and its pivots in the factor;
its records, from and to; flags."""
REVERSED, PLAIN, COLUMN_ENTRIES, LAST = 1, 2, 4, 8
"""Flags: the variable is the parent side of the joint; nothing but blocks in a front of [v, u]; a border row names its columns;
nothing but border rows is left of its front."""

RECORD = 4
BLOCK, COUPLING, UPDATED, CUT, BORDER, BORDER_COLUMN, BORDER_CUT = range(7)
"""What is assembled into a front: (kind, index, position, flag)."""

HEADER = 12
STEPS, CUTS, CUTS_AT, WELDS, WELDS_AT, GROUPS, GROUPS_AT, ARMS, CUT_BASES, WIDEST, ROWS, VARIABLES = range(HEADER)
"""The header of the lists: counts, and where things begin."""


class MultifrontalPlan:
    """Order, fronts and places, from the tree `body` (see `aba`), pairs of coupled nodes and the entries of border rows.

    `couplings` are pairs (a, b); `border_nodes` pairs (row, node) and `border_columns` pairs (row, column). Values are given to the kernels
    in the same order. With `may_cut` false only leaves are eliminated: then blocks need not be positive on free clusters.

        plan = MultifrontalPlan(body, [(3, 7)])
        factor, scratch = np.zeros(plan.factor_size), np.zeros(plan.scratch_size)
    """

    steps: np.ndarray
    lists: np.ndarray
    records: np.ndarray

    def __init__(self, body, couplings=(), border_nodes=(), border_columns=(), border_rows: int = 0, may_cut: bool = True):
        self.rows = border_rows
        pairs = pairs_of(couplings)
        named, named_columns = pairs_of(border_nodes), pairs_of(border_columns)
        graph = ordered(np.asarray(body, dtype=np.int64).reshape(-1, 6), pairs, named, named_columns, border_rows, may_cut)
        self.cuts = len(graph.cut)
        """Number of joints that were cut."""
        self.largest_front = graph.largest
        """The widest front: the sum of its variables' sizes (a node 6, a cut joint 6 − its columns, a border row 1)."""
        self.variables = len(graph.weight)
        """Number of 6-vectors that a solve needs."""
        write_plan(self, graph, pairs, named, named_columns)

    factor_size: int
    """Numbers of the factor."""
    scratch_size: int
    """Numbers that factoring needs besides."""
    flops: int
    """Multiplications of one factoring, about."""

    @property
    def state_size(self) -> int:
        """Numbers kept between the two halves of a solve."""
        return 6 * self.variables


def pairs_of(given) -> Pairs:
    array = np.asarray(given, dtype=np.int64).reshape(-1, 2)
    return list(zip(array[:, 0].tolist(), array[:, 1].tolist()))


def write_plan(plan: MultifrontalPlan, graph: EliminationGraph, pairs, named, named_columns) -> None:
    """The flat lists: steps in postorder, fronts, what is assembled where, and the places of updates and pivots."""
    taken, n, count, rep, up = graph.taken, graph.n, graph.count, graph.rep, graph.up
    total, first_group, first_multiplier = len(taken), graph.n, graph.first_multiplier
    # when each variable is eliminated
    place = [total] * len(graph.weight)
    for k, step in enumerate(taken):
        place[step[1]] = k

    # the assembly tree: a front goes into the step of the first of its variables to be eliminated
    children: list[list[int]] = [[] for _ in range(total + 1)]
    receiver = [total] * total
    for k, step in enumerate(taken):
        into = total
        for w in step[4]:
            if place[w] < into:
                into = place[w]
        receiver[k] = into
        children[into].append(k)
    postorder: list[int] = []
    stack = children[total][::-1]
    while stack:
        k = stack.pop()
        postorder.append(k)
        stack.extend(children[k])
    postorder.reverse()

    # the fronts: v, u, and the others in the order of their elimination
    lists: list[int] = [0] * HEADER
    fronts: list[int] = [0] * total
    position: list[dict[int, int]] = [{}] * total
    for k, (_, v, u, _, rest) in enumerate(taken):
        if len(rest) > 1:
            if u:
                rest.remove(u)
            rest.sort(key=place.__getitem__)
            if u:
                rest.insert(0, u)
        fronts[k] = len(lists)
        lists.append(v)
        lists.extend(rest)
        position[k] = {w: at for at, w in enumerate((v, *rest))}

    # what is assembled in which step, updates aside: blocks, couplings
    assembled: list[list[tuple[int, int, int, int]]] = [[] for _ in range(total)]
    for i in range(1, n):
        if rep[i]:
            assembled[place[rep[i]]].append((BLOCK, i, 0, 1 if rep[i] != i else 0))
    for m, (a, b) in enumerate(pairs):
        u, v = rep[a], rep[b]
        if u and v:
            swapped = place[v] < place[u]
            k = place[v] if swapped else place[u]
            arms = 2 + 4 * (a * n + b) if u != a or v != b else 0
            assembled[k].append((COUPLING, m, position[k][u if swapped else v], arms + (1 if swapped else 0)))
    # cut joints: the rows that tie each end to λ, and −1 on the diagonal of λ where d is
    cuts = {joint: index for index, joint in enumerate(graph.cut)}
    for joint, multiplier in graph.cut.items():
        c, p = joint, up[joint]
        ends = [(c, 0), (p, 1)] if p else [(c, 0)]
        for end, side in ends:
            # flag 1: the parent's side; 2: the step is that of λ, and the end is in its front
            first_is_end = place[end] < place[multiplier]
            k = place[end] if first_is_end else place[multiplier]
            assembled[k].append((CUT, cuts[joint], position[k][multiplier if first_is_end else end], side + (0 if first_is_end else 2)))
        assembled[place[multiplier]].append((CUT, cuts[joint], 0, 4))
    # border rows: on nodes, on columns of a step, or on columns of a cut joint, which are rows on both its ends
    for e, (row, node) in enumerate(named):
        if rep[node]:
            k = place[rep[node]]
            group, at = graph.group_of[row]
            assembled[k].append((BORDER, e, position[k][group], 6 * node + at))
    step_of_joint = {step[3]: k for k, step in enumerate(taken) if step[0] in (CONTRACT, GROUND)} if named_columns else {}
    owner = {graph.first[i] + c: (i, c) for i in range(1, n) for c in range(count[i])} if named_columns else {}
    with_columns: set[int] = set()
    for e, (row, column) in enumerate(named_columns):
        joint, c = owner[column]
        group, at = graph.group_of[row]
        if joint in cuts:
            for end, side in ((joint, 0), (up[joint], 1)):
                if end:
                    k = place[end]
                    assembled[k].append((BORDER_CUT, e, position[k][group], ((6 * cuts[joint] + c) * 6 + at) * 2 + side))
        else:
            k = step_of_joint[joint]
            with_columns.add(k)
            assembled[k].append((BORDER_COLUMN, e, position[k][group], 6 * c + at))

    # steps in postorder: records, flags, where the update lies (a place that is free again, if there is one) and where the pivots
    widest = max((len(step[4]) + 1 for step in taken), default=1)
    scratch = 72 * widest + 36 + 36 + 36 + 6  # pivot block row, entries of columns, one block, one coupling, a cut's workspace, diagonals
    freed: dict[int, list[int]] = {}
    update = [0] * total
    steps: list[int] = []
    records: list[int] = []
    factor = 0
    for k in postorder:
        kind, v, u, joint, rest = taken[k]
        b = len(rest) + 1
        own = assembled[k]
        flags = REVERSED if kind == CONTRACT and v != joint else 0
        if k in with_columns:
            flags |= COLUMN_ENTRIES
        if receiver[k] == total and rest:
            flags |= LAST
        simple = kind <= GROUND and flags == 0 and b == (2 if u else 1) and len(own) == 1 and own[0][0] == BLOCK
        began = len(records)
        for record in own:
            records.extend(record)
        for child in children[k]:
            size = len(taken[child][4])
            simple = simple and size == 1 and taken[child][4][0] == v
            here = position[k]
            records.extend((UPDATED, update[child], len(lists), size))
            lists.extend([here[w] for w in taken[child][4]])
        if simple:
            flags |= PLAIN
        if kind <= GROUND:
            first, pivots = graph.first[joint], count[joint]
        else:
            first, pivots = 0, 6
        if b > 1:
            free = freed.setdefault(b, [])
            if free:
                update[k] = free.pop()
            else:
                update[k] = scratch
                scratch += 21 if b == 2 else 18 * b * (b - 1)
        for child in children[k]:
            if taken[child][4]:
                freed[len(taken[child][4]) + 1].append(update[child])
        steps.extend((kind, v, u, joint, first, pivots, b, fronts[k], update[k], factor, began, len(records), flags))
        factor += pivots * (1 + 6 * (1 if simple else b))

    # the header, and the lists of cut joints, welded nodes and groups of border rows
    lists[STEPS], lists[WIDEST], lists[ROWS], lists[VARIABLES] = total, widest, plan.rows, plan.variables
    lists[CUTS], lists[CUTS_AT] = len(cuts), len(lists)
    for joint in cuts:
        lists.extend((joint, up[joint]))
    welds = [i for i in range(1, n) if count[i] == 0]
    lists[WELDS], lists[WELDS_AT] = len(welds), len(lists)
    if welds:
        lists.extend(rep)
    lists[GROUPS], lists[GROUPS_AT] = len(graph.groups), len(lists)
    for g, rows in enumerate(graph.groups):
        lists.extend((first_group + g, rows[0], len(rows)))
    lists[CUT_BASES] = factor
    factor += 36 * len(cuts)
    lists[ARMS] = factor
    if welds:
        factor += 3 * n
    assert first_multiplier == n + len(graph.groups)
    plan.steps = np.array(steps, dtype=np.int64)
    plan.lists = np.array(lists, dtype=np.int64)
    plan.records = np.array(records, dtype=np.int64)
    plan.factor_size, plan.scratch_size, plan.flops = max(factor, 1), scratch, graph.flops
