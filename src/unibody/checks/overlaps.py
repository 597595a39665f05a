"""Solid shapes of different bodies that are inside each other at the start, by coal (extra `collision`).

Pairs come from a sweep over axis-aligned boxes along x. In a model with contact they are those that contact knows, whose depths are those
that it sees; in others, pairs that cannot move against each other are left out, and neighbours at a joint or on one pin (bodies welded
together count as one). Round and flat-sided shapes are exact; meshes are their surfaces, for which
coal tells that they cut each other and not how deep; one closed mesh wholly inside another is found by its winding number. A plane is
a half-space.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from unibody.checks.finding import Finding, quoted
from unibody.collision.filters import Pairs, contact_rules, immovable, neighbours, welded
from unibody.collision.rigid import table
from unibody.collision.rigid.overlapping import overlaps
from unibody.collision.shape_rights import ShapeRights
from unibody.constraints.contact import Contact
from unibody.coordinates.instant import Instant
from unibody.model import Model
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from unibody.shapes.mesh import winding

TOUCHING = 1e-6
"""Overlaps below this part of the smaller shape's size are contact, not intersection."""
SHOWN = 6
"""Pairs with a line of their own, the deepest first; the rest are counted."""


class CheckedSolid(NamedTuple):
    """A shape of a body in the world: geometry and transform for coal, kept alive here, box (2, 3), size, surface if it is a mesh."""

    body: int
    kind: int
    """The class of its material."""
    geometry: Any
    transform: Any
    box: np.ndarray
    size: float
    vertices: np.ndarray
    faces: np.ndarray | None
    endless: bool


def overlap_findings(here: Instant) -> Iterator[Finding]:
    """One finding for every two bodies that intersect."""
    model = here.model
    candidates = [b for b in model.bodies if any(getattr(p, "solid", True) for p in b.shapes)]
    if len(candidates) < 2:
        return
    if find_spec("coal") is None:
        yield Finding(
            "note", "intersections not checked", (),
            "whether shapes intersect at the start was not checked: it needs coal, which is not installed; pip install unibody[collision]",
        )  # fmt: skip
        return
    solids = [s for i in range(model.n_bodies) for s in _solids(here, i)]
    rights = ShapeRights(model)
    if rights.classes is not None:
        solids = [s._replace(kind=int(kind)) for s, kind in zip(solids, rights.classes.of_shape, strict=True)]
    depths: dict[tuple[int, int], float] = {}
    for a, b in _near(model, solids, rights):
        depth = _depth(a, b)
        if depth is not None and (np.isnan(depth) or depth > TOUCHING * min(a.size, b.size)):
            key = (min(a.body, b.body), max(a.body, b.body))
            depths[key] = float(np.nanmax([depths.get(key, -1.0), depth])) if not np.isnan(depth) else depths.get(key, np.nan)
    if any(isinstance(c, Contact) for _, c in model.constraints):
        seen = {(model.body(o.one), model.body(o.other)): o.depth for o in overlaps(model, here.X)}
        depths = {key: float("nan") for key in depths} | seen
    found = sorted(depths.items(), key=lambda item: -np.nan_to_num(item[1]))
    for (i, j), depth in found[:SHOWN]:
        names = (model.bodies[i].name, model.bodies[j].name)
        deep = "their surfaces cut through each other" if np.isnan(depth) or depth < 0 else f"by {depth:.3g} m"
        yield Finding(
            "warning", "intersecting shapes", names,
            f"{quoted(names)} intersect at the start, {deep}; move one of them, or give Placed(..., solid=False) to what is only seen",
        )  # fmt: skip
    if len(found) > SHOWN:
        rest = tuple(dict.fromkeys(model.bodies[k].name for pair, _ in found[SHOWN:] for k in pair))
        yield Finding(
            "warning", "intersecting shapes", rest, f"{len(found) - SHOWN} more pairs of bodies intersect, among {quoted(rest)}"
        )


def _solids(here: Instant, i: int) -> Iterator[CheckedSolid]:
    import coal

    R_WB, p_WB = here.X[i, :9].reshape(3, 3), here.X[i, 9:]
    for shape, R_BS, p_BS in table.solids(here.model.bodies[i]):
        R, p = R_WB @ R_BS, p_WB + R_WB @ p_BS
        vertices, faces = shape.triangles()
        inside = vertices @ R.T + p
        geometry, surface = _geometry(shape, vertices, faces)
        box = np.array([inside.min(axis=0), inside.max(axis=0)])
        # Round shapes are drawn as polyhedra inside them: their boxes need a little more.
        box += np.array([[-1.0], [1.0]]) * 0.1 * (box[1] - box[0]).max()
        endless = isinstance(shape, Plane)
        if endless:
            box = np.array([np.full(3, -np.inf), np.full(3, np.inf)])
        size = float(np.ptp(vertices, axis=0).max())
        yield CheckedSolid(i, 0, geometry, coal.Transform3s(R, p), box, size, inside, faces if surface else None, endless)


def _geometry(shape: Any, vertices: np.ndarray, faces: np.ndarray) -> tuple[Any, bool]:
    """For coal, and whether it is a surface."""
    import coal

    if isinstance(shape, Box):
        return coal.Box(*shape.sides), False
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius), False
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length), False
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length), False
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.semi_axes), False
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), False
    surface = coal.BVHModelOBBRSS()
    surface.beginModel(len(faces), len(vertices))
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for x in vertices:
        points.append(np.array(x, float))
    for f in faces:
        triangles.append(coal.Triangle(*(int(k) for k in f)))
    surface.addSubModel(points, triangles)
    surface.endModel()
    return surface, True


def _near(model: Model, solids: list[CheckedSolid], rights: ShapeRights) -> Iterator[tuple[CheckedSolid, CheckedSolid]]:
    """Pairs whose boxes meet and that may touch, or whose bodies may move against each other, by a sweep along x."""
    asked = bool(contact_rules(model))
    apart = set() if asked else _kept_apart(model)
    still = [i == 0 or b.kind != "dynamic" for i, b in enumerate(model.bodies)]
    order = sorted(solids, key=lambda s: s.box[0, 0])
    open_ones: list[CheckedSolid] = []
    for solid in order:
        open_ones = [s for s in open_ones if s.box[1, 0] >= solid.box[0, 0]]
        for other in open_ones:
            if solid.body == other.body or (still[solid.body] and still[other.body]):
                continue
            if (min(solid.body, other.body), max(solid.body, other.body)) in apart:
                continue
            if asked and not rights.shapes(other.body, solid.body, other.kind, solid.kind):
                continue
            if (solid.box[0] <= other.box[1]).all() and (other.box[0] <= solid.box[1]).all():
                yield other, solid
        open_ones.append(solid)


def _kept_apart(model: Model) -> Pairs:
    """Pairs of bodies that may overlap in a model without contact: they cannot move against each other, are neighbours, or hang on one
    pin."""
    return neighbours(model) | immovable(model) | _on_pins(model)


def _on_pins(model: Model) -> Pairs:
    """Pairs that joints fasten to a third body at the same place, as bars on one pin, and what is welded to them."""
    pins: dict[tuple[int, tuple[float, ...]], set[int]] = {}
    one = welded(model)
    for j in model.joints:
        if not j.implicit:
            at = tuple(np.round(model.bodies[j.child].X_WB.apply(j.X_BM.p), 6) + 0.0)
            for a, b in ((j.parent, j.child), (j.child, j.parent)):
                pins.setdefault((min(one[a]), at), set()).update(one[b])
    return {(min(a, b), max(a, b)) for those in pins.values() for a, b in combinations(sorted(those), 2)}


def _depth(a: CheckedSolid, b: CheckedSolid) -> float | None:
    """How deep they are inside each other [m], nan where surfaces cut; None if they do not."""
    import coal

    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts, request.enable_contact = 64, True
    coal.collide(a.geometry, a.transform, b.geometry, b.transform, request, result)
    if result.isCollision():
        if a.faces is not None and b.faces is not None:
            return float("nan")
        return max(abs(float(result.getContact(k).penetration_depth)) for k in range(result.numContacts()))
    for outer, inner in ((a, b), (b, a)):
        if outer.faces is not None and not inner.endless and abs(winding(outer.vertices[outer.faces], inner.vertices[0])) > 0.5:
            return float("nan")
    return None
