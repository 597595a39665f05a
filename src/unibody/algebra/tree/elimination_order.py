"""The order of elimination of a tree with couplings: chosen once from the graph, before any number is known.

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

Up to six neighbouring border rows share a variable. `multifrontal_plan` writes the order down for kernels.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

CONTRACT, GROUND, FREE, MULTIPLIER = 0, 1, 2, 3
"""What a step does with its variable: into the other end of its joint; into the ground; six pivots; the pivots of a cut joint's λ."""

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

Pairs = list[tuple[int, int]]


def step_flops(pivots: int, blocks: int) -> int:
    """Multiplications of a step, about."""
    return pivots * (72 * blocks + 18 * blocks * (blocks + 1)) + 18 * blocks * blocks


def ordered(body: np.ndarray, pairs: Pairs, named: Pairs, named_columns: Pairs, rows: int, may_cut: bool) -> EliminationGraph:
    """The graph in the first order that is cheap, else in the cheapest: the limit is raised until some order stays below it."""
    strategies = STRATEGIES if may_cut else [(False, patience, swept) for _, patience, swept in STRATEGIES]
    limit = CHEAP * sum(step_flops(count, 2) for count in body[1:, 2].tolist())
    best, cheap = None, True
    while best is None:
        for cuts, patience, swept in strategies:
            graph = EliminationGraph(body)
            graph.couple(pairs)
            graph.add_border(named, named_columns, rows)
            if graph.order(cuts, patience, swept, limit):
                best, limit = graph, graph.flops
                if cheap:
                    break
        cheap = False
        limit *= RAISED
    return best


class EliminationGraph:
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
        # leaves are offered at once, nodes with two joints only where leaves get dear
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
        # the cheapest leaf, if what is known of it still holds
        while leaves and self.flops <= limit:
            key, minus, stamp = heappop(leaves)
            v = -minus
            if version[v] != stamp:
                continue
            cost = key - patience * self.height[v]
            # a cut instead, if that makes the front smaller by a node
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
            # eliminate it
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
        self.flops += step_flops(self.count[joint] if kind <= GROUND else 6, len(front) + 1)
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
