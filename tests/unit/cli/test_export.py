"""`unibody export` writes what is asked, from a recording or from a scene, and refuses what makes no sense."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import unibody as ub

RUN = ("--duration", "0.1", "--dt", "0.001", "--every", "10")


@pytest.fixture
def saved(tmp_path) -> ub.Recording:
    recording = ub.Simulation(ub.scenes.build("double-pendulum"), dt=1e-3).run(0.1, every=10)
    recording.save(tmp_path / "rec.npz")
    return recording


def test_a_scene_is_simulated_and_written(unibody, tmp_path):
    files = [word for kind in ("html", "glb", "gltf", "csv", "npz") for word in (f"--{kind}", f"a.{kind}")]
    answer = unibody("export", "pendulum", *RUN, *files)
    assert answer.code == 0, answer.err
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>") and (tmp_path / "a.glb").read_bytes()[:4] == b"glTF"
    assert json.loads((tmp_path / "a.gltf").read_text())["asset"]["version"] == "2.0"
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 12
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["t"] == pytest.approx(np.arange(11) * 0.01)
    assert "11 states" in answer.out and all(f"a.{kind}" in answer.out for kind in ("html", "glb", "gltf", "csv", "npz"))


def test_a_series_for_paraview_is_listed_by_time(unibody, saved, tmp_path):
    answer = unibody("export", "rec.npz", "--pvd", "a.pvd", "--fps", "50")
    assert answer.code == 0 and "a.pvd" in answer.out, answer.err
    times = [float(t) for t in re.findall(r'timestep="([^"]+)"', (tmp_path / "a.pvd").read_text())]
    assert times == pytest.approx(np.arange(6) * 0.02, abs=1e-9)
    assert len(list((tmp_path / "a").glob("*.vtu"))) == 6
    assert "give a file that ends in .pvd" in unibody("export", "rec.npz", "--pvd", "a.vtk").err


def test_json_says_where_and_how_large(unibody, tmp_path):
    data = unibody("export", "pendulum", *RUN, "--html", "a.html", "--json").data
    assert data["status"] == "done" and data["states"] == 11 and data["files"] == {"html": "a.html"}
    assert data["bytes"]["html"] == (tmp_path / "a.html").stat().st_size


def test_plain_arrays_are_those_of_the_recording(unibody, saved, tmp_path):
    assert unibody("export", "rec.npz", "--npz", "plain.npz").code == 0
    with np.load(tmp_path / "plain.npz", allow_pickle=False) as a:
        assert a["body_names"].tolist() == [b.name for b in saved.model.bodies]
        assert a["joint_names"].tolist() == [j.name for j in saved.model.joints]
        for i, body in enumerate(a["body_names"]):
            assert np.array_equal(a["poses"][:, i], saved.pose(str(body)))
            assert np.array_equal(a["twists"][:, i], saved.twist(str(body)))
        for k, joint in enumerate(a["joint_names"]):
            assert np.array_equal(a["reactions"][:, k], saved.reaction(str(joint)))
            column = a["coordinate_names"].tolist().index(f"{joint}.q0")
            assert np.array_equal(a["joint_q"][:, column], saved.joint(str(joint))[:, 0])
            assert np.array_equal(a["joint_v"][:, column], saved.joint_velocity(str(joint))[:, 0])
        assert np.array_equal(a["kinetic"] + a["gravity"] + a["springs"], a["total"])
        assert np.array_equal(a["q"], saved.q) and np.array_equal(a["violation"], saved.violation)
        assert a["solver"] == "articulated" and a["dt"] == 1e-3


def test_a_robot_takes_the_first_solver_that_can(unibody, tmp_path):
    (tmp_path / "limited.py").write_text(
        "import unibody as ub\n"
        "def build():\n"
        "    b = ub.Builder()\n"
        "    arm = b.body('arm', shape=ub.Box((0.1, 0.1, 1)))\n"
        "    b.joint('hinge', ub.Revolute(axis=(0, 1, 0)), b.world, arm, X_BM=ub.Pose(p=(0, 0, 0.5)), limits=(-1, 1))\n"
        "    return ub.scenes.Scene(b.build(), 0.02, 1e-3)\n"
    )
    assert unibody("export", "limited.py", "--csv", "a.csv", "--json").data["solver"] == "redmax"
    assert unibody("export", "limited.py", "--csv", "a.csv", "-s", "articulated").code == 2


def test_a_scene_file_needs_no_run(unibody, tmp_path):
    data = unibody("export", "pendulum", "--scene", "a.json", "--json").data
    assert data["states"] is None and ub.load(tmp_path / "a.json").model.n_bodies == ub.scenes.build("pendulum").n_bodies


def test_urdf_is_written_and_what_it_cannot_say_is_said(unibody, tmp_path):
    answer = unibody("export", "serial-arm", "-p", "n=2", "--urdf", "a.urdf")
    assert answer.code == 0, answer.err
    assert ub.load(tmp_path / "a.urdf").model.nv == 2
    assert unibody("export", "four-bar", "--urdf", "b.urdf").code == 2 and not (tmp_path / "b.urdf").exists()
    partial = unibody("export", "four-bar", "--urdf", "b.urdf", "--partial", "--json")
    assert partial.code == 0 and any("loop" in remark for remark in partial.data["remarks"])


def test_a_run_that_fails_leaves_what_there_is(unibody, exploding, tmp_path):
    answer = unibody("export", str(exploding), "-s", "articulated", "--csv", "a.csv", "--html", "a.html", "--json")
    assert answer.code == 1 and answer.data["status"] == "failed" and answer.data["files"] == {"csv": "a.csv", "html": "a.html"}
    assert (tmp_path / "a.csv").exists() and (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pendulum"], "give one of --html"),
        (["pendulum", "--html", "a.htm"], "ends in .html"),
        (["pendulum", "--glb", "none/a.glb"], "does not exist"),
        (["pendulum", "--csv", "a.csv", "--fps", "5"], "--fps"),
        (["pendulum", "--html", "a.html", "--fps", "-5"], "--fps"),
        (["pendulum", "--csv", "a", "--npz", "a"], "same name"),
        (["pendulum", "--html", "a.html", "--tabulate", "0.1"], "--tabulate"),
        (["pendulum", "--html", "a.html", "--partial"], "--partial"),
        (["rec.npz", "--npz", "rec.npz"], "is the file that is read"),
        (["rec.npz", "--csv", "a.csv", "--dt", "0.1"], "--dt"),
        (["rec.npz", "--csv", "a.csv", "-s", "redmax"], "--solver"),
        (["rec.npz", "--csv", "a.csv", "-o", "rule=rk4"], "--option"),
        (["none.npz", "--csv", "a.csv"], "does not exist"),
        (["no-such-scene", "--csv", "a.csv"], "no-such-scene"),
    ],
)
def test_refusals_are_one_line_and_code_two(unibody, saved, words, said):
    answer = unibody("export", *words)
    assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1
