"""The saddle problem of a forest by the two other methods of paper 001: the Schur complement (§2.2) and dense LDLᵀ (§3.2).

Same problem and flat arrays as `baraff` (w = 6) and `baraff_planar` (w = 3), with the block width w as an argument, plus k
auxiliary rows K over all n w velocities, which may repeat each other and the joints::

    M y − Gᵀ λ − Kᵀ μ = f,        G y + C λ = b,        K y = c

Schur complement: with G⁺ = (G; K), A = G⁺ M⁻¹ G⁺ᵀ + C and A (λ, μ) = (b, c) − G⁺ M⁻¹ f. Two joints meet in A where they share a
body: A is a dense matrix, filled sparsely.

Dense LDLᵀ: H = (M, −Gᵀ; −G, −C), symmetric when the joints' rows change sign, is written out in the order of §3.1 (leaves to root,
each body before its joint), in which no pivot vanishes, and factored as if it had no zeros, in O(n³): rows of Lᵀ over the upper
triangle and D on the diagonal.

In both, the auxiliary rows come last; when all else is eliminated, what is left is ±K M̂⁻¹ Kᵀ of §4, which `solve_semidefinite`
solves by minimum norm. Both return the index of a body whose pivot failed, or −1; `work_out[0]` is then the rank of the auxiliary rows.
These are here for comparison and as witnesses; the tree is the method for use.
"""

from __future__ import annotations

from unibody.algebra.dense import backward_ldl, factor_ldl, forward_ldl
from unibody.algebra.saddle.auxiliary import solve_semidefinite
from unibody.kernel import Floats, Ints, kernel


def dense_work(w: int, k: int, n: int, total_rows: int) -> int:
    """The length of `work_out` for `solve_dense`."""
    size = n * w + total_rows + k
    return 1 + size * size + 2 * size + 2 * k * k + 6 * k


def schur_work(w: int, k: int, n: int, total_rows: int) -> int:
    """The length of `work_out` for `solve_schur`."""
    size = total_rows + k
    return 1 + size * size + 2 * size + 2 * k * k + 6 * k + n * w * w + k * n * w + w


@kernel
def solve_rest(
    k: int, pivots: int, size: int, sign: float, relative_tolerance: float, A: Floats, x_out: Floats, scratch_out: Floats, mu_out: Floats,
) -> int:  # fmt: skip
    """μ from the Schur complement left in the corner of A, times `sign`; its rank. Scratch starts with the sizes of `factor_ldl`."""
    corner, rest = scratch_out[size : size + k * k], scratch_out[size + k * k :]
    for i in range(k):
        rest[i] = sign * x_out[pivots + i]
        for j in range(k):
            corner[i * k + j] = sign * A[(pivots + min(i, j)) * size + pivots + max(i, j)]
    rank = solve_semidefinite(
        k,
        corner,
        rest[:k],
        scratch_out[pivots:size],
        relative_tolerance,
        mu_out,
        rest[k : k + k * k],
        rest[k + k * k : k + k * k + 3 * k],
    )
    for i in range(k):
        x_out[pivots + i] = mu_out[i]
    return rank


@kernel
def body_of_pivot(pivot: int, w: int, rows: Ints) -> int:
    """The body of a pivot in the order of elimination: last body first, each followed by its joint."""
    i = rows.size - 1
    at = w + rows[i]
    while at <= pivot:
        i -= 1
        at += w + rows[i]
    return i


@kernel
def body_of_row(row: int, rows: Ints) -> int:
    """The body whose joint has this row, counted over all joints."""
    i = 0
    end = rows[0]
    while end <= row:
        i += 1
        end += rows[i]
    return i


@kernel
def invert_block(w: int, at: int, M: Floats, inverse_out: Floats) -> bool:
    """The inverse of one positive definite block, by w exchanges of row and column; whether all pivots were positive."""
    for q in range(w * w):
        inverse_out[at + q] = M[at + q]
    for e in range(w):
        d = inverse_out[at + e * w + e]
        if not d > 1e-14 * M[at + e * w + e]:
            return False
        inverse_out[at + e * w + e] = 1.0
        for q in range(w):
            inverse_out[at + e * w + q] /= d
        for i in range(w):
            if i != e:
                u = inverse_out[at + i * w + e]
                inverse_out[at + i * w + e] = 0.0
                for q in range(w):
                    inverse_out[at + i * w + q] -= u * inverse_out[at + e * w + q]
    return True


@kernel
def solve_dense(
    w: int, k: int, parent: Ints, rows: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, K: Floats, f: Floats, b: Floats, c: Floats,
    relative_tolerance: float, work_out: Floats, y_out: Floats, lambda_out: Floats, mu_out: Floats,
) -> int:  # fmt: skip
    """y, λ and μ by dense LDLᵀ of H (§3.2)."""
    n = parent.size
    pivots = n * w
    for i in range(n):
        pivots += rows[i]
    size = pivots + k
    H, x, scratch = work_out[1 : 1 + size * size], work_out[1 + size * size :], work_out[1 + size * size + size :]
    for q in range(size * size):
        H[q] = 0.0
    # H and the right-hand side; body i starts where all bodies and joints with larger numbers end
    at = pivots
    for i in range(n):
        at -= w + rows[i]
        scratch[i] = at
        for a in range(w):
            x[at + a] = f[i * w + a]
            for q in range(a, w):
                H[(at + a) * size + at + q] = M[(i * w + a) * w + q]
        for a in range(rows[i]):
            row = at + w + a
            x[row] = -b[i * w + a]
            H[row * size + row] = -C[i * w + a]
            for q in range(w):
                H[(at + q) * size + row] = -Gc[(i * w + a) * w + q]
            if parent[i] >= 0:
                p = int(scratch[parent[i]])
                for q in range(w):
                    H[row * size + p + q] = -Gp[(i * w + a) * w + q]
        for a in range(k):
            for q in range(w):
                H[(at + q) * size + pivots + a] = -K[(a * n + i) * w + q]
    for a in range(k):
        x[pivots + a] = -c[a]
    # H = L D Lᵀ, forward; μ from what is left; backward
    failed = factor_ldl(pivots, size, H, scratch)
    if failed >= 0:
        return body_of_pivot(failed, w, rows)
    forward_ldl(pivots, size, H, x)
    work_out[0] = solve_rest(k, pivots, size, -1.0, relative_tolerance, H, x, scratch, mu_out)
    backward_ldl(pivots, size, H, x)
    # y and λ from the order of elimination
    at = pivots
    for i in range(n):
        at -= w + rows[i]
        for a in range(w):
            y_out[i * w + a] = x[at + a]
            lambda_out[i * w + a] = x[at + w + a] if a < rows[i] else 0.0
    return -1


@kernel
def solve_schur(
    w: int, k: int, parent: Ints, rows: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, K: Floats, f: Floats, b: Floats, c: Floats,
    relative_tolerance: float, work_out: Floats, y_out: Floats, lambda_out: Floats, mu_out: Floats,
) -> int:  # fmt: skip
    """y, λ and μ by A = G M⁻¹ Gᵀ + C (§2.2)."""
    n = parent.size
    pivots = 0
    for i in range(n):
        pivots += rows[i]
    size = pivots + k
    A, x = work_out[1 : 1 + size * size], work_out[1 + size * size :]
    scratch = work_out[1 + size * size + size :]
    inverse = work_out[1 + size * size + 2 * size + 2 * k * k + 6 * k :]
    response, z = inverse[n * w * w :], inverse[n * w * w + k * n * w :]
    # M⁻¹, and y = M⁻¹ f
    for i in range(n):
        if not invert_block(w, i * w * w, M, inverse):
            return i
    for q in range(size * size):
        A[q] = 0.0
    for q in range(n * w):
        y_out[q] = 0.0
        for s in range(w):
            y_out[q] += inverse[q * w + s] * f[q - q % w + s]
    # M⁻¹ Kᵀ, and the auxiliary corner K M⁻¹ Kᵀ with its right-hand side
    for e in range(k):
        for q in range(n * w):
            response[e * n * w + q] = 0.0
            for s in range(w):
                response[e * n * w + q] += inverse[q * w + s] * K[e * n * w + q - q % w + s]
        x[pivots + e] = c[e]
        for q in range(n * w):
            x[pivots + e] -= K[e * n * w + q] * y_out[q]
        for d in range(e + 1):
            for q in range(n * w):
                A[(pivots + d) * size + pivots + e] += K[d * n * w + q] * response[e * n * w + q]
    # rows of joints: b − G M⁻¹ f, what they have in common with K, C
    row = 0
    for i in range(n):
        p = parent[i]
        for a in range(rows[i]):
            g = (i * w + a) * w
            x[row] = b[i * w + a]
            for q in range(w):
                x[row] -= Gc[g + q] * y_out[i * w + q]
                if p >= 0:
                    x[row] -= Gp[g + q] * y_out[p * w + q]
            for e in range(k):
                for q in range(w):
                    A[row * size + pivots + e] += Gc[g + q] * response[(e * n + i) * w + q]
                    if p >= 0:
                        A[row * size + pivots + e] += Gp[g + q] * response[(e * n + p) * w + q]
            A[row * size + row] += C[i * w + a]
            # this row against later rows of the same joint, of the children's joints (which act on body i by Gp) and of the siblings'
            for side in range(2):
                body = i if side == 0 else p
                if body < 0:
                    continue
                for q in range(w):
                    z[q] = 0.0
                    for s in range(w):
                        z[q] += inverse[(body * w + q) * w + s] * (Gc[g + s] if side == 0 else Gp[g + s])
                column = row - a
                for j in range(i, n):
                    if j == i or parent[j] == body:
                        for d in range(rows[j]):
                            if column + d >= row:
                                own = j == i and side == 0
                                for q in range(w):
                                    other = Gc[(j * w + d) * w + q] if own else Gp[(j * w + d) * w + q]
                                    A[row * size + column + d] += z[q] * other
                    column += rows[j]
            row += 1
    # A = L D Lᵀ, forward; μ from what is left; backward
    failed = factor_ldl(pivots, size, A, scratch)
    if failed >= 0:
        return body_of_row(failed, rows)
    forward_ldl(pivots, size, A, x)
    work_out[0] = solve_rest(k, pivots, size, 1.0, relative_tolerance, A, x, scratch, mu_out)
    backward_ldl(pivots, size, A, x)
    # y = M⁻¹ (f + Gᵀ λ + Kᵀ μ), the forces of the constraints gathered in y first
    row = 0
    for q in range(n * w):
        y_out[q] = f[q]
        for e in range(k):
            y_out[q] += K[e * n * w + q] * mu_out[e]
    for i in range(n):
        for a in range(w):
            lambda_out[i * w + a] = x[row + a] if a < rows[i] else 0.0
            for q in range(w):
                if a < rows[i]:
                    y_out[i * w + q] += Gc[(i * w + a) * w + q] * lambda_out[i * w + a]
                    if parent[i] >= 0:
                        y_out[parent[i] * w + q] += Gp[(i * w + a) * w + q] * lambda_out[i * w + a]
        row += rows[i]
    for i in range(n):
        for q in range(w):
            z[q] = 0.0
            for s in range(w):
                z[q] += inverse[(i * w + q) * w + s] * y_out[i * w + s]
        for q in range(w):
            y_out[i * w + q] = z[q]
    return -1
