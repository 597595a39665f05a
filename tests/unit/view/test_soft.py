"""Pictures show deformables where they are; by strain too; drawings that cannot show them say so."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.observation import Observation
from unibody.view.look import Look
from unibody.view.render import Renderer
from unibody.view.series import panels
from unibody.view.snapshot import Snapshot
from unibody.view.soft import largest_strain, softs

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
sys.path.insert(0, str(Path(__file__).parents[2]))
from test_recorded_deformables import recording

from soft_parts import Bars


def test_surfaces_and_rods_are_drawn_where_their_vertices_are():
    """Every place of the scenery's surface is a vertex of the deformable, and the tube's axis is the rod."""
    rec = recording()
    artist = Renderer(rec.model, (160, 120), recording=rec)
    seen = Snapshot.of(artist.look, rec.observations[2])
    drawn = artist._scenery._soft(seen)
    for surface, name in zip(drawn, ("flag", "block", "lid"), strict=True):
        x = rec.vertices(name)[2]
        faces = rec.model.deformable(name).faces
        assert np.isin(np.round(surface.x, 12), np.round(x[np.unique(faces)], 12)).all()
        corners = x[faces]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
        there = surface.x[surface.faces]
        assert 0.5 * np.linalg.norm(np.cross(there[:, 1] - there[:, 0], there[:, 2] - there[:, 0]), axis=1).sum() == pytest.approx(area)
    (tube,) = artist._scenery._rods(seen, artist.view)
    middle = tube.x.reshape(5, -1, 3).mean(axis=1)
    rope = rec.vertices("rope")[2]
    np.testing.assert_allclose(middle, 0.5 * (rope[1:] + rope[:-1]), atol=1e-12)


def test_an_embedded_surface_is_drawn_instead():
    b = ub.Builder(gravity=None)
    shown = ub.Mesh(*ub.Sphere(0.3).triangles(16))
    b.soft("ball", ub.TetMesh.cage(shown, 3), Bars(), 1000).embed(shown)
    look = Look(b.build())
    np.testing.assert_allclose(look.soft[0].places(look.start_vertices), shown.vertices, atol=1e-13)
    moved = look.start_vertices @ np.diag((2.0, 1.0, 0.5)) + (1.0, 0.0, 0.0)
    np.testing.assert_allclose(look.soft[0].places(moved), shown.vertices * (2.0, 1.0, 0.5) + (1.0, 0.0, 0.0), atol=1e-13)


def test_strands_run_to_points_of_deformables():
    rec = recording()
    look = Look(rec.model)
    for k, seen in enumerate(rec.observations):
        shot = Snapshot.of(look, seen)
        cable = next(s for s in look.strands if s.name == "cable")
        x = cable.points(shot.R, shot.p)
        faces = rec.model.deformable("flag").faces[2]
        np.testing.assert_allclose(x[0], rec.vertices("flag")[k][faces].mean(axis=0), atol=1e-13)
        np.testing.assert_array_equal(x[2], (0.0, 0.0, 4.0))


def test_a_picture_shows_the_colour_of_what_is_there(tmp_path):
    """At the pixel of the lid's middle stands its colour, more or less lit."""
    rec = recording()
    artist = Renderer(rec.model, (480, 360), recording=rec, camera=(20, 40))
    picture = artist.image(Snapshot.of(artist.look, rec.observations[0]))
    column, row = artist.project(rec.vertices("lid")[0].mean(axis=0)).round().astype(int)
    colour, drawn = artist.look.soft[3].colour, picture[row, column] / 255.0
    assert np.argmax(drawn) == np.argmax(colour) and drawn @ colour > 0.9 * np.linalg.norm(drawn) * np.linalg.norm(colour)
    ub.render(rec, tmp_path / "soft.gif", fps=10, size=(64, 48))
    assert (tmp_path / "soft.gif").stat().st_size > 0


def test_momentum_counts_them():
    """Everything free sinks at 1 m/s; bodies, in these observations, stand, and the lid moves by itself."""
    rec = recording()
    linear, angular = panels(rec, "momentum")
    expected = np.zeros((3, 2, 3))
    for d in rec.model.deformables:
        own = d.mass[:, None] * rec.velocities(d.name)
        expected += np.stack([own.sum(axis=1), np.cross(rec.vertices(d.name), own).sum(axis=1)], axis=1)
    for panel, values in ((linear, expected[:, 0]), (angular, expected[:, 1])):
        np.testing.assert_allclose(np.stack(list(panel.curves.values()), axis=1), values, atol=1e-12)
    assert abs(expected[:, 0, 2]).min() > 1.0


def test_strain_is_the_stretch_of_a_uniform_motion():
    """x = diag(1.2, 0.9, 0.7) X strains all cells by 0.2, −0.1 and −0.3: the largest in size of a solid is −0.3, of a sheet in the
    xy-plane 0.2, of a rod along y −0.1; embedded surfaces have what their cells have."""
    b = ub.Builder(gravity=None)
    shown = ub.Mesh(*ub.Sphere(0.3).triangles(16))
    b.soft("ball", ub.TetMesh.cage(shown, 3), Bars(), 1000).embed(shown)
    b.soft("block", ub.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1)), Bars(), 900, order=2)
    b.cloth("sheet", ub.TriMesh.grid((1, 1), 0.5, "regular"), Bars(), 470)
    b.rod("rod", np.linspace((0, 0, 0), (0, 1, 0), 4), 2e-3, Bars(), 1000)
    look = Look(b.build())
    x = look.start_vertices * (1.2, 0.9, 0.7)
    for soft, expected in zip(look.soft, (-0.3, -0.3, 0.2, -0.1), strict=True):
        both = soft.strains(np.array([look.start_vertices, x]))
        np.testing.assert_allclose(both[0], 0.0, atol=1e-12)
        np.testing.assert_allclose(both[1], expected, atol=1e-12)
        assert both.shape[1] == len(soft.rest)


def test_a_vertex_has_the_mean_strain_of_its_cells():
    b = ub.Builder(gravity=None)
    b.rod("rod", [(0, 0, 0), (1, 0, 0), (3, 0, 0)], 2e-3, Bars(), 1000)
    look = Look(b.build())
    x = np.array([(0, 0, 0), (1.5, 0, 0), (3.3, 0, 0)])  # 0.5 and −0.1
    np.testing.assert_allclose(look.soft[0].strains(x), (0.5, 0.2, -0.1), atol=1e-15)


def test_full_colour_is_the_largest_strain_but_for_a_few():
    assert largest_strain([]) == 0.0 and largest_strain([np.array([0.1, -0.4, np.nan])]) == pytest.approx(0.4, rel=0.01)
    assert largest_strain([np.full(900, 0.1), np.full(1, -7.0)]) == pytest.approx(0.1)


def test_pictures_show_what_is_stretched_red_and_what_is_pressed_blue():
    """Two sheets side by side; the left one stretched by a fifth, the right one pressed by as much, and at rest both are grey."""
    b = ub.Builder(gravity=None)
    grid = ub.TriMesh.grid((1, 1), 0.5, "regular")
    for name, at, scale in (("left", -1.5, 1.2), ("right", 0.5, 0.8)):
        b.cloth(name, grid, Bars(), 470, X_WB=ub.Pose((at, 0, 0.5)), start=grid.vertices * (scale, 1.0, 1.0))
    model = b.build()
    look = Look(model)
    assert {soft.name: round(float(soft.strains(look.start_vertices).mean()), 9) for soft in look.soft} == {"left": 0.2, "right": -0.2}
    artist = Renderer(model, (320, 200), camera=(-90, 60), colour="strain")
    seen = Snapshot.of(artist.look, observed(model, look.start_vertices))
    picture = artist.image(seen).astype(float)
    colours = {}
    for soft in look.soft:
        column, row = artist.project(look.start_vertices[soft.vertices].mean(axis=0)).round().astype(int)
        colours[soft.name] = picture[row, column]
    assert colours["left"][0] > 1.5 * colours["left"][2] and colours["right"][2] > 1.5 * colours["right"][0]
    calm = artist.image(Snapshot.of(artist.look, observed(model, unstrained(model)))).astype(float)
    column, row = artist.project(unstrained(model)[:9].mean(axis=0)).round().astype(int)
    assert np.ptp(calm[row, column]) < 40.0  # grey
    with pytest.raises(ub.ModelError, match=r"colour 'stress' is unknown; give 'body' or 'strain'"):
        Renderer(model, (320, 200), colour="stress")


def unstrained(model):
    return np.concatenate([d.X + (at, 0.0, 0.5) for d, at in zip(model.deformables, (-1.5, 0.5), strict=True)])


def observed(model, x):
    """What a solver would tell with vertices at x."""
    n = model.n_bodies
    poses = np.tile((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (n, 1))
    return Observation(
        time=0.0, poses=poses, twists=np.zeros((n, 6)), joint_q=np.zeros(0), joint_v=np.zeros(0), kinetic=0.0, gravity=0.0, springs=0.0,
        powers=np.zeros(3), reactions=np.zeros((0, 6)), constraint_wrenches=np.zeros((0, 6)), violation=0.0, redundant=0,
        redundant_names=(), vertices=x,
    )  # fmt: skip


def test_a_film_may_be_coloured_by_strain(tmp_path):
    ub.render(recording(), tmp_path / "soft.gif", fps=10, size=(64, 48), colour="strain")
    assert (tmp_path / "soft.gif").stat().st_size > 0


def test_a_drawing_by_matplotlib_refuses_by_name(tmp_path):
    pytest.importorskip("matplotlib")
    from unibody.view.pictures import draw_motion

    with pytest.raises(ub.ModelError, match=r"a drawing by matplotlib cannot show deformables \('flag', 'rope', 'block', 'lid'\)"):
        draw_motion(recording(), tmp_path / "x.png")


def test_an_embedded_surface_has_an_inside_only_if_it_is_closed() -> None:
    """A sphere has one; with half of its faces left out it is seen from both sides."""
    surface = ub.Mesh(*ub.Sphere(0.04).triangles(8))
    kept = surface.faces[surface.vertices[surface.faces].mean(axis=1)[:, 1] > 0.0]
    used, faces = np.unique(kept, return_inverse=True)
    half = ub.TriMesh(surface.vertices[used], faces.reshape(-1, 3))
    for shown, inside in ((surface, True), (half, False)):
        b = ub.Builder()
        b.soft("ball", ub.TetMesh.cage(surface, cells=3), ub.CoRotated(1e4, 0.3), density=1000.0).embed(shown)
        assert softs(b.build())[0].closed is inside
