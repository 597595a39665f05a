"""What an energy is: a function W(x₁ … x_k) [J] of the positions of k vertices, one stencil; it does not change when all move rigidly.

    value W,     gradient ∂W/∂xᵢ (k × 3),     Hessian ∂²W/∂xᵢ∂xⱼ (3k × 3k), projected on request to what is positive semidefinite

A class gives NumPy methods; one with an `add_kernel` of the signature `AddEnergy` also runs at compiled speed. What depends on the rest
shape of a stencil (its volume, the gradients of its shape functions, angles at rest) and the material's constants are worked out once, by
`rest`, and handed to value, gradient and Hessian as a row of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.kernel import Floats, Ints, Kernel, prototype

__all__ = ["Energy"]

VALUE, GRADIENT, EXACT, PROJECTED = range(4)
"""How much is asked of a kernel: W; and ∂W/∂x; and ∂²W/∂x² as it is; or made positive semidefinite, stencil by stencil."""


@prototype
def AddEnergy(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """The energies of all stencils of a class.

    `index`: k vertices a stencil; `parameters`: one row a stencil, of `rest`; `x`: 3 a vertex. `value_out[0]` += Σ W, infinite where a
    stencil is not allowed to be (a solid turned inside out; what else is asked for there means nothing). Where asked for: `gradient_out`
    (3 a vertex) += ∂W/∂x; `blocks_out` (9 k² a stencil, a matrix by rows, both halves) = ∂²W/∂x² of each stencil.
    """


@dataclass(frozen=True)
class Stencils:
    """Stencils of one energy on a deformable: which vertices, and the row of parameters of each."""

    energy: Energy
    index: np.ndarray
    """(n, k) vertices, numbered within the deformable. One may be repeated in a stencil that does not depend on it in that place."""
    parameters: np.ndarray
    """(n, m)"""
    damping: float = 0.0
    """[s] Rayleigh's: damping forces are −damping · ∂²W/∂x² v."""


class Energy:
    """Base of all energies. Subclasses are frozen dataclasses of material constants."""

    vertices: ClassVar[int]
    """k, of a stencil."""
    add_kernel: ClassVar[Kernel | None] = None

    def rest(self, X: np.ndarray) -> np.ndarray:
        """(n, m) parameters of stencils whose vertices are at rest at X (n, k, 3); those without size are refused by number."""
        raise NotImplementedError(f"{type(self).__name__} must give rest(X)")

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        """W [J] of one stencil with vertices at x (k, 3)."""
        raise NotImplementedError(f"{type(self).__name__} must give value(parameters, x)")

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(k, 3) ∂W/∂x [N]."""
        raise NotImplementedError(f"{type(self).__name__} must give gradient(parameters, x)")

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        """(3k, 3k) ∂²W/∂x² [N/m], made positive semidefinite if asked to."""
        raise NotImplementedError(f"{type(self).__name__} must give hessian(parameters, x, project)")

    def stencils(self, mesh: Any) -> Sequence[Stencils]:
        """Its stencils on a mesh: a material of several energies gives those of each."""
        raise NotImplementedError(f"{type(self).__name__} must give stencils(mesh)")
