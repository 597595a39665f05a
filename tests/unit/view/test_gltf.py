"""glTF: the Khronos validator has nothing to say, and the animation, evaluated as the format demands, is the recorded motion."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.view.gltf import stretched, write, write_glb, write_gltf
from unibody.view.look import rotations
from unibody.view.surfaces import closed

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from test_recorded_deformables import recording as deforming

VALIDATOR = "2.0.0-dev.3.10"
SCRIPT = """
const validator = require("gltf-validator"), fs = require("fs");
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1]))).then((r) => console.log(JSON.stringify(r.issues)));
"""
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Our axes in columns from glTF's: x is x, y is −z there, z is y there; this takes theirs back to ours."""


@pytest.fixture(scope="session")
def validated() -> Any:
    """A function that gives the issues of a file; the validator is installed once, by npm, into a folder for temporary files."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("no npm or node on this machine, which the Khronos glTF validator needs")
    folder = Path(os.environ.get("UNIBODY_NODE_MODULES", Path(tempfile.gettempdir()) / f"unibody-gltf-validator-{VALIDATOR}"))
    if not (folder / "node_modules" / "gltf-validator").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"gltf-validator@{VALIDATOR}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"npm cannot install the glTF validator: {done.stderr.strip()[-200:]}")

    def issues(path: Path) -> dict[str, Any]:
        done = subprocess.run(["node", "-e", SCRIPT, str(path)], capture_output=True, text=True, check=True, cwd=folder)
        return json.loads(done.stdout)

    return issues


class Scene:
    """A glTF file read anew: nodes with poses over time."""

    KINDS = {5126: "<f4", 5123: "<u2", 5125: "<u4"}  # noqa: RUF012
    WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}  # noqa: RUF012

    def __init__(self, path: Path):
        data = path.read_bytes()
        if path.suffix == ".glb":
            magic, version, length, size, kind = struct.unpack_from("<4sIII4s", data)
            assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
            self.json = json.loads(data[20 : 20 + size])
            rest, kind = struct.unpack_from("<I4s", data, 20 + size)
            assert kind == b"BIN\0" and 28 + size + rest == len(data)
            self.data = data[28 + size :]
        else:
            self.json = json.loads(data)
            self.data = base64.b64decode(self.json["buffers"][0]["uri"].split(",")[1])
        self.nodes = self.json["nodes"]
        self.parents = {child: k for k, node in enumerate(self.nodes) for child in node.get("children", ())}

    def array(self, accessor: int) -> np.ndarray:
        a = self.json["accessors"][accessor]
        view = self.json["bufferViews"][a["bufferView"]]
        width = self.WIDTHS[a["type"]]
        flat = np.frombuffer(self.data, self.KINDS[a["componentType"]], a["count"] * width, view["byteOffset"])
        return flat.reshape(a["count"], width).astype(float)

    def at(self, node: int, path: str, time: float) -> np.ndarray:
        """A property at a time: linear, rotations by slerp, held before and after, as the specification says."""
        for animation in self.json.get("animations", ()):
            for channel in animation["channels"]:
                if channel["target"] == {"node": node, "path": path}:
                    sampler = animation["samplers"][channel["sampler"]]
                    t, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
                    values = values.reshape(len(t), -1)  # of weights, as many scalars as there are targets
                    k = int(np.clip(np.searchsorted(t, time, side="right") - 1, 0, len(t) - 2))
                    part = float(np.clip((time - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0))
                    return slerp(values[k], values[k + 1], part) if path == "rotation" else (1 - part) * values[k] + part * values[k + 1]
        if path == "weights":
            return np.array(self.json["meshes"][self.nodes[node]["mesh"]].get("weights", ()), float)
        default = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}[path]
        return np.array(self.nodes[node].get(path, default), float)

    def world(self, node: int, time: float) -> np.ndarray:
        """4×4 of a node in our world, z up."""
        M = np.eye(4)
        for k in self.ancestors(node):
            local = np.eye(4)
            q = self.at(k, "rotation", time)
            local[:3, :3] = rotations(np.roll(q, 1)) * self.at(k, "scale", time)
            local[:3, 3] = self.at(k, "translation", time)
            M = M @ local
        M[:3] = Z_UP @ M[:3]
        return M

    def surface(self, node: int, time: float, attribute: str = "POSITION") -> tuple[np.ndarray, np.ndarray]:
        """(V, 3) of a mesh with morph targets, in our world, and its triangles."""
        (primitive,) = self.json["meshes"][self.nodes[node]["mesh"]]["primitives"]
        out = self.array(primitive["attributes"][attribute])
        for weight, target in zip(self.at(node, "weights", time), primitive.get("targets", ()), strict=True):
            out = out + weight * self.array(target[attribute])
        return out @ self.world(node, time)[:3, :3].T + self.world(node, time)[:3, 3], self.array(primitive["indices"])[:, 0].astype(int)

    def ancestors(self, node: int) -> list[int]:
        return [*(self.ancestors(self.parents[node]) if node in self.parents else []), node]

    def named(self, name: str) -> list[int]:
        return [k for k, node in enumerate(self.nodes) if node.get("name") == name]


def slerp(a: np.ndarray, b: np.ndarray, part: float) -> np.ndarray:
    angle = np.arccos(np.clip(abs(a @ b), 0.0, 1.0))
    if angle < 1e-9:
        return a
    return np.sin((1 - part) * angle) / np.sin(angle) * a + np.sign(a @ b) * np.sin(part * angle) / np.sin(angle) * b


@pytest.fixture(scope="module")
def model() -> ub.Model:
    """Each shape, three bodies with the same, an open and a see-through one, a point with mass; a cable over a moving body, a spring."""
    b = ub.Builder()
    rod = b.body("rod", shape=ub.Box((0.1, 0.1, 1.0)))
    b.joint("pivot", ub.Revolute(axis=(0, 1, 0)), b.world, rod, X_BM=ub.Pose(p=(0, 0, 0.5)), q=2.5)
    sheet = ub.OpenMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    glass = ub.Placed(ub.Sphere(0.1), ub.Pose(p=(0, 0, 0.2)), colour=(0.2, 0.4, 1.0, 0.5))
    shapes = [ub.Sphere(0.2), ub.Capsule(0.1, 0.3), ub.Cylinder(0.1, 0.2), ub.Ellipsoid((0.1, 0.2, 0.3)), glass, ub.Box((0.2, 0.2, 0.2))]
    bodies = [b.body(f"part{k}", shape=s, X_WB=ub.Pose(p=(k, 1, 0)), V_WB=(5, 3, k, 0, 0, 2)) for k, s in enumerate(shapes)]
    b.body("sheet", shape=sheet, mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose(p=(0, 2, 0)))
    b.body("point", mass=1.0, inertia=(0.1, 0.2, 0.25), X_WB=ub.Pose(p=(0, 3, 0)), V_WB=(0, 9, 0, 0, 0, 0))
    b.body("floor", shape=ub.Plane(5.0), kind="static", X_WB=ub.Pose(p=(0, 0, -2)))
    b.add(ub.Cable((b.world.at(0, 0, 2), rod.at(0, 0, -0.5), bodies[0].at(0, 0, 0)), 20.0), name="cable")
    b.add(ub.SpringDamper(bodies[1].at(0, 0, 0), bodies[2].at(0.1, 0, 0), 20.0), name="spring")
    return b.build()


@pytest.fixture(scope="module")
def recording(model: ub.Model) -> ub.Recording:
    return ub.Simulation(model, dt=5e-3).run(0.3, every=2)


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_validator_finds_nothing(validated, recording, model, tmp_path, ending):
    for shown in (recording, model):
        issues = validated(write(shown, tmp_path / f"a.{ending}"))
        assert issues["messages"] == []


def test_validator_can_find_something(validated, recording, tmp_path):
    path = write_gltf(recording, tmp_path / "a.gltf")
    broken = json.loads(path.read_text())
    broken["accessors"][0]["count"] += 1000
    path.write_text(json.dumps(broken))
    assert validated(path)["numErrors"] > 0


@pytest.mark.parametrize("name", ["bridge", "pendulum"])
def test_scenes_are_valid(validated, name, tmp_path):
    scene = ub.scenes.make(name)
    rec = ub.Simulation(scene.model, dt=scene.dt).run(3 * scene.dt)
    assert validated(write_glb(rec, tmp_path / "a.glb"))["messages"] == []


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_bodies_are_where_the_recording_says(recording, tmp_path, ending):
    scene = Scene(write(recording, tmp_path / f"a.{ending}"))
    for body in recording.model.bodies[1:]:
        (node,) = scene.named(body.name)
        poses = recording.pose(body.name)
        for k in (0, 1, 7, len(recording) - 1):
            M = scene.world(node, recording.t[k])
            assert np.allclose(M[:3, 3], poses[k, :3], atol=1e-6, rtol=0)
            assert np.allclose(M[:3, :3], rotations(poses[k, 3:]), atol=1e-6, rtol=0)


def test_between_frames_a_body_turns_the_short_way(recording, tmp_path):
    """Half-way between two states the rotation is as far from the one as from the other."""
    scene = Scene(write_glb(recording, tmp_path / "a.glb"))
    (node,) = scene.named("part0")
    for k in range(len(recording) - 1):
        a, m, b = (scene.world(node, t)[:3, :3] for t in (recording.t[k], recording.t[k : k + 2].mean(), recording.t[k + 1]))
        whole, half = np.arccos((np.trace(a.T @ b) - 1) / 2), np.arccos((np.trace(a.T @ m) - 1) / 2)
        assert half == pytest.approx(0.5 * whole, rel=1e-3) and whole < 0.5


def test_lines_end_at_their_points(recording, tmp_path):
    scene = Scene(write_glb(recording, tmp_path / "a.glb"))
    ends = [np.tile((0.0, 0.0, 2.0), (len(recording), 1)), recording.point("rod", (0, 0, -0.5)), recording.point("part0")]
    nodes = scene.named("cable")
    assert len(nodes) == 2
    for node, a, b in zip(nodes, ends[:-1], ends[1:], strict=True):
        for k in (0, 5, len(recording) - 1):
            M = scene.world(node, recording.t[k])
            assert np.allclose(M @ (0, 0, 0, 1), (*a[k], 1), atol=2e-6)
            assert np.allclose(M @ (0, 0, 1, 1), (*b[k], 1), atol=2e-6)


def test_lines_turn_by_the_shortest_way_also_through_minus_z():
    angle = np.linspace(2.9, 3.4, 12)
    d = np.stack([np.sin(angle), 0.05 * np.ones_like(angle), np.cos(angle)], axis=1)[:, None] * 2.0
    q, length = stretched(d)
    R = rotations(q)
    assert np.allclose(R[:, 0] @ (0, 0, 1) * length, d[:, 0])
    steps = np.arccos(np.clip(np.abs(np.einsum("ij,ij->i", q[1:, 0], q[:-1, 0])), 0, 1)) * 2
    u = d[:, 0] / length
    assert np.allclose(steps, np.arccos(np.clip(np.einsum("ij,ij->i", u[1:], u[:-1]), -1, 1)), atol=1e-6)


def test_a_line_of_no_length_and_one_that_turns_round_stay_finite():
    q, length = stretched(np.array([[[0.0, 0, 1]], [[0, 0, -1]], [[0, 0, 0]], [[1, 0, 0]]]))
    assert np.isfinite(q).all() and (length > 0).all() and np.allclose(np.linalg.norm(q, axis=-1), 1.0)
    assert np.allclose(rotations(q[1, 0]) @ (0, 0, 1), (0, 0, -1))


def test_equal_shapes_share_their_numbers(recording, tmp_path):
    scene = Scene(write_glb(recording, tmp_path / "a.glb"))
    boxes = scene.named("box")
    positions = {scene.json["meshes"][scene.nodes[k]["mesh"]]["primitives"][0]["attributes"]["POSITION"] for k in boxes}
    assert len(boxes) == 3 and len(positions) == 1  # the rod, a part, and the box of the massive point


def test_normals_are_flat_on_boxes_and_round_on_spheres(recording, tmp_path):
    scene = Scene(write_glb(recording, tmp_path / "a.glb"))
    for kind, expected in (("box", 1.0), ("ellipsoid", None)):
        mesh = scene.json["meshes"][scene.nodes[scene.named(kind)[0]]["mesh"]]["primitives"][0]
        x, n = scene.array(mesh["attributes"]["POSITION"]), scene.array(mesh["attributes"]["NORMAL"])
        assert np.allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-6)
        if expected:
            assert np.allclose(np.abs(n).max(axis=1), 1.0)
        else:
            assert np.einsum("ij,ij->i", n, x / np.linalg.norm(x, axis=1, keepdims=True)).min() > 0.99


def test_materials_say_what_is_open_and_what_is_glass(recording, tmp_path):
    scene = Scene(write_glb(recording, tmp_path / "a.glb"))

    def material(kind: str) -> dict[str, Any]:
        return scene.json["materials"][scene.json["meshes"][scene.nodes[scene.named(kind)[0]]["mesh"]]["primitives"][0]["material"]]

    assert material("mesh")["doubleSided"] and "doubleSided" not in material("box")
    glass = [m for m in scene.json["materials"] if m.get("alphaMode") == "BLEND"]
    assert len(glass) == 1 and glass[0]["pbrMetallicRoughness"]["baseColorFactor"][3] == 0.5


def test_a_model_stands_at_its_start(model, tmp_path):
    scene = Scene(write_glb(model, tmp_path / "a.glb"))
    assert "animations" not in scene.json
    M = scene.world(scene.named("part3")[0], 0.0)
    assert np.allclose(M[:3, 3], (3, 1, 0), atol=1e-6)


def test_fps_thins_the_animation(recording, tmp_path):
    scene = Scene(write_glb(recording, tmp_path / "a.glb", fps=10.0))
    times = scene.array(scene.json["animations"][0]["samplers"][0]["input"])[:, 0]
    assert np.allclose(times, (0.0, 0.1, 0.2, 0.3))


def test_time_begins_at_the_first_state(model, tmp_path):
    sim = ub.Simulation(model, dt=5e-3)
    sim.run(0.1)
    later = sim.run(0.05)
    scene = Scene(later.to_gltf(tmp_path / "a.glb"))
    times = scene.array(scene.json["animations"][0]["samplers"][0]["input"])[:, 0]
    assert later.t[0] == pytest.approx(0.1) and times[0] == 0.0 and times[-1] == pytest.approx(0.05)


def test_other_endings_are_refused(recording, tmp_path):
    with pytest.raises(ModelError, match=".glb or .gltf"):
        recording.to_gltf(tmp_path / "a.obj")
    with pytest.raises(ModelError, match="cannot be written"):
        recording.to_gltf(tmp_path / "none" / "a.glb")


def test_closed_surfaces_are_told_from_open_ones():
    assert closed(ub.Sphere(1.0).triangles()[1]) and closed(ub.Box((1, 1, 1)).triangles()[1])
    assert not closed(ub.Plane(1.0).triangles()[1]) and not closed(ub.Sphere(1.0).triangles()[1][1:])


SINGLE = 2.0**-22
"""Two roundings of a sum of numbers up to 4 m in single precision are less than this [m] times 4."""


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_deformables_are_valid(validated, tmp_path, ending):
    rec = deforming()
    for shown in (rec, rec.model):
        assert validated(write(shown, tmp_path / f"a.{ending}"))["messages"] == []


def test_vertices_are_those_of_the_recording_at_every_state(tmp_path):
    """To single precision; between two states half-way; and a mesh that does not move has no targets."""
    rec = deforming()
    scene = Scene(write_glb(rec, tmp_path / "a.glb"))
    for name in ("flag", "block", "lid"):
        (node,) = scene.named(name)
        faces = rec.model.deformable(name).faces
        exact = rec.vertices(name)[:, faces.ravel()]
        assert np.ptp(exact, axis=0).max() > 0.1
        for k, t in enumerate(rec.t):
            x, indices = scene.surface(node, t)
            assert np.allclose(x[indices], exact[k], atol=4 * SINGLE, rtol=0)
        x, indices = scene.surface(node, rec.t[:2].mean())
        assert np.allclose(x[indices], exact[:2].mean(axis=0), atol=4 * SINGLE, rtol=0)
    still = Scene(write_glb(rec.model, tmp_path / "b.glb"))
    assert not any("targets" in mesh["primitives"][0] for mesh in still.json["meshes"])
    x, indices = still.surface(still.named("flag")[0], 0.0)
    flag = rec.model.deformable("flag")
    assert np.allclose(x[indices], flag.x0[flag.faces.ravel()], atol=4 * SINGLE, rtol=0)


def test_normals_of_deformables_are_those_of_their_present_shape(tmp_path):
    """The lid is one triangle, so its normal is that of its three vertices."""
    rec = deforming()
    scene = Scene(write_glb(rec, tmp_path / "a.glb"))
    (node,) = scene.named("lid")
    for k, t in enumerate(rec.t):
        a, b, c = rec.vertices("lid")[k]
        n = np.cross(b - a, c - a)
        normals, _ = scene.surface(node, t, "NORMAL")
        assert np.allclose(normals, n / np.linalg.norm(n), atol=1e-6)
    assert abs(scene.surface(node, rec.t[-1], "NORMAL")[0] - scene.surface(node, 0.0, "NORMAL")[0]).max() > 0.05


def test_sizes_of_accessors_and_bounds_hold(tmp_path):
    scene = Scene(write_glb(deforming(), tmp_path / "a.glb"))
    size = {5126: 4, 5123: 2, 5125: 4}
    for k, accessor in enumerate(scene.json["accessors"]):
        view = scene.json["bufferViews"][accessor["bufferView"]]
        assert view["byteLength"] == accessor["count"] * scene.WIDTHS[accessor["type"]] * size[accessor["componentType"]]
        assert view["byteOffset"] % 4 == 0 and view["byteOffset"] + view["byteLength"] <= scene.json["buffers"][0]["byteLength"]
        if "min" in accessor:
            values = scene.array(k)
            assert np.array_equal(values.min(axis=0), accessor["min"]) and np.array_equal(values.max(axis=0), accessor["max"])
    morphed = [mesh for mesh in scene.json["meshes"] if "weights" in mesh]
    assert len(morphed) == 3
    for mesh in morphed:
        assert len(mesh["weights"]) == len(mesh["primitives"][0]["targets"]) == 2


def test_rods_are_cylinders_from_vertex_to_vertex(tmp_path):
    rec = deforming()
    scene = Scene(write_glb(rec, tmp_path / "a.glb"))
    rope = rec.model.deformable("rope")
    nodes = scene.named("rope")
    assert len(nodes) == len(rope.edges)
    for node, (i, j) in zip(nodes, rope.edges, strict=True):
        for k, t in enumerate(rec.t):
            M, x = scene.world(node, t), rec.vertices("rope")[k]
            assert np.allclose(M @ (0, 0, 0, 1), (*x[i], 1), atol=2e-6) and np.allclose(M @ (0, 0, 1, 1), (*x[j], 1), atol=2e-6)
            assert np.allclose(np.linalg.norm(M[:3, :2], axis=0), rope.radius)
    mesh = scene.json["meshes"][scene.nodes[nodes[0]]["mesh"]]["primitives"][0]
    x = scene.array(mesh["attributes"]["POSITION"])
    assert np.allclose(x.min(axis=0), (-1, -1, 0), atol=0.04) and np.allclose(x.max(axis=0), (1, 1, 1), atol=0.04)
