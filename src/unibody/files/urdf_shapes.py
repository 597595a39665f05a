"""The shapes of links: what is seen (`visual`) and what is touched (`collision`), with their colours.

Primitives are taken as they are: axes of cylinders and capsules along z, centred, as ours. Meshes that are seen are open surfaces, one for
each colour. A mesh of several colours keeps them; one of a single colour takes that of the link's material, if there is one.

Meshes that are touched become convex hulls, one for each object of an OBJ file, as in Bullet: what rests, rolls and grips does so on hulls,
and contact of hulls is fast. A hull has at most `HULL_VERTICES` vertices, and what reaches out of it by less than `HULL_TOLERANCE` of its
longest side is left out. With meshes="exact", or `concave="yes"` (Bullet's word) at the element, the surface itself is taken: a solid where
it closes, mended if need be (`Mesh.load`); where it does not, the open surface of links that stand still, and the hull of links that move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.mesh_loading import MeshPart, exact, load_mesh, load_objects
from unibody.files.urdf_grammar import Read, named
from unibody.files.urdf_links import pose_of
from unibody.files.xml_safety import Folders
from unibody.shapes import Box, Capsule, Cylinder, Mesh, Placed, Plane, Shape, Sphere
from unibody.shapes.hull import hull_of
from unibody.spatial.pose import Pose

HULL_VERTICES = 4096
HULL_TOLERANCE = 1e-4
Painted = list[tuple[Shape, tuple[float, ...] | None]]
"""Shapes with colours of their own."""


@dataclass
class Wardrobe:
    """The shapes of a robot's links, each mesh file read once."""

    read: Read
    folders: Folders
    meshes: str
    """"convex", "exact", "skip" (as "convex", but without files that are missing or broken) or "none"."""
    still: set[str]
    """Links that never move."""
    skipped: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    textured: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    unpainted: list[str] = field(default_factory=list)
    clipped: list[str] = field(default_factory=list)
    hulls: dict[str, float] = field(default_factory=dict)
    """Names of files that became hulls, and how far they reach out of these [m]."""
    unclosed: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    flat: list[str] = field(default_factory=list)
    endless: list[str] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """Links of which a mesh was not read."""
    _files: dict[Path, tuple[MeshPart, ...]] = field(default_factory=dict)
    _shapes: dict[Any, Painted] = field(default_factory=dict)
    _colours: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen = [v.material for link in self.read.robot.links for v in link.visuals if v.material is not None]
        for material in [*self.read.robot.materials, *seen]:
            if material.texture is not None:
                self.textured.append(material.name or "a material without a name")
            if material.name and material.color is not None:
                self._colours.setdefault(material.name, material.color)

    def shapes(self) -> dict[str, list[Placed]]:
        """The placed shapes of every link, in its frame. If the file shows nothing, what is touched is shown."""
        blind = not any(link.visuals for link in self.read.robot.links)
        out: dict[str, list[Placed]] = {}
        number = 0
        for link in self.read.robot.links:
            placed = out.setdefault(link.name, [])
            for element, touched in [*((v, False) for v in link.visuals), *((c, True) for c in link.collisions)]:
                placed += self._placed(element, link.name, touched, number, visible=not touched or blind)
                number += 1
        return out

    def left_out(self) -> list[str]:
        """What is said of them, for `left_out`."""
        told = {
            "meshes of links {}: not read, since meshes=false": self.skipped,
            "meshes that are missing or broken, left out since meshes=skip: {}": self.missing,
            "textures of materials {}: surfaces have one colour": self.textured,
            "shapes of links {}: a size of theirs is 0": self.empty,
            "materials of links {}: nothing in the file says what they look like": self.unpainted,
            "colours of links {}: brought into 0 … 1": self.clipped,
            "collision meshes {}: they do not close; their links move, so that their convex hulls were taken": self.unclosed,
            "collision meshes {}: flat, without a convex hull; they were taken as open surfaces": self.flat,
            "planes of links {}: half-spaces do not move": self.endless,
        }
        return [line.format(named(names)) for line, names in told.items() if names]

    def notes(self) -> list[str]:
        out = []
        if self.hulls:
            far = max(self.hulls.values())
            reach = f" (which reach up to {far:.2g} m out of their at most {HULL_VERTICES} vertices)" if far > 0.0 else ""
            out.append(f"collision meshes are convex hulls of {len(self.hulls)} files{reach}; meshes=exact keeps what closes")
        if self.mended:
            out.append("collision meshes that were mended: " + "; ".join(dict.fromkeys(self.mended)))
        return out

    def _placed(self, element: Any, link: str, touched: bool, number: int, visible: bool) -> list[Placed]:
        X = pose_of(element.origin)
        colour = None if touched else self._colour(element.material, link)
        what = f"{'collision' if touched else 'visual'} of link '{link}'"
        if number in self.read.planes:
            if link not in self.still:
                self.endless.append(link)
                return []
            return [Placed(Plane(), X @ turned_to(np.array(self.read.planes[number]), what), colour=colour, visible=visible, solid=touched)]
        primitive = element.geometry.box or element.geometry.sphere or element.geometry.cylinder
        if primitive is not None:
            parts = self._primitive(element.geometry, primitive, link, what, number in self.read.capsules)
        elif self.meshes == "none":
            self.skipped.append(link)
            self.unread.add(link)
            parts = []
        else:
            parts = self._mesh(element.geometry.mesh, link, what, touched, number in self.read.concave)
        painted = len(parts) > 1 or colour is None
        return [
            Placed(shape, X, colour=None if touched else own or colour if painted else colour, visible=visible, solid=touched)
            for shape, own in parts
        ]

    def _primitive(self, geometry: Any, primitive: Any, link: str, what: str, capsule: bool) -> Painted:
        sizes = [x for value in vars(primitive).values() for x in np.atleast_1d(value)]
        if min(sizes) == 0.0:
            self.empty.append(link)
            return []
        if min(sizes) < 0.0:
            raise ModelError(f"{what}: {type(primitive).__name__.lower()} with the size {min(sizes):g}; give sizes above 0")
        kind: Any = Box if geometry.box is not None else Sphere if geometry.sphere is not None else Capsule if capsule else Cylinder
        return [(kind(*(tuple(v) if np.ndim(v) else v for v in vars(primitive).values())), None)]

    def _mesh(self, mesh: Any, link: str, what: str, touched: bool, concave: bool) -> Painted:
        try:
            path = self.folders.resolve(mesh.filename, f"mesh in the {what}")
            if path not in self._files:
                self._files[path] = load_mesh(path, f"mesh in the {what}")
        except ModelError as error:
            if self.meshes == "skip" and "lies outside" not in str(error):
                self.missing.append(mesh.filename)
                self.unread.add(link)
                return []
            raise ModelError(f"{error}; or load with meshes=skip, without such files") from None
        scale = tuple(np.broadcast_to(1.0 if mesh.scale is None else mesh.scale, 3).tolist())
        if 0.0 in scale:
            self.empty.append(link)
            return []
        as_it_is = touched and (concave or self.meshes == "exact")
        key = (path, scale, touched, as_it_is, as_it_is and link in self.still)
        if key not in self._shapes:
            parts = self._files[path]
            if not touched:
                self._shapes[key] = [(p.surface(scale), p.colour) for p in parts]
            else:
                self._shapes[key] = [(shape, None) for shape in self._solids(path, what, parts, scale, as_it_is, link in self.still)]
        return self._shapes[key]

    def _solids(self, path: Path, what: str, parts: tuple[MeshPart, ...], scale: Any, as_it_is: bool, still: bool) -> list[Shape]:
        """What is touched of a mesh file."""
        if as_it_is:
            solid = exact(parts, scale)
            if solid is not None:
                self.mended += [f"'{path.name}' ({solid.mended})"] if solid.mended else []
                return [solid]
            if still:
                return [p.surface(scale) for p in parts]
            self.unclosed.append(path.name)
        out: list[Shape] = []
        try:
            for points in load_objects(path, what, parts):
                vertices, faces, reach = hull_of(points * np.array(scale), HULL_VERTICES, HULL_TOLERANCE)
                self.hulls[path.name] = max(self.hulls.get(path.name, 0.0), reach)
                out.append(Mesh(vertices, faces))
        except ModelError:  # flat: without volume
            self.flat.append(path.name)
            return [p.surface(scale) for p in parts]
        return out

    def _colour(self, material: Any, link: str) -> tuple[float, ...] | None:
        if material is None:
            return None
        colour = material.color if material.color is not None else self._colours.get(material.name or "")
        if colour is None:
            if material.texture is None and material.name not in self.textured:
                self.unpainted.append(link)
            return None
        if colour.rgba.min() < 0.0 or colour.rgba.max() > 1.0:
            self.clipped.append(link)
        return tuple(np.clip(colour.rgba, 0.0, 1.0).tolist())


def turned_to(axis: np.ndarray, what: str) -> Pose:
    """The shortest turn that takes z to the axis."""
    size = float(np.linalg.norm(axis))
    if size < 1e-9:
        raise ModelError(f"{what}: axis {tuple(axis.tolist())} has no direction; give one such as 0 0 1")
    x, y, z = (axis / size).tolist()
    if x == y == 0.0:
        return Pose() if z > 0.0 else Pose.about((1.0, 0.0, 0.0), np.pi)
    return Pose.about((-y, x, 0.0), float(np.arctan2(np.hypot(x, y), z)))
