"""Laws of pairs in the barrier solver, and the damping of contacts (paper 003, Eq. 19–22).

A contact's damper is k_d times the barrier's stiffness at the beginning of the step, semi-implicit: f = −k_d ∂²P/∂x² v, with v the
velocity at the end. Of driven bodies that velocity is known; what it does to the others is a load.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.constraints.contact import Contact
from unibody.contact.barrier import barrier
from unibody.contact.proximity import ContactSet
from unibody.model import Model
from unibody.solvers.barrier.body_laws import body_laws
from unibody.solvers.barrier.incremental_potential import AffineSystem, ContactParameters, contact_matrix


def pair_tables(model: Model, rules: list[Contact]) -> tuple[np.ndarray, np.ndarray]:
    """μ and k_d of every pair of bodies; rules as `contact_rules` has them."""
    n = model.n_bodies
    friction, damping = np.zeros((n, n)), np.zeros((n, n))
    for c in rules:
        if c.everywhere:
            friction[:], damping[:] = c.friction, c.damping
        for a, b in (map(model.body, pair) for pair in c.pairs()):
            friction[a, b] = friction[b, a] = c.friction
            damping[a, b] = damping[b, a] = c.damping
    for (a, b), mu in body_laws(model).friction.items():
        friction[a, b] = friction[b, a] = mu
    return friction, damping


def contact_damping(system: AffineSystem, contacts: ContactSet, damping: np.ndarray, law: ContactParameters) -> BlockMatrix | None:
    """[N s/m] over the moving bodies, from k_d of every pair of bodies; None if nothing is damped."""
    if not damping.any() or not len(contacts):
        return None
    record = contacts.record.copy()
    record[:, 12] *= damping[contacts.pair[:, 0], contacts.pair[:, 1]]
    return contact_matrix(system, ContactSet(contacts.pair, record), law)


def dragged(
    system: AffineSystem,
    contacts: ContactSet,
    damping: np.ndarray,
    law: ContactParameters,
    targets: dict[int, np.ndarray],
    origin: np.ndarray,
    rate: float,
) -> np.ndarray:
    """(moving, 4, 3) what contacts' damping makes of the velocities of driven bodies."""
    out = np.zeros_like(origin)
    if targets and len(contacts) and damping.any():
        a, b = contacts.pair.T
        c = damping[a, b] * law.pressure * contacts.area * barrier(contacts.distance / law.reach)[2] / law.reach
        way = np.zeros_like(origin)
        for i, target in targets.items():
            way[i] = target - origin[i]
        s = np.einsum("nsk,nski,ni->n", contacts.u, way[contacts.pair], contacts.normal)
        np.add.at(out, contacts.pair, -rate * (c * s)[:, None, None, None] * contacts.u[..., None] * contacts.normal[:, None, None, :])
    return out[system.moving]
