"""Matter between vertices in the incremental potential: energies of stencils of k vertices, β h² Σ W, and their Rayleigh damping.

    ∂²/∂x² = Σ over stencils of 3k × 3k matrices, added up where the same two control points meet

Where those stand does not change: which stencil gives to which block, with attached vertices eliminated, is found once (`StencilMap`).
Damping is semi-implicit (paper 003 §5.1): D = Σ damping · ∂²W/∂x² at the beginning of a step, made positive.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks, add_block_products
from unibody.arrays import distinct
from unibody.coordinates.affine.control_points import ControlPoints
from unibody.coordinates.affine.forces import raise_error_of
from unibody.coordinates.vertices.stencil_map import StencilMap
from unibody.energies.base import EXACT, GRADIENT, PROJECTED, VALUE
from unibody.energies.evaluate import EnergyTables
from unibody.energies.upright import largest_upright_step
from unibody.model import Model
from unibody.model.tables import CallbackErrors
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Potential

HALVINGS = 60
"""Of a way at whose end something is turned inside out."""
DIGITS = 4e-16
"""Of each stencil's value, of what it would be at strains of 1: at small ones most digits cancel."""


class Matter:
    """The energies of all deformables of a model; exceptions of NumPy methods go to `errors`."""

    def __init__(self, points: ControlPoints, errors: CallbackErrors):
        self._points, self._errors = points, errors
        self._tables = EnergyTables([(s, d.first) for d in points.deformables for s in d.stencils], points.count, errors)
        self._map = StencilMap(self._tables.batches, points.first, *points.unknown_points)
        self._damped = any((batch.damping > 0.0).any() for batch in self._tables.batches)

    @cached_property
    def _damping_map(self) -> StencilMap:
        every = np.arange(self._points.first + self._points.count + 1)
        return StencilMap(self._tables.batches, self._points.first, every, every[:-1], np.ones(len(every) - 1))

    def _evaluate(self, y: np.ndarray, ask: int) -> float:
        value = self._tables.evaluate(y, ask)
        if self._errors.error is not None:
            raise_error_of(self._errors)
        return value

    def value(self, y: np.ndarray) -> float:
        """Σ W [J] with vertices at y (3 each, flat)."""
        return self._evaluate(y, VALUE)

    @cached_property
    def scale(self) -> float:
        """Σ tr K r² over the stencils at rest, r from their middles [J]: what they would store at strains of 1. Without those of which no
        vertex is free: what they store is the same at every point of a search, and hides nothing."""
        X = np.concatenate([d.X for d in self._points.deformables])
        self._evaluate(X.ravel(), PROJECTED)
        total = 0.0
        for batch in self._tables.batches:
            x = X[batch.vertices]
            r2 = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=2)
            stored = np.einsum("nii->ni", batch.blocks).reshape(*batch.vertices.shape, 3).sum(axis=2) * r2
            total += float(stored[self._points.moves[batch.vertices].any(axis=1)].sum())
        return total

    def torn(self, y: np.ndarray) -> str | None:
        """The name of a deformable whose energy is not finite; None if all are."""
        for d in self._points.deformables:
            if not np.isfinite(EnergyTables([(s, d.first) for s in d.stencils], self._points.count).evaluate(y)):
                return d.name
        return None

    def upright_step(self, y: np.ndarray, p: np.ndarray, t: float) -> float:
        """The part of p, at most t, along which no tetrahedron is turned inside out that must not be."""
        for batch in self._tables.batches:
            if getattr(batch.energy, "upright", False):
                t = largest_upright_step(batch.vertices, batch.parameters, y, p, t)
        return t

    def gradient(self, y: np.ndarray) -> np.ndarray:
        self._evaluate(y, GRADIENT)
        return self._tables.gradient

    def blocks(self, y: np.ndarray, factor: float, careful: bool) -> NodeBlocks:
        """factor ∂²ΣW/∂x² over the unknown points."""
        self._evaluate(y, PROJECTED if careful else EXACT)
        return self._map.summed(self._tables.batches, [np.full(len(batch.vertices), factor) for batch in self._tables.batches])

    def damping(self, y: np.ndarray) -> NodeBlocks | None:
        """D [N s/m] over all control points; None if nothing is damped."""
        if not self._damped:
            return None
        self._evaluate(y, PROJECTED)
        return self._damping_map.summed(self._tables.batches, [batch.damping for batch in self._tables.batches])


def across_hinges(model: Model, free: np.ndarray) -> np.ndarray:
    """Keys f n + g (f < g) of pairs of free vertices (n, by their numbers among these) of sheets that energies couple though no edge joins
    them: those that bending couples across hinges."""
    number = np.full(sum(d.n for d in model.deformables), -1, np.int64)
    number[free] = np.arange(len(free))
    found = [np.zeros(0, np.int64)]
    for d in model.deformables:
        if d.kind != "cloth":
            continue
        joined = d.faces[:, [(0, 1), (1, 2), (2, 0)]]
        coupled = [s.index[:, np.transpose(np.triu_indices(s.index.shape[1], 1))] for s in d.stencils]
        keys = []
        for pairs in (joined, *coupled):
            a, b = number[d.first + pairs.reshape(-1, 2)].T
            some = (a >= 0) & (b >= 0) & (a != b)
            keys.append(distinct(np.minimum(a, b)[some] * len(free) + np.maximum(a, b)[some]))
        found.append(np.setdiff1d(np.concatenate(keys[1:] or [found[0]]), keys[0]))
    return np.concatenate(found)


def dissipation(D: NodeBlocks | None, speed: np.ndarray) -> float:
    """vᵀ D v [W] of all control points with rates `speed` (flat)."""
    if D is None:
        return 0.0
    pull = np.zeros(speed.size)
    add_block_products(D.rows, D.columns, np.ascontiguousarray(D.blocks).ravel(), speed, pull)
    return float(speed @ pull)


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
        t = self._matter.upright_step(x[self._at :], p[self._at :], t)
        for _ in range(HALVINGS):
            if np.isfinite(self._matter.value(x[self._at :] + t * p[self._at :])):
                return t
            t *= 0.5
        return 0.0

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        y = x[self._at :]
        return DIGITS * self._factor * (self._matter.scale + float(np.abs(self._matter.gradient(y) * y).sum())), 0.0
