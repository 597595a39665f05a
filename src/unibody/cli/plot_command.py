"""`unibody plot`: energies, coordinates, reactions and whatever else follows from a recording, over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from unibody.cli import output
from unibody.cli.options import Dt, Duration, Every, Json, Params, SolverOption, command
from unibody.cli.output import DONE, show_json, show_table
from unibody.cli.render_command import Shown

What = Annotated[
    str,
    typer.Option(
        "--what", "-w", metavar="A,B,C",
        help="energy, drift, violation, momentum, q, v, q:JOINT[.k], reaction:JOINT, constraint:JOINT, multiplier:ELEMENT,"
        " tension[:ELEMENT], pose:BODY.",
    ),
]  # fmt: skip


@command
def plot(
    target: Shown,
    what: What = "energy,q,violation",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="A .png, .svg or .pdf; default: NAME-plot.png.")] = None,
    solver: SolverOption = None,
    param: Params = None,
    dt: Dt = None,
    duration: Duration = None,
    every: Every = None,
    as_json: Json = False,
) -> int:
    """Plot series over time, with units, one panel below the other."""
    from unibody.cli import inputs
    from unibody.cli.recorded import can_draw, recording_from
    from unibody.view.plots import plot as draw
    from unibody.view.series import panels

    file = out or Path(f"{Path(target).stem}-plot.png")
    inputs.writable(file, "--out")
    can_draw(file, "--out")
    name, recording, notes = recording_from(target, solver, param or [], dt, duration, every, progress=False if as_json else None)
    shown = panels(recording, what)
    draw(recording, what, file, title=f"{name}, {recording.solver.name}")
    rows = [(p, label, values) for p in shown for label, values in p.curves.items()]
    if as_json:
        series = [{"panel": p.title, "unit": p.unit, "curve": label, **_summary(values)} for p, label, values in rows]
        facts = {"scene": name, "file": str(file), "states": len(recording), "time": float(recording.t[-1]), "notes": notes}
        show_json({**facts, "series": series})
        return DONE
    head = ["panel", "curve", "unit", "start", "end", "least", "most"]
    show_table(head, [[p.title, label, p.unit, *(f"{x:.6g}" for x in _summary(values).values())] for p, label, values in rows], left=3)
    typer.echo(f"\nplot   {file}   {len(recording)} states to {output.seconds(recording.t[-1])}")
    for note in notes:
        typer.echo(f"note   {note}")
    return DONE


def _summary(values: np.ndarray) -> dict[str, float]:
    return {"start": float(values[0]), "end": float(values[-1]), "least": float(np.min(values)), "most": float(np.max(values))}
