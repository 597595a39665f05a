"""The shapes of SDF links: what is seen (visual) and what is touched (collision), colours, friction and bounce.

Meshes that are seen are open surfaces; those that are touched become their convex hulls, as in URDF (`urdf_shapes`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.element import number
from unibody.errors import ModelError
from unibody.files.mesh_loading import load_mesh, load_objects
from unibody.files.sdf_frames import floats, pose_in
from unibody.files.urdf_shapes import HULL_TOLERANCE, HULL_VERTICES, turned_to
from unibody.files.xml_safety import Folders
from unibody.shapes import Box, Capsule, ContactMaterial, Cylinder, Ellipsoid, Mesh, Placed, Plane, Shape, Sphere
from unibody.shapes.hull import hull_of
from unibody.spatial.pose import Pose


@dataclass
class SdfShapes:
    """Makes the shapes of links; `aside(line, link)` collects what is left out."""

    folders: Folders
    aside: Callable[[str, str], None]
    hulls: set[str] = field(default_factory=set)

    def of(self, link: Any, name: str) -> list[Placed]:
        """Its placed shapes, in its frame; what is touched is seen only where nothing else is."""
        visuals, collisions = link.findall("visual"), link.findall("collision")
        out: list[Placed] = []
        for element, touched in [*((v, False) for v in visuals), *((c, True) for c in collisions)]:
            out += self._placed(element, name, touched, visible=not touched or not visuals)
        return out

    def notes(self) -> list[str]:
        return [f"collision meshes are convex hulls of {len(self.hulls)} files"] if self.hulls else []

    def _placed(self, element: Any, link: str, touched: bool, visible: bool) -> list[Placed]:
        what = f"{element.tag} '{element.get('name', '')}' of link '{link}'"
        for child in element:
            known = (
                ("pose", "geometry", "surface", "max_contacts")
                if touched
                else ("pose", "geometry", "material", "cast_shadows", "transparency")
            )
            if isinstance(child.tag, str) and child.tag not in known:
                self.aside(f"<{child.tag}> of {element.tag}s of links {{}}: not read", link)
        X, relative = pose_in(element, what)
        if relative:
            raise ModelError(f"{what}: its pose is relative to '{relative}'; give it in the link's frame")
        geometry = element.find("geometry")
        given = [] if geometry is None else [g for g in geometry if isinstance(g.tag, str)]
        if len(given) != 1:
            raise ModelError(f"{what}: {len(given)} shapes in its <geometry>; give one")
        shapes, turn = self._shape(given[0], link, what, touched)
        colour = None if touched else _colour(element, what)
        material = self._material(element, link, what) if touched else None
        return [Placed(s, X @ turn, colour=colour, visible=visible, solid=touched, material=material) for s in shapes]

    def _shape(self, g: Any, link: str, what: str, touched: bool) -> tuple[list[Shape], Pose]:
        def size(tag: str) -> float:
            return number(g.findtext(tag), f"{what} {tag}", positive=True)

        if g.tag == "box":
            return [Box(_three(floats(g.findtext("size"), (3,), f"{what} size")))], Pose()
        if g.tag == "sphere":
            return [Sphere(size("radius"))], Pose()
        if g.tag == "cylinder":
            return [Cylinder(size("radius"), size("length"))], Pose()
        if g.tag == "capsule":
            return [Capsule(size("radius"), size("length"))], Pose()
        if g.tag == "ellipsoid":
            return [Ellipsoid(_three(floats(g.findtext("radii"), (3,), f"{what} radii")))], Pose()
        if g.tag == "plane":
            normal = floats(g.findtext("normal", "0 0 1"), (3,), f"{what} normal")
            return [Plane()], turned_to(np.array(normal), what)
        if g.tag == "mesh":
            return self._mesh(g, what, touched), Pose()
        if g.tag != "empty":
            self.aside(f"<{g.tag}> shapes of links {{}}: not read", link)
        return [], Pose()

    def _mesh(self, g: Any, what: str, touched: bool) -> list[Shape]:
        uri = (g.findtext("uri") or "").strip().replace("model://", "package://").removeprefix("file://")
        path = self.folders.resolve(uri, f"mesh in the {what}")
        scale = floats(g.findtext("scale", "1 1 1"), (3,), f"{what} scale")
        if g.find("submesh") is not None:
            self.aside("<submesh> of links {}: the whole mesh was taken", what)
        parts = load_mesh(path, f"mesh in the {what}")
        if not touched:
            return [p.surface(scale) for p in parts]
        self.hulls.add(path.name)
        hulls = [hull_of(points * np.array(scale), HULL_VERTICES, HULL_TOLERANCE) for points in load_objects(path, what, parts)]
        return [Mesh(vertices, faces) for vertices, faces, _ in hulls]

    def _material(self, element: Any, link: str, what: str) -> ContactMaterial | None:
        surface = element.find("surface")
        if surface is None:
            return None
        known = {
            "friction": ("ode", "torsional", "bullet"),
            "bounce": ("restitution_coefficient", "threshold"),
            "contact": ("collide_bitmask",),
        }
        for part in surface:
            for child in part:
                if isinstance(child.tag, str) and child.tag not in known.get(part.tag, ()):
                    self.aside(f"<{part.tag}/{child.tag}> of collisions of links {{}}: not read", link)
        mu, mu2 = (surface.findtext(f"friction/ode/{k}") for k in ("mu", "mu2"))
        friction = None if mu is None else number(mu, f"{what} mu", minimum=0.0)
        if mu2 is not None and friction is not None and number(mu2, f"{what} mu2") != friction:
            self.aside("<mu2> of collisions of links {}: friction is alike in all directions, mu was taken", link)
        bounce = surface.findtext("bounce/restitution_coefficient")
        restitution = None if bounce is None else min(1.0, number(bounce, f"{what} restitution_coefficient", minimum=0.0))
        torsional = surface.find("friction/torsional")
        if torsional is not None:
            self.aside("torsional friction of links {}: not read", link)
        if friction is None and restitution is None:
            return None
        return ContactMaterial(friction=friction, restitution=restitution)


def _three(values: list[float]) -> tuple[float, float, float]:
    x, y, z = values
    return x, y, z


def _colour(element: Any, what: str) -> tuple[float, ...] | None:
    text = element.findtext("material/diffuse") or element.findtext("material/ambient")
    if text is None:
        return None
    rgba = floats(text, (3, 4), f"{what} diffuse")
    fade = 1.0 - number(element.findtext("transparency", "0"), f"{what} transparency")
    rgba = [*rgba[:3], (rgba[3] if len(rgba) > 3 else 1.0) * fade]
    return tuple(np.clip(rgba, 0.0, 1.0).tolist())
