"""A potential that keeps distances positive (paper 003, Eq. 13–14), and its damping (Eq. 19–22).

    B(d) = κ A d̂ b(d/d̂),   b(ξ) = −(ξ − 1)² ln ξ  for ξ < 1, else 0

κ is a pressure [Pa], A the contact's share of the surface [m²], d̂ the distance at which it begins [m]: the layer of an elastic
material that a body wears. A pair may have a share of d̂ only: its barrier is that of a smaller d̂. b is twice continuously differentiable
at 1 and grows beyond all bounds at 0.

In affine coordinates the gradient of a contact is B′ u ⊗ n per body. Of its second derivative the blocks here are B″ (u ⊗ n)(u ⊗ n)ᵀ, which
is positive, and for softened edges B m′ times the positive part of the second derivative of c; the rest is in `curvature`.

What stands here is the law of contact k among those of a `ContactSet`, as devices; solvers sum over contacts.
"""

from __future__ import annotations

from math import log

import numpy as np

from unibody.collision.proximity import SHARE, WIDTH, ContactSet
from unibody.contact.stencil_blocks import add_distance_blocks, add_stencil_blocks, outer3, scaled
from unibody.kernel import device
from unibody.spatial.devices import cross, dot3, load3


def barrier(xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """b, b′ and b″ at ξ = d/d̂.

    >>> [float(x) for x in barrier(np.array(1.0))]
    [0.0, 0.0, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ln, gap = np.log(xi), xi - 1.0
        inside = xi < 1.0
        b = np.where(inside, -(gap**2) * ln, 0.0)
        b1 = np.where(inside, -2.0 * gap * ln - gap**2 / xi, 0.0)
        b2 = np.where(inside, -2.0 * ln - 4.0 * gap / xi + (gap / xi) ** 2, 0.0)
    return b, b1, b2


@device
def barrier_terms(xi):
    """b, b′ and b″ at ξ = d/d̂ < 1."""
    ln = log(xi)
    gap = xi - 1.0
    part = gap / xi
    return -gap * gap * ln, -2.0 * gap * ln - gap * part, -2.0 * ln - 4.0 * part + part * part


@device
def contact_energy(record, k, kappa, reach):
    """B of contact k [J]; infinite where its distance is not positive."""
    reach *= record[WIDTH * k + SHARE]
    xi = record[WIDTH * k + 11] / reach
    if xi <= 0.0:
        return np.inf
    if xi >= 1.0:
        return 0.0
    return kappa * record[WIDTH * k + 12] * record[WIDTH * k + 13] * reach * barrier_terms(xi)[0]


@device
def across(a, b):
    """[a]×ᵀ [b]× = (a·b) 1 − b aᵀ, as nine numbers."""
    d = dot3(a, b)
    x, y, z = b
    return (d - x * a[0], -x * a[1], -x * a[2], -y * a[0], d - y * a[1], -y * a[2], -z * a[0], -z * a[1], d - z * a[2])


@device
def add_gradient(f, u, at, g, body, gradient_out):
    for p in range(4):
        for r in range(3):
            gradient_out[12 * body + 3 * p + r] += f * u[at + p] * g[r]


@device
def add_contact_gradient(a, b, record, k, kappa, reach, factor, gradient_out):
    """gradient (12 numbers per body) += factor ∂B/∂Q of contact k, between bodies a and b."""
    at = WIDTH * k
    reach *= record[at + SHARE]
    xi = record[at + 11] / reach
    if xi >= 1.0:
        return
    value, first, _ = barrier_terms(xi)
    n = load3(record, at + 8)
    weight = factor * kappa * record[at + 12]
    add_gradient(weight * record[at + 13] * first, record, at, n, a, gradient_out)
    add_gradient(weight * record[at + 13] * first, record, at + 4, n, b, gradient_out)
    if record[at + 14] != 0.0:
        e_a = load3(record, at + 23)
        e_b = load3(record, at + 26)
        size = cross(e_a, e_b)
        soft = 2.0 * weight * reach * value * record[at + 14]
        add_gradient(soft, record, at + 15, cross(e_b, size), a, gradient_out)
        add_gradient(soft, record, at + 19, cross(size, e_a), b, gradient_out)


@device
def add_positive_blocks(a, b, place, record, k, kappa, reach, factor, own_out, between_out):
    """own (bodies × 144) and between (pairs × 144, at `place`; < 0: transposed, −1 − place) += factor × positive ∂²B/∂Q² of contact k,
    between bodies a and b."""
    at = WIDTH * k
    reach *= record[at + SHARE]
    xi = record[at + 11] / reach
    if xi >= 1.0:
        return
    value, _, second = barrier_terms(xi)
    n = load3(record, at + 8)
    weight = factor * kappa * record[at + 12]
    # B″ (u ⊗ n)(u ⊗ n)ᵀ
    N = scaled(weight * record[at + 13] * second / reach, outer3(n, n))
    if record[at + 14] == 0.0:
        add_distance_blocks(a, b, place, record, at, N, own_out, between_out)
        return
    # B m′ ∂²c of softened edges
    e = load3(record, at + 23)
    f = load3(record, at + 26)
    soft = 2.0 * weight * reach * value * record[at + 14]
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    ee = scaled(soft, across(f, f))
    ef = scaled(-soft, across(f, e))
    ff = scaled(soft, across(e, e))
    add_stencil_blocks(a, b, place, record, at, 0, N, none, none, ee, ef, ff, own_out, between_out)


@device
def contact_change(a, b, record, k, p):
    """|∂d/∂Q · p| / d of contact k, between bodies a and b, for a direction p of all bodies (12 each)."""
    at = WIDTH * k
    n = load3(record, at + 8)
    change = 0.0
    for side in range(2):
        for i in range(4):
            change += record[at + 4 * side + i] * dot3(n, load3(p, 12 * (a if side == 0 else b) + 3 * i))
    return abs(change) / record[at + 11]


def contact_forces(contacts: ContactSet, kappa: float, reach: float) -> np.ndarray:
    """(n,) −B′: how hard each contact presses [N]."""
    area, distance = contacts.record[:, 12] * contacts.record[:, 13], contacts.record[:, 11]
    return -kappa * area * barrier(distance / (reach * contacts.record[:, SHARE]))[1]
