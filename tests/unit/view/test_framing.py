"""What pictures frame: nothing shown leaves them, and a small thing is not lost before a large floor or in a long fall."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.view.films import render
from unibody.view.look import Look
from unibody.view.render import Renderer
from unibody.view.snapshot import Snapshot

SIZE = (320, 180)


def ball(gravity: float = -9.81, height: float = 1.0) -> ub.Builder:
    b = ub.Builder(gravity=(0, 0, gravity))
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, height)))
    return b


def share(artist: Renderer, low: tuple[float, ...], high: tuple[float, ...]) -> tuple[float, bool]:
    """The larger part of the picture's sides that the box between two corners takes, and whether it is inside."""
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    at = artist.project(corners) / SIZE
    return float(np.ptp(at, axis=0).max()), bool((at > 0.0).all() and (at < 1.0).all())


def around(height: float) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    return (-0.1, -0.1, height - 0.1), (0.1, 0.1, height + 0.1)


def test_a_floor_of_a_hundred_metres_does_not_make_a_ball_a_dot():
    """Framed whole, the ball would take 1/500 of the width."""
    b = ball(height=0.1)
    b.body("floor", shape=ub.Box((100.0, 100.0, 1.0)), kind="static", X_WB=ub.Pose((0, 0, -0.5)))
    artist = Renderer(b.build(), SIZE)
    part, inside = share(artist, *around(0.1))
    assert part > 0.5 and inside
    assert artist.floor <= -1.0, "the drawn ground lies under the floor, not in its face"
    picture = artist.image(Snapshot.of(artist.look, ub.Simulation(b.build(), dt=1e-2).run(0.0).observations[0]))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50


def test_things_at_rest_that_are_not_vast_are_framed_whole():
    b = ball(height=0.1)
    b.body("table", shape=ub.Box((1.5, 1.5, 0.1)), kind="static", X_WB=ub.Pose((0, 0, -0.05)))
    assert share(Renderer(b.build(), SIZE), (-0.75, -0.75, -0.1), (0.75, 0.75, 0.0))[1]


def test_a_vast_thing_elsewhere_is_left_out():
    b = ball(height=0.1)
    b.body("hill", shape=ub.Box((100.0, 100.0, 1.0)), kind="static", X_WB=ub.Pose((0, 200, -20)))
    assert Look(b.build()).bounds(*Look(b.build()).start)[0] == pytest.approx((-0.1, -0.1, 0.0))


def test_ground_far_below_is_not_framed():
    """At 50 m above a plane the ball and its ground would leave it 1/250 of the height."""
    b = ball(height=50.0)
    b.body("ground", shape=ub.Plane(), kind="static")
    part, inside = share(Renderer(b.build(), SIZE), *around(50.0))
    assert part > 0.5 and inside


@pytest.mark.parametrize("row", [0, 100, -1])
def test_a_picture_of_one_state_frames_it_where_the_whole_fall_would_make_it_a_dot(row):
    rec = ub.Simulation(ball().build(), dt=1e-2).run(2.0)
    height = float(rec.observations[row].poses[1, 2])
    part, inside = share(Renderer(rec.model, SIZE, recording=rec, only=row % len(rec)), *around(height))
    assert part > 0.5 and inside
    whole = Renderer(rec.model, SIZE, recording=rec)
    assert share(whole, *around(height))[0] < 0.05 and share(whole, *around(1.0))[1] and share(whole, *around(height))[1]


def test_pictures_of_a_small_motion_share_their_camera():
    rec = ub.Simulation(ball().build(), dt=1e-2).run(0.1)
    views = [Renderer(rec.model, SIZE, recording=rec, only=row).view for row in (0, len(rec) - 1)]
    assert np.array_equal(views[0].target, views[1].target) and views[0].distance == views[1].distance


def test_a_picture_at_a_time_is_framed_so(tmp_path):
    """The ball in its colours covers a good part of the picture at the end of a long fall."""
    image = pytest.importorskip("PIL.Image")
    rec = ub.Simulation(ball().build(), dt=1e-2).run(2.0)
    picture = np.asarray(image.open(render(rec, tmp_path / "end.png", size=SIZE))).astype(int)
    assert (np.ptp(picture, axis=2) > 60).mean() > 0.05


def test_what_moves_as_fast_as_states_are_sampled_does_not_leave_the_film():
    """Every tenth of 600 rows is fitted to; a ball that turns round a centre once in ten rows is always at one place in these."""
    b = ub.Builder(gravity=None)
    orbiting = b.body("ball", shape=ub.Sphere(0.05), mass=1.0)
    b.joint("axle", ub.Revolute((0, 1, 0)), parent=b.world, child=orbiting, X_BM=ub.Pose((-2.0, 0, 0)), v=2.0 * np.pi / 0.1)
    rec = ub.Simulation(b.build(), dt=1e-2).run(5.9)
    assert len(rec) == 591
    artist = Renderer(rec.model, SIZE, recording=rec, camera=(-90.0, 0.0))
    at = artist.project(np.array([o.poses[1, :3] for o in rec.observations])) / SIZE
    assert (at > 0.0).all() and (at < 1.0).all()


def test_deformables_beside_bodies_are_framed():
    """A sheet that reaches farther than all bodies and cables."""
    b = ball(height=0.0)
    b.cloth("sheet", ub.TriMesh.grid((2.0, 2.0), 1.0), ub.Fabric(young=1e4, poisson=0.3, thickness=1e-3), density=200)
    look = Look(b.build())
    low, high = look.bounds(*look.start, look.start_vertices)
    assert (low[:2], high[:2]) == (pytest.approx(look.start_vertices.min(axis=0)[:2]), pytest.approx(look.start_vertices.max(axis=0)[:2]))
