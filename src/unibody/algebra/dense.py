"""Small dense systems in flat row-major arrays of run-time size: A = Uᵀ U, A = L D Lᵀ stopped at a Schur complement, and A x = b.

Only the upper triangle is read and written; row k of it holds what row k of Lᵀ (or U) becomes, as in paper 001, §3.2. Each step
subtracts multiples of one row from the rows below, along memory, which compilers vectorise without reordering sums.

A pivot that cancels to less than 1e-14 of the terms it is a sum of is round-off; the functions return its index, or −1.
"""

from __future__ import annotations

import math

from unibody.algebra.block.sym6 import TINY, offset
from unibody.kernel import Floats, device, kernel
from unibody.triple import fetch_four, put_four


@device
def subtract_row(count, u, source, target, A_out):
    """Part of a row minus u times part of another."""
    source, target = offset(source), offset(target)
    for j in range(count):
        A_out[target + j] -= u * A_out[source + j]


@kernel
def factor_cholesky(n: int, A_out: Floats) -> int:
    """A = Uᵀ U of a positive definite matrix, in place."""
    for k in range(n):
        before = A_out[k * n + k]
        for i in range(k):
            before += A_out[i * n + k] * A_out[i * n + k]
        d = A_out[k * n + k]
        if not d > TINY * before:
            return k
        inverse = 1.0 / math.sqrt(d)
        for j in range(k, n):
            A_out[k * n + j] *= inverse
        for i in range(k + 1, n):
            u = A_out[k * n + i]
            subtract_row(n - i, u, k * n + i, i * n + i, A_out)
    return -1


@kernel
def solve_cholesky(n: int, U: Floats, x_out: Floats) -> None:
    """x ← U⁻¹ U⁻ᵀ x."""
    for k in range(n):
        x_out[k] /= U[k * n + k]
        for j in range(k + 1, n):
            x_out[j] -= U[k * n + j] * x_out[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x_out[k] -= U[k * n + j] * x_out[j]
        x_out[k] /= U[k * n + k]


@kernel
def factor_ldl(pivots: int, n: int, A_out: Floats, size_out: Floats) -> int:
    """The first `pivots` steps of A = L D Lᵀ, in place: rows of Lᵀ with D on the diagonal, then the Schur complement of the rest.

    Pivots may have either sign but are taken in the order given. `size_out` (n numbers) gets the magnitude of each diagonal's terms.
    """
    for k in range(n):
        size_out[k] = abs(A_out[k * n + k])
    for k in range(pivots):
        d = A_out[k * n + k]
        if not abs(d) > TINY * size_out[k]:
            return k
        for i in range(k + 1, n):
            l_ik = A_out[k * n + i] / d
            size_out[i] += abs(l_ik * A_out[k * n + i])
            subtract_row(n - i, l_ik, k * n + i, i * n + i, A_out)
        for j in range(k + 1, n):
            A_out[k * n + j] /= d
    return -1


@kernel
def forward_ldl(pivots: int, n: int, A: Floats, x_out: Floats) -> None:
    """x ← L⁻¹ x: the last n − pivots entries become the right-hand side of the Schur complement."""
    for k in range(pivots):
        for j in range(k + 1, n):
            x_out[j] -= A[k * n + j] * x_out[k]


@kernel
def backward_ldl(pivots: int, n: int, A: Floats, x_out: Floats) -> None:
    """x ← L⁻ᵀ D⁻¹ x, where the last n − pivots entries are already the solution."""
    for k in range(pivots - 1, -1, -1):
        x = x_out[k] / A[k * n + k]
        for j in range(k + 1, n):
            x -= A[k * n + j] * x_out[j]
        x_out[k] = x


@kernel
def solve_pivoted(n: int, A_out: Floats, x_out: Floats) -> bool:
    """x ← A⁻¹ x of a general matrix, rows exchanged for the largest pivot; False where it is singular or nothing finite comes of it."""
    for k in range(n):
        at, largest = k, abs(A_out[k * n + k])
        for i in range(k + 1, n):
            if abs(A_out[i * n + k]) > largest:
                at, largest = i, abs(A_out[i * n + k])
        if not 0.0 < largest < math.inf:
            return False
        if at != k:
            x_out[k], x_out[at] = x_out[at], x_out[k]
            for j in range(k, n):
                A_out[k * n + j], A_out[at * n + j] = A_out[at * n + j], A_out[k * n + j]
        inverse = 1.0 / A_out[k * n + k]
        for i in range(k + 1, n):
            share = A_out[i * n + k] * inverse
            if share != 0.0:
                source, target = offset(k * n), offset(i * n)
                j = offset(k + 1)
                while j + 4 <= n:
                    put_four(fetch_four(A_out, target + j) - share * fetch_four(A_out, source + j), target + j, A_out)
                    j += 4
                while j < n:
                    A_out[target + j] -= share * A_out[source + j]
                    j += 1
                x_out[i] -= share * x_out[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x_out[k] -= A_out[k * n + j] * x_out[j]
        x_out[k] /= A_out[k * n + k]
        if not math.isfinite(x_out[k]):
            return False
    return True
