"""What vertices have by themselves in a step: inertia against their prediction, and weight (paper 003, Eq. 1), with lumped masses.

    Σ ½ m |x − x̃|² − β h² (m g + f) · (x − x̃)

Vertices that are known beforehand are left out; attached ones count where they are, and so move the bodies that carry them.
f are forces that are constant over the step, on control points.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Potential

DIGITS = 2e-16
"""Of coordinates."""


class VertexPotential(Potential):
    """Of all vertices, with x̃ (all control points, flat) of a step, and f alike, or empty."""

    with_vertices, whole = True, False

    def __init__(self, system: AffineSystem, predicted: np.ndarray, factor: float, loads: np.ndarray):
        assert system.vertices is not None
        v = system.vertices
        self._vertices = v
        self._mass = v.moving_mass[:, None]
        self._predicted, self._pull = v.of(predicted), factor * system.model.gravity
        self._loads, self._from = factor * loads, predicted
        at = v.first + np.flatnonzero(v.moves)
        self._blocks = v.reduced(NodeBlocks(at, at, self._mass[v.moves][:, :, None] * np.eye(3)))

    def _off(self, x: np.ndarray) -> np.ndarray:
        return self._vertices.of(x) - self._predicted

    def value(self, x: np.ndarray) -> float:
        off = self._off(x)
        work = float(self._loads @ (x - self._from)) if len(self._loads) else 0.0
        return float((self._mass * off * (0.5 * off - self._pull)).sum()) - work

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        self._vertices.of(gradient_out)[:] += self._mass * (self._off(x) - self._pull)
        if len(self._loads):
            gradient_out -= self._loads

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        return self._blocks

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        force = self._mass * (np.abs(self._off(x)) + np.abs(self._pull))
        return DIGITS * float((force * np.abs(self._vertices.of(x))).sum()), 0.0
