"""Vertices of deformables as control points behind those of the affine bodies.

    x = (bodies: 4 control points each,  vertices: 1 each)         3 numbers per control point, flat

A vertex is free; or prescribed, a known function of time; or attached, x = Σ wₖ xₖ over up to four others: those of its body with
w = (1, p), or vertices. Attached ones are eliminated: with x = T y, y what is not attached, gradients become Tᵀ g and matrices Tᵀ H T. What
is left are the *unknown points*: the control points of moving bodies, then the free vertices, numbered 0 …
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model
from unibody.model.deformable import Places
from unibody.model.vertex_masses import MassMatrix

INSTANT = 1e-6
"""[s] Over which speeds of prescribed vertices are taken."""
LONGER = 1e-4
"""[s] Over which their accelerations are taken."""


@kernel
def place_attached(nodes: Ints, supports: Ints, weights: Floats, x_out: Floats) -> None:
    """x of every attached control point from so many others, of each as many numbers (−1: none)."""
    wide = supports.size // max(nodes.size, 1)
    for k in range(nodes.size):
        for r in range(3):
            total = 0.0
            for i in range(wide):
                s = supports[wide * k + i]
                if s >= 0:
                    total += weights[wide * k + i] * x_out[3 * s + r]
            x_out[3 * nodes[k] + r] = total


@kernel
def pull_attached(nodes: Ints, supports: Ints, weights: Floats, gradient_out: Floats) -> None:
    """Tᵀ: what acts on attached control points acts on those that carry them, which may be attached before."""
    wide = supports.size // max(nodes.size, 1)
    for k in range(nodes.size - 1, -1, -1):
        for i in range(wide):
            s = supports[wide * k + i]
            if s >= 0:
                for r in range(3):
                    gradient_out[3 * s + r] += weights[wide * k + i] * gradient_out[3 * nodes[k] + r]


@kernel
def eliminate_attached(
    rows: Ints, columns: Ints, blocks: Floats, first: Ints, to: Ints, weight: Floats, row_out: Ints, column_out: Ints, blocks_out: Floats
) -> int:
    """Tᵀ H T of blocks 3×3 at rows ≤ columns; control point i stands for the unknown points to[first[i]] …; gives their number."""
    found = 0
    for e in range(rows.size):
        i = rows[e]
        j = columns[e]
        for k in range(first[i], first[i + 1]):
            for l in range(first[j], first[j + 1]):
                a = to[k]
                b = to[l]
                # of a diagonal block the pairs below have their transposes above
                if i == j and a > b:
                    continue
                w = weight[k] * weight[l]
                row_out[found] = min(a, b)
                column_out[found] = max(a, b)
                for r in range(3):
                    for c in range(3):
                        here = blocks[9 * e + 3 * r + c]
                        there = blocks[9 * e + 3 * c + r]
                        if a == b and i != j:
                            blocks_out[9 * found + 3 * r + c] = w * (here + there)
                        elif a <= b:
                            blocks_out[9 * found + 3 * r + c] = w * here
                        else:
                            blocks_out[9 * found + 3 * r + c] = w * there
                found += 1
    return found


class ControlPoints:
    """Of the deformables of a model, behind `rows` affine bodies, of which those of `place` ≥ 0 move."""

    def __init__(self, model: Model, rows: int, place: np.ndarray):
        self.deformables = model.deformables
        self.rows, self.first = rows, 4 * rows
        self.count = sum(len(d.X) for d in self.deformables)
        self.size = 12 * rows + 3 * self.count
        """Numbers of x."""
        self.owner = np.concatenate([np.full(len(d.X), k) for k, d in enumerate(self.deformables)]).astype(np.int64)
        """(count,) the deformable of each."""
        self.mass = np.concatenate([d.mass for d in self.deformables])
        self.start = np.concatenate([d.x0 for d in self.deformables]), np.concatenate([d.v0 for d in self.deformables])
        # attached ones
        nodes, supports, weights = [np.zeros(0, np.int64)], [np.zeros((0, 4), np.int64)], [np.zeros((0, 4))]
        for a in model.attachments:
            on_body = 4 * a.body + np.arange(4)
            nodes.append(a.vertices + self.first)
            supports.append(np.tile(on_body, (len(a.vertices), 1)) if a.body >= 0 else np.where(a.support < 0, -1, a.support + self.first))
            weights.append(
                np.concatenate([np.ones((len(a.vertices), 1)), a.p], axis=1) if a.body >= 0 else np.where(a.support < 0, 0.0, a.weights)
            )
        self.attached, self.supports, self.weights = (
            np.concatenate(nodes).astype(np.int64),
            np.concatenate(supports),
            np.concatenate(weights),
        )
        # points on which elements act: bodies that follow vertices, of a quadratic tetrahedron ten
        self.seen = model.n_bodies + np.arange(len(model.vertex_points))
        wide = max([4, *(len(p.vertices) for p in model.vertex_points)])
        more = [(0, 0), (0, wide - 4)]
        self.supports, self.weights = np.pad(self.supports, more, constant_values=-1), np.pad(self.weights, more)
        for i, p in zip(self.seen, model.vertex_points, strict=True):
            short = wide - len(p.vertices)
            self.attached = np.append(self.attached, 4 * i)
            self.supports = np.concatenate([self.supports, [[*(p.vertices + self.first), *[-1] * short]]])
            self.weights = np.concatenate([self.weights, [[*p.weights, *[0.0] * short]]])
        self.held = len(self.attached) - len(self.seen)
        """How many vertices are attached."""
        self._map = self.attached, np.ascontiguousarray(self.supports, np.int64).ravel(), np.ascontiguousarray(self.weights).ravel()
        # prescribed ones
        self.prescribed = np.concatenate([np.zeros(0, np.int64), *(p.vertices for p in model.prescribed)]).astype(np.int64)
        self._motions = [(p.motion, self.start[0][p.vertices]) for p in model.prescribed]
        held = np.zeros(self.count, bool)
        held[self.prescribed] = True
        held[self.attached[: self.held] - self.first] = True
        self.free = np.flatnonzero(~held)
        """Numbers of those that have coordinates of their own."""
        self._eliminate(place)
        self.rests = self._resting(model)
        """(count,) which vertices stay where they are for ever: held by what never moves."""

    def _resting(self, model: Model) -> np.ndarray:
        out = np.zeros(self.count, bool)
        for p in model.prescribed:
            out[p.vertices] = p.motion is None
        for a in model.attachments:
            if a.body >= 0:
                out[a.vertices] = a.body == 0 or model.bodies[a.body].kind == "static"
        return out

    def _eliminate(self, place: np.ndarray) -> None:
        """For every control point the unknown points that it stands for, and their weights."""
        m = int((place >= 0).sum())
        point = np.full(self.first + self.count, -1, np.int64)
        moving = np.flatnonzero(place >= 0)
        point[(4 * moving[:, None] + np.arange(4)).ravel()] = (4 * place[moving][:, None] + np.arange(4)).ravel()
        point[self.first + self.free] = 4 * m + np.arange(len(self.free))
        self.bodies, self.points = m, 4 * m + len(self.free)
        """How many bodies move; how many unknown points there are."""
        lists: list[tuple[list[int], list[float]]] = [([int(p)], [1.0]) if p >= 0 else ([], []) for p in point]
        for node, support, weight in zip(self.attached, self.supports, self.weights, strict=True):
            share: dict[int, float] = {}
            for s, w in zip(support, weight, strict=True):
                for p, more in zip(*lists[s], strict=True) if s >= 0 else ():
                    share[p] = share.get(p, 0.0) + w * more
            lists[node] = [p for p, w in share.items() if w != 0.0], [w for w in share.values() if w != 0.0]
        self._first = np.concatenate([[0], np.cumsum([len(p) for p, _ in lists])]).astype(np.int64)
        self._to = np.array([p for points, _ in lists for p in points], np.int64)
        self._weight = np.array([w for _, weights in lists for w in weights], float)
        self.moves = np.diff(self._first)[self.first :] > 0
        """(count,) which vertices are not known beforehand."""
        self.moving_mass = np.where(self.moves, self.mass, 0.0)
        self._inertia = self._whole_inertia()
        """M over all vertices; None where it is the diagonal of `mass`."""

    def _whole_inertia(self) -> MassMatrix | None:
        if all(d.inertia is None for d in self.deformables):
            return None
        parts = []
        for d in self.deformables:
            every = np.arange(d.n)
            M = d.inertia if d.inertia is not None else MassMatrix(every, every, d.mass)
            parts.append((M.rows + d.first, M.columns + d.first, M.values))
        return MassMatrix(*(np.concatenate(some) for some in zip(*parts, strict=True)))

    @cached_property
    def _moving_inertia(self) -> MassMatrix:
        """M without what is between two vertices whose motion is known: of what follows from them nothing is to be found."""
        if (M := self._inertia) is None:
            every = np.flatnonzero(self.moves)
            return MassMatrix(every, every, self.mass[every])
        kept = self.moves[M.rows] | self.moves[M.columns]
        return MassMatrix(M.rows[kept], M.columns[kept], M.values[kept])

    @property
    def lumped(self) -> bool:
        """Whether M is diagonal."""
        return self._inertia is None

    def moving_momenta(self, v: np.ndarray) -> np.ndarray:
        """(count, 3) M v, without what is between two vertices whose motion is known."""
        return self.moving_mass[:, None] * v if self._inertia is None else self._moving_inertia.product(v)

    def known_momenta(self, v: np.ndarray) -> np.ndarray:
        """(count, 3) the rest of M v."""
        if self._inertia is None:
            return (self.mass - self.moving_mass)[:, None] * v
        return self._inertia.product(v) - self._moving_inertia.product(v)

    @cached_property
    def inertia_blocks(self) -> NodeBlocks:
        """Tᵀ M T over the unknown points."""
        M = self._moving_inertia
        both = self.moves[M.rows] & self.moves[M.columns]
        rows, columns = M.rows[both] + self.first, M.columns[both] + self.first
        return self.reduced(NodeBlocks(rows, columns, M.values[both][:, None, None] * np.eye(3))).summed()

    @property
    def unknown_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Control point i stands for the unknown points to[first[i]] … with weights."""
        return self._first, self._to, self._weight

    # coordinates

    @property
    def held_vertices(self) -> np.ndarray:
        """Numbers of the attached vertices, then of the prescribed ones."""
        return np.concatenate([self.attached[: self.held] - self.first, self.prescribed])

    def positions(self, t: float) -> np.ndarray:
        """(n, 3) of the prescribed vertices at time t."""
        return np.concatenate([np.zeros((0, 3)), *(start if motion is None else motion(t) for motion, start in self._motions)])

    def speeds(self, t: float) -> np.ndarray:
        """(n, 3) of the prescribed vertices at time t."""
        return self._rates(t, 0, lambda x: (x(t + INSTANT) - x(t)) / INSTANT)

    def accelerations(self, t: float) -> np.ndarray:
        """(n, 3) of the prescribed vertices at time t."""
        s = max(t, LONGER)
        return self._rates(t, 1, lambda x: (x(s + LONGER) - 2.0 * x(s) + x(s - LONGER)) / LONGER**2)

    def _rates(self, t: float, order: int, difference: Callable[[Places], np.ndarray]) -> np.ndarray:
        """Velocities (0) or accelerations (1): of tables their own, of other functions by a difference."""
        out = [np.zeros((0, 3))]
        for motion, start in self._motions:
            exact = None if motion is None else motion.derivatives(t)
            out.append(np.zeros_like(start) if motion is None else difference(motion) if exact is None else exact[order])
        return np.concatenate(out)

    def joined(self, Q: np.ndarray, free: np.ndarray, prescribed: np.ndarray) -> np.ndarray:
        """x of all control points from those of the bodies (rows, 4, 3), the free and the prescribed vertices; velocities alike."""
        x = np.zeros(self.size)
        x[: 12 * self.rows] = Q.ravel()
        y = x[12 * self.rows :].reshape(-1, 3)
        y[self.free], y[self.prescribed] = free.reshape(-1, 3), prescribed
        place_attached(*self._map, x)
        return x

    def placed(self, x: np.ndarray) -> np.ndarray:
        """x with attached vertices where they belong, in place."""
        place_attached(*self._map, x)
        return x

    def of(self, x: np.ndarray) -> np.ndarray:
        """(count, 3) of all vertices in x of all control points: a view."""
        return x[12 * self.rows :].reshape(-1, 3)

    def free_of(self, x: np.ndarray) -> np.ndarray:
        """(flat) of the free vertices in x of all control points."""
        return self.of(x)[self.free].ravel()

    def pulled(self, gradient: np.ndarray) -> np.ndarray:
        """Tᵀ g, in place; at attached vertices the forces stay listed, too."""
        pull_attached(*self._map, gradient)
        return gradient

    def reduced(self, H: NodeBlocks) -> NodeBlocks:
        """Tᵀ H T over the unknown points, of blocks over all control points."""
        count = np.diff(self._first)
        room = int((count[H.rows] * count[H.columns]).sum())
        rows, columns, blocks = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(9 * room)
        given = np.ascontiguousarray(H.rows), np.ascontiguousarray(H.columns), np.ascontiguousarray(H.blocks).ravel()
        n = eliminate_attached(*given, self._first, self._to, self._weight, rows, columns, blocks)
        return NodeBlocks(rows[:n], columns[:n], blocks[: 9 * n].reshape(-1, 3, 3))
