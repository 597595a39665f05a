"""Joints put by hand: which sliders there are, that loops close as geometry says, and that what cannot be leaves everything as it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.view import viewer_joints
from unibody.view.viewer_joints import HELD, ViewerJoints
from unibody.view.viewer_player import Live
from unibody.view.viewer_pose import slid, slides


def arm() -> ub.Builder:
    """A hinge with limits, a ball joint, a slide; and a stone that flies."""
    b = ub.Builder(gravity=(0, 0, -9.81))
    last = b.world
    for name, joint, start in (
        ("hinge", ub.Revolute((0, 1, 0)), 0.2), ("ball", ub.Ball(), None), ("slide", ub.Prismatic((0, 0, 1)), 0.1),
    ):  # fmt: skip
        body = b.body(f"{name} part", shape=ub.Box((0.1, 0.1, 0.1)), mass=1.0)
        b.joint(name, joint, parent=last, child=body, X_PF=ub.Pose((0, 0, 0.5)), **({} if start is None else {"q": start}))
        last = body
    b.add(ub.JointLimit("hinge", lower=-0.5, upper=1.5))
    b.body("stone", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((3, 0, 1)))
    return b


def four_bar() -> ub.Model:
    """Crank 1, coupler 3, rocker 2.5 and base 3 [m] in the x–z plane: by Grashof the crank turns over."""
    b = ub.Builder(gravity=(0, 0, -9.81), planar=True)
    axis = ub.Revolute((0, -1, 0))
    lengths = {"crank": 1.0, "coupler": 3.0, "rocker": 2.5}
    bars = {n: b.body(n, shape=ub.Box((length, 0.05, 0.05)), mass=length) for n, length in lengths.items()}

    def end(name: str, sign: int) -> ub.Pose:
        return ub.Pose((0.5 * sign * lengths[name], 0, 0))

    b.joint("a", axis, parent=b.world, child=bars["crank"], X_BM=end("crank", -1), q=1.0)
    b.joint("b", axis, parent=bars["crank"], child=bars["coupler"], X_PF=end("crank", 1), X_BM=end("coupler", -1), q=-0.6)
    b.joint("d", axis, parent=b.world, child=bars["rocker"], X_PF=ub.Pose((3, 0, 0)), X_BM=end("rocker", -1), q=1.6)
    b.joint("c", axis, parent=bars["coupler"], child=bars["rocker"], X_PF=end("coupler", 1), X_BM=end("rocker", 1))
    return b.build()


def rocker_pin(crank: float) -> np.ndarray:
    """Where coupler and rocker meet: of the two points at 3 from the crank's pin and 2.5 from (3, 0), the upper one."""
    pin, base = np.array([np.cos(crank), np.sin(crank)]), np.array([3.0, 0.0])
    d = base - pin
    apart = float(np.linalg.norm(d))
    along = (9.0 - 6.25 + apart**2) / (2.0 * apart)
    across = np.sqrt(9.0 - along**2)
    return pin + along * d / apart + across * np.array([-d[1], d[0]]) / apart


def live(model: ub.Model, solver: str = "articulated") -> Live:
    return Live(ub.Simulation(model, solver, dt=0.01))


def test_sliders_have_units_limits_and_reach():
    shown = {s.label: s for s in slides(arm().build(), 2.0)}
    assert list(shown)[:4] == ["hinge [rad]", "ball φx [rad]", "ball φy [rad]", "ball φz [rad]"]
    assert (shown["hinge [rad]"].low, shown["hinge [rad]"].high) == (-0.5, 1.5)
    assert (shown["slide [m]"].low, shown["slide [m]"].high) == pytest.approx((-1.9, 2.1))
    assert (shown["ball φx [rad]"].high, shown["stone x [m]"].low, shown["stone x [m]"].high) == pytest.approx((3.14, 1.0, 5.0))
    assert sum(label.startswith("stone") for label in shown) == 6


def test_each_slider_moves_its_own_number_and_no_other():
    player = live(arm().build(), "redmax")
    model = player.model
    for s in slides(model, 2.0):
        player.put(s.joint, {s.k: 0.3})
        assert player.message == ""
    for joint in model.tree_joints:
        q = player.observation.joint_q[joint.q_start : joint.q_start + joint.nq]
        assert slid(joint, q) == pytest.approx(np.full(joint.nv, 0.3), abs=1e-12), joint.name
    stone = player.observation.poses[model.body("stone")]
    angle = 0.3 * np.sqrt(3.0)  # exp([φ]×) turns by |φ| about φ
    assert stone[:3] == pytest.approx([0.3, 0.3, 0.3])
    assert stone[3:] == pytest.approx([np.cos(0.5 * angle), *np.full(3, np.sin(0.5 * angle) / np.sqrt(3.0))])


def test_put_stops_everything_at_its_time_and_forgets_what_followed():
    player = live(arm().build(), "redmax")
    for _ in range(5):
        player.step()
    player.seek(0.02)
    player.play()
    player.put("hinge", {0: 1.2})
    assert not player.playing and player.time == pytest.approx(0.02) and player.place == len(player.history) - 1 == 2
    assert player.observation.joint_q[0] == pytest.approx(1.2, abs=1e-12)
    assert not player.observation.twists.any()
    player.step()
    assert player.time == pytest.approx(0.03)
    player.reset()
    assert player.observation.joint_q[0] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("solver", ["articulated", "redmax", "penalty"])
def test_loops_are_closed_by_the_other_joints(solver):
    """Circles about both ends meet in the pin; 'penalty' holds its own coordinates, whose joints give way only to loads."""
    player = live(four_bar(), solver)
    for angle in (1.2, 1.5, 2.0, 2.4):
        player.put("a", {0: angle})
        assert "these moved: " in player.message and "'d' by" in player.message
        o = player.observation
        assert o.joint_q[0] == pytest.approx(angle, abs=1e-9)
        w, _, y, _ = o.poses[player.model.body("rocker")][3:]
        R = np.array([[w * w - y * y, 2 * w * y], [-2 * w * y, w * w - y * y]])
        pin = o.poses[player.model.body("rocker")][[0, 2]] + R @ (1.25, 0.0)
        assert pin == pytest.approx(rocker_pin(angle), abs=1e-8)


def test_what_cannot_be_closed_is_refused_and_nothing_changes():
    """The rocker cannot point away from the crank: the pin would be 5.5 from the crank's, which is at most 4 away."""
    player = live(four_bar())
    player.step()
    player.step()
    before, rows = player.row, len(player.history)
    player.put("d", {0: 0.0})
    assert player.message.startswith("joint 'd' stays: ") and player.row is before and len(player.history) == rows
    player.put("d", {0: np.nan})
    assert "give a finite number" in player.message and player.row is before
    player.step()
    assert player.time == pytest.approx(0.03)


class Handle(SimpleNamespace):
    """A slider of a page that remembers what it was given."""

    def on_update(self, listener: Any) -> None:
        self.listener = listener

    def remove(self) -> None:
        self.removed = True


class Gui:
    """Sliders and lists without a page."""

    def __init__(self) -> None:
        self.sliders: dict[str, Handle] = {}
        self.lists: list[Handle] = []

    def add_folder(self, label: str, expand_by_default: bool = True) -> Any:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def add_slider(self, label: str, low: float, high: float, step: float, value: float) -> Handle:
        assert low <= value <= high and step > 0.0
        self.sliders[label] = Handle(min=low, max=high, value=value)
        return self.sliders[label]

    def add_dropdown(self, label: str, options: list[str], initial_value: str) -> Handle:
        self.lists.append(Handle(options=options, value=initial_value))
        return self.lists[-1]


def drag(handle: Handle, value: float) -> None:
    """As a page would: the handle has the value, and its listener hears of it."""
    handle.value = value
    try:
        handle.listener(SimpleNamespace(client=object(), target=handle)).send(None)
    except StopIteration:
        pass


def test_a_dragged_slider_puts_the_joint_and_all_others_follow(monkeypatch):
    monkeypatch.setattr(viewer_joints.time, "monotonic", lambda: 100.0)
    gui, player, waiting = Gui(), live(four_bar()), []
    panel = ViewerJoints(gui, player, 3.0, waiting.append)
    handles = gui.sliders
    assert list(handles) == ["a [rad]", "b [rad]", "d [rad]"]
    start = player.observation.joint_q[0]
    for value in (1.1, 1.2, 1.3):
        drag(handles["a [rad]"], value)
    assert player.observation.joint_q[0] == start, "a page's thread changes nothing"
    rows = []
    for command in waiting:
        command()
        rows.append(player.row)
    assert rows[0] is rows[-1], "of three values that waited the last one was put, once"
    assert player.observation.joint_q[0] == pytest.approx(1.3)
    panel.refresh()
    rocker = slid(player.model.joint("d"), player.observation.joint_q[player.model.joint("d").q_start :][:1])[0]
    assert handles["d [rad]"].value == pytest.approx(rocker) and handles["a [rad]"].value == 1.3


def test_a_refused_slider_goes_back_once_it_is_let_go(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(viewer_joints.time, "monotonic", lambda: now[0])
    gui, player, waiting = Gui(), live(four_bar()), []
    panel = ViewerJoints(gui, player, 3.0, waiting.append)
    start = gui.sliders["d [rad]"].value
    drag(gui.sliders["d [rad]"], 0.0)
    waiting.pop()()
    panel.refresh()
    assert gui.sliders["d [rad]"].value == 0.0
    now[0] += HELD
    panel.refresh()
    assert gui.sliders["d [rad]"].value == start and "stays" in player.message


def test_many_joints_are_chosen_from_a_list_and_turns_widen_a_slider():
    b = ub.Builder(gravity=None)
    for k in range(20):
        wheel = b.body(f"wheel {k}", shape=ub.Sphere(0.1), mass=1.0)
        b.joint(f"axle {k}", ub.Revolute((0, 0, 1)), parent=b.world, child=wheel, X_PF=ub.Pose((k, 0, 0)), v=500.0)
    gui, player, waiting = Gui(), live(b.build()), []
    panel = ViewerJoints(gui, player, 3.0, waiting.append)
    assert list(gui.sliders) == ["axle 0 [rad]"] and len(gui.lists[0].options) == 20
    drag(gui.lists[0], "axle 7")
    waiting.pop()()
    assert list(gui.sliders) == ["axle 0 [rad]", "axle 7 [rad]"] and gui.sliders["axle 0 [rad]"].removed
    player.step()
    panel.refresh()
    assert gui.sliders["axle 7 [rad]"].value == gui.sliders["axle 7 [rad]"].max == pytest.approx(5.0)
