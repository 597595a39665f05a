"""What vertices have by themselves in a step: inertia against their prediction, and weight (paper 003, Eq. 1).

    ½ (x − x̃)ᵀ M (x − x̃) − β h² m g · (x − x̃),        m the sums of the rows of M; lumped masses are its diagonal

What is between vertices that are known beforehand is left out; x̃ of these is x − β h² ẍ at the end of the step, so that they pull on
their neighbours as their acceleration asks. Attached ones count where they are, and so move the bodies that carry them. Forces f that are
constant over a step act on control points:  − β h² f · x (`LoadPotential`).
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Potential

DIGITS = 2e-16
"""Of coordinates."""


class VertexPotential(Potential):
    """Of all vertices, with x̃ (all control points, flat) of a step."""

    with_vertices = True

    def __init__(self, system: AffineSystem, predicted: np.ndarray, factor: float):
        assert system.vertices is not None
        self._vertices = system.vertices
        self._weight = self._vertices.moving_mass[:, None] * factor * system.model.gravity
        self._predicted = self._vertices.of(predicted)

    def _off(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x − x̃, and M times it."""
        off = self._vertices.of(x) - self._predicted
        return off, self._vertices.moving_momenta(off)

    def value(self, x: np.ndarray) -> float:
        off, momenta = self._off(x)
        return float((off * (0.5 * momenta - self._weight)).sum())

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        self._vertices.of(gradient_out)[:] += self._off(x)[1] - self._weight

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        return self._vertices.inertia_blocks

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        force = np.abs(self._off(x)[1]) + np.abs(self._weight)
        return DIGITS * float((force * np.abs(self._vertices.of(x))).sum()), 0.0


class LoadPotential(Potential):
    """Of f over all control points (flat), which others know as forces without an energy."""

    with_vertices, whole = True, False

    def __init__(self, loads: np.ndarray, factor: float):
        self._loads = factor * loads

    def value(self, x: np.ndarray) -> float:
        return -float(self._loads @ x)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        gradient_out -= self._loads

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        return NodeBlocks.joined([])

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        return DIGITS * float((np.abs(self._loads) * np.abs(x)).sum()), 0.0
