"""What hangs on what: groups of bodies connected by joints, constraints or forces, and which of them reach the ground.

A free joint, which a body without a joint has by itself, connects nothing. A constraint on one body alone holds it in the world; a force on
one body alone (a damper, an applied wrench) connects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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
    for elements, alone in ((model.constraints, True), (model.forces, False)):
        for _, element in elements:
            if getattr(element, "surfaces", False):
                continue
            touched = [model.body(b) for b in element.bodies()]
            for joint in (model.joint(name) for name in element.joints()):
                touched += [joint.child] if goes_anywhere(model, joint) and not alone else [joint.parent, joint.child]
            if alone and len(set(touched)) == 1:
                touched.append(0)
            yield from pairwise(touched)


def held_by_deformables(model: Model) -> Iterator[tuple[int, int]]:
    """Pairs of which one is a deformable, numbered behind bodies and points: what it is attached to, its points, and the ground where
    vertices of it are prescribed."""
    owner = [k for k, d in enumerate(model.deformables) for _ in range(d.n)]
    first = model.n_frames
    for a in model.attachments:
        for k in {owner[v] for v in a.vertices}:
            if a.body >= 0:
                yield a.body, first + k
            for other in {owner[v] for v in a.support.ravel() if v >= 0}:
                yield first + other, first + k
    for p in model.prescribed:
        for k in {owner[v] for v in p.vertices}:
            yield 0, first + k
    for i, point in enumerate(model.vertex_points):
        yield model.n_bodies + i, first + owner[point.vertices[0]]


def groups(model: Model) -> list[list[int]]:
    """Connected bodies, the ground's group first; what is attached to one deformable is connected by it."""
    root = list(range(model.n_frames + len(model.deformables)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for a, b in (*links(model), *held_by_deformables(model)):
        low, high = sorted((find(a), find(b)))
        root[high] = low
    found: dict[int, list[int]] = {}
    for i in range(model.n_bodies):
        found.setdefault(find(i), []).append(i)
    return [found[k] for k in sorted(found)]
