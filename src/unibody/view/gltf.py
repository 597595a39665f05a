"""glTF 2.0: a recording as an animated scene for other programs, or a model at rest.

One node per body, with its name, its shapes as children; meshes are shared between equal shapes and materials between equal colours.
A root node turns our z up into glTF's y up. Bodies move by linear samplers of translation and rotation. A strand is one unit line per
segment, whose node is moved, turned and stretched: the turn is carried along from frame to frame by the shortest rotation, so that it
never swings about the line. A rod is a cylinder per segment, moved like a strand's. The surface of a deformable is one mesh with a
morph target per state after the first, x_k − x₀ and its normals n_k − n₀; at each state one weight is 1, so that vertices go straight
from state to state. Time 0 is the first state. Numbers are single precision, as the format demands.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model
from unibody.shapes import Cylinder
from unibody.simulation import Recording
from unibody.simulation.whole_file import remedy, whole_file
from unibody.view.look import Solids, quaternions
from unibody.view.reel import Reel, continuous
from unibody.view.render_mesh import broken, vertex_normals, with_normals
from unibody.view.style import INK, rgb
from unibody.view.surfaces import cleaned, closed, smooth

FLOAT, USHORT, UINT = 5126, 5123, 5125
LINES, TRIANGLES = 1, 4
VERTICES, INDICES = 34962, 34963
ROUND = 12
"""Segments around a rod."""
SHORTEST = 1e-9
"""A strand of no length is this long [m]: glTF's nodes must not be flattened to nothing."""


def write_glb(shown: Recording | Model, path: str | Path, *, fps: float | None = None) -> Path:
    """Write a binary .glb file of a recording (all its states, or `fps` per second of its time) or of a model at its start."""
    document, data = scene(shown, fps)
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("utf-8")
    chunks = [(b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", data)]
    body = b"".join(struct.pack("<I4s", len(chunk), kind) + chunk for kind, chunk in chunks)
    return _written(path, struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)


def write_gltf(shown: Recording | Model, path: str | Path, *, fps: float | None = None) -> Path:
    """Write a .gltf file of a recording or a model: what `write_glb` writes, as text with the numbers in base64."""
    document, data = scene(shown, fps)
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode("ascii")
    return _written(path, json.dumps(document, indent=1, allow_nan=False).encode("utf-8"))


def write(shown: Recording | Model, path: str | Path, *, fps: float | None = None) -> Path:
    """By the name's ending: .glb or .gltf."""
    writers = {".glb": write_glb, ".gltf": write_gltf}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise ModelError(f"file '{path}' ends in '{ending}'; give a file that ends in .glb or .gltf")
    return writers[ending](shown, path, fps=fps)


def _written(path: str | Path, data: bytes) -> Path:
    target = Path(path)
    try:
        with whole_file(target) as file:
            file.write(data)
    except OSError as error:
        raise ModelError(f"file '{target}' cannot be written ({error.strerror}); {remedy(error)}") from None
    return target


def scene(shown: Recording | Model, fps: float | None = None) -> tuple[dict[str, Any], bytes]:
    """The document and its one buffer."""
    reel = Reel.still(shown) if isinstance(shown, Model) else Reel.of(shown, fps)
    made = Document()
    children = [*_bodies(made, reel), *_strands(made, reel), *_surfaces(made, reel), *_rods(made, reel)]
    root = {"name": "z up", "rotation": [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]}
    made.add("nodes", root | ({"children": children} if children else {}))
    return made.finished()


class Document:
    """Lists of a glTF document that grow, and the buffer behind them."""

    def __init__(self) -> None:
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self._found: dict[Any, int] = {}
        self._data = bytearray()
        self._channels: list[dict[str, Any]] = []
        self._samplers: list[dict[str, Any]] = []

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Append to one of the lists; its index."""
        self.lists.setdefault(kind, []).append(item)
        return len(self.lists[kind]) - 1

    def once(self, key: Any, kind: str, item: dict[str, Any]) -> int:
        """Append what has this key unless it is there already."""
        if key not in self._found:
            self._found[key] = self.add(kind, item)
        return self._found[key]

    def numbers(self, array: np.ndarray, component: int = FLOAT, target: int | None = None, bounds: bool = False) -> int:
        """An accessor over a copy of the array, (n,) or (n, k)."""
        data = np.ascontiguousarray(array, {FLOAT: "<f4", USHORT: "<u2", UINT: "<u4"}[component])
        view = {"buffer": 0, "byteOffset": len(self._data), "byteLength": data.nbytes} | ({"target": target} if target else {})
        self._data += data.tobytes() + b"\0" * (-data.nbytes % 4)
        kind = "SCALAR" if data.ndim == 1 else f"VEC{data.shape[1]}"
        item = {"bufferView": self.add("bufferViews", view), "componentType": component, "count": len(data), "type": kind}
        if bounds:
            rows = data.reshape(len(data), -1)
            item |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", item)

    def animate(self, node: int, path: str, times: int, values: np.ndarray) -> None:
        """Let a property of a node follow values over times."""
        self._samplers.append({"input": times, "output": self.numbers(values), "interpolation": "LINEAR"})
        self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    def finished(self) -> tuple[dict[str, Any], bytes]:
        import unibody

        nodes = self.lists["nodes"]
        out: dict[str, Any] = {"asset": {"version": "2.0", "generator": f"Unibody {unibody.__version__}"}, "scene": 0}
        out |= {"scenes": [{"nodes": [len(nodes) - 1]}], **self.lists}
        if self._channels:
            out["animations"] = [{"name": "motion", "channels": self._channels, "samplers": self._samplers}]
        if self._data:
            out["buffers"] = [{"byteLength": len(self._data)}]
        return out, bytes(self._data)


def _bodies(made: Document, reel: Reel) -> list[int]:
    """Nodes of all bodies that show something or move."""
    children: dict[int, list[int]] = {}
    for group in reel.look.solids:
        for owner, node in _instances(made, group):
            children.setdefault(owner, []).append(node)
    times = _times(made, reel)
    nodes = []
    for i, body in enumerate(reel.look.model.bodies):
        path = reel.poses[:, i]
        if i == 0 and i not in children:
            continue
        item: dict[str, Any] = {"name": body.name, "translation": path[0, :3].tolist(), "rotation": _xyzw(path[0, 3:]).tolist()}
        if i in children:
            item["children"] = children[i]
        nodes.append(made.add("nodes", item))
        if times is not None and np.ptp(path[:, :3], axis=0).any():
            made.animate(nodes[-1], "translation", times, path[_increasing(reel.t), :3])
        if times is not None and np.ptp(path[:, 3:], axis=0).any():
            made.animate(nodes[-1], "rotation", times, _xyzw(path[_increasing(reel.t), 3:]))
    return nodes


def _instances(made: Document, group: Solids) -> list[tuple[int, int]]:
    """(body, node) of each instance; one mesh per colour over the same numbers."""
    x, normals, faces = smooth(group.vertices, group.faces, group.flat)
    small = len(x) < 65535
    primitive = {
        "attributes": {"POSITION": made.numbers(x, target=VERTICES, bounds=True), "NORMAL": made.numbers(_unit(normals), target=VERTICES)},
        "indices": made.numbers(faces.ravel(), USHORT if small else UINT, INDICES), "mode": TRIANGLES,
    }  # fmt: skip
    inside = closed(cleaned(group.vertices, group.faces)[1])
    turns = quaternions(group.R_BS)
    out = []
    for k, body in enumerate(group.body):
        colour = tuple(np.round(group.colour[k], 6).tolist())
        material = _material(made, colour, group.opacity, not inside)
        mesh = made.once((primitive["indices"], colour), "meshes", {"name": group.kind, "primitives": [primitive | {"material": material}]})
        place = {"translation": group.p_BS[k].tolist(), "rotation": _xyzw(turns[k]).tolist(), "scale": group.scale[k].tolist()}
        out.append((int(body), made.add("nodes", {"name": group.kind, "mesh": mesh, **place})))
    return out


def _material(made: Document, colour: tuple[float, ...], opacity: float, open_: bool) -> int:
    surface = {"baseColorFactor": [*(round(c**2.2, 6) for c in colour), opacity], "metallicFactor": 0.0, "roughnessFactor": 0.7}
    item: dict[str, Any] = {"pbrMetallicRoughness": surface}
    if opacity < 1.0:
        item["alphaMode"] = "BLEND"
    if open_:
        item["doubleSided"] = True
    return made.once((colour, opacity, open_), "materials", item)


def _strands(made: Document, reel: Reel) -> list[int]:
    """A unit line for each segment of each strand."""
    if not reel.look.strands:
        return []
    line = {"POSITION": made.numbers(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), target=VERTICES, bounds=True)}
    material = _material(made, rgb(INK), 1.0, False)
    mesh = made.add("meshes", {"name": "line", "primitives": [{"attributes": line, "mode": LINES, "material": material}]})
    x = [strand.points(*reel.placed) for strand in reel.look.strands]
    names = [strand.name for strand, points in zip(reel.look.strands, x, strict=True) for _ in range(points.shape[1] - 1)]
    a, b = np.concatenate([q[:, :-1] for q in x], axis=1), np.concatenate([q[:, 1:] for q in x], axis=1)
    return _segments(made, reel, names, mesh, a, b)


def _segments(made: Document, reel: Reel, names: list[str], mesh: int, a: np.ndarray, b: np.ndarray, thick: float = 1.0) -> list[int]:
    """A node for each way from a (F, n, 3) to b (F, n, 3): the mesh, which goes from z = 0 to 1, stretched, and `thick` times as thick."""
    times, rows = _times(made, reel), _increasing(reel.t)
    turn, length = stretched(b - a)
    turn, scale = _xyzw(turn), np.stack([np.full_like(length, thick), np.full_like(length, thick), length], axis=-1)
    moving = (np.ptp(a, axis=0) + np.ptp(b, axis=0)).any(axis=-1)
    nodes = []
    for k, name in enumerate(names):
        place = {"translation": a[0, k].tolist(), "rotation": turn[0, k].tolist(), "scale": scale[0, k].tolist()}
        nodes.append(made.add("nodes", {"name": name, "mesh": mesh, **place}))
        if times is not None and moving[k]:
            for what, values in (("translation", a), ("rotation", turn), ("scale", scale)):
                made.animate(nodes[-1], what, times, values[rows, k])
    return nodes


def _surfaces(made: Document, reel: Reel) -> list[int]:
    """Surfaces of deformables, each a mesh with morph targets."""
    nodes = []
    for soft in reel.look.soft:
        if len(soft.faces):
            of, _, faces = broken(soft.rest, soft.faces)
            rows = _increasing(reel.t)
            x = soft.places(reel.x[rows])[:, of]
            normals = np.array([_unit(vertex_normals(q, faces)) for q in x])
            still = len(rows) < 2 or not np.ptp(x, axis=0).any()
            primitive: dict[str, Any] = {
                "attributes": _shape(made, x[0], normals[0]), "mode": TRIANGLES,
                "indices": made.numbers(faces.ravel(), USHORT if len(of) < 65535 else UINT, INDICES),
                "material": _material(made, tuple(np.round(soft.colour, 6).tolist()), 1.0, not closed(soft.faces)),
            }  # fmt: skip
            mesh: dict[str, Any] = {"name": soft.name, "primitives": [primitive]}
            if not still:
                primitive["targets"] = [_shape(made, q - x[0], n - normals[0]) for q, n in zip(x[1:], normals[1:], strict=True)]
                mesh["weights"] = [0.0] * (len(rows) - 1)
            nodes.append(made.add("nodes", {"name": soft.name, "mesh": made.add("meshes", mesh)}))
            times = _times(made, reel)
            if not still and times is not None:
                made.animate(nodes[-1], "weights", times, np.eye(len(rows))[:, 1:].ravel())
    return nodes


def _shape(made: Document, x: np.ndarray, normals: np.ndarray) -> dict[str, int]:
    """Accessors of a mesh or of a morph target."""
    return {"POSITION": made.numbers(x, target=VERTICES, bounds=True), "NORMAL": made.numbers(normals, target=VERTICES)}


def _rods(made: Document, reel: Reel) -> list[int]:
    """A unit cylinder for each edge of each rod."""
    nodes = []
    for soft in reel.look.soft:
        if len(soft.edges):
            vertices, faces = cleaned(*Cylinder(1.0, 1.0).triangles(ROUND))
            x, normals, faces = with_normals(vertices + (0.0, 0.0, 0.5), faces)
            primitive = {
                "attributes": _shape(made, x, _unit(normals)), "indices": made.numbers(faces.ravel(), USHORT, INDICES), "mode": TRIANGLES,
                "material": _material(made, tuple(np.round(soft.colour, 6).tolist()), 1.0, False),
            }  # fmt: skip
            mesh = made.add("meshes", {"name": soft.name, "primitives": [primitive]})
            a, b = np.moveaxis(soft.places(reel.x)[:, soft.edges], 2, 0)
            nodes += _segments(made, reel, [soft.name] * len(soft.edges), mesh, a, b, soft.radius)
    return nodes


def stretched(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """wxyz (F, n, 4) that turn z into the directions of d (F, n, 3), each by the shortest way from the frame before, and lengths (F, n)."""
    length = np.maximum(np.linalg.norm(d, axis=-1), SHORTEST)
    u = np.where(length[..., None] > SHORTEST, d / length[..., None], (0.0, 0.0, 1.0))
    q = np.zeros((*length.shape, 4))
    before, turned = np.broadcast_to((0.0, 0.0, 1.0), u.shape[1:]), np.broadcast_to((1.0, 0.0, 0.0, 0.0), q.shape[1:])
    for k, now in enumerate(u):
        q[k] = turned = _product(_shortest(before, now), turned)
        before = now
    return continuous(np.concatenate([u, q], axis=-1))[..., 3:], length


def _shortest(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """wxyz (n, 4) of the shortest rotations from unit vectors a (n, 3) to b (n, 3); half a turn about any normal if they are opposite."""
    cosine = np.einsum("ij,ij->i", a, b)[:, None]
    normal = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=1)])
    q = np.where(cosine > -1.0 + 1e-12, np.concatenate([1.0 + cosine, np.cross(a, b)], axis=1), np.insert(normal, 0, 0.0, axis=1))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions wxyz (n, 4)."""
    w = a[:, :1] * b[:, :1] - np.einsum("ij,ij->i", a[:, 1:], b[:, 1:])[:, None]
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w, v], axis=1)


def _times(made: Document, reel: Reel) -> int | None:
    """The accessor of the times, if something can move."""
    rows = _increasing(reel.t)
    if len(rows) < 2:
        return None
    if "times" not in made._found:
        made._found["times"] = made.numbers((reel.t - reel.t[0])[rows], bounds=True)
    return made._found["times"]


def _increasing(t: np.ndarray) -> np.ndarray:
    """Rows whose times differ in single precision."""
    single = (t - t[0]).astype(np.float32)
    return np.flatnonzero(np.diff(single, prepend=np.float32(-1.0)) > 0.0)


def _xyzw(wxyz: np.ndarray) -> np.ndarray:
    """glTF's order, of unit length in single precision."""
    q = np.roll(wxyz, -1, axis=-1)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def _unit(normals: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 0.5, normals / np.maximum(length, 1e-300), (0.0, 0.0, 1.0))
