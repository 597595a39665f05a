"""Checkpoints go on bit for bit, whatever they hold; files are whole or not there; recordings keep what they knew."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from simulation_parts import crane, gust

import unibody as ub

SOLVERS = [name for name in ("articulated", "lagrange") if name in ub.solvers.REGISTRY]
HERE = Path(__file__).parent


def same_bits(first: ub.Recording, second: ub.Recording) -> None:
    for name in ("t", "q", "v"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rule", ["semi-implicit", "rk4"])
def test_saved_simulation_goes_on_bit_for_bit(tmp_path, solver, rule):
    """Motors, functions of time by import path, a kinematic base, a joint and a force of one's own."""
    sim = ub.Simulation(crane(), solver=ub.solvers.REGISTRY[solver](rule=rule), dt=2e-3)
    sim.control.set_target("winch", 0.3, 0.1)
    sim.control.set_wrench("bob", (0, 0, 0, 0.1, 0, 0))
    sim.run(0.1, every=50)
    sim.save(tmp_path / "a.npz")
    again = ub.Simulation.load(tmp_path / "a.npz")
    assert again.state.t == sim.state.t and again.dt == sim.dt and again.solver == sim.solver
    np.testing.assert_array_equal(again.control.flat, sim.control.flat)
    first, second = sim.run(0.1, every=10), again.run(0.1, every=10)
    same_bits(first, second)
    np.testing.assert_array_equal(first.energy.total, second.energy.total)
    np.testing.assert_array_equal(first.energy.motor_work, second.energy.motor_work)
    np.testing.assert_array_equal(first.reaction("luff"), second.reaction("luff"))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["four-bar", "bennett", "cable-toy", "closed-ring"])
def test_saved_scene_goes_on_bit_for_bit(tmp_path, name, solver):
    """Loops: the fitted coordinates are memory, so that angles count turns; a scene's lambda needs the model again."""
    model = ub.scenes.build(name)
    sim = ub.Simulation(model, solver=solver, dt=1e-3)
    sim.run(0.05, every=50)
    sim.save(tmp_path / "a.npz")
    if name == "cable-toy":
        with pytest.raises(ub.ModelError, match="winch.*lambda.*load with model="):
            ub.Simulation.load(tmp_path / "a.npz")
    again = ub.Simulation.load(tmp_path / "a.npz", model=model if name == "cable-toy" else None)
    same_bits(sim.run(0.05, every=10), again.run(0.05, every=10))


def test_lambda_is_refused_when_loading_and_the_remedy_works(tmp_path):
    model = crane(target=lambda t: 0.1 * t)
    sim = ub.Simulation(model)
    sim.run(0.01)
    sim.save(tmp_path / "a.npz")
    with pytest.raises(ub.ModelError) as error:
        ub.Simulation.load(tmp_path / "a.npz")
    message = str(error.value)
    assert "winch" in message and "model=" in message and "\n" not in message
    again = ub.Simulation.load(tmp_path / "a.npz", model=model)
    same_bits(sim.run(0.01), again.run(0.01))


def test_local_function_is_refused_like_a_lambda(tmp_path):
    def wind(t):
        return gust(t)

    ub.Simulation(crane(force=wind)).save(tmp_path / "a.npz")
    with pytest.raises(ub.ModelError, match="AppliedWrench.*model="):
        ub.Simulation.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "not a saved"), (b"PK\x03\x04 half a file", "not a saved"), (b"t,q\n0,1\n", "not a saved")],
)
def test_what_is_no_checkpoint_is_refused_in_one_line(tmp_path, content, says):
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(ub.ModelError, match=says) as error:
        ub.Simulation.load(path)
    assert "broken.npz" in str(error.value) and "\n" not in str(error.value)


def test_missing_and_mistaken_files_are_refused(tmp_path):
    with pytest.raises(ub.ModelError, match="does not exist"):
        ub.Simulation.load(tmp_path / "none.npz")
    sim = ub.Simulation(ub.scenes.build("pendulum"))
    sim.run(0.01).save(tmp_path / "recording.npz")
    with pytest.raises(ub.ModelError, match="holds a recording, not a simulation"):
        ub.Simulation.load(tmp_path / "recording.npz")
    sim.save(tmp_path / "whole.npz")
    cut = (tmp_path / "whole.npz").read_bytes()[:-200]
    (tmp_path / "cut.npz").write_bytes(cut)
    with pytest.raises(ub.ModelError, match="not a saved simulation"):
        ub.Simulation.load(tmp_path / "cut.npz")


def test_crash_between_writing_and_renaming_leaves_the_old_file_whole(tmp_path, monkeypatch):
    sim = ub.Simulation(ub.scenes.build("pendulum"))
    path = sim.save(tmp_path / "a.npz")
    before = path.read_bytes()
    sim.run(0.1, every=100)

    def crash(source, target):
        assert Path(source).stat().st_size > 0, "renamed before it was written"
        raise OSError("power cut")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="power cut"):
        sim.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before and ub.Simulation.load(path).state.t == 0.0
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]  # nothing left behind


def test_failed_writing_leaves_the_old_file_whole(tmp_path, monkeypatch):
    sim = ub.Simulation(ub.scenes.build("pendulum"))
    path = sim.save(tmp_path / "a.npz")
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="disk full"):
        sim.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


KILLED = """
import sys
import unibody as ub
sim = ub.Simulation(ub.scenes.build("pendulum"), dt=1e-3)
print("ready", flush=True)
while True:
    sim.run(0.05, every=50)
    sim.save(sys.argv[1])
    print(repr(sim.state.t), flush=True)
"""


@pytest.mark.processes
def test_killed_process_leaves_a_checkpoint_that_goes_on_bit_for_bit(tmp_path):
    path = tmp_path / "a.npz"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True, cwd=HERE)
    assert process.stdout is not None
    saved = 0
    for _ in process.stdout:
        saved += 1
        if saved > 5:
            break
    time.sleep(0.003)  # somewhere within a run or a save
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    sim = ub.Simulation.load(path)
    steps = round(sim.state.t / 1e-3)
    assert steps >= 200 and steps % 50 == 0
    straight = ub.Simulation(ub.scenes.build("pendulum"), dt=1e-3)
    straight.run(steps * 1e-3, every=steps)
    np.testing.assert_array_equal(sim.state.q, straight.state.q)
    np.testing.assert_array_equal(sim.state.v, straight.state.v)


def test_relative_paths_and_strings_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = ub.Simulation(ub.scenes.build("pendulum"))
    sim.save("a.npz")
    assert ub.Simulation.load("a.npz").state.t == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_recording_survives_its_file(tmp_path, solver):
    rec = ub.Simulation(ub.scenes.build("four-bar"), solver=solver, dt=1e-3).run(0.1, every=10)
    again = ub.Recording.load(rec.save(tmp_path / "r.npz"))
    same_bits(rec, again)
    assert (again.dt, again.steps, again.seconds) == (rec.dt, rec.steps, rec.seconds) and again.solver == rec.solver
    np.testing.assert_array_equal(again.energy.total, rec.energy.total)
    np.testing.assert_array_equal(again.reaction("B"), rec.reaction("B"))
    np.testing.assert_array_equal(again.pose("coupler"), rec.pose("coupler"))
    assert [r.redundant for r in again.reports] == [r.redundant for r in rec.reports]


@pytest.mark.parametrize("solver", SOLVERS)
def test_csv_holds_what_the_recording_says_to_the_last_bit(tmp_path, solver):
    rec = ub.Simulation(ub.scenes.build("double-pendulum"), solver=solver, dt=1e-3).run(0.02, every=5)
    with rec.to_csv(tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(rec) == 5

    def column(name):
        return np.array([float(row[name]) for row in rows])

    np.testing.assert_array_equal(column("t"), rec.t)
    np.testing.assert_array_equal(column("total"), rec.energy.total)
    np.testing.assert_array_equal(column("elbow.q0"), rec.joint("elbow")[:, 0])
    pose = np.stack([column(f"lower.{c}") for c in ("x", "y", "z", "qw", "qx", "qy", "qz")], axis=1)
    np.testing.assert_array_equal(pose, rec.pose("lower"))
    np.testing.assert_array_equal(column("violation"), rec.violation)


DAMAGES = {
    "without times": lambda a: a.pop("t"),
    "without control": lambda a: a.pop("control"),
    "too few coordinates": lambda a: a.update(q=a["q"][:, :-1]),
    "rows missing": lambda a: a.update(v=a["v"][:-1]),
    "not a number": lambda a: a.update(q=a["q"] * np.nan),
    "backwards": lambda a: a.update(t=a["t"][::-1]),
    "words": lambda a: a.update(v=a["v"].astype(str)),
    "run cut": lambda a: a.update(run=a["run"][:1]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_recordings_are_refused_in_one_line(damage: str, tmp_path) -> None:
    path = ub.Simulation(ub.scenes.build("double-pendulum"), dt=1e-2).run(0.03).save(tmp_path / "a.npz")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    DAMAGES[damage](arrays)
    np.savez(path, **arrays)
    with pytest.raises(ub.ModelError, match="not a whole recording") as refused:
        ub.Recording.load(path)
    assert "\n" not in str(refused.value)


def test_arrays_of_others_are_no_recordings(tmp_path) -> None:
    with (tmp_path / "b.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ub.ModelError, match="not a saved recording"):
        ub.Recording.load(tmp_path / "b.npz")
