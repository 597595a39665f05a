"""Coulomb's friction as a potential of a step, smooth below a slip speed, with normal forces and tangents of the last iterate (lagged).

    F(w) = μ λ f₀(|w|),   w = (1 − n nᵀ)(r − rⁿ),   f₁ = f₀′ = 2 y/ε − y²/ε² below ε, else 1,   ε = ε_v h

r − rⁿ is the relative displacement of the contact's two material points since the beginning of the step; λ its normal force. Of things with
a radius these are points of their surfaces (`ContactSet.at_surfaces`). Below the slip
speed ε_v friction creeps: that is the price of a potential. The second derivative μ λ (f₁/y (P − ŵŵᵀ) + f₁′ ŵŵᵀ) is positive as it is.
With μ λ (f₁/y) P in its place (`careful`) the quadratic model lies above the potential everywhere, for f₀ is concave in y²: then no
step overshoots, where Newton's would jump back and forth over the kink at w = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from unibody.collision.proximity import WIDTH, ContactSet
from unibody.contact.barrier import add_gradient
from unibody.contact.stencil_blocks import add_distance_blocks, scaled
from unibody.kernel import device
from unibody.spatial.devices import dot3, load3, scale3, sub3


@device
def slip(a, b, record, k, Q, Q0):
    """w of contact k: the displacement of its points against each other along the surface since Q0."""
    at = WIDTH * k
    r = (0.0, 0.0, 0.0)
    for side in range(2):
        body = a if side == 0 else b
        for p in range(4):
            f = record[at + 4 * side + p]
            i = 12 * body + 3 * p
            r = (r[0] + f * (Q[i] - Q0[i]), r[1] + f * (Q[i + 1] - Q0[i + 1]), r[2] + f * (Q[i + 2] - Q0[i + 2]))
    n = load3(record, at + 8)
    return sub3(r, scale3(dot3(r, n), n))


@device
def smooth(y, e):
    """f₀, f₁ / y and f₁′ at y."""
    if y >= e:
        return y, 1.0 / y, 0.0
    part = y / e
    return e * (part * part * (1.0 - part / 3.0) + 1.0 / 3.0), (2.0 - part) / e, 2.0 * (1.0 - part) / e


@device
def friction_energy(a, b, record, bound, k, e, Q, Q0):
    """F of contact k [J]."""
    w = slip(a, b, record, k, Q, Q0)
    return bound[k] * smooth(sqrt(dot3(w, w)), e)[0]


@device
def add_contact_friction(a, b, record, bound, k, e, factor, Q, Q0, gradient_out):
    """gradient (12 numbers per body) += factor ∂F/∂Q of contact k."""
    w = slip(a, b, record, k, Q, Q0)
    f = factor * bound[k] * smooth(sqrt(dot3(w, w)), e)[1]
    add_gradient(f, record, WIDTH * k, w, a, gradient_out)
    add_gradient(f, record, WIDTH * k + 4, w, b, gradient_out)


@device
def add_friction_contact_blocks(a, b, place, record, bound, k, e, factor, Q, Q0, careful, own_out, between_out):
    """As `add_positive_blocks`, of F; `careful` for the quadratic model that lies above."""
    at = WIDTH * k
    w = slip(a, b, record, k, Q, Q0)
    y = sqrt(dot3(w, w))
    _, across, along = smooth(y, e)
    n = load3(record, at + 8)
    u = scale3(1.0 / y, w) if y > 0.0 else (0.0, 0.0, 0.0)
    d = along - across if y > 0.0 and not careful else 0.0
    S = (
        across * (1.0 - n[0] * n[0]) + d * u[0] * u[0], d * u[0] * u[1] - across * n[0] * n[1], d * u[0] * u[2] - across * n[0] * n[2],
        d * u[1] * u[0] - across * n[1] * n[0], across * (1.0 - n[1] * n[1]) + d * u[1] * u[1], d * u[1] * u[2] - across * n[1] * n[2],
        d * u[2] * u[0] - across * n[2] * n[0], d * u[2] * u[1] - across * n[2] * n[1], across * (1.0 - n[2] * n[2]) + d * u[2] * u[2],
    )  # fmt: skip
    add_distance_blocks(a, b, place, record, at, scaled(factor * bound[k], S), own_out, between_out)


@dataclass(frozen=True)
class LaggedFriction:
    """Contacts of an earlier iterate with their friction bounds μ λ [N] (n,)."""

    contacts: ContactSet
    bound: np.ndarray

    @staticmethod
    def of(contacts: ContactSet, force: np.ndarray, mu: np.ndarray) -> LaggedFriction:
        """The contacts that press and have friction."""
        rub = mu * force > 0.0
        return LaggedFriction(contacts.among(rub), (mu * force)[rub])
