"""The replay page holds the recording, within the error it promises, and nothing that a name could smuggle in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.view import replay
from unibody.view.look import Look
from unibody.view.packing import Block, quantised, track
from unibody.view.reel import chosen_rows

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from test_recorded_deformables import recording as deforming

TYPES = {"f4": "<f4", "f8": "<f8", "u1": "u1", "i1": "i1", "u2": "<u2", "u4": "<u4"}
EVIL = "</script><script>alert(1)</script><!-- &amp;"


def tumbling(names: tuple[str, ...] = ("brick", "ball"), duration: float = 0.5) -> ub.Recording:
    """Bodies thrown so that they turn over, tied to each other by a spring."""
    b = ub.Builder()
    shapes = (ub.Box((0.4, 0.3, 0.1)), ub.Sphere(0.15))
    bodies = [
        b.body(name, shape=shape, X_WB=ub.Pose(p=(k, 0, 1)), V_WB=(3.0 - k, 9.0, 2.0, 0, 1.0, 4.0))
        for k, (name, shape) in enumerate(zip(names, shapes, strict=True))
    ]  # fmt: skip
    b.add(ub.SpringDamper(bodies[0].at(0, 0, 0), bodies[1].at(0, 0, 0), 50.0), name="spring")
    return ub.Simulation(b.build(), dt=2e-3).run(duration, every=5)


@pytest.fixture(scope="module")
def recording() -> ub.Recording:
    return tumbling()


class Parts(HTMLParser):
    """Elements of a page with their attributes and texts, as a browser would cut them."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[list[Any]] = []
        self.open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append([tag, dict(attrs), ""])
        self.open = True

    def handle_endtag(self, tag: str) -> None:
        self.open = False

    def handle_data(self, data: str) -> None:
        if self.open:
            self.found[-1][2] += data

    def of(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [(attributes, text) for name, attributes, text in self.found if name == tag]

    def by_id(self, name: str) -> str:
        return next(text for _, attributes, text in self.found if attributes.get("id") == name)


def decoded(page: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The head and the sections, read as the page's script reads them."""
    parts = Parts(page)
    head = json.loads(parts.by_id("head"))
    data = base64.b64decode(parts.by_id("data"))
    data = zlib.decompress(data) if head["encoding"] == "deflate" else data
    return head, {name: np.frombuffer(data, TYPES[kind], count, at) for name, (at, kind, count) in head["sections"].items()}


def summed(bytes_: np.ndarray, frames: int) -> np.ndarray:
    """Numbers (rows, frames) of a track."""
    low, high = bytes_.reshape(2, -1).astype(np.int64)
    second = (low + 256 * high).reshape(-1, frames)
    value = np.cumsum(np.cumsum(second, axis=1), axis=1)
    return (value + 32768) % 65536 - 32768


def shown_poses(page: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (F,) and poses (F, bodies, 7) that the page shows."""
    _, s = decoded(page)
    frames = len(s["t"])
    poses = np.repeat(s["rest"].reshape(1, -1, 7).astype(float), frames, axis=0)
    numbers = summed(s["poses"], frames).reshape(-1, 7, frames)
    for m, body in enumerate(s["moving"]):
        x = s["centre"].reshape(-1, 3)[m][:, None] + s["step"].reshape(-1, 3)[m][:, None] * numbers[m, :3]
        q = numbers[m, 3:] / np.linalg.norm(numbers[m, 3:], axis=0)
        poses[:, body] = np.concatenate([x, q]).T
    return s["t"], poses


@pytest.mark.parametrize("compress", [True, False])
def test_page_holds_the_motion_within_its_error(recording, compress):
    t, poses = shown_poses(replay.page(recording, fps=1000.0, compress=compress))
    assert np.array_equal(t, recording.t)
    for i, body in enumerate(recording.model.bodies):
        exact = recording.pose(body.name)
        way = np.ptp(exact[:, :3], axis=0)
        assert (np.abs(poses[:, i, :3] - exact[:, :3]) <= 1e-5 * way + 1e-7).all()
        turned = 2.0 * np.arccos(np.clip(np.abs(np.einsum("ij,ij->i", poses[:, i, 3:], exact[:, 3:])), 0.0, 1.0))
        assert turned.max() < 1e-4
    assert np.ptp(recording.pose("brick")[:, 3:], axis=0).max() > 0.5  # it does turn over


def test_fewer_frames_are_recorded_states(recording):
    t, _ = shown_poses(replay.page(recording, fps=20.0))
    assert len(t) == 11 and np.isin(t, recording.t).all()
    assert t[0] == recording.t[0] and t[-1] == recording.t[-1]


def test_short_runs_keep_their_states(recording):
    t, _ = shown_poses(replay.page(recording))
    assert len(t) == len(recording)


def test_rows_nearest_to_uneven_times():
    t = np.array([0.0, 0.09, 0.12, 0.5, 0.52, 1.0])
    assert chosen_rows(t, 10.0).tolist() == [0, 1, 2, 3, 4, 5]
    assert chosen_rows(t, 4.0).tolist() == [0, 2, 3, 4, 5]
    assert chosen_rows(t, None).tolist() == list(range(6))


def test_plots_hold_energies_and_violation(recording):
    _, s = decoded(replay.page(recording, fps=1000.0))
    kinetic, potential, total, violation = s["energies"].reshape(4, -1)
    assert np.allclose(kinetic, recording.energy.kinetic, rtol=1e-6)
    assert np.allclose(potential, recording.energy.potential, rtol=1e-6, atol=1e-6)
    assert np.allclose(total, recording.energy.total, rtol=1e-6)
    assert np.allclose(violation, recording.violation)


def test_plots_hold_angles_of_joints_and_what_contacts_carry():
    """A ball at rest weighs what it weighs, once; free bodies have no angle, and a camera's angles keep their name."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    rod = b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5))
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, rod, X_PF=ub.Pose((1, 0, 2)), q=0.4)
    b.add(ub.Contact())
    rec = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(0.2)
    head, s = decoded(replay.page(rec, fps=1000.0))
    assert head["plotted"] == ["hinge"] and len(head["angles"]) == 2
    assert np.allclose(s["joints"], rec.joint("hinge")[:, 0], rtol=1e-6)
    assert s["contact"][-1] == pytest.approx(2.0 * 9.81, rel=1e-6)


def test_tension_is_that_of_the_spring(recording):
    """k (|x_b − x_a| − rest length of 1 m), from the recorded positions."""
    head, s = decoded(replay.page(recording, fps=1000.0))
    stretch = np.linalg.norm(recording.point("ball") - recording.point("brick"), axis=1) - 1.0
    pull = summed(s["tensions"], len(s["t"]))[0] / 32767 * head["tension"]["largest"]
    inside = np.abs(50.0 * stretch) < head["tension"]["largest"]
    assert inside.mean() > 0.9
    assert np.allclose(pull[inside], 50.0 * stretch[inside], atol=1e-4 * head["tension"]["largest"])


def test_a_body_and_frame_take_at_most_twenty_bytes(recording):
    """With joints and their reactions too: a chain has as many joints as bodies."""
    chain = ub.Simulation(ub.scenes.build("serial-arm", n=4), dt=1e-3).run(0.05)
    for rec, bodies in ((recording, 2), (chain, 4)):
        head, _ = decoded(replay.page(rec, fps=1e5))
        sizes = {name: count for name, (_, _, count) in head["sections"].items()}
        assert (sizes["poses"] + sizes["forces"]) / (bodies * len(rec)) <= 20.0


def test_quantised_numbers_err_by_half_a_step(rng):
    values = rng.normal(size=(5, 200)) * 10.0 ** np.arange(-6, 4, 2)[:, None]
    numbers, centre, step = quantised(values)
    assert (np.abs(centre[:, None] + step[:, None] * numbers - values) <= np.ptp(values, axis=1)[:, None] / 131068 * (1 + 1e-2)).all()
    assert np.array_equal(summed(track(numbers), 200), numbers)


def test_a_row_at_rest_is_exact():
    numbers, centre, step = quantised(np.full((1, 3), 0.1))
    assert (centre + step * numbers == np.float32(0.1)).all()


def test_block_keeps_types_and_places():
    block = Block()
    block.add("a", np.array([1, 2, 3]), "u1")
    block.add("b", np.array([0.5]), "f8")
    assert block.sections["b"] == (8, "f8", 1) and block.size == 16
    assert np.frombuffer(base64.b64decode(block.text(False)), "<f8", 1, 8)[0] == 0.5


def test_names_cannot_leave_their_place():
    page = replay.page(tumbling((EVIL, "ball"), 0.01), title=EVIL)
    parts = Parts(page)
    assert [a.get("type") for a, _ in parts.of("script")] == ["application/json", "text/plain", "module"]
    assert json.loads(parts.by_id("head"))["bodies"][1] == EVIL
    assert parts.of("title")[0][1] == EVIL and parts.of("h1")[0][1] == EVIL
    assert "alert(1)</script>" not in page


def test_policy_allows_only_the_script_and_style_of_the_page(recording):
    parts = Parts(replay.page(recording))
    policy = next(a["content"] for a, _ in parts.of("meta") if a.get("http-equiv") == "Content-Security-Policy")

    def hashed(text: str) -> str:
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert f"script-src '{hashed(parts.of('script')[2][1])}'" in policy
    assert f"style-src '{hashed(parts.of('style')[0][1])}'" in policy


def test_page_names_nothing_outside_itself(recording):
    page = replay.page(recording)
    assert not re.search(r"https?:|//cdn|\bsrc=|\bhref=|@import|url\(|\beval\b|innerHTML|new Function", page)


def test_recording_shows_itself_in_a_notebook(recording):
    text = recording._repr_html_()
    frames = Parts(text).of("iframe")
    assert len(frames) == 1 and frames[0][0]["sandbox"] == "allow-scripts"
    assert shown_poses(frames[0][0]["srcdoc"])[0][-1] == recording.t[-1]


def test_a_notebook_is_spared_what_is_too_large(recording, monkeypatch):
    monkeypatch.setattr(replay, "LARGEST_INLINE", 1000)
    assert "to_html" in recording._repr_html_() and "<iframe" not in recording._repr_html_()


def test_level_ground_is_the_page_s_ground_and_a_slope_is_a_solid():
    def heads(X: ub.Pose) -> dict[str, Any]:
        b = ub.Builder()
        b.body("floor", shape=ub.Plane(4.0), kind="static", X_WB=X)
        b.body("box", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 3)))
        return decoded(replay.page(ub.Simulation(b.build(), dt=1e-2).run(0.02)))[0]

    level, slope = heads(ub.Pose(p=(0, 0, -0.25))), heads(ub.Pose.about((0, 1, 0), 0.3))
    assert level["ground"] == {"height": -0.25, "shown": True} and [s["kind"] for s in level["solids"]] == ["box"]
    assert not slope["ground"]["shown"] and sorted(s["kind"] for s in slope["solids"]) == ["box", "plane"]


def test_instances_stand_where_shapes_are():
    """Corners 0 and 1 of the mesh's box, under an instance's columns and its body's pose, are corners of the shape."""
    b = ub.Builder(gravity=None)
    shape = ub.Placed(ub.Box((0.2, 0.4, 0.6)), ub.Pose(p=(1, 2, 3)))
    b.body("box", shape=shape, mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
    head, s = decoded(replay.page(ub.Simulation(b.build(), dt=1e-2).run(0.01)))
    columns = s["local0"].reshape(4, 3)
    assert np.allclose(columns[3], (0.9, 1.8, 2.7)) and np.allclose(columns[3] + columns[:3].sum(axis=0), (1.1, 2.2, 3.3))
    assert head["bodies"] == ["world", "box"] and s["body0"].tolist() == [1]


def test_page_is_as_readable_as_any_other_file(recording, tmp_path: Path):
    (tmp_path / "plain").write_text("")
    assert recording.to_html(tmp_path / "a.html").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_empty_and_exploded_recordings_are_refused(recording, tmp_path: Path):
    empty = ub.Recording(recording._bound, 1e-3)
    with pytest.raises(ModelError, match="empty"):
        replay.write_html(empty, tmp_path / "a.html")
    with pytest.raises(ModelError, match="fps"):
        replay.write_html(recording, tmp_path / "a.html", fps=-1.0)
    with pytest.raises(ModelError, match="cannot be written"):
        replay.write_html(recording, tmp_path / "none" / "a.html")
    gone = ub.Recording(recording._bound, 1e-3)
    state = recording.states[0]
    far = ub.State(0.0, np.full_like(state.q, 1e12), state.v, state.coordinates)
    gone.append(far, recording._rows[0][1], recording._controls[0])
    with pytest.raises(ModelError, match="1e9 m"):
        replay.write_html(gone, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


def shown_rows(sections: dict[str, np.ndarray], name: str, frames: int) -> np.ndarray:
    """(rows, F) of a track."""
    return summed(sections[name], frames)


def test_page_holds_vertices_and_strains_within_their_error():
    """Vertices within 1e-5 of their way, strains within a 16-bit step of the largest; the last 0.5 % are cut to full colour."""
    rec = deforming()
    head, s = decoded(replay.page(rec, fps=1000.0))
    frames = len(s["t"])
    assert [soft["name"] for soft in head["softs"]] == ["flag", "rope", "block", "lid"] and frames == len(rec)
    look = Look(rec.model)
    x = np.array([o.vertices for o in rec.observations])
    largest = head["strain"]
    for k, soft in enumerate(look.soft):
        exact = rec.vertices(soft.name)
        centre, step = s[f"softcentre{k}"].astype(float), s[f"softstep{k}"].astype(float)
        shown = (centre[:, None] + step[:, None] * shown_rows(s, f"soft{k}", frames)).T.reshape(exact.shape)
        assert (np.abs(shown - exact) <= 1e-5 * np.ptp(exact, axis=0) + 1e-6).all() and np.ptp(exact, axis=0).max() > 0.1
        strain = largest * shown_rows(s, f"strain{k}", frames).T / 32767.0
        np.testing.assert_allclose(strain, np.clip(soft.strains(x), -largest, largest), atol=largest / 32767.0)
        assert np.array_equal(s[f"softedges{k}"].reshape(-1, 2), rec.model.deformable(soft.name).edges)
        faces = s[f"softof{k}"][s[f"softfaces{k}"]].reshape(-1, 3)
        assert np.array_equal(faces, rec.model.deformable(soft.name).faces)
    assert largest > 0.01
    assert "1 body, 4 deformables" in replay.page(rec)


def test_edges_at_rest_stay_edges():
    """The corners of a box are shown once per side, those of a flat sheet once."""
    rec = deforming()
    head, s = decoded(replay.page(rec))
    number = {soft["name"]: k for k, soft in enumerate(head["softs"])}
    counts = np.bincount(s[f"softof{number['block']}"])
    X = rec.model.deformable("block").X
    on_sides = (np.abs(np.abs(X - X.mean(axis=0)) - 0.5 * np.ptp(X, axis=0)) < 1e-12).sum(axis=1)
    assert np.array_equal(counts[on_sides > 0], on_sides[on_sides > 0])
    assert (np.bincount(s[f"softof{number['flag']}"]) == 1).all()


def test_strands_end_at_points_of_deformables():
    rec = deforming()
    head, _ = decoded(replay.page(rec, fps=1000.0))
    _, poses = shown_poses(replay.page(rec, fps=1000.0))
    cable = next(strand for strand in head["strands"] if strand["kind"] == "cable")
    exact = rec.vertices("flag")[:, rec.model.deformable("flag").faces[2]].mean(axis=1)
    np.testing.assert_allclose(poses[:, cable["body"][0], :3] + cable["p"][0], exact, atol=1e-5)


def test_notebooks_play_deformables():
    assert "<iframe" in deforming()._repr_html_()


def test_a_deformable_that_is_nowhere_is_refused():
    rec = deforming()
    rec.observations[1].vertices[3, 0] = np.nan
    with pytest.raises(ModelError, match="beyond 1e9 m"):
        replay.page(rec, fps=1000.0)
