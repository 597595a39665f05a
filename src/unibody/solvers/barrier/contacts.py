"""Contacts at a state of the barrier solver, as a recording keeps them, and the energy that barriers and deformation store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unibody.contact.barrier import barrier_value
from unibody.coordinates.affine.body import RigidityPotential
from unibody.coordinates.observation import Touching
from unibody.solvers.barrier.recorded_contacts import touching

if TYPE_CHECKING:
    from unibody.solvers.barrier.step import BarrierSystem


def contacts_at(system: BarrierSystem, Q: np.ndarray, t: float, memory: np.ndarray) -> tuple[Touching, float]:
    """Contacts at coordinates Q of all bodies with the memory of the step that ended there, and what is stored [J]."""
    a, h = system.affine, float(memory[6]) or 1e-2
    law = system.law(h, memory)
    before, rate, own = system._kept(memory)[0], system._kept(memory)[1], system._kept(memory)[3]
    contacts = system.contacts(Q, law)
    origin = None
    if before:
        origin = Q.copy()
        origin[system.moving] = own
        earlier = a.driven(t - 2.0 * h) if rate * h > 1.25 else {}  # BDF-2: velocities count from (4 x − x_old) / 3
        for i, place in a.driven(t - h).items():
            origin[i] = (4.0 * place - earlier[i]) / 3.0 if earlier else place
    mu = system.friction[contacts.pair[:, 0], contacts.pair[:, 1]]
    stored = barrier_value(contacts.record.ravel(), law.pressure, law.reach)
    stored += float(RigidityPotential(a.stiffness_volumes, law.modulus).value(Q[system.moving]).sum())
    slip = law.slip_speed / rate if before else 1.0
    return touching(contacts, mu, law.pressure, law.reach, Q, origin, slip), stored
