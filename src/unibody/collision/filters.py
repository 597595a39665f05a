"""Which bodies may touch, from the Contact elements of a model: read by every solver that knows surfaces.

A Contact without `between` turns contact on among all bodies; one with `between` turns it on or off for its pairs. If there is none
without, only pairs that are turned on touch. What is said of two bodies holds before what is said of lists. Neighbours, bodies at a
joint, are left out unless `neighbours` or their own Contact asks for them; of two bodies that cannot move against each other nobody asks.

Bodies joined by a chain of welds are one body here: they never touch each other, and a joint at one of them makes all of them neighbours of
what it holds, and of all that is welded to that. A chain ends at a body that never moves: what is welded to the ground is one with it, but
not with everything else that is.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from unibody.collision.broad import Filter
from unibody.constraints.contact import Contact
from unibody.model import Model
from unibody.model.connections import grouped

Pairs = set[tuple[int, int]]


def contact_rules(model: Model) -> list[Contact]:
    """The Contact elements of the model, the narrower after the wider, so that the last that speaks of a pair holds."""
    return sorted((c for _, c in model.constraints if isinstance(c, Contact)), key=lambda c: c.narrowness)


def touched(model: Model, name: str) -> int:
    """The number of a body, or, behind those of all bodies, of a deformable."""
    for k, d in enumerate(model.deformables):
        if d.name == name:
            return model.n_bodies + k
    return model.body(name)


def attached_pairs(model: Model) -> Pairs:
    """Pairs of which one is attached to the other; deformables are numbered behind the bodies."""
    n, out = model.n_bodies, set()
    owner = np.concatenate([np.full(len(d.X), k) for k, d in enumerate(model.deformables)])
    for a in model.attachments:
        own = {int(k) for k in owner[a.vertices]}
        others = {a.body} if a.body >= 0 else {n + int(k) for k in owner[a.support[a.support >= 0]]}
        out |= {(min(n + i, j), max(n + i, j)) for i in own for j in others if n + i != j}
    return out


def contact_filter(model: Model, rules: list[Contact]) -> tuple[bool, Pairs, Pairs]:
    """Whether bodies touch at all, pairs that do not, and pairs that do although a joint connects them. Deformables are numbered behind
    the bodies; what is attached is apart like what a joint connects."""
    everyone = next((c for c in rules if c.everywhere), None)
    off: Pairs = set()
    also: Pairs = set()
    for c in rules:
        named = {(min(a, b), max(a, b)) for a, b in ((touched(model, name) for name in pair) for pair in c.pairs())}
        off, also = (off - named, also | named) if c.on else (off | named, also - named)
    n = model.n_bodies + len(model.deformables)
    if model.attachments and not (everyone is not None and everyone.neighbours):
        off |= attached_pairs(model) - also
    if everyone is None or not everyone.on:
        off = {(a, b) for a in range(n) for b in range(a + 1, n)} - also if also else off
        return bool(also), off, also
    if everyone.neighbours:
        also |= neighbours(model) - off
    return True, off, also


def jointed(model: Model) -> Pairs:
    """Pairs of bodies that a joint connects which takes any freedom from them."""
    return {(min(j.parent, j.child), max(j.parent, j.child)) for j in model.joints if not j.implicit and j.nv < 6}


def resting(model: Model) -> np.ndarray:
    """(bodies,) which never move: the world and static ones."""
    return np.array([i == 0 or b.kind == "static" for i, b in enumerate(model.bodies)])


def welds(model: Model) -> Pairs:
    """Pairs of bodies that a joint without freedom connects."""
    return {(min(j.parent, j.child), max(j.parent, j.child)) for j in model.joints if not j.implicit and j.nv == 0}


def welded(model: Model) -> list[set[int]]:
    """For each body those that it is one with: chains of welds, which end at bodies that never move."""
    n, rests, pairs = model.n_bodies, resting(model), welds(model)
    group = grouped(n, {(a, b) for a, b in pairs if not (rests[a] or rests[b])})
    members: dict[int, set[int]] = {}
    for i, g in enumerate(group):
        members.setdefault(g, set()).add(i)
    out = [set(members[g]) for g in group]
    for a, b in pairs:
        if rests[a] != rests[b]:
            rest, other = (a, b) if rests[a] else (b, a)
            out[rest] |= members[group[other]]
            for i in members[group[other]]:
                out[i].add(rest)
    return out


def neighbours(model: Model) -> Pairs:
    """Pairs of bodies that a joint connects, of which one or both may be welded to what it is at."""
    one = welded(model)
    pairs = {(min(x, y), max(x, y)) for a, b in jointed(model) for x in one[a] for y in one[b] if x != y}
    return pairs | {(min(i, j), max(i, j)) for i, joined in enumerate(one) for j in joined if i != j}


def immovable(model: Model) -> Pairs:
    """Pairs of bodies that cannot move against each other: chains of welds, also over all that never moves, connect them."""
    rests = np.flatnonzero(resting(model))
    group = grouped(model.n_bodies, welds(model) | {(0, int(i)) for i in rests if i})
    members: dict[int, list[int]] = {}
    for i, g in enumerate(group):
        members.setdefault(g, []).append(i)
    still = set(rests.tolist())  # pairs of these are known by `Filter.moving`
    return {(a, b) for those in members.values() for k, a in enumerate(those) for b in those[k + 1 :] if not {a, b} <= still}


def body_filter(model: Model, touching: bool, off: Collection[tuple[int, int]], also: Collection[tuple[int, int]]) -> Filter:
    """What `contact_filter` says, as arrays over bodies for the search."""
    n = model.n_bodies
    moves = (~resting(model)).astype(np.int64)
    apart = (neighbours(model) - set(also)) | set(off) | immovable(model)
    excluded = np.array(sorted(a * n + b for a, b in apart if max(a, b) < n), np.int64)
    return Filter(moves, np.zeros(n, np.int64), np.full(n, 1 if touching else 0, np.int64), excluded)
