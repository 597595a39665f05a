"""How far tetrahedra may go along straight ways before one of them loses its volume.

    F(t) = F + t ΔF,    J(t) = det F(t) = J + t (C : ΔF) + t² (F : ΔC) + t³ det ΔF,    C, ΔC cofactors of F, ΔF

Between the roots of J′, at most two, J rises or falls throughout, so the first t at which J has come down to a hundredth of what it was
lies in the first of these stretches that ends below, and is found there by bisection: whatever comes after it, such as a second passage
that would turn the tetrahedron upright again, is not reached. Quadratic tetrahedra are judged at their four points.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.energies.tet_points import linear_gradient, quadratic_gradient
from unibody.kernel import Floats, Ints, device, kernel

LEFT = 0.01
"""Of J, at the end of what is allowed."""
HALVINGS = 50


@device
def cofactors(F):
    return (
        F[4] * F[8] - F[5] * F[7], F[5] * F[6] - F[3] * F[8], F[3] * F[7] - F[4] * F[6],
        F[2] * F[7] - F[1] * F[8], F[0] * F[8] - F[2] * F[6], F[1] * F[6] - F[0] * F[7],
        F[1] * F[5] - F[2] * F[4], F[2] * F[3] - F[0] * F[5], F[0] * F[4] - F[1] * F[3],
    )  # fmt: skip


@device
def inner9(A, B):
    return (
        A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + A[3] * B[3] + A[4] * B[4] + A[5] * B[5] + A[6] * B[6] + A[7] * B[7] + A[8] * B[8]
    )


@device
def cubic(c0, c1, c2, c3, t):
    return c0 + t * (c1 + t * (c2 + t * c3))


@device
def first_root(c0, c1, c2, c3, most):
    """A t ≤ most from 0 to which c₀ + c₁ t + c₂ t² + c₃ t³ stays above 0, as it does at 0: `most`, or just before the first root."""
    if c0 - most * (abs(c1) + most * (abs(c2) + most * abs(c3))) > 0.0:
        return most
    # where it turns, in order
    r, s = most, most
    if c3 != 0.0:
        inside = c2 * c2 - 3.0 * c1 * c3
        if inside > 0.0:
            q = -(c2 + (sqrt(inside) if c2 >= 0.0 else -sqrt(inside)))
            r = q / (3.0 * c3)
            s = c1 / q if q != 0.0 else r
    elif c2 != 0.0:
        r = -0.5 * c1 / c2
    low = 0.0
    first, second = min(r, s), max(r, s)
    for k in range(3):
        high = most
        if k == 0:
            high = min(first, most)
        elif k == 1:
            high = min(second, most)
        if high <= low:
            continue
        if cubic(c0, c1, c2, c3, high) <= 0.0:
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if cubic(c0, c1, c2, c3, middle) > 0.0:
                    low = middle
                else:
                    high = middle
            return low
        low = high
    return most


@device
def upright_part(F, D, most):
    C = cofactors(F)
    J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2]
    if J <= 0.0:
        return most
    K = cofactors(D)
    return first_root((1.0 - LEFT) * J, inner9(C, D), inner9(F, K), D[0] * K[0] + D[1] * K[1] + D[2] * K[2], most)


@kernel
def upright_step(index: Ints, parameters: Floats, corners: int, x: Floats, p: Floats, most: float) -> float:
    """The part of p, at most `most`, along which linear (4 corners) or quadratic (10) tetrahedra at x keep a hundredth of their volume."""
    t = most
    for e in range(index.size // corners):
        if corners == 4:
            t = upright_part(linear_gradient(index, parameters, x, e), linear_gradient(index, parameters, p, e), t)
        else:
            for q in range(4):
                t = upright_part(quadratic_gradient(index, parameters, x, e, q), quadratic_gradient(index, parameters, p, e, q), t)
    return t


def largest_upright_step(vertices: np.ndarray, parameters: np.ndarray, x: np.ndarray, p: np.ndarray, most: float) -> float:
    """The same for stencils (n, 4 or 10) with their rows of parameters, of positions and ways of all vertices (flat)."""
    return float(upright_step(np.ascontiguousarray(vertices).ravel(), parameters.ravel(), vertices.shape[1], x, p, most))
