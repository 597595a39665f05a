"""What is observed of deformables: places, velocities, energies, forces on vertices.

What holds a vertex (an attachment, a prescribed motion) acts on it with R = m (a − g) + ∂P/∂x, which the step has left in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.collision.proximity import ContactSet
from unibody.coordinates.observation import Touching
from unibody.solvers.barrier.system import BarrierSystem


@dataclass
class SeenVertices:
    """Energies [J], and fields of an `Observation`."""

    kinetic: float
    gravity: float
    fields: dict[str, Any]


def observe_vertices(
    system: BarrierSystem, x: np.ndarray, speed: np.ndarray, memory: np.ndarray, contacts: ContactSet, seen: Touching
) -> SeenVertices:
    """At control points x with rates `speed`; the contacts there with their forces."""
    v, matter = system.affine.vertices, system.matter
    assert v is not None and matter is not None
    y, u = v.of(x).copy(), v.of(speed).copy()
    held = v.held_vertices
    reactions, forces = np.zeros_like(y), np.zeros(x.size)
    if len(held):
        reactions[held] = system.memory.view(memory).held_forces
    # contact forces, by the weights of the contacts' control points
    touching = contacts.at_surfaces(x)
    nodes, by_node = touching.nodes, touching.record[:, :8, None] * seen.forces[:, None, :]
    there = nodes >= 0
    np.add.at(forces.reshape(-1, 3), nodes[there], by_node[there])
    return SeenVertices(
        0.5 * float((v.moving_momenta(u) * u).sum()), -float((v.moving_mass[:, None] * y * system.model.gravity).sum()),
        {
            "vertices": y, "vertex_velocities": u, "elastic": matter.value(y.ravel()), "vertex_reactions": reactions,
            "vertex_contacts": v.of(forces).copy(),
        },
    )  # fmt: skip
