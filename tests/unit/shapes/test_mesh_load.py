"""Meshes as people have them: what is mended and what is refused, by volumes known beforehand; convex hulls of few vertices."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.shapes.hull import hull_of
from unibody.shapes.mesh_mending import least_area

BOX = ub.Box((1, 1, 1)).triangles()


def obj(folder: Path, vertices: np.ndarray, faces: np.ndarray, name: str = "m.obj") -> Path:
    path = folder / name
    path.write_text("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in np.asarray(vertices).tolist())
                    + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in np.asarray(faces).tolist()))  # fmt: skip
    return path


def soup(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every face with corners of its own."""
    return vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def test_a_sound_mesh_is_taken_as_it_is(tmp_path: Path) -> None:
    mesh = ub.Mesh.load(obj(tmp_path, *BOX))
    assert mesh.volume == pytest.approx(1.0, rel=1e-15) and mesh.mended == "" and len(mesh.faces) == 12


def test_equal_vertices_are_merged_and_nearly_equal_ones_too(tmp_path: Path, rng: np.random.Generator) -> None:
    vertices, faces = soup(*BOX)
    assert ub.Mesh.load(obj(tmp_path, vertices, faces)).vertices.shape == (8, 3)
    shaken = vertices + 1e-7 * rng.uniform(-1, 1, vertices.shape)
    mesh = ub.Mesh.load(obj(tmp_path, shaken, faces))
    assert mesh.vertices.shape == (8, 3) and mesh.volume == pytest.approx(1.0, abs=1e-6) and "merged" in mesh.mended


def test_degenerate_and_double_faces_go(tmp_path: Path) -> None:
    vertices, faces = BOX
    mesh = ub.Mesh.load(obj(tmp_path, vertices, np.concatenate([faces, faces[:2], faces[3:4, ::-1], [(0, 0, 1)]])))
    assert mesh.volume == pytest.approx(1.0) and len(mesh.faces) == 12 and "4 degenerate or double faces dropped" in mesh.mended


@pytest.mark.parametrize("seed", range(3))
def test_faces_in_any_direction_are_turned_outwards(tmp_path: Path, seed: int) -> None:
    vertices, faces = ub.Sphere(1.0).triangles(24)
    wrong = faces.copy()
    flip = np.random.default_rng(seed).random(len(faces)) < 0.4
    wrong[flip] = wrong[flip][:, ::-1]
    assert ub.Mesh.load(obj(tmp_path, vertices, wrong)).volume == pytest.approx(ub.Mesh(vertices, faces).volume, rel=1e-12)
    assert ub.Mesh.load(obj(tmp_path, vertices, faces[:, ::-1])).mended == "turned inside out"


def test_a_cavity_stays_and_a_second_piece_inside_out_is_turned(tmp_path: Path) -> None:
    vertices, faces = BOX
    hollow = obj(tmp_path, np.concatenate([2 * vertices, vertices]), np.concatenate([faces, faces[:, ::-1] + 8]))
    assert ub.Mesh.load(hollow).volume == pytest.approx(7.0)
    beside = obj(tmp_path, np.concatenate([2 * vertices, vertices + 5]), np.concatenate([faces, faces[:, ::-1] + 8]))
    mesh = ub.Mesh.load(beside)
    assert mesh.volume == pytest.approx(9.0) and "a piece of 12 faces turned inside out" in mesh.mended


def test_small_holes_are_filled_and_large_ones_are_not(tmp_path: Path) -> None:
    """One triangle of a fine sphere, then all of its southern half: the flat lid gives half the polyhedron's volume."""
    vertices, faces = ub.Sphere(1.0).triangles(48)
    whole = ub.Mesh(vertices, faces).volume
    mesh = ub.Mesh.load(obj(tmp_path, vertices, np.delete(faces, [100, 500], axis=0)))
    assert mesh.volume == pytest.approx(whole, rel=1e-12) and mesh.mended == "2 holes filled"
    half = faces[(vertices[faces][:, :, 2] > -1e-9).all(axis=1)]
    path = obj(tmp_path, vertices, half)
    with pytest.raises(ub.ModelError, match=r"Mesh: 48 open edges remain, a hole 2.83 m wide .*OpenMesh.load, or Mesh.convex_hull") as told:
        ub.Mesh.load(path)
    assert "\n" not in str(told.value)
    assert ub.Mesh.load(path, fill_holes=2.0).volume == pytest.approx(0.5 * whole, rel=1e-12)
    assert ub.OpenMesh.load(path).faces.shape == half.shape
    with pytest.raises(ub.ModelError, match="3 open edges remain"):
        ub.Mesh.load(obj(tmp_path, vertices, faces[1:]), fill_holes=False)


def test_long_rims_become_fans(tmp_path: Path) -> None:
    """A cylinder of 100 sides without its caps: prism of 100 sides, ½ n sin(2π/n) r² l."""
    angle = 2 * np.pi * np.arange(100) / 100
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vertices = np.concatenate([np.c_[0.1 * ring, np.zeros(100)], np.c_[0.1 * ring, np.ones(100)]])
    i, j = np.arange(100), (np.arange(100) + 1) % 100
    faces = np.concatenate([np.stack([i, j, j + 100], axis=1), np.stack([i, j + 100, i + 100], axis=1)])
    mesh = ub.Mesh.load(obj(tmp_path, vertices, faces), fill_holes=0.3)
    assert mesh.volume == pytest.approx(50 * np.sin(2 * np.pi / 100) * 0.01, rel=1e-12) and mesh.mended == "2 holes filled"


def test_a_polygon_is_filled_with_the_least_area() -> None:
    """An L in a plane: its own area, not that of its hull."""
    corners = np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)], float)
    a, b, c = (corners[least_area(corners)][:, k] for k in range(3))
    assert 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() == pytest.approx(3.0)


def test_a_vertex_on_a_neighbours_edge_closes(tmp_path: Path) -> None:
    """A T-junction: one face of a cube is cut in two at the middle of an edge that its neighbour does not cut."""
    vertices, faces = BOX
    a, b, c = faces[0].tolist()
    middle = 0.5 * (vertices[a] + vertices[b])
    cut = np.concatenate([faces[1:], [(a, 8, c), (8, b, c)]])
    mesh = ub.Mesh.load(obj(tmp_path, np.concatenate([vertices, middle[None]]), cut), fill_holes=2.0)
    assert mesh.volume == pytest.approx(1.0, rel=1e-12) and "without area joined" in mesh.mended


def test_two_cubes_that_share_an_edge_or_a_wall(tmp_path: Path) -> None:
    """At an edge four faces meet, which belong to two solids; a wall between two goes, and they are one."""
    vertices, faces = BOX
    edge = np.concatenate([vertices, vertices + (1.0, 1.0, 0.0)]), np.concatenate([faces, faces + 8])
    wall = np.concatenate([vertices, vertices * (-1.0, 1.0, 1.0) + (1.0, 0.0, 0.0)]), np.concatenate([faces, faces[:, ::-1] + 8])
    for both, count in ((edge, 24), (wall, 20)):
        mesh = ub.Mesh.load(obj(tmp_path, *both))
        assert mesh.volume == pytest.approx(2.0) and len(mesh.faces) == count


def test_one_sided_surfaces_are_refused(tmp_path: Path) -> None:
    """A Möbius strip."""
    n = 40
    u = 2 * np.pi * np.arange(n) / n
    radius = [1 + s * np.cos(u / 2) for s in (-0.3, 0.3)]
    edge = [np.stack([r * np.cos(u), r * np.sin(u), s * np.sin(u / 2)], axis=1) for r, s in zip(radius, (-0.3, 0.3), strict=True)]
    vertices = np.concatenate(edge)
    faces = []
    for i in range(n):
        a, b = (i + 1, i + 1 + n) if i + 1 < n else (n, 0)
        faces += [(i, a, b), (i, b, i + n)]
    with pytest.raises(ub.ModelError, match="open edges remain"):
        ub.Mesh.load(obj(tmp_path, vertices, np.array(faces)))


def test_scale_and_mirror(tmp_path: Path) -> None:
    path = obj(tmp_path, *BOX)
    assert ub.Mesh.load(path, scale=0.1).volume == pytest.approx(1e-3)
    assert ub.Mesh.load(path, scale=(1, 2, -3)).volume == pytest.approx(6.0)
    for scale in (0, (1, 2), "big", float("nan")):
        with pytest.raises(ub.ModelError, match="is no scale"):
            ub.Mesh.load(path, scale=scale)


@pytest.mark.parametrize("kind", ["ply", "glb", "gltf", "stl"])
def test_other_formats(tmp_path: Path, kind: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(BOX[0], BOX[1], process=False)
    if kind == "gltf":
        for name, data in trimesh.Scene(mesh).export(file_type="gltf").items():
            (tmp_path / name).write_bytes(data)
        path = tmp_path / "model.gltf"
    else:
        path = tmp_path / f"m.{kind}"
        mesh.export(path)
    loaded = ub.Mesh.load(path, scale=2.0)
    assert loaded.volume == pytest.approx(8.0, rel=1e-6) and len(loaded.vertices) == 8  # some formats hold single precision
    assert ub.OpenMesh.load(path).faces.shape == (12, 3)


def test_a_gltf_reads_nothing_beside_its_folder(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.bin").write_bytes(struct.pack("<9f", *range(9)))
    (tmp_path / "in" / "m.gltf").write_text(
        '{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":'
        '{"POSITION":0}}]}],"buffers":[{"uri":"../secret.bin","byteLength":36}],"bufferViews":[{"buffer":0,"byteLength":36}],'
        '"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]}'
    )
    with pytest.raises(ub.ModelError, match="m.gltf: cannot be read|m.gltf: no triangles"):
        ub.OpenMesh.load(tmp_path / "in" / "m.gltf")


@pytest.mark.parametrize("name, text, message", [
    ("a.step", "", "ending '.step' are not read"), ("a.ply", "junk", "cannot be read"), ("a.obj", "v 0 0 0\n", "no faces"),
    ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "face 0"), ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "3 open edges"),
    ("a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "open edges|volume|area"),
    ("a.obj", "v nan 0 0\nv 1 0 0\nv 2 0 1\nf 1 2 3\n", "finite"),
])  # fmt: skip
def test_what_cannot_be_a_solid_is_refused_in_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ub.ModelError, match=message) as told:
        ub.Mesh.load(tmp_path / name)
    assert "\n" not in str(told.value)
    with pytest.raises(ub.ModelError, match="no such file"):
        ub.Mesh.load(tmp_path / "none.obj")


def test_hull_of_points(rng: np.random.Generator) -> None:
    """Of a cube with points within, on faces and along edges: its eight corners. Of a cube's corner cut off: by hand."""
    inside = rng.uniform(0, 1, (200, 3))
    faces = rng.uniform(0, 1, (60, 3))
    faces[np.arange(60), np.arange(60) % 3] = np.arange(60) % 2
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    edges = [(t, 0.0, 1.0) for t in np.linspace(0, 1, 7)]
    hull = ub.Mesh.convex_hull(np.concatenate([inside, faces, corners, edges]))
    assert hull.vertices.shape == (8, 3) and hull.volume == pytest.approx(1.0, rel=1e-14) and hull.mended == ""
    assert ub.Mesh(*BOX).hull().volume == pytest.approx(1.0)


def test_hulls_of_few_vertices_tell_how_far_points_reach_out(rng: np.random.Generator) -> None:
    points = rng.normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    vertices, faces, short = hull_of(points, most=64)
    assert len(vertices) == 64
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    outside = (points @ n.T - np.einsum("fi,fi->f", n, a)).max()
    assert short == pytest.approx(outside, rel=1e-9) and 0.0 < short < 0.12  # 64 caps of a sphere: 4/64 = 2 (1 − cos θ) gives 0.03 at best
    assert len(ub.Mesh.convex_hull(points, tolerance=0.01).vertices) < 500
    with pytest.raises(ub.ModelError, match="span no volume"):
        ub.Mesh.convex_hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    with pytest.raises(ub.ModelError, match="give 4 or more"):
        ub.Mesh.convex_hull(points, most=3)


def test_hulls_are_convex_for_contact(rng: np.random.Generator) -> None:
    """Noise of single precision in the planes of a cube makes no needles that contact would stumble over."""
    from unibody.collision.rigid.mesh_data import MeshData

    corners = ub.Box((1, 2, 3)).triangles()[0]
    grid = np.concatenate([corners[rng.integers(0, 8, 50)] * (1, *rng.uniform(-1, 1, 2)) for _ in range(20)])
    noisy = (grid + rng.normal(0, 3e-8, grid.shape)).astype(np.float32).astype(float)
    hull = ub.Mesh.convex_hull(np.concatenate([corners, noisy]), most=64, tolerance=1e-3)
    assert len(hull.vertices) == 8 and MeshData.of(hull.vertices, hull.faces, sided=True).convex


def test_the_duck_of_bullet_is_a_solid() -> None:
    data = Path(pytest.importorskip("pybullet_data").getDataPath())
    duck = ub.Mesh.load(data / "duck.obj")
    assert 0.5 * duck.hull().volume < duck.volume < duck.hull().volume
