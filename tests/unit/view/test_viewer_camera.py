"""Cameras of pages without pages: presets see everything from their side, and who follows keeps beside what moves."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.view.look import Look
from unibody.view.snapshot import Snapshot
from unibody.view.viewer_camera import NOBODY, PRESETS, ViewerCameras, stand


class Camera:
    """As viser's: to place it moves along what it looks at."""

    def __init__(self, aspect: float):
        self._position, self.look_at = np.array([5.0, 0.0, 0.0]), np.zeros(3)
        self.fov, self.aspect = np.radians(40.0), aspect

    @property
    def position(self) -> np.ndarray:
        return self._position

    @position.setter
    def position(self, there: np.ndarray) -> None:
        self.look_at = self.look_at + (there - self._position)
        self._position = np.array(there)


class Gui:
    def __init__(self) -> None:
        self.options: list[str] = []

    def add_button_group(self, label: str, options: tuple[str, ...]) -> Any:
        return SimpleNamespace(on_click=None)

    def add_dropdown(self, label: str, options: list[str], initial_value: str) -> Any:
        self.options = options
        return SimpleNamespace(on_update=None)


def falling() -> ub.Recording:
    b = ub.Builder(gravity=(0, 0, -10.0))
    b.body("stick", shape=ub.Box((0.2, 0.4, 3.0)), X_WB=ub.Pose((1, 2, 3)))
    b.body("stone", shape=ub.Sphere(0.2), X_WB=ub.Pose((-1, 0, 1)), V_WB=(0, 0, 0, 4.0, 0, 0))
    b.body("post", shape=ub.Box((0.1, 0.1, 2.0)), kind="static")
    return ub.Simulation(b.build(), dt=0.05).run(1.0)


@pytest.fixture
def stage() -> Any:
    rec = falling()
    look = Look(rec.model)
    out = SimpleNamespace(
        rec=rec, look=look, clients=[SimpleNamespace(camera=Camera(a), atomic=nullcontext) for a in (2.0, 0.5)], gui=Gui()
    )
    out.at = lambda k: Snapshot.of(look, rec.observations[k])
    out.now = out.at(0)
    out.cameras = ViewerCameras(out.gui, look, lambda: out.now, lambda: out.clients, lambda *_: None)
    return out


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("row", [0, -1])
def test_presets_see_everything_in_wide_and_in_tall_pages(stage, preset, row):
    """Each corner lies within both half angles of the picture, and the camera stands on its side."""
    stage.now = stage.at(row)
    stage.cameras.look_from(preset)
    now = stage.now
    corners = np.concatenate([s.corners(now.R, now.p).reshape(-1, 3) for s in stage.look.solids])
    for client in stage.clients:
        camera = client.camera
        towards = camera.look_at - camera.position
        towards /= np.linalg.norm(towards)
        right = np.cross(towards, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        up = np.cross(right, towards)
        seen = corners - camera.position
        depth, tangent = seen @ towards, np.tan(0.5 * camera.fov)
        assert (depth > 0.0).all()
        assert (np.abs(seen @ up) < tangent * depth).all() and (np.abs(seen @ right) < tangent * camera.aspect * depth).all()
        assert -towards == pytest.approx(np.array(PRESETS[preset]) / np.linalg.norm(PRESETS[preset]), abs=1e-9)
        expected = {"Front": (right, (1, 0, 0)), "Side": (right, (0, 1, 0)), "Top": (up, (0, 1, 0)), "Corner": (up[2:] > 0.0, (True,))}
        assert expected[preset][0] == pytest.approx(np.array(expected[preset][1]), abs=2e-3)


def test_who_follows_keeps_beside_what_moves(stage):
    """x = −1 + 4 t, z = 1 − 5 t²: the camera makes the same way, also where a person has turned it meanwhile."""
    assert stage.gui.options == [NOBODY, "stick", "stone"]
    stage.cameras.follow("stone")
    camera = stage.clients[0].camera
    assert camera.look_at == pytest.approx([-1.0, 0.0, 1.0]) and camera.position == pytest.approx([4.0, 0.0, 1.0])
    for k in (5, 20):
        stage.cameras.keep(stage.at(k))
        assert camera.look_at == pytest.approx(stage.rec.observations[k].poses[stage.rec.model.body("stone"), :3])
        assert camera.position - camera.look_at == pytest.approx([5.0, 0.0, 0.0])
    assert camera.look_at[0] == pytest.approx(3.0)
    stage.cameras.follow(NOBODY)
    before = camera.position.copy()
    stage.cameras.keep(stage.at(0))
    assert np.array_equal(camera.position, before)


def test_a_deformable_is_followed_by_the_mean_of_its_vertices():
    b = ub.Builder(gravity=None)
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((9, 0, 0)))
    for name, x in (("far", 5.0), ("sheet", 1.0)):
        fabric = ub.Fabric(young=1e4, poisson=0.3, thickness=1e-3)
        b.cloth(name, ub.TriMesh.grid((2.0, 2.0), 1.0), fabric, density=200, X_WB=ub.Pose((x, 2, 3)))
    look = Look(b.build())
    R, p = look.start
    now: Any = SimpleNamespace(R=R, p=p, x=look.start_vertices)
    client = SimpleNamespace(camera=Camera(1.0), atomic=nullcontext)
    ViewerCameras(Gui(), look, lambda: now, lambda: [client], lambda *_: None).follow("sheet")
    assert client.camera.look_at == pytest.approx([1.0, 2.0, 3.0])


def test_a_place_to_stand_is_as_far_as_the_angle_asks():
    position, target = stand(-np.ones(3), np.ones(3), (0, 0, 2.0), np.radians(60.0))
    assert (position, target) == (pytest.approx([0, 0, 1.25 * np.sqrt(3.0) / 0.5]), pytest.approx(np.zeros(3)))
