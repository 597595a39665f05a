"""Materials of shapes reduced to pairs of bodies, for solvers to which a body is one surface.

That goes where all pairs of shapes of two bodies may touch, or none, with one coefficient of friction, and where nothing rests apart. What
cannot be reduced is told by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unibody.collision.filters import Pairs, contact_filter, contact_rules, touched
from unibody.collision.shape_rights import ShapeRights, has_materials, shape_classes
from unibody.constraints.contact import Contact
from unibody.contact.pair_laws import combined
from unibody.errors import ModelError
from unibody.model.model import Model


@dataclass
class BodyLaws:
    """`off`, `also`: pairs that materials keep apart, and neighbours that they let touch; `friction`: of pairs for which materials give it;
    `mixed`: why some pair cannot be reduced, or None."""

    off: Pairs = field(default_factory=set)
    also: Pairs = field(default_factory=set)
    friction: dict[tuple[int, int], float] = field(default_factory=dict)
    mixed: str | None = None


def body_laws(model: Model) -> BodyLaws:
    """What the materials of a model mean for pairs of bodies."""
    out, rules = BodyLaws(), contact_rules(model)
    if not has_materials(model):
        return out
    rights, classes = ShapeRights(model), shape_classes(model, rules)
    assert classes is not None
    everyone = next((c for c in rules if c.everywhere), Contact())
    spoken = {(min(a, b), max(a, b)) for c in rules for a, b in ((touched(model, name) for name in pair) for pair in c.pairs())}
    own = {i: classes.of_body(i) for i in sorted(set(classes.body.tolist()))}
    bodies = list(own)
    for at, a in enumerate(bodies):
        for b in bodies[at + 1 :]:
            pairs = [(c, d) for c in own[a] for d in own[b]]
            touching = [pair for pair in pairs if rights.shapes(a, b, *pair)]
            names = f"bodies '{model.bodies[a].name}' and '{model.bodies[b].name}'"
            if not touching:
                out.off.add((a, b))
                continue
            if len(touching) < len(pairs):
                what = "may touch and others may not, but here a body is one surface"
                out.mixed = f"some shapes of {names} {what}; give them one ContactMaterial"
                return out
            if any(classes.offset[pair] > 0.0 for pair in touching):
                out.mixed = f"{names} have margins, which a barrier has not; give ContactMaterial(margin=0), and the Contact a reach"
                return out
            if not rights.bodies(a, b):
                out.also.add((a, b))
            if (a, b) in spoken and not any(pair in classes.named for pair in touching):
                continue
            laws = {classes.named.get(pair) or combined(*(classes.materials[k] for k in pair), everyone) for pair in touching}
            if any(c.restitution > 0.0 or not c.plain for c in laws):
                out.mixed = f"materials of {names} have restitution, static or torsion, which a barrier has not; leave them out"
                return out
            if len({c.friction for c in laws}) > 1:
                out.mixed = f"shapes of {names} have several coefficients of friction, but here a body is one surface; give them one"
                return out
            out.friction[a, b] = next(iter(laws)).friction
    return out


def body_contact_filter(model: Model, rules: list[Contact]) -> tuple[bool, Pairs, Pairs]:
    """As `contact_filter`, with what materials say."""
    touching, off, also = contact_filter(model, rules)
    laws = body_laws(model)
    if laws.mixed is not None:
        raise ModelError(f"contact: {laws.mixed}")
    if laws.also and not touching:
        n = model.n_bodies + len(model.deformables)
        touching, off = True, {(a, b) for a in range(n) for b in range(a + 1, n)}
    return touching, (off | laws.off) - laws.also, also | laws.also


def pair_tables(model: Model, rules: list[Contact], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """μ and k_d of every pair of bodies, and of deformables, which are numbered behind `rows` bodies and links; rules as `contact_rules`
    has them."""
    n, bodies = rows + len(model.deformables), model.n_bodies
    friction, damping = np.zeros((n, n)), np.zeros((n, n))
    for c in rules:
        if c.everywhere:
            friction[:], damping[:] = c.friction, c.damping
        for a, b in ((touched(model, name) for name in pair) for pair in c.pairs()):
            a, b = (i if i < bodies else i - bodies + rows for i in (a, b))
            friction[a, b] = friction[b, a] = c.friction
            damping[a, b] = damping[b, a] = c.damping
    for (a, b), mu in body_laws(model).friction.items():
        friction[a, b] = friction[b, a] = mu
    return friction, damping
