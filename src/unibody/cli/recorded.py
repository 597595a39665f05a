"""A motion to show: a recording from a file, or one made now of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unibody.cli import inputs, output, running
from unibody.errors import ModelError
from unibody.simulation import Recording, Simulation


def recording_from(
    target: str, solver: str | None, parameters: Sequence[str], dt: float | None, duration: float | None, every: int | None = None,
    apart: float | None = None, progress: bool | None = None,
) -> tuple[str, Recording, tuple[str, ...]]:  # fmt: skip
    """A short name, the recording, read from a .npz file, else made by running a scene or a model's file, and what was noted of the run.

    Of a run every so many steps are kept; `apart` [s] asks for two in this time, as a film needs them.
    """
    path = Path(target)
    if path.suffix.lower() == ".npz":
        given = {"--solver": solver, "--dt": dt, "--duration": duration, "--every": every}
        for option, value in given.items():
            if value is not None:
                raise ModelError(f"recording '{target}': {option} belongs to a run that is over; leave it out, or give a scene")
        return path.stem, Recording.load(path, trust=trusted(target, parameters)), ()
    name, scene = inputs.scene_from(target, parameters)
    output.tell_left_out(scene.left_out)
    dt, duration = scene.dt if dt is None else dt, scene.duration if duration is None else duration
    kept = running.rows_apart(duration, dt, every)
    if every is None and apart is not None:
        kept = max(1, int(0.5 * apart / dt))
    simulation = Simulation(scene, solver or "auto", dt=dt)
    recording = simulation.run(duration, every=kept, progress=progress)
    return name, recording, simulation.notes


def trusted(target: str, parameters: Sequence[str]) -> tuple[str, ...]:
    """The modules that `-p trust=a,b` allows a recording to name; nothing else can be set of a run that is over."""
    given = inputs.pairs(parameters, "--param")
    names = tuple(name for name in given.pop("trust", "").split(",") if name)
    if given:
        raise ModelError(f"recording '{target}': --param {next(iter(given))} belongs to a run that is over; leave it out, or give a scene")
    return names


def can_draw(picture: Path | None, option: str = "--picture") -> None:
    """Say before the run that a picture could not be drawn after it."""
    if picture is None:
        return
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise ModelError("pictures need matplotlib, which is not installed; pip install unibody[plot]")
    if picture.suffix.lower() not in (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp"):
        raise ModelError(f"{option} '{picture}' ends in '{picture.suffix}'; give a file that ends in .png, .svg or .pdf")
