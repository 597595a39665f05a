"""Matter between vertices in the incremental potential: energies of stencils of k vertices, β h² Σ W, and their Rayleigh damping.

    ∂²/∂x² = Σ over stencils of 3k × 3k matrices, added up where the same two control points meet

Where those stand does not change: which stencil gives to which block, with attached vertices eliminated, is found once (`StencilMap`).
Damping is semi-implicit (paper 003 §5.1): D = Σ damping · ∂²W/∂x² at the beginning of a step, made positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.coordinates.affine.control_points import ControlPoints
from unibody.energies.base import EXACT, GRADIENT, PROJECTED, VALUE, Energy
from unibody.kernel import Floats, Ints, kernel
from unibody.model.deformable import DeformableInfo
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Potential

HALVINGS = 60
"""Of a way at whose end something is turned inside out."""
DIGITS = 1e-14
"""Forces between vertices cancel where they are in balance; values have the round-off of each."""


@kernel
def add_stencil_blocks(
    stencil: Ints, corner: Ints, weight: Floats, flip: Ints, target: Ints, count: int, scale: Floats, blocks: Floats, sums_out: Floats
) -> None:
    """Blocks (3 × 3, by `corner` = k a + b of a stencil's vertices) of stencils' matrices, times weights and the stencil's scale, into the
    sums: as they are (flip 0), transposed (1), or both (2)."""
    wide = 3 * count
    for e in range(stencil.size):
        at = wide * wide * stencil[e] + 3 * wide * (corner[e] // count) + 3 * (corner[e] % count)
        w = weight[e] * scale[stencil[e]]
        to = 9 * target[e]
        for r in range(3):
            for c in range(3):
                if flip[e] != 1:
                    sums_out[to + 3 * r + c] += w * blocks[at + wide * r + c]
                if flip[e] != 0:
                    sums_out[to + 3 * r + c] += w * blocks[at + wide * c + r]


@kernel
def expand_entries(
    rows: Ints, columns: Ints, first: Ints, to: Ints, weight: Floats, source_out: Ints, weight_out: Floats, flip_out: Ints, row_out: Ints,
    column_out: Ints,
) -> int:  # fmt: skip
    """To which blocks at row ≤ column the blocks at (rows, columns) give, if i stands for to[first[i]] …; how many such gifts there are."""
    found = 0
    for e in range(rows.size):
        i = rows[e]
        j = columns[e]
        for k in range(first[i], first[i + 1]):
            for l in range(first[j], first[j + 1]):
                a = to[k]
                b = to[l]
                if i == j and a > b:
                    continue
                source_out[found] = e
                weight_out[found] = weight[k] * weight[l]
                flip_out[found] = 2 if a == b and i != j else (0 if a <= b else 1)
                row_out[found] = min(a, b)
                column_out[found] = max(a, b)
                found += 1
    return found


@dataclass
class StencilGroup:
    """Stencils of one class of energy: vertices among all (n, k), parameters (n, m), damping (n,)."""

    energy: Energy
    index: np.ndarray
    parameters: np.ndarray
    damping: np.ndarray

    @property
    def k(self) -> int:
        return self.index.shape[1]

    def add(self, x: np.ndarray, ask: int, value_out: np.ndarray, gradient_out: np.ndarray, blocks_out: np.ndarray) -> None:
        """As `AddEnergy`, with the kernel of the class, or with its NumPy methods."""
        if self.energy.add_kernel is not None:
            flat = np.ascontiguousarray(self.index).ravel(), np.ascontiguousarray(self.parameters).ravel()
            self.energy.add_kernel(*flat, x, ask, value_out, gradient_out, blocks_out)
            return
        X, size = x.reshape(-1, 3), 9 * self.k * self.k
        for e, (index, parameters) in enumerate(zip(self.index, self.parameters, strict=True)):
            value_out[0] += self.energy.value(parameters, X[index])
            if ask >= GRADIENT:
                gradient_out.reshape(-1, 3)[index] += self.energy.gradient(parameters, X[index])
            if ask >= EXACT:
                blocks_out[size * e : size * (e + 1)] = self.energy.hessian(parameters, X[index], ask == PROJECTED).ravel()


def stencil_groups(deformables: Sequence[DeformableInfo]) -> list[StencilGroup]:
    """Of all deformables, those of one kernel together."""
    groups: dict[object, list[tuple[Energy, np.ndarray, np.ndarray, np.ndarray]]] = {}
    for d in deformables:
        for s in d.stencils:
            if len(s.index):
                kernel_of = s.energy.add_kernel if s.energy.add_kernel is not None else (id(s.energy), d.name)
                key = kernel_of, s.index.shape[1], s.parameters.shape[1]
                damping = np.full(len(s.index), s.damping)
                groups.setdefault(key, []).append((s.energy, np.asarray(s.index, np.int64) + d.first, s.parameters, damping))
    return [
        StencilGroup(some[0][0], *(np.concatenate([part[i] for part in some]) for i in (1, 2, 3))) for some in groups.values()
    ]  # fmt: skip


class StencilMap:
    """Where matrices of groups of stencils stand, over points that control points stand for (`first`, `to`, `weight`)."""

    def __init__(self, groups: Sequence[StencilGroup], node: int, first: np.ndarray, to: np.ndarray, weight: np.ndarray):
        found, width, count = [], np.diff(first), int(to.max(initial=-1)) + 1
        for g in groups:
            a, b = np.triu_indices(g.k)
            rows, columns = (np.ascontiguousarray(g.index[:, i].ravel() + node) for i in (a, b))
            room = int((width[rows] * width[columns]).sum())
            source, flip, row, column = (np.empty(room, np.int64) for _ in range(4))
            share = np.empty(room)
            n = expand_entries(rows, columns, first, to, weight, source, share, flip, row, column)
            stencil, corner = source[:n] // len(a), (g.k * a + b)[source[:n] % len(a)]
            found.append((stencil, corner, share[:n], flip[:n], row[:n] * count + column[:n]))
        keys = np.unique(np.concatenate([np.zeros(0, np.int64), *(part[4] for part in found)]))
        self.rows, self.columns = keys // max(count, 1), keys % max(count, 1)
        self._gifts = [(*part[:4], np.searchsorted(keys, part[4])) for part in found]

    def summed(self, groups: Sequence[StencilGroup], scales: Sequence[np.ndarray], blocks: Sequence[np.ndarray]) -> NodeBlocks:
        """Σ of the groups' matrices, each stencil's times its scale."""
        sums = np.zeros(9 * len(self.rows))
        for g, gifts, scale, given in zip(groups, self._gifts, scales, blocks, strict=True):
            stencil, corner, share, flip, target = gifts
            add_stencil_blocks(stencil, corner, share, flip, target, g.k, scale, given, sums)
        return NodeBlocks(self.rows, self.columns, sums.reshape(-1, 3, 3))


class Matter:
    """The energies of all deformables of a model."""

    def __init__(self, vertices: ControlPoints):
        self.vertices, self.groups = vertices, stencil_groups(vertices.deformables)
        self._map = StencilMap(self.groups, vertices.first, *vertices.unknown_points)
        self._damped = [StencilGroup(*_where(g, g.damping > 0.0)) for g in self.groups if (g.damping > 0.0).any()]
        every = np.arange(vertices.first + vertices.count + 1)
        self._damping_map = StencilMap(self._damped, vertices.first, every, every[:-1], np.ones(len(every) - 1))
        self._none = np.zeros(0)

    def value(self, y: np.ndarray) -> float:
        """Σ W [J] with vertices at y (3 each, flat)."""
        total = np.zeros(1)
        for g in self.groups:
            g.add(y, VALUE, total, self._none, self._none)
        return float(total[0])

    def torn(self, y: np.ndarray) -> str | None:
        """The name of a deformable whose energy is not finite; None if all are."""
        for d in self.vertices.deformables:
            total = np.zeros(1)
            for g in stencil_groups([d]):
                g.add(y, VALUE, total, self._none, self._none)
            if not np.isfinite(total[0]):
                return d.name
        return None

    def gradient(self, y: np.ndarray) -> np.ndarray:
        total, out = np.zeros(1), np.zeros(y.size)
        for g in self.groups:
            g.add(y, GRADIENT, total, out, self._none)
        return out

    def blocks(self, y: np.ndarray, factor: float, careful: bool) -> NodeBlocks:
        """factor ∂²ΣW/∂x² over the unknown points."""
        return self._summed(self._map, self.groups, y, careful, [np.full(len(g.index), factor) for g in self.groups])

    def damping(self, y: np.ndarray) -> NodeBlocks | None:
        """D [N s/m] over all control points; None if nothing is damped."""
        if not self._damped:
            return None
        return self._summed(self._damping_map, self._damped, y, True, [g.damping for g in self._damped])

    def _summed(
        self, where: StencilMap, groups: Sequence[StencilGroup], y: np.ndarray, careful: bool, scales: Sequence[np.ndarray]
    ) -> NodeBlocks:
        total, forces, blocks = np.zeros(1), np.zeros(y.size), []
        for g in groups:
            blocks.append(np.zeros(9 * g.k * g.k * len(g.index)))
            g.add(y, PROJECTED if careful else EXACT, total, forces, blocks[-1])
        return where.summed(groups, scales, blocks)


def _where(g: StencilGroup, some: np.ndarray) -> tuple[Energy, np.ndarray, np.ndarray, np.ndarray]:
    return g.energy, g.index[some], g.parameters[some], g.damping[some]


class EnergyPotential(Potential):
    """Matter during one step."""

    with_vertices = True

    def __init__(self, system: AffineSystem, matter: Matter, factor: float):
        self._matter, self._factor, self._at = matter, factor, 12 * system.rows

    def value(self, x: np.ndarray) -> float:
        return self._factor * self._matter.value(x[self._at :])

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        gradient_out[self._at :] += self._factor * self._matter.gradient(x[self._at :])

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        return self._matter.blocks(x[self._at :], self._factor, careful)

    def max_step(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        for _ in range(HALVINGS):
            if np.isfinite(self._matter.value(x[self._at :] + t * p[self._at :])):
                return t
            t *= 0.5
        return 0.0

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        y = x[self._at :]
        return DIGITS * self._factor * float(np.abs(self._matter.gradient(y) * y).sum()), 0.0
