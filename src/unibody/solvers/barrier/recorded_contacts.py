"""Contacts as one sees them: where bodies press on each other, how hard, how far apart they are, and whether they rub.

The normal force is −B′, that of friction −μ λ f₁(|w|) ŵ with the slip w of the step that ended here and the normal force λ at its end.
"""

from __future__ import annotations

import numpy as np

from unibody.contact.barrier import contact_forces
from unibody.contact.proximity import ContactSet
from unibody.coordinates.observation import Touching


def touching(
    contacts: ContactSet, mu: np.ndarray, pressure: float, reach: float, Q: np.ndarray, origin: np.ndarray | None, slip: float
) -> Touching:
    """mu (n,); `origin` (bodies, 4, 3) from where slips count (None before the first step), `slip` [m] below which friction holds."""
    u, n = contacts.u, contacts.normal
    first = np.einsum("nk,nki->ni", u[:, 0], Q[contacts.pair[:, 0]])
    second = -np.einsum("nk,nki->ni", u[:, 1], Q[contacts.pair[:, 1]])
    press = contact_forces(contacts, pressure, reach)
    w = np.zeros((len(contacts), 3))
    if origin is not None:
        w = np.einsum("nsk,nski->ni", u, (Q - origin)[contacts.pair])
        w = w - np.einsum("ni,ni->n", w, n)[:, None] * n
    size = np.linalg.norm(w, axis=1)
    part = np.minimum(size / slip, 1.0)
    grip = np.where(size > 0.0, mu * press * part * (2.0 - part) / np.maximum(size, 1e-300), 0.0)
    return Touching(
        points=0.5 * (first + second), bodies=contacts.pair.copy(), normals=n.copy(), gaps=contacts.distance.copy(), normal_forces=press,
        friction=-grip[:, None] * w, sliding=(size >= slip) & (mu * press > 0.0),
    )  # fmt: skip
