"""Each command does what it says, in text and in JSON."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody import kernel, kernel_cache
from unibody.solvers import REGISTRY

ADDING = '"""Adds numbers.\n\nSlowly."""\nimport sys\ndef main():\n    print(sum(range(10)), sys.argv[1:])\n'
SHORT = ("--duration", "0.1", "--dt", "0.001")


def test_scenes_lists_every_scene_with_its_parameters(unibody):
    text = unibody("scenes")
    listed = {row["name"]: row for row in unibody("scenes", "--json").data}
    assert text.code == 0 and set(listed) == set(ub.scenes.names())
    assert all(name in text.out for name in listed)
    for name, row in listed.items():
        assert [p["name"] for p in row["parameters"]] == [p.name for p in ub.scenes.get(name).parameters]


def test_run_says_steps_time_energy_and_violation(unibody):
    answer = unibody("run", "pendulum", *SHORT)
    assert answer.code == 0
    for words in ("100 of 0.001 s", "each", "energy", "drift", "violation"):
        assert words in answer.out


def test_run_in_json_counts_steps_and_measures(unibody):
    data = unibody("run", "pendulum", *SHORT, "--json").data
    assert data["status"] == "done" and data["steps"] == 100 and data["error"] is None
    assert data["time"] == pytest.approx(0.1)
    assert 0 < data["seconds_per_step"] < 1e-2
    # Semi-implicit Euler from rest: the energy errs by dt m g v / 2 = dt m g² t / 2.
    assert data["energy_drift"] == pytest.approx(1e-3 * 9.81**2 * 0.1 / 2, rel=0.05)


def test_parameters_and_options_arrive(unibody):
    """At rest at the angle θ from the vertical, a point mass on a rod has the energy −m g l cos θ; Runge–Kutta 4 keeps it."""
    words = ("-p", "mass=3", "-p", "length=2", "-p", "angle=0.5", "--option", "rule=rk4")
    data = unibody("run", "pendulum", *SHORT, *words, "--json").data
    assert data["energy_start"] == pytest.approx(-3 * 9.81 * 2 * np.cos(0.5))
    assert data["energy_drift_relative"] < 1e-9


def test_run_writes_recording_table_and_picture(unibody, tmp_path):
    answer = unibody("run", "double-pendulum", *SHORT, "--every", "10", "--out", "a.npz", "--csv", "a.csv", "--picture", "a.png", "--json")
    assert answer.code == 0
    assert answer.data["files"] == {"recording": "a.npz", "csv": "a.csv", "picture": "a.png"}
    rec = ub.Recording.load(tmp_path / "a.npz")
    assert len(rec) == 11 and rec.t[-1] == pytest.approx(0.1)
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][0] == "t" and len(rows) == 12
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_run_takes_a_file_with_build(unibody, tmp_path):
    (tmp_path / "falling.py").write_text(
        "import unibody as ub\n"
        "def build(*, height: float = 2.0):\n"
        "    b = ub.Builder()\n"
        "    b.body('ball', shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose(p=(0, 0, height)))\n"
        "    return b.build()\n"
    )
    data = unibody("run", "falling.py", *SHORT, "--param", "height=3", "--json").data
    assert data["status"] == "done" and data["energy_start"] == pytest.approx(3 * 9.81)


def test_run_of_no_time_reports_and_draws_the_start(unibody, tmp_path):
    answer = unibody("run", "pendulum", "--duration", "0", "--picture", "a.png", "--json")
    assert answer.code == 0 and answer.data["steps"] == 0 and answer.data["seconds_per_step"] is None
    assert (tmp_path / "a.png").exists()


def test_recorded_states_include_the_end(unibody, tmp_path):
    """The spacing chosen by itself divides the number of steps."""
    unibody("run", "pendulum", "--duration", "4", "--dt", "0.002", "--out", "a.npz")
    assert ub.Recording.load(tmp_path / "a.npz").t[-1] == pytest.approx(4.0)


def test_compare_measures_the_difference_to_the_first(unibody, tmp_path):
    answer = unibody("compare", "double-pendulum", "--solvers", "articulated,articulated:rule=rk4", *SHORT, "--picture", "c.png", "--json")
    first, second = answer.data["solvers"]
    assert answer.code == 0 and (tmp_path / "c.png").exists()
    assert first["solver"] == "articulated" and second["solver"] == "articulated:rule=rk4"
    assert first["position_difference"] == 0.0
    # First-order rule against an almost exact one: about dt · speed = dt g t.
    assert 1e-5 < second["position_difference"] < 1e-2


def test_compare_prints_one_line_per_solver(unibody):
    answer = unibody("compare", "pendulum", "--solvers", "articulated,articulated:rule=rk4", *SHORT)
    assert answer.code == 0
    for words in ("steps", "time per step", "energy drift", "violation", "difference", "articulated:rule=rk4"):
        assert words in answer.out


def test_compare_without_names_takes_every_solver_that_can_but_the_last_resort(unibody):
    data = unibody("compare", "pendulum", *SHORT, "--json").data
    assert [row["solver"] for row in data["solvers"]] == [name for name in REGISTRY if not REGISTRY[name].last_resort]


def test_time_per_step_leaves_compilation_out(unibody):
    """A step of a pendulum takes microseconds; loading a kernel takes tens of milliseconds, compiling one a second."""
    data = unibody("compare", "pendulum", "--solvers", "articulated", "--duration", "0.05", "--dt", "0.001", "--json").data
    assert data["solvers"][0]["seconds_per_step"] < 1e-3


def test_info_shows_tree_loops_and_solvers(unibody):
    text = unibody("info", "four-bar").out
    for words in ("world", "crank", "Revolute", "loops", "coupler – rocker", "solvers", "can run it"):
        assert words in text
    data = unibody("info", "four-bar", "--json").data
    model = ub.scenes.build("four-bar")
    assert data["dofs"] == model.nv and len(data["loops"]) == 1 and data["total_mass"] == pytest.approx(model.total_mass)
    assert set(data["solvers"]) == set(REGISTRY) and data["solvers"]["articulated"] == []


def test_info_names_forces_and_constraints(unibody):
    data = unibody("info", "cable-toy", "--json").data
    cable = next(f for f in data["forces"] if f["name"] == "cable")
    assert cable == {"name": "cable", "type": "Cable", "on": ["platter", "boom", "ball"]}


def test_info_names_deformables_and_what_holds_them(unibody, tmp_path):
    b = ub.Builder()
    rope = b.rod("rope", [(0, 0, 0), (0, 0, 1)], 0.01, ub.RodMaterial(young=1e6), 900)
    b.attach(rope.end(0), b.world)
    b.save(tmp_path / "rope.json")
    text = unibody("info", str(tmp_path / "rope.json")).out
    assert "rope  rod: RodMaterial, 2 vertices" in text and "rope.attach.0  1 vertex: world" in text
    data = unibody("info", str(tmp_path / "rope.json"), "--json").data
    assert data["deformables"][0]["name"] == "rope"
    assert data["attachments"] == [{"name": "rope.attach.0", "type": "1 vertex", "on": ["world"]}]


def test_bench_lists_and_runs_modules_with_main(unibody, tmp_path, monkeypatch):
    from unibody.cli import benchmarks

    (tmp_path / "adding.py").write_text(ADDING)
    (tmp_path / "shared_parts.py").write_text('"""No main, so no benchmark."""\n')
    monkeypatch.setattr(benchmarks, "folder", lambda: tmp_path)
    assert [(row["name"], row["summary"]) for row in unibody("bench", "--json").data] == [("adding", "Adds numbers.")]
    assert unibody("bench", "adding").out.endswith("45 []\n")
    (result,) = unibody("bench", "adding", "--quick", "--json").data
    assert result["name"] == "adding" and result["output"] == "45 ['--quick']\n"
    assert unibody("bench", "addin").code == 2


def test_bench_of_an_installed_package_says_where_benchmarks_are(unibody, monkeypatch):
    from unibody.cli import benchmarks

    monkeypatch.setattr(benchmarks, "folder", lambda: None)
    assert unibody("bench").code == 0 and "source checkout" in unibody("bench").out
    answer = unibody("bench", "anything")
    assert answer.code == 2 and "source checkout" in answer.err


def test_doctor_checks_versions_cache_extras_and_a_pendulum(unibody):
    answer = unibody("doctor")
    assert answer.code == 0
    for words in ("python", "numpy", np.__version__, "numba", str(kernel.cache_root()), "extra plot", "self-check", "passed"):
        assert words in answer.out
    data = unibody("doctor", "--json").data
    assert data["self_check"]["passed"] and set(data["extras"]) >= {"plot", "view", "import", "peers"}


def test_doctor_clears_compiled_kernels_and_nothing_else(unibody, tmp_path, monkeypatch):
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.write("some.kernel", b"x" * 1000)
    kept, other = list(kernel.cache_root().iterdir()), kernel.cache_root() / "notes"
    other.mkdir()
    (other / "file").write_bytes(b"x" * 1000)
    answer = unibody("doctor", "--clear-cache", "--json")
    assert answer.code == 0 and answer.data["removed_bytes"] >= 1000
    assert kept and not any(path.exists() for path in kept) and (other / "file").exists()


def test_version(unibody):
    assert unibody("--version").out == f"unibody {ub.__version__}\n"


def test_as_a_process(tmp_path: Path):
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "unibody.cli"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8")

    good = run("run", "pendulum", *SHORT, "--json")
    assert good.returncode == 0 and json.loads(good.stdout)["steps"] == 100
    assert good.stderr == ""  # no progress bar where there is no terminal
    bad = run("run", "pendulumm")
    assert bad.returncode == 2 and bad.stdout == "" and "pendulum" in bad.stderr
    assert len(bad.stderr.splitlines()) == 1
    odd = run("run", "pendulum", "--bogus", "--json")
    assert odd.returncode == 2 and "--bogus" in json.loads(odd.stdout)["error"] and len(odd.stderr.splitlines()) == 1


def test_import_of_the_command_line_leaves_heavy_libraries_alone():
    script = "import sys, unibody.cli; print(*(n for n in ('numba', 'scipy', 'matplotlib', 'rich') if n in sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() == "", result.stderr
