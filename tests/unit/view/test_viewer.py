"""The viewer's page without a browser: who may reach it, what it opens, what it draws, and how the command ends."""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.solvers import able_solver
from unibody.view import viewer
from unibody.view.look import Look
from unibody.view.snapshot import Snapshot
from unibody.view.viewer import bounds, player_for, preview, view
from unibody.view.viewer_gate import is_loopback
from unibody.view.viewer_player import Live, Replay
from unibody.view.viewer_scene import bytes3, contacts, nice, view_from


def falling() -> ub.Model:
    b = ub.Builder(gravity=(0, 0, -9.81))
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    return b.build()


def test_everything_that_can_be_shown_gets_a_player(tmp_path: Path):
    rec = ub.Simulation(falling(), dt=1e-2).run(0.05)
    rec.save(tmp_path / "fall.npz")
    for what in (falling(), ub.scenes.make("pendulum"), ub.Simulation(falling()), "pendulum"):
        assert isinstance(player_for(what)[0], Live)
    for what in (rec, tmp_path / "fall.npz", str(tmp_path / "fall.npz")):
        assert isinstance(player_for(what)[0], Replay)
    assert player_for("pendulum", "lagrange", 0.02)[0].dt == 0.02  # type: ignore[attr-defined]
    assert player_for(tmp_path / "fall.npz")[1] == "fall"


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [(3, {}, "cannot be shown"), ("no-such", {}, "no scene"), ("missing.urdf", {}, "does not exist"), ("pendulum", {"dt": -1.0}, "dt")],
)
def test_what_cannot_be_shown_is_refused(what, options, words):
    with pytest.raises(ModelError, match=words):
        player_for(what, **options)


def test_recording_takes_no_solver():
    with pytest.raises(ModelError, match="its own solver"):
        player_for(ub.Simulation(falling(), dt=1e-2).run(0.02), solver="lagrange")


def test_first_solver_that_can_is_chosen():
    b = ub.Builder()
    ball = b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    b.add(ub.PointPlane(ball.at(0, 0, -0.1)), name="floor")
    assert able_solver(falling()) == "articulated"
    assert able_solver(b.build()) == "redmax"


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("192.168.1.5", False), ("robot", False)]
)
def test_only_this_machine_is_loopback(host, own):
    assert is_loopback(host) is own


def test_an_address_that_does_not_exist_is_refused_at_once():
    """Names under .invalid never resolve (RFC 2606)."""
    pytest.importorskip("viser")
    with pytest.raises(ModelError, match="no page at nowhere.invalid"):
        viewer.Viewer(player_for("pendulum")[0], host="nowhere.invalid")


def test_without_viser_one_line_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "viser":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match=r"pip install unibody\[view\]"):
        view("pendulum", block=False, browser=False, port=0)


def test_page_is_served_and_ends():
    pytest.importorskip("viser")
    with ub.view(falling(), browser=False, block=False, port=0) as page:
        assert page.url.startswith("http://127.0.0.1:")
        assert b"<html" in urllib.request.urlopen(page.url, timeout=30).read().lower()
        page.post(page.player.play)
        end = time.monotonic() + 180.0
        while page.updates < 5 and time.monotonic() < end:
            time.sleep(0.02)
        assert page.updates >= 5
        assert page.player.message == ""
    assert not page._thread.is_alive()
    with pytest.raises(OSError):
        urllib.request.urlopen(page.url, timeout=5)


def test_error_in_a_command_is_said_and_the_page_goes_on():
    pytest.importorskip("viser")
    with view(falling(), browser=False, block=False, port=0) as page:

        def wrong() -> None:
            raise ModelError("this cannot be")

        page.post(wrong)
        end = time.monotonic() + 30.0
        while not page.player.message and time.monotonic() < end:
            time.sleep(0.02)
        assert page.player.message == "this cannot be"
        page.post(page.player.step)
        while page.player.time == 0.0 and time.monotonic() < end:
            time.sleep(0.02)
        assert page.player.time > 0.0


def low_of(model: ub.Model, monkeypatch: pytest.MonkeyPatch) -> float:
    """The lowest point of what will be in view, with as much preview as is wanted."""
    monkeypatch.setattr(viewer, "PREVIEW_SECONDS", 60.0)
    player, look = player_for(model, dt=0.01)[0], Look(model)
    return float(bounds(look, Snapshot.of(look, player.observation), preview(player))[0][2])


def test_view_reaches_for_what_moves_but_not_for_what_flies_away(monkeypatch):
    b = ub.Builder(gravity=(0, 0, -9.81))
    b.body("post", shape=ub.Box((0.1, 0.1, 4.0)), kind="static", X_WB=ub.Pose((0, 0.2, 0)))
    rod = b.body("rod", shape=ub.Box((3.0, 0.01, 0.01)), mass=1.0)
    b.joint("pivot", ub.Revolute((0, 1, 0)), parent=b.world, child=rod, X_BM=ub.Pose((-1.5, 0, 0)))
    assert low_of(b.build(), monkeypatch) == pytest.approx(-3.0, abs=0.1)
    assert low_of(falling(), monkeypatch) == pytest.approx(0.9 - 0.6 * 0.2)


def test_camera_looks_from_the_side_at_a_planar_motion_and_sees_everything():
    low, high = np.array([-1.0, -0.1, 0.0]), np.array([1.0, 0.1, 2.0])
    x, y, z = np.eye(3)
    for plane in (None, (x, z, -y)):
        position, target = view_from(low, high, plane, np.radians(40.0))
        away = position - target
        distance = np.linalg.norm(away)
        corners = np.array([[a, b, c] for a in (-1, 1) for b in (-0.1, 0.1) for c in (0, 2)]) - position
        angles = np.arccos(corners @ -away / distance / np.linalg.norm(corners, axis=1))
        assert angles.max() < np.radians(20.0)
        if plane is not None:
            assert away @ -y > 0.95 * distance


def test_contacts_are_points_on_planes_and_what_a_solver_gives():
    b = ub.Builder(gravity=(0, 0, -10.0))
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.PointPlane(ball.at(0, 0, -0.1), (0, 0, 0), (0, 0, 1)), name="floor")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-2).run(0.05)
    look = Look(rec.model)
    at, force = contacts(look, Snapshot.of(look, rec.observations[-1]))
    assert at == pytest.approx(np.zeros((1, 3)), abs=1e-6)
    assert force == pytest.approx(np.array([[0, 0, 20.0]]), rel=1e-6)
    seen = rec.observations[0]
    seen.contacts = SimpleNamespace(points=[(1, 2, 3)], forces=[(0, 0, 4)])  # type: ignore[attr-defined]
    at, force = contacts(look, Snapshot.of(look, seen))
    assert (at[0].tolist(), force[0].tolist()) == ([1, 2, 3], [0, 0, 4])


def test_colours_go_to_the_page_as_light():
    assert bytes3(np.array([0.0, 0.5, 1.0])).tolist() == [0, round(255 * 0.21404), 255]
    assert [nice(x) for x in (0.1, 0.19, 3.0)] == [0.1, 0.1, 2.0]


def run_view(*words: str) -> subprocess.Popen[str]:
    """Ctrl-C reaches it also where tests run in the background of a shell, which lets their children ignore it."""
    command = [sys.executable, "-m", "unibody.cli", "view", *words, "--port", "0", "--no-browser", "--json"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def test_command_says_where_the_page_is_and_ends_at_ctrl_c():
    pytest.importorskip("viser")
    process = run_view("pendulum", "--host", "0.0.0.0")
    assert process.stdout is not None
    lines = []
    while not lines or lines[-1].strip() != "}":
        lines.append(process.stdout.readline())
        assert lines[-1], process.communicate()[1]
    said = json.loads("".join(lines))
    assert said["scene"] == "pendulum" and said["live"] is True
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=180)
    assert (process.returncode, rest) == (0, "")
    assert "anybody who can reach 0.0.0.0" in errors and "Traceback" not in errors


def test_command_refuses_a_solver_for_a_recording(tmp_path: Path):
    path = ub.Simulation(falling(), dt=1e-2).run(0.02).save(tmp_path / "fall.npz")
    process = run_view(str(path), "--solver", "redmax")
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "does not apply to the recording" in errors and json.loads(out)["status"] == "bad input"
