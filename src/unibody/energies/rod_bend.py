"""RodBend: bending of a rod at a vertex, as in discrete elastic rods (Bergou et al. 2008), without twist.

    W = B/2L (κ − κ̄)²,    κ = |κb| = 2 tan(φ/2),    κb = 2 ê × f̂/(1 + c),    c = ê · f̂ = cos φ,    κ² = 4 (1 − c)/(1 + c)

with the edges e = x₁ − x₀, f = x₂ − x₁, the mean L of their lengths at rest, B = E I, and κ̄ at rest; infinite where the rod is folded
back on itself (c = −1). There is no material frame, so a rod that is curved at rest knows how much, not into which direction.

    ∂c/∂e = (f̂ − c ê)/|e|,  ∂²c/∂e² = −(g êᵀ + ê gᵀ + c (1 − ê êᵀ))/|e|²,  g = f̂ − c ê,  ∂²c/∂e∂f = (1 − ê êᵀ)(1 − f̂ f̂ᵀ)/|e||f|

Made positive semidefinite: (B/L) Jᵀ (u uᵀ + max(0, 1 − κ̄/κ)(1 − u uᵀ)) J with J = ∂κb/∂(e, f), u = κb/κ (Gauss and Newton), which is the
exact one at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, PROJECTED, VALUE, Energy, Stencils
from unibody.energies.principal_stretches import clear, put_pair
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_back, cross, dot3, load3, norm3, rotate_back, scale3, sub3

__all__ = ["RodBend"]

STRAIGHT = 1e-9
"""A curvature κ below this has no direction."""


@device
def plus9(S, k, T):
    """S + k T."""
    return (
        S[0] + k * T[0], S[1] + k * T[1], S[2] + k * T[2], S[3] + k * T[3], S[4] + k * T[4], S[5] + k * T[5], S[6] + k * T[6],
        S[7] + k * T[7], S[8] + k * T[8],
    )  # fmt: skip


@device
def flipped9(S):
    return (S[0], S[3], S[6], S[1], S[4], S[7], S[2], S[5], S[8])


@device
def dyad(k, a, b):
    """k a bᵀ."""
    return (
        k * a[0] * b[0], k * a[0] * b[1], k * a[0] * b[2], k * a[1] * b[0], k * a[1] * b[1], k * a[1] * b[2], k * a[2] * b[0],
        k * a[2] * b[1], k * a[2] * b[2],
    )  # fmt: skip


@device
def less_direction(S, d, k):
    """k S (1 − d dᵀ)."""
    n = (S[0] * d[0] + S[1] * d[1] + S[2] * d[2], S[3] * d[0] + S[4] * d[1] + S[5] * d[2], S[6] * d[0] + S[7] * d[1] + S[8] * d[2])
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return plus9(plus9(zero, k, S), -k, dyad(1.0, n, d))


@device
def binormal_slopes(u, v, l, m, plus):
    """J by e and by f, from the directions u, v and lengths l, m of both edges; `plus` is 1 + c."""
    w = 2.0 / plus
    b = cross(u, v)
    h = -0.5 * w * w
    by_u = plus9((0.0, w * v[2], -w * v[1], -w * v[2], 0.0, w * v[0], w * v[1], -w * v[0], 0.0), h, dyad(1.0, b, v))
    by_v = plus9((0.0, -w * u[2], w * u[1], w * u[2], 0.0, -w * u[0], -w * u[1], w * u[0], 0.0), h, dyad(1.0, b, u))
    return (less_direction(by_u, u, 1.0 / l), less_direction(by_v, v, 1.0 / m))


@device
def bend_law(stiffness, rest, minus, plus):
    """W, and its first and second derivative by c; `minus` and `plus` are 1 − c and 1 + c."""
    square = 4.0 * minus / plus
    k1 = -8.0 / (plus * plus)
    k2 = 16.0 / (plus * plus * plus)
    if rest == 0.0:
        return (0.5 * stiffness * square, 0.5 * stiffness * k1, 0.5 * stiffness * k2)
    kappa = sqrt(square)
    beyond = kappa - rest
    kappa = max(kappa, STRAIGHT)
    first = 0.5 * stiffness * (1.0 - rest / kappa)
    second = 0.25 * stiffness * rest / (kappa * kappa * kappa)
    return (0.5 * stiffness * beyond * beyond, first * k1, second * k1 * k1 + first * k2)


@device
def put_edge_blocks(ee, ef, ff, first, blocks_out):
    """The 9 × 9 matrix of three vertices from the derivatives by both edges."""
    fe = flipped9(ef)
    put_pair(ee, 1.0, first, 0, 0, 9, blocks_out)
    put_pair(plus9(ef, -1.0, ee), 1.0, first, 0, 1, 9, blocks_out)
    put_pair(ef, -1.0, first, 0, 2, 9, blocks_out)
    put_pair(plus9(plus9(plus9(ee, -1.0, ef), -1.0, fe), 1.0, ff), 1.0, first, 1, 1, 9, blocks_out)
    put_pair(plus9(ef, -1.0, ff), 1.0, first, 1, 2, 9, blocks_out)
    put_pair(ff, 1.0, first, 2, 2, 9, blocks_out)


@kernel
def add_rod_bend(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    for s in range(index.size // 3):
        a, b, d = 3 * index[3 * s], 3 * index[3 * s + 1], 3 * index[3 * s + 2]
        stiffness, rest = parameters[2 * s], parameters[2 * s + 1]
        e = sub3(load3(x, b), load3(x, a))
        f = sub3(load3(x, d), load3(x, b))
        l, m = norm3(e), norm3(f)
        if ask >= EXACT:
            clear(81 * s, 81, blocks_out)
        if l == 0.0 or m == 0.0:
            value_out[0] += inf
            continue
        # directions; 1 − c and 1 + c without cancellation
        u, v = scale3(1.0 / l, e), scale3(1.0 / m, f)
        apart, along = sub3(u, v), add3(u, v)
        minus, plus = 0.5 * dot3(apart, apart), 0.5 * dot3(along, along)
        if plus <= 0.0:
            value_out[0] += inf
            continue
        value, first, second = bend_law(stiffness, rest, minus, plus)
        value_out[0] += value
        if ask == VALUE:
            continue
        c = 1.0 - minus
        ge, gf = scale3(1.0 / l, sub3(v, scale3(c, u))), scale3(1.0 / m, sub3(u, scale3(c, v)))
        for r in range(3):
            gradient_out[a + r] -= first * ge[r]
            gradient_out[b + r] += first * (ge[r] - gf[r])
            gradient_out[d + r] += first * gf[r]
        # exact: W″ ∂c ∂cᵀ + W′ ∂²c
        if ask == EXACT:
            one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
            zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            Pu, Pv = plus9(one, -1.0, dyad(1.0, u, u)), plus9(one, -1.0, dyad(1.0, v, v))
            ee = plus9(plus9(dyad(-1.0 / l, ge, u), 1.0, dyad(-1.0 / l, u, ge)), -c / (l * l), Pu)
            ff = plus9(plus9(dyad(-1.0 / m, gf, v), 1.0, dyad(-1.0 / m, v, gf)), -c / (m * m), Pv)
            ef = plus9(zero, 1.0 / (l * m), compose_back(Pu, Pv))
            ee = plus9(dyad(second, ge, ge), first, ee)
            ef = plus9(dyad(second, ge, gf), first, ef)
            ff = plus9(dyad(second, gf, gf), first, ff)
            put_edge_blocks(ee, ef, ff, 81 * s, blocks_out)
        # positive: Gauss and Newton's
        if ask == PROJECTED:
            Je, Jf = binormal_slopes(u, v, l, m, plus)
            kappa = 2.0 * sqrt(minus / plus)
            free = stiffness if rest == 0.0 else stiffness * max(0.0, 1.0 - rest / max(kappa, STRAIGHT))
            zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            ee = plus9(zero, free, compose_back(Je, Je))
            ef = plus9(zero, free, compose_back(Je, Jf))
            ff = plus9(zero, free, compose_back(Jf, Jf))
            if rest > 0.0 and kappa > STRAIGHT:
                n = scale3(2.0 / (plus * kappa), cross(u, v))
                je, jf = rotate_back(Je, n), rotate_back(Jf, n)
                k = stiffness - free
                ee, ef, ff = plus9(ee, k, dyad(1.0, je, je)), plus9(ef, k, dyad(1.0, je, jf)), plus9(ff, k, dyad(1.0, jf, jf))
            put_edge_blocks(ee, ef, ff, 81 * s, blocks_out)


@dataclass(frozen=True)
class RodBend(Energy):
    """`rigidity` B = E I [N m²]; of a round rod of radius r, E π r⁴/4.

    >>> RodBend(rigidity=2.0).rest(np.array([[[0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]])).tolist()  # B/L and κ̄
    [[2.0, 0.0]]
    """

    rigidity: float

    vertices: ClassVar[int] = 3
    add_kernel = add_rod_bend

    def __post_init__(self) -> None:
        object.__setattr__(self, "rigidity", number(self.rigidity, "RodBend rigidity", positive=True))

    def rest(self, X: np.ndarray) -> np.ndarray:
        e, f = X[:, 1] - X[:, 0], X[:, 2] - X[:, 1]
        l, m = np.linalg.norm(e, axis=1), np.linalg.norm(f, axis=1)
        wrong = np.flatnonzero(~((l > 0.0) & (m > 0.0)))
        if wrong.size:
            raise ModelError(f"RodBend: bend {wrong[0]} has an edge without length at rest; put its vertices apart")
        u, v = e / l[:, None], f / m[:, None]
        minus, plus = (0.5 * np.sum((u + k * v) ** 2, axis=1) for k in (-1.0, 1.0))
        folded = np.flatnonzero(~(plus > 0.0))
        if folded.size:
            raise ModelError(f"RodBend: the rod is folded back on itself at bend {folded[0]}; round the corner")
        kappa = 2.0 * np.sqrt(minus / plus)
        return np.stack([self.rigidity / (0.5 * (l + m)), np.where(kappa > STRAIGHT, kappa, 0.0)], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        edges = np.asarray(mesh.edges, np.int64)
        following = np.roll(edges, -1, axis=0) if getattr(mesh, "closed", False) else edges[1:]
        before = edges if getattr(mesh, "closed", False) else edges[:-1]
        gap = np.flatnonzero(before[:, 1] != following[:, 0])
        if gap.size:
            k = gap[0]
            raise ModelError(f"RodBend: edge {k} ends at vertex {before[k, 1]}, the next begins at {following[k, 0]}; give edges in order")
        index = np.concatenate([before, following[:, 1:]], axis=1)
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices, float)[index]))]

    def _frame(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float, float, float]:
        """ê, f̂, |e|, |f|, 1 − c, 1 + c; the last is 0 where an edge has no length."""
        e, f = x[1] - x[0], x[2] - x[1]
        l, m = float(np.linalg.norm(e)), float(np.linalg.norm(f))
        if l == 0.0 or m == 0.0:
            return e, f, l, m, 2.0, 0.0
        u, v = e / l, f / m
        return u, v, l, m, 0.5 * float(np.sum((u - v) ** 2)), 0.5 * float(np.sum((u + v) ** 2))

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        minus, plus = self._frame(x)[4:]
        if plus <= 0.0:
            return np.inf
        return 0.5 * float(parameters[0]) * (2.0 * np.sqrt(minus / plus) - float(parameters[1])) ** 2

    def _slopes(self, parameters: np.ndarray, x: np.ndarray) -> tuple[float, float, np.ndarray]:
        """W′ and W″ by c, and ∂c by e and f (6)."""
        u, v, l, m, minus, plus = self._frame(x)
        (K, rest), c = parameters, 1.0 - minus
        kappa = max(2.0 * np.sqrt(minus / plus), STRAIGHT)
        k1, k2 = -8.0 / plus**2, 16.0 / plus**3
        first, second = 0.5 * K * (1.0 - rest / kappa), 0.25 * K * rest / kappa**3
        return first * k1, second * k1**2 + first * k2, np.concatenate([(v - c * u) / l, (u - c * v) / m])

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        first, _, slope = self._slopes(parameters, x)
        return (first * EDGES.T @ slope).reshape(3, 3)

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        u, v, l, m, minus, plus = self._frame(x)
        if project:
            K, rest = parameters
            w, b, kappa = 2.0 / plus, np.cross(u, v), 2.0 * np.sqrt(minus / plus)
            by_u = w * np.cross(np.eye(3), v).T - 0.5 * w**2 * np.outer(b, v)
            by_v = w * np.cross(u, np.eye(3)).T - 0.5 * w**2 * np.outer(b, u)
            J = np.concatenate([by_u @ (np.eye(3) - np.outer(u, u)) / l, by_v @ (np.eye(3) - np.outer(v, v)) / m], axis=1) @ EDGES
            free = 1.0 if rest == 0.0 else max(0.0, 1.0 - rest / max(kappa, STRAIGHT))
            n = w * b / kappa if kappa > STRAIGHT and rest > 0.0 else np.zeros(3)
            return K * J.T @ (free * np.eye(3) + (1.0 - free) * np.outer(n, n)) @ J
        first, second, slope = self._slopes(parameters, x)
        c, (ge, gf) = 1.0 - minus, slope.reshape(2, 3)
        Pu, Pv = np.eye(3) - np.outer(u, u), np.eye(3) - np.outer(v, v)
        ee = -(np.outer(ge, u) + np.outer(u, ge)) / l - c * Pu / l**2
        ff = -(np.outer(gf, v) + np.outer(v, gf)) / m - c * Pv / m**2
        ef = Pu @ Pv / (l * m)
        return EDGES.T @ (second * np.outer(slope, slope) + first * np.block([[ee, ef], [ef.T, ff]])) @ EDGES


EDGES = np.kron(np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]), np.eye(3))
"""Edges from positions."""
