"""Boxes around boxes: the primitives of every body in a tree, made once and refitted where the body has moved.

Primitives are put in an order in which neighbours stay neighbours (along a space-filling curve through their places in the body), and
every FEW of them, in that order, have a box; every FEW of these boxes have one, and so on up to a single one. The order does not depend on
where the body is, so refitting goes over arrays from front to back. Bodies with few primitives have no boxes but those of the primitives.

`tree`, WIDTH numbers per body: first primitive, their number, levels, then the first box of each level (at most LEVELS).
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel

FEW = 4
SMALL = 24
"""Primitives up to which a body needs no tree."""
LEVELS = 13
WIDTH = 3 + LEVELS
STACK = 4 * FEW * (LEVELS + 1)


@device
def overlap(a, i, b, j):
    """Whether box i of a and box j of b share a point; boxes are 6 numbers, low then high."""
    if a[i] > b[j + 3] or b[j] > a[i + 3] or a[i + 1] > b[j + 4]:
        return False
    return b[j + 1] <= a[i + 4] and a[i + 2] <= b[j + 5] and b[j + 2] <= a[i + 5]


@device
def widen(at, x, v, box_out):
    """Let box `at` hold vertex v."""
    for k in range(3):
        box_out[at + k] = min(box_out[at + k], x[3 * v + k])
        box_out[at + 3 + k] = max(box_out[at + 3 + k], x[3 * v + k])


@device
def begin_box(at, box_out):
    for k in range(3):
        box_out[at + k] = np.inf
        box_out[at + 3 + k] = -np.inf


@device
def join_box(at, box, j, box_out):
    for k in range(3):
        box_out[at + k] = min(box_out[at + k], box[j + k])
        box_out[at + 3 + k] = max(box_out[at + 3 + k], box[j + 3 + k])


@kernel
def refit(
    bodies: Ints, x0: Floats, x1: Floats, radius: Floats, members: Ints, per: int, margin: float, tree: Ints, order: Ints,
    boxes_out: Floats, nodes_out: Floats,
) -> None:  # fmt: skip
    """Boxes of the primitives of some bodies (`per` vertices each, listed in `members`) over the way from x0 to x1, and of their trees."""
    for k in range(bodies.size):
        t = WIDTH * bodies[k]
        first = tree[t]
        count = tree[t + 1]
        for i in range(first, first + count):
            begin_box(6 * i, boxes_out)
            for j in range(per):
                widen(6 * i, x0, members[per * i + j], boxes_out)
                widen(6 * i, x1, members[per * i + j], boxes_out)
            wide = 0.5 * margin + radius[members[per * i]]
            for j in range(3):
                boxes_out[6 * i + j] -= wide
                boxes_out[6 * i + 3 + j] += wide
        size = count
        for level in range(tree[t + 2]):
            to = tree[t + 3 + level]
            above = (size + FEW - 1) // FEW
            for i in range(above):
                begin_box(6 * (to + i), nodes_out)
                for j in range(FEW * i, min(FEW * i + FEW, size)):
                    if level == 0:
                        join_box(6 * (to + i), boxes_out, 6 * order[first + j], nodes_out)
                    else:
                        join_box(6 * (to + i), nodes_out, 6 * (tree[t + 2 + level] + j), nodes_out)
            size = above


@device
def search(box, at, body, tree, order, boxes, nodes, where, stack_out, list_out):
    """Primitives of a body whose boxes meet box `at`, written to list_out from `where` in the tree's order; gives their number."""
    t = WIDTH * body
    first = tree[t]
    total = tree[t + 1]
    levels = tree[t + 2]
    count = 0
    if levels == 0:
        for i in range(first, first + total):
            if overlap(box, at, boxes, 6 * i):
                list_out[where + count] = i
                count += 1
        return count
    # On the stack: level · 2⁴⁰ + number within it. Children are pushed last first, so that they come out in order.
    stack_out[0] = (levels - 1) << 40
    waiting = 1
    while waiting > 0:
        waiting -= 1
        level = stack_out[waiting] >> 40
        i = stack_out[waiting] & ((1 << 40) - 1)
        if not overlap(box, at, nodes, 6 * (tree[t + 3 + level] + i)):
            continue
        if level == 0:
            for j in range(FEW * i, min(FEW * i + FEW, total)):
                p = order[first + j]
                if overlap(box, at, boxes, 6 * p):
                    list_out[where + count] = p
                    count += 1
        else:
            last = min(FEW * i + FEW, tree[t + 3 + level] - tree[t + 2 + level])
            for j in range(last - FEW * i):
                stack_out[waiting] = ((level - 1) << 40) + last - 1 - j
                waiting += 1
    return count


@device
def meet(u, w, u_tree, u_order, u_boxes, u_nodes, w_tree, w_order, w_boxes, w_nodes, found, swap, own, stack_out, pairs_out):
    """Primitives of bodies u and w whose boxes meet, appended to pairs_out as (u, w), or (w, u) if swap; gives how many there are now. Both
    have trees, and are descended together, so that parts far from each other cost nothing. Of one body with itself, u = w and the kinds
    alike, every pair comes once, the lower number first."""
    s = WIDTH * u
    t = WIDTH * w
    # the two roots wait; an entry is a node's level << 40 plus its number in the level
    stack_out[0] = (u_tree[s + 2] - 1) << 40
    stack_out[1] = (w_tree[t + 2] - 1) << 40
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a = stack_out[2 * waiting]
        b = stack_out[2 * waiting + 1]
        level_a = a >> 40
        level_b = b >> 40
        i = a & ((1 << 40) - 1)
        j = b & ((1 << 40) - 1)
        if own and level_a == level_b and i > j:
            continue
        if not overlap(u_nodes, 6 * (u_tree[s + 3 + level_a] + i), w_nodes, 6 * (w_tree[t + 3 + level_b] + j)):
            continue
        # two leaves: primitive against leaf first, then primitive against primitive
        if level_a == 0 and level_b == 0:
            for k in range(FEW * i, min(FEW * i + FEW, u_tree[s + 1])):
                p = u_order[u_tree[s] + k]
                if not overlap(u_boxes, 6 * p, w_nodes, 6 * (w_tree[t + 3] + j)):
                    continue
                for l in range(k + 1 if own and i == j else FEW * j, min(FEW * j + FEW, w_tree[t + 1])):
                    q = w_order[w_tree[t] + l]
                    if overlap(u_boxes, 6 * p, w_boxes, 6 * q):
                        turn = p > q if own else swap
                        if 2 * found + 1 < pairs_out.size:
                            pairs_out[2 * found] = q if turn else p
                            pairs_out[2 * found + 1] = p if turn else q
                        found += 1
        # the higher of the two nodes is opened: its children wait with the other
        elif level_a >= level_b:
            last = min(FEW * i + FEW, u_tree[s + 3 + level_a] - u_tree[s + 2 + level_a])
            for k in range(last - FEW * i):
                stack_out[2 * waiting] = ((level_a - 1) << 40) + last - 1 - k
                stack_out[2 * waiting + 1] = b
                waiting += 1
        else:
            last = min(FEW * j + FEW, w_tree[t + 3 + level_b] - w_tree[t + 2 + level_b])
            for k in range(last - FEW * j):
                stack_out[2 * waiting] = a
                stack_out[2 * waiting + 1] = ((level_b - 1) << 40) + last - 1 - k
                waiting += 1
    return found


def spread(n: np.ndarray) -> np.ndarray:
    """The bits of numbers below 2²¹, two zeros between neighbours."""
    n = n.astype(np.uint64)
    steps = ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249))
    for shift, mask in steps:
        n = (n | (n << np.uint64(shift))) & np.uint64(mask)
    return n


def curve(x: np.ndarray) -> np.ndarray:
    """(n,) places of points (n, 3) along Morton's curve."""
    low, span = x.min(axis=0), max(float(np.ptp(x, axis=0).max()), 1e-300)
    cell = np.minimum((x - low) / span * 2.0**20, 2.0**20 - 1.0)
    a, b, c = (spread(cell[:, k]) for k in range(3))
    return a | (b << np.uint64(1)) | (c << np.uint64(2))


class Hierarchy:
    """Trees over one kind of primitive: members (m, per) vertices, contiguous per body from start[b] to start[b + 1]."""

    def __init__(self, members: np.ndarray, start: np.ndarray, X: np.ndarray):
        self.members, self.per = np.ascontiguousarray(members, np.int64).ravel(), members.shape[1]
        m, bodies = len(members), len(start) - 1
        self.order = np.arange(m, dtype=np.int64)
        self.tree = np.zeros(WIDTH * bodies, np.int64)
        rows, nodes = self.tree.reshape(-1, WIDTH), 0
        for b in range(bodies):
            first, count = int(start[b]), int(start[b + 1] - start[b])
            rows[b, :2] = first, count
            if count <= SMALL:
                continue
            middle = X[members[first : first + count]].mean(axis=1)
            self.order[first : first + count] = first + np.argsort(curve(middle), kind="stable")
            level = 0
            while count > 1:
                count = -(-count // FEW)
                rows[b, 3 + level] = nodes
                nodes, level = nodes + count, level + 1
            rows[b, 2] = level
        self.boxes, self.nodes = np.zeros(6 * max(m, 1)), np.zeros(6 * max(nodes, 1))

    def refit(self, bodies: np.ndarray, x0: np.ndarray, x1: np.ndarray, radius: np.ndarray, margin: float) -> None:
        """Boxes of these bodies on the way from x0 to x1 (flat), of vertices with radii."""
        refit(bodies, x0, x1, radius, self.members, self.per, margin, self.tree, self.order, self.boxes, self.nodes)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What `search` takes: tree, order, boxes, nodes."""
        return self.tree, self.order, self.boxes, self.nodes
