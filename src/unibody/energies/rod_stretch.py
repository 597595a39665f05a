"""RodStretch: an edge of a rod as a bar, W = ½ E A L (l/L − 1)², L its length at rest.

    ∂W/∂x₁ = T u,  T = E A (l/L − 1),  u = (x₁ − x₀)/l;    ∂²W = (E A/L) u uᵀ + (T/l)(1 − u uᵀ)

Made positive semidefinite, T/l is cut at 0: only a pull holds an edge straight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, PROJECTED, VALUE, Energy, Stencils
from unibody.energies.principal_stretches import put_pair
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3, norm3, scale3, sub3

__all__ = ["RodStretch"]


@kernel
def add_rod_stretch(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    for e in range(index.size // 2):
        a = 3 * index[2 * e]
        b = 3 * index[2 * e + 1]
        stiffness, length = parameters[2 * e], parameters[2 * e + 1]
        d = sub3(load3(x, b), load3(x, a))
        l = norm3(d)
        value_out[0] += 0.5 * stiffness * (l - length) * (l - length)
        if ask == VALUE:
            continue
        # without length an edge has no direction
        u = scale3(1.0 / l, d) if l > 0.0 else (0.0, 0.0, 0.0)
        pull = stiffness * (l - length)
        for r in range(3):
            gradient_out[a + r] -= pull * u[r]
            gradient_out[b + r] += pull * u[r]
        if ask >= EXACT:
            across = pull / l if l > 0.0 else 0.0
            if ask == PROJECTED:
                across = max(across, 0.0)
            k = stiffness - across
            S = (
                across + k * u[0] * u[0], k * u[0] * u[1], k * u[0] * u[2], k * u[0] * u[1], across + k * u[1] * u[1], k * u[1] * u[2],
                k * u[0] * u[2], k * u[1] * u[2], across + k * u[2] * u[2],
            )  # fmt: skip
            put_pair(S, 1.0, 36 * e, 0, 0, 6, blocks_out)
            put_pair(S, -1.0, 36 * e, 0, 1, 6, blocks_out)
            put_pair(S, 1.0, 36 * e, 1, 1, 6, blocks_out)


@dataclass(frozen=True)
class RodStretch(Energy):
    """`stiffness` E A [N].

    >>> RodStretch(stiffness=100.0).rest(np.array([[[0, 0, 0], [0, 0, 2.0]]])).tolist()  # E A/L and L
    [[50.0, 2.0]]
    """

    stiffness: float

    vertices: ClassVar[int] = 2
    add_kernel = add_rod_stretch

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", number(self.stiffness, "RodStretch stiffness", positive=True))

    def rest(self, X: np.ndarray) -> np.ndarray:
        length = np.linalg.norm(X[:, 1] - X[:, 0], axis=1)
        wrong = np.flatnonzero(~(length > 0.0))
        if wrong.size:
            raise ModelError(f"RodStretch: edge {wrong[0]} has no length at rest; put its two vertices apart")
        return np.stack([self.stiffness / length, length], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        edges = np.asarray(mesh.edges, np.int64)
        return [Stencils(self, edges, self.rest(np.asarray(mesh.vertices, float)[edges]))]

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        return 0.5 * float(parameters[0] * (np.linalg.norm(x[1] - x[0]) - parameters[1]) ** 2)

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        d = x[1] - x[0]
        l = np.linalg.norm(d)
        f = parameters[0] * (l - parameters[1]) * d / l if l > 0.0 else np.zeros(3)
        return np.stack([-f, f])

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        d = x[1] - x[0]
        l = np.linalg.norm(d)
        u = d / l if l > 0.0 else np.zeros(3)
        across = parameters[0] * (l - parameters[1]) / l if l > 0.0 else 0.0
        across = max(across, 0.0) if project else across
        S = across * np.eye(3) + (parameters[0] - across) * np.outer(u, u)
        return np.block([[S, -S], [-S, S]])
