"""The replay page in a real browser, from a file and with the network shut: it shows the mechanism, plays, pauses, jumps, and plots."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.view.replay import inline, write_html

sys.path.insert(0, str(Path(__file__).parents[1]))
from soft_parts import curtain

SIZE = {"width": 800, "height": 600}
"""Small, because WebGL in software takes its time for each pixel."""
STAGE = {"x": 0, "y": 60, "width": 800, "height": 340}
EVIL = "</script><script>document.title = 'taken'; alert(1)</script><img src=x onerror=alert(1)>"
SWING = 0.6


def pendulum() -> ub.Recording:
    return ub.Simulation(ub.scenes.build("pendulum"), dt=2e-3).run(SWING, every=5)


def bridge() -> ub.Recording:
    scene = ub.scenes.make("bridge")
    return ub.Simulation(scene.model, dt=scene.dt).run(50 * scene.dt, every=2)


def robot() -> ub.Recording:
    """A KUKA arm of PyBullet's, let fall from a bent pose."""
    data = pytest.importorskip("pybullet_data", reason="PyBullet's robots are not installed; pip install pybullet")
    scene = ub.load(Path(data.getDataPath()) / "kuka_iiwa" / "model.urdf")
    sim = ub.Simulation(scene.model, "redmax", dt=2e-3)
    q = sim.state.q.copy()
    q[:] += 0.6
    return ub.Simulation(scene.model, "redmax", dt=2e-3, state=ub.State(0.0, q, sim.state.v, sim.state.coordinates)).run(0.3, every=5)


SCENES: dict[str, Callable[[], ub.Recording]] = {"pendulum": pendulum, "bridge": bridge, "robot": robot}


def opened(page: Any, path: Path, size: Any = SIZE) -> None:
    """Open a file with every request to the network refused; it begins to play by itself, and is stopped here."""
    page.set_viewport_size(size)
    page.route("http*://**/*", lambda route: route.abort())
    page.goto(path.as_uri())
    until(page, "document.documentElement.dataset.ready === 'yes'")
    page.click("#play")
    until(page, "document.getElementById('play').ariaLabel === 'Play'")


def until(page: Any, condition: str, seconds: float = 30.0) -> None:
    """Wait for a condition; the page's policy lets no test poll it from within."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(30)


def jump(page: Any, part: float) -> None:
    """Move the slider to a part of the whole time, as a hand does, and wait until the page has drawn it."""
    page.eval_on_selector("#scrub", "(s, part) => { s.value = part * s.max; s.dispatchEvent(new Event('input')); }", part)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))")


def time_shown(page: Any) -> float:
    return float(page.text_content("#time").split("/")[0])


def cursors(page: Any) -> list[float]:
    return page.eval_on_selector_all("figure:not([hidden]) .cursor", "(all) => all.map((c) => parseFloat(c.style.left))")


def differing(a: np.ndarray, b: np.ndarray) -> int:
    """Pixels that changed visibly."""
    return int((np.abs(a.astype(int) - b.astype(int)).max(axis=2) > 24).sum())


@pytest.mark.parametrize("name", SCENES)
def test_replay_is_seen_and_driven(name, page, shots, pixels, tmp_path):
    recording = SCENES[name]()
    opened(page, write_html(recording, tmp_path / f"{name}.html", title=f"{name}, replayed"))
    end = recording.t[-1]

    jump(page, 0.0)
    first, at_start = pixels(page, shots / f"replay-{name}-start.png", clip=STAGE), cursors(page)
    assert time_shown(page) == 0.0
    assert first.reshape(-1, 3).std(axis=0).max() > 5 and len(np.unique(first.reshape(-1, 3), axis=0)) > 100  # not blank

    jump(page, 1.0)
    last, at_end = pixels(page, shots / f"replay-{name}-end.png", clip=STAGE), cursors(page)
    assert time_shown(page) == pytest.approx(end, abs=2e-3)
    assert differing(first, last) > 200
    assert all(b > a + 100 for a, b in zip(at_start, at_end, strict=True))

    page.wait_for_timeout(300)
    assert time_shown(page) == pytest.approx(end, abs=2e-3) and differing(last, pixels(page, clip=STAGE)) == 0  # a pause holds

    jump(page, 0.0)
    assert differing(first, pixels(page, clip=STAGE)) == 0  # the same time, the same picture
    page.click("#play")
    until(page, "parseFloat(document.getElementById('time').textContent) > 0.01")
    page.click("#play")
    assert 0.01 < time_shown(page) <= end
    page.screenshot(path=shots / f"replay-{name}.png")
    assert page.errors == []


def test_steps_go_from_frame_to_frame(page, tmp_path):
    recording = pendulum()
    opened(page, write_html(recording, tmp_path / "a.html"))
    page.click("#first")
    for k in (1, 2, 3):
        page.click("#ahead")
        until(page, f"Math.abs(parseFloat(document.getElementById('time').textContent) - {recording.t[k]}) < 1e-4")
    page.click("#back")
    until(page, f"Math.abs(parseFloat(document.getElementById('time').textContent) - {recording.t[2]}) < 1e-4")
    assert page.errors == []


def test_a_joint_is_chosen_for_its_plot(page, pixels, tmp_path):
    """Both angles of a double pendulum, then one of them, whose value is told; contact has no plot where nothing touches."""
    rec = ub.Simulation(ub.scenes.build("double-pendulum"), dt=1e-3).run(0.5, every=10)
    opened(page, write_html(rec, tmp_path / "a.html"))
    jump(page, 1.0)
    assert page.is_visible("#joints-figure") and not page.is_visible("#contact-figure")
    name = page.locator("#joint option").nth(2).text_content()
    both = pixels(page)
    page.select_option("#joint", label=name)
    jump(page, 1.0)
    assert differing(both, pixels(page)) > 50
    assert float(page.text_content("#joints-values").split()[-1]) == pytest.approx(rec.joint(name)[-1, 0], rel=1e-2)
    assert page.errors == []


def test_a_body_is_drawn_where_it_is(page, pixels, tmp_path):
    """Two red balls and a blue one on a line: their middles in the picture are as far apart as in the world."""
    b = ub.Builder(gravity=None)
    for k, (x, colour) in enumerate(((0.0, (1, 0, 0)), (1.0, (1, 0, 0)), (4.0, (0, 0, 1)))):
        ball = ub.Placed(ub.Sphere(0.2), ub.Pose(), colour=colour)
        b.body(f"ball{k}", shape=ball, X_WB=ub.Pose(p=(x, 0, 0)), V_WB=(0, 0, 0, 0, 0, 1.0 if k == 1 else 0.0))
    opened(page, write_html(ub.Simulation(b.build(), dt=1e-2).run(1.0), tmp_path / "a.html"))
    page.click("#show-ground")
    middles = []
    for part in (0.0, 1.0):
        jump(page, part)
        seen = pixels(page, clip=STAGE).astype(int)
        red, blue = seen[..., 0] - seen[..., 1:].max(axis=2) > 60, seen[..., 2] - seen[..., :2].max(axis=2) > 60
        columns = np.flatnonzero(red.any(axis=0))
        split = columns[np.argmax(np.diff(columns)) + 1]
        still, moving = red.copy(), red.copy()
        still[:, split:], moving[:, :split] = False, False
        middles.append([np.argwhere(mask).mean(axis=0) for mask in (still, moving, blue)])
    (a, m, z), (a1, m1, z1) = middles
    assert np.allclose(a, a1, atol=1.0) and np.allclose(z, z1, atol=1.0)
    assert (m[1] - a[1]) / (z[1] - a[1]) == pytest.approx(0.25, abs=0.03)  # perspective allows for little
    assert m[0] - m1[0] == pytest.approx((z[1] - a[1]) / 4.0, rel=0.15)  # one metre up
    assert page.errors == []


def test_pointer_turns_the_view_and_names_bodies(page, pixels, tmp_path):
    b = ub.Builder(gravity=None)
    b.body(EVIL, shape=ub.Box((1, 1, 1)), V_WB=(0, 0, 0.5, 0, 0, 0))
    opened(page, write_html(ub.Simulation(b.build(), dt=1e-2).run(0.1), tmp_path / "a.html"))
    jump(page, 0.0)
    before = pixels(page, clip=STAGE)
    page.mouse.move(400, 220)
    page.wait_for_selector("#hint:visible")
    assert page.text_content("#hint") == EVIL
    page.mouse.down()
    page.mouse.move(520, 260, steps=3)
    page.mouse.up()
    page.wait_for_timeout(500)
    turned = pixels(page, clip=STAGE)
    assert differing(before, turned) > 500
    page.click("#fit")
    page.mouse.move(5, 595)
    page.wait_for_timeout(400)
    assert differing(before, pixels(page, clip=STAGE)) < 20
    assert page.errors == []


def test_names_do_nothing(page, tmp_path):
    b = ub.Builder(gravity=None)
    b.body(EVIL, shape=ub.Box((1, 1, 1)), V_WB=(0, 0, 1, 0, 0, 0))
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
    opened(page, write_html(ub.Simulation(b.build(), dt=1e-2).run(0.1), tmp_path / "a.html", title=EVIL))
    assert page.title() == EVIL and page.text_content("h1") == EVIL
    assert dialogs == [] and page.errors == [] and page.locator("img").count() == 0


def test_policy_stops_a_script_that_was_slipped_in(page, tmp_path):
    path = write_html(pendulum(), tmp_path / "a.html")
    path.write_text(path.read_text().replace("<main", "<script>document.title = 'taken'</script><main"))
    opened(page, path)
    assert page.title() == "a"
    assert any("Content Security Policy" in error for error in page.errors)


def test_page_without_compression_and_in_a_notebook(page, tmp_path):
    recording = pendulum()
    opened(page, write_html(recording, tmp_path / "raw.html", compress=False))
    assert page.errors == []
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><body>{inline(recording)}")
    page.goto(notebook.as_uri())
    inner = page.frame_locator("iframe")
    inner.locator("html[data-ready=yes]").wait_for(state="attached")
    inner.locator("#play").click()
    assert "/" in inner.locator("#time").text_content()
    assert page.errors == []


def test_small_screens_keep_play_and_slider(page, shots, tmp_path):
    opened(page, write_html(pendulum(), tmp_path / "a.html"), {"width": 390, "height": 700})
    jump(page, 0.5)
    assert page.locator("#play").is_visible() and page.locator("#scrub").bounding_box()["width"] > 40
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=shots / "replay-small.png")
    assert page.errors == []


def reddish(image: np.ndarray) -> int:
    """Pixels as red as what is stretched."""
    red, green, blue = np.moveaxis(image.astype(int), -1, 0)
    return int(((red > green + 40) & (red > blue + 25)).sum())


def coloured(image: np.ndarray) -> int:
    """Pixels of deformables in their own colours; all else is grey."""
    return int((np.ptp(image.astype(int), axis=2) > 60).sum())


def test_deformables_move_and_show_their_strain(page, shots, pixels, tmp_path):
    recording = ub.Simulation(curtain().build(), "barrier", dt=0.02).run(0.4)
    opened(page, write_html(recording, tmp_path / "soft.html", title="cloth, rod and block"))
    jump(page, 0.0)
    first = pixels(page, shots / "replay-soft-start.png", clip=STAGE)
    assert coloured(first) > 2000
    jump(page, 1.0)
    last = pixels(page, shots / "replay-soft-end.png", clip=STAGE)
    assert coloured(last) > 2000 and differing(first, last) > 2000
    assert page.is_hidden("#legend")

    page.click("#show-strain")
    jump(page, 1.0)
    strained = pixels(page, shots / "replay-soft-strain.png", clip=STAGE)
    assert page.get_attribute("#show-strain", "aria-pressed") == "true" and "stretched" in page.text_content("#legend")
    assert reddish(strained) > 100 and coloured(strained) < 0.7 * coloured(last) and differing(strained, last) > 1000
    page.click("#show-strain")
    jump(page, 1.0)
    assert differing(pixels(page, clip=STAGE), last) == 0
    assert page.errors == []
