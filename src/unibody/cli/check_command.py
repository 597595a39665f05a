"""`unibody check`: what is wrong with a scene, or soon will be, before the first step."""

from __future__ import annotations

from typing import Any

import typer

from unibody.cli.options import Dt, Json, Params, SolverOption, Target, command
from unibody.cli.output import DONE, FAILED, show_json, show_table

COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW, "note": typer.colors.BLUE}


@command
def check(target: Target, solver: SolverOption = None, param: Params = None, dt: Dt = None, as_json: Json = False) -> int:
    """Explain before step one: loose parts, conflicting or redundant constraints, odd inertias, shapes inside each other, contact without
    forces, and the largest safe dt of every solver. Exit code 1 if there are errors, 0 if nothing is worse than a warning."""
    from unibody.checks import check as examine
    from unibody.checks.finding import LEVELS
    from unibody.cli import inputs, output

    name, scene = inputs.scene_from(target, param or [])
    output.tell_left_out(scene.left_out)
    dt = scene.dt if dt is None else dt
    chosen = solver or scene.solver
    findings = examine(scene.model, dt, inputs.solver_from(chosen) if chosen else None)
    if as_json:
        show_json({
            "scene": name, "dt": dt, "ok": findings.ok,
            "findings": [{"level": f.level, "code": f.code, "elements": f.elements, "message": f.message} for f in findings],
            "steps": [_step(s, dt) for s in findings.steps],
        })  # fmt: skip
        return DONE if findings.ok else FAILED
    typer.echo(f"{name} at dt = {dt:g} s: {findings.count()}")
    for level in LEVELS:
        for finding in findings.of(level):
            typer.echo(f"{typer.style(level.ljust(8), fg=COLOURS[level])} {finding.message}")
    typer.echo()
    show_table(["solver", "largest safe dt", "set by"], [_row(s, dt) for s in findings.steps], left=3)
    return DONE if findings.ok else FAILED


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
