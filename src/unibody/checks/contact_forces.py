"""Whether contact at the start has forces at all: sliding with much friction may have none, or several that all fit (Painlevé)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unibody.checks.finding import Finding, quoted
from unibody.constraints.contact import Contact
from unibody.contact.pair_laws import PairLaws
from unibody.coordinates.instant import Instant
from unibody.errors import UnibodyError
from unibody.solvers.complementarity.instant import ContactInstant
from unibody.solvers.complementarity.solver import Complementarity

MOST_BODIES = 200
"""Of larger models nothing is asked: W of all contacts is dense."""


def contact_force_findings(here: Instant) -> Iterator[Finding]:
    """One finding where no forces, or more than one set of forces, satisfy the laws of contact at the start."""
    model = here.model
    friction = any(isinstance(c, Contact) for _, c in model.constraints) and bool(PairLaws(model).coefficients.any())
    moves = any(np.any(b.V_WB) for b in model.bodies) or bool(here.v.any())
    if not friction or not moves or model.n_bodies > MOST_BODIES:
        return
    try:
        found = Complementarity().bind(model).contact_instant(resting=False)
    except (UnibodyError, ValueError):
        return
    if not found.causes or not (found.verdict == "several" or (found.verdict == "none" and found.proved)):
        return
    names = tuple(dict.fromkeys(name for c in found.causes for name in found.names[c]))
    if found.verdict == "none":
        yield Finding(
            "warning", "no contact forces", names,
            f"no finite forces satisfy the laws of contact of {quoted(names)} at the start (Painlevé: friction presses them together"
            f" faster than they can part){_remedy(found)}; 'complementarity' passes it by an impulse that stops the slip",
        )  # fmt: skip
    else:
        yield Finding(
            "warning", "several contact forces", names,
            f"{len(found.outcomes)} sets of forces satisfy the laws of contact of {quoted(names)} at the start, with different motions"
            f" (Painlevé){_remedy(found)}; a step takes one of them",
        )  # fmt: skip


def _remedy(found: ContactInstant) -> str:
    """The friction below which one contact alone would be harmless."""
    limits = [found.critical[c] for c in found.causes if np.isfinite(found.critical[c])]
    return f"; give friction below {min(limits):.3g}" if limits else "; give less friction"


