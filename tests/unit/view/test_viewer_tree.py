"""The tree of the scene without a browser: its boxes, and what they hide in the scene that is sent."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.view.look import Look
from unibody.view.snapshot import Snapshot
from unibody.view.viewer_scene import ViewerStage
from unibody.view.viewer_tree import MOST, ViewerTree, tree

sys.path.insert(0, str(Path(__file__).parents[2]))
from soft_parts import curtain


def robot() -> ub.Builder:
    """Two arms on a trunk, the left one with a hand, and a stone."""
    b = ub.Builder(gravity=None)
    for name, parent in (("trunk", None), ("left", "trunk"), ("hand", "left"), ("right", "trunk")):
        body = b.body(name, shape=ub.Box((0.1, 0.2, 0.3)), mass=1.0)
        if parent is not None:
            b.joint(f"{name} joint", ub.Revolute((0, 1, 0)), parent=parent, child=body, X_PF=ub.Pose((0, 0, 0.3)))
    b.body("stone", shape=ub.Sphere(0.1))
    return b


def test_boxes_stand_under_what_they_hang_on_and_hold_all_below():
    model = robot().build()
    boxes = tree(model)
    assert [n.label for n in boxes] == ["trunk", "└ left", "\u2003└ hand", "└ right", "stone"]
    names = [{model.bodies[i].name for i in n.bodies} for n in boxes]
    assert names == [{"trunk", "left", "hand", "right"}, {"left", "hand"}, {"hand"}, {"right"}, {"stone"}]


def test_large_scenes_have_a_box_for_each_that_hangs_on_the_world_and_one_for_the_rest():
    b = ub.Builder(gravity=None)
    for k in range(MOST + 5):
        stone = b.body(f"stone {k}", shape=ub.Sphere(0.1))
        moss = b.body(f"moss {k}", shape=ub.Sphere(0.1))
        b.joint(f"hold {k}", ub.Revolute((0, 0, 1)), parent=stone, child=moss)
    boxes = tree(b.build())
    assert len(boxes) == MOST and boxes[0].label == "stone 0" and boxes[-1].label == "6 other bodies"
    assert sum(len(n.bodies) for n in boxes) == 2 * (MOST + 5) and len(boxes[-1].bodies) == 12


class Gui:
    """Boxes without a page."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.commands: list[Any] = []

    def add_folder(self, label: str, expand_by_default: bool = True) -> Any:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def add_checkbox(self, label: str, on: bool) -> Any:
        self.labels.append(label)
        return SimpleNamespace(on_update=label)


def test_a_box_hides_what_is_below_whatever_that_says_itself():
    model, gui, said = robot().build(), Gui(), []

    def hide(bodies: Collection[int], softs: Collection[str]) -> None:
        said.append({model.bodies[i].name for i in bodies})

    boxes = ViewerTree(gui, model, hide, lambda _, command: gui.commands.append(command))
    left, hand = gui.commands[1], gui.commands[2]
    for command, on in ((left, False), (hand, False), (hand, True), (left, True)):
        command(on)
    assert said == [{"left", "hand"}, {"left", "hand"}, {"left", "hand"}, set()]
    boxes.show(2, False)
    assert said[-1] == {"hand"}


class Scene:
    """What is sent to a page, kept."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("add_"):
            raise AttributeError(name)
        return lambda *_, visible=True, **options: SimpleNamespace(visible=visible, **options)


def staged(model: ub.Model, solver: str) -> tuple[ViewerStage, Snapshot]:
    look = Look(model)
    first = Snapshot.of(look, ub.Simulation(model, solver, dt=1e-2).run(0.0).observations[0])
    return ViewerStage(Scene(), look, first, -np.ones(3), np.ones(3)), first


def test_hidden_bodies_become_specks_and_come_back():
    model = robot().build()
    stage, _ = staged(model, "articulated")
    full = [np.array(s.scale) for s in stage.look.solids]
    stage.hide({model.body("left"), model.body("stone")}, ())
    for handle, group, scale in zip(stage.solids, stage.look.solids, full, strict=True):
        for instance, body in enumerate(group.body):
            gone = model.bodies[body].name in ("left", "stone")
            assert handle.batched_scales[instance] == pytest.approx(scale[instance] * (1e-7 if gone else 1.0), rel=1e-12)
    stage.hide((), ())
    assert all(np.array_equal(h.batched_scales, scale) for h, scale in zip(stage.solids, full, strict=True))


def test_a_hidden_deformable_stays_hidden_while_it_moves_and_is_strained():
    stage, first = staged(curtain().build(), "barrier")
    names = [d.name for d in stage.look.model.deformables]
    name = stage.softs.surfaces[0].soft.name
    assert name in [n.label for n in tree(stage.look.model)] and name in names
    stage.hide((), {name})
    for strained in (False, True):
        stage.softs.strained = strained
        stage.show(first)
        surface = stage.softs.surfaces[0]
        assert not surface.mesh.visible and not any(step.visible for step in surface._steps)
    stage.softs.strained = False
    stage.hide((), ())
    assert stage.softs.surfaces[0].mesh.visible
