"""Points of tetrahedra at which solids are integrated, for kernels.

A linear tetrahedron has one point, its whole volume w, and with Λ = (X₁ − X₀, X₂ − X₀, X₃ − X₀)⁻¹, whose rows are the gradients of the
barycentric coordinates λₐ,

    F = (x₁ − x₀, x₂ − x₀, x₃ − x₀) Λ,    fₐ = w P Λₐᵀ,    f₀ = −Σ fₐ.

A quadratic one has shape functions λₐ(2λₐ − 1) at its corners and 4 λₐ λ_b at the middles of its edges 01, 12, 02, 03, 13, 23, and four
points of equal parts of the volume, at which one λ is 0.5854 and the others 0.1382. There ∂N_i = Σₐ c_iₐ ∂λₐ: the element acts as a linear
tetrahedron with corners yₐ = Σ_i c_iₐ x_i, so forces and blocks are those of a linear one, spread by c:

    f_i = Σₐ c_iₐ fₐ,    K_ij = Σₐ_b c_iₐ c_j_b Kₐ_b;    c_iₐ = 4λₐ − 1 for a corner i = a,    4λ_b on a and 4λₐ on b for a middle i = ab.

Parameters of a stencil: for each point Λ by rows (nine) and w, then μ and λ of the material.
"""

from __future__ import annotations

from unibody.energies.principal_stretches import axes_times, contracted, put_first_vertex, put_pair, turned_matrix
from unibody.kernel import device
from unibody.spatial.devices import compose_rotations, load9

LINEAR_ROW = 12
QUADRATIC_ROW = 42
NEAR, FAR = 0.5854101966249685, 0.1381966011250105
"""(5 + 3√5)/20 and (5 − √5)/20: barycentric coordinates of the four points."""
FIRST = (0, 1, 2, 3, 0, 1, 0, 0, 1, 2)
SECOND = (0, 1, 2, 3, 1, 2, 2, 3, 3, 3)
"""Of each of ten vertices the corners between which it lies."""


@device
def weight_on_first(i, q):
    """c of vertex i on the corner FIRST[i], at point q."""
    other = NEAR if SECOND[i] == q else FAR
    return 4.0 * other - 1.0 if i < 4 else 4.0 * other


@device
def weight_on_second(i, q):
    return 0.0 if i < 4 else 4.0 * (NEAR if FIRST[i] == q else FAR)


@device
def linear_gradient(index, parameters, x, e):
    """F of a linear tetrahedron."""
    a = 3 * index[4 * e]
    b = 3 * index[4 * e + 1]
    c = 3 * index[4 * e + 2]
    d = 3 * index[4 * e + 3]
    D = (
        x[b] - x[a], x[c] - x[a], x[d] - x[a],
        x[b + 1] - x[a + 1], x[c + 1] - x[a + 1], x[d + 1] - x[a + 1],
        x[b + 2] - x[a + 2], x[c + 2] - x[a + 2], x[d + 2] - x[a + 2],
    )  # fmt: skip
    return compose_rotations(D, load9(parameters, LINEAR_ROW * e))


@device
def virtual_corner(index, x, e, q, a):
    """yₐ of a quadratic tetrahedron at point q."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    for i in range(10):
        w = 0.0
        if FIRST[i] == a:
            w = weight_on_first(i, q)
        elif SECOND[i] == a:
            w = weight_on_second(i, q)
        if w != 0.0:
            k = 3 * index[10 * e + i]
            s0 += w * x[k]
            s1 += w * x[k + 1]
            s2 += w * x[k + 2]
    return (s0, s1, s2)


@device
def quadratic_gradient(index, parameters, x, e, q):
    """F of a quadratic tetrahedron at point q."""
    a = virtual_corner(index, x, e, q, 0)
    b = virtual_corner(index, x, e, q, 1)
    c = virtual_corner(index, x, e, q, 2)
    d = virtual_corner(index, x, e, q, 3)
    D = (
        b[0] - a[0], c[0] - a[0], d[0] - a[0], b[1] - a[1], c[1] - a[1], d[1] - a[1], b[2] - a[2], c[2] - a[2], d[2] - a[2],
    )  # fmt: skip
    return compose_rotations(D, load9(parameters, QUADRATIC_ROW * e + 10 * q))


@device
def corner_force(P, G, w, a):
    """w P Λₐᵀ of corner a = 1, 2, 3."""
    k = 3 * (a - 1)
    g0, g1, g2 = w * G[k], w * G[k + 1], w * G[k + 2]
    return (P[0] * g0 + P[1] * g1 + P[2] * g2, P[3] * g0 + P[4] * g1 + P[5] * g2, P[6] * g0 + P[7] * g1 + P[8] * g2)


@device
def add_linear_forces(index, parameters, e, P, gradient_out):
    G = load9(parameters, LINEAR_ROW * e)
    w = parameters[LINEAR_ROW * e + 9]
    zero = 3 * index[4 * e]
    f1 = corner_force(P, G, w, 1)
    f2 = corner_force(P, G, w, 2)
    f3 = corner_force(P, G, w, 3)
    b = 3 * index[4 * e + 1]
    c = 3 * index[4 * e + 2]
    d = 3 * index[4 * e + 3]
    for r in range(3):
        gradient_out[b + r] += f1[r]
        gradient_out[c + r] += f2[r]
        gradient_out[d + r] += f3[r]
        gradient_out[zero + r] -= f1[r] + f2[r] + f3[r]


@device
def add_quadratic_forces(index, parameters, e, q, P, gradient_out):
    at = QUADRATIC_ROW * e + 10 * q
    G = load9(parameters, at)
    w = parameters[at + 9]
    f1 = corner_force(P, G, w, 1)
    f2 = corner_force(P, G, w, 2)
    f3 = corner_force(P, G, w, 3)
    f = ((-f1[0] - f2[0] - f3[0], -f1[1] - f2[1] - f3[1], -f1[2] - f2[2] - f3[2]), f1, f2, f3)
    for i in range(10):
        k = 3 * index[10 * e + i]
        s = weight_on_first(i, q)
        t = weight_on_second(i, q)
        for r in range(3):
            gradient_out[k + r] += s * f[FIRST[i]][r] + t * f[SECOND[i]][r]


@device
def put_corner_blocks(G, w, U, V, A, p, q, first, blocks_out):
    """The 12 × 12 matrix of a linear tetrahedron by rows, from the law in principal axes."""
    h1 = axes_times(V, (G[0], G[1], G[2]))
    h2 = axes_times(V, (G[3], G[4], G[5]))
    h3 = axes_times(V, (G[6], G[7], G[8]))
    put_pair(turned_matrix(U, contracted(A, p, q, h1, h1)), w, first, 1, 1, 12, blocks_out)
    put_pair(turned_matrix(U, contracted(A, p, q, h1, h2)), w, first, 1, 2, 12, blocks_out)
    put_pair(turned_matrix(U, contracted(A, p, q, h1, h3)), w, first, 1, 3, 12, blocks_out)
    put_pair(turned_matrix(U, contracted(A, p, q, h2, h2)), w, first, 2, 2, 12, blocks_out)
    put_pair(turned_matrix(U, contracted(A, p, q, h2, h3)), w, first, 2, 3, 12, blocks_out)
    put_pair(turned_matrix(U, contracted(A, p, q, h3, h3)), w, first, 3, 3, 12, blocks_out)
    put_first_vertex(4, first, 12, blocks_out)


@device
def add_spread_block(s, K, a, b, at, blocks_out):
    """s Kₐ_b onto a block of a 30 × 30 matrix by rows, K 12 × 12."""
    source = 36 * a + 3 * b
    for r in range(3):
        blocks_out[at + 30 * r] += s * K[source + 12 * r]
        blocks_out[at + 30 * r + 1] += s * K[source + 12 * r + 1]
        blocks_out[at + 30 * r + 2] += s * K[source + 12 * r + 2]


@device
def add_spread_blocks(K, q, first, blocks_out):
    """Σ c_iₐ c_j_b Kₐ_b onto the blocks i ≤ j of a quadratic tetrahedron's matrix."""
    for i in range(10):
        s = weight_on_first(i, q)
        t = weight_on_second(i, q)
        for j in range(i, 10):
            u = weight_on_first(j, q)
            v = weight_on_second(j, q)
            at = first + 90 * i + 3 * j
            add_spread_block(s * u, K, FIRST[i], FIRST[j], at, blocks_out)
            if j >= 4:
                add_spread_block(s * v, K, FIRST[i], SECOND[j], at, blocks_out)
            if i >= 4:
                add_spread_block(t * u, K, SECOND[i], FIRST[j], at, blocks_out)
                add_spread_block(t * v, K, SECOND[i], SECOND[j], at, blocks_out)


@device
def mirror_blocks(first, blocks_out):
    """The lower half of a 30 × 30 matrix from its upper half."""
    for r in range(30):
        for c in range(r + 1, 30):
            blocks_out[first + 30 * c + r] = blocks_out[first + 30 * r + c]
