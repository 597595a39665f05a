"""A simulation begins at a consistent start: rows and drives that a start violates are met by the least change, and it is said.

A start that meets its rows keeps every bit. States that solvers made meet them as well as their solver holds them, which is why a given
state is judged less strictly than a model's start, and where joints give way ('penalty', 'barrier') a state in the solver's own
coordinates is kept as it is: the stretch of its joints carries its loads. Of velocities, joints at rest follow those that move wherever
rows allow it: a mechanism of which only the crank's speed was given turns at that speed. Velocities against a limit that is met are an
impact, which is the solver's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.coordinates.assembly.assemble import CLOSED, SETTLED, Assembler, Assembly, Impossible, instant_at
from unibody.coordinates.carried_vertices import carried_vertices
from unibody.errors import ModelError
from unibody.model import Model, State
from unibody.solvers import Bound

HELD, PASSED = 1e-6, 1e-3
"""Relative violations of given states that are left to the solver: of positions and velocities, and of limits, which steps may pass by a
little before they hold."""
BARRIER = 0.01
"""Reach of a barrier before a bound, relative, unless the element says it: where a start beyond the bound is put."""
MOST = 3
"""Elements and joints that a note names."""


@np.errstate(over="ignore", invalid="ignore")  # rows that no float holds are not closed, and it is said
def begin(bound: Bound, state: State | None, assemble: bool = True) -> tuple[State, np.ndarray, tuple[str, ...]]:
    """A bound solver at a state, or at its model's start, that meets its rows: state, fresh memory, and what is to be said of it. All that
    runs models begins here. `assemble=False`: as it is given."""
    with bound.turn:
        made, lines = consistent(bound, state) if assemble else (state, ())
        begun = bound.start(made)
        if bound.model.deformables and (made is None or made.coordinates != "affine"):
            lines = (*lines, *carried_vertices(bound.model, made)[2])
        return *begun, lines


def consistent(bound: Bound, state: State | None) -> tuple[State | None, tuple[str, ...]]:
    """The state to start from, the given one wherever it can be, and what is to be said of it."""
    model, name = bound.model, bound.solver.name
    own = state is not None and state.coordinates != "reduced"
    if (own and bound.solver.gives_way) or not (own or has_rows(model)) or model.vertex_points:  # rows may hold points of deformables
        return state, ()
    try:
        # kept by the bound solver, whose arrays one thread uses at a time, too
        here, gaps = instant_at(model, state, bound.__dict__.get("_start_instant"))
        bound.__dict__["_start_instant"] = here
        assembler = Assembler(here, gaps)
        loose = (CLOSED, SETTLED, CLOSED) if state is None else (HELD, HELD, PASSED)
        known = np.isfinite(assembler.C0).all() and np.isfinite(assembler.rates0).all()
        if not known or not assembler.violated(*loose):
            return state, ()
        if name == "barrier":
            assembler.leave_room(BARRIER)
        made = assembler.run(impacts=True, follow=True)
    except Impossible as error:
        if bound.solver.compromises or not error.certain:
            return state, (f"start: {error}; it is kept, and '{name}' pulls it together as well as it can",)
        raise ModelError(f"{error}, or Simulation(…, assemble=False), which starts as it is") from None
    except ModelError:  # of an element's own code, or a state of another model: the solver says so
        return state, ()
    return made.state, tuple(said(made, model))


def has_rows(model: Model) -> bool:
    """Whether anything in a model can be violated in reduced coordinates."""
    return bool(model.loop_joints) or any(not getattr(c, "surfaces", False) for _, c in model.constraints)


def said(made: Assembly, model: Model) -> list[str]:
    """Lines about an assembled start."""
    joints = {j.name for j in model.joints}

    def some(items: list[str]) -> str:
        return ", ".join(items[:MOST]) + (f" and {len(items) - MOST} more" if len(items) > MOST else "")

    kind = {v.element: "joint " if v.element in joints else "" for v in made.violation}
    off = some([f"{kind[v.element]}'{v.element}' was violated by {_number(v.before)} {v.unit}" for v in made.violation])
    by = some([f"{'velocity of ' if c.unit.endswith('/s') else ''}'{c.joint}' by {_number(c.by)} {c.unit}" for c in made.moved])
    return [f"start: {off}; changed {by or 'nothing'} (assemble=False keeps it)", *(f"start: {note}" for note in made.notes)]


def _number(x: Any) -> str:
    return f"{float(x):.2g}"
