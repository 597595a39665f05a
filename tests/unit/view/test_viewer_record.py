"""What a page showed, as a recording: the states that were shown, in a file that says the same as the simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.view.viewer_player import Live
from unibody.view.viewer_record import ViewerRecorder


def pendulum() -> ub.Model:
    b = ub.Builder(gravity=(0, 0, -9.81))
    rod = b.body("rod", shape=ub.Box((0.1, 0.1, 1.0)), mass=2.0)
    b.joint("pivot", ub.Revolute((0, -1, 0)), parent=b.world, child=rod, X_BM=ub.Pose((0, 0, 0.5)), q=0.4)
    return b.build()


def shown(recorder: ViewerRecorder, player: Live, steps: int) -> None:
    for _ in range(steps):
        player.step()
        recorder.seen(player.row)
        recorder.seen(player.row)


def file_of(message: str) -> Path:
    return Path(message.split(" are in ")[1].split(";")[0])


def test_file_holds_what_was_shown_and_the_simulation_says_the_same(tmp_path: Path):
    player = Live(ub.Simulation(pendulum(), dt=0.01))
    recorder = ViewerRecorder(player, tmp_path)
    shown(recorder, player, 2)
    assert "press again" in recorder.toggle() and recorder.running
    shown(recorder, player, 5)
    said = recorder.toggle()
    assert said.startswith("6 states from 0.020 to 0.070 s are in ") and not recorder.running
    rec, reference = ub.Recording.load(file_of(said)), ub.Simulation(pendulum(), dt=0.01).run(0.07)
    assert rec.t == pytest.approx(reference.t[2:]) and rec.dt == 0.01
    assert np.array_equal(rec.joint("pivot"), reference.joint("pivot")[2:])


def test_what_was_pulled_is_recorded_with_its_control(tmp_path: Path):
    player = Live(ub.Simulation(pendulum(), dt=0.01))
    recorder = ViewerRecorder(player, tmp_path)
    recorder.toggle()
    player.grab(1, (0.0, 0.0, 0.0))
    assert player.pull is not None
    player.pull.move((1.0, 0.0, 0.0))
    shown(recorder, player, 3)
    rec = ub.Recording.load(file_of(recorder.toggle()))
    assert rec._controls[-1].any() and np.array_equal(rec._controls[-1], player.row.control)


def test_winding_back_and_another_solver_begin_it_again_and_that_is_said(tmp_path: Path):
    player = Live(ub.Simulation(pendulum(), dt=0.01))
    recorder = ViewerRecorder(player, tmp_path)
    recorder.toggle()
    shown(recorder, player, 4)
    player.seek(0.02)
    recorder.seen(player.row)
    shown(recorder, player, 1)
    player.restart(solver="lagrange")
    recorder.seen(player.row)
    shown(recorder, player, 2)
    said = recorder.toggle()
    rec = ub.Recording.load(file_of(said))
    assert rec.solver.name == "lagrange" and rec.t == pytest.approx([0.03, 0.04, 0.05])
    assert "; 7 shown before" in said


def test_a_folder_that_takes_nothing_loses_nothing(tmp_path: Path):
    player = Live(ub.Simulation(pendulum(), dt=0.01))
    recorder = ViewerRecorder(player, tmp_path / "missing")
    recorder.toggle()
    shown(recorder, player, 3)
    with pytest.raises(ub.ModelError, match="missing"):
        recorder.toggle()
    (tmp_path / "missing").mkdir()
    assert recorder.running
    first = file_of(recorder.toggle())
    recorder.toggle()
    second = file_of(recorder.toggle())
    assert first.exists() and second.exists() and first != second
    assert len(ub.Recording.load(first)) == 4 and len(ub.Recording.load(second)) == 1
