"""Matter whose energy is a density of the deformation gradient, integrated at points of a stencil:

    F = Σ x_i g_iᵀ,    W = Σ w ψ(F),    ∂W/∂x_i = Σ w P g_i,    ∂²W/∂x_i∂x_j = Σ w gᵢ · (∂P/∂F) · g_j,    P = ∂ψ/∂F,

with gradients g_i of the shape functions at rest and w the volume (or area times thickness) of a point. Made positive semidefinite, ∂P/∂F
loses its negative eigenvalues, point by point.
"""

from __future__ import annotations

import numpy as np

from unibody.energies.base import Energy

Points = list[tuple[np.ndarray, float]]
"""For each point the gradients g (k, d) and w."""


class Continuum(Energy):
    """Base of energies that are a density of F: what a class gives is `density`, `stress`, `tangent` and where its points are."""

    def points(self, parameters: np.ndarray) -> Points:
        """Gradients of the shape functions and w at the points of a stencil."""
        raise NotImplementedError(f"{type(self).__name__} must give points(parameters)")

    def density(self, F: np.ndarray) -> float:
        """ψ(F) [J/m³], infinite where F is not allowed."""
        raise NotImplementedError(f"{type(self).__name__} must give density(F)")

    def stress(self, F: np.ndarray) -> np.ndarray:
        """P = ∂ψ/∂F [Pa], of F's shape."""
        raise NotImplementedError(f"{type(self).__name__} must give stress(F)")

    def tangent(self, F: np.ndarray) -> np.ndarray:
        """∂P/∂F [Pa], a matrix over the numbers of F by rows."""
        raise NotImplementedError(f"{type(self).__name__} must give tangent(F)")

    def positive_tangent(self, F: np.ndarray) -> np.ndarray:
        """∂P/∂F without its negative eigenvalues."""
        D = self.tangent(F)
        values, axes = np.linalg.eigh(0.5 * (D + D.T))
        return D if values[0] >= 0.0 else (axes * np.maximum(values, 0.0)) @ axes.T

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        return float(sum(w * self.density(x.T @ g) for g, w in self.points(parameters)))

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        return sum((w * g @ self.stress(x.T @ g).T for g, w in self.points(parameters)), np.zeros(x.shape))

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        out = np.zeros((x.size, x.size))
        for g, w in self.points(parameters):
            F = x.T @ g
            D = self.positive_tangent(F) if project else self.tangent(F)
            d = g.shape[1]
            out += w * np.einsum("ib,abcd,jd->iajc", g, D.reshape(3, d, 3, d), g).reshape(out.shape)
        return out
