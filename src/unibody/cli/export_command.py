"""`unibody export`: a recording, or a scene that is simulated first, in files that other programs read."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unibody.cli import completion, output
from unibody.cli.options import Csv, Dt, Duration, Every, Json, Options, Params, SolverOption, command
from unibody.cli.output import DONE, FAILED, show_facts, show_json
from unibody.errors import ModelError, StepFailed

if TYPE_CHECKING:
    from unibody.scenes import Scene
    from unibody.simulation import Recording

Input = Annotated[
    str,
    typer.Argument(
        metavar="RECORDING.npz|SCENE|FILE", help="A saved recording, or what `unibody run` takes.", autocompletion=completion.targets
    ),
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE.html", help="One page that plays the motion offline.")]
Glb = Annotated[Path | None, typer.Option("--glb", metavar="FILE.glb", help="glTF 2.0 with animation, binary.")]
Gltf = Annotated[Path | None, typer.Option("--gltf", metavar="FILE.gltf", help="The same as text.")]
Pvd = Annotated[Path | None, typer.Option("--pvd", metavar="FILE.pvd", help="A series of .vtu files for ParaView, and their list.")]
Usda = Annotated[Path | None, typer.Option("--usda", metavar="FILE.usda", help="USD as text, with time samples.")]
Npz = Annotated[Path | None, typer.Option("--npz", metavar="FILE.npz", help="Plain named arrays: times, poses, energies, reactions.")]
Urdf = Annotated[Path | None, typer.Option("--urdf", metavar="FILE.urdf", help="The model as URDF, where it can be expressed.")]
SceneFile = Annotated[Path | None, typer.Option("--scene", metavar="FILE.json", help="The model in our own format.")]
Fps = Annotated[float | None, typer.Option("--fps", help="Frames per second of simulated time, for --html, --glb, --gltf, --pvd, --usda.")]
Tabulate = Annotated[float | None, typer.Option("--tabulate", help="For --scene: functions of time as tables with this step [s].")]
Partial = Annotated[bool, typer.Option("--partial", help="For --urdf: leave out what it has no words for, and say so.")]
SHOWN = ("html", "glb", "gltf", "pvd", "usda")
"""What shows frames, and is known by its ending."""
MOVING = (*SHOWN, "csv", "npz")
"""What needs a motion; the others need only a model."""


@command
def export(
    source: Input,
    html: Html = None,
    glb: Glb = None,
    gltf: Gltf = None,
    pvd: Pvd = None,
    usda: Usda = None,
    csv: Csv = None,
    npz: Npz = None,
    urdf: Urdf = None,
    scene: SceneFile = None,
    fps: Fps = None,
    tabulate: Tabulate = None,
    partial: Partial = False,
    solver: SolverOption = None,
    option: Options = None,
    param: Params = None,
    dt: Dt = None,
    duration: Duration = None,
    every: Every = None,
    as_json: Json = False,
) -> int:
    """Write a recording, or a scene that is simulated first, for browsers and other programs."""
    import numpy as np

    from unibody.cli import inputs
    from unibody.cli.recorded import recording_from

    asked = {"html": html, "glb": glb, "gltf": gltf, "pvd": pvd, "usda": usda, "csv": csv, "npz": npz, "urdf": urdf, "scene": scene}
    wanted = {kind: path for kind, path in asked.items() if path is not None}
    _check(source, wanted, fps, tabulate, partial)
    # a recording as it is, or a scene that is run if something of it moves
    recording, from_scene, failure = None, None, None
    notes: tuple[str, ...] = ()
    if source.lower().endswith(".npz"):
        if option:
            raise ModelError(f"recording '{source}': --option belongs to a run that is over; leave it out, or give a scene")
        name, recording, notes = recording_from(source, solver, param or [], dt, duration, every)
    else:
        name, from_scene = inputs.scene_from(source, param or [])
        output.tell_left_out(from_scene.left_out)
        if wanted.keys() & set(MOVING):
            _, chosen, choice = inputs.solver_for(from_scene, solver, option or [], dt)
            recording, failure, notes = _run(from_scene, chosen, dt, duration, every, fps, False if as_json else None)
            notes = notes if choice is None else (choice.line, *notes)
    # write all that is asked for; of a failed run, all that can be written
    remarks: list[str] = []
    for kind, path in [*wanted.items()]:
        try:
            with np.errstate(all="ignore") if failure else contextlib.nullcontext():  # a run that failed may hold states that overflow
                remarks += _write(kind, path, name, recording, from_scene, fps, tabulate, partial)
        except ModelError as error:
            if failure is None:
                raise
            typer.echo(f"unibody: no {kind}: {error}", err=True)
            del wanted[kind]
    sizes = {kind: path.stat().st_size for kind, path in wanted.items()}
    if as_json:
        ran = {"states": None, "solver": None} if recording is None else {"states": len(recording), "solver": recording.solver.name}
        facts = {**ran, "files": {k: str(p) for k, p in wanted.items()}, "bytes": sizes, "remarks": remarks, "notes": notes}
        show_json({"source": source, "status": "done" if failure is None else "failed", **facts})
    else:
        states = [] if recording is None else [("motion", f"{len(recording)} states, solver '{recording.solver.name}'")]
        written = [(kind, f"{path}, {output.size(sizes[kind])}") for kind, path in wanted.items()]
        show_facts(states + written + [("note", remark) for remark in (*remarks, *notes)])
    if failure is not None:
        typer.echo(f"unibody: {' '.join(str(failure).split())} (the files end there)", err=True)
        return FAILED
    return DONE


def _check(source: str, wanted: dict[str, Path], fps: float | None, tabulate: float | None, partial: bool) -> None:
    """Refuse before the run what could not be written after it."""
    from unibody.cli import inputs
    from unibody.element import number

    if not wanted:
        raise ModelError("export: nothing to write; give one of --html, --glb, --gltf, --pvd, --usda, --csv, --npz, --urdf, --scene")
    for kind, path in wanted.items():
        inputs.writable(path, f"--{kind}")
        if path.resolve() == Path(source).resolve():
            raise ModelError(f"--{kind} '{path}' is the file that is read; give another name")
        if kind in SHOWN and path.suffix.lower() != f".{kind}":
            raise ModelError(f"--{kind} '{path}' ends in '{path.suffix}'; give a file that ends in .{kind}")
    if len({path.resolve() for path in wanted.values()}) < len(wanted):
        raise ModelError("export: two outputs have the same name; give each its own")
    if tabulate is not None and "scene" not in wanted:
        raise ModelError("--tabulate says how --scene keeps functions of time; give --scene FILE.json with it")
    if partial and "urdf" not in wanted:
        raise ModelError("--partial says what --urdf does with what it has no words for; give --urdf FILE.urdf with it")
    if fps is not None:
        number(fps, "--fps", positive=True)
        if not wanted.keys() & set(SHOWN):
            raise ModelError("--fps says how many frames --html, --glb, --gltf, --pvd and --usda show; give one, or --every for tables")


def _run(
    scene: Scene, solver: Any, dt: float | None, duration: float | None, every: int | None, fps: float | None, progress: bool | None
) -> tuple[Recording, StepFailed | None, tuple[str, ...]]:
    """The recording, with notes, also of a run that failed on its way; states are no farther apart than the frames of a page."""
    from unibody.cli import running
    from unibody.simulation import Simulation

    dt, duration = scene.dt if dt is None else dt, scene.duration if duration is None else duration
    apart = running.rows_apart(duration, dt, every)
    if every is None:
        apart = min(apart, max(1, int(1.0 / ((fps or 30.0) * dt))))
    simulation = Simulation(scene, solver, dt=dt)
    try:
        return simulation.run(duration, every=apart, progress=progress), None, simulation.notes
    except StepFailed as failed:
        return failed.recording, failed, simulation.notes


def _write(
    kind: str, path: Path, name: str, recording: Recording | None, scene: Scene | None, fps: float | None, tabulate: float | None,
    partial: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Write one file; what should be said of it."""
    if kind in ("urdf", "scene"):
        source: Any = scene if scene is not None else recording.model if recording is not None else None
        if kind == "urdf":
            from unibody.files.urdf_export import save_urdf

            return save_urdf(source, path, name=name, partial=partial)
        from unibody.files.scene_json import save_json

        save_json(source, path, name=name, tabulate=tabulate)
    elif recording is not None and kind == "html":
        recording.to_html(path, title=name, fps=fps)
    elif recording is not None and kind in ("glb", "gltf"):
        recording.to_gltf(path, fps=fps)
    elif recording is not None and kind in ("pvd", "usda"):
        recording.to_vtu(path, fps=fps) if kind == "pvd" else recording.to_usda(path, fps=fps)
    elif recording is not None:
        recording.to_csv(path) if kind == "csv" else recording.to_npz(path)
    return ()
