"""`unibody check`: what is wrong with a scene, or soon will be, before the first step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unibody.cli.options import Dt, Json, Params, SolverOption, Target, command
from unibody.cli.output import DONE, FAILED, show_json, show_table

Assemble = Annotated[bool, typer.Option("--assemble", help="Show how a simulation would assemble the start: what moves, by how much.")]
Fixed = Annotated[list[str] | None, typer.Option("--fixed", metavar="NAME", help="With --assemble: keep a joint or body; may be repeated.")]
Saved = Annotated[Path | None, typer.Option("--out", metavar="FILE.json", help="With --assemble: save the scene with the assembled start.")]

COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW, "note": typer.colors.BLUE}


@command
def check(
    target: Target, solver: SolverOption = None, param: Params = None, dt: Dt = None, as_json: Json = False, assemble: Assemble = False,
    fixed: Fixed = None, out: Saved = None,
) -> int:  # fmt: skip
    """Explain before step one: loose parts, conflicting or redundant constraints, odd inertias, shapes inside each other, contact without
    forces, and the largest safe dt of every solver; with --assemble the consistent start nearest to the given one. Exit code 1 if there
    are errors, 0 if nothing is worse than a warning."""
    from unibody.checks import check as examine
    from unibody.checks.finding import LEVELS
    from unibody.cli import inputs, output
    from unibody.errors import ModelError

    if (fixed or out is not None) and not assemble:
        raise ModelError(f"check {'--fixed' if fixed else '--out'} belongs to --assemble; give that too")
    name, scene = inputs.scene_from(target, param or [])
    output.tell_left_out(scene.left_out)
    dt = scene.dt if dt is None else dt
    chosen = solver or scene.solver
    findings = examine(scene.model, dt, inputs.solver_for(scene, chosen, (), dt)[1] if chosen else None)
    start = _assembled(scene, fixed or [], out) if assemble else {}
    ok = findings.ok and "error" not in start
    if as_json:
        show_json({
            **({"assembly": start} if assemble else {}),
            "scene": name, "dt": dt, "ok": ok,
            "findings": [{"level": f.level, "code": f.code, "elements": f.elements, "message": f.message} for f in findings],
            "steps": [_step(s, dt) for s in findings.steps],
        })  # fmt: skip
        return DONE if ok else FAILED
    typer.echo(f"{name} at dt = {dt:g} s: {findings.count()}")
    for level in LEVELS:
        for finding in findings.of(level):
            typer.echo(f"{typer.style(level.ljust(8), fg=COLOURS[level])} {finding.message}")
    typer.echo()
    show_table(["solver", "largest safe dt", "set by"], [_row(s, dt) for s in findings.steps], left=3)
    if assemble:
        typer.echo()
        _show_assembly(start)
    return DONE if ok else FAILED


def _assembled(scene: Any, fixed: list[str], out: Path | None) -> dict[str, Any]:
    """What a simulation would make of the start; the scene with it saved, if asked for."""
    from dataclasses import asdict, replace

    from unibody.coordinates.assembly.assemble import Impossible, assemble
    from unibody.files.scene_json import save_json
    from unibody.files.started import described_at

    try:
        found = assemble(scene.model, fixed=fixed, follow=True)
    except Impossible as error:
        return {"outcome": "impossible", "error": f"{error}", "elements": list(error.elements)}
    facts = {
        "outcome": found.outcome, "violation": [asdict(v) for v in found.violation], "moved": [asdict(c) for c in found.moved],
        "notes": list(found.notes), "ambiguous": list(found.ambiguous), "q": found.state.q.tolist(), "v": found.state.v.tolist(),
    }  # fmt: skip
    if out is not None:
        facts["saved"] = str(save_json(replace(scene, model=described_at(scene.model, found.state)), out))
    return facts


def _show_assembly(start: dict[str, Any]) -> None:
    words = {"unchanged": "consistent, nothing moves", "converged": "assembled by the least change", "ambiguous": "ambiguous"}
    if "error" in start:
        typer.echo(f"start: impossible: {start['error']}")
        return
    typer.echo(f"start: {words[start['outcome']]}")
    if start["violation"]:
        rows = [[v["element"], f"{v['before']:.3g} {v['unit']}", f"{v['after']:.1e} {v['unit']}"] for v in start["violation"]]
        show_table(["violated", "before", "after"], rows, left=1)
    if start["moved"]:
        show_table(["joint", "changes by"], [[c["joint"], f"{c['by']:.4g} {c['unit']}"] for c in start["moved"]], left=1)
    for note in start["notes"]:
        typer.echo(note)
    if "saved" in start:
        typer.echo(f"saved {start['saved']}")


def _step(step: Any, dt: float) -> dict[str, Any]:
    limit = step.dt if step.dt == step.dt else None
    return {
        "solver": step.solver, "rule": step.rule, "largest_dt": limit, "unlimited": step.dt == float("inf"),
        "safe": limit is not None and step.allows(dt), "element": step.element or None, "rate": step.rate, "estimate": step.estimate,
        "remark": step.remark or None,
    }  # fmt: skip


def _row(step: Any, dt: float) -> list[str]:
    if step.remark or step.dt == float("inf"):
        return [step.name, "–", step.remark or "no limit near the start"]
    mark = "" if step.allows(dt) else "  ← below dt"
    return [step.name, f"{'about ' if step.estimate else ''}{step.dt:.3g} s", f"'{step.element}', {step.rate:.3g} rad/s{mark}"]
