"""Checkpoints and recordings that cannot be trusted are refused in one line before memory is asked for or a kernel reads them; nothing that
a file holds brings the process down."""

from __future__ import annotations

import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from mutated_files import write
from test_copies import DT, all_choices, begun, both, crane, label, rubbing_ball

import unibody as ub
from unibody.simulation.archive import Archive
from unibody.solvers import REGISTRY

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A checkpoint and a recording of the same run, and their arrays."""
    folder = tmp_path_factory.mktemp("saved")
    sim = begun(REGISTRY["complementarity"](), rubbing_ball)
    paths = {"simulation": sim.save(folder / "s.npz"), "recording": sim.run(2 * DT).save(folder / "r.npz")}
    out = {}
    for kind, path in paths.items():
        with np.load(path) as file:
            out[kind] = {name: file[name] for name in file.files}
    return out


def load(kind, path, **options):
    return (ub.Simulation if kind == "simulation" else ub.Recording).load(path, **options)


def refused(kind, path, says, **options):
    with pytest.raises(ub.ModelError, match=says) as error:
        load(kind, path, **options)
    assert "\n" not in str(error.value) and len(str(error.value)) < 800 and str(path) in str(error.value)


kinds = pytest.mark.parametrize("kind", ["simulation", "recording"])


def header(shape, dtype="<f8", fortran=False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": fortran, "shape": shape})
    return stream.getvalue()


def put(path, arrays, name, content: bytes, compression=zipfile.ZIP_STORED):
    """The archive with these bytes in the place of one array."""
    write(path, {k: v for k, v in arrays.items() if k != name})
    with zipfile.ZipFile(path, "a", compression) as archive:
        archive.writestr(f"{name}.npy", content)


def set_in_directory(path, name, offset: int, form: str, value: int) -> None:
    """Overwrite a field of an entry of the zip's central directory, and the same in the entry's own header if it has it."""
    content = bytearray(path.read_bytes())
    at = content.rfind(f"{name}.npy".encode())  # the last is the directory's
    struct.pack_into(form, content, at - 46 + offset, value)
    path.write_bytes(bytes(content))


@kinds
def test_a_trillion_declared_rows_ask_for_no_memory(saved, tmp_path, kind):
    path = tmp_path / "a.npz"
    put(path, saved[kind], "t", header((10**12,)) + b"\0" * 64)
    refused(kind, path, "declares .* numbers and has")
    put(path, saved[kind], "memory", header((10**9, 10**9)))
    refused(kind, path, "declares .* numbers and has")
    put(path, saved[kind], "q", header((-5,)))
    refused(kind, path, "not a (saved|whole)")


@kinds
def test_bombs_are_refused_by_what_they_declare(saved, tmp_path, kind):
    path = tmp_path / "a.npz"
    rows = 1 << 24
    put(path, saved[kind], "t", header((rows,)) + bytes(8 * rows), zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 20
    refused(kind, path, "declares .* bytes in")
    put(path, saved[kind], "t", header((4,)) + bytes(32))
    set_in_directory(path, "t", 24, "<I", 0x7FFFFFFF)  # the size without compression
    refused(kind, path, "not a (saved|whole)")
    put(path, saved[kind], "t", header((4,)) + bytes(32))
    set_in_directory(path, "t", 20, "<I", 0x7FFFFFFF)  # the size in the file
    refused(kind, path, "longer than the file|not a (saved|whole)")


@kinds
def test_odd_archives_are_refused(saved, tmp_path, kind):
    path, arrays = tmp_path / "a.npz", saved[kind]
    write(path, arrays)
    set_in_directory(path, "t", 8, "<H", 1)
    refused(kind, path, "'t' is encrypted")
    for compression in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        write(path, arrays, compression)
        refused(kind, path, "compressed in a way")
    write(path, arrays)
    set_in_directory(path, "t", 10, "<H", 99)
    refused(kind, path, "compressed in a way")
    write(path, arrays)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("q.npy", archive.read("q.npy"))
    refused(kind, path, "'q' twice")
    write(path, {**arrays, "more": np.zeros(3)})
    refused(kind, path, "none of its arrays")
    write(path, arrays)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.npy", b"")
    refused(kind, path, "none of its arrays")
    write(path, arrays, zipfile.ZIP_DEFLATED)  # as numpy.savez_compressed does: fine
    load(kind, path)


class Bomb:
    def __reduce__(self):
        return exit, (7,)


@kinds
def test_arrays_of_other_kinds_are_refused(saved, tmp_path, kind):
    path, arrays = tmp_path / "a.npz", saved[kind]
    put(path, arrays, "q", header((1,), "|O") + pickle.dumps([Bomb()]))
    refused(kind, path, "dtype object")
    for dtype in (np.float32, np.int64, np.complex128, ">f8", "U5", [("a", "<f8")]):
        write(path, {**arrays, "v": np.zeros(arrays["v"].shape, dtype)})
        refused(kind, path, "'v' is of dtype")
    put(path, arrays, "q", header((3, 2), "<f8", True) + bytes(48))
    refused(kind, path, "row by row")
    for head in (np.zeros(3), np.array(["a", "b"]), np.array("["), np.array(""), np.array("[" * 100_000), np.array("9" * 5000)):
        write(path, {**arrays, "head": head})
        refused(kind, path, "not a (saved|whole)")
    for name in arrays:
        write(path, {k: v for k, v in arrays.items() if k != name})
        refused(kind, path, f"'{name}' is missing")


def test_values_that_cannot_be_are_named(saved, tmp_path):
    path, arrays = tmp_path / "a.npz", saved["simulation"]
    for name, value, says in (
        ("run", [-1.0], "dt: -1.0"), ("run", [0.0], "dt: 0.0"), ("run", [np.nan], "dt: nan"), ("run", [1e-300], "dt: 1e-300"),
        ("run", [1e300], "dt: 1e.300"),
        ("run", [1e-3, 1.0], "'run' has shape"), ("t", [np.inf], "'t' is not finite"), ("t", [0.0], "another time"),
        ("q", arrays["q"][:-1], "'q' has shape"), ("q", 0.0 * arrays["q"], "quaternion of 'ball' is not unit"),
        ("v", arrays["v"] * np.nan, "'v' is not finite"), ("control", arrays["control"] + np.inf, "'control' is not finite"),
    ):  # fmt: skip
        write(path, {**arrays, name: np.array(value, float)})
        refused("simulation", path, says)
    rows = saved["recording"]
    for name, value, says in (
        ("t", rows["t"][::-1].copy(), "do not grow|another time"), ("run", [DT, -1.0, 2.0], "its run says"),
        ("run", [DT, 1.0, 2.5], "its run says"), ("run", [DT, 1.0, 1e300], "its run says"),
        ("memory", rows["memory"][:, :-1].copy(), "'memory' has shape"),
        ("memory", rows["memory"][:-1].copy(), "'memory' has shape"), ("t", rows["t"][:0], "has shape"),
    ):  # fmt: skip
        write(path, {**rows, name: np.array(value, float)})
        refused("recording", path, says)


@pytest.mark.parametrize("solver", all_choices(), ids=label)
def test_every_number_in_memory_is_in_the_range_of_its_field(solver, tmp_path):
    """What a solver declares of its memory holds of its own, and is what loading asks for."""
    for sim in both(solver):
        memory, bound, schema = sim._memory[None], sim.bound, sim.bound.memory_schema
        times = np.array([sim.state.t])
        assert memory.shape == (1, schema.size) and bound.memory_fault(times, memory) is None
        start = ub.Simulation(sim.model, solver, DT)
        assert bound.memory_fault(np.zeros(1), start._memory[None]) is None
        fields = [(place, field) for _, place, field in schema.leaves()]
        assert any(field.whole for _, field in fields) or solver.name in ("articulated", "lagrange", "penalty")
        for place, field in fields:
            wrong = [-np.inf, 1e300, -1e300] + [np.nan] * (not field.missing) + [np.inf] * (not field.infinite)
            if field.whole:
                wrong += [0.5, field.high + 1e9, field.low - 1e9]
            for value in wrong:
                for k in (place, place + field.size - 1):
                    changed = memory.copy()
                    changed[0, k] = value
                    why = bound.memory_fault(times, changed) or ""
                    assert f"as {field.name}" in why or ("another time" in why and field.name in ("last_step", "time")), (field, value, why)


@pytest.mark.parametrize("solver", all_choices(), ids=label)
def test_a_schema_covers_the_whole_memory_and_says_what_each_number_is(solver):
    for sim in both(solver):
        schema = sim.bound.memory_schema
        ends = 0
        for name, place in schema.slices.items():
            assert place.start == ends and place.stop - ends == schema.fields[name].size, name
            ends = place.stop
        assert ends == schema.size == sim._memory.size
        for name, _, field in schema.leaves():
            assert field.unit and len(field.meaning) > 5, name
        shown = repr(sim.memory)
        assert all(name in shown and field.meaning in shown for name, _, field in schema.leaves())
        assert sim.memory.time == sim.state.t
        with pytest.raises(ValueError, match="read-only"):
            sim.memory.time = 1.0


def test_memory_is_laid_out_alike_at_rest_and_while_a_rule_runs():
    """Where joints are fitted, what a rule sees is the beginning of what a step returns."""
    for solver in all_choices():
        for sim in both(solver):
            bound, memory = sim.bound, sim._memory
            q, v, kept = bound._unpack(sim.state, memory)
            assert kept.tobytes() == memory[: kept.size].tobytes()
            state, again = bound._pack(sim.state.t, q, v, kept)
            assert again.tobytes() == memory.tobytes() and state.q.tobytes() == sim.state.q.tobytes()


def test_another_model_than_the_saved_one_is_refused(tmp_path):
    model = crane(target=lambda t: 0.1 * t)
    sim = ub.Simulation(model, "articulated", DT)
    sim.run(2 * DT)
    path = sim.save(tmp_path / "a.npz")
    ub.Simulation.load(path, model=crane(target=lambda t: 0.2 * t))  # what the file could not keep is the caller's
    ub.Simulation.load(path, model=crane())
    other = crane(lambda t: t, lambda t: (t, 0, 0))
    refused("simulation", path, r"another model than the one given: model.elements\[2\].force", model=other)
    refused("simulation", path, "another model than the one given: model.bodies", model=ub.scenes.build("pendulum"))
    with pytest.raises(ub.ModelError, match="is not a Model"):
        ub.Simulation.load(path, model="pendulum")


def test_a_changed_head_is_noticed_by_its_fingerprint_and_files_of_other_formats_are_refused(saved, tmp_path):
    path, arrays = tmp_path / "a.npz", saved["simulation"]
    head = json.loads(str(arrays["head"]))
    for change in (
        lambda h: h["model"]["bodies"][0].update(mass=5.0), lambda h: h["solver"].update(clip=True), lambda h: h.pop("fingerprint")
    ):  # fmt: skip
        mine = json.loads(json.dumps(head))
        change(mine)
        write(path, {**arrays, "head": np.array(json.dumps(mine))})
        refused("simulation", path, "fingerprint differs")
    for version in (1, 2, 3, 5, "4", 4.0, None):
        write(path, {**arrays, "head": np.array(json.dumps({**head, "format": version}))})
        refused("simulation", path, f"format {version!r}, this version reads 4; run it again")
    write(path, arrays)
    again = ub.Simulation.load(path)
    assert again._memory.tobytes() == arrays["memory"].tobytes()


@kinds
def test_memory_of_another_layout_is_refused(saved, tmp_path, kind):
    """Of the same length: only names and shapes tell."""
    path, arrays = tmp_path / "a.npz", saved[kind]
    head = json.loads(str(arrays["head"]))
    fields = head["memory"]
    assert fields[:4] == [["work", 3], ["power", 3], ["last_step"], ["time"]]
    renamed = [["works", *fields[0][1:]], *fields[1:]]
    for other in (renamed, [fields[1], fields[0], *fields[2:]], fields[:-1], [], None, "work", {"work": 3}, 7):
        write(path, {**arrays, "head": np.array(json.dumps({**head, "memory": other}))})
        refused(kind, path, "memory of another layout than this version's .*; run it again")


def test_the_command_line_says_one_line_and_exits_with_2(saved, tmp_path):
    path = tmp_path / "a.npz"
    put(path, saved["recording"], "t", header((10**12,)))
    run = [sys.executable, "-c", "from unibody.cli import main; main()", "export", str(path), "--csv", str(tmp_path / "out.csv")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "declares" in done.stderr + done.stdout and "Traceback" not in done.stderr + done.stdout
    assert not (tmp_path / "out.csv").exists()


def test_reading_holds_no_file_open(saved, tmp_path):
    path = tmp_path / "a.npz"
    write(path, saved["simulation"])
    archive = Archive(path, "simulation", [name for name in saved["simulation"] if name != "head"])
    path.unlink()
    with pytest.raises(ub.ModelError, match="not a saved simulation"):
        archive.array("q", archive.shapes["q"])


def test_mutations_of_files_of_all_solvers_are_refused_or_go_on(tmp_path):
    """660 seeded changes of numbers, shapes, kinds, heads and bytes, in a process of their own, where a crash would be seen."""
    run = [sys.executable, "mutated_files.py", str(tmp_path), "1", "15"]
    done = subprocess.run(run, cwd=HERE, capture_output=True, text=True, timeout=900)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    ends = [line.split()[-1] for line in lines]
    assert len(lines) > 600 and ends.count("refused") > 300 and ends.count("on") > 100
