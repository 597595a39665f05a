"""Hinges: the angle θ of two triangles a b p and b a q at their common edge, with its derivatives; positive where p and q lie above.

    e₀ = b − a,  e₁ = p − a,  e₂ = q − a,  l = |e₀|,    n₁ = e₀ × e₁,  n₂ = e₂ × e₀  (along each other where θ = 0)
    θ = atan2(−(n₁ × n₂) · e₀/l, n₁ · n₂)
    ∂θ/∂e₁ = g₁ = l n₁/|n₁|²,    ∂θ/∂e₂ = g₂ = l n₂/|n₂|²,    ∂θ/∂e₀ = −τ₁ g₁ − τ₂ g₂,    τ = e · e₀/l²
    H₁₁ = l Q₁ [e₀]ₓ,  H₁₀ = n₁ e₀ᵀ/(l |n₁|²) − l Q₁ [e₁]ₓ,  H₂₂ = −l Q₂ [e₀]ₓ,  H₂₀ = n₂ e₀ᵀ/(l |n₂|²) + l Q₂ [e₂]ₓ,  H₁₂ = 0,
    H₀₀ = −Σ gᵢ ∂τᵢᵀ + τᵢ Hᵢ₀,    ∂τ/∂e₀ = (e − 2τ e₀)/l²,    Q = (1 − 2 n nᵀ/|n|²)/|n|²

(Tamstorf and Grinspun, "Discrete bending forces and their Jacobians", 2013.) Vertex a moves against the others.
"""

from __future__ import annotations

from math import atan2

import numpy as np

from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3, sub3


@device
def hinge_frame(x, a, b, p, q):
    """e₀, e₁, e₂, n₁, n₂ of vertices at places of x."""
    origin = load3(x, a)
    e0 = sub3(load3(x, b), origin)
    e1 = sub3(load3(x, p), origin)
    e2 = sub3(load3(x, q), origin)
    return (e0, e1, e2, cross(e0, e1), cross(e2, e0))


@device
def hinge_angle(frame):
    e0, _, _, n1, n2 = frame
    return atan2(-dot3(cross(n1, n2), e0) / norm3(e0), dot3(n1, n2))


@device
def hinge_gradients(frame):
    """∂θ of a, b, p, q."""
    e0, e1, e2, n1, n2 = frame
    square = dot3(e0, e0)
    l = norm3(e0)
    g1 = scale3(l / dot3(n1, n1), n1)
    g2 = scale3(l / dot3(n2, n2), n2)
    t1 = dot3(e1, e0) / square
    t2 = dot3(e2, e0) / square
    to_a = add3(scale3(t1 - 1.0, g1), scale3(t2 - 1.0, g2))
    to_b = add3(scale3(-t1, g1), scale3(-t2, g2))
    return (to_a, to_b, g1, g2)


@device
def reflected_spin(n, e, s):
    """s Q [e]ₓ, Q = (1 − 2 n nᵀ/|n|²)/|n|²."""
    N = dot3(n, n)
    k = s / N
    # rows of [e]ₓ, and nᵀ [e]ₓ = (n × e)ᵀ
    m = cross(n, e)
    f = -2.0 * k / N
    return (
        f * n[0] * m[0], f * n[0] * m[1] - k * e[2], f * n[0] * m[2] + k * e[1],
        f * n[1] * m[0] + k * e[2], f * n[1] * m[1], f * n[1] * m[2] - k * e[0],
        f * n[2] * m[0] - k * e[1], f * n[2] * m[1] + k * e[0], f * n[2] * m[2],
    )  # fmt: skip


@device
def plus_outer(S, k, a, b):
    """S + k a bᵀ."""
    return (
        S[0] + k * a[0] * b[0], S[1] + k * a[0] * b[1], S[2] + k * a[0] * b[2], S[3] + k * a[1] * b[0], S[4] + k * a[1] * b[1],
        S[5] + k * a[1] * b[2], S[6] + k * a[2] * b[0], S[7] + k * a[2] * b[1], S[8] + k * a[2] * b[2],
    )  # fmt: skip


@device
def add9(S, k, T):
    """S + k T."""
    return (
        S[0] + k * T[0], S[1] + k * T[1], S[2] + k * T[2], S[3] + k * T[3], S[4] + k * T[4], S[5] + k * T[5], S[6] + k * T[6],
        S[7] + k * T[7], S[8] + k * T[8],
    )  # fmt: skip


@device
def transposed9(S):
    return (S[0], S[3], S[6], S[1], S[4], S[7], S[2], S[5], S[8])


@device
def hinge_curvatures(frame):
    """H₀₀, H₁₀, H₂₀, H₁₁, H₂₂."""
    e0, e1, e2, n1, n2 = frame
    square = dot3(e0, e0)
    l = norm3(e0)
    N1 = dot3(n1, n1)
    N2 = dot3(n2, n2)
    t1 = dot3(e1, e0) / square
    t2 = dot3(e2, e0) / square
    H10 = plus_outer(reflected_spin(n1, e1, -l), 1.0 / (l * N1), n1, e0)
    H20 = plus_outer(reflected_spin(n2, e2, l), 1.0 / (l * N2), n2, e0)
    d1 = scale3(1.0 / square, sub3(e1, scale3(2.0 * t1, e0)))
    d2 = scale3(1.0 / square, sub3(e2, scale3(2.0 * t2, e0)))
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    H00 = plus_outer(plus_outer(zero, -l / N1, n1, d1), -l / N2, n2, d2)
    H00 = add9(add9(H00, -t1, H10), -t2, H20)
    return (H00, H10, H20, reflected_spin(n1, e0, l), reflected_spin(n2, e0, -l))


@device
def add_hinge_block(k, S, first, i, j, width, blocks_out):
    """k S onto block (i, j), and for i ≠ j its transpose onto (j, i)."""
    at = first + 3 * width * i + 3 * j
    for r in range(3):
        for c in range(3):
            blocks_out[at + width * r + c] += k * S[3 * r + c]
    if i != j:
        at = first + 3 * width * j + 3 * i
        for r in range(3):
            for c in range(3):
                blocks_out[at + width * r + c] += k * S[3 * c + r]


@device
def add_hinge_curvature(k, frame, first, a, b, p, q, width, blocks_out):
    """k ∂²θ onto the matrix of a stencil in which the four vertices have the numbers a, b, p, q."""
    H00, H10, H20, H11, H22 = hinge_curvatures(frame)
    add_hinge_block(k, H00, first, b, b, width, blocks_out)
    add_hinge_block(k, H10, first, p, b, width, blocks_out)
    add_hinge_block(k, H20, first, q, b, width, blocks_out)
    add_hinge_block(k, H11, first, p, p, width, blocks_out)
    add_hinge_block(k, H22, first, q, q, width, blocks_out)
    # a: minus the sums of columns
    ab = add9(add9(H00, 1.0, H10), 1.0, H20)
    ap = add9(transposed9(H10), 1.0, H11)
    aq = add9(transposed9(H20), 1.0, H22)
    add_hinge_block(-k, ab, first, a, b, width, blocks_out)
    add_hinge_block(-k, ap, first, a, p, width, blocks_out)
    add_hinge_block(-k, aq, first, a, q, width, blocks_out)
    add_hinge_block(k, add9(add9(ab, 1.0, ap), 1.0, aq), first, a, a, width, blocks_out)


def angles(x: np.ndarray) -> np.ndarray:
    """θ of hinges (…, 4, 3) with vertices a, b, p, q."""
    e0, e1, e2 = (x[..., k, :] - x[..., 0, :] for k in (1, 2, 3))
    n1, n2 = np.cross(e0, e1), np.cross(e2, e0)
    sine = -np.sum(np.cross(n1, n2) * e0, axis=-1) / np.linalg.norm(e0, axis=-1)
    return np.arctan2(sine, np.sum(n1 * n2, axis=-1))


def spin(e: np.ndarray) -> np.ndarray:
    """[e]ₓ."""
    return np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])


def angle_gradient(x: np.ndarray) -> np.ndarray:
    """(4, 3) ∂θ/∂x of a hinge (4, 3)."""
    e0, e1, e2 = x[1:] - x[0]
    l = np.linalg.norm(e0)
    g1, g2 = (l * n / (n @ n) for n in (np.cross(e0, e1), np.cross(e2, e0)))
    to_b = -(e1 @ e0 * g1 + e2 @ e0 * g2) / l**2
    return np.stack([-to_b - g1 - g2, to_b, g1, g2])


def angle_hessian(x: np.ndarray) -> np.ndarray:
    """(12, 12) ∂²θ/∂x² of a hinge (4, 3)."""
    e0, e1, e2 = x[1:] - x[0]
    l, H = np.linalg.norm(e0), np.zeros((3, 3, 3, 3))
    for k, e, n, sign in ((1, e1, np.cross(e0, e1), 1.0), (2, e2, np.cross(e2, e0), -1.0)):
        N, tau = n @ n, e @ e0 / l**2
        Q = sign * l * (np.eye(3) - 2.0 * np.outer(n, n) / N) / N
        H[k, k] = Q @ spin(e0)
        H[k, 0] = np.outer(n, e0) / (l * N) - Q @ spin(e)
        H[0, k] = H[k, 0].T
        H[0, 0] -= np.outer(l * n / N, (e - 2.0 * tau * e0) / l**2) + tau * H[k, 0]
    # edges from positions: b, p, q minus a
    D = np.kron(np.array([[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 1.0]]), np.eye(3))
    return D.T @ H.transpose(0, 2, 1, 3).reshape(9, 9) @ D
