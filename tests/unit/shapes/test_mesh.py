"""Exact integrals over triangle meshes, what a mesh must be, and the files it comes from."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from unibody.errors import ModelError
from unibody.shapes import Box, Mesh, Sphere

TETRAHEDRON = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def rotation(seed: int) -> np.ndarray:
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def two(first: Mesh, second: Mesh) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([first.vertices, second.vertices]), np.concatenate([first.faces, second.faces + len(first.vertices)])


@pytest.mark.parametrize("seed", range(4))
def test_moved_tetrahedron_matches_the_closed_form(seed):
    """Corner tetrahedron: V = 1/6, com = 1/4, ∫ (x − c)² = V·3/80, ∫ (x − c)(y − c) = −V/80 (Tonon 2004 in our symbols)."""
    R, p = rotation(seed), 10.0 * np.random.default_rng(seed).normal(size=3)
    properties = Mesh(TETRAHEDRON @ R.T + p, FACES).mass_properties(6.0)
    C = (np.full((3, 3), -1.0) + 4.0 * np.eye(3)) / 80.0
    assert properties.mass == pytest.approx(1.0, rel=1e-13)
    np.testing.assert_allclose(properties.com, R @ np.full(3, 0.25) + p, rtol=1e-13)
    np.testing.assert_allclose(properties.inertia, R @ (np.trace(C) * np.eye(3) - C) @ R.T, atol=1e-13)


def test_a_solid_far_away_loses_no_digits():
    near = Mesh(*Box((1, 1, 1)).triangles()).mass_properties(1.0)
    far = Mesh(Box((1, 1, 1)).triangles()[0] + 2.0**20, Box((1, 1, 1)).triangles()[1]).mass_properties(1.0)
    np.testing.assert_allclose(far.inertia, near.inertia, rtol=1e-14, atol=1e-14)


def test_two_components_are_one_solid():
    left, right = (Mesh(Box((1, 1, 1)).triangles()[0] + (x, 0, 0), Box((1, 1, 1)).triangles()[1]) for x in (-1.0, 1.0))
    mesh = Mesh(*two(left, right))
    assert mesh.volume == pytest.approx(2.0, rel=1e-15)
    np.testing.assert_allclose(np.diag(mesh.mass_properties(1.0).inertia), [1 / 3, 1 / 3 + 2, 1 / 3 + 2], rtol=1e-14)


def test_a_cavity_is_allowed_and_counts_negative():
    outer, (vertices, faces) = Mesh(*Box((2, 2, 2)).triangles()), Box((1, 1, 1)).triangles()
    assert Mesh(np.concatenate([outer.vertices, vertices]), np.concatenate([outer.faces, faces[:, ::-1] + 8])).volume == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("vertices", "faces", "complaint"),
    [
        (TETRAHEDRON, FACES[:, ::-1], r"inside out or empty; reverse"),
        (TETRAHEDRON, FACES[:3], r"belongs to one face only \(3 such edges\); close the surface"),
        (TETRAHEDRON, np.concatenate([FACES[:3], FACES[3:, ::-1]]), r"runs the same way in 2 faces; orient"),
        (TETRAHEDRON, np.concatenate([FACES, FACES]), r"runs the same way in 2 faces"),
        (TETRAHEDRON, np.concatenate([FACES, [(0, 0, 1)]]), r"face 4 .* has no area"),
        (TETRAHEDRON * (1, 1, 0), FACES, r"face 1 .* has no area \(2 such faces\)"),
        (TETRAHEDRON, FACES + 1, r"face 1 is .* but vertices are 0 … 3"),
        (TETRAHEDRON, FACES - 1, r"face 0 is .* but vertices are"),
        (TETRAHEDRON, FACES.astype(float), r"faces are float64, not vertex indices"),
        (TETRAHEDRON[:, :2], FACES, r"vertices have shape \(4, 2\)"),
        (TETRAHEDRON, FACES[:, :2], r"faces have shape \(4, 2\)"),
        (TETRAHEDRON, np.zeros((0, 3), dtype=int), r"faces have shape \(0, 3\)"),
        (np.where(TETRAHEDRON == 1, np.nan, TETRAHEDRON), FACES, r"vertex 1 is .*give finite"),
        ([(0, 0, 0), (1, 0)], FACES, r"not a table of numbers"),
    ],
)
def test_bad_meshes_are_refused_with_the_reason(vertices, faces, complaint):
    with pytest.raises(ModelError, match=f"^Mesh: .*{complaint}") as caught:
        Mesh(vertices, faces)
    assert "\n" not in str(caught.value)


def test_a_second_component_inside_out_beside_the_first_is_refused():
    vertices, faces = Box((1, 1, 1)).triangles()
    big = Box((3, 1, 1)).triangles()[0] + (9.0, 0, 0)
    with pytest.raises(ModelError, match="component of vertex 8 is inside out .* no cavity"):
        Mesh(np.concatenate([big, vertices]), np.concatenate([faces, faces[:, ::-1] + 8]))


def test_meshes_are_read_only_and_keep_their_own_copy():
    vertices = TETRAHEDRON.copy()
    mesh = Mesh(vertices, FACES)
    vertices[:] = 0.0
    assert mesh.volume == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0, 0] = 1.0


OBJ = """# a cube of quads, with every way to name a corner
o cube
v 0 0 0
v 2 0 0 1.0
v 2 2 0
v 0 2 0
vt 0 0
vn 0 0 1
f 1 4 3 2
v 0 0 2
v 2 0 2
v 2 2 2
v 0 2 2
f -4 -3 -2 -1
f 1/1/1 2/1/1 6/1/1 5/1/1
f 2//1 3//1 7//1 6//1
f 3/1 4/1 8/1 \\
7/1
f 4 1 5 8
"""


def test_obj_with_polygons_texture_indices_and_negative_indices(tmp_path):
    path = tmp_path / "cube.obj"
    path.write_text(OBJ)
    mesh = Mesh.read(path)
    assert mesh.faces.shape == (12, 3)
    assert mesh.volume == pytest.approx(8.0, rel=1e-15)
    assert Mesh.read(str(path), scale=0.5).volume == pytest.approx(1.0, rel=1e-15)


def write_stl(path, vertices, faces, text):
    if text:
        rows = ["solid thing"]
        for face in faces:
            rows += [
                "facet normal 0 0 0",
                "outer loop",
                *(f"vertex {x!r} {y!r} {z!r}" for x, y, z in vertices[face].tolist()),
                "endloop",
                "endfacet",
            ]
        path.write_text("\n".join([*rows, "endsolid thing", ""]))
    else:
        records = b"".join(struct.pack("<12fH", 0, 0, 0, *vertices[face].ravel(), 0) for face in faces)
        path.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", len(faces)) + records)


@pytest.mark.parametrize("text", [True, False])
def test_stl_merges_corners(tmp_path, text):
    vertices, faces = Sphere(1.0).triangles(12)
    vertices = vertices.astype(np.float32).astype(float)
    write_stl(tmp_path / "ball.STL", vertices, faces, text)
    mesh = Mesh.read(tmp_path / "ball.STL")
    assert mesh.vertices.shape == vertices.shape and mesh.faces.shape == faces.shape
    assert mesh.volume == pytest.approx(Mesh(vertices, faces).volume, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.ply", "ply", r"a\.ply: meshes with the ending '\.ply' are not read"),
        ("a.obj", "v 1 2\n", r"a\.obj, line 1: 'v 1 2' is not a vertex or face"),
        ("a.obj", "v 0 0 0\nf 1 x 3\n", r"a\.obj, line 2: 'f 1 x 3'"),
        ("a.obj", "v 0 0 0\nf 1 1\n", r"line 2: 'f 1 1'"),
        ("a.obj", "v 0 0 0\nf 0 1 1\n", r"line 2: 'f 0 1 1'"),
        ("a.obj", "v 0 0 0\nf -2 1 1\n", r"line 2: 'f -2 1 1'"),
        ("a.obj", "v 0 0 0\n", r"no faces"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", r"a\.obj: Mesh: edge .* close the surface"),
        ("a.stl", "junk", r"4 bytes are no STL file"),
        ("a.stl", "solid x\nvertex 1 2\n", r"line 2: 'vertex 1 2' is not a vertex"),
        ("a.stl", "solid x\nvertex 1 2 3\n", r"1 vertices do not make whole triangles"),
        ("a.stl", "solid x\nendsolid\n", r"no triangles"),
    ],
)
def test_bad_files_are_refused_naming_file_and_line(tmp_path, name, content, complaint):
    (tmp_path / name).write_text(content)
    with pytest.raises(ModelError, match=complaint) as caught:
        Mesh.read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        Mesh.read(tmp_path / "none.obj")
