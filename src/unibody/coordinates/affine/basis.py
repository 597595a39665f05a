"""Local bases of affine bodies in trees of linear equations.

Bodies are visited from the ground (or from any body of a group that flies) outwards. The rows that connect a body b to the one before it,
p, are O x_b + P x_p = s with O of full rank in the twelve numbers of b alone, so they are solved there and then:

    x_b = B (s − P x_p) + Z w_b,     (O; K; E) (B Z) = 1

K are rows of the bodies that come after b: as many as are independent of O, so that what hangs on b depends on w_b and not on what b hangs
on. E completes the basis. Two hinges at the ends of a bar are four points, and these points are its coordinates: columns of
x = x₀ + N z are then as local as the chain, and everything here costs a small factorisation per body. Where K depends on O (parallel
axes, many bodies at one point) columns pass through to the next bodies.

The rows are judged in units of the body: about its centre of mass, in radii of gyration.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

RANK = 1e-9
"""Relative size below which a pivot is round-off."""
APART = 0.05
"""How far from the span of the others a row must be to serve as a coordinate."""
DUST = 1e-13
"""Entries of N below it are round-off."""


@dataclass(frozen=True)
class LinearRows:
    """on_child · x[child] + on_parent · x[parent], (rows, 12) each; places among the moving bodies, −1 for others; `equation` numbers the
    equations that rows belong to, `plane` tells rows of planes."""

    child: np.ndarray
    parent: np.ndarray
    on_child: np.ndarray
    on_parent: np.ndarray
    equation: np.ndarray
    plane: np.ndarray

    def on(self, rows: np.ndarray, place: int) -> np.ndarray:
        """(len, 12) the side of a body."""
        return np.where((self.child[rows] == place)[:, None], self.on_child[rows], self.on_parent[rows])

    def other(self, row: int, place: int) -> int:
        return int(self.parent[row] if self.child[row] == place else self.child[row])


@dataclass(frozen=True)
class Walk:
    """Moving bodies, group by group, each after the one it hangs on, with its group and the equation it hangs on (−1: none)."""

    order: np.ndarray
    group: np.ndarray
    hangs_on: np.ndarray


@dataclass(frozen=True)
class Basis:
    """Of one body: rows it solves for, B (12, rows), Z (12, 12 − rows)."""

    rows: np.ndarray
    B: np.ndarray
    Z: np.ndarray


def walk(rows: LinearRows, count: int) -> Walk:
    """Breadth first, from bodies on the ground, else from the one with most equations."""
    first = np.unique(rows.equation, return_index=True)[1]
    ends = [(int(rows.child[r]), int(rows.parent[r]), bool(rows.plane[r])) for r in first]
    number = rows.equation[first]
    size = np.bincount(rows.equation, minlength=1)
    at: list[list[int]] = [[] for _ in range(count)]
    anchor, pairs = np.full(count, -1), []
    for e, (a, b, plane) in zip(number, ends, strict=True):
        if plane:
            continue
        if a >= 0 and b >= 0:
            at[a].append(int(e))
            at[b].append(int(e))
            pairs.append((a, b))
        elif max(a, b) >= 0 and (anchor[max(a, b)] < 0 or size[e] > size[anchor[max(a, b)]]):
            anchor[max(a, b)] = e
    both = np.array(pairs, int).reshape(-1, 2)
    _, label = sp.csgraph.connected_components(sp.coo_matrix((np.ones(len(both)), both.T), shape=(count, count)), directed=False)
    where = {int(e): (a, b) for e, (a, b, _) in zip(number, ends, strict=True)}
    order, hangs_on, seen = [], anchor.copy(), anchor >= 0
    members: dict[int, list[int]] = {}
    for i in range(count):
        members.setdefault(int(label[i]), []).append(i)
    for group in members.values():
        queue = deque(i for i in group if seen[i])
        if not queue:
            root = max(group, key=lambda i: len(at[i]))
            seen[root] = True
            queue.append(root)
        while queue:
            i = queue.popleft()
            order.append(i)
            for e in at[i]:
                j = where[e][1] if where[e][0] == i else where[e][0]
                if not seen[j]:
                    seen[j], hangs_on[j] = True, e
                    queue.append(j)
    renumber = {g: k for k, g in enumerate(members)}
    return Walk(np.array(order, int), np.array([renumber[int(g)] for g in label], int), hangs_on)


def bases(rows: LinearRows, way: Walk, units: np.ndarray) -> list[Basis]:
    """By place. `units` (places, 12, 12) takes x to the units in which rows are judged."""
    cuts = np.flatnonzero(np.diff(rows.equation)) + 1
    by_equation = {int(rows.equation[at[0]]): at for at in np.split(np.arange(len(rows.equation)), cuts) if len(at)}
    count = len(way.order)
    own: list[list[np.ndarray]] = [[] for _ in range(count)]
    after: list[list[np.ndarray]] = [[] for _ in range(count)]
    used = set()
    for e, at in by_equation.items():
        if rows.plane[at[0]]:
            own[rows.child[at[0]]].append(at)
            used.add(e)
    for i in range(count):
        e = int(way.hangs_on[i])
        if e >= 0:
            own[i].append(by_equation[e])
            used.add(e)
            before = rows.other(int(by_equation[e][0]), i)
            if before >= 0:
                after[before].append(by_equation[e])
    for e, at in by_equation.items():
        if e not in used:
            for i in {int(rows.child[at[0]]), int(rows.parent[at[0]])} - {-1}:
                after[i].append(at)
    none = np.zeros(0, int)
    return [
        basis(rows, i, np.concatenate([none, *own[i]]), np.concatenate([none, *after[i]]), np.linalg.inv(units[i])) for i in range(count)
    ]


def basis(rows: LinearRows, place: int, own: np.ndarray, after: np.ndarray, back: np.ndarray) -> Basis:
    """Of the body at a place, from the rows it may solve for and those of what comes after; `back` from its units to x."""
    if not len(own) and not len(after):
        return Basis(own, np.zeros((12, 0)), np.eye(12))
    O, size = unit_rows(rows.on(own, place) @ back)
    kept = np.sort(independent(O, RANK))
    O, size, own = O[kept], size[kept], own[kept]
    K, _ = unit_rows(rows.on(after, place) @ back)
    span = np.linalg.qr(O.T)[0] if len(O) else np.zeros((12, 0))
    K = K[np.sort(independent(K - (K @ span) @ span.T, APART))]
    known = np.concatenate([O, K])
    E = np.linalg.svd(known)[2][len(known) :]
    inverse = back @ np.linalg.inv(np.concatenate([known, E]))
    inverse[np.abs(inverse) < DUST * np.abs(inverse).max()] = 0.0
    return Basis(own, inverse[:, : len(own)] / size, inverse[:, len(own) :])


def unit_rows(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = np.linalg.norm(A, axis=1)
    return A / np.where(size > 0.0, size, 1.0)[:, None], size


def independent(A: np.ndarray, threshold: float) -> np.ndarray:
    """Rows, as many as stand out of the span of the others by more than the threshold."""
    if not len(A):
        return np.zeros(0, int)
    _, R, order = scipy.linalg.qr(A.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return order[: len(size)][size > threshold]


def change_of_variables(rows: LinearRows, way: Walk, local: list[Basis]) -> tuple[sp.csr_matrix, np.ndarray]:
    """N (12 per body, z) of the trees alone, and the group of every z."""
    count = len(way.order)
    blocks: list[dict[int, np.ndarray]] = [{} for _ in range(count)]
    # Bodies that hang on others come first in their group: factors of trees then fill nothing in.
    inwards = way.order[np.lexsort((-np.arange(count), way.group[way.order]))]
    start, at = np.zeros(count, int), 0
    for i in inwards:
        start[i] = at
        at += local[i].Z.shape[1]
    for i in way.order:
        mine = blocks[i]
        mine[i] = local[i].Z
        e = way.hangs_on[i]
        solved = [k for k, r in enumerate(local[i].rows) if rows.equation[r] == e and rows.other(int(r), i) >= 0]
        if not solved:
            continue
        before = rows.other(int(local[i].rows[solved[0]]), i)
        through = -local[i].B[:, solved] @ rows.on(local[i].rows[solved], before)
        for j, block in blocks[before].items():
            passed = through @ block
            passed[np.abs(passed) < DUST * max(1.0, float(np.abs(passed).max(initial=0.0)))] = 0.0
            if passed.any():
                mine[j] = mine[j] + passed if j in mine else passed
    i, j, a = [], [], []
    for place, mine in enumerate(blocks):
        for other, block in mine.items():
            r, c = np.nonzero(block)
            i.append(12 * place + r)
            j.append(start[other] + c)
            a.append(block[r, c])
    empty = np.zeros(0)
    shape = (12 * count, at)
    N = sp.csr_matrix((np.concatenate([empty, *a]), (np.concatenate([empty, *i]), np.concatenate([empty, *j]))), shape=shape)
    group = np.concatenate([np.zeros(0, int), *(np.full(local[i].Z.shape[1], way.group[i]) for i in inwards)])
    return N, group
