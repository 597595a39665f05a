"""RodTwist: twist of a rod at a vertex, of material frames as in discrete elastic rods (Bergou et al. 2008, 2010).

    W = G J/2L y²,    y = 2 tan((m − m̄)/2),    m the angle about f̂ from P u_e to u_f

with the edges e = x₁ − x₀, f = x₂ − x₁, the mean L of their lengths at rest, and m̄ at rest. u_e is what of p = d_e − (x₀ + x₁)/2 is across
e, d_e a point that goes with the edge (its director); u_f alike of q; P is parallel transport from ê to f̂. Like bending, y is the angle to
second order, and infinite at half a turn: no twist is lost by jumping one. With t = ê, l = |e|, c = ê · f̂, κb = 2 ê × f̂/(1 + c), and for
each edge a = t · p, τ = t × p, s = |τ|²

    ∂m/∂p = −τ/s,   ∂m/∂q = τ_f/s_f,   ∂m/∂e = κb/2l + a τ/s l,   ∂m/∂f = κb/2l_f − a_f τ_f/s_f l_f

The first terms are what transport does (its holonomy), the others what directors do. Second derivatives are those of these four.

Made positive semidefinite: W″ ∂m ∂mᵀ (Gauss and Newton), the exact one at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, inf, sin, sqrt
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, VALUE, Energy, Stencils
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3, sub3
from unibody.spatial.rod_frames import twists

__all__ = ["RodTwist"]

HALF = 1e-12
"""1 + cos of a twist below it is half a turn."""
ROW = 2
"""Numbers of a stencil: G J/L and m̄."""
E, F, P, Q = 0, 3, 6, 9
"""Where edges and directors stand among the twelve numbers that m depends on."""


@device
def middle3(a, b):
    return scale3(0.5, add3(a, b))


@device
def edge_terms(e, p):
    """t, l, a, τ, s, u of an edge and its director."""
    l = norm3(e)
    t = scale3(1.0 / l, e)
    a = dot3(t, p)
    tau = cross(t, p)
    return (t, l, a, tau, dot3(tau, tau), sub3(p, scale3(a, t)))


@device
def twist_measure(one, other, rest):
    """y and 1 + cos(m − m̄); the latter is 0 where y is infinite."""
    t, f = one[0], other[0]
    plus = 1.0 + dot3(t, f)
    if plus <= HALF or one[4] == 0.0 or other[4] == 0.0:
        return (0.0, 0.0)
    along = dot3(one[5], f) / plus
    here = sub3(one[5], scale3(along, add3(t, f)))
    C, S = dot3(here, other[5]), dot3(f, cross(here, other[5]))
    size = sqrt(C * C + S * S)
    c, s = (C * cos(rest) + S * sin(rest)) / size, (S * cos(rest) - C * sin(rest)) / size
    if 1.0 + c <= HALF:
        return (0.0, 0.0)
    return (2.0 * s / (1.0 + c), 1.0 + c)


@device
def put_dyad(k, a, b, row, column, K_out):
    """K (12 × 12) += k a bᵀ at a row and a column."""
    for i in range(3):
        for j in range(3):
            K_out[12 * (row + i) + column + j] += k * a[i] * b[j]


@device
def put_cross(k, v, t, row, column, K_out):
    """K += k [v]× (1 − t tᵀ)."""
    w = cross(v, t)
    K_out[12 * row + column + 1] -= k * v[2]
    K_out[12 * row + column + 2] += k * v[1]
    K_out[12 * (row + 1) + column] += k * v[2]
    K_out[12 * (row + 1) + column + 2] -= k * v[0]
    K_out[12 * (row + 2) + column] -= k * v[1]
    K_out[12 * (row + 2) + column + 1] += k * v[0]
    put_dyad(-k, w, t, row, column, K_out)


@device
def put_director(k, terms, p, edge, director, K_out):
    """K += k times the second derivatives of the angle of a director about its edge."""
    t, l, a, tau, s, u = terms
    put_dyad(-k / (s * s), tau, u, director, director, K_out)
    put_dyad(-k / (s * s), u, tau, director, director, K_out)
    # by the director, then by the edge; and the other way round
    put_cross(-k / (s * l), p, t, director, edge, K_out)
    put_dyad(2.0 * k * a / (s * s * l), tau, u, director, edge, K_out)
    for i in range(3):
        for j in range(3):
            K_out[12 * (edge + j) + director + i] = K_out[12 * (director + i) + edge + j]
    put_dyad(-k * (1.0 + 2.0 * a * a / s) / (s * l * l), tau, u, edge, edge, K_out)
    put_cross(k * a / (s * l * l), p, t, edge, edge, K_out)
    put_dyad(k * a / (s * l * l), tau, t, edge, edge, K_out)


@device
def put_transport(k, t, f, l, m, kb, plus, K_out):
    """K += k times the second derivatives of what transport does."""
    g = sub3(f, scale3(dot3(t, f), t))
    put_cross(-k / (plus * l * l), f, t, E, E, K_out)
    put_dyad(-0.5 * k / (plus * l * l), kb, g, E, E, K_out)
    put_dyad(-0.5 * k / (l * l), kb, t, E, E, K_out)
    put_cross(-k / (plus * l * m), f, t, F, E, K_out)
    put_dyad(-0.5 * k / (plus * l * m), kb, g, F, E, K_out)
    h = sub3(t, scale3(dot3(t, f), f))
    put_cross(k / (plus * m * m), t, f, F, F, K_out)
    put_dyad(-0.5 * k / (plus * m * m), kb, h, F, F, K_out)
    put_dyad(-0.5 * k / (m * m), kb, f, F, F, K_out)
    put_cross(k / (plus * l * m), t, f, E, F, K_out)
    put_dyad(-0.5 * k / (plus * l * m), kb, h, E, F, K_out)


@device
def put_exact(first, one, other, p, q, kb, chi, g, second, K_out):
    """K = W′ ∂²m + W″ ∂m ∂mᵀ."""
    for i in range(144):
        K_out[i] = 0.0
    put_director(-first, one, p, E, P, K_out)
    put_director(first, other, q, F, Q, K_out)
    put_transport(first, one[0], other[0], one[1], other[1], kb, chi, K_out)
    for i in range(12):
        for j in range(12):
            K_out[12 * i + j] += second * g[i] * g[j]


@device
def share(r, x):
    """By how much the r-th of e, f, p, q moves with the x-th of x₀ x₁ x₂ d_e d_f."""
    if r == 0:
        return -1.0 if x == 0 else (1.0 if x == 1 else 0.0)
    if r == 1:
        return -1.0 if x == 1 else (1.0 if x == 2 else 0.0)
    if r == 2:
        return -0.5 if x < 2 else (1.0 if x == 3 else 0.0)
    return -0.5 if x == 1 or x == 2 else (1.0 if x == 4 else 0.0)


@device
def put_spread(K, first, blocks_out):
    """The 15 × 15 matrix of five vertices from that of e, f, p, q."""
    for x in range(5):
        for y in range(5):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for r in range(4):
                        left = share(r, x)
                        if left != 0.0:
                            for c in range(4):
                                total += left * share(c, y) * K[12 * (3 * r + i) + 3 * c + j]
                    blocks_out[first + 15 * (3 * x + i) + 3 * y + j] = total


@kernel
def add_rod_twist(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    K = np.empty(144)
    g = np.empty(12)
    for n in range(index.size // 5):
        # two edges, and from their middles the ways to the directors
        a, b, c = load3(x, 3 * index[5 * n]), load3(x, 3 * index[5 * n + 1]), load3(x, 3 * index[5 * n + 2])
        p = sub3(load3(x, 3 * index[5 * n + 3]), middle3(a, b))
        q = sub3(load3(x, 3 * index[5 * n + 4]), middle3(b, c))
        e, f = sub3(b, a), sub3(c, b)
        stiffness = parameters[ROW * n]
        if norm3(e) == 0.0 or norm3(f) == 0.0:
            value_out[0] += inf
            continue
        one, other = edge_terms(e, p), edge_terms(f, q)
        y, plus = twist_measure(one, other, parameters[ROW * n + 1])
        if plus == 0.0:
            value_out[0] += inf
            continue
        value_out[0] += 0.5 * stiffness * y * y
        if ask == VALUE:
            continue
        # ∂m by e, f, p, q; dy/dm = 1 + y²/4
        slope = 1.0 + 0.25 * y * y
        first = stiffness * y * slope
        t, u, l, m = one[0], other[0], one[1], other[1]
        chi = 1.0 + dot3(t, u)
        kb = scale3(2.0 / chi, cross(t, u))
        ge = add3(scale3(0.5 / l, kb), scale3(one[2] / (one[4] * l), one[3]))
        gf = sub3(scale3(0.5 / m, kb), scale3(other[2] / (other[4] * m), other[3]))
        gp, gq = scale3(-1.0 / one[4], one[3]), scale3(1.0 / other[4], other[3])
        for i in range(3):
            g[E + i], g[F + i], g[P + i], g[Q + i] = ge[i], gf[i], gp[i], gq[i]
        for v in range(5):
            for i in range(3):
                total = 0.0
                for r in range(4):
                    total += share(r, v) * g[3 * r + i]
                gradient_out[3 * index[5 * n + v] + i] += first * total
        # W″ ∂m ∂mᵀ, and W′ ∂²m where it is asked for
        if ask >= EXACT:
            second = stiffness * slope * (slope + 0.5 * y * y)
            for i in range(12):
                for j in range(12):
                    K[12 * i + j] = second * g[i] * g[j]
            if ask == EXACT:
                put_exact(first, one, other, p, q, kb, chi, g, second, K)
            put_spread(K, 225 * n, blocks_out)


@dataclass(frozen=True)
class RodTwist(Energy):
    """`torsion` G J [N m²]; of a round rod of radius r, G π r⁴/2. The mesh has directors (`RodMesh.framed`)."""

    torsion: float

    vertices: ClassVar[int] = 5
    add_kernel = add_rod_twist

    def __post_init__(self) -> None:
        object.__setattr__(self, "torsion", number(self.torsion, "RodTwist torsion", positive=True))

    def rest(self, X: np.ndarray) -> np.ndarray:
        length = np.linalg.norm(np.diff(X[:, :3], axis=1), axis=2)
        wrong = np.flatnonzero(~(length.min(axis=1) > 0.0))
        if wrong.size:
            raise ModelError(f"RodTwist: point {wrong[0]} has an edge without length at rest; put its vertices apart")
        m = twists(X[:, :3], X[:, 3:], False)[:, 0]
        return np.stack([self.torsion / length.mean(axis=1), m], axis=1)

    def stencils(self, mesh: Any) -> list[Stencils]:
        index = twist_stencils(mesh, "RodTwist")
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices, float)[index]))] if len(index) else []

    def _terms(self, x: np.ndarray) -> tuple[Any, ...]:
        """Of both edges: t, l, a, τ, s, u."""
        return tuple(_edge_terms(x[k + 1] - x[k], x[3 + k] - 0.5 * (x[k] + x[k + 1])) for k in range(2))

    def _measure(self, parameters: np.ndarray, x: np.ndarray) -> float:
        """y, not a number where it is infinite."""
        if min(np.linalg.norm(x[1] - x[0]), np.linalg.norm(x[2] - x[1])) == 0.0:
            return np.nan
        (t, _, _, _, s, u), (f, _, _, _, s_f, v) = self._terms(x)
        plus, rest = 1.0 + t @ f, float(parameters[1])
        if plus <= HALF or s == 0.0 or s_f == 0.0:
            return np.nan
        here = u - (t + f) * (u @ f) / plus
        m = np.arctan2(f @ np.cross(here, v), here @ v) - rest
        return 2.0 * np.sin(m) / (1.0 + np.cos(m)) if 1.0 + np.cos(m) > HALF else np.nan

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        y = self._measure(parameters, x)
        return np.inf if np.isnan(y) else 0.5 * float(parameters[0]) * y * y

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        """(12,) ∂m by e, f, p, q."""
        (t, l, a, tau, s, _), (f, m, b, tau_f, s_f, _) = self._terms(x)
        kb = 2.0 * np.cross(t, f) / (1.0 + t @ f)
        return np.concatenate([0.5 * kb / l + a * tau / (s * l), 0.5 * kb / m - b * tau_f / (s_f * m), -tau / s, tau_f / s_f])

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        y = self._measure(parameters, x)
        return (parameters[0] * y * (1.0 + 0.25 * y * y) * SPREAD.T @ self._slopes(x)).reshape(5, 3)

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        y, g = self._measure(parameters, x), self._slopes(x)
        slope = 1.0 + 0.25 * y * y
        K = parameters[0] * slope * (slope + 0.5 * y * y) * np.outer(g, g)
        if not project:
            K += parameters[0] * y * slope * self._curves(x)
        return SPREAD.T @ K @ SPREAD

    def _curves(self, x: np.ndarray) -> np.ndarray:
        """(12, 12) ∂²m."""
        one, other = self._terms(x)
        t, f, l, m = one[0], other[0], one[1], other[1]
        plus, e, d, p, q = 1.0 + t @ f, slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)
        kb, N, N_f = 2.0 * np.cross(t, f) / plus, np.eye(3) - np.outer(t, t), np.eye(3) - np.outer(f, f)
        by_e = (-2.0 * _skew(f) - np.outer(kb, f)) @ N / (plus * l)
        by_f = (2.0 * _skew(t) - np.outer(kb, t)) @ N_f / (plus * m)
        H = np.zeros((12, 12))
        H[e, e], H[e, d] = by_e / (2.0 * l) - np.outer(kb, t) / (2.0 * l * l), by_f / (2.0 * l)
        H[d, e], H[d, d] = by_e / (2.0 * m), by_f / (2.0 * m) - np.outer(kb, f) / (2.0 * m * m)
        for sign, terms, way, r, k in ((-1.0, one, x[3] - 0.5 * (x[0] + x[1]), e, p), (1.0, other, x[4] - 0.5 * (x[1] + x[2]), d, q)):
            pp, pe, ee = _director_curves(terms, way)
            H[k, k] += sign * pp
            H[k, r] += sign * pe
            H[r, k] += sign * pe.T
            H[r, r] += sign * ee
        return H


def twist_stencils(mesh: Any, what: str) -> np.ndarray:
    """(n, 5) three points of a rod, one after the other, and the directors of the two edges between them."""
    if not getattr(mesh, "directors", False):
        raise ModelError(f"{what}: the rod has no directors; give RodMesh(…).framed()")
    edges, first = np.asarray(mesh.edges, np.int64), mesh.points
    k = np.arange(len(edges) if mesh.closed else len(edges) - 1)
    after = (k + 1) % len(edges)
    return np.stack([edges[k, 0], edges[k, 1], edges[after, 1], first + k, first + after], axis=1)


SPREAD = np.kron(
    np.array([[-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [-0.5, -0.5, 0, 1, 0], [0, -0.5, -0.5, 0, 1]]), np.eye(3)
)  # fmt: skip
"""(12, 15) e, f, p, q of five vertices."""


def _skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _edge_terms(e: np.ndarray, p: np.ndarray) -> tuple[Any, ...]:
    l = float(np.linalg.norm(e))
    t = e / l
    a, tau = float(t @ p), np.cross(t, p)
    return t, l, a, tau, float(tau @ tau), p - a * t


def _director_curves(terms: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Second derivatives of a director's angle: by itself twice, by itself and the edge, by the edge twice."""
    t, l, a, tau, s, u = terms
    N, tu = np.eye(3) - np.outer(t, t), np.outer(tau, u)
    turn = _skew(p) @ N
    ee = -(tu * (1.0 + 2.0 * a * a / s) - a * turn - a * np.outer(tau, t)) / (s * l * l)
    return -(tu + tu.T) / (s * s), (-turn + 2.0 * a * tu / s) / (l * s), ee
