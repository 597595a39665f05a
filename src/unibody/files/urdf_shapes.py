"""The shapes of links: what is seen (`visual`) and what is touched (`collision`), with their colours.

Primitives are taken as they are: axes of cylinders and capsules along z, centred, as ours. Meshes that are seen are open surfaces, one for
each colour; meshes that are touched are solids if they close. A mesh of several
colours keeps them; one of a single colour takes that of the link's material, if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.mesh_loading import Part, load_mesh
from unibody.files.urdf_grammar import Read
from unibody.files.urdf_links import pose_of
from unibody.files.xml_safety import Folders
from unibody.shapes import Box, Capsule, Cylinder, Placed, Shape, Sphere
from unibody.spatial.pose import Pose


@dataclass
class Wardrobe:
    """The shapes of a robot's links, each mesh file read once."""

    read: Read
    folders: Folders
    meshes: bool
    skipped: list[str] = field(default_factory=list)
    textured: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    clipped: list[str] = field(default_factory=list)
    unpainted: list[str] = field(default_factory=list)
    _files: dict[Path, tuple[Part, ...]] = field(default_factory=dict)
    _shapes: dict[tuple[Path, tuple[float, ...], bool], list[tuple[Shape, tuple[float, ...] | None]]] = field(default_factory=dict)
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
                placed += self._placed(element, link.name, touched, number in self.read.capsules, visible=not touched or blind)
                number += 1
        return out

    def _placed(self, element: Any, link: str, touched: bool, capsule: bool, visible: bool) -> list[Placed]:
        X = pose_of(element.origin)
        colour = None if touched else self._colour(element.material, link)
        what = f"{'collision' if touched else 'visual'} of link '{link}'"
        parts = self._geometry(element.geometry, link, what, touched, capsule)
        painted = len(parts) > 1 or colour is None
        return [
            Placed(shape, X, colour=None if touched else own or colour if painted else colour, visible=visible, solid=touched)
            for shape, own in parts
        ]

    def _geometry(self, geometry: Any, link: str, what: str, touched: bool, capsule: bool) -> list[tuple[Shape, tuple[float, ...] | None]]:
        primitive = geometry.box or geometry.sphere or geometry.cylinder
        if primitive is not None:
            sizes = [x for value in vars(primitive).values() for x in np.atleast_1d(value)]
            if min(sizes) == 0.0:
                self.empty.append(link)
                return []
            if min(sizes) < 0.0:
                raise ModelError(f"{what}: {type(primitive).__name__.lower()} with the size {min(sizes):g}; give sizes above 0")
            kind: Any = Box if geometry.box is not None else Sphere if geometry.sphere is not None else Capsule if capsule else Cylinder
            return [(kind(*(tuple(v) if np.ndim(v) else v for v in vars(primitive).values())), None)]
        if not self.meshes:
            self.skipped.append(link)
            return []
        path = self.folders.resolve(geometry.mesh.filename, f"mesh in the {what}")
        scale = tuple(np.broadcast_to(1.0 if geometry.mesh.scale is None else geometry.mesh.scale, 3).tolist())
        key = (path, scale, touched)
        if key not in self._shapes:
            if path not in self._files:
                self._files[path] = load_mesh(path, f"mesh in the {what}")
            self._shapes[key] = [(p.solid(scale) if touched else p.surface(scale), p.colour) for p in self._files[path]]
        return self._shapes[key]

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


def moved(placed: Placed, X_BL: Pose) -> Placed:
    """A shape of a link that is part of a body."""
    return Placed(placed.shape, X_BL @ placed.X_BS, placed.colour, placed.visible, placed.solid, placed.material)
