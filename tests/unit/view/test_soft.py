"""Pictures show deformables where they are; media that cannot show them say so."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.view.look import Look
from unibody.view.render import Renderer
from unibody.view.series import panels
from unibody.view.snapshot import Snapshot

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from test_recorded_deformables import recording


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
    from soft_parts import Bars

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


def test_media_without_deformables_refuse_by_name(tmp_path):
    rec = recording()
    for act in (lambda: rec.to_html(tmp_path / "x.html"), lambda: rec.to_gltf(tmp_path / "x.glb")):
        with pytest.raises(ub.ModelError, match=r"an export cannot show deformables \('flag', 'rope', 'block', 'lid'\) yet"):
            act()
    assert rec._repr_html_() is None and not list(tmp_path.iterdir())
