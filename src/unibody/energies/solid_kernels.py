"""Kernels of solids on tetrahedra, open to the law: `add_on_linear.filled(name, stress=…, law=…)` is that of a law.

For each point of each tetrahedron, F from the positions; w ψ, forces of w P, and the second derivative in principal axes, F = U diag(s) Vᵀ:
A = ∂²ψ/∂sₐ∂s_b, and p and q of the turns in each pair of axes (`principal_stretches`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.energies.base import EXACT, PROJECTED, VALUE
from unibody.energies.principal_stretches import clear, positive_law, singular_values
from unibody.energies.tet_points import (
    LINEAR_ROW,
    QUADRATIC_ROW,
    add_linear_forces,
    add_quadratic_forces,
    add_spread_blocks,
    linear_gradient,
    mirror_blocks,
    put_corner_blocks,
    quadratic_gradient,
)  # fmt: skip
from unibody.kernel import Floats, Ints, open_kernel
from unibody.spatial.devices import load9

stress: Any = None
"""Open: ψ and P of F, μ and λ."""
law: Any = None
"""Open: A, p and q of the singular values, μ and λ."""


@open_kernel
def add_on_linear(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """On linear tetrahedra."""
    for e in range(index.size // 4):
        at = LINEAR_ROW * e
        w, mu, lam = parameters[at + 9], parameters[at + 10], parameters[at + 11]
        F = linear_gradient(index, parameters, x, e)
        density, P = stress(F, mu, lam)
        value_out[0] += w * density
        if ask == VALUE:
            continue
        add_linear_forces(index, parameters, e, P, gradient_out)
        # second derivatives in principal axes
        if ask >= EXACT:
            U, s, V = singular_values(F)
            A, p, q = law(s, mu, lam)
            if ask == PROJECTED:
                A, p, q = positive_law(A, p, q)
            put_corner_blocks(load9(parameters, at), w, U, V, A, p, q, 144 * e, blocks_out)


@open_kernel
def add_on_quadratic(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """On quadratic tetrahedra, point by point."""
    K = np.empty(144)
    for e in range(index.size // 10):
        row = QUADRATIC_ROW * e
        mu, lam = parameters[row + 40], parameters[row + 41]
        if ask >= EXACT:
            clear(900 * e, 900, blocks_out)
        for n in range(4):
            w = parameters[row + 10 * n + 9]
            F = quadratic_gradient(index, parameters, x, e, n)
            density, P = stress(F, mu, lam)
            value_out[0] += w * density
            if ask == VALUE:
                continue
            add_quadratic_forces(index, parameters, e, n, P, gradient_out)
            # a linear tetrahedron's matrix in principal axes, spread over ten vertices
            if ask >= EXACT:
                U, s, V = singular_values(F)
                A, p, q = law(s, mu, lam)
                if ask == PROJECTED:
                    A, p, q = positive_law(A, p, q)
                put_corner_blocks(load9(parameters, row + 10 * n), w, U, V, A, p, q, 0, K)
                add_spread_blocks(K, n, 900 * e, blocks_out)
        if ask >= EXACT:
            mirror_blocks(900 * e, blocks_out)
