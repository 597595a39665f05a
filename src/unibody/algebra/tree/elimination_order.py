"""The order in which a tree with couplings is contracted: chosen once from the graph, before any number is known.

Unknowns are the nodes' 6-vectors x; joints x_i = T_i x_parent + S_i y_i tie them along a tree, blocks N_ab couple them across it (see
`multifrontal` for the algebra). A node with one remaining joint is a *leaf* whichever end of the joint it is, and can be contracted into
the other end: re-rooting costs nothing. What it leaves behind is one dense block over its front, the nodes it was coupled with. As
in minimum degree, the leaf with the smallest front goes first.

Where only leaves may go, fronts can grow without bound: two chains tied in reverse order keep all their ties alive until one of them can
be entered from its root. A node with two remaining joints may therefore go too, by *cutting* one of them. The constraint of the cut joint
becomes a multiplier λ, a variable of the fronts like the nodes. It is worth it only if the front becomes smaller by a whole node
(CUT_GAIN), and for nodes that are in no front yet, where a cut rarely helps, only if it becomes half (UNTOUCHED). The price of a cut counts
both ends of the joint as if they stayed in the front, although only λ does: counted otherwise, cuts in the middle of nowhere look cheap.

The smallest front is a shortsighted choice where many chains are coupled side by side, as the ribs of an umbrella: a neighbour that waits
costs one node now and one more at every level, so every other rib goes first and the rest pile up in one front; what cuts then gain they
lose again. Steps are therefore counted while they are taken, and if the greedy order turns out dear (CHEAP), others are tried, each given
up as soon as it needs more than the best so far: without cuts, with fronts that count for more the longer the way of contractions to them
(PATIENT, BY_LEVELS), and a sweep over the nodes by their distance from an end of the graph, which cuts whatever stands in its way.

A cluster whose upward joint was cut ends with a free node, six positive pivots, and at once after it come the negative pivots of its λ:
by then −t H⁻¹ tᵀ is complete, so no pivot is ever small by accident. Border rows are variables that are never eliminated.

The order is then rearranged as a postorder of the assembly tree, in which every front is used soon after it was made, and written
down as flat lists of integers. All variables are padded to six numbers, so that kernels see nothing but 6×6 blocks; up to six
neighbouring border rows share a variable.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

CONTRACT, GROUND, FREE, MULTIPLIER = 0, 1, 2, 3
"""What a step does with its variable: into the other end of its joint; into the ground; six pivots; the pivots of a cut joint's λ."""

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

CUT_GAIN = 6.0
UNTOUCHED = 2.0
PATIENT, BY_LEVELS = 3.0, 1e6
STRATEGIES = ((True, 0.0, False), (False, PATIENT, False), (False, BY_LEVELS, False), (True, BY_LEVELS, True))
"""(may cut, patience, sweep): patience is what a level more counts, in numbers of a front. All prefer small fronts within a level."""
CHEAP, RAISED = 6, 4
"""An order is cheap if it takes at most six times the multiplications of the tree without couplings; dear ones are tried with four times
the limit before, until one is within it."""
GONE = -1
CROWDED = 30
"""Nodes with so many neighbours are not asked for cuts: they go late anyway, and asking costs time."""


class ContractionPlan:
    """Order, fronts and places, from the tree `body` (see `tree`), pairs of coupled nodes and the entries of border rows.

    `couplings` are pairs (a, b); `border_nodes` pairs (row, node) and `border_columns` pairs (row, column). Values are given to the kernels
    in the same order. With `may_cut` false only leaves are contracted: then blocks need not be positive on free clusters.

        plan = ContractionPlan(body, [(3, 7)])
        factor, scratch = np.zeros(plan.factor_size), np.zeros(plan.scratch_size)
    """

    steps: np.ndarray
    lists: np.ndarray
    records: np.ndarray

    def __init__(self, body, couplings=(), border_nodes=(), border_columns=(), border_rows: int = 0, may_cut: bool = True):
        self.rows = border_rows
        pairs = _pairs(couplings)
        named, named_columns = _pairs(border_nodes), _pairs(border_columns)
        graph = _ordered(np.asarray(body, dtype=np.int64).reshape(-1, 6), pairs, named, named_columns, border_rows, may_cut)
        self.cuts = len(graph.cut)
        """Number of joints that were cut."""
        self.largest_front = graph.largest
        """The widest front: the sum of its variables' sizes (a node 6, a cut joint 6 − its columns, a border row 1)."""
        self.variables = len(graph.weight)
        """Number of 6-vectors that a solve needs."""
        _write(self, graph, pairs, named, named_columns)

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


def _pairs(given) -> list[tuple[int, int]]:
    array = np.asarray(given, dtype=np.int64).reshape(-1, 2)
    return list(zip(array[:, 0].tolist(), array[:, 1].tolist()))


Pairs = list[tuple[int, int]]


def _step_flops(pivots: int, blocks: int) -> int:
    """Multiplications of a step, about."""
    return pivots * (72 * blocks + 18 * blocks * (blocks + 1)) + 18 * blocks * blocks


def _ordered(body: np.ndarray, pairs: Pairs, named: Pairs, named_columns: Pairs, rows: int, may_cut: bool) -> _Graph:
    """The graph in the first order that is cheap, else in the cheapest: the limit is raised until some order stays below it."""
    strategies = STRATEGIES if may_cut else [(False, patience, swept) for _, patience, swept in STRATEGIES]
    limit = CHEAP * sum(_step_flops(count, 2) for count in body[1:, 2].tolist())
    best, cheap = None, True
    while best is None:
        for cuts, patience, swept in strategies:
            graph = _Graph(body)
            graph.couple(pairs)
            graph.add_border(named, named_columns, rows)
            if graph.order(cuts, patience, swept, limit):
                best, limit = graph, graph.flops
                if cheap:
                    break
        cheap = False
        limit *= RAISED
    return best


class _Graph:
    """The elimination graph: who is adjacent to whom, which joints remain, and the steps taken so far."""

    def __init__(self, body: np.ndarray):
        n = self.n = len(body)
        parent, self.first, self.count = body[:, 0].tolist(), body[:, 1].tolist(), body[:, 2].tolist()
        count = self.count
        count[0] = 0
        rep = self.rep = list(range(n))
        """The node that a node is welded to; 0 is the ground."""
        up = self.up = [0] * n
        self.remaining, self.joint_sum = [0] * n, [0] * n
        self.children: dict[int, list[int]] = {}
        for i in range(1, n):
            p = rep[parent[i]]
            if count[i] == 0:
                rep[i] = p
                continue
            up[i] = p
            self._attach(i, i)
            if p:
                self._attach(p, i)
                self.children.setdefault(p, []).append(i)
        self.alive = [c > 0 for c in count]
        self.near: list[set[int]] = [set() for _ in range(n)]
        self.weight = [6] * n
        self.groups: list[list[int]] = []
        self.group_of: list[tuple[int, int]] = []
        self.joint_border: dict[int, set[int]] = {}
        self.cut: dict[int, int] = {}
        """λ of every joint that was cut."""
        self.taken: list[tuple[int, int, int, int, list[int]]] = []
        """(kind, variable, other end, joint, the rest of the front)."""
        self.largest = self.flops = 0
        self.height = [0] * n
        """The longest way of contractions that ended in a node."""

    def _attach(self, node: int, joint: int) -> None:
        self.remaining[node] += 1
        self.joint_sum[node] += joint

    def _detach(self, node: int, joint: int) -> None:
        self.remaining[node] -= 1
        self.joint_sum[node] -= joint

    def couple(self, pairs: list[tuple[int, int]]) -> None:
        rep, near = self.rep, self.near
        for a, b in pairs:
            a, b = rep[a], rep[b]
            if a and b and a != b:
                near[a].add(b)
                near[b].add(a)

    def add_border(self, named, named_columns, rows: int) -> None:
        """Put six neighbouring rows at most into a group, and the groups into the graph; rows that name the same nodes stay together.

        To share a 6-vector never costs: a front has a block for it if it has one for any of its rows.
        """
        owner = np.zeros(max((f + c for f, c in zip(self.first, self.count)), default=0), dtype=np.int64)
        for i in range(1, self.n):
            owner[self.first[i] : self.first[i] + self.count[i]] = i
        nodes: list[set[int]] = [set() for _ in range(rows)]
        joints: list[set[int]] = [set() for _ in range(rows)]
        for row, node in named:
            if self.rep[node]:
                nodes[row].add(self.rep[node])
        for row, column in named_columns:
            joints[row].add(int(owner[column]))
        alike: list[list[int]] = []
        for row in range(rows):
            last = alike[-1] if alike else None
            if last is None or len(last) == 6 or nodes[last[0]] != nodes[row] or joints[last[0]] != joints[row]:
                alike.append([])
            alike[-1].append(row)
        for together in alike:
            if not self.groups or len(self.groups[-1]) + len(together) > 6:
                self.groups.append([])
                self.weight.append(0)
                self.near.append(set())
            group = len(self.weight) - 1
            for row in together:
                self.group_of.append((group, len(self.groups[-1])))
                self.groups[-1].append(row)
                self.weight[-1] += 1
                for node in nodes[row]:
                    self.near[node].add(group)
                for joint in joints[row]:
                    self.joint_border.setdefault(joint, set()).add(group)
        self.first_multiplier = len(self.weight)

    def end(self, node: int, joint: int) -> int:
        """The other end of a joint."""
        return self.up[node] if joint == node else joint

    def leaf_cost(self, v: int) -> float:
        """Size of what is left of the front when the leaf v is gone."""
        weight, near = self.weight, self.near[v]
        cost = 0
        for w in near:
            cost += weight[w]
        if self.remaining[v] == 1:
            joint = self.joint_sum[v]
            u = self.up[v] if joint == v else joint
            if u and u not in near:
                cost += 6
            if joint in self.joint_border:
                cost += sum(weight[w] for w in self.joint_border[joint] - near)
        else:
            cost -= 6
        return cost

    def two_joints(self, v: int) -> tuple[int, int]:
        if self.alive[v]:
            return v, self.joint_sum[v] - v
        one = next(j for j in self.children[v] if self.alive[j])
        return one, self.joint_sum[v] - one

    def best_cut(self, v: int) -> tuple[float, int, int]:
        """(cost, joint to cut, joint to contract) of a node with two joints."""
        a, b = self.two_joints(v)
        front = set(self.near[v])
        front.update(self.joint_border.get(a, ()), self.joint_border.get(b, ()), (self.end(v, a), self.end(v, b)))
        front.discard(0)
        size = sum(map(self.weight.__getitem__, front)) + 6
        cut, keep = (a, b) if self.count[a] >= self.count[b] else (b, a)
        return size - self.count[cut], cut, keep

    def offer(self, v: int, touched: bool = True) -> None:
        """Put a node among the leaves or the candidates for a cut."""
        version = self.version[v] = self.version[v] + 1
        if self.remaining[v] <= 1:
            heappush(self.leaves, (self.leaf_cost(v) + self.patience * self.height[v], -v, version))
        elif self.remaining[v] == 2 and self.may_cut:
            if len(self.near[v]) < CROWDED:
                cost = self.best_cut(v)[0]
                if self.swept:
                    cost += self.patience * self.height[v]
                elif not touched:
                    cost = UNTOUCHED * (cost + CUT_GAIN)
                heappush(self.candidates, (cost, -v, version))

    def order(self, may_cut: bool, patience: float, swept: bool, limit: float) -> bool:
        """Take all steps; False as soon as they need more multiplications than the limit."""
        self.may_cut, self.patience, self.swept = may_cut, patience, swept
        if swept:
            self.height = self.distances()
        self.leaves: list[tuple[float, int, int]] = []
        self.candidates: list[tuple[float, int, int]] = []
        self.version = [0] * self.n
        inner = []
        for v in range(self.n - 1, 0, -1):
            if self.alive[v]:
                if self.remaining[v] == 1:
                    self.offer(v)
                elif self.remaining[v] == 2:
                    inner.append(v)
        if swept:
            for v in inner:
                self.offer(v)
        leaves, candidates, version = self.leaves, self.candidates, self.version
        while leaves and self.flops <= limit:
            key, minus, stamp = heappop(leaves)
            v = -minus
            if version[v] != stamp:
                continue
            cost = key - patience * self.height[v]
            if may_cut and (swept or cost > 4 * CUT_GAIN):
                if inner and cost > UNTOUCHED * 5 * CUT_GAIN:
                    for w in inner:
                        if version[w] == 0:
                            self.offer(w, touched=False)
                    inner = []
                while candidates and version[-candidates[0][1]] != candidates[0][2]:
                    heappop(candidates)
                if candidates and candidates[0][0] + CUT_GAIN <= (key if swept else cost):
                    heappush(leaves, (key, minus, stamp))
                    self.cut_and_contract(-heappop(candidates)[1])
                    continue
            version[v] = GONE
            if self.remaining[v] == 1:
                self.contract(v, self.joint_sum[v])
            else:
                self.free(v)
        return self.flops <= limit

    def distances(self) -> list[int]:
        """Of all nodes from an end of their part of the graph, over joints and couplings; an end is what is farthest from somewhere."""
        distance = [0] * self.n
        reached = [0] * self.n
        passed = 0
        for start in range(1, self.n):
            if reached[start] or not self.alive[start]:
                continue
            for _ in range(3):
                passed += 1
                distance[start], reached[start] = 0, passed
                queue = [start]
                for v in queue:
                    around = [w for w in self.near[v] if w < self.n]
                    around += self.children.get(v, ())
                    around.append(self.up[v])
                    for w in around:
                        if w and reached[w] != passed:
                            distance[w], reached[w] = distance[v] + 1, passed
                            queue.append(w)
                start = queue[-1]
        return distance

    def cut_and_contract(self, v: int) -> None:
        """Cut at v, or farther on: as long as the other end is in the front too, the cut slides beyond it and takes it along."""
        _, joint, keep = self.best_cut(v)
        while True:
            other = self.end(v, joint)
            if other not in self.near[v] or self.remaining[other] != 2:
                break
            v, keep, joint = other, joint, self.joint_sum[other] - joint
        self.version[v] = GONE
        child, parent = joint, self.up[joint]
        self.alive[joint] = False
        border = self.joint_border.get(joint, ())
        ends = [child, parent] if parent else [child]
        for end in ends:
            self._detach(end, joint)
            self.near[end].update(border)
            self.near[end].add(len(self.weight))
        self.cut[joint] = len(self.weight)
        self.weight.append(6 - self.count[joint])
        self.near.append(set(ends))
        self.contract(v, keep)
        if other:
            self.offer(other)

    def contract(self, v: int, joint: int) -> None:
        u = self.end(v, joint)
        self.alive[joint] = False
        front = self.near[v]
        if joint in self.joint_border:
            front |= self.joint_border[joint]
        if u:
            front.add(u)
            self._detach(u, joint)
            if not self.swept and self.height[u] <= self.height[v]:
                self.height[u] = self.height[v] + 1
        self.eliminate(CONTRACT if u else GROUND, v, u, joint, front)

    def free(self, v: int) -> None:
        """The last node of a cluster whose upward joint was cut, and the λ of that joint."""
        top = v
        while top not in self.cut:
            top = self.up[top]
        multiplier = self.cut[top]
        self.eliminate(FREE, v, 0, 0, self.near[v], offering=False)
        self.eliminate(MULTIPLIER, multiplier, 0, top, self.near[multiplier])

    def eliminate(self, kind: int, v: int, u: int, joint: int, front: set[int], offering: bool = True) -> None:
        n, near = self.n, self.near
        self.taken.append((kind, v, u, joint, list(front)))
        size = 6
        for w in front:
            size += self.weight[w]
        self.largest = max(self.largest, size)
        self.flops += _step_flops(self.count[joint] if kind <= GROUND else 6, len(front) + 1)
        if len(front) == 1:
            (w,) = front
            near[w].discard(v)
            if w < n and offering and (self.remaining[w] <= 1 or near[w]):
                self.offer(w)
        else:
            for w in front:
                if w < n or w >= self.first_multiplier:
                    adjacent = near[w]
                    adjacent |= front
                    adjacent.discard(w)
                    adjacent.discard(v)
            if offering:
                for w in front:
                    if w < n:
                        self.offer(w)
        near[v] = _NOTHING


_NOTHING: set[int] = set()


def _write(plan: ContractionPlan, graph: _Graph, pairs, named, named_columns) -> None:
    """The flat lists: steps in postorder, fronts, what is assembled where, and the places of updates and pivots."""
    taken, n, count, rep, up = graph.taken, graph.n, graph.count, graph.rep, graph.up
    total, first_group, first_multiplier = len(taken), graph.n, graph.first_multiplier
    place = [total] * len(graph.weight)
    for k, step in enumerate(taken):
        place[step[1]] = k

    # The assembly tree: a front goes into the step of the first of its variables to be eliminated.
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

    # What is assembled in which step, updates aside.
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
    cuts = {joint: index for index, joint in enumerate(graph.cut)}
    for joint, multiplier in graph.cut.items():
        c, p = joint, up[joint]
        ends = [(c, 0), (p, 1)] if p else [(c, 0)]
        for end, side in ends:
            # Flag 1: the parent's side; 2: the step is that of λ, and the end is in its front.
            first_is_end = place[end] < place[multiplier]
            k = place[end] if first_is_end else place[multiplier]
            assembled[k].append((CUT, cuts[joint], position[k][multiplier if first_is_end else end], side + (0 if first_is_end else 2)))
        assembled[place[multiplier]].append((CUT, cuts[joint], 0, 4))
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
