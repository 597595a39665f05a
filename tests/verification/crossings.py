"""Do recorded bodies intersect: an exact test of every edge against every face of other bodies, which shares nothing with the solver.

An edge (p, q) crosses a face (a, b, c) when the signed volumes pabc and qabc differ in sign and pqab, pqbc, pqca have one sign. Signs
are taken in floating point where |volume| is well above its round-off, else from rational numbers, so they are exact.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import unibody as ub

UNSURE = 1e-14
"""Times the cube of the largest difference of coordinates: below this, signs are found in rational numbers."""


class Skin:
    """Edges and faces of a body's solid shapes, as indices into rec.vertices(body); vertices and half-spaces of its own."""

    def __init__(self, info):
        faces, vertices, count = [], [], 0
        self.planes = [p for p in info.shapes if p.solid and isinstance(p.shape, ub.Plane)]
        for placed in info.shapes:
            x, f = placed.triangles()
            if placed.solid and not isinstance(placed.shape, ub.Plane):
                faces.append(f + count)
                vertices.append(np.arange(len(x)) + count)
            count += len(x)
        self.faces = np.concatenate(faces) if faces else np.zeros((0, 3), int)
        self.vertices = np.concatenate(vertices) if vertices else np.zeros(0, int)
        pairs = np.sort(self.faces[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1)
        self.edges = np.unique(pairs, axis=0)


def volumes(p, a, b, c):
    """Six times the signed volume of tetrahedra, and whether its sign is beyond doubt."""
    u, v, w = a - p, b - p, c - p
    value = np.einsum("...i,...i->...", u, np.cross(v, w))
    size = np.abs(np.stack(np.broadcast_arrays(u, v, w))).max(axis=(0, -1))
    return value, np.abs(value) > UNSURE * size**3


def exact_sign(*corners) -> int:
    p, *rest = [[Fraction(float(x)) for x in corner] for corner in corners]
    u, v, w = ([x - y for x, y in zip(q, p, strict=True)] for q in rest)
    value = sum(u[i] * (v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2]) for i in range(3))
    return (value > 0) - (value < 0)


def signs(p, a, b, c):
    value, sure = volumes(p, a, b, c)
    out = np.sign(value).astype(int)
    for k in np.flatnonzero(~sure):
        out[k] = exact_sign(p[k], a[k], b[k], c[k])
    return out


def crossing(x, edges, y, faces) -> bool:
    """Whether an edge (of points x) crosses a face (of points y). A point on a face or an edge on an edge counts too."""
    if not len(edges) or not len(faces):
        return False
    low, high = x[edges].min(axis=1), x[edges].max(axis=1)
    bottom, top = y[faces].min(axis=1), y[faces].max(axis=1)
    near = ((low[:, None] <= top[None]) & (high[:, None] >= bottom[None])).all(axis=2)
    i, j = np.nonzero(near)
    p, q = x[edges[i, 0]], x[edges[i, 1]]
    a, b, c = (y[faces[j, k]] for k in range(3))
    one, other = signs(p, a, b, c), signs(q, a, b, c)
    if any(overlap_in_plane(*(z[k] for z in (p, q, a, b, c))) for k in np.flatnonzero((one == 0) & (other == 0))):
        return True
    through = (one * other <= 0) & ((one != 0) | (other != 0))
    p, q, a, b, c = (z[through] for z in (p, q, a, b, c))
    around = np.array([signs(p, q, a, b), signs(p, q, b, c), signs(p, q, c, a)]).reshape(3, -1)
    return bool(((around >= 0).all(axis=0) | (around <= 0).all(axis=0)).any())


def overlap_in_plane(p, q, a, b, c) -> bool:
    """Whether an edge meets a face of its own plane: exactly, in the coordinates across the face's largest component of area."""
    drop = int(np.argmax(np.abs(np.cross(b - a, c - a))))
    u, v, *face = ([Fraction(float(x)) for x in np.delete(z, drop)] for z in (p, q, a, b, c))

    def side(x, y, z) -> int:
        area = (y[0] - x[0]) * (z[1] - x[1]) - (y[1] - x[1]) * (z[0] - x[0])
        return (area > 0) - (area < 0)

    # Apart if all of the triangle lies strictly on one side of the edge's line, or the whole edge strictly outside one of its sides, or
    # beyond the edge's ends along its own direction.
    if abs(sum(side(u, v, z) for z in face)) == 3:
        return False
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        within = side(face[x], face[y], face[z])
        if side(face[x], face[y], u) * within < 0 and side(face[x], face[y], v) * within < 0:
            return False
    along = [v[0] - u[0], v[1] - u[1]]
    ways = [(z[0] - u[0]) * along[0] + (z[1] - u[1]) * along[1] for z in face]
    return not (max(ways) < 0 or min(ways) > along[0] ** 2 + along[1] ** 2)


def touching_pairs(model) -> list[tuple[int, int]]:
    """Pairs of bodies that may not go through each other."""
    rules = [c for _, c in model.constraints if getattr(c, "surfaces", False)]
    everyone = [c for c in rules if not c.bodies()]
    jointed = {frozenset((j.parent, j.child)) for j in model.joints if not j.implicit}
    index = {info.name: k for k, info in enumerate(model.bodies)}  # deformables, which rules name as well, are no bodies
    said = {frozenset(index.get(name, -1) for name in pair): c.on for c in rules for pair in c.pairs()}
    out = []
    for i in range(model.n_bodies):
        for j in range(i + 1, model.n_bodies):
            pair = frozenset((i, j))
            moving = any(model.bodies[k].kind != "static" for k in pair)
            default = bool(everyone) and (everyone[0].neighbours or pair not in jointed)
            if moving and all(model.bodies[k].shapes for k in pair) and said.get(pair, default):
                out.append((i, j))
    return out


def intersections(rec) -> list[tuple[float, str, str]]:
    """Time and names of every pair of bodies that intersect in a recorded state."""
    model = rec.model
    skins = [Skin(info) for info in model.bodies]
    x = [rec.vertices(info.name) if info.shapes else np.zeros((len(rec), 0, 3)) for info in model.bodies]
    pairs, out = touching_pairs(model), []
    for row, t in enumerate(rec.t):
        boxes = [(v[row].min(axis=0), v[row].max(axis=0)) if v.shape[1] else None for v in x]
        for i, j in pairs:
            if _meet(model, rec, row, skins, x, boxes, i, j):
                out.append((float(t), model.bodies[i].name, model.bodies[j].name))
    return out


def _meet(model, rec, row, skins, x, boxes, i, j) -> bool:
    for one, other in ((i, j), (j, i)):
        for placed in skins[one].planes:
            X = ub.Pose(rec.pose(model.bodies[one].name)[row, :3], rec.pose(model.bodies[one].name)[row, 3:]) @ placed.X_BS
            if len(skins[other].vertices) and ((x[other][row, skins[other].vertices] - X.p) @ X.R[:, 2]).min() <= 0.0:
                return True
    if boxes[i] is None or boxes[j] is None or not len(skins[i].faces) or not len(skins[j].faces):
        return False
    low, high = np.maximum(boxes[i][0], boxes[j][0]), np.minimum(boxes[i][1], boxes[j][1])
    if (low > high).any():
        return False
    return any(_crossed(x[a][row], skins[a], x[b][row], skins[b], low, high) for a, b in ((i, j), (j, i)))


def _crossed(x, one, y, other, low, high) -> bool:
    """Only what reaches into the boxes' common part can cross."""
    edges = one.edges[((x[one.edges].max(axis=1) >= low) & (x[one.edges].min(axis=1) <= high)).all(axis=1)]
    faces = other.faces[((y[other.faces].max(axis=1) >= low) & (y[other.faces].min(axis=1) <= high)).all(axis=1)]
    return crossing(x, edges, y, faces)
