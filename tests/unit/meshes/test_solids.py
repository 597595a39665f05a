"""TetMesh: sizes against the shapes' own, orientation, closed surfaces, quality, quadratic ones, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody import TetMesh
from unibody.meshes.tet_mesh import EDGES

CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]


def enclosed(x, faces):
    """Volume by the divergence theorem, which is that of the solid only if its surface is closed and seen from outside."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0)


def open_edges(faces):
    """Edges of a surface that are not passed once in each direction."""
    directed = [(int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3)]
    return [e for e in directed if (e[1], e[0]) not in set(directed)] + ([] if len(set(directed)) == len(directed) else ["twice"])


@pytest.mark.parametrize("cells", [(1, 1, 1), (3, 2, 1), (5, 4, 2)])
@pytest.mark.parametrize("order", [1, 2])
def test_box_has_its_volume_and_a_closed_surface(cells, order):
    mesh = TetMesh.box((1.0, 0.4, 0.2), cells)
    mesh = mesh.quadratic() if order == 2 else mesh
    assert len(mesh.tets) == 6 * np.prod(cells) and mesh.order == order
    assert mesh.volume == pytest.approx(0.08, rel=1e-13)
    assert (mesh.volumes > 0.0).all()
    faces = mesh.surface()
    assert open_edges(faces) == [] and enclosed(mesh.vertices, faces) == pytest.approx(0.08, rel=1e-13)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), (-0.5, -0.2, -0.1), atol=1e-15)


def test_box_is_its_own_mirror_image_for_even_counts():
    """Reflected at x = 0 it has the same tetrahedra: nothing in a symmetric load tells left from right."""
    mesh = TetMesh.box((1.0, 1.0, 1.0), (4, 2, 2))
    at = {tuple(np.round(x, 12)): k for k, x in enumerate(mesh.vertices.tolist())}
    for axis in range(3):
        turned = mesh.vertices.copy()
        turned[:, axis] *= -1.0
        image = np.array([at[tuple(np.round(x, 12) + 0.0)] for x in turned.tolist()])
        assert {frozenset(t) for t in image[mesh.tets].tolist()} == {frozenset(t) for t in mesh.tets.tolist()}


@pytest.mark.parametrize(("make", "volume"), [
    (lambda n: TetMesh.cylinder(1.0, 2.0, (n, n)), 2.0 * np.pi), (lambda n: TetMesh.ball(1.0, n), 4.0 / 3.0 * np.pi),
])  # fmt: skip
def test_round_solids_tend_to_their_volume_with_the_square_of_the_cells(make, volume):
    """Vertices lie on the surface, so what is cut off falls as h²: a factor of four for twice the cells, which counts of cells this small
    reach within a tenth."""
    lost = []
    for n in (4, 8):
        mesh = make(n)
        assert open_edges(mesh.surface()) == []
        assert mesh.quality().min() > 0.3
        lost.append(volume - mesh.volume)
    assert 3.6 < lost[0] / lost[1] < 4.4


def test_round_solids_have_their_vertices_on_the_surface():
    ball, drum = TetMesh.ball(0.3, 4), TetMesh.cylinder(0.3, 1.0, (4, 2))
    np.testing.assert_allclose(np.linalg.norm(ball.vertices[np.unique(ball.surface())], axis=1), 0.3, rtol=1e-12)
    rim = drum.vertices[np.unique(drum.surface())]
    side = rim[np.abs(rim[:, 2]) < 0.5 - 1e-12]
    np.testing.assert_allclose(np.hypot(side[:, 0], side[:, 1]), 0.3, rtol=1e-12)


def test_regular_tetrahedron_has_quality_one():
    mesh = TetMesh([(1, 1, 1), (1, -1, -1), (-1, -1, 1), (-1, 1, -1)], [(0, 1, 2, 3)])
    assert mesh.quality()[0] == pytest.approx(1.0, rel=1e-14)
    assert mesh.volume == pytest.approx(8.0 / 3.0)


def test_quadratic_vertices_are_the_middles_of_edges_in_order():
    mesh = TetMesh.box((1.0, 1.0, 1.0), (2, 1, 1)).quadratic()
    for k, (i, j) in enumerate(EDGES):
        middle = 0.5 * (mesh.vertices[mesh.tets[:, i]] + mesh.vertices[mesh.tets[:, j]])
        np.testing.assert_allclose(mesh.vertices[mesh.tets[:, 4 + k]], middle, atol=1e-15)
    assert len(np.unique(mesh.vertices.round(12), axis=0)) == len(mesh.vertices)
    assert mesh.quadratic() is mesh


def test_volume_of_a_bent_quadratic_tetrahedron_is_that_of_its_map():
    """x ↦ (x, y, z + a x²) moves sideways only and keeps volumes; a quadratic tetrahedron holds it exactly."""
    mesh = TetMesh.box((1.0, 1.0, 1.0), (1, 1, 1)).quadratic()
    bent = mesh.vertices + 0.2 * np.column_stack([np.zeros((len(mesh.vertices), 2)), mesh.vertices[:, 0] ** 2])
    assert TetMesh(bent, mesh.tets).volume == pytest.approx(1.0, rel=1e-12)


def test_arrays_cannot_be_written():
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1.0


FOUR = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize(("vertices", "tets", "said"), [
    (FOUR, [(0, 2, 1, 3)], r"tets\[0\] \[0, 2, 1, 3\] is turned inside out .* swap two"),
    ([*FOUR, (1, 1, 0)], [(0, 1, 2, 3), (0, 1, 4, 2)], r"tets\[1\] .* is flat"),
    (FOUR, [(0, 1, 2, 2)], r"tets\[0\] .* names a vertex twice"),
    (FOUR, [(0, 1, 2, 4)], r"names a vertex that is not there; there are 0 … 3"),
    (FOUR, [(0, 1, 2)], r"tets of shape \(1, 3\); give \(m, 4 or 10\)"),
    ([*FOUR, (5, 5, 5)], [(0, 1, 2, 3)], r"vertex 4 is in none of the tets"),
    (FOUR, [(0, 1, 2, 3), (1, 2, 0, 3)], r"tets\[0\] .* stands there twice"),
    ([(0, 0, np.nan), *FOUR[1:]], [(0, 1, 2, 3)], r"vertex 0 at \(0, 0, nan\) is nowhere"),
    ([*FOUR, *(np.array(FOUR) + 5.0).tolist()], [(0, 1, 2, 3), (4, 5, 6, 7)], r"2 pieces that do not hang together"),
    ([*FOUR, (0, 0, -1), (-1, 0, 0), (0, -1, 0)], [(0, 1, 2, 3), (0, 6, 5, 4)], r"2 pieces that do not hang together"),
    ("no", [(0, 1, 2, 3)], "vertices are not numbers"),
])  # fmt: skip
def test_wrong_meshes_are_refused_in_one_line(vertices, tets, said):
    with pytest.raises(ub.ModelError, match=f"^TetMesh: .*{said}") as caught:
        TetMesh(vertices, tets)
    assert "\n" not in str(caught.value)


def test_three_tetrahedra_at_one_face_are_refused():
    x = [*FOUR, (0.2, 0.2, -1), (0.3, 0.3, 2.0)]
    with pytest.raises(ub.ModelError, match="1 faces are in more than two tets"):
        TetMesh(x, [(0, 1, 2, 3), (0, 2, 1, 4), (0, 1, 2, 5)])


def test_a_surface_that_meets_itself_along_an_edge_is_refused():
    """A ring of eight cells is a solid. Without a cell at its corner the two beside it still hang together the long way round, and meet
    along an edge where both the corner and the hole are."""
    mesh = TetMesh.box((3.0, 3.0, 1.0), (3, 3, 1))
    cell = np.floor(mesh.vertices[mesh.tets].mean(axis=1)[:, :2] + 1.5).astype(int)

    def without(*cells):
        kept = mesh.tets[[tuple(c) not in cells for c in cell.tolist()]]
        used, index = np.unique(kept, return_inverse=True)
        return TetMesh(mesh.vertices[used], index.reshape(-1, 4))

    assert without((1, 1)).volume == pytest.approx(8.0)
    with pytest.raises(ub.ModelError, match=r"the surface meets itself along edge \(\d+, \d+\); give each part vertices"):
        without((1, 1), (0, 0))
    with pytest.raises(ub.ModelError, match="2 pieces that do not hang together"):
        without((1, 0), (1, 1), (1, 2))


@pytest.mark.parametrize(("make", "said"), [
    (lambda: TetMesh.box((1, 0, 1), (1, 1, 1)), r"TetMesh.box: size \(1, 0, 1\); give 3 lengths > 0"),
    (lambda: TetMesh.box((1, 1, 1), (1, 2.5, 1)), r"TetMesh.box: cells \(1, 2.5, 1\); give whole numbers above 0"),
    (lambda: TetMesh.ball(-1.0, 2), r"TetMesh.ball: radius -1.0; give metres > 0"),
    (lambda: TetMesh.ball(1.0, 0), r"TetMesh.ball: cells 0; give a whole number above 0"),
    (lambda: TetMesh.cylinder(1.0, "long", 2), r"TetMesh.cylinder: length 'long'"),
    (lambda: TetMesh.cage(3.0, 2), r"TetMesh.cage: float is no surface"),
])  # fmt: skip
def test_wrong_sizes_are_refused(make, said):
    with pytest.raises(ub.ModelError, match=said):
        make()
