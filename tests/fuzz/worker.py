"""One process of the fuzzing suite: cases FIRST … LAST − 1, each by its number; a line before and after each, so that a crash has a name.

    python worker.py FOLDER FIRST LAST         prints `begin NUMBER KIND`, then `end NUMBER VERDICT WORDS`
    python worker.py FOLDER FIRST LAST keep    leaves the file of the last case in FOLDER

A case ends well if the file is loaded, with finite numbers only, and (one in four) runs a few steps; or if it is refused by an error of
ours in one line. Anything else is a failure: another exception, a hang, memory beyond a limit, NaN without a word, the process's end.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import random
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpus import (
    CUBE,
    LOOPS,
    LOOPS_TEXT,
    MJCF,
    MSH_2,
    MSH_4,
    PLY,
    POLYFEM,
    POLYFEM_HELD,
    RIGID_IPC,
    SDF,
    UNMIMICKED,
    Corpus,
)  # fmt: skip
from mutations import json_text, mutate_bytes, mutate_json, mutate_npz, mutate_words, mutate_xml
from typer.testing import CliRunner

import unibody as ub
from unibody.cli.app import app
from unibody.files.mesh_loading import load_mesh

KINDS = (
    "scene", "deformables", "urdf", "loops", "sdf", "mjcf", "rigid-ipc", "polyfem", "mesh", "tetrahedra", "recording", "checkpoint",
)  # fmt: skip
NO_SCENES = ("mesh", "tetrahedra", "recording", "checkpoint")
READING, RUNNING = 10.0, 240.0
"""Seconds of processor time for a file, and for some steps, which may compile."""
MEMORY = 3 << 30
"""Bytes that cases may ask for beyond what the process has when it begins."""
STEPS = 3
SHORTEST, LONGEST = 1e-9, 1e3
"""Of steps that are run [s]; what others do is no matter of files."""
LONGEST_LINE = 4000


class Hang(BaseException):
    """A case that took too long."""


def written(corpus: Corpus, kind: str, rng: random.Random) -> Path:
    """A mutated file."""
    if kind in ("scene", "deformables", "rigid-ipc", "polyfem"):
        given = {"scene": corpus.json, "deformables": corpus.soft, "rigid-ipc": [RIGID_IPC], "polyfem": [POLYFEM, POLYFEM_HELD]}[kind]
        path, data = corpus.folder / "case.json", json_text(mutate_json(rng.choice(given), rng))
        data = mutate_bytes(data, rng) if rng.random() < 0.15 else data
    elif kind == "urdf":
        path, data = corpus.folder / "case.urdf", mutate_xml(rng.choice(corpus.urdf), rng, corpus.urdf_words)
    elif kind == "loops":  # of YAML, by its values or by its words; the robot beside it is whole
        path = corpus.folder / "case.urdf"
        path.write_text(UNMIMICKED)
        by_value = rng.random() < 0.7
        data = json_text(mutate_json(LOOPS, rng)) if by_value else mutate_words(LOOPS_TEXT, rng)
        path.with_suffix(".loops.yaml").write_bytes(mutate_bytes(data, rng) if rng.random() < 0.15 else data)
        return path
    elif kind == "sdf":
        path, data = corpus.folder / "case.sdf", mutate_xml(SDF, rng, corpus.sdf_words)
    elif kind == "mjcf":
        path, data = corpus.folder / "case.xml", mutate_xml(MJCF, rng, corpus.mjcf_words)
    elif kind == "mesh":
        ending = rng.choice((".obj", ".obj", ".stl", ".stl", ".ply"))
        path = corpus.folder / f"case{ending}"
        data = mutate_bytes(corpus.stl, rng) if ending == ".stl" else mutate_words(CUBE if ending == ".obj" else PLY, rng)
    elif kind == "tetrahedra":
        path, data = corpus.folder / "case.msh", mutate_words(rng.choice((MSH_4, MSH_2)), rng)
    else:
        path, data = corpus.folder / "case.npz", mutate_npz(rng.choice(corpus.npz[kind]), rng)
    path.write_bytes(data)
    return path


def loaded(kind: str, path: Path, rng: random.Random) -> Callable[[], None] | None:
    """Load the file and look at its numbers; what runs it, if something can."""
    if kind == "mesh":
        for part in load_mesh(path, "mesh"):
            finite(part.vertices)
            finite(part.solid().triangles()[0])
        if path.suffix != ".ply":
            mesh = ub.Mesh.read(path)
            finite(mesh.volume, mesh.mass_properties(1000.0).inertia)
            assert mesh.volume > 0.0, f"volume {mesh.volume}"
        return None
    if kind == "tetrahedra":
        tets = ub.TetMesh.load(path)
        finite(tets.vertices, tets.volume)
        assert tets.volumes.min() > 0.0, f"volume {tets.volumes.min()}"
        return None
    if kind == "recording":
        recording = ub.Recording.load(path)
        finite(recording.t, recording.q, recording.v, recording.dt)
        # matter in a state that someone wrote may be strained beyond its limit, where its energy is infinite
        return lambda: finite(recording.energy.kinetic if recording.model.deformables else recording.energy.total)
    if kind == "checkpoint":
        sim = ub.Simulation.load(path)
        finite(sim.state.t, sim.state.q, sim.state.v, sim.dt)
        assert sim.dt > 0.0, f"dt {sim.dt}"
        return lambda: run(sim)
    scene = ub.load(path)
    for body in scene.model.bodies:
        finite(body.mass, body.com, body.inertia, body.X_WB.p, body.X_WB.wxyz)
    finite(scene.model.start_q(), scene.model.start_v(), scene.dt, scene.duration)
    assert scene.dt > 0.0, f"dt {scene.dt}"
    for soft in scene.model.deformables:
        finite(soft.x0, soft.mass)
    able = [s for s in ("articulated", "penalty", "barrier") if not refusals(s, scene.model)]
    return (lambda: run(ub.Simulation(scene.model, able[0], dt=scene.dt))) if able else None


def refusals(solver: str, model: ub.Model) -> bool:
    try:
        ub.solvers.REGISTRY[solver]().check(model)
    except ub.UnibodyError:
        return True
    return False


def run(sim: ub.Simulation) -> None:
    if not SHORTEST < sim.dt < LONGEST:
        return
    recording = sim.run(STEPS * sim.dt, progress=False)
    finite(recording.t, recording.q, recording.v)


def finite(*values: Any) -> None:
    for value in values:
        assert np.isfinite(np.asarray(value, float)).all(), "numbers that are not finite, without a word"


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text and "\n" not in text and "\r" not in text, f"an error of {len(text.splitlines())} lines: {text[:300]!r}"
    assert len(text) <= LONGEST_LINE, f"an error of {len(text)} characters: {text[:200]!r}"
    return text


def told(path: Path, good: bool) -> None:
    """The same by the command: what the file holds, or exit code 2 and one line on standard error."""
    said = CliRunner().invoke(app, ["info", str(path)])
    if good:
        assert said.exit_code == 0, f"info ends with {said.exit_code}, {said.exception!r}"
        return
    assert said.exit_code == 2 and said.exception.__class__ is SystemExit, f"info ends with {said.exit_code}, {said.exception!r}"
    lines = said.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("unibody: "), f"info says {said.stderr[:300]!r}"


@contextlib.contextmanager
def within(seconds: float) -> Any:
    """At most so much processor time."""
    def late(*_: object) -> None:
        raise Hang(f"more than {seconds:g} s")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def case(corpus: Corpus, number: int) -> tuple[str, str]:
    """Verdict and words."""
    kind, rng = KINDS[number % len(KINDS)], random.Random(number)
    path = written(corpus, kind, rng)
    try:
        with within(READING):
            runs = loaded(kind, path, rng)
            if kind not in NO_SCENES and rng.random() < 0.05:
                told(path, good=True)
            if runs is None or rng.random() > 0.25:
                return "loaded", ""
    except ub.UnibodyError as error:
        text = one_line(error)
        if kind not in NO_SCENES and rng.random() < 0.05:
            told(path, good=False)
        return "refused", text
    try:
        with within(RUNNING):
            runs()
        return "ran", ""
    except ub.UnibodyError as error:
        return "failed in a step", one_line(error)


def main(folder: Path, first: int, last: int, keep: bool) -> None:
    faulthandler.enable()
    warnings.filterwarnings("error", module=r"unibody\b")  # as in other tests: a warning in our own code is a mistake
    corpus = Corpus(folder)
    for model in (corpus.json[0], corpus.json[-1], corpus.soft[0]):  # what compiles, compiles now
        (folder / "case.json").write_bytes(json_text(model))
        loaded("scene", folder / "case.json", random.Random(0))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if Path("/proc/self/statm").exists() else 0
    if used:
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for number in range(first, last):
        print(f"begin {number} {KINDS[number % len(KINDS)]}", flush=True)
        began = time.process_time()
        noise = io.StringIO()
        try:
            with contextlib.redirect_stderr(noise):
                verdict, words = case(corpus, number)
        except (Exception, Hang) as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = "" if place is None else f" at {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
            verdict, words = "FAILED", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"
        print(f"end {number} {verdict}: {time.process_time() - began:.3f} s: {json.dumps(words)}", flush=True)
        if not keep:
            for path in folder.glob("case.*"):
                path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "keep" in sys.argv[4:])
