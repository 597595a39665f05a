"""Deformables of a model as tables for RedMax: what each vertex stands for, which blocks there are, and how they are eliminated.

    x = T y        y: *points*, the free vertices and those attached to bodies that forces move; a vertex on others is a sum of points
    V = Γ V_b      an attached point goes with its body: Γ = R [−[p]×  1] for the body's twist in its own axes

A matrix over points, Tᵀ (M + h D + h² K) T, has 3×3 blocks (`coordinates.vertices.stencil_map`), elements that couple a point with a body
give 3×6 ones. With Γ they become rows of free vertices and a border of bodies (`algebra.supernodal.border`). Masses of attached vertices
are part of their bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unibody.algebra.supernodal.border import BorderedPlan
from unibody.algebra.supernodal.entries import block_entries
from unibody.coordinates.vertices.stencil_map import StencilMap
from unibody.energies.evaluate import EnergyTables
from unibody.errors import ModelError
from unibody.model.model import Model
from unibody.model.tables import CallbackErrors

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BATCH, BLOCK_COUNTS, BODY_BLOCK, BODY_BLOCK_WEIGHT, BODY_PAIRS, BORDER_BODY, CHILD, COLUMN_FIRST, DAMPING, ENERGY_BATCHES,
    ENERGY_INDEX, ENERGY_PARAMETERS, ENTRY_FIRST, ENTRY_SOURCE, ENTRY_TARGET, FACTOR, FACTOR_AT, FLESH_ADDRESSES, FLESH_CHOICE,
    FREE_VERTEX, FRONT, GIFTS, GIFT_WEIGHT, HELD, HELD_BODIES, HELD_P, HELD_PAIRS, HELD_ROWS, LOWER, LOWER_FIRST, MASS_BLOCK,
    MASS_OF_BLOCK, ORDER, PACKED, PAIR_BLOCK, PAIR_BLOCK_WEIGHT, PAIR_PLACE, POINT_BLOCKS, POINT_OF, POINT_START, POINT_WEIGHT,
    PRESCRIBED, PRESCRIBED_X, REDUCED, RELATIVE, SEEN_BLOCK, SEEN_BLOCK_WEIGHT, SEEN_START, SEEN_VERTEX, SEEN_WEIGHT, SIBLING,
    SOLVE_SCRATCH, STACK, STENCIL_BLOCKS, STENCIL_SCALE, STORED, STRESS, SUPPORTED, SUPPORT_WEIGHT, UNKNOWNS, UPDATE, UPDATE_AT,
    VERTEX_A, VERTEX_F, VERTEX_MASS, VERTEX_NOW, VERTEX_V, VERTEX_WAY, VERTEX_X,
)  # fmt: skip

MOST_PAIRS = 2_000_000
"""Couplings between bodies of one deformable; beyond, they would fill gigabytes."""

AS_IT_IS, TURNED, BOTH = range(3)
"""How a block between two bodies enters the block of the pair."""


@dataclass(frozen=True)
class Combination:
    """What each of several things stands for: points of[start[i] : start[i + 1]] with weights."""

    start: np.ndarray
    of: np.ndarray
    weight: np.ndarray

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        mine = slice(self.start[i], self.start[i + 1])
        return self.of[mine], self.weight[mine]

    def sum(self, index: np.ndarray, weights: np.ndarray) -> dict[int, float]:
        """Σ weights of some of these things, by point."""
        out: dict[int, float] = {}
        for i, w in zip(index, weights, strict=True):
            for p, share in zip(*self[int(i)], strict=True):
                out[int(p)] = out.get(int(p), 0.0) + float(w * share)
        return {p: w for p, w in out.items() if w != 0.0}


def combinations(parts: Sequence[dict[int, float]]) -> Combination:
    """One after the other."""
    start = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
    of, weight = [p for part in parts for p in part], [w for part in parts for w in part.values()]
    return Combination(start, np.array(of, np.int64), np.array(weight, float))


class VertexTables:
    """What holds the vertices of a model, and what they stand for."""

    def __init__(self, model: Model):
        self.model, self.count = model, model.n_vertices
        self.free = model.free_vertices.astype(np.int64)
        # vertices on bodies, those of dynamic ones first: forces move these
        on = [(int(i), a.body, *p) for a in model.attachments if a.body >= 0 for i, p in zip(a.vertices, a.p, strict=True)]
        on.sort(key=lambda row: (model.bodies[row[1]].kind != "dynamic", row[0]))
        self.held = np.array([row[:2] for row in on], np.int64).reshape(-1, 2)
        self.held_p = np.array([row[2:] for row in on], float).reshape(-1, 3)
        self.moved = sum(model.bodies[row[1]].kind == "dynamic" for row in on)
        """How many of them are points."""
        self.points = len(self.free) + self.moved
        supports = [(a.vertices, a.support, a.weights) for a in model.attachments if a.body < 0]
        self.supported = np.concatenate([np.zeros((0, 5), np.int64), *(np.column_stack([i, s]) for i, s, _ in supports)]).astype(np.int64)
        self.support_weight = np.concatenate([np.zeros((0, 4)), *(np.where(s < 0, 0.0, w) for _, s, w in supports)])
        self.prescribed = np.concatenate([np.zeros(0, np.int64), *(p.vertices for p in model.prescribed)]).astype(np.int64)
        self.point = np.full(self.count, -1)
        """(N,) the point that a vertex is, or −1."""
        self.point[self.free] = np.arange(len(self.free))
        self.point[self.held[: self.moved, 0]] = len(self.free) + np.arange(self.moved)
        self.stands_for = self._stands_for()
        self.mass = np.concatenate([np.zeros(0), *(d.mass for d in model.deformables)])
        self.own_mass = self.mass.copy()
        """(N,) without those that are part of a body."""
        self.own_mass[self.held[: self.moved, 0]] = 0.0
        self.known = np.diff(self.stands_for.start) == 0
        """(N,) whether nothing that is unknown moves it."""
        self.owner = np.repeat(np.arange(len(model.deformables)), [d.n for d in model.deformables])
        """(N,) the deformable."""

    def _stands_for(self) -> Combination:
        own = self.point >= 0
        width = own.astype(np.int64)
        sums = {}
        for (vertex, *support), weight in zip(self.supported.tolist(), self.support_weight, strict=True):
            parts = [(int(self.point[s]), float(w)) for s, w in zip(support, weight, strict=True) if s >= 0 and w != 0.0]
            sums[vertex] = [(p, w) for p, w in parts if p >= 0]
            width[vertex] = len(sums[vertex])
        start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        of, weight = np.zeros(start[-1], np.int64), np.ones(start[-1])
        of[start[:-1][own]] = self.point[own]
        for vertex, parts in sums.items():
            for k, (p, w) in enumerate(parts):
                of[start[vertex] + k], weight[start[vertex] + k] = p, w
        return Combination(start, of, weight)

    def moves(self) -> np.ndarray:
        """(N,) masses of vertices that forces move [kg]."""
        return np.where(self.known, 0.0, self.mass)


def with_vertex_masses(model: Model, vertices: VertexTables) -> Model:
    """The model with the masses of attached vertices as parts of their bodies."""
    bodies = list(model.bodies)
    on = vertices.held[: vertices.moved]
    for i in np.unique(on[:, 1]).tolist():
        mine = on[:, 1] == i
        m, p, body = vertices.mass[on[mine, 0]], vertices.held_p[: vertices.moved][mine], bodies[i]
        total, com = body.mass + m.sum(), np.array(body.com, float)
        centre = (body.mass * com + m @ p) / total
        inertia = np.array(body.inertia, float) + body.mass * _point_inertia(com - centre)
        inertia = inertia + sum((mass * _point_inertia(at - centre) for mass, at in zip(m, p, strict=True)), np.zeros((3, 3)))
        bodies[i] = replace(body, mass=float(total), com=centre, inertia=inertia)
    return replace(model, bodies=tuple(bodies))


def _point_inertia(d: np.ndarray) -> np.ndarray:
    return d @ d * np.eye(3) - np.outer(d, d)


class FleshTables:
    """Tables of the deformables of a model. `coupled`: pairs of bodies that forces couple implicitly, of which those with points of
    deformables count."""

    def __init__(self, model: Model, errors: CallbackErrors, coupled: Iterable[tuple[int, int]]):
        self.model, self.vertices = model, VertexTables(model)
        v = self.vertices
        self.energies = EnergyTables([(s, d.first) for d in model.deformables for s in d.stencils], v.count, errors)
        for i in (k for p in model.vertex_points for k in p.vertices):
            if not 0 <= i < v.count:
                raise ModelError(f"vertex {i} is not among the {v.count} of this model")
        self.seen = combinations([v.stands_for.sum(p.vertices, p.weights) for p in model.vertex_points])
        self.coupled = [pair for pair in coupled if max(pair) >= model.n_bodies]
        self.held_body = v.held[: v.moved, 1]
        others = {i for pair in self.coupled for i in pair if i < model.n_bodies}
        self.border = np.array(sorted({*self.held_body.tolist(), *others}), np.int64)
        self._number_blocks()
        self._plan()

    # blocks

    def _number_blocks(self) -> None:
        """Which blocks there are: over points (rows ≤ columns), and of points with bodies."""
        v, n = self.vertices, self.model.n_bodies
        self.map = StencilMap(self.energies.batches, 0, v.stands_for.start, v.stands_for.of, v.stands_for.weight)
        width = max(v.points, 1)
        # masses: Tᵀ M T, with w_a w_b m at each pair of points that a vertex stands for
        mass, mass_keys = [np.zeros(0)], [np.zeros(0, np.int64)]
        plain = np.flatnonzero((np.diff(v.stands_for.start) == 1) & (v.own_mass > 0.0))
        first = v.stands_for.start[plain]
        mass.append(v.own_mass[plain] * v.stands_for.weight[first] ** 2)
        mass_keys.append(v.stands_for.of[first] * (width + 1))
        for i in np.flatnonzero((np.diff(v.stands_for.start) > 1) & (v.own_mass > 0.0)).tolist():
            of, w = v.stands_for[i]
            a, b = (x.ravel() for x in np.meshgrid(np.arange(len(of)), np.arange(len(of)), indexing="ij"))
            keep = of[a] <= of[b]
            mass.append(v.own_mass[i] * (w[a] * w[b])[keep])
            mass_keys.append((of[a] * width + of[b])[keep])
        # points on which elements act, with themselves, with each other and with bodies
        seen: list[tuple[int, int, float]] = []
        pairs: list[tuple[int, int, int, float]] = []
        bodies: list[tuple[int, int, int, int, float]] = []
        for k in range(len(self.seen.start) - 1):
            own = list(zip(*self.seen[k], strict=True))
            seen += [(k, int(a) * width + int(b), float(x * y)) for a, x in own for b, y in own if a <= b]
        for e, (a, b) in enumerate(self.coupled):
            if a >= n and b >= n:
                for p, x in zip(*self.seen[a - n], strict=True):
                    for q, y in zip(*self.seen[b - n], strict=True):
                        flip = BOTH if p == q else (AS_IT_IS if p < q else TURNED)
                        pairs.append((e, int(min(p, q)) * width + int(max(p, q)), flip, float(x * y)))
            else:
                point, body, side = (a - n, b, 1) if a >= n else (b - n, a, 0)
                place = int(np.searchsorted(self.border, body))
                bodies += [(e, side, int(p), place, float(x)) for p, x in zip(*self.seen[point], strict=True)]
        keys = np.unique(np.concatenate([
            self.map.rows * width + self.map.columns, *mass_keys, np.array([s[1] for s in seen] + [p[1] for p in pairs], np.int64)
        ]))  # fmt: skip
        a, b = keys // width, keys % width
        f = len(v.free)
        kind = np.where(b < f, 0, np.where(a < f, 1, 2))
        ff, fh, hh = (np.flatnonzero(kind == k) for k in range(3))
        self.free_rows, self.free_columns = a[ff], b[ff]
        # blocks of free vertices with bodies, of attached points with bodies
        place = np.searchsorted(self.border, self.held_body) if len(self.held_body) else np.zeros(0, np.int64)
        m = max(len(self.border), 1)
        of_rows = a[fh] * m + place[b[fh] - f]
        given = np.array([p * m + body for _, _, p, body, _ in bodies if p < f], np.int64)
        self.body_keys = np.unique(np.concatenate([of_rows, given]))
        held_keys = np.unique(np.array([(p - f) * m + body for _, _, p, body, _ in bodies if p >= f], np.int64))
        # where they stand, in units of 3 × 3
        at = np.cumsum([0, len(ff), 2 * len(self.body_keys), len(fh), len(hh), 2 * len(held_keys)])
        unit = np.zeros(len(keys), np.int64)
        for which, first_unit in ((ff, at[0]), (fh, at[2]), (hh, at[3])):
            unit[which] = first_unit + np.arange(len(which))
        self._find = lambda key: unit[np.searchsorted(keys, key)]
        self.units = int(at[-1])
        self.counts = [len(ff), len(self.body_keys), len(fh), len(hh), len(held_keys), 6 * len(self.border)]
        self.held_rows = np.column_stack([b[fh] - f, np.searchsorted(self.body_keys, of_rows)]).astype(np.int64)
        k, l = a[hh] - f, b[hh] - f
        self._held_pairs = np.column_stack([k, l, place[k], place[l]]) if len(hh) else np.zeros((0, 4), np.int64)
        self.point_blocks = [(int(unit[k]), int(a[k]), int(b[k])) for k in (*ff, *fh, *hh)]
        """Blocks over points: place, row, column ≥ row."""
        tied = ((at[1], self.body_keys), (at[4], held_keys + m * f))
        self.body_blocks = [(int(first + 2 * k), *divmod(int(key), m)) for first, own in tied for k, key in enumerate(own)]
        """Those of points with bodies: place, point, place of the body in the border."""
        none = np.zeros((0, 3), np.int64)
        self._held_bodies = np.column_stack([held_keys // m, place[held_keys // m], held_keys % m]) if len(held_keys) else none
        self._mass = np.concatenate(mass), np.concatenate(mass_keys)
        self._seen_pairs, self._pairs, self._bodies = seen, pairs, bodies

        def body_unit(p: int, body: int) -> int:
            if p < f:
                return int(at[1] + 2 * np.searchsorted(self.body_keys, p * m + body))
            return int(at[4] + 2 * np.searchsorted(held_keys, (p - f) * m + body))

        self._body_unit = body_unit

    def _plan(self) -> None:
        """The order of elimination, and the pairs of bodies that it couples."""
        f, m = len(self.vertices.free), max(len(self.border), 1)
        widths = np.concatenate([np.full(f, 3), np.full(len(self.border), 6)])
        rows = np.concatenate([self.free_rows, self.body_keys // m])
        columns = np.concatenate([self.free_columns, f + self.body_keys % m])
        row, column, take, node = block_entries(widths, rows, columns)
        places = np.concatenate([np.zeros((0, 3)), *(d.X for d in self.model.deformables)])[self.vertices.free]
        self.plan = BorderedPlan.of(3 * f, 6 * len(self.border), row, column, node, places)
        self.take = take
        # pairs: by the Schur complement, and by points on the bodies themselves
        i, j = self.plan.rows // 6, self.plan.columns // 6  # i ≥ j
        own = np.arange(len(self.border))
        held, bodies = self._held_pairs, self._held_bodies
        low = np.concatenate([own, j, np.minimum(held[:, 2], held[:, 3]), np.minimum(bodies[:, 1], bodies[:, 2])])
        high = np.concatenate([own, i, np.maximum(held[:, 2], held[:, 3]), np.maximum(bodies[:, 1], bodies[:, 2])])
        self._keys = np.unique(low * m + high)
        if len(self._keys) > MOST_PAIRS:
            most = max(self.model.deformables, key=lambda d: d.n)
            said = f"deformables couple {len(self.border)} bodies in {len(self._keys)} pairs"
            raise ModelError(f"RedMax: {said}, which would take {36 * 8e-9 * len(self._keys):.1f} GB; divide '{most.name}' into several")
        self.pairs = np.column_stack([self._keys // m, self._keys % m])
        """(…, 2) places in the border, low then high; those of a body with itself among them."""
        r, c = self.plan.rows % 6, self.plan.columns % 6
        at = 36 * np.searchsorted(self._keys, j * m + i)
        self.update = np.column_stack([self.plan.at, at + np.where(i == j, 6 * r + c, 6 * c + r)]).astype(np.int64)

    @property
    def body_pairs(self) -> list[tuple[int, int]]:
        """Pairs of different bodies, which need couplings."""
        return [(int(self.border[a]), int(self.border[b])) for a, b in self.pairs if a != b]

    def _way(self, low_first: np.ndarray, first: np.ndarray, second: np.ndarray, same: np.ndarray) -> np.ndarray:
        """How blocks (first, second) of bodies enter those of pairs; of one body with itself both ways, unless it is its own transpose."""
        return np.where(first == second, np.where(same, AS_IT_IS, BOTH), np.where(low_first, AS_IT_IS, TURNED))

    def slots(self, couplings: np.ndarray, kick: int) -> dict[int, Any]:
        """What goes into the arenas, with the couplings of the system in their order, and the address of what else ends a step."""
        v, e, s, m = self.vertices, self.energies, self.plan.pivots.nodes, max(len(self.border), 1)
        # gifts of stencils
        stencils = np.cumsum([0, *(len(b.vertices) for b in e.batches)])
        gifts = [(*g[:4], self._find(self.map.rows[g[4]] * max(v.points, 1) + self.map.columns[g[4]])) for g in self.map.gifts]
        ends = np.cumsum([0, *(len(g[0]) for g in gifts)])
        batch = [(b.vertices.shape[1], stencils[k], ends[k], ends[k + 1]) for k, b in enumerate(e.batches)]
        table = [np.column_stack([g[0], g[1], g[3], g[4]]) for g in gifts]
        # couplings of elements, by their places
        place = {tuple(pair): k for k, pair in enumerate(couplings.tolist())}
        at = [place[pair] for pair in self.coupled]
        # blocks of attached points, by the bodies that hold them
        between = [(at[c], side, self._body_unit(p, body)) for c, side, p, body, _ in self._bodies]
        held, bodies = self._held_pairs, self._held_bodies
        low, high = np.minimum(held[:, 2], held[:, 3]), np.maximum(held[:, 2], held[:, 3])
        way = self._way(held[:, 2] < held[:, 3], held[:, 2], held[:, 3], held[:, 0] == held[:, 1])
        held_pairs = np.column_stack([held[:, :2], np.searchsorted(self._keys, low * m + high), way])
        low, high = np.minimum(bodies[:, 1], bodies[:, 2]), np.maximum(bodies[:, 1], bodies[:, 2])
        way = self._way(bodies[:, 1] < bodies[:, 2], bodies[:, 1], bodies[:, 2], np.zeros(len(bodies), bool))
        held_bodies = np.column_stack([bodies[:, 0], np.searchsorted(self._keys, low * m + high), way])
        pair_place = [-1 - self.border[a] if a == b else place[int(self.border[a]), int(self.border[b])] for a, b in self.pairs]
        # sizes of what a step works in
        n, points = 3 * len(v.free) + 6 * len(self.border), self.model.vertex_points
        work = self.plan.pivots.workspace()
        return {
            FREE_VERTEX: v.free, HELD: v.held, PRESCRIBED: v.prescribed, SUPPORTED: v.supported, HELD_P: v.held_p,
            SUPPORT_WEIGHT: v.support_weight, SEEN_START: np.cumsum([0, *(len(p.vertices) for p in points)]),
            SEEN_VERTEX: np.concatenate([np.zeros(0, np.int64), *(p.vertices for p in points)]),
            SEEN_WEIGHT: np.concatenate([np.zeros(0), *(p.weights for p in points)]),
            POINT_START: v.stands_for.start, POINT_OF: v.stands_for.of, POINT_WEIGHT: v.stands_for.weight, VERTEX_MASS: v.own_mass,
            FLESH_CHOICE: np.array([0.0, self.model.nq_joints, self.model.nv_joints, 0.0, 0.0]), VERTEX_X: 3 * v.count,
            VERTEX_V: 3 * v.count, VERTEX_WAY: 3 * v.count, VERTEX_A: 3 * v.count,
            VERTEX_F: 3 * v.count, VERTEX_NOW: 3 * v.count, PRESCRIBED_X: 9 * len(v.prescribed),
            ENERGY_BATCHES: e.batch_table, ENERGY_INDEX: e.index, ENERGY_PARAMETERS: e.parameters,
            BATCH: np.array(batch, np.int64).reshape(-1, 4), GIFTS: np.concatenate([np.zeros((0, 4), np.int64), *table]),
            GIFT_WEIGHT: np.concatenate([np.zeros(0), *(g[2] for g in gifts)]),
            DAMPING: np.concatenate([np.zeros(0), *(b.damping for b in e.batches)]), STENCIL_SCALE: int(stencils[-1]), STORED: 1,
            STRESS: 3 * v.count, STENCIL_BLOCKS: e.block_values.size,
            MASS_BLOCK: self._find(self._mass[1]), MASS_OF_BLOCK: self._mass[0],
            SEEN_BLOCK: np.array([(k, self._find(key)) for k, key, _ in self._seen_pairs], np.int64).reshape(-1, 2),
            SEEN_BLOCK_WEIGHT: np.array([w for *_, w in self._seen_pairs]),
            PAIR_BLOCK: np.array([(at[c], self._find(key), flip) for c, key, flip, _ in self._pairs], np.int64).reshape(-1, 3),
            PAIR_BLOCK_WEIGHT: np.array([w for *_, w in self._pairs]), BODY_BLOCK: np.array(between, np.int64).reshape(-1, 3),
            BODY_BLOCK_WEIGHT: np.array([w for *_, w in self._bodies]),
            BLOCK_COUNTS: np.array(self.counts, np.int64), HELD_ROWS: self.held_rows, HELD_PAIRS: held_pairs, HELD_BODIES: held_bodies,
            POINT_BLOCKS: 9 * self.units, BORDER_BODY: self.border,
            COLUMN_FIRST: s.column_first, LOWER_FIRST: s.lower_first, LOWER: s.lower, FACTOR_AT: s.factor_at, UPDATE_AT: s.update_at,
            CHILD: s.child, SIBLING: s.sibling, RELATIVE: s.relative, ENTRY_FIRST: self.plan.pivots.entry_first,
            ENTRY_SOURCE: self.take[self.plan.pivots.source], ENTRY_TARGET: self.plan.pivots.target, ORDER: self.plan.pivots.order,
            UPDATE: self.update, PAIR_PLACE: np.array(pair_place, np.int64), STACK: work.stack.size, PACKED: work.packed.size,
            FRONT: work.front.size, FACTOR: work.L.size, BODY_PAIRS: 36 * len(self.pairs), UNKNOWNS: n, REDUCED: n,
            SOLVE_SCRATCH: max(self.plan.pivots.tallest, 1), FLESH_ADDRESSES: np.array([kick, 0, 0], np.int64),
        }  # fmt: skip
