"""Starts from which no minimisation can begin: surfaces that cross, solids that are inside out. They are refused by name."""

from __future__ import annotations

import numpy as np

from unibody.collision.intersect import crossing
from unibody.errors import ModelError
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.energy_potential import Matter


def refuse_inverted(system: AffineSystem, matter: Matter | None, x: np.ndarray) -> None:
    """At x of all control points."""
    if matter is None or system.vertices is None:
        return
    if (name := matter.torn(system.vertices.of(x).ravel())) is not None:
        why = "inside out, or strained beyond its limit"
        raise ModelError(f"deformable '{name}' starts where its energy is infinite ({why}); give another start")


def refuse_crossing(system: AffineSystem, x: np.ndarray) -> None:
    """At x of all control points."""
    a = system
    pair = crossing(a.surface, a.broad, a.surface.positions(x), a.surface.planes(x)) if a.touching else None
    if pair is None:
        return
    one, other = (a.name_of(i) for i in pair)
    if pair[0] == pair[1]:
        remedy = "give it another start, edges longer than it is thick, or a Contact without self_contact"
        raise ModelError(f"'{one}' crosses itself at the start; {remedy}")
    what = "bodies " if max(pair) < a.rows else ""
    raise ModelError(f"{what}'{one}' and '{other}' intersect at the start; move them apart, or add Contact(between=…, on=False)")
