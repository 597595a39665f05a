"""All checks of a model, in order, as one list.

The start is examined first; rows are then closed as well as they can be, and the linear motion is that of the closed configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unibody.checks.closing import closing_findings
from unibody.checks.connections import connection_findings
from unibody.checks.contact_forces import contact_force_findings
from unibody.checks.finding import Finding, Findings, SafeStep
from unibody.checks.inertias import inertia_findings
from unibody.checks.overlaps import overlap_findings
from unibody.checks.safe_steps import safe_steps
from unibody.constraints.contact import Contact
from unibody.coordinates.assembly.outcome import quoted
from unibody.coordinates.instant import Instant
from unibody.element import step_length
from unibody.errors import ModelError, Unsupported
from unibody.model import Model
from unibody.model.deformable_editing import bodies_alone
from unibody.model.model import look_up
from unibody.simulation.consistent import begin
from unibody.solvers import REGISTRY, Solver


def check(model: Model, dt: float | None = None, solver: str | Solver | None = None) -> Findings:
    """What is wrong with a model, or soon will be; with `dt` [s] also which solvers would be unstable, an error for the `solver` given.

    >>> import unibody as ub
    >>> b = ub.Builder()
    >>> bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    >>> _ = b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), b.world, bob, stiffness=1e4)
    >>> round(check(b.build()).safe_step("articulated", "semi-implicit").dt, 6)
    0.02
    """
    if not isinstance(model, Model):
        raise ModelError(f"check: {model!r} is not a Model; call Builder.build() first")
    step = None if dt is None else step_length(dt, "check dt")
    chosen = _chosen(solver)
    here = Instant(bodies_alone(model))
    findings = [*connection_findings(here), *inertia_findings(here), *overlap_findings(here), *contact_force_findings(here)]
    findings += closing_findings(here, chosen)
    steps = list(safe_steps(here, getattr(chosen, "explicit", ()), model))
    refused = [*_refusals(chosen, model), *_refused_start(chosen, model)]
    return Findings([*findings, *_left_out(model), *_step_findings(steps, step, chosen), *refused], steps)


def _left_out(model: Model) -> Iterator[Finding]:
    """That deformables were not looked at."""
    if model.deformables:
        names = tuple(d.name for d in model.deformables)
        said = "what is said here of masses, connections and safe steps is about the bodies alone, without these and what acts on them"
        yield Finding("note", "deformables", names, f"{quoted(names)}: {said}")


def _chosen(solver: Any) -> Solver | None:
    if solver is None or isinstance(solver, Solver):
        return solver
    return look_up(solver, REGISTRY, "solver")()


def _step_findings(steps: list[SafeStep], dt: float | None, chosen: Solver | None) -> Iterator[Finding]:
    if dt is None:
        return
    unstable = [s for s in steps if not np.isnan(s.dt) and not s.allows(dt)]
    for s in unstable:
        mine = chosen is not None and s.solver == chosen.name and s.rule == getattr(chosen, "rule", None)
        if chosen is not None and not mine:
            continue
        about = "about " if s.estimate else ""
        remedies = [f"dt ≤ {s.dt:.2g} s", *(f"solver '{o.name}'" for o in steps if o.allows(dt) and not np.isnan(o.dt))]
        yield Finding(
            "error" if mine else "warning", "unstable step", (s.element,),
            f"'{s.name}' is unstable at dt = {dt:g} s: its largest safe step is {about}{s.dt:.3g} s, by '{s.element}' ({s.rate:.3g} rad/s);"
            f" use {' or '.join(remedies[:3])}",
        )  # fmt: skip


def _refusals(chosen: Solver | None, model: Model) -> Iterator[Finding]:
    """A solver that was asked for and cannot run the model."""
    if chosen is None:
        return
    try:
        chosen.check(model)
    except Unsupported as error:
        yield Finding("error", "solver cannot", (), f"{error}")


def _refused_start(chosen: Solver | None, model: Model) -> Iterator[Finding]:
    """Where surfaces must not touch, and deformables must not be inside out: what the solver that knows them says of the start, assembled
    as simulations do."""
    asked = model.deformables or any(isinstance(c, Contact) for _, c in model.constraints)
    if not asked or (chosen is not None and chosen.name != "barrier"):
        return
    try:
        begin((chosen or look_up("barrier", REGISTRY, "solver")()).bind(model), None)
    except Unsupported:
        return
    except ModelError as error:
        known = [*(b.name for b in model.bodies), *(j.name for j in model.joints), *(d.name for d in model.deformables)]
        named = tuple(dict.fromkeys(name for name in known if f"'{name}'" in str(error)))
        yield Finding("error", "start refused", named, f"{error}")
