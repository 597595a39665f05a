"""ShellBending: a sheet that resists bending as a plate does, whatever the mesh: Kirchhoff's energy of the curvatures of each triangle.

    W = ½ (θ − θ̄)ᵀ M (θ − θ̄)    a triangle, with the angles θ at its three hinges, θ̄ at rest, and M of `shell_patches`
    ∂W = Σ m_i ∂θ_i,  m = M (θ − θ̄);    ∂²W = Σ M_ij ∂θ_i ∂θ_jᵀ + Σ m_i ∂²θ_i

A stencil is a triangle v₀ v₁ v₂ and the vertices w₀ w₁ w₂ across its edges; w_i = v_i where there is none (nothing depends on it then).
Made positive semidefinite, only the first sum stays: the second changes sign with every direction, and is 0 at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, VALUE, Energy, Stencils
from unibody.energies.elastic_constants import poisson_ratio
from unibody.energies.hinge import (
    add_hinge_curvature,
    angle_gradient,
    angle_hessian,
    angles,
    hinge_angle,
    hinge_frame,
    hinge_gradients,
)  # fmt: skip
from unibody.energies.shell_patches import HINGES, bending_forms, neighbours
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import store3

__all__ = ["ShellBending"]

ROW = 9


@device
def patch_frame(index, x, e, i):
    """The frame of hinge i of patch e."""
    a, b = (i + 1) % 3, (i + 2) % 3
    return hinge_frame(x, 3 * index[6 * e + a], 3 * index[6 * e + b], 3 * index[6 * e + i], 3 * index[6 * e + 3 + i])


@device
def row_times(parameters, at, i, a, b, c):
    """Row i of M (00, 01, 02, 11, 12, 22) times (a, b, c)."""
    if i == 0:
        return parameters[at] * a + parameters[at + 1] * b + parameters[at + 2] * c
    if i == 1:
        return parameters[at + 1] * a + parameters[at + 3] * b + parameters[at + 4] * c
    return parameters[at + 2] * a + parameters[at + 4] * b + parameters[at + 5] * c


@kernel
def add_shell_bending(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    J = np.zeros(54)
    K = np.zeros(54)
    t = np.zeros(3)
    m = np.zeros(3)
    for e in range(index.size // 6):
        at = ROW * e
        # angles beyond those at rest, their moments m = M t, and W = ½ t · m
        for i in range(3):
            t[i] = hinge_angle(patch_frame(index, x, e, i)) - parameters[at + 6 + i]
        for i in range(3):
            m[i] = row_times(parameters, at, i, t[0], t[1], t[2])
            value_out[0] += 0.5 * t[i] * m[i]
        if ask == VALUE:
            continue
        # ∂θ_i by vertices v₀ v₁ v₂ w₀ w₁ w₂, a row of J each
        for i in range(3):
            to_a, to_b, to_p, to_q = hinge_gradients(patch_frame(index, x, e, i))
            store3(to_a, 18 * i + 3 * ((i + 1) % 3), J)
            store3(to_b, 18 * i + 3 * ((i + 2) % 3), J)
            store3(to_p, 18 * i + 3 * i, J)
            store3(to_q, 18 * i + 9 + 3 * i, J)
        for i in range(6):
            node = 3 * index[6 * e + i]
            for r in range(3):
                k = 3 * i + r
                gradient_out[node + r] += m[0] * J[k] + m[1] * J[18 + k] + m[2] * J[36 + k]
        # Jᵀ M J, both halves
        if ask >= EXACT:
            first = 324 * e
            for i in range(3):
                for k in range(18):
                    K[18 * i + k] = row_times(parameters, at, i, J[k], J[18 + k], J[36 + k])
            for r in range(18):
                row = first + 18 * r
                for c in range(18):
                    blocks_out[row + c] = J[r] * K[c] + J[18 + r] * K[18 + c] + J[36 + r] * K[36 + c]
            if ask == EXACT:
                for i in range(3):
                    frame = patch_frame(index, x, e, i)
                    add_hinge_curvature(m[i], frame, first, (i + 1) % 3, (i + 2) % 3, i, 3 + i, 18, blocks_out)


@dataclass(frozen=True)
class ShellBending(Energy):
    """`rigidity` D = E t³/12(1 − ν²) [N m] and `poisson` of a plate.

    >>> ShellBending(rigidity=1e-4, poisson=0.3).rigidity
    0.0001
    """

    rigidity: float
    poisson: float

    vertices: ClassVar[int] = 6
    add_kernel = add_shell_bending

    def __post_init__(self) -> None:
        object.__setattr__(self, "rigidity", number(self.rigidity, "ShellBending rigidity", positive=True))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, "ShellBending", 1.0))

    def rest(self, X: np.ndarray) -> np.ndarray:
        return self._rows(X, None)

    def _rows(self, X: np.ndarray, beside: np.ndarray | None) -> np.ndarray:
        M = self.rigidity * bending_forms(X, self.poisson, beside)
        upper = M[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        return np.concatenate([upper, angles(X[:, HINGES])], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        faces = np.asarray(mesh.faces, np.int64)
        across, beside = neighbours(faces)
        index = np.concatenate([faces, across], axis=1)
        rows = self._rows(np.asarray(mesh.vertices, float)[index], beside)
        there = (across != faces).any(axis=1)
        return [Stencils(self, index[there], rows[there])]

    def _form(self, parameters: np.ndarray) -> np.ndarray:
        a, b, c, d, e, f = parameters[:6]
        return np.array([[a, b, c], [b, d, e], [c, e, f]])

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        t = angles(x[HINGES]) - parameters[6:]
        return 0.5 * float(t @ self._form(parameters) @ t)

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        """(3, 18) ∂θ/∂x."""
        J = np.zeros((3, 6, 3))
        for i, hinge in enumerate(HINGES):
            J[i, hinge] = angle_gradient(x[hinge])
        return J.reshape(3, 18)

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        m = self._form(parameters) @ (angles(x[HINGES]) - parameters[6:])
        return (m @ self._slopes(x)).reshape(6, 3)

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        M, J = self._form(parameters), self._slopes(x)
        H = J.T @ M @ J
        if not project:
            m = M @ (angles(x[HINGES]) - parameters[6:])
            for i, hinge in enumerate(HINGES):
                places = (3 * hinge[:, None] + np.arange(3)).ravel()
                H[np.ix_(places, places)] += m[i] * angle_hessian(x[hinge])
        return H
