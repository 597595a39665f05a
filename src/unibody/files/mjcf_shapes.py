"""Geoms as shapes. MuJoCo gives half lengths and float32 meshes about their own centre of mass, at a pose that makes up for it.

A geom that takes part in contact (contype or conaffinity, or named in a contact pair) is solid, unless the file switches contact off; one
of the first three groups that is not transparent is visible. Of a body that would show nothing, or below a skin, which is not read, the
solid geoms are. Solid meshes touch by their convex hulls, as in MuJoCo, beside which the mesh itself is only seen, or, if asked for, by
their own triangles, as solids if they are closed; a height field is terrain, or, on what moves, the surface of it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.mjcf_contact import MjcfContacts
from unibody.files.mjcf_reading import Reading, frame
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, OpenMesh, Placed, Plane, Shape, Sphere
from unibody.spatial.pose import Pose

VISIBLE_GROUPS = 3
"""MuJoCo's viewer shows groups 0 to 2."""
ENDLESS = 20.0
"""Side of the square shown of a plane without end [m]."""
CONVEX = 1e-6
"""Relative: a mesh whose volume is less smaller than its hull's is convex."""
UNPAINTED = (0.5, 0.5, 0.5, 1.0)
"""The colour of a geom whose file gives none: its material's counts."""


def shapes_of(r: Reading, host: list[int]) -> tuple[dict[int, list[Placed]], MjcfContacts | None]:
    """The shapes of each of MuJoCo's bodies, in its frame, and what may touch, None where contact is not read. `host`: the bodies that
    bodies are part of here."""
    # what touches, what is seen, and shapes that several geoms share
    m = r.m
    out: dict[int, list[Placed]] = {}
    made: dict[tuple[int, int, bool, bool], Shape | None] = {}
    hulls: dict[int, Mesh | None] = {}
    colours = [_colour(m, g) for g in range(m.ngeom)]
    solids = _solid(r)
    touching = MjcfContacts(r, solids, host) if r.contact and not r.off("contact") else None
    if touching is not None:
        touching.give_names()
    seen = [bool(m.geom_group[g] < VISIBLE_GROUPS and colours[g][3] > 0.0) for g in range(m.ngeom)]
    showing = {int(m.geom_bodyid[g]) for g in range(m.ngeom) if seen[g]}
    unseen, strange = [], []
    for g in range(m.ngeom):
        solid, colour = solids[g], colours[g]
        # a solid geom is shown where nothing else of its body is, or skins would cover it
        visible = seen[g] or (solid and colour[3] > 0.0 and (m.nskin > 0 or int(m.geom_bodyid[g]) not in showing))
        if not (solid or visible):
            unseen.append(g)
            continue
        kind = r.word("Geom", m.geom_type[g])
        shared = int(m.geom_dataid[g]) if kind in ("mesh", "hfield") else -1 - g
        still = bool(m.body_weldid[m.geom_bodyid[g]] == 0)
        key = (int(m.geom_type[g]), shared, solid, still)
        if key not in made:
            made[key] = _shape(r, g, solid, still)
        shape = made[key]
        if shape is None:
            strange.append(g)
            continue
        X, own = frame(m.geom_pos[g], m.geom_quat[g]), out.setdefault(int(m.geom_bodyid[g]), [])
        material = touching.material(g) if touching is not None and solid else None
        # MuJoCo touches meshes by their convex hulls: an unseen hull beside the mesh, where they differ
        if touching is not None and solid and kind == "mesh" and r.meshes == "convex":
            if shared not in hulls:
                hulls[shared] = convex_hull(m, shared)
            if (hull := hulls[shared]) is not None and not _alike(hull, shape):
                own.append(Placed(hull, X, visible=False, material=material))
                own += [Placed(shape, X, colour=colour, solid=False)] if visible else []
                continue
        own.append(Placed(shape, X, colour=colour, visible=visible, solid=solid, material=material))
    r.leave_all("geoms", "geom", unseen, "neither touch nor show; only the mass of their bodies remains of them")
    r.leave_all("geoms", "geom", strange, "a signed distance field or another shape without triangles; no shape here")
    return out, touching


def _solid(r: Reading) -> list[bool]:
    m = r.m
    paired = {int(g) for pair in (m.pair_geom1, m.pair_geom2) for g in pair}
    touching = not r.off("contact")
    return [touching and bool(m.geom_contype[g] or m.geom_conaffinity[g] or g in paired) for g in range(m.ngeom)]


def moved(shapes: list[Placed], X: Pose) -> list[Placed]:
    """The same shapes from another frame, in which theirs has the pose X."""
    return [replace(s, X_BS=X @ s.X_BS) for s in shapes]


def _colour(m: Any, g: int) -> tuple[float, ...]:
    rgba = m.geom_rgba[g]
    if m.geom_matid[g] >= 0 and np.allclose(rgba, UNPAINTED):
        rgba = m.mat_rgba[m.geom_matid[g]]
    return tuple(float(c) for c in np.clip(np.asarray(rgba, float), 0.0, 1.0))


def _shape(r: Reading, g: int, solid: bool, still: bool) -> Shape | None:
    m = r.m
    kind, (a, b, c) = r.word("Geom", m.geom_type[g]), (float(x) for x in m.geom_size[g])
    data = int(m.geom_dataid[g])
    if kind == "plane":
        return Plane(size=2.0 * max(a, b) or ENDLESS)
    if kind == "sphere":
        return Sphere(a)
    if kind == "capsule":
        return Capsule(radius=a, length=2.0 * b)
    if kind == "cylinder":
        return Cylinder(radius=a, length=2.0 * b)
    if kind == "ellipsoid":
        return Ellipsoid((a, b, c))
    if kind == "box":
        return Box((2.0 * a, 2.0 * b, 2.0 * c))
    if kind == "mesh" and data >= 0:
        return _mesh(m, data, solid)
    if kind == "hfield" and data >= 0:
        return ground(m, data) if solid and still else terrain(m, data)
    return None


def _mesh(m: Any, i: int, solid: bool) -> Shape:
    first, face = int(m.mesh_vertadr[i]), int(m.mesh_faceadr[i])
    vertices = np.array(m.mesh_vert[first : first + m.mesh_vertnum[i]], float)
    faces = np.array(m.mesh_face[face : face + m.mesh_facenum[i]], np.int64)
    if solid and closed(faces):
        with suppress(ModelError):  # inside out, or with faces without area
            return Mesh(vertices, faces)
    return OpenMesh(vertices, faces)


def convex_hull(m: Any, i: int) -> Mesh | None:
    """The convex hull by which a mesh touches in MuJoCo; None for what is flat."""
    from scipy.spatial import ConvexHull, QhullError  # SciPy comes when a file needs it

    first, at = int(m.mesh_vertadr[i]), int(m.mesh_graphadr[i])
    vertices = np.array(m.mesh_vert[first : first + m.mesh_vertnum[i]], float)
    if at >= 0:  # MuJoCo's own: numbers of vertices and faces, where each vertex's edges begin, its number in the mesh, …
        count = int(m.mesh_graph[at])
        vertices = vertices[np.unique(np.array(m.mesh_graph[at + 2 + count : at + 2 + 2 * count]))]
    try:
        hull = ConvexHull(vertices)
        faces = np.searchsorted(hull.vertices[np.argsort(hull.vertices)], hull.simplices)
        corners = vertices[np.sort(hull.vertices)]
        a, b, c = (corners[faces[:, k]] for k in range(3))
        inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
        faces[inward] = faces[inward][:, ::-1]
        return Mesh(corners, faces)
    except (QhullError, ModelError):
        return None


def _alike(hull: Mesh, shape: Shape) -> bool:
    """Whether a mesh is its own convex hull."""
    return isinstance(shape, Mesh) and abs(shape.volume - hull.volume) <= CONVEX * hull.volume


def closed(faces: np.ndarray) -> bool:
    """Whether each directed edge occurs once, and its reverse once; `Mesh` asks the same, and says where not.

    >>> closed(np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    True
    """
    n = int(faces.max()) + 1
    a, b = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    there, back = np.sort(a * n + b), np.sort(b * n + a)
    return bool((np.diff(there) > 0).all() and np.array_equal(there, back))


def ground(m: Any, i: int) -> HeightField:
    """A height field that rests: x along columns, y along rows, elevations 0 … 1 times the largest."""
    rows, columns = int(m.hfield_nrow[i]), int(m.hfield_ncol[i])
    half_x, half_y, height, _ = (float(x) for x in m.hfield_size[i])
    first = int(m.hfield_adr[i])
    heights = height * np.array(m.hfield_data[first : first + rows * columns], float).reshape(rows, columns)
    return HeightField(heights, (2.0 * half_x / (columns - 1), 2.0 * half_y / (rows - 1)))


def terrain(m: Any, i: int) -> OpenMesh:
    """The surface of a height field that moves or is only seen."""
    rows, columns = int(m.hfield_nrow[i]), int(m.hfield_ncol[i])
    half_x, half_y, height, _ = (float(x) for x in m.hfield_size[i])
    first = int(m.hfield_adr[i])
    z = height * np.array(m.hfield_data[first : first + rows * columns], float)
    y, x = np.meshgrid(np.linspace(-half_y, half_y, rows), np.linspace(-half_x, half_x, columns), indexing="ij")
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    right, up, across = corner + 1, corner + columns, corner + columns + 1
    faces = np.concatenate([np.stack([corner, right, across], axis=1), np.stack([corner, across, up], axis=1)])
    return OpenMesh(np.stack([x.ravel(), y.ravel(), z], axis=1), faces)
