"""Cages hold their surfaces, embedded points move with the mesh, strains are those of the motion, and files are read."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import unibody as ub
from unibody import TetMesh, TriMesh
from unibody.meshes.embedding import embed
from unibody.meshes.strain import principal_strains

ROD, FACES = ub.Box((1, 0.1, 0.1)).triangles()
SURFACES = {
    "ball": ub.Mesh(*ub.Sphere(0.5).triangles(24)), "box": ub.Box((1.0, 0.3, 0.2)), "open": TriMesh.cylinder(0.3, 1.0, 0.1),
    "skew": ub.Mesh(ROD @ np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]), FACES),
}  # fmt: skip


def triangles(surface):
    return (surface.vertices, surface.faces) if hasattr(surface, "faces") else surface.triangles()


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("cells", [3, 8])
def test_cage_holds_every_point_of_its_surface(name, cells):
    """Weights of points strewn over the faces lie between 0 and 1: no point is outside; and every cell of the cage is within reach."""
    surface = SURFACES[name]
    mesh = TetMesh.cage(surface, cells)
    x, faces = triangles(surface)
    w = np.random.default_rng(2).dirichlet((1, 1, 1), len(faces))
    for at in (np.asarray(x), np.einsum("nk,nki->ni", w, np.asarray(x)[faces])):
        vertices, weights = embed(mesh, at)
        assert weights.min() > -1e-9
        np.testing.assert_allclose(np.einsum("nk,nki->ni", weights, mesh.vertices[vertices]), at, atol=1e-14)
    h = np.cbrt(6.0 * mesh.volumes[0])
    np.testing.assert_allclose(mesh.volumes, mesh.volumes[0], rtol=1e-9)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    assert (low >= np.min(x, axis=0) - h).all() and (high <= np.max(x, axis=0) + h).all()


def test_cage_is_filled():
    """A ball's cage has no hole: its volume lies between that of the ball and that of the ball with a cell all round."""
    mesh = TetMesh.cage(SURFACES["ball"], 8)
    h = np.cbrt(6.0 * mesh.volumes[0])
    inner = 4.0 / 3.0 * np.pi * 0.49**3  # within the polyhedron of 24 segments
    assert inner < mesh.volume < 4.0 / 3.0 * np.pi * (0.5 + np.sqrt(3.0) * h) ** 3


def test_cage_has_no_hinges():
    """Two cubes that touch at an edge: their lattice gets the cells that make it one solid, which TetMesh would refuse otherwise."""
    x, f = ub.Box((1, 1, 1)).triangles()
    faces = np.concatenate([f, f + len(x)])
    both = SimpleNamespace(vertices=np.concatenate([x * 0.99 - 0.5, x * 0.99 + (0.5, 0.5, -0.5)]), faces=faces)
    corner = SimpleNamespace(vertices=np.concatenate([x * 0.99 - 0.5, x * 0.99 + 0.5]), faces=faces)
    for surface in (both, corner):
        mesh = TetMesh.cage(surface, 4)
        assert mesh.volume > 2.0 * 0.97


@pytest.mark.parametrize("order", [1, 2])
def test_embedded_points_follow_an_affine_motion_exactly(order):
    mesh = TetMesh.ball(1.0, 4)
    mesh = mesh.quadratic() if order == 2 else mesh
    rng = np.random.default_rng(0)
    x, A = 0.4 * rng.normal(size=(50, 3)), np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    vertices, weights = embed(mesh, x)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(np.einsum("nk,nki->ni", weights, (mesh.vertices @ A.T)[vertices]), x @ A.T, atol=1e-13)


def test_points_outside_a_sheet_go_to_their_nearest_point():
    """Against the least distance to a cloud of points strewn closely over the sheet."""
    mesh = TriMesh.cylinder(0.5, 1.0, 0.2)
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.0, 1.0, (40, 3))
    vertices, weights = embed(mesh, x)
    away = np.linalg.norm(np.einsum("nk,nki->ni", weights, mesh.vertices[vertices]) - x, axis=1)
    strewn = np.einsum("mk,fki->mfi", rng.dirichlet((1, 1, 1), 300), mesh.vertices[mesh.faces]).reshape(-1, 3)
    strewn = np.concatenate([strewn, mesh.vertices])
    least = np.array([np.linalg.norm(strewn - p, axis=1).min() for p in x])
    assert weights.min() >= 0.0
    assert (away <= least + 1e-12).all() and (away > least - 0.05).all()


@pytest.mark.parametrize("mesh", [
    TetMesh.box((1, 0.5, 0.5), (2, 1, 1)), TetMesh.box((1, 0.5, 0.5), (2, 1, 1)).quadratic(), TriMesh.grid((1, 1), 0.5),
    ub.RodMesh.line((0, 0, 0), (1, 0, 0), 4, 0.01),
])  # fmt: skip
def test_strains_are_those_of_the_motion(mesh):
    """Stretched by 1.2 along x and 0.9 along y and z, then turned: strains 0.2 and −0.1, whatever the turn; of many states at once."""
    R = ub.Pose(wxyz=(1.0, 0.3, -0.5, 0.2)).R
    stretched = (mesh.vertices * (1.2, 0.9, 0.9)) @ R.T
    found = principal_strains(mesh, np.stack([mesh.vertices, stretched]))
    expected = (0.2, -0.1, -0.1)[: found.shape[2]]
    np.testing.assert_allclose(found[0], 0.0, atol=1e-13)
    np.testing.assert_allclose(found[1], np.broadcast_to(expected, found[1].shape), atol=1e-12)


def test_strain_counts_from_the_flat_pattern():
    grid = TriMesh.grid((1.0, 1.0), 0.5, "regular")
    sewn = TriMesh(grid.vertices, grid.faces, flat=grid.vertices[:, :2] / (2.0, 1.0))
    np.testing.assert_allclose(principal_strains(sewn, grid.vertices), [(1.0, 0.0)] * 8, atol=1e-14)


def test_sheet_is_read_from_obj_and_ply(tmp_path):
    grid = TriMesh.grid((1.0, 0.5), 0.25)
    path = tmp_path / "sheet.obj"
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in grid.vertices.tolist()]
    path.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in grid.faces.tolist())]))
    read = TriMesh.load(path, scale=2.0)
    assert np.array_equal(read.faces, grid.faces) and np.array_equal(read.vertices, 2.0 * grid.vertices)
    pytest.importorskip("trimesh").Trimesh(grid.vertices, grid.faces, process=False).export(tmp_path / "sheet.ply")
    assert TriMesh.load(tmp_path / "sheet.ply").area == pytest.approx(0.5, rel=1e-6)


def reader(monkeypatch, points, **blocks):
    """meshio as far as it is used, reading this."""
    found = SimpleNamespace(points=np.array(points, float), cells_dict={k: np.array(v) for k, v in blocks.items()})
    monkeypatch.setitem(sys.modules, "meshio", SimpleNamespace(read=lambda path: found))


FOUR = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_tetrahedra_of_a_file_lose_what_is_unused_and_are_turned_over_together(tmp_path, monkeypatch):
    path = tmp_path / "block.msh"
    path.write_text("")
    reader(monkeypatch, [(9, 9, 9), *FOUR], tetra=[(1, 3, 2, 4)], triangle=[(1, 2, 3)])
    mesh = TetMesh.load(path, scale=0.1)
    assert mesh.volume == pytest.approx(1e-3 / 6.0) and len(mesh.vertices) == 4
    box = TetMesh.box((1, 1, 1), (1, 1, 1)).quadratic()
    reader(monkeypatch, box.vertices * (-1, 1, 1), tetra10=box.tets)
    assert TetMesh.load(path).volume == pytest.approx(1.0)


@pytest.mark.parametrize(("blocks", "said"), [
    ({"triangle": [(0, 1, 2)]}, "no tetrahedra, it holds triangle"), ({}, "no tetrahedra, it holds nothing"),
    ({"tetra": [(0, 1, 2, 3), (0, 2, 1, 4)]}, None), ({"tetra": [(0, 1, 2, 3), (1, 2, 0, 4)]}, r"tets\[1\] .* is turned inside out"),
])  # fmt: skip
def test_files_without_sound_tetrahedra_are_refused(blocks, said, tmp_path, monkeypatch):
    path = tmp_path / "block.vtk"
    path.write_text("")
    reader(monkeypatch, [*FOUR, (0.1, 0.1, -1.0)], **blocks)
    if said is None:
        assert len(TetMesh.load(path).tets) == 2
        return
    with pytest.raises(ub.ModelError, match=f"block.vtk: .*{said}"):
        TetMesh.load(path)


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ub.ModelError, match="no such file"):
        TetMesh.load(tmp_path / "none.msh")
    path = tmp_path / "some.msh"
    path.write_text("nonsense")
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(ub.ModelError, match=r"read by meshio, which is not installed; pip install 'unibody\[mesh\]'"):
        TetMesh.load(path)
    monkeypatch.setitem(sys.modules, "meshio", SimpleNamespace(read=lambda path: sys.exit(1)))
    with pytest.raises(ub.ModelError, match="meshio cannot read it"):
        TriMesh.load(path)
    with pytest.raises(ub.ModelError, match="scale 0 is no scale"):
        TriMesh.load(path, scale=0)


def test_meshio_reads_what_it_writes(tmp_path):
    meshio = pytest.importorskip("meshio")
    box = TetMesh.box((1, 1, 1), (2, 1, 1))
    for order, mesh in (("tetra", box), ("tetra10", box.quadratic())):
        for ending in ("vtk", "msh"):
            path = tmp_path / f"{order}.{ending}"
            meshio.Mesh(mesh.vertices, [(order, mesh.tets)]).write(path)
            read = TetMesh.load(path)
            assert np.array_equal(read.tets, mesh.tets) and np.allclose(read.vertices, mesh.vertices)
