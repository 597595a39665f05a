"""`unibody render`: a picture or a film of a scene, a model's file or a recording; no screen and no graphics card are needed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from unibody.cli.options import Dt, Duration, Every, Json, Params, SolverOption, command
from unibody.cli.output import DONE, show_facts, show_json
from unibody.cli.output import seconds as shown_seconds
from unibody.errors import ModelError

Shown = Annotated[str, typer.Argument(metavar="SCENE|FILE|RECORDING.npz", help="A scene's name, a model's file, or a saved recording.")]


@command
def render(
    target: Shown,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="A .png, or a film .mp4 or .gif; default: NAME.png.")] = None,
    solver: SolverOption = None,
    param: Params = None,
    dt: Dt = None,
    duration: Duration = None,
    every: Every = None,
    at: Annotated[float | None, typer.Option("--at", help="Time of the picture [s]; default: the last.")] = None,
    size: Annotated[str, typer.Option("--size", metavar="WIDTHxHEIGHT", help="Pixels.")] = "1280x720",
    fps: Annotated[float, typer.Option("--fps", help="Pictures per second of a film.")] = 30.0,
    speed: Annotated[float, typer.Option("--speed", help="How fast a film runs; 1 is as in life.")] = 1.0,
    camera: Annotated[
        str | None, typer.Option("--camera", metavar="AZIMUTH,ELEVATION[,DISTANCE]", help="Degrees, and metres; default: all in view.")
    ] = None,
    reactions: Annotated[bool, typer.Option("--reactions", help="Arrows: forces and torques that joints carry.")] = False,
    frames: Annotated[bool, typer.Option("--frames", help="Axes of the joint frames.")] = False,
    colour: Annotated[str, typer.Option("--colour", help="Of deformables: body, or strain (red: stretched, blue: pressed).")] = "body",
    as_json: Json = False,
) -> int:
    """Draw a picture (.png) or a film (.mp4, .gif) in software."""
    from unibody.cli import inputs
    from unibody.cli.recorded import recording_from
    from unibody.view import films

    # what to draw, and from where
    target_file = out or Path(f"{Path(target).stem}.png")
    inputs.writable(target_file, "--out")
    film = films.kind_of(target_file) in films.FILMS
    pixels, seen_from = numbers(size, "x", "--size", (2,)), None if camera is None else numbers(camera, ",", "--camera", (2, 3))
    name, recording, notes = recording_from(
        target, solver, param or [], dt, duration if at is None or duration is not None or target.endswith(".npz") else at, every,
        apart=speed / fps if film and fps > 0.0 else None, progress=False if as_json else None,
    )  # fmt: skip
    # drawn in software
    began = time.perf_counter()
    films.render(
        recording, target_file, at=at, size=(int(pixels[0]), int(pixels[1])), fps=fps, speed=speed, camera=seen_from,
        reactions=reactions, frames=frames, title=name, colour=colour,
    )  # fmt: skip
    spent = time.perf_counter() - began
    # what is told of it
    count = len(films.film_rows(recording, fps, speed)) if film else 1
    instant = recording.t[films.row_at(recording, at)]
    if as_json:
        when = {"from": recording.t[0], "to": recording.t[-1]} if film else {"time": instant}
        show_json({"scene": name, "file": str(target_file), "pictures": count, "seconds": spent, "notes": notes, **when})
        return DONE
    what = f"{count} pictures, {recording.t[0]:.4g} … {recording.t[-1]:.4g} s" if film else f"t = {instant:.4g} s"
    drawn = [("drawn in", shown_seconds(spent)), ("film" if film else "picture", str(target_file))]
    show_facts([("scene", f"{name}, {what}"), *drawn, *(("note", note) for note in notes)])
    return DONE


def numbers(text: str, between: str, option: str, counts: tuple[int, ...]) -> list[float]:
    """Numbers in a word, such as 1280x720.

    >>> numbers("30,20", ",", "--camera", (2, 3))
    [30.0, 20.0]
    """
    try:
        values = [float(word) for word in text.lower().split(between)]
    except ValueError:
        values = []
    if len(values) not in counts:
        example = between.join(["30", "20", "5"][: counts[0]]) if option == "--camera" else "1280x720"
        raise ModelError(f"{option} '{text}' is not {' or '.join(map(str, counts))} numbers; give for example {option} {example}")
    return values
