"""What the damping of contacts has done in the step that ended at a state, added to the forces of the contacts there.

    f = −k_d B″(d₀) (n₀ · w/Δt) n₀,    w = x − x₀ between the two sides                    (paper 003, Eq. 21; semi-implicit)

Damping belongs to the contacts at the beginning of a step; forces that are told, to those at its end. Each damper's force is given to the
nearest contact of the same two, so that the sum on every body is that which its momentum has felt; where they no longer are in reach, the
contact of the beginning is listed with it. Where a body began so near that its reach was cut, and has grown at the end of the step, that of
the end is taken.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.proximity import SHARE, ContactSet
from unibody.contact.barrier import barrier
from unibody.coordinates.observation import Touching
from unibody.solvers.barrier.contact_stiffness import ContactParameters


def damper_forces(begun: ContactSet, damping: np.ndarray, law: ContactParameters, way: np.ndarray, rate: float) -> np.ndarray:
    """(n, 3) on the first sides of contacts at the beginning of a step, of k_d (n,), with w of all control points (flat)."""
    nodes = begun.nodes
    w = np.where(nodes[:, :, None] >= 0, way.reshape(-1, 3)[np.maximum(nodes, 0)], 0.0)
    closing = np.einsum("nk,nki,ni->n", begun.record[:, :8], w, begun.normal) * rate
    reach = law.reach * begun.record[:, SHARE]
    c = damping * law.pressure * begun.area * barrier(begun.distance / reach)[2] / reach
    return -(c * closing)[:, None] * begun.normal


def with_dampers(seen: Touching, contacts: ContactSet, late: Touching, begun: ContactSet, force: np.ndarray) -> tuple[Touching, ContactSet]:
    """Contacts at the end of a step, as they are `seen`, with the forces (n, 3) of dampers between those of its beginning, whose points
    have come to where `late` says."""
    key = {}
    for k, pair in enumerate(map(tuple, contacts.pair.tolist())):
        key.setdefault(pair, []).append(k)
    added, alone = np.zeros((len(contacts), 3)), []
    for k, pair in enumerate(map(tuple, begun.pair.tolist())):
        if (own := key.get(pair)) is None:
            alone.append(k)
        else:
            added[own[int(np.argmin(((seen.points[own] - late.points[k]) ** 2).sum(axis=1)))]] += force[k]
    far = np.array(alone, np.int64)
    normals = np.concatenate([seen.normals, late.normals[far]])
    forces = np.concatenate([added, force[far]])
    along = np.einsum("ni,ni->n", forces, normals)
    out = Touching(
        points=np.concatenate([seen.points, late.points[far]]), bodies=np.concatenate([seen.bodies, late.bodies[far]]), normals=normals,
        gaps=np.concatenate([seen.gaps, late.gaps[far]]),
        normal_forces=np.concatenate([seen.normal_forces, np.zeros(len(far))]) + along,
        friction=np.concatenate([seen.friction, np.zeros((len(far), 3))]) + forces - along[:, None] * normals,
        sliding=np.concatenate([seen.sliding, np.zeros(len(far), bool)]),
    )  # fmt: skip
    more = begun.among(far)
    nodes = None if contacts.free_nodes is None else np.concatenate([contacts.free_nodes, more.free_nodes])
    return out, ContactSet(np.concatenate([contacts.pair, more.pair]), np.concatenate([contacts.record, more.record]), nodes)
