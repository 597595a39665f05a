"""Constraints beyond the forest, by constraint anticipation (paper 001, §4): the small system for their multipliers μ.

With K the k rows of the auxiliary constraints (k_i of the paper as rows, so that the force is Kᵀ μ) and M̂⁻¹ the anticipated response
of Eq. 9, one tree solve per row gives the responses M̂⁻¹ k_i. Equation 8 then reads::

    A μ = −(K v̇_aux + c),        A = K M̂⁻¹ Kᵀ      (k × k, symmetric, positive semidefinite)

A is singular when auxiliary rows repeat each other or the forest's own joints (closed loops usually do). Rows may have different
units, so rank is judged after scaling, Â = s A s with s_i = r_i^(−1/2): eigenvalues of Â below `relative_tolerance` of the largest count as
zero. r is the response of the free bodies, `reference`, so that a row which the forest implies, or comes to imply as a linkage passes
through a singular configuration, fades instead of being blown up; without a reference, r_i = A_ii.

Then x̂ = Q₊ Λ₊⁻¹ Q₊ᵀ s b, x = s x̂ solves A x = b (in the scaled least-squares sense if b is not in its range), and x is
projected across the null space {s q₀}: the result has minimum norm **in the caller's units**. An orthonormal basis of the null space
is returned for callers who want another norm.

Eigenvalues by Householder's reduction to tridiagonal form and implicit QL (Bowdler, Martin, Reinsch and Wilkinson 1968): the
same operations in the same order every time.
"""

from __future__ import annotations

import math

from unibody.kernel import Floats, kernel


@kernel
def anticipate(k: int, w: int, M: Floats, K: Floats, response: Floats, A_out: Floats, reference_out: Floats) -> None:
    """A = K M̂⁻¹ Kᵀ from the responses (k vectors like the rows of K), and Σ K_ia² / M_aa as the reference of each diagonal."""
    size = K.size // k if k > 0 else 0
    for i in range(k):
        reference = 0.0
        for a in range(size):
            reference += K[i * size + a] * K[i * size + a] / M[a * w + a % w]
        reference_out[i] = reference
        for j in range(k):
            A_out[i * k + j] = 0.0
        for a in range(size):
            if K[i * size + a] != 0.0:
                for j in range(k):
                    A_out[i * k + j] += K[i * size + a] * response[j * size + a]
    for i in range(k):
        for j in range(i):
            mean = 0.5 * (A_out[i * k + j] + A_out[j * k + i])
            A_out[i * k + j] = mean
            A_out[j * k + i] = mean


@kernel
def solve_semidefinite(
    k: int, A: Floats, b: Floats, reference: Floats, relative_tolerance: float, x_out: Floats, null_out: Floats, work_out: Floats,
) -> int:  # fmt: skip
    """The minimum-norm x with A x = b, and A's rank. `reference` may be empty: then no row is compared with it.

    The first k − rank rows of `null_out` (k²) are an orthonormal basis of the null space. `work_out` holds 3 k numbers.
    """
    # Â = s A s; rows that have faded get s = 0
    for i in range(k):
        a = A[i * k + i]
        size = reference[i] if reference.size > 0 else a
        work_out[i] = 1.0 / math.sqrt(size) if a > relative_tolerance * size else 0.0
    for i in range(k):
        for j in range(k):
            null_out[i * k + j] = work_out[i] * A[i * k + j] * work_out[j]
    # Â = Qᵀ Λ Q
    symmetric_eigen(k, null_out, work_out[k : 2 * k], work_out[2 * k : 3 * k])
    largest = 0.0
    for i in range(k):
        largest = max(largest, work_out[k + i])
        x_out[i] = 0.0
    # x = s Q₊ Λ₊⁻¹ Q₊ᵀ s b
    rank = 0
    for e in range(k):
        if work_out[k + e] > relative_tolerance * largest:
            rank += 1
            projection = 0.0
            for i in range(k):
                projection += null_out[e * k + i] * work_out[i] * b[i]
            projection /= work_out[k + e]
            for i in range(k):
                x_out[i] += projection * null_out[e * k + i]
    for i in range(k):
        x_out[i] *= work_out[i]
    # the null space {s q₀} of A, orthonormal; x across it
    count = 0
    for e in range(k):
        if not work_out[k + e] > relative_tolerance * largest:
            for i in range(k):
                null_out[count * k + i] = null_out[e * k + i] * (work_out[i] if work_out[i] > 0.0 else 1.0)
            count += 1
    orthonormalise(count, k, null_out)
    orthonormalise(count, k, null_out)
    for e in range(count):
        along = 0.0
        for i in range(k):
            along += null_out[e * k + i] * x_out[i]
        for i in range(k):
            x_out[i] -= along * null_out[e * k + i]
    return rank


@kernel
def orthonormalise(count: int, k: int, rows_out: Floats) -> None:
    """Modified Gram–Schmidt on `count` independent rows of length k (twice is enough)."""
    for e in range(count):
        for d in range(e):
            along = 0.0
            for i in range(k):
                along += rows_out[d * k + i] * rows_out[e * k + i]
            for i in range(k):
                rows_out[e * k + i] -= along * rows_out[d * k + i]
        norm = 0.0
        for i in range(k):
            norm += rows_out[e * k + i] * rows_out[e * k + i]
        inverse = 1.0 / math.sqrt(norm)
        for i in range(k):
            rows_out[e * k + i] *= inverse


@kernel
def symmetric_eigen(n: int, V_out: Floats, d_out: Floats, e_out: Floats) -> None:
    """In: V symmetric. Out: row i of V is the eigenvector of d[i] (in no order). e is scratch, n numbers."""
    tridiagonalise(n, V_out, d_out, e_out)
    for i in range(1, n):
        e_out[i - 1] = e_out[i]
    if n > 0:
        e_out[n - 1] = 0.0
    # implicit QL with shifts, eigenvalue by eigenvalue
    for at in range(n):
        for _ in range(60):
            # where the matrix splits: e is nothing
            m = at
            while m < n - 1 and abs(e_out[m]) > 2.3e-16 * (abs(d_out[m]) + abs(d_out[m + 1])):
                m += 1
            if m == at:
                break
            # Wilkinson's shift
            g = (d_out[at + 1] - d_out[at]) / (2.0 * e_out[at])
            r = math.hypot(g, 1.0)
            g = d_out[m] - d_out[at] + e_out[at] / (g + (r if g >= 0.0 else -r))
            s = c = 1.0
            p = 0.0
            split = False
            # the bulge is chased upwards by plane rotations, which turn rows of V along
            for i in range(m - 1, at - 1, -1):
                f, h = s * e_out[i], c * e_out[i]
                r = math.hypot(f, g)
                e_out[i + 1] = r
                if r == 0.0:
                    d_out[i + 1] -= p
                    e_out[m] = 0.0
                    split = True
                    break
                s, c = f / r, g / r
                g = d_out[i + 1] - p
                r = (d_out[i] - g) * s + 2.0 * c * h
                p = s * r
                d_out[i + 1] = g + p
                g = c * r - h
                for a in range(n):
                    f = V_out[(i + 1) * n + a]
                    V_out[(i + 1) * n + a] = s * V_out[i * n + a] + c * f
                    V_out[i * n + a] = c * V_out[i * n + a] - s * f
            if not split:
                d_out[at] -= p
                e_out[at] = g
                e_out[m] = 0.0


@kernel
def tridiagonalise(n: int, V_out: Floats, d_out: Floats, e_out: Floats) -> None:
    """V ← Qᵀ (rows) with Qᵀ V Q tridiagonal: diagonal d, e[i] between i − 1 and i. V starts symmetric."""
    for i in range(n - 1, 0, -1):
        # row i before the diagonal becomes (0, …, 0, e_i) by the reflection 1 − u uᵀ / h
        h = scale = 0.0
        for a in range(i):
            scale += abs(V_out[i * n + a])
        if i == 1 or scale == 0.0:
            e_out[i] = V_out[i * n + i - 1]
        else:
            for a in range(i):
                V_out[i * n + a] /= scale
                h += V_out[i * n + a] * V_out[i * n + a]
            # u and h = ½ |u|²
            f = V_out[i * n + i - 1]
            g = -math.sqrt(h) if f >= 0.0 else math.sqrt(h)
            e_out[i] = scale * g
            h -= f * g
            V_out[i * n + i - 1] = f - g
            # p = V u / h, and uᵀ p
            f = 0.0
            for j in range(i):
                V_out[j * n + i] = V_out[i * n + j] / h
                g = 0.0
                for a in range(j + 1):
                    g += V_out[j * n + a] * V_out[i * n + a]
                for a in range(j + 1, i):
                    g += V_out[a * n + j] * V_out[i * n + a]
                e_out[j] = g / h
                f += e_out[j] * V_out[i * n + j]
            # V ← V − u qᵀ − q uᵀ, q = p − ½ (uᵀ p / h) u
            half = f / (h + h)
            for j in range(i):
                f = V_out[i * n + j]
                g = e_out[j] - half * f
                e_out[j] = g
                for a in range(j + 1):
                    V_out[j * n + a] -= f * e_out[a] + g * V_out[i * n + a]
        d_out[i] = h
    # Q as the product of the reflections; the diagonal goes to d
    if n > 0:
        d_out[0] = 0.0
        e_out[0] = 0.0
    for i in range(n):
        if d_out[i] != 0.0:
            for j in range(i):
                g = 0.0
                for a in range(i):
                    g += V_out[i * n + a] * V_out[a * n + j]
                for a in range(i):
                    V_out[a * n + j] -= g * V_out[a * n + i]
        d_out[i] = V_out[i * n + i]
        V_out[i * n + i] = 1.0
        for j in range(i):
            V_out[j * n + i] = 0.0
            V_out[i * n + j] = 0.0
    # Qᵀ
    for i in range(n):
        for j in range(i):
            V_out[i * n + j], V_out[j * n + i] = V_out[j * n + i], V_out[i * n + j]
