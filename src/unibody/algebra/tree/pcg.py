"""Trees with couplings by conjugate gradients: the projected block Jacobi preconditioner of paper 000 (Eq. 3, Alg. 1), fused.

    A = P + Jᵀ N J,     P = Jᵀ blkdiag(B) J + D   (the tree: factored once, applied in two sweeps),     N: off-diagonal blocks N_ab, N_baᵀ
    A y = b + Gᵀ μ,     G y = g                   (k rows, closed inside the iteration)

One iteration is one solve with the tree and one sweep over the couplings:

- J z comes with z from the solve, and P p follows by the recurrence of p, so that nothing is multiplied by J, Jᵀ or P.
- Residuals live half on the columns (ρ) and half on the coupled nodes (φ): r = ρ + Jᵀ φ, which is what the solve takes.
- Every z is brought onto G z = 0 along P⁻¹ Gᵀ, whose Gram matrix G P⁻¹ Gᵀ comes as a (pseudo-)inverse. The part of r along Gᵀ does not
  reach the directions; it is followed in κ and ν, and gives the multipliers at the end.

It stops by the error itself. The A-norm of the error falls by α rᵀz in every iteration (Hestenes and Stiefel), so that the sum over the
last few iterations estimates the error before them, a little from below; and the A-norm bounds that of A's mass part: the error of the
motion.
"""

from __future__ import annotations

from math import sqrt

from unibody.algebra.block.sym6 import add6, dot6, offset, store6
from unibody.algebra.tree.factor import load21, pull_tree, push_tree, solve_tree, times_block
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import load6

DELAY = 4
"""Iterations over which the fall of the error is summed."""

NOT_POSITIVE = -1
"""Returned in place of the number of iterations when a direction has no positive curvature."""


def vector_size(nodes: int, nv: int, coupled: int, rows: int) -> int:
    """Numbers of memory for `solve_fused` and `solve_plain`."""
    return 12 * nodes + 5 * nv + 24 * coupled + 5 * rows


@device
def times_coupling(n, k, x):
    """N x for a block stored by rows at k."""
    return (
        dot6(load6(n, k), x), dot6(load6(n, k + 6), x), dot6(load6(n, k + 12), x),
        dot6(load6(n, k + 18), x), dot6(load6(n, k + 24), x), dot6(load6(n, k + 30), x),
    )  # fmt: skip


@device
def times_transposed(n, k, x):
    """Nᵀ x."""
    return (
        n[k] * x[0] + n[k + 6] * x[1] + n[k + 12] * x[2] + n[k + 18] * x[3] + n[k + 24] * x[4] + n[k + 30] * x[5],
        n[k + 1] * x[0] + n[k + 7] * x[1] + n[k + 13] * x[2] + n[k + 19] * x[3] + n[k + 25] * x[4] + n[k + 31] * x[5],
        n[k + 2] * x[0] + n[k + 8] * x[1] + n[k + 14] * x[2] + n[k + 20] * x[3] + n[k + 26] * x[4] + n[k + 32] * x[5],
        n[k + 3] * x[0] + n[k + 9] * x[1] + n[k + 15] * x[2] + n[k + 21] * x[3] + n[k + 27] * x[4] + n[k + 33] * x[5],
        n[k + 4] * x[0] + n[k + 10] * x[1] + n[k + 16] * x[2] + n[k + 22] * x[3] + n[k + 28] * x[4] + n[k + 34] * x[5],
        n[k + 5] * x[0] + n[k + 11] * x[1] + n[k + 17] * x[2] + n[k + 23] * x[3] + n[k + 29] * x[4] + n[k + 35] * x[5],
    )  # fmt: skip


@device
def scaled6(s, a):
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@kernel
def add_product(scale: float, pairs: Ints, blocks: Floats, coupling: Floats, x: Floats, f_out: Floats) -> None:
    """f += scale (blkdiag(B) + N) x (6 a node); without blocks only N."""
    for i in range(blocks.size // 21):
        at = offset(6 * i)
        store6(add6(load6(f_out, at), scaled6(scale, times_block(load21(blocks, offset(21 * i)), load6(x, at)))), at, f_out)
    for e in range(pairs.size // 2):
        a = offset(6 * pairs[2 * e])
        b = offset(6 * pairs[2 * e + 1])
        k = offset(36 * e)
        to_a = times_coupling(coupling, k, load6(x, b))
        to_b = times_transposed(coupling, k, load6(x, a))
        store6(add6(load6(f_out, a), scaled6(scale, to_a)), a, f_out)
        store6(add6(load6(f_out, b), scaled6(scale, to_b)), b, f_out)


@kernel
def multiply_coupled(
    body: Ints, shift: Floats, columns: Floats, pairs: Ints, blocks: Floats, coupling: Floats, diagonal: Floats, y: Floats,
    x_out: Floats, f_out: Floats, u_out: Floats,
) -> None:  # fmt: skip
    """u = A y; x_out becomes J y, f_out (zero on entry) is scratch."""
    push_tree(body, shift, columns, y, x_out)
    add_product(1.0, pairs, blocks, coupling, x_out, f_out)
    for j in range(y.size):
        u_out[j] = diagonal[j] * y[j]
    pull_tree(body, shift, columns, f_out, u_out)


TABLE_SIZE = 5
"""`constraints` opens with where its five parts end: the first entry of each row, its entries' numbers, the nodes of all entries, the first
column of each row, and pairs (place among the numbers, column)."""


@device
def apply_rows(constraints, entries, numbers, x, y, c_out):
    """c = G y, with x = J y."""
    row_start = constraints[TABLE_SIZE : constraints[0]]
    row_entry = constraints[constraints[0] : constraints[1]]
    entry_node = constraints[constraints[1] : constraints[2]]
    column_start = constraints[constraints[2] : constraints[3]]
    column_index = constraints[constraints[3] : constraints[4]]
    for r in range(c_out.size):
        total = 0.0
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            total += dot6(load6(entries, 6 * e), load6(x, 6 * entry_node[e]))
        for k in range(column_start[r], column_start[r + 1]):
            total += numbers[column_index[2 * k]] * y[column_index[2 * k + 1]]
        c_out[r] = total


@device
def times_inverse(inverse, c, mu_out):
    """μ = −(G P⁻¹ Gᵀ)⁻¹ c."""
    k = c.size
    for r in range(k):
        total = 0.0
        for s in range(k):
            total -= inverse[k * r + s] * c[s]
        mu_out[r] = total


@kernel
def meet_rows(
    constraints: Ints, entries: Floats, numbers: Floats, inverse: Floats, response_x: Floats, response_y: Floats, target: Floats,
    c_out: Floats, mu_out: Floats, x_out: Floats, y_out: Floats,
) -> None:  # fmt: skip
    """Bring y, and x = J y, onto G y = target along P⁻¹ Gᵀ."""
    nx, nv = x_out.size, y_out.size
    apply_rows(constraints, entries, numbers, x_out, y_out, c_out)
    for r in range(target.size):
        c_out[r] -= target[r]
    times_inverse(inverse, c_out, mu_out)
    for r in range(target.size):
        for j in range(nv):
            y_out[j] += mu_out[r] * response_y[nv * r + j]
        for j in range(nx):
            x_out[j] += mu_out[r] * response_x[nx * r + j]


@kernel
def fill_residual(
    body: Ints, shift: Floats, columns: Floats, diagonal: Floats, blocks: Floats, pairs: Ints, coupling: Floats, right: Floats, f: Floats,
    x: Floats, y: Floats, vectors_out: Floats,
) -> None:  # fmt: skip
    """right + Jᵀ f − A y, all on the columns, where `solve_fused` reads it."""
    n, nv = body.size // 6, y.size
    load = vectors_out[: 6 * n]
    rho = vectors_out[12 * n : 12 * n + nv]
    for j in range(6 * n):
        load[j] = f[j]
    add_product(-1.0, pairs, blocks, coupling, x, load)
    for j in range(nv):
        rho[j] = right[j] - diagonal[j] * y[j]
    pull_tree(body, shift, columns, load, rho)


@kernel
def solve_fused(
    body: Ints, shift: Floats, columns: Floats, pairs: Ints, coupled: Ints, coupling: Floats, constraints: Ints, entries: Floats,
    numbers: Floats, inverse: Floats, response_x: Floats, response_y: Floats, tolerance: float, scale: float, floor: float, limit: int,
    vectors_out: Floats, x_out: Floats, y_out: Floats, mu_out: Floats,
) -> int:  # fmt: skip
    """Solve A y = b + Gᵀ μ without leaving G y as it is, from a guess y whose residual b − A y stands in `vectors_out` (`fill_residual`).

    Returns the number of iterations, or NOT_POSITIVE. `columns` are factored for P; `coupled` numbers the nodes of each pair among the
    coupled ones, then lists those. The error allowed is `tolerance` times √(`scale` + the first correction²), all in the A-norm, or `floor`
    if that is more; after `limit` iterations y is what it is by then, and limit + 1 is returned."""
    n = body.size // 6
    nv = y_out.size
    m = pairs.size // 2
    count = coupled.size - 2 * m
    k = mu_out.size
    # loads and J z of all nodes; ρ, z, p and P p on the columns; φ, J p, its P part and N J p on coupled nodes; c, κ, ν of the rows
    at = 6 * n
    load = vectors_out[:at]
    z_x = vectors_out[at : at + 6 * n]
    at += 6 * n
    rho = vectors_out[at : at + nv]
    z = vectors_out[at + nv : at + 2 * nv]
    p = vectors_out[at + 2 * nv : at + 3 * nv]
    pi = vectors_out[at + 3 * nv : at + 4 * nv]
    at += 5 * nv
    phi = vectors_out[at : at + 6 * count]
    p_x = vectors_out[at + 6 * count : at + 12 * count]
    pi_x = vectors_out[at + 12 * count : at + 18 * count]
    w = vectors_out[at + 18 * count : at + 24 * count]
    at += 24 * count
    c = vectors_out[at : at + k]
    kappa = vectors_out[at + k : at + 2 * k]
    nu = vectors_out[at + 2 * k : at + 3 * k]
    for j in range(nv):
        p[j] = 0.0
        pi[j] = 0.0
    for j in range(6 * count):
        phi[j] = 0.0
        p_x[j] = 0.0
        pi_x[j] = 0.0
    for r in range(k):
        kappa[r] = 0.0
        nu[r] = 0.0
    before = 0.0
    enough = 0.0
    falls = (0.0, 0.0, 0.0, 0.0)
    for iteration in range(limit + 1):
        # z = P⁻¹ (ρ + Jᵀ φ), and J z
        for j in range(count):
            store6(load6(phi, offset(6 * j)), offset(6 * coupled[2 * m + j]), load)
        solve_tree(body, shift, columns, rho, load, z_x, z)
        # onto G z = 0 along P⁻¹ Gᵀ
        if k > 0:
            apply_rows(constraints, entries, numbers, z_x, z, c)
            times_inverse(inverse, c, mu_out)
            for r in range(k):
                mu = mu_out[r]
                for j in range(nv):
                    z[j] += mu * response_y[nv * r + j]
                for j in range(count):
                    node = offset(6 * coupled[2 * m + j])
                    store6(add6(load6(z_x, node), scaled6(mu, load6(response_x, offset(6 * n * r) + node))), node, z_x)
        # rᵀ z
        rz = 0.0
        for j in range(nv):
            rz += rho[j] * z[j]
        for j in range(count):
            rz += dot6(load6(phi, offset(6 * j)), load6(z_x, offset(6 * coupled[2 * m + j])))
        # the end: the error fell by little over the last iterations (Hestenes and Stiefel)
        if iteration == 0:
            enough = max(tolerance * tolerance * (scale + rz), floor * floor)
        fallen = falls[0] + falls[1] + falls[2] + falls[3]
        if not rz > 0.0 or (iteration >= DELAY and fallen <= enough) or (iteration > 0 and rz <= 1e-4 * enough) or iteration == limit:
            for r in range(k):
                mu_out[r] += nu[r]
            push_tree(body, shift, columns, y_out, x_out)
            return iteration if iteration < limit or limit == 0 else limit + 1
        # p ← z + β p, and P p by the same recurrence; its part of pᵀ A p
        beta = rz / before if iteration > 0 else 0.0
        before = rz
        curvature = 0.0
        for j in range(nv):
            p[j] = z[j] + beta * p[j]
            pi[j] = rho[j] + beta * pi[j]
            curvature += p[j] * pi[j]
        for j in range(count):
            o = offset(6 * j)
            node = offset(6 * coupled[2 * m + j])
            store6(add6(load6(z_x, node), scaled6(beta, load6(p_x, o))), o, p_x)
            store6(add6(load6(phi, o), scaled6(beta, load6(pi_x, o))), o, pi_x)
            curvature += dot6(load6(p_x, o), load6(pi_x, o))
            store6((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), o, w)
        # w = N J p, the rest of pᵀ A p
        for e in range(m):
            a = offset(6 * coupled[2 * e])
            b = offset(6 * coupled[2 * e + 1])
            o = offset(36 * e)
            store6(add6(load6(w, a), times_coupling(coupling, o, load6(p_x, b))), a, w)
            store6(add6(load6(w, b), times_transposed(coupling, o, load6(p_x, a))), b, w)
        for j in range(6 * count):
            curvature += p_x[j] * w[j]
        # the part of r along Gᵀ, as p has it
        for r in range(k):
            kappa[r] = mu_out[r] + beta * kappa[r]
        if not curvature > 0.0:
            return NOT_POSITIVE
        # y ← y + α p, r ← r − α A p
        alpha = rz / curvature
        falls = (falls[1], falls[2], falls[3], alpha * rz)
        for j in range(nv):
            y_out[j] += alpha * p[j]
            rho[j] -= alpha * pi[j]
        for j in range(6 * count):
            phi[j] -= alpha * (pi_x[j] + w[j])
        for r in range(k):
            nu[r] += alpha * kappa[r]
    return limit + 1


@kernel
def solve_plain(
    body: Ints, shift: Floats, columns: Floats, diagonal: Floats, blocks: Floats, pairs: Ints, coupling: Floats, right: Floats,
    tolerance: float, limit: int, vectors_out: Floats, x_out: Floats, y_out: Floats,
) -> int:  # fmt: skip
    """The paper's own iteration on A y = right, from y = 0, until |r| ≤ tolerance |right|: products by J, Jᵀ in every iteration."""
    n = body.size // 6
    nv = y_out.size
    load = vectors_out[: 6 * n]
    at = 12 * n
    r = vectors_out[at : at + nv]
    z = vectors_out[at + nv : at + 2 * nv]
    p = vectors_out[at + 2 * nv : at + 3 * nv]
    product = vectors_out[at + 3 * nv : at + 4 * nv]
    # y = 0, r = right
    size = 0.0
    for j in range(nv):
        y_out[j] = 0.0
        p[j] = 0.0
        r[j] = right[j]
        size += right[j] * right[j]
    for j in range(6 * n):
        load[j] = 0.0
    size = sqrt(size)
    before = 0.0
    for iteration in range(limit + 1):
        # the end: |r| is small
        rest = 0.0
        for j in range(nv):
            rest += r[j] * r[j]
        if sqrt(rest) <= tolerance * size or iteration == limit:
            push_tree(body, shift, columns, y_out, x_out)
            return iteration if sqrt(rest) <= tolerance * size else limit + 1
        # z = P⁻¹ r, p ← z + β p
        solve_tree(body, shift, columns, r, load, x_out, z)
        rz = 0.0
        for j in range(nv):
            rz += r[j] * z[j]
        beta = rz / before if iteration > 0 else 0.0
        before = rz
        for j in range(nv):
            p[j] = z[j] + beta * p[j]
        # A p, y ← y + α p, r ← r − α A p
        multiply_coupled(body, shift, columns, pairs, blocks, coupling, diagonal, p, x_out, load, product)
        curvature = 0.0
        for j in range(nv):
            curvature += p[j] * product[j]
        if not curvature > 0.0:
            return NOT_POSITIVE
        alpha = rz / curvature
        for j in range(nv):
            y_out[j] += alpha * p[j]
            r[j] -= alpha * product[j]
    return limit + 1
