"""What hangs on what: groups of bodies connected by joints, constraints or forces, and which of them reach the ground.

A free joint, which a body without a joint has by itself, connects nothing. A constraint on one body alone holds it in the world; a force on
one body alone (a damper, an applied wrench) connects nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from unibody.model.deformable import DeformableInfo
from unibody.model.model import JointInfo, Model


def goes_anywhere(model: Model, joint: JointInfo) -> bool:
    """Whether the joint lets its child go anywhere."""
    return joint.nv >= (3 if model.planar else 6)


def links(model: Model) -> Iterator[tuple[int, int]]:
    """Pairs of bodies that something connects."""
    for joint in model.joints:
        if not goes_anywhere(model, joint):
            yield joint.parent, joint.child
    for body, info in enumerate(model.bodies):
        if info.kind != "dynamic":
            yield 0, body
    for held in holders(model):
        yield from pairwise(held)
    for elements, alone in ((model.constraints, True), (model.forces, False)):
        for _, element in elements:
            if getattr(element, "surfaces", False):
                continue
            touched = [place for b in element.bodies() for place in _bodies_at(model, b)]
            for joint in (model.joint(name) for name in element.joints()):
                touched += [joint.child] if goes_anywhere(model, joint) and not alone else [joint.parent, joint.child]
            if alone and len(set(touched)) == 1:
                touched.append(0)
            yield from pairwise(touched)


def _bodies_at(model: Model, name: str) -> list[int]:
    """The body of this name; of a point of a deformable the bodies that the deformable is attached to."""
    number = model.body(name)
    if number < model.n_bodies:
        return [number]
    vertex = model.vertex_points[number - model.n_bodies].vertices[0]
    return next(held for held, d in zip(holders(model), model.deformables, strict=True) if d.first <= vertex < d.first + len(d.X))


def holders(model: Model) -> list[list[int]]:
    """Of each deformable the bodies that it is attached to, itself or by way of others; the world of those that are driven."""
    owner = np.repeat(np.arange(len(model.deformables)), [len(d.X) for d in model.deformables])
    held: list[set[int]] = [set() for _ in model.deformables]
    for a in model.attachments:
        if a.body >= 0:
            held[owner[a.vertices[0]]].add(a.body)
    for p in model.prescribed:
        held[owner[p.vertices[0]]].add(0)
    tied = [{int(owner[k]) for k in (*a.vertices, *a.support[a.support >= 0])} for a in model.attachments if a.body < 0]
    for _ in model.deformables:
        for among in tied:
            shared = set().union(*(held[k] for k in among))
            for k in among:
                held[k] = shared
    return [sorted(x) for x in held]


def loose(model: Model) -> list[DeformableInfo]:
    """Deformables that hang on no body, and on whose vertices nothing acts."""
    acted = {point.vertices[0] for point in model.vertex_points}
    return [
        d for held, d in zip(holders(model), model.deformables, strict=True)
        if not held and not any(d.first <= k < d.first + len(d.X) for k in acted)
    ]  # fmt: skip


def grouped(n: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """For each of n bodies the least of those that chains of these pairs join it to."""
    first = list(range(n))

    def least(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for a, b in pairs:
        one, other = sorted((least(a), least(b)))
        first[other] = one
    return [least(i) for i in range(n)]


def groups(model: Model) -> list[list[int]]:
    """Connected bodies, the ground's group first."""
    found: dict[int, list[int]] = {}
    for i, first in enumerate(grouped(model.n_bodies, links(model))):
        found.setdefault(first, []).append(i)
    return list(found.values())
