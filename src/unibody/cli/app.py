"""The commands of `unibody` that simulate and describe; others register when the modules `<name>_command` are imported, at the end."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unibody.cli import output

from unibody.cli.options import (  # isort: skip
    ContactsCsv, Csv, Dt, Duration, Every, Json, Options, Out, Params, Picture, SolverOption, Solvers, Target, app, command,
)  # fmt: skip
from unibody.cli.output import DONE, FAILED, show_facts, show_json, show_table
from unibody.errors import ModelError
from unibody.exports import modules_of
from unibody.simulation.advice import APART


def main() -> None:
    """The entry point of the command `unibody`. Words that no command understands are one line too, and with --json one object."""
    try:
        code = app(standalone_mode=False)
    except Exception as error:  # the parser's own kinds of error differ between versions of typer; they know a message and an exit code
        if type(error).__name__ == "Abort":
            sys.exit(130)
        if not (hasattr(error, "format_message") and hasattr(error, "exit_code")):
            raise
        code = error.exit_code
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
        else:
            output.fail(" ".join(error.format_message().split()), code, "--json" in sys.argv)
    sys.exit(code if isinstance(code, int) else DONE)


def _version(wanted: bool) -> None:
    if wanted:
        import unibody

        typer.echo(f"unibody {unibody.__version__}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Multibody dynamics: one scene, every formulation."""


@command
def scenes(as_json: Json = False) -> int:
    """List the scenes: names, what they are, and their parameters."""
    from unibody import scenes as known

    entries = [known.get(name) for name in known.names()]
    if as_json:
        parameters = [[{"name": p.name, "type": p.kind_name, "default": p.default} for p in e.parameters] for e in entries]
        show_json([{"name": e.name, "summary": e.summary, "parameters": p} for e, p in zip(entries, parameters, strict=True)])
        return DONE
    width = max(len(e.name) for e in entries)
    for e in entries:
        typer.echo(f"{typer.style(e.name.ljust(width), bold=True)}  {e.summary}")
        listed = "  ".join(f"{p.name}={_shown(p.default)}" + (f" ({p.kind_name})" if "|" in p.kind_name else "") for p in e.parameters)
        typer.secho(f"{' ' * width}  {listed}", dim=True)
    typer.echo("\nunibody run NAME --param key=value    simulates one; unibody info NAME describes it")
    return DONE


OVERLAPS = 6
"""Pairs of bodies that `run` lists; --json has all."""


@command
def run(
    target: Target,
    solver: SolverOption = None,
    option: Options = None,
    param: Params = None,
    dt: Dt = None,
    duration: Duration = None,
    every: Every = None,
    out: Out = None,
    csv: Csv = None,
    contacts: ContactsCsv = None,
    picture: Picture = None,
    as_json: Json = False,
) -> int:
    """Simulate a scene and say how it went."""
    from unibody.cli import inputs, running
    from unibody.cli.recorded import can_draw

    # refuse first what could not be done after the run
    inputs.different({"--out": out, "--csv": csv, "--contacts": contacts, "--picture": picture})
    if out is not None and out.suffix != ".npz":
        raise ModelError(f"--out '{out}' ends in '{out.suffix}'; give a file that ends in .npz")
    can_draw(picture)
    name, scene = inputs.scene_from(target, param or [])
    dt, duration = scene.dt if dt is None else dt, scene.duration if duration is None else duration
    apart = running.rows_apart(duration, dt, every)
    label, chosen, choice = inputs.solver_for(scene, solver, option or [], dt)
    outcome = running.timed(scene, chosen, dt, duration, apart, False if as_json else None)
    facts = running.summary(label, outcome, choice)
    # files, those of a failed run too
    files: dict[str, Path] = {}
    if outcome.failed:
        files["recording"] = running.keep_failed(outcome.recording, name, out)
    elif out is not None:
        files["recording"] = outcome.recording.save(out)
    if csv is not None:
        files["csv"] = outcome.recording.to_csv(csv)
    if contacts is not None:
        files["contacts"] = outcome.recording.contacts_to_csv(contacts)
    if picture is not None:
        from unibody.view import draw_motion

        recording = outcome.recording
        with _forgiven(outcome.failed):
            files["picture"] = draw_motion(recording, picture, title=f"{name} at t = {recording.t[-1]:.4g} s")
    if as_json:
        told = {"left_out": list(scene.left_out), "files": {k: str(p) for k, p in files.items()}}
        show_json({"scene": name, **facts.plain(), **told})
    else:
        show_facts(_run_lines(name, facts, scene.left_out, files))
    if outcome.failed:
        typer.echo(f"unibody: {facts.error} (recording so far: {files['recording']})", err=True)
    return FAILED if outcome.failed else DONE


def _run_lines(name: str, facts: Any, left_out: Sequence[str], files: dict[str, Path]) -> list[tuple[str, str]]:
    lines = [
        ("scene", f"{name}, {facts.time:.6g} s with '{facts.solver}'" + (" – FAILED" if facts.status == "failed" else "")),
        ("steps", f"{facts.steps} of {facts.dt:g} s, {output.seconds(facts.seconds_per_step)} each"),
        ("made ready", _ready(facts.ready_seconds, facts.kernels, facts.kernels_from_cache)),
        ("energy", f"{facts.energy_start:.6g} J → {facts.energy_end:.6g} J, drift {output.short(facts.energy_drift)} J "
         f"({output.short(facts.energy_drift_relative)} of what changes hands)"),
        ("violation", f"{output.short(facts.violation)} m or rad"),
    ]  # fmt: skip
    if facts.redundant:
        lines.append(("redundant", f"{facts.redundant} constraint rows repeat others, in {', '.join(facts.redundant_elements)}"))
    shown = facts.overlaps[:OVERLAPS]
    for k, o in enumerate(shown):
        pair, remedy = f"'{o['bodies'][0]}' and '{o['bodies'][1]}'", "" if k else f"; {APART}"
        lines.append(("overlap", f"{pair} begin {o['depth']:.3g} m inside each other{remedy}"))
    if len(facts.overlaps) > len(shown):
        lines.append(("overlap", f"{len(facts.overlaps) - len(shown)} more pairs of bodies do"))
    if facts.contacts is not None:
        end, most, force = facts.contacts.values()
        lines.append(("contacts", f"{end} at the end, {most} at most; normal forces {force:.4g} N in all, on average"))
    lines += [("note", note) for note in facts.notes] + [("left out", line) for line in left_out]
    return lines + [(kind, str(path)) for kind, path in files.items()]


@command
def compare(
    target: Target,
    solvers: Solvers = "",
    param: Params = None,
    dt: Dt = None,
    duration: Duration = None,
    every: Every = None,
    picture: Picture = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Series of all solvers, and their differences.")] = None,
    what: Annotated[str, typer.Option("--what", "-w", metavar="A,B,C", help="Series of --plot, as in `unibody plot`.")] = "energy,q",
    as_json: Json = False,
) -> int:
    """Run one scene in several solvers and compare them with the first."""
    from unibody.cli import describe, inputs, running
    from unibody.cli.recorded import can_draw
    from unibody.solvers import REGISTRY
    from unibody.view.motion import position_difference

    # refuse first what could not be done after the runs
    for path, option in ((picture, "--picture"), (plot, "--plot")):
        inputs.writable(path, option)
        can_draw(path, option)
    name, scene = inputs.scene_from(target, param or [])
    # solvers by name, or all that can but those of last resort
    able = [s for s in REGISTRY if not describe.refusals(s, scene.model)]
    specs = [s.strip() for s in solvers.split(",") if s.strip()] or [s for s in able if not REGISTRY[s].last_resort] or able
    choices = [inputs.solver_for(scene, spec, (), dt) for spec in specs]
    specs, chosen = [label for label, _, _ in choices], [solver for _, solver, _ in choices]
    for solver in chosen:
        solver.check(scene.model)
    dt, duration = scene.dt if dt is None else dt, scene.duration if duration is None else duration
    # run them all, and compare each with the first
    apart = running.rows_apart(duration, dt, every)
    outcomes = [running.timed(scene, solver, dt, duration, apart, False if as_json else None) for solver in chosen]
    facts = [running.summary(label, o, choice) for (label, _, choice), o in zip(choices, outcomes, strict=True)]
    differences = [float(position_difference(o.recording, outcomes[0].recording).max()) for o in outcomes]
    files = {
        f.solver: running.keep_failed(o.recording, f"{name}-{re.sub(r'[^a-z0-9]+', '-', f.solver)}", None)
        for f, o in zip(facts, outcomes, strict=True) if o.failed
    }  # fmt: skip
    # pictures and files
    if picture is not None:
        from unibody.view import draw_comparison

        recordings = [o.recording for o in outcomes]
        with _forgiven(any(o.failed for o in outcomes)):
            files["picture"] = draw_comparison(recordings, specs, picture, title=f"{name} at t = {recordings[0].t[-1]:.4g} s")
    if plot is not None:
        from unibody.view.plots import plot_comparison

        with _forgiven(any(o.failed for o in outcomes)):
            files["plot"] = plot_comparison([o.recording for o in outcomes], specs, what, plot, title=name)
    # what is told
    if as_json:
        rows = [{**f.plain(), "position_difference": d} for f, d in zip(facts, differences, strict=True)]
        told = {"left_out": list(scene.left_out), "files": {k: str(p) for k, p in files.items()}}
        show_json({"scene": name, "solvers": rows, **told})
    else:
        output.tell_left_out(scene.left_out)
        typer.echo(f"{name}: {duration:g} s in steps of {dt:g} s; differences of body positions to '{specs[0]}'\n")
        head = ["solver", "steps", "time per step", "energy drift [J]", "relative", "violation", "difference [m]"]
        show_table(head, [
            [f.solver, str(f.steps), output.seconds(f.seconds_per_step), output.short(f.energy_drift),
             output.short(f.energy_drift_relative), output.short(f.violation), output.short(d) if k else "–"]
            for k, (f, d) in enumerate(zip(facts, differences, strict=True))
        ])  # fmt: skip
        for kind in ("picture", "plot"):
            if kind in files:
                typer.echo(f"\n{kind}   {files[kind]}")
    for f in facts:
        if f.error is not None:
            typer.echo(f"unibody: '{f.solver}': {f.error} (recording so far: {files[f.solver]})", err=True)
    return FAILED if any(o.failed for o in outcomes) else DONE


@command
def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; without one they are listed; 'all' runs each.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes only, where the benchmark knows them.")] = False,
    large: Annotated[bool, typer.Option("--large", help="The largest sizes too, where the benchmark knows them.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Times over sizes, log–log, with fitted slopes.")] = None,
    as_json: Json = False,
) -> int:
    """List or run the benchmarks of a source checkout."""
    from unibody.cli import benchmarks

    here = benchmarks.found()
    if name is None:
        if as_json:
            show_json([{"name": n, "summary": benchmarks.opening(p), "file": str(p)} for n, p in here.items()])
        elif here:
            show_table(["benchmark", "what"], [[n, benchmarks.opening(p)] for n, p in here.items()], left=2)
        else:
            typer.echo("no benchmarks here; they come with the source checkout, in its folder benchmarks/")
        return DONE
    results = []
    arguments = [word for word, wanted in (("--quick", quick), ("--large", large)) if wanted]
    if plot is not None:
        benchmarks.can_plot(name, plot)
        arguments += ["--plot", str(plot.resolve())]
    for each in here if name == "all" and here else [name]:
        if not as_json:
            typer.secho(f"{each}", bold=True)
        results.append(benchmarks.run(each, arguments, quiet=as_json))
    if as_json:
        show_json(results)
    return DONE


@command
def info(target: Target, param: Params = None, as_json: Json = False) -> int:
    """Describe a scene: its tree, degrees of freedom, loops, forces, constraints, and which solvers can run it."""
    from unibody.cli import describe, inputs

    name, scene = inputs.scene_from(target, param or [])
    model, data = scene.model, describe.describe(scene.model)
    data["auto"] = describe.chosen(scene)
    if as_json:
        told = {"notes": scene.notes, "left_out": list(scene.left_out)}
        show_json({"scene": name, "duration": scene.duration, "dt": scene.dt, **told, **data})
        return DONE
    world = "planar world" if model.planar else "3D world"
    show_facts([
        ("scene", f"{name}, a {world}; {scene.duration:g} s in steps of {scene.dt:g} s"),
        ("bodies", f"{sum(b.kind == 'dynamic' for b in model.bodies)} that move freely, {model.total_mass:.6g} kg in all"),
        ("freedom", f"{model.nv} degrees in the tree; {len(model.loop_joints)} joints close loops, {len(model.constraints)} constraints"),
        ("gravity", f"({', '.join(f'{x:g}' for x in model.gravity)}) m/s²"),
        *([("notes", scene.notes)] if scene.notes else []),
    ])  # fmt: skip
    typer.echo("\n" + "\n".join(describe.tree_lines(model)))
    for title in ("loops", "forces", "constraints", "deformables", "attachments"):
        if data[title]:
            typer.secho(f"\n{title}", bold=True)
        for row in data[title]:
            if title == "loops":
                typer.echo(f"  {row['joint']}  {row['joint_type']}: {row['parent']} – {row['child']}")
            else:
                typer.echo(f"  {row['name']}  {row['type']}" + (f": {', '.join(row['on'])}" if row["on"] else ""))
    if scene.left_out:
        typer.secho("\nleft out", bold=True)
    for line in scene.left_out:
        typer.echo(f"  {line}")
    typer.secho("\nsolvers", bold=True)
    for solver, reasons in data["solvers"].items():
        if not reasons:
            typer.echo(f"  {solver}  can run it")
    for line in describe.refused(model):
        typer.echo(f"  cannot: {line}")
    typer.echo(f"  auto takes {data['auto']}")
    return DONE


@command
def doctor(
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Remove the compiled kernels and stop.")] = False,
    as_json: Json = False,
) -> int:
    """Check the installation: versions, cache of compiled kernels, extras, and the energy of a pendulum."""
    from unibody.cli import health

    if clear_cache:
        folder, removed = health.clear_cache()
        if as_json:
            show_json({"folder": str(folder), "removed_bytes": removed})
        else:
            typer.echo(f"removed {output.size(removed)} of compiled kernels from {folder}; the next run compiles anew")
        return DONE
    data = health.check_up()
    check = data["self_check"]
    if as_json:
        show_json(data)
        return DONE if check["passed"] else FAILED
    verdict = "passed" if check["passed"] else "FAILED"
    show_facts([
        *data["versions"].items(),
        ("platform", data["platform"] + ("" if data["jit"] else "; kernels run as plain Python (UNIBODY_JIT=0)")),
        ("cache", f"{data['cache']['folder']}, {output.size(data['cache']['bytes'])}"),
        ("made ready", _ready(check["kernel_seconds"], check["kernels"], check["from_cache"])),
        *[(f"extra {e}", f"no {', '.join(lost)}; pip install unibody[{e}]" if lost else "present") for e, lost in data["extras"].items()],
        ("self-check", f"{verdict}: the energy of a pendulum drifts by {output.short(check['energy_drift'])} m g l in 0.1 s"),
    ])  # fmt: skip
    return DONE if check["passed"] else FAILED


@contextlib.contextmanager
def _forgiven(failed: bool) -> Iterator[None]:
    """A failed run that cannot be drawn still gives its report and its recording; the reason is said."""
    try:
        yield
    except ModelError as error:
        if not failed:
            raise
        typer.echo(f"unibody: no picture: {error}", err=True)


def _ready(seconds: float, kernels: int, from_cache: bool) -> str:
    return f"{output.seconds(seconds)}, {kernels} kernels {'from the cache' if from_cache else 'compiled and cached for next time'}"


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(f"{x:g}" for x in default)
    return f"{default:.4g}" if isinstance(default, float) else str(default)


modules_of(__package__, sys.modules[__package__].__path__, "_command")
