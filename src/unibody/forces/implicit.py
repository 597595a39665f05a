"""Implicit terms of forces along straight lines between points of bodies, for kernels of the signature `AddImplicit`.

A direction g_i (world axes) at a point p_i of a body is a column of that body (body axes, at its origin); δx_i = R Γ_i δξ as in `points`:

    x_i = Γ_iᵀ Rᵀ g_i = (p_i × Rᵀ g_i, Rᵀ g_i),        Σ_i g_i·δx_i = Σ_i x_i·δξ_{body(i)}

A tension T = k (L − L₀) + c L̇ along a length L(x) has g_i = ∂L/∂x_i, e_i = ∂L̇/∂x_i and f_i = −T g_i. With the columns G_i of g_i and

    E_i = (p_i × Rᵀ e_i + Rᵀ (ẋ_i × g_i), Rᵀ e_i),      L̇ = Σ G_i·V,    δL̇ = Σ E_i·δξ + G_i·δV

(the second term of E because the velocity of a point turns with its body) the exact derivatives are

    D = −c G Gᵀ
    K = −G (k G + c E)ᵀ − Σ_segments (T/|s|) (J_b − J_a)ᵀ (1 − u uᵀ) (J_b − J_a) + Σ_i Γ_iᵀ [Rᵀ f_i]×,     J_i = R Γ_i

and, made symmetric, B = −h D − h² K is a sum of products of columns, which go block by block to the bodies' own blocks and to couplings:

    B = (h c + h² k) G Gᵀ + ½ h² c (G Eᵀ + E Gᵀ) + Σ_segments h² (T/|s|) Σ_m y_m y_mᵀ − h² sym(Σ_i Γ_iᵀ [Rᵀ f_i]×)

where y_m are the columns of the rows of 1 − u uᵀ, plus at one end and minus at the other.
Its first and third terms are positive semidefinite where T ≥ 0; a projected element keeps only those, with max(T, 0).
"""

from __future__ import annotations

from unibody.forces.base import add_point_force, point_velocity
from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, load9, rotate_back, scale3, sub3

OWN = 21
"""Numbers of a body's own block: xx xy xz yy yz zz of the angular block, nine of the angular–linear one by rows, six of the linear one."""
COUPLING = 36
"""Numbers of a coupling, by rows."""


@device
def point_column(X, body, p, g):
    """The column (6) of the world direction g at the point p of a body."""
    g_B = rotate_back(load9(X, 12 * body), g)
    t = cross(p, g_B)
    return (t[0], t[1], t[2], g_B[0], g_B[1], g_B[2])


@device
def rate_column(X, V, body, p, g, e):
    """E (6): how the rate Σ g·ẋ changes with the body's displacement, where the direction g changes by e."""
    R = load9(X, 12 * body)
    e_B = rotate_back(R, e)
    t = add3(cross(p, e_B), rotate_back(R, cross(point_velocity(X, V, body, p), g)))
    return (t[0], t[1], t[2], e_B[0], e_B[1], e_B[2])


@device
def mix6(s, x, r, y):
    """s x + r y."""
    return (
        s * x[0] + r * y[0], s * x[1] + r * y[1], s * x[2] + r * y[2], s * x[3] + r * y[3], s * x[4] + r * y[4], s * x[5] + r * y[5],
    )  # fmt: skip


@device
def times_twist(x, V, body):
    """x·V of a body."""
    at = 6 * body
    return x[0] * V[at] + x[1] * V[at + 1] + x[2] * V[at + 2] + x[3] * V[at + 3] + x[4] * V[at + 4] + x[5] * V[at + 5]


@device
def add_column(body, s, x, F_out):
    """F ← F + s x."""
    for j in range(6):
        F_out[6 * body + j] += s * x[j]


@device
def add_own_product(body, x, y, own_out):
    """The body's own block ← it + x yᵀ + y xᵀ."""
    k = OWN * body
    for i in range(3):
        for j in range(i, 3):
            own_out[k] += x[i] * y[j] + y[i] * x[j]
            k += 1
    for i in range(3):
        for j in range(3, 6):
            own_out[k] += x[i] * y[j] + y[i] * x[j]
            k += 1
    for i in range(3, 6):
        for j in range(i, 6):
            own_out[k] += x[i] * y[j] + y[i] * x[j]
            k += 1


@device
def add_pair_product(a, b, place, x, y, own_out, coupling_out):
    """x yᵀ for the rows of body a and the columns of body b, and its transpose: a coupling, or for one body a part of its own block."""
    if a == b:
        add_own_product(a, x, y, own_out)
    elif place >= 0:
        k = COUPLING * place
        for i in range(6):
            for j in range(6):
                coupling_out[k] += x[i] * y[j]
                k += 1


@device
def add_tension_point(body, s, r, G, E, own_out):
    """s G Gᵀ + r (G Eᵀ + E Gᵀ) for one point with itself."""
    add_own_product(body, G, mix6(0.5 * s, G, r, E), own_out)


@device
def add_tension_pair(a, b, place, s, r, G_a, E_a, G_b, E_b, own_out, coupling_out):
    """s G_a G_bᵀ + r (G_a E_bᵀ + E_a G_bᵀ) for two points."""
    add_pair_product(a, b, place, G_a, mix6(s, G_b, r, E_b), own_out, coupling_out)
    if r != 0.0:
        add_pair_product(a, b, place, mix6(r, E_a, 0.0, E_a), G_b, own_out, coupling_out)


@device
def add_across(X, V, a, p_a, b, p_b, place, u, t, h, F_out, own_out, coupling_out):
    """The terms of f_a = −f_b = t (1 − u uᵀ) (x_b − x_a): across a unit vector u, or in all directions for u = 0."""
    s = h * h * t
    for m in range(3):
        e = ((1.0 if m == 0 else 0.0) - u[m] * u[0], (1.0 if m == 1 else 0.0) - u[m] * u[1], (1.0 if m == 2 else 0.0) - u[m] * u[2])
        y_a = point_column(X, a, p_a, e)
        y_b = point_column(X, b, p_b, scale3(-1.0, e))
        add_own_product(a, y_a, mix6(0.5 * s, y_a, 0.0, y_a), own_out)
        add_own_product(b, y_b, mix6(0.5 * s, y_b, 0.0, y_b), own_out)
        add_pair_product(a, b, place, y_a, mix6(s, y_b, 0.0, y_b), own_out, coupling_out)
    speed = sub3(point_velocity(X, V, b, p_b), point_velocity(X, V, a, p_a))
    f = scale3(h * t, sub3(speed, scale3(dot3(u, speed), u)))
    add_point_force(X, a, p_a, f, F_out)
    add_point_force(X, b, p_b, scale3(-1.0, f), F_out)


@device
def add_turn(V, body, p, f, h, F_out, own_out):
    """The terms of Γᵀ [f]× for a force, f in body axes, that does not turn with its body; made symmetric it has the blocks

    angular ½ (f pᵀ + p fᵀ) − (p·f) 1,   angular–linear −½ [f]×,   linear 0
    """
    w = load3(V, 6 * body)
    pf = dot3(p, f)
    turning = cross(f, w)
    moving = cross(f, load3(V, 6 * body + 3))
    for j in range(3):
        angular = 0.5 * (f[j] * dot3(p, w) + p[j] * dot3(f, w)) - pf * w[j] - 0.5 * moving[j]
        F_out[6 * body + j] += h * angular
        F_out[6 * body + 3 + j] += 0.5 * h * turning[j]
    s = h * h
    k = OWN * body
    own_out[k] -= s * (p[0] * f[0] - pf)
    own_out[k + 1] -= 0.5 * s * (f[0] * p[1] + p[0] * f[1])
    own_out[k + 2] -= 0.5 * s * (f[0] * p[2] + p[0] * f[2])
    own_out[k + 3] -= s * (p[1] * f[1] - pf)
    own_out[k + 4] -= 0.5 * s * (f[1] * p[2] + p[1] * f[2])
    own_out[k + 5] -= s * (p[2] * f[2] - pf)
    own_out[k + 7] -= 0.5 * s * f[2]
    own_out[k + 8] += 0.5 * s * f[1]
    own_out[k + 9] += 0.5 * s * f[2]
    own_out[k + 11] -= 0.5 * s * f[0]
    own_out[k + 12] -= 0.5 * s * f[1]
    own_out[k + 13] += 0.5 * s * f[0]
