"""HingeBending: bending as other codes have it, from one angle an edge: W = k (θ − θ̄)² 3 l²/(A₁ + A₂), k = E t³/24(1 − ν²).

That is codimensional IPC's (Li et al. 2021, after Grinspun et al., "Discrete shells", 2003), there to repeat scenes that were made with it:
against plate theory it is 3 times too stiff on grids, and up to 9 times by the direction of bending; `ShellBending` is right.
Made positive semidefinite, 2k … ∂θ ∂θᵀ stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, VALUE, Energy, Stencils
from unibody.energies.hinge import (
    add_hinge_curvature,
    angle_gradient,
    angle_hessian,
    angles,
    hinge_angle,
    hinge_frame,
    hinge_gradients,
)  # fmt: skip
from unibody.energies.shell_patches import HINGES, neighbours
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import store3

__all__ = ["HingeBending"]


@kernel
def add_hinge_bending(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    J = np.zeros(12)
    for e in range(index.size // 4):
        stiffness = parameters[2 * e]
        frame = hinge_frame(x, 3 * index[4 * e], 3 * index[4 * e + 1], 3 * index[4 * e + 2], 3 * index[4 * e + 3])
        t = hinge_angle(frame) - parameters[2 * e + 1]
        value_out[0] += 0.5 * stiffness * t * t
        if ask == VALUE:
            continue
        to_a, to_b, to_p, to_q = hinge_gradients(frame)
        store3(to_a, 0, J)
        store3(to_b, 3, J)
        store3(to_p, 6, J)
        store3(to_q, 9, J)
        for i in range(4):
            node = 3 * index[4 * e + i]
            for r in range(3):
                gradient_out[node + r] += stiffness * t * J[3 * i + r]
        if ask >= EXACT:
            for r in range(12):
                g = stiffness * J[r]
                for c in range(12):
                    blocks_out[144 * e + 12 * r + c] = g * J[c]
            if ask == EXACT:
                add_hinge_curvature(stiffness * t, frame, 144 * e, 0, 1, 2, 3, 12, blocks_out)


@dataclass(frozen=True)
class HingeBending(Energy):
    """`stiffness` k = E t³/24(1 − ν²) [N m]; vertices of a stencil: the edge's two, then those opposite it.

    >>> HingeBending(stiffness=1e-4).stiffness
    0.0001
    """

    stiffness: float

    vertices: ClassVar[int] = 4
    add_kernel = add_hinge_bending

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", number(self.stiffness, "HingeBending stiffness", positive=True))

    def rest(self, X: np.ndarray) -> np.ndarray:
        e0 = X[:, 1] - X[:, 0]
        area = sum(0.5 * np.linalg.norm(np.cross(e0, X[:, k] - X[:, 0]), axis=1) for k in (2, 3))
        square = np.sum(e0 * e0, axis=1)
        wrong = np.flatnonzero(~(area > 1e-9 * square))
        if wrong.size:
            raise ModelError(f"HingeBending: hinge {wrong[0]} has triangles without area at rest; mend the mesh")
        return np.stack([6.0 * self.stiffness * square / area, angles(X)], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        faces = np.asarray(mesh.faces, np.int64)
        across, beside = neighbours(faces)
        # each edge once: from the triangle of lower number
        t, i = np.nonzero(beside > np.arange(len(faces))[:, None])
        index = np.concatenate([faces, across], axis=1)[t[:, None], HINGES[i]]
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices, float)[index]))]

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        return 0.5 * float(parameters[0] * (angles(x) - parameters[1]) ** 2)

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        return parameters[0] * (angles(x) - parameters[1]) * angle_gradient(x)

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        g = angle_gradient(x).ravel()
        H = parameters[0] * np.outer(g, g)
        return H if project else H + parameters[0] * (angles(x) - parameters[1]) * angle_hessian(x)
