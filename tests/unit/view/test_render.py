"""Rendered pictures show what is there, where the camera's geometry says; films move; nothing needs a screen."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

import unibody as ub
from unibody.view import films
from unibody.view.look import Look
from unibody.view.render import Renderer
from unibody.view.render_camera import View, fitted, turned
from unibody.view.render_mesh import patches, with_normals
from unibody.view.render_pixels import Pixels, covered, cut, spans
from unibody.view.snapshot import Snapshot

Image = pytest.importorskip("PIL.Image")
SMALL = (320, 180)
RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.2, 0.9)


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


def pendulum() -> ub.Model:
    """A red ball 1 m from a hinge, on a blue post that stands on the ground."""
    b = ub.Builder()
    post = b.body("post", shape=ub.Placed(ub.Box((0.1, 0.1, 2.0)), ub.Pose((0, 0, 1.0)), colour=BLUE), kind="static")
    ball = ub.Placed(ub.Sphere(0.15), ub.Pose((1.0, 0, 0)), colour=RED)
    bob = b.body("bob", shape=ball, mass=1.0, com=(1.0, 0, 0), inertia=(0.01, 0.01, 0.01))
    b.joint("pivot", ub.Revolute(axis=(0, 1, 0)), post, bob, X_PF=ub.Pose((0, 0, 2.0)))
    return b.build()


@pytest.fixture(scope="module")
def swing() -> ub.Recording:
    return ub.Simulation(pendulum(), dt=5e-3).run(0.4, every=4)


def reddish(picture: np.ndarray) -> np.ndarray:
    r, g, b = np.moveaxis(picture.astype(float), 2, 0)
    return (r > 2.0 * g) & (r > 2.0 * b) & (r > 60)


def bluish(picture: np.ndarray) -> np.ndarray:
    r, g, b = np.moveaxis(picture.astype(float), 2, 0)
    return (b > 1.6 * r) & (b > 1.6 * g) & (b > 60)


@pytest.mark.parametrize("camera", [None, (30.0, 25.0), (-120.0, 5.0), (10.0, 80.0)])
def test_the_bob_is_where_the_projection_says(swing, camera):
    """Its silhouette is a disc of radius r f / √(D² − r²) pixels, nearly, around the projected centre."""
    artist = Renderer(swing.model, SMALL, recording=swing, camera=camera)
    for row in (0, len(swing) - 1):
        centre = swing.point("bob", (1.0, 0, 0))[row]
        red = np.argwhere(reddish(artist.image(Snapshot.of(artist.look, swing.observations[row]))))
        column, line = artist.project(centre)
        radius = 0.15 * artist.view.focal / float(artist.view.depth(centre))
        assert np.hypot(red[:, 1] + 0.5 - column, red[:, 0] + 0.5 - line).max() < 1.15 * radius + 1.5
        assert len(red) > 0.6 * np.pi * radius**2
        assert np.abs(red.mean(axis=0) + 0.5 - (line, column)).max() < 0.25 * radius + 1.0


def test_bodies_ground_and_shadow_are_in_the_picture(swing):
    artist = Renderer(swing.model, SMALL, recording=swing)
    picture = artist.image(Snapshot.of(artist.look, swing.observations[0]))
    assert picture.shape == (180, 320, 3) and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 200
    assert reddish(picture).sum() > 50 and bluish(picture).sum() > 200
    column, line = artist.project((0.0, 0.0, 0.0)).astype(int)
    assert bluish(picture)[line - 3, column] and not bluish(picture)[line + 6, column]  # the post ends at the ground
    empty = artist._ground.picture
    x = np.array([1.0, 0.0, 2.0]) - 2.0 / artist._sun[2] * artist._sun
    column, line = artist.project(x).astype(int)
    assert picture[line, column].mean() < 255.0 * empty[line, column].mean() - 20.0


def test_nothing_shown_leaves_the_picture(swing):
    """Every corner of the bodies at every recorded time is inside, with a margin."""
    artist = Renderer(swing.model, (200, 300), recording=swing)
    for o in swing.observations:
        seen = Snapshot.of(artist.look, o)
        corners = np.concatenate([s.corners(seen.R, seen.p).reshape(-1, 3) for s in artist.look.solids])
        at = artist.project(corners)
        assert (at > 0.0).all() and (at < (200.0, 300.0)).all()


def test_a_camera_among_the_things_looks_at_their_middle():
    """Seen from 2 m over a corner, a table of 3 m has corners beside the eye; what stands in its middle is in the middle."""
    corners = np.array([(x, y, z) for x in (-1.5, 1.5) for y in (-1.5, 1.5) for z in (0.0, 0.1)])
    seen = fitted(turned(np.radians(-45.0), np.radians(10.0)), corners, (200, 100), 2.0)
    assert np.allclose(seen.pixels(np.array([0.0, 0.0, 0.05]))[:2], (100.0, 50.0)) and seen.distance == 2.0


def test_the_nearer_of_two_balls_hides_the_other():
    b = ub.Builder(gravity=None)
    b.body("near", shape=ub.Placed(ub.Sphere(0.3), ub.Pose(), colour=RED), mass=1.0, X_WB=ub.Pose((0, -2.0, 0)))
    b.body("far", shape=ub.Placed(ub.Sphere(0.25), ub.Pose(), colour=BLUE), mass=1.0, X_WB=ub.Pose((0, 0.0, 0)))
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    for azimuth, shown, hidden in ((-90.0, reddish, bluish), (90.0, bluish, reddish)):
        artist = Renderer(rec.model, SMALL, recording=rec, camera=(azimuth, 0.0))
        picture = artist.image(Snapshot.of(artist.look, rec.observations[0]))
        column, line = artist.project((0.0, -1.0, 0.0)).astype(int)
        assert shown(picture)[line, column] and not hidden(picture)[line, column]


def test_things_that_shine_through_are_blended():
    b = ub.Builder(gravity=None)
    b.body("glass", shape=ub.Placed(ub.Box((1.0, 0.1, 1.0)), ub.Pose(), colour=(*BLUE, 0.5)), mass=1.0, X_WB=ub.Pose((0, -1, 0)))
    b.body("ball", shape=ub.Placed(ub.Sphere(0.3), ub.Pose(), colour=RED), mass=1.0)
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    artist = Renderer(rec.model, SMALL, recording=rec, camera=(-90.0, 0.0))
    picture = artist.image(Snapshot.of(artist.look, rec.observations[0])).astype(float)
    column, line = artist.project((0.0, 0.0, 0.0)).astype(int)
    r, _, b_ = picture[line, column]
    assert 60 < r < 200 and 60 < b_ < 200


def test_a_pulled_cable_is_red_and_a_slack_one_grey():
    b = ub.Builder(gravity=None)
    for name, x, natural in (("tight", -1.0, 0.5), ("slack", 1.0, 1.0)):
        ball = b.body(name, shape=ub.Placed(ub.Sphere(0.05), ub.Pose(), colour=BLUE), mass=1.0, X_WB=ub.Pose((x, 0, 0)))
        b.add(ub.Cable([b.world.at(x, 0, 1.0), ball.at()], stiffness=100.0, rest_length=natural), name=f"{name}-cable")
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    artist = Renderer(rec.model, SMALL, recording=rec, camera=(-90.0, 0.0))
    picture = artist.image(Snapshot.of(artist.look, rec.observations[0])).astype(int)
    (red, grey) = (picture[int(line), int(column)] for column, line in artist.project([(-1.0, 0, 0.6), (1.0, 0, 0.6)]))
    assert red[0] > red[1] + 60 and red[0] > red[2] + 40
    assert np.ptp(grey) < 40 and grey.max() < 215


def test_reactions_and_frames_add_their_colours(swing):
    seen = Snapshot.of(Look(swing.model), swing.observations[-1])
    plain, marked = (Renderer(swing.model, SMALL, recording=swing, reactions=on, frames=on).image(seen) for on in (False, True))
    assert (plain != marked).any(axis=2).sum() > 100


def test_a_model_alone_is_shown_at_its_start(tmp_path):
    path = ub.render(pendulum(), tmp_path / "start.png", size=SMALL, title="start")
    picture = np.asarray(Image.open(path))
    assert picture.shape == (180, 320, 3) and reddish(picture).any()


def test_a_picture_at_a_time_shows_the_nearest_state(swing, tmp_path):
    last, first, asked = (
        np.asarray(Image.open(films.render(swing, tmp_path / f"{k}.png", at=at, size=SMALL))) for k, at in enumerate((None, 0.0, 0.4))
    )
    assert (last == asked).all() and (last != first).any()
    with pytest.raises(ub.ModelError, match="goes from 0 to 0.4 s"):
        films.render(swing, tmp_path / "a.png", at=1.0)


def test_mp4_has_the_size_and_frames_that_move(swing, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = films.render(swing, tmp_path / "film.mp4", size=(319, 179), fps=25, speed=1.0)
    frames = ffmpeg.read_frames(str(path))
    facts = next(frames)
    pictures = [np.frombuffer(f, np.uint8).reshape(180, 320, 3) for f in frames]
    assert facts["size"] == (320, 180) and facts["pix_fmt"].startswith("yuv420p") and facts["fps"] == 25
    assert len(pictures) == 11  # 0, 0.04, …, 0.4 s
    places = [np.argwhere(reddish(p)).mean(axis=0)[0] for p in pictures]
    assert all(b > a for a, b in pairwise(places))  # released level, the bob falls


def test_gif_has_its_frames_and_colours(swing, tmp_path):
    film = Image.open(films.render(swing, tmp_path / "film.gif", size=(160, 90), fps=10, speed=0.5))
    assert film.n_frames == 9 and film.size == (160, 90) and film.info["duration"] == 100
    film.seek(0)
    first = np.asarray(film.convert("RGB"))
    film.seek(8)
    last = np.asarray(film.convert("RGB"))
    assert reddish(first).any() and reddish(last).any() and (first != last).any()


def test_bad_requests_are_refused_in_words(swing, tmp_path, monkeypatch):
    for match, options in {
        "ends in '.xyz'": {"path": "a.xyz"},
        "16 to 8192": {"size": (4, 4)},
        "azimuth": {"camera": (1.0,)},
        "not positive": {"path": "a.gif", "fps": 0.0},
        "leave the time out": {"path": "a.mp4", "at": 0.1},
        "cannot be written": {"path": "nowhere/a.png"},
    }.items():
        options = dict(options)
        path = tmp_path / str(options.pop("path", "a.png"))
        with pytest.raises(ub.ModelError, match=match):
            films.render(swing, path, **options)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ub.ModelError, match=r"pip install unibody\[render\]"):
        films.render(swing, tmp_path / "a.mp4")


def test_spans_are_the_pixel_centres_inside_a_triangle():
    """Against the three half-planes, for random triangles of both orientations, partly outside."""
    rng = np.random.default_rng(4)
    x, y = np.meshgrid(np.arange(30) + 0.5, np.arange(20) + 0.5)
    for corners in rng.uniform(-10, 35, (40, 3, 2)):
        d = np.roll(corners, -1, axis=0) - corners
        side = np.array([e[0] * (y - a[1]) - e[1] * (x - a[0]) for a, e in zip(corners, d, strict=True)])
        inside = (side > 0).all(axis=0) | (side < 0).all(axis=0)
        assert (covered(corners[None], 30, 20) == inside).all()
        found = spans(corners[None], 30, 20)
        assert found.count.sum() == inside.sum()


def test_the_z_buffer_keeps_the_nearest_and_its_nearness():
    pixels = Pixels(20, 20)
    square = np.array([[(0, 0), (20, 0), (20, 20)], [(0, 0), (20, 20), (0, 20)]], float)
    flat = np.concatenate([square, np.full((2, 3, 1), 0.5)], axis=2)
    sloped = np.concatenate([square, square[:, :, :1] / 20.0], axis=2)  # nearness = column / 20
    pixels.draw(np.concatenate([flat, sloped]), np.array([7, 7, 8, 8]))
    face, near = pixels.face.reshape(20, 20), pixels.near.reshape(20, 20)
    assert (face[:, :10] == 7).all() and (face[:, 10:] == 8).all()
    assert np.allclose(near[:, 10:], (np.arange(10, 20) + 0.5) / 20.0, atol=1e-6) and np.allclose(near[:, :10], 0.5)


def test_cutting_keeps_area_and_interpolates():
    x = np.array([[(0.0, 0, 0), (2.0, 0, 0), (0.0, 1, 0)]])
    pieces, values, origin = cut(x, x[:, :, 0], x[:, :, 0], 1.0)  # keep where x ≥ 1: a triangle of a quarter of the area
    area = 0.5 * np.linalg.norm(np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0]), axis=1).sum()
    assert area == pytest.approx(0.25) and np.allclose(values, pieces[:, :, 0]) and (origin == 0).all()


def test_normals_are_round_on_spheres_and_broken_at_edges():
    x, n, faces = with_normals(*ub.Sphere(2.0).triangles(24))
    assert np.einsum("ij,ij->i", x / 2.0, n).min() > 0.995 and patches(faces).max() == 0
    x, n, faces = with_normals(*ub.Cylinder(1.0, 3.0).triangles(24))
    assert np.minimum(np.abs(n[:, 2]), np.hypot(n[:, 0], n[:, 1])).max() < 1e-9 and patches(faces).max() == 2
    x, n, faces = with_normals(*ub.Box((1.0, 2.0, 3.0)).triangles(), True)
    assert np.allclose(np.sort(np.abs(n), axis=1), (0, 0, 1)) and patches(faces).max() == 5


def test_the_camera_maps_points_by_similar_triangles():
    view = View(turned(0.0, 0.0), np.zeros(3), 10.0, (400, 300))  # eye at x = 10, right is +y
    column, row, near = view.pixels(np.array([2.0, 1.0, 0.5]))
    assert (column, row, near) == pytest.approx((200 + view.focal / 8, 150 - 0.5 * view.focal / 8, 1 / 8))
    middle = view.rays()[150, 200]
    assert middle == pytest.approx([-1.0, 0.5 / view.focal, -0.5 / view.focal])


def test_the_fitted_camera_fills_the_picture():
    points = np.random.default_rng(2).uniform(-1, 1, (50, 3)) * (3.0, 1.0, 2.0) + 7.0
    for size in ((400, 300), (200, 500)):
        at = fitted(turned(0.4, 0.3), points, size).pixels(points)[:, :2] / size
        reach = np.abs(at - 0.5).max(axis=0)
        assert reach.max() == pytest.approx(0.43, abs=2e-3) and (reach < 0.431).all()


def test_a_thin_thing_at_height_zero_is_not_half_below_the_ground():
    """Its silhouette is as high below its axis as above it, seen level."""
    b = ub.Builder(gravity=None)
    b.body("eel", shape=ub.Placed(ub.Capsule(0.05, 5.0), ub.Pose.about((0, 1, 0), np.pi / 2), colour=RED), mass=1.0)
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    artist = Renderer(rec.model, (640, 360), recording=rec, camera=(-90.0, 3.0))
    picture = artist.image(Snapshot.of(artist.look, rec.observations[0]))
    column, line = artist.project((0.0, 0.0, 0.0)).astype(int)
    rows = np.flatnonzero(reddish(picture)[:, column])
    assert abs((line - rows[0]) - (rows[-1] - line)) <= 1 and len(rows) > 5


def test_some_states_of_a_recording_keep_what_is_known(swing):
    part = swing.some([0, 3])
    assert np.array_equal(part.t, swing.t[[0, 3]]) and part.observations[1] is swing.observations[3]
    fresh = ub.Simulation(pendulum(), dt=5e-3).run(0.4, every=4).some([3])
    assert np.array_equal(fresh.pose("bob")[0], swing.pose("bob")[3])


def test_wires_and_points_are_seen_where_they_are():
    """Along a bent wire and at the points of a cloud the picture is red, and nowhere farther from them than their radius reaches."""
    line = np.array([(-1, 0, 0.5), (0.2, 0, 1.0), (1, 0, 0.4)], float)
    dots = np.array([(-0.5, 0, 1.3), (0.6, 0, 1.2)])
    b = ub.Builder(gravity=None)
    b.body("wire", shape=ub.Placed(ub.Wire(line, radius=0.04), ub.Pose(), colour=RED))
    b.body("dots", shape=ub.Placed(ub.PointCloud(dots, radius=0.06), ub.Pose(), colour=RED))
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    artist = Renderer(rec.model, SMALL, recording=rec, camera=(-90.0, 10.0))
    red = reddish(artist.image(Snapshot.of(artist.look, rec.observations[0])))
    along = np.concatenate([line[k] + np.linspace(0.05, 0.95, 40)[:, None] * (line[k + 1] - line[k]) for k in (0, 1)] + [dots])
    at = artist.project(along)
    assert red[at[:, 1].astype(int), at[:, 0].astype(int)].mean() > 0.95
    near = np.linalg.norm(np.argwhere(red)[:, None, ::-1] + 0.5 - at[None], axis=2).min(axis=1)
    assert near.max() < 1.5 * 0.06 * artist.view.focal / float(artist.view.depth(line[1])) + 3.0
