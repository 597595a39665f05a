"""Meshes beside a model, through trimesh: STL, OBJ, DAE, PLY, glTF, GLB.

A file may hold several meshes at poses of their own and with colours; those of one colour become one. Positions are in the file's unit,
which is the metre except in DAE files that say otherwise. The up-axis that a DAE file names is ignored, as robots' tools do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.xml_safety import check_xml
from unibody.shapes import Mesh, OpenMesh, Shape
from unibody.shapes.mesh_files import read_obj_objects
from unibody.shapes.mesh_formats import read_scene

LARGEST_MESH = 512_000_000
"""Bytes."""
MOST_OBJECTS = 64
"""Of more the file is one: they are screws and bolts, not convex pieces."""
GREY = 0.7
"""Red, green and blue in place of a texture."""
KINDS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf")


@dataclass(frozen=True)
class MeshPart:
    """The triangles of one colour."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[float, ...] | None

    def surface(self, scale: Any = 1.0) -> OpenMesh:
        """To be looked at."""
        return OpenMesh(*_scaled(self.vertices, self.faces, scale))

    def solid(self, scale: Any = 1.0) -> Shape:
        """To be touched: a `Mesh` if it closes, else an `OpenMesh`."""
        vertices, faces = _scaled(self.vertices, self.faces, scale)
        try:
            return Mesh(vertices, faces)
        except ModelError:
            return OpenMesh(vertices, faces)


def load_mesh(path: Path, what: str) -> tuple[MeshPart, ...]:
    """The parts of a mesh file; `what` begins messages."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ModelError(f"{what}: meshes with the ending '{path.suffix}' are not read ('{path}'); give {', '.join(KINDS)}")
    size = path.stat().st_size
    if size > LARGEST_MESH:
        raise ModelError(f"{what}: '{path}' has {size} bytes, at most {LARGEST_MESH} are read; make it coarser")
    data = path.read_bytes()
    if kind == ".dae":
        check_xml(data, f"{what}: '{path}'")
    try:
        import trimesh  # noqa: F401

        if kind == ".dae":
            import collada  # noqa: F401

            data = _untextured(data)
    except ImportError as error:
        raise ModelError(f"meshes need {error.name}, which is not installed; pip install unibody[import]") from None
    try:
        parts = _by_colour(read_scene(data, kind, path))
    except Exception as error:  # trimesh and pycollada raise whatever a broken file makes them trip over
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ModelError(f"{what}: '{path}' cannot be read ({said}); export it again") from error
    if not parts:
        raise ModelError(f"{what}: no triangles in '{path}'; export the mesh again")
    if not all(np.isfinite(p.vertices).all() for p in parts):
        raise ModelError(f"{what}: '{path}' holds vertices that are not finite; export it again")
    return parts


def load_objects(path: Path, what: str, parts: tuple[MeshPart, ...]) -> list[np.ndarray]:
    """The points of each object of a file whose parts are read: of an OBJ those of its `o` and `g`, of others all as one. OBJs that hold a
    decomposition into convex pieces have an object for each."""
    whole = [np.concatenate([p.vertices for p in parts])]
    if path.suffix.lower() != ".obj":
        return whole
    try:
        vertices, objects = read_obj_objects(path, lenient=True)
        found = [vertices[np.unique(faces)] for faces in objects]
    except (ModelError, IndexError):  # trimesh reads some that our reader does not
        return whole
    return found if len(found) <= MOST_OBJECTS else whole


def exact(parts: tuple[MeshPart, ...], scale: Any = 1.0) -> Mesh | None:
    """All parts together as a solid, mended where they are broken; None if they do not close."""
    starts = np.cumsum([0, *(len(p.vertices) for p in parts)])
    faces = np.concatenate([p.faces + s for p, s in zip(parts, starts, strict=False)])
    try:
        return Mesh.closing(*_scaled(np.concatenate([p.vertices for p in parts]), faces, scale))
    except ModelError:
        return None


def _untextured(data: bytes) -> bytes:
    """A DAE file with grey in place of every texture: pycollada leaves out a mesh whose texture it cannot find."""
    from lxml import etree

    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    for texture in root.findall(".//{*}texture"):
        grey = etree.Element(texture.tag.replace("texture", "color"))
        grey.text = f"{GREY} {GREY} {GREY} 1"
        texture.getparent().replace(texture, grey)
    for tag in ("newparam", "library_images"):
        for element in root.findall(f".//{{*}}{tag}"):
            element.getparent().remove(element)
    return bytes(etree.tostring(root))


def _by_colour(meshes: list[tuple[np.ndarray, Any]]) -> tuple[MeshPart, ...]:
    import trimesh

    groups: dict[tuple[float, ...] | None, list[tuple[np.ndarray, np.ndarray]]] = {}
    for matrix, mesh in meshes:
        turned = np.asarray(matrix)[:3, :3] * _metres(mesh.metadata.get("units"))
        faces = np.asarray(mesh.faces)
        if np.linalg.det(turned) < 0.0:
            faces = faces[:, ::-1]
        vertices = np.asarray(mesh.vertices) @ turned.T + np.asarray(matrix)[:3, 3] * _metres(mesh.metadata.get("units"))
        groups.setdefault(_colour(mesh), []).append((vertices, faces))
    parts = []
    for colour, pieces in groups.items():
        starts = np.cumsum([0, *(len(v) for v, _ in pieces)])
        faces = np.concatenate([f + s for (_, f), s in zip(pieces, starts, strict=False)])
        whole = trimesh.Trimesh(np.concatenate([v for v, _ in pieces]), faces, process=False)
        whole.merge_vertices()
        parts.append(MeshPart(np.asarray(whole.vertices), np.asarray(whole.faces), colour))
    return tuple(parts)


def _metres(units: str | None) -> float:
    """DAE: '0.01 * meters'."""
    match = re.fullmatch(r"([-+.\deE]+) \* meters", units or "")
    return float(match.group(1)) if match else 1.0


def _colour(mesh: Any) -> tuple[float, ...] | None:
    """The colour of a mesh that has one, else None."""
    visual = mesh.visual
    if not visual.defined or (visual.kind == "texture" and getattr(visual.material, "diffuse", True) is None):
        return None
    if visual.kind is None:
        return None
    colour = visual.material.main_color if visual.kind == "texture" else visual.main_color
    rgba = tuple(round(float(c) / 255.0, 4) for c in np.asarray(colour)[:4])
    return rgba if len(rgba) == 4 and rgba[3] < 1.0 and rgba[3] > 0.0 else rgba[:3]


def _scaled(vertices: np.ndarray, faces: np.ndarray, scale: Any) -> tuple[np.ndarray, np.ndarray]:
    """Faces turn over when the scale mirrors."""
    factors = np.broadcast_to(np.asarray(scale, float), 3)
    return vertices * factors, faces[:, ::-1] if np.prod(factors) < 0.0 else faces
