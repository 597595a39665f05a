"""RodDirector: what keeps the director of a rod's edge where it belongs, beside the middle of the edge, at its distance at rest.

    W = k/2 (a² + (|p| − R)²),    p = d − (x₀ + x₁)/2,  a = ê · p

It leaves the director free to turn about the edge, and is 0 wherever the edge is: it takes part in no equilibrium of the rod, and only says
how quickly a director follows. k = G J/(L R²), so that it is as stiff as twist is.

    ∂a/∂p = t,  ∂a/∂e = u/l,  ∂²a/∂p∂e = N/l,  ∂²a/∂e² = −(u tᵀ + t uᵀ + a N)/l²;    t = ê, u = p − a t, N = 1 − t tᵀ

Made positive semidefinite: k (∂a ∂aᵀ + p̂ p̂ᵀ), and across p what is not below 0 (Gauss and Newton).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, PROJECTED, VALUE, Energy, Stencils
from unibody.energies.rod_bend import dyad, flipped9, plus9
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, dot3, load3, norm3, scale3, sub3

__all__ = ["RodDirector"]


@device
def put_block(S, row, column, first, blocks_out):
    for i in range(3):
        for j in range(3):
            blocks_out[first + 9 * (3 * row + i) + 3 * column + j] = S[3 * i + j]


@kernel
def add_rod_director(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for n in range(index.size // 3):
        at, to, end = 3 * index[3 * n], 3 * index[3 * n + 1], 3 * index[3 * n + 2]
        k, R = parameters[2 * n], parameters[2 * n + 1]
        # edge e with its direction t, and from its middle the way p to the director; W = k (a² + (d − R)²) / 2, a = t · p, d = |p|
        e = sub3(load3(x, to), load3(x, at))
        p = sub3(load3(x, end), scale3(0.5, add3(load3(x, to), load3(x, at))))
        l, d = norm3(e), norm3(p)
        if l == 0.0 or d == 0.0:
            value_out[0] += inf
            continue
        t, w = scale3(1.0 / l, e), scale3(1.0 / d, p)
        a = dot3(t, p)
        value_out[0] += 0.5 * k * (a * a + (d - R) * (d - R))
        if ask == VALUE:
            continue
        # ∂W/∂e = k a u / l with u = p − a t, and ∂W/∂p = k (a t + (d − R) w)
        u = sub3(p, scale3(a, t))
        ge = scale3(k * a / l, u)
        gp = add3(scale3(k * a, t), scale3(k * (d - R), w))
        for r in range(3):
            gradient_out[at + r] -= ge[r] + 0.5 * gp[r]
            gradient_out[to + r] += ge[r] - 0.5 * gp[r]
            gradient_out[end + r] += gp[r]
        if ask >= EXACT:
            # second derivatives by p and e; what may be negative is left out where they are projected
            across = 1.0 - R / d
            if ask == PROJECTED:
                across = max(across, 0.0)
            pp = plus9(plus9(dyad(k, t, t), k * across, one), 1.0, dyad(k * (1.0 - across), w, w))
            pe = dyad(k / l, t, u)
            ee = dyad(k / (l * l), u, u)
            if ask == EXACT:
                N = plus9(one, -1.0, dyad(1.0, t, t))
                pe = plus9(pe, k * a / l, N)
                bent = plus9(plus9(dyad(1.0, u, t), 1.0, dyad(1.0, t, u)), a, N)
                ee = plus9(ee, -k * a / (l * l), bent)
            # e = x₁ − x₀, p = d − (x₀ + x₁)/2
            ep = flipped9(pe)
            both, quarter = plus9(pe, 1.0, ep), plus9(ee, 0.25, pp)
            put_block(plus9(quarter, 0.5, both), 0, 0, 81 * n, blocks_out)
            put_block(plus9(quarter, -0.5, both), 1, 1, 81 * n, blocks_out)
            apart = plus9(plus9(plus9(zero, -1.0, ee), 0.25, pp), 0.5, plus9(ep, -1.0, pe))
            put_block(apart, 0, 1, 81 * n, blocks_out)
            put_block(flipped9(apart), 1, 0, 81 * n, blocks_out)
            left, right = plus9(plus9(zero, -1.0, ep), -0.5, pp), plus9(ep, -0.5, pp)
            put_block(left, 0, 2, 81 * n, blocks_out)
            put_block(flipped9(left), 2, 0, 81 * n, blocks_out)
            put_block(right, 1, 2, 81 * n, blocks_out)
            put_block(flipped9(right), 2, 1, 81 * n, blocks_out)
            put_block(pp, 2, 2, 81 * n, blocks_out)


@dataclass(frozen=True)
class RodDirector(Energy):
    """`torsion` G J [N m²] of the rod, from which its stiffness follows."""

    torsion: float

    vertices: ClassVar[int] = 3
    add_kernel = add_rod_director

    def __post_init__(self) -> None:
        object.__setattr__(self, "torsion", number(self.torsion, "RodDirector torsion", positive=True))

    def rest(self, X: np.ndarray) -> np.ndarray:
        length = np.linalg.norm(X[:, 1] - X[:, 0], axis=1)
        R = np.linalg.norm(X[:, 2] - 0.5 * (X[:, 0] + X[:, 1]), axis=1)
        wrong = np.flatnonzero(~((length > 0.0) & (R > 0.0)))
        if wrong.size:
            raise ModelError(f"RodDirector: edge {wrong[0]} has no length at rest, or its director none; put the three vertices apart")
        return np.stack([self.torsion / (length * R * R), R], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        if not getattr(mesh, "directors", False):
            raise ModelError("RodDirector: the rod has no directors; give RodMesh(…).framed()")
        edges = np.asarray(mesh.edges, np.int64)
        index = np.concatenate([edges, mesh.points + np.arange(len(edges))[:, None]], axis=1)
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices, float)[index]))]

    def _terms(self, x: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, float]:
        """t, l, p, a."""
        e, p = x[1] - x[0], x[2] - 0.5 * (x[0] + x[1])
        l = float(np.linalg.norm(e))
        t = e / l if l > 0.0 else e
        return t, l, p, float(t @ p)

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        _, l, p, a = self._terms(x)
        d = float(np.linalg.norm(p))
        return 0.5 * float(parameters[0]) * (a * a + (d - float(parameters[1])) ** 2) if l > 0.0 and d > 0.0 else np.inf

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        t, l, p, a = self._terms(x)
        d = np.linalg.norm(p)
        slopes = np.concatenate([a * (p - a * t) / l, a * t + (d - parameters[1]) * p / d])
        return (parameters[0] * SPREAD.T @ slopes).reshape(3, 3)

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        t, l, p, a = self._terms(x)
        d, u, N = float(np.linalg.norm(p)), p - a * t, np.eye(3) - np.outer(t, t)
        w, g = p / d, np.concatenate([u / l, t])
        across = 1.0 - parameters[1] / d
        across = max(across, 0.0) if project else across
        H = np.outer(g, g)
        H[3:, 3:] += across * np.eye(3) + (1.0 - across) * np.outer(w, w)
        if not project:
            H[:3, 3:] += a * N / l
            H[3:, :3] += a * N / l
            H[:3, :3] -= a * (np.outer(u, t) + np.outer(t, u) + a * N) / l**2
        return parameters[0] * SPREAD.T @ H @ SPREAD


SPREAD = np.kron(np.array([[-1.0, 1.0, 0.0], [-0.5, -0.5, 1.0]]), np.eye(3))
"""(6, 9) e and p of three vertices."""
