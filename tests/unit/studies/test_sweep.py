"""Sweeps: the same bits as single runs on every executor; failed runs are kept; what was killed goes on."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.studies import latin_hypercube, listed

pytest.importorskip("xarray")
pytest.importorskip("zarr")

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def study():
    """Scenes that other processes can import."""
    sys.path.insert(0, str(HERE))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *([before] if before else [])])
    import study_scenes

    yield study_scenes
    sys.path.remove(str(HERE))
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


LENGTHS = [float(x) for x in np.linspace(0.5, 1.5, 14)]
PLACES = {"height": [float(x) for x in np.linspace(0.05, 0.4, 4)], "friction": [0.2, 0.8]}


@pytest.fixture(scope="module")
def alone(study):
    """What single simulations give."""
    swings = [ub.Simulation(study.pendulum(x), dt=1e-3).run(0.2).joint("hinge")[:, 0] for x in LENGTHS]
    ends = [
        [study.last_poses(ub.Simulation(study.bouncing(h, f), dt=5e-3).run(0.5))["end"] for f in PLACES["friction"]]
        for h in PLACES["height"]
    ]
    return np.array(swings), np.array(ends)


def both(study, executor, workers=2):
    a = ub.sweep(study.pendulum, {"length": LENGTHS}, duration=0.2, dt=1e-3, measure=study.last_angle, executor=executor, workers=workers)
    b = ub.sweep(study.bouncing, PLACES, duration=0.5, dt=5e-3, measure=study.last_poses, executor=executor, workers=workers)
    return a["swing"].values, b["end"].values


@pytest.mark.processes
@pytest.mark.parametrize("executor", ["serial", "threads", "processes"])
def test_runs_of_a_sweep_are_single_runs_to_the_last_bit(study, alone, executor):
    swings, ends = both(study, executor)
    assert np.array_equal(swings, alone[0]) and np.array_equal(ends, alone[1])


def test_any_executor_runs_a_sweep_and_stays_open(study, alone):
    with ThreadPoolExecutor(2) as pool:
        assert np.array_equal(both(study, pool)[0], alone[0])
        assert pool.submit(int, "3").result() == 3


RATES = {"rate": [float(x) for x in np.linspace(1.0, 9.0, 500)]}
STONES = {"speed": [float(x) for x in np.linspace(0.0, 2.0, 250)], "friction": [0.2, 0.8]}


def thousand(study, executor):
    """A thousand runs: a four-bar, and a stack on which a stone bounces."""
    ask = dict(executor=executor, workers=2)
    a = ub.sweep(study.linkage, RATES, "articulated", 0.02, study.crank, dt=1e-3, every=20, **ask)
    b = ub.sweep(study.thrown, STONES, "complementarity", 0.03, study.last_poses, dt=5e-3, every=6, **ask)
    assert (a["status"] == 1).all() and (b["status"] == 1).all()
    return a["end"].values, b["end"].values


@pytest.mark.processes
@pytest.mark.slow
def test_a_thousand_runs_are_equal_in_threads_processes_and_a_dask_cluster(study, tmp_path):
    """A worker of the cluster is killed in the middle of another thousand: its runs are made again, and none is missing."""
    distributed = pytest.importorskip("distributed")
    linkages, stacks = thousand(study, "serial")
    assert len(np.unique(linkages[:, -1])) == 500 and np.ptp(stacks[..., -1]) > 0.1  # runs differ, and stones bounce
    for k in (0, 250, 499):
        one = ub.Simulation(study.linkage(RATES["rate"][k]), "articulated", dt=1e-3).run(0.02)
        assert np.array_equal(study.crank(one)["end"], linkages[k])
    for k in (0, 249):
        one = ub.Simulation(study.thrown(STONES["speed"][k], 0.8), "complementarity", dt=5e-3).run(0.03)
        assert np.array_equal(study.last_poses(one)["end"], stacks[k, 1])
    for executor in ("threads", "processes"):
        for ours, expected in zip(thousand(study, executor), (linkages, stacks), strict=True):
            assert np.array_equal(ours, expected), executor
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        for ours, expected in zip(thousand(study, client), (linkages, stacks), strict=True):
            assert np.array_equal(ours, expected)
        lengths = [0.2 + 0.001 * k for k in range(1000)]
        assert lengths[500] == 0.7  # the one at which the worker kills itself
        design = [{"folder": [str(tmp_path)]}, {"length": lengths}]
        data = ub.sweep(study.deadly, design, "articulated", 0.004, study.last_angle, executor=client)
    assert (tmp_path / "killed").exists() and (data["status"] == 1).all()
    plain = ub.sweep(study.pendulum, {"length": lengths}, "articulated", 0.004, study.last_angle)
    assert np.array_equal(data["swing"].values[0], plain["swing"].values)


def test_a_process_that_dies_is_told_and_the_store_goes_on(study, tmp_path):
    ask = dict(duration=0.05, measure=study.last_angle, executor="processes", workers=1, store=tmp_path / "s.zarr")
    design = [{"folder": [str(tmp_path)]}, {"length": [0.6, 0.7, 0.8]}]
    with pytest.raises(ModelError, match=r"a worker died with \d of 3|a worker died with \d runs to go"):
        ub.sweep(study.deadly, design, **ask)
    data = ub.sweep(study.deadly, design, **ask)
    assert (data["status"] == 1).all() and np.isfinite(data["angle"]).all()


def test_dimensions_coordinates_and_units(study):
    kept = ["joints", "poses", "energies", "reactions"]
    data = ub.sweep(study.pendulum, {"length": [0.5, 1.0], "mass": [1.0, 2.0, 3.0]}, duration=0.01, measure=kept)
    own = {"time": 11, "coordinate": 1, "velocity": 1, "body": 1, "axis": 3, "quaternion": 4, "joint": 1}
    assert dict(data.sizes) == {"length": 2, "mass": 3, **own}
    assert data["position"].dims == ("length", "mass", "time", "body", "axis") and data["position"].attrs["units"] == "m"
    assert data["reaction_force"].attrs["units"] == "N" and list(data["joint"].values) == ["hinge"]
    np.testing.assert_allclose(data["time"].values, np.arange(11) * 1e-3, rtol=1e-12)
    rec = ub.Simulation(study.pendulum(1.0, 2.0)).run(0.01)
    there = data.sel(length=1.0, mass=2.0)
    assert np.array_equal(there["q"].values[:, 0], rec.joint("hinge")[:, 0])
    assert np.array_equal(there["total"].values, rec.energy.total)
    assert np.array_equal(there["reaction_force"].sel(joint="hinge").values, rec.reaction("hinge")[:, 3:])


def test_parameters_of_scenes_and_paths_to_fields(study, tmp_path):
    by_name = ub.sweep("pendulum", {"length": [0.5, 0.8]}, duration=0.05, measure="joints")
    assert by_name.sizes["length"] == 2
    model = study.pendulum()
    by_path = ub.sweep(model, listed({"hinge.damping": [0.0, 0.5], "bodies.bob.mass": [1.0, 2.0]}), duration=0.05, measure="joints")
    b = ub.Builder.load(model)
    b.change_joint("hinge", damping=0.5)
    b.change_body("bob", mass=2.0)
    one = ub.Simulation(b.build()).run(0.05).joint("hinge")[:, 0]
    assert np.array_equal(by_path["q"].values[1, :, 0], one)
    for path, words in (
        ("hinge", "no path to a field"), ("wrist.damping", "no body, joint or element 'wrist'"), ("hinge.colour", "no field 'colour'"),
    ):  # fmt: skip
        with pytest.warns(ub.UnibodyWarning, match="all 1 runs failed, the first because: parameter"):
            data = ub.sweep(model, {path: [1.0]}, duration=0.01)
        assert int(data["status"][0]) == 2 and words in str(data["message"].values[0])


def test_failed_runs_are_kept_with_their_reason(study):
    data = ub.sweep(study.pendulum, {"mass": [1.0, -1.0, 2.0]}, duration=0.02, measure=study.last_angle)
    assert data["status"].values.tolist() == [1, 2, 1] and data.attrs["failed"] == 1
    assert "mass" in str(data["message"].values[1])
    assert np.isfinite(data["angle"].values).tolist() == [True, False, True]


def test_runs_that_measure_other_shapes_fail_by_name(study):
    def measure(rec):
        return {"x": np.zeros(2 if rec.model.bodies[1].com[2] > -1.5 else 3)}

    data = ub.sweep(study.pendulum, {"length": [1.0, 2.0]}, duration=0.02, measure=measure)
    assert sorted(data["status"].values.tolist()) == [1, 2] and any("'x' has shape" in str(m) for m in data["message"].values)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("gave", "words"), [
    (None, "measure gave None"), ({"x": None}, "'x': None is no number"), ({"x": "abc"}, "'x': 'abc' is no number"), ({"x": 1j}, "'x': 1j"),
    ({"x": [[1], [1, 2]]}, "'x'.*is no number"), ({"": 1.0}, "is no name"), ({"x": (("a",), np.zeros((2, 3)))}, "1 dimensions"),
    ({"x": ((3,), np.zeros(2))}, "give a number, an array, or"),
])  # fmt: skip
def test_odd_measures_are_failed_runs_that_say_why(study, tmp_path, stored, gave, words):
    with pytest.warns(ub.UnibodyWarning, match="all 2 runs failed"):
        store = tmp_path / "s" if stored else None
        data = ub.sweep(study.pendulum, {"length": [1.0, 2.0]}, duration=0.01, measure=lambda rec: gave, store=store)
    assert (data["status"] == 2).all()
    for message in data["message"].values:
        assert re.search(words, str(message)) and "\n" not in str(message)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("gave", "words"), [
    ({"x": (("length",), np.zeros(3))}, "dimension 'length' is a parameter's name"), ({"a/b": 1.0}, "holds a slash"),
    ({"x": (("a",), np.zeros(3)), "y": (("a",), np.zeros(4))}, "dimension 'a' has 4 places, elsewhere 3"), ({"status": 1.0}, "'status'"),
    ({"x": (("a", "a"), np.zeros((2, 2)))}, "stands twice"), ({"length": 1.0}, "the name is taken"),
])  # fmt: skip
def test_names_that_make_no_dataset_are_refused(study, tmp_path, stored, gave, words):
    with pytest.raises(ModelError, match=words):
        ub.sweep(study.pendulum, {"length": [1.0, 2.0]}, duration=0.01, measure=lambda rec: gave, store=tmp_path / "s" if stored else None)


@pytest.mark.parametrize("stored", [False, True])
def test_numbers_of_any_shape_and_odd_names_are_kept(study, tmp_path, stored):
    def measure(rec):
        return {"a.b:c": 3, "none": np.zeros(0), "true": True, "box": np.arange(24.0).reshape(2, 3, 4), "nan": np.nan, "0d": np.array(2.0)}

    data = ub.sweep(study.pendulum, {"length": [1.0, 2.0]}, duration=0.01, measure=measure, store=tmp_path / "s" if stored else None)
    assert (data["status"] == 1).all() and data["none"].shape == (2, 0) and np.isnan(data["nan"].values).all()
    assert data["a.b:c"].values.tolist() == [3, 3] and data["true"].values.tolist() == [1, 1] and data["0d"].values.tolist() == [2, 2]
    assert np.array_equal(data["box"].values[1], np.arange(24.0).reshape(2, 3, 4))


def test_names_with_dots_and_colons_are_paths(tmp_path):
    b = ub.Builder()
    bob = b.body("bob.a:b", mass=1.0, inertia=(0.01,) * 3, com=(0, 0, -1))
    b.joint("hinge.x", ub.Revolute((0, 1, 0)), b.world, bob, q=0.5)
    grid = {"hinge.x.damping": [0.0, 1.0], "bodies.bob.a:b.mass": [1.0, 2.0]}
    data = ub.sweep(b.build(), grid, duration=0.05, measure="joints", store=tmp_path / "s")
    ends = data["v"].values[:, :, -1, 0]
    assert data["v"].dims[:2] == tuple(grid) and len(set(ends.ravel().tolist())) >= 3  # without damping the mass does not matter, all but
    assert ends[0, 0] == pytest.approx(ends[0, 1], rel=0.01) and abs(ends[1, 0]) < abs(ends[1, 1]) < abs(ends[0, 1])


def test_a_study_of_one_run_without_parameters(study):
    data = ub.sweep(study.pendulum, {}, duration=0.05, measure=study.last_angle)
    alone = ub.Simulation(study.pendulum()).run(0.05)
    assert data["status"].shape == () and float(data["angle"]) == alone.joint("hinge")[-1, 0]


def test_errors_of_the_users_own_code_end_the_sweep_and_name_the_point(study):
    def measure(rec):
        return {"x": 1.0 / 0.0}

    with pytest.raises(ZeroDivisionError) as caught:
        ub.sweep(study.pendulum, {"length": [1.0]}, duration=0.01, measure=measure)
    assert "length=1.0" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duration": None}, None),
        ({"duration": -1.0}, "sweep duration"),
        ({"dt": 0.0}, "sweep dt"),
        ({"every": 0}, "sweep every"),
        ({"measure": "colours"}, "measure 'colours' is not known"),
        ({"measure": ()}, "keeps nothing"),
        ({"executor": ThreadPoolExecutor}, r"ThreadPoolExecutor is a class.*ThreadPoolExecutor\(\)"),
        ({"parameters": {"status": [1.0]}}, "'status': a study keeps"),
        ({"parameters": {"length": [1.0, "b"]}}, "mixes words, numbers"),
        ({"parameters": {"length": []}}, "no values"),
        ({"executor": "cloud"}, "executor 'cloud' cannot run anything"),
        ({"workers": 0}, "sweep workers"),
    ],
)
def test_calls_that_make_no_sense_are_refused(study, change, words):
    ask = {"duration": 0.01, **change}
    if words is None:  # a Model has no duration of its own: every run says so
        assert "no duration" in str(ub.sweep(study.pendulum, {"length": [1.0]}, **ask)["message"].values[0])
        return
    with pytest.raises(ModelError, match=words):
        ub.sweep(study.pendulum, ask.pop("parameters", {"length": [1.0]}), **ask)


def test_a_function_that_cannot_travel_is_refused_in_one_line(study):
    with pytest.raises(ModelError, match="give functions of a module, or executor='threads'"):
        ub.sweep(lambda length: study.pendulum(length), {"length": [1.0]}, duration=0.01, executor="processes", workers=1)


def test_a_store_is_the_same_dataset_and_runs_nothing_twice(study, tmp_path):
    ask = dict(duration=0.05, measure=study.last_angle)
    design = [{"folder": [str(tmp_path)]}, {"length": [0.5, 0.6, 0.7]}]
    kept = ub.sweep(study.slow, design, store=tmp_path / "s.zarr", **ask)
    memory = ub.sweep(study.pendulum, {"length": [0.5, 0.6, 0.7]}, **ask)
    assert np.array_equal(kept["swing"].values[0], memory["swing"].values) and kept["swing"].dims == ("folder", "length", "time")
    begun = (tmp_path / "begun").read_text()
    again = ub.sweep(study.slow, design, store=tmp_path / "s.zarr", **ask)
    # the model of the first point is built once more, to see that it is the same
    assert (tmp_path / "begun").read_text() == begun + "0.5\n"
    assert again.identical(kept)


def test_a_store_of_another_study_is_refused(study, tmp_path):
    place = tmp_path / "s.zarr"
    ub.sweep(study.pendulum, {"length": [0.5]}, duration=0.01, store=place)
    for other, words in (
        (dict(parameters={"length": [0.6]}, duration=0.01), "parameters is"),
        (dict(parameters={"length": [0.5]}, duration=0.02), "duration is 0.01, here 0.02"),
        (dict(parameters={"length": [0.5]}, duration=0.01, measure="joints"), "measure is"),
    ):
        with pytest.raises(ModelError, match=words):
            ub.sweep(study.pendulum, store=place, **other)
    with pytest.raises(ModelError, match="model is"):
        ub.sweep(_heavier, {"length": [0.5]}, duration=0.01, store=place)
    (tmp_path / "letters").mkdir()
    with pytest.raises(ModelError, match="holds no study"):
        ub.sweep(study.pendulum, {"length": [0.5]}, duration=0.01, store=tmp_path / "letters")


def _heavier(length):
    import study_scenes

    return study_scenes.pendulum(length, mass=2.0)


_heavier.__qualname__ = "pendulum"


def test_a_full_disk_is_one_line_and_keeps_what_is_done(study, tmp_path, monkeypatch):
    from unibody.studies.store import ZarrArrays

    place, put, left = tmp_path / "s.zarr", ZarrArrays.put, [20]

    def full(self, *arguments):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        put(self, *arguments)

    ask = dict(duration=0.05, measure=study.last_angle, store=place, executor="serial")
    monkeypatch.setattr(ZarrArrays, "put", full)
    with pytest.raises(ModelError, match="No space left on device; free some space or give another place and call again: runs that are"):
        ub.sweep(study.pendulum, {"length": LENGTHS}, **ask)
    monkeypatch.undo()
    data = ub.sweep(study.pendulum, {"length": LENGTHS}, **ask)
    assert (data["status"] == 1).all()
    plain = ub.sweep(study.pendulum, {"length": LENGTHS}, duration=0.05, measure=study.last_angle)
    assert np.array_equal(data["swing"].values, plain["swing"].values)


DRIVER = """
import sys
import unibody as ub
import study_scenes
folder, place = sys.argv[1:]
design = [{"folder": [folder]}, {"length": [0.5 + 0.001 * k for k in range(1000)]}]
ub.sweep(study_scenes.slow, design, duration=0.004, measure=study_scenes.last_angle, store=place, workers=2)
"""


@pytest.mark.processes
@pytest.mark.slow
def test_a_driver_that_is_killed_goes_on_with_nothing_lost_and_nothing_twice(study, tmp_path):
    place = tmp_path / "s.zarr"
    lengths = [0.5 + 0.001 * k for k in range(1000)]
    command = [sys.executable, "-c", DRIVER, str(tmp_path), str(place)]
    for wanted in (50, 400):  # killed twice, when so many runs are written down
        process = subprocess.Popen(command)
        try:
            while _done(place) < wanted and process.poll() is None:
                time.sleep(0.01)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    before, sure = (tmp_path / "begun").read_text().split(), _lengths_done(place, lengths)
    assert 400 <= len(sure) < 1000
    subprocess.run(command, check=True)
    later = (tmp_path / "begun").read_text().split()[len(before) :][1:]  # the first is the model looked at
    assert not {repr(x) for x in sure} & set(later), "a run that was written down was made again"
    assert sorted(map(float, later)) == sorted(x for x in lengths if x not in sure)
    data = ub.sweep(study.slow, [{"folder": [str(tmp_path)]}, {"length": lengths}], duration=0.004, measure=study.last_angle, store=place)
    plain = ub.sweep(study.pendulum, {"length": lengths}, duration=0.004, measure=study.last_angle)
    assert (data["status"] == 1).all() and np.array_equal(data["swing"].values[0], plain["swing"].values)


def _statuses(place):
    import zarr

    return zarr.open_group(place, mode="r", zarr_format=2)["status"][...].ravel()


def _done(place):
    try:
        return int((_statuses(place) != 0).sum())
    except (FileNotFoundError, KeyError, ValueError):
        return 0


def _lengths_done(place, lengths):
    return [x for x, s in zip(lengths, _statuses(place), strict=True) if s != 0]


def test_samples_have_one_dimension_and_a_coordinate_for_each_parameter(study):
    data = ub.sweep(study.pendulum, latin_hypercube({"length": (0.5, 1.0), "mass": (1.0, 2.0)}, 5), duration=0.01, measure=study.last_angle)
    assert data["angle"].dims == ("sample",) and set(data.coords) >= {"length", "mass"}
