"""Which bodies may touch, from the Contact elements of a model: read by every solver that knows surfaces.

A Contact without `between` turns contact on among all bodies; one with `between` turns it on or off for its pairs. If there is none
without, only pairs that are turned on touch. What is said of two bodies holds before what is said of lists. Bodies at a joint are
left out unless `neighbours` or their own Contact asks for them; of two bodies that never move nobody asks.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from unibody.collision.broad import Filter
from unibody.constraints.contact import Contact
from unibody.model import Model

Pairs = set[tuple[int, int]]


def contact_rules(model: Model) -> list[Contact]:
    """The Contact elements of the model, the narrower after the wider, so that the last that speaks of a pair holds."""
    return sorted((c for _, c in model.constraints if isinstance(c, Contact)), key=lambda c: c.narrowness)


def contact_filter(model: Model, rules: list[Contact]) -> tuple[bool, Pairs, Pairs]:
    """Whether bodies touch at all, pairs that do not, and pairs that do although a joint connects them."""
    everyone = next((c for c in rules if c.between is None), None)
    off: Pairs = set()
    also: Pairs = set()
    for c in rules:
        named = {(min(a, b), max(a, b)) for a, b in (map(model.body, pair) for pair in c.pairs())}
        off, also = (off - named, also | named) if c.on else (off | named, also - named)
    if everyone is None or not everyone.on:
        n = model.n_bodies
        off = {(a, b) for a in range(n) for b in range(a + 1, n)} - also if also else off
        return bool(also), off, also
    if everyone.neighbours:
        also |= jointed(model) - off
    return True, off, also


def jointed(model: Model) -> Pairs:
    """Pairs of bodies that a joint connects."""
    return {(min(j.parent, j.child), max(j.parent, j.child)) for j in model.joints if not j.implicit}


def body_filter(model: Model, touching: bool, off: Collection[tuple[int, int]], also: Collection[tuple[int, int]]) -> Filter:
    """What `contact_filter` says, as arrays over bodies for the search."""
    n = model.n_bodies
    moves = np.array([b.kind != "static" for b in model.bodies], np.int64)
    moves[0] = 0
    excluded = np.array(sorted(a * n + b for a, b in (jointed(model) - set(also)) | set(off)), np.int64)
    return Filter(moves, np.zeros(n, np.int64), np.full(n, 1 if touching else 0, np.int64), excluded)
