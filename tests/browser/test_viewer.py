"""The viewer in a real browser: it shows bodies, plays, pauses, winds back, plots, changes its solver, and lets one pull."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub

pytest.importorskip("viser", reason="viser is not installed; pip install unibody[view]")
from unibody.view.viewer import Viewer, view

sys.path.insert(0, str(Path(__file__).parents[1]))
from soft_parts import curtain

pytestmark = pytest.mark.slow

CANVAS = {"x": 350, "y": 160, "width": 590, "height": 635}
"""The scene between the panels, below the place of notices."""


def pendulum() -> ub.Simulation:
    return ub.Simulation(ub.scenes.make("pendulum").model, dt=5e-3)


def bridge() -> ub.Simulation:
    return ub.Simulation(ub.scenes.make("bridge", n=6, cables=4, k=1e4).model, "redmax", dt=2e-2)


def robot() -> ub.Simulation:
    """A seven-axis arm from a URDF file, bent, so that it falls."""
    data = pytest.importorskip("pybullet_data", reason="pybullet is not installed; pip install pybullet")
    model = ub.load(Path(data.getDataPath()) / "kuka_iiwa" / "model.urdf").model
    return ub.Simulation(model, "redmax", 1e-2, ub.State(0.0, np.full(model.nq, 0.7), np.zeros(model.nv)))


def until(page: Any, condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Let the page live until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"in {seconds:g} s: no {what}"
        page.wait_for_timeout(50)


def scrub(page: Any, key: str, there: Callable[[], bool]) -> None:
    """Press a key on the slider of time, again where the press met a page that was just drawing the slider anew."""
    for _ in range(5):
        page.get_by_role("slider").first.press(key)
        end = time.monotonic() + 12.0
        while time.monotonic() < end:
            if there():
                return
            page.wait_for_timeout(50)
    raise AssertionError(f"in 60 s: no scrub by {key}")


def covered(image: np.ndarray) -> float:
    """The part of the pixels that bodies cover; background, grid and shadows are paler."""
    return float((image.min(axis=2) < 150).mean())


def changed(a: np.ndarray, b: np.ndarray) -> float:
    """The part of the pixels that differ visibly."""
    return float((np.abs(a.astype(int) - b.astype(int)).max(axis=2) > 24).mean())


def curve(page: Any, number: int = 0) -> str:
    """What a plot shows, as text."""
    return page.evaluate("k => document.querySelectorAll('.uplot canvas')[k].toDataURL()", number)


@contextmanager
def opened(page: Any, what: Any, pixels: Any) -> Iterator[Viewer]:
    """A viewer whose page has drawn bodies and plots."""
    with view(what, browser=False, block=False, port=0) as viewer:
        page.goto(f"{viewer.url}?fixedDpr=1")  # else a busy machine draws coarser
        page.get_by_role("button", name="Play", exact=True).wait_for()
        page.locator(".uplot canvas").first.wait_for()
        until(page, lambda: covered(pixels(page, clip=CANVAS)) > 0.002, "body on the canvas")
        page.wait_for_timeout(1000)
        yield viewer


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def still(page: Any, pixels: Any) -> np.ndarray:
    """The canvas once it no longer changes."""
    last = pixels(page, clip=CANVAS)
    for _ in range(20):
        page.wait_for_timeout(300)
        now = pixels(page, clip=CANVAS)
        if changed(now, last) == 0.0:
            return now
        last = now
    raise AssertionError("the canvas does not come to rest")


@pytest.mark.parametrize("simulation", [pendulum, bridge, robot], ids=lambda f: f.__name__)
def test_film(page: Any, pixels: Any, shots: Path, simulation: Callable[[], ub.Simulation]) -> None:
    name = f"viewer-{simulation.__name__}"
    with opened(page, simulation(), pixels) as viewer:
        player = viewer.player
        start = still(page, pixels)
        pixels(page, shots / f"{name}-start.png")
        assert len(np.unique(start.reshape(-1, 3), axis=0)) > 300
        assert covered(start) > 0.002
        curves = curve(page)

        press(page, "Play")
        until(page, lambda: player.time > 0.4, "play")
        moving = pixels(page, clip=CANVAS)
        assert changed(moving, start) > 0.002

        press(page, "Pause")
        until(page, lambda: not player.playing, "pause")
        stopped = still(page, pixels)
        until(page, lambda: curve(page) != curves, "another plot")
        pixels(page, shots / f"{name}-paused.png")
        page.wait_for_timeout(1000)
        assert changed(pixels(page, clip=CANVAS), stopped) == 0.0
        assert changed(stopped, start) > 0.002

        scrub(page, "Home", lambda: player.place == 0)
        back = changed(still(page, pixels), start)
        assert back < 5e-4 or (viewer.look.strands and back < 0.3 * changed(stopped, start))  # colours: of the largest pull so far
        scrub(page, "End", lambda: player.place == len(player.history) - 1)
        assert changed(still(page, pixels), stopped) < 5e-4
        assert player.message == "" or player.message.startswith("start: ")  # the bridge's is assembled, which is told
    assert page.errors == []


def test_recording_repeats(page: Any, pixels: Any, tmp_path: Path) -> None:
    rec = pendulum().run(0.5, every=4)
    with opened(page, rec.save(tmp_path / "swing.npz"), pixels) as viewer:
        assert not viewer.player.live
        press(page, "Play")
        until(page, lambda: viewer.player.time > 0.3, "play")
        until(page, lambda: viewer.player.time < 0.2, "repetition")
        assert page.get_by_text("solver").count() == 0
    assert page.errors == []


def bob(page: Any, pixels: Any) -> tuple[float, float]:
    """Where the coloured pixels of the canvas are on the page; for a pendulum, most of them are its ball."""
    image = pixels(page, clip=CANVAS).astype(int)
    rows, columns = np.nonzero(np.ptp(image, axis=2) > 40)
    right = columns > np.quantile(columns, 0.8)
    return CANVAS["x"] + float(np.median(columns[right])), CANVAS["y"] + float(np.median(rows[right]))


def test_body_is_named_when_clicked_and_pulled_when_dragged(page: Any, pixels: Any, shots: Path) -> None:
    with opened(page, pendulum(), pixels) as viewer:
        player: Any = viewer.player
        x, y = bob(page, pixels)
        page.mouse.click(x, y)
        page.get_by_text("1 kg, Revolute to world").wait_for()
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 20, y - 60, steps=5)
        until(page, lambda: player.pull is not None, "pull")
        before = player.observation.poses[1, 2] if player.pull.body == 1 else None
        target = player.pull.target.copy()
        press_play = page.get_by_role("button", name="Play", exact=True)
        press_play.dispatch_event("click")
        until(page, lambda: player.time > 0.3, "play")
        page.wait_for_timeout(300)
        pixels(page, shots / "viewer-pull.png")
        held = player.pull.point(player.observation)
        page.mouse.up()
        until(page, lambda: player.pull is None, "release")
        assert not player.control.wrench.any()
        assert before is not None and target[2] > 0.05, "dragged upwards"
        assert held[2] > 0.02, "comes up to the hand instead of falling"
    assert page.errors == []


def test_solver_and_what_is_shown_can_be_changed(page: Any, pixels: Any, shots: Path) -> None:
    scene = ub.scenes.make("cable-toy")
    with opened(page, ub.Simulation(scene.model, dt=5e-3), pixels) as viewer:
        player: Any = viewer.player
        plain = still(page, pixels)
        for label in ("joint frames", "joint reactions", "names"):
            page.get_by_label(label, exact=True).check()
        assert changed(still(page, pixels), plain) > 0.002
        press(page, "Play")
        until(page, lambda: player.time > 0.1, "play")
        page.get_by_label("solver", exact=True).click()
        page.get_by_role("option", name="lagrange").click()
        until(page, lambda: player.solver.name == "lagrange", "other solver")
        at = player.time
        until(page, lambda: player.time > at + 0.05, "motion with the other solver")
        pixels(page, shots / "viewer-shown.png")
        press(page, "Reset")
        until(page, lambda: player.time == 0.0 and not player.playing, "reset")
        press(page, "Step")
        until(page, lambda: player.time == pytest.approx(5e-3), "step")
        for label in ("joint frames", "joint reactions", "names", "springs, cables", "ground"):
            page.get_by_label(label, exact=True).click()
        assert player.message == ""
    assert page.errors == []


def test_deformables_move_and_show_their_strain(page: Any, pixels: Any, shots: Path) -> None:
    """Live, in their own colours, then by strain; a click says what they are."""
    with opened(page, ub.Simulation(curtain().build(), "barrier", dt=0.02), pixels) as viewer:
        start = still(page, pixels)
        press(page, "Play")
        until(page, lambda: viewer.player.time > 0.3, "play")
        press(page, "Pause")
        until(page, lambda: not viewer.player.playing, "pause")
        stopped = still(page, pixels)
        pixels(page, shots / "viewer-soft.png")
        assert changed(stopped, start) > 0.005

        page.get_by_label("strain", exact=True).check()
        until(page, lambda: viewer._stage.softs.strained, "strain")
        strained = still(page, pixels)
        pixels(page, shots / "viewer-soft-strain.png")
        assert changed(strained, stopped) > 0.005 and page.get_by_text("stretched").count() == 1
        red = strained.astype(int)
        assert ((red[..., 0] > red[..., 1] + 40) & (red[..., 0] > red[..., 2] + 25)).sum() > 50
        page.get_by_label("strain", exact=True).uncheck()
        until(page, lambda: not viewer._stage.softs.strained, "own colours")
        assert changed(still(page, pixels), stopped) < 5e-4

        green = stopped.astype(int)
        rows, columns = np.nonzero((green[..., 1] > green[..., 0] + 40) & (green[..., 1] > green[..., 2] + 40))
        page.mouse.click(CANVAS["x"] + float(np.median(columns)), CANVAS["y"] + float(np.median(rows)))
        page.get_by_text("soft of 27 vertices, 27 kg").wait_for()
        assert viewer.player.message == ""
    assert page.errors == []


def test_joints_are_put_cameras_turned_and_bodies_hidden(page: Any, pixels: Any, shots: Path) -> None:
    """By keys on a slider the crank turns and the loop stays closed; each thing done is seen on the canvas."""
    with opened(page, ub.Simulation(ub.scenes.make("four-bar").model, dt=5e-3), pixels) as viewer:
        player: Any = viewer.player
        angle = float(player.observation.joint_q[0])
        press(page, "Front")
        start = still(page, pixels)
        slider = page.locator("[role=slider][aria-valuemin='-3.14']").first
        slider.focus()
        for _ in range(60):
            slider.press("ArrowRight")
        until(page, lambda: player.observation.joint_q[0] > angle + 0.2, "turned crank")
        page.get_by_text("these moved").wait_for()
        assert player.observation.violation < 1e-8 and not player.playing
        press(page, "Front")  # arrows of the keyboard turn the camera, too
        front = still(page, pixels)
        pixels(page, shots / "viewer-joints.png")
        assert changed(front, start) > 0.005 and covered(front) > 0.002

        press(page, "Top")
        assert changed(still(page, pixels), front) > 0.005
        pixels(page, shots / "viewer-top.png")
        press(page, "Front")
        assert changed(still(page, pixels), front) < 5e-4, "the same place again"

        page.get_by_text("Scene", exact=True).click()
        page.get_by_label("crank").uncheck()
        until(page, lambda: changed(pixels(page, clip=CANVAS), front) > 0.005, "hidden crank")
        pixels(page, shots / "viewer-hidden.png")
    assert page.errors == []


def test_failure_is_said_on_the_page(page: Any, pixels: Any) -> None:
    b = ub.Builder()
    b.body("ball", shape=ub.Sphere(0.1))
    b.add(ub.AppliedWrench("ball", force=lambda t: (0, 0, 0) if t < 0.1 else (np.nan, 0, 0)), name="gust")
    with opened(page, ub.Simulation(b.build(), dt=1e-2), pixels) as viewer:
        press(page, "Play")
        page.get_by_text("failed near").wait_for()
        assert not viewer.player.playing
        press(page, "Reset")
        page.get_by_text("failed near").wait_for(state="hidden")
    assert page.errors == []
