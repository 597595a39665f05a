"""TriMesh and RodMesh: areas, boundaries, quality, the same way round, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody import RodMesh, TriMesh


def corners(mesh):
    return mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)


@pytest.mark.parametrize("pattern", ["equilateral", "regular", "alternating"])
@pytest.mark.parametrize("size", [(1.0, 2.0), (0.31, 0.2)])
def test_grid_covers_its_rectangle(pattern, size):
    """A disc topologically: vertices − edges + faces = 1; every face is seen from above."""
    mesh = TriMesh.grid(size, 0.1, pattern)
    assert mesh.area == pytest.approx(size[0] * size[1], rel=1e-12)
    assert len(mesh.vertices) - len(mesh.edges()) + len(mesh.faces) == 1
    low, high = corners(mesh)
    np.testing.assert_allclose(high - low, (*size, 0.0), atol=1e-15)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()
    assert mesh.quality().min() > 0.7


def test_near_equilateral_triangles_are_near_equilateral():
    """All but the halves at the ends of odd rows, whose quality is √3/2 · √3/2 = 3/4."""
    mesh = TriMesh.grid((1.0, 1.0), 0.05)
    halves = 2 * round(1.0 / (0.05 * np.sqrt(0.75)))  # two a row of triangles, about
    good = np.sort(mesh.quality())[halves:]
    assert good.min() > 0.99 and mesh.quality().min() == pytest.approx(0.75, abs=0.01)


def test_alternating_grid_turns_its_diagonals():
    mesh = TriMesh.grid((2.0, 2.0), 1.0, "alternating")
    diagonals = {tuple(sorted(e)) for e in mesh.edges().tolist()} - {(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8)}
    diagonals -= {(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8)}
    assert diagonals == {(0, 4), (2, 4), (4, 6), (4, 8)}


def test_disc_is_rings_of_six_sectors():
    mesh = TriMesh.disc(0.5, 0.1)
    assert len(mesh.faces) == 6 * 5**2 and len(mesh.boundary()) == 30
    assert mesh.area == pytest.approx(0.5 * 30 * 0.25 * np.sin(2 * np.pi / 30), rel=1e-12)  # the polygon on its rim
    assert mesh.quality().min() > 0.85


def test_cylinder_is_a_tube():
    mesh = TriMesh.cylinder(0.2, 1.0, 0.05)
    assert len(mesh.vertices) - len(mesh.edges()) + len(mesh.faces) == 0
    rim = mesh.boundary()
    assert set(np.abs(mesh.vertices[rim.ravel(), 2])) == {0.5}
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert (np.einsum("ni,ni->n", np.cross(b - a, c - a)[:, :2], (a + b + c)[:, :2]) > 0.0).all()  # outwards
    assert mesh.quality().min() > 0.95 and mesh.area == pytest.approx(0.4 * np.pi, rel=5e-3)


@pytest.mark.parametrize(("outline", "area"), [
    ([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], 3.0), ([(0, 2), (1, 2), (1, 1), (2, 1), (2, 0), (0, 0)], 3.0),
    ([(np.cos(a), np.sin(a)) for a in np.arange(40) * np.pi / 20], 20.0 * np.sin(np.pi / 20)),
])  # fmt: skip
def test_outline_is_followed_exactly_either_way_round(outline, area):
    mesh = TriMesh.from_outline(outline, 0.15)
    assert mesh.area == pytest.approx(area, rel=1e-12)
    assert mesh.quality().min() > 0.5 and np.median(mesh.quality()) > 0.97
    rim = {tuple(np.round(x, 12)) for x in mesh.vertices[mesh.boundary().ravel(), :2].tolist()}
    assert {tuple(np.round(np.array(p, float), 12)) for p in outline} <= rim


def test_flat_pattern_gives_areas_and_warp():
    """A sheet cut from a piece twice as long: its area at rest is that of the piece."""
    grid = TriMesh.grid((1.0, 1.0), 0.5, "regular")
    sewn = TriMesh(grid.vertices, grid.faces, flat=grid.vertices[:, :2] * (2.0, 1.0))
    assert sewn.area == pytest.approx(2.0) and grid.area == pytest.approx(1.0)


def test_closed_surface_has_no_boundary():
    ball = TriMesh(*ub.Sphere(1.0).triangles(12))
    assert ball.closed and not TriMesh.disc(1.0, 0.5).closed


SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


@pytest.mark.parametrize(("vertices", "faces", "said"), [
    (SQUARE, [(0, 1, 2), (0, 3, 2)], r"faces at edge \(\d, \d\) go round it the same way; turn one"),
    ([*SQUARE, (0, 0, 1)], [(0, 1, 2), (2, 3, 0), (0, 2, 4)], r"edge \(\d, \d\) belongs to 3 faces"),
    ([*SQUARE, (2, 0, 0)], [(0, 2, 3), (0, 1, 4)], r"faces\[1\] \[0, 1, 4\] has no area"),
    ([*SQUARE, (-1, 0, 0), (0, -1, 0)], [(0, 1, 2), (0, 2, 3), (0, 4, 5)], "2 pieces that do not hang together"),
    (SQUARE, [(0, 1, 2)], "vertex 3 is in none of the faces"),
])  # fmt: skip
def test_wrong_sheets_are_refused_in_one_line(vertices, faces, said):
    with pytest.raises(ub.ModelError, match=f"^TriMesh: .*{said}") as caught:
        TriMesh(vertices, faces)
    assert "\n" not in str(caught.value)


def test_a_point_where_two_parts_of_one_sheet_meet_is_refused():
    """A strip of six squares bent so that its first and its last have a corner in common."""
    grid = TriMesh.grid((3.0, 3.0), 1.0, "regular")
    cell = np.floor(grid.vertices[grid.faces].mean(axis=1)[:, :2] + 1.5).astype(int)
    gone = {(1, 1), (2, 0)}  # the ring without a corner: its ends (1, 0) and (2, 1) touch at a corner of the hole
    faces = grid.faces[[tuple(c) not in gone for c in cell.tolist()]]
    used, index = np.unique(faces, return_inverse=True)
    with pytest.raises(ub.ModelError, match=r"at vertex \d+ pieces of the sheet meet in a point only"):
        TriMesh(grid.vertices[used], index.reshape(-1, 3))


@pytest.mark.parametrize(("make", "said"), [
    (lambda: TriMesh.grid((1, 1), 2.0), "spacing 2 m is more than the 1 m of the sheet"),
    (lambda: TriMesh.grid((1, 1), 0.1, "hexagonal"), "pattern 'hexagonal' is unknown; give one of equilateral, regular, alternating"),
    (lambda: TriMesh.disc(1.0, 0.0), "TriMesh.disc: spacing 0.0; give metres > 0"),
    (lambda: TriMesh.from_outline([(0, 0), (1, 0)], 0.1), "give three or more points"),
    (lambda: TriMesh.from_outline([(0, 0), (1, 1), (1, 0), (0, 1)], 0.1), "do not follow the outline .* that does not cross itself"),
    (lambda: TriMesh(SQUARE, [(0, 1, 2), (2, 3, 0)], flat=[(0, 0)] * 4), r"TriMesh flat: faces\[0\] .* has no area"),
    (lambda: TriMesh(SQUARE, [(0, 1, 2), (2, 3, 0)], flat=[(0, 0)]), r"flat of shape \(1, 2\); give \(4, 2\)"),
    (lambda: RodMesh([(0, 0, 0)], 0.1), "1 points are no rod; give 2 or more"),
    (lambda: RodMesh([(0, 0, 0), (1, 0, 0)], 0.1, closed=True), "2 points are no ring; give 3 or more"),
    (lambda: RodMesh([(0, 0, 0), (1, 0, 0), (1, 0, 0)], 0.1), "points 1 and 2 are the same"),
    (lambda: RodMesh([(0, 0, 0), (1, 0, 0)], -0.1), "radius -0.1 is not a positive number"),
    (lambda: RodMesh.line((0, 0, 0), (1, 0, 0), 1, 0.1, clamped=(True, True)), "1 edges; give a whole number, 3 or more"),
])  # fmt: skip
def test_wrong_arguments_are_refused(make, said):
    with pytest.raises(ub.ModelError, match=said):
        make()


def test_a_clamped_line_is_free_for_its_whole_length():
    """Half an edge beyond each clamped end, so that the middle of the clamped edge stands where the rod is held."""
    rod = RodMesh.line((1, 0, 0), (3, 0, 0), 5, 0.01, clamped=(True, True))
    middles = 0.5 * (rod.vertices[:-1] + rod.vertices[1:])
    np.testing.assert_allclose(middles[[0, -1], 0], (1.0, 3.0), rtol=1e-14)
    np.testing.assert_allclose(rod.lengths, 0.5, rtol=1e-14)
    assert RodMesh.line((0, 0, 0), (0, 0, 2), 4, 0.01).length == pytest.approx(2.0)
