"""Each ticked cell of the capability matrix is a run: every solver that says yes moves the element as another solver does.

One reference for all: Dormand and Prince's adaptive rule in reduced coordinates for equations and smooth forces, else impulses at a step
a quarter as long. A rule of first order may be as wrong as a motion that is one step late, h times the largest speed, and not more; and
less than half of what the element makes, so that one who ignores it is seen. Reactions and multipliers are of first order too.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from capability_cells import CHOICES, JOINTS, LENGTH, PLANE_ONLY, cells, refusals

import unibody as ub
from unibody.solvers import Articulated, Complementarity, Solver

POINT = (0.3, -0.2, 0.1)
"""Of every body: off its axes, so that turns count."""
WEIGHT = 15.0
"""[N] What reactions are measured by where they are small: about that of one body."""


class End(NamedTuple):
    """Where bodies are and how fast, and what the element carries."""

    places: np.ndarray
    speed: float
    carried: np.ndarray


def end_of(model: ub.Model, solver: Solver, steps: int, own: str | None = None, joint: bool = False) -> End:
    run = ub.Simulation(model, solver, dt=LENGTH / steps).run(LENGTH, every=steps)
    places = np.array([run.point(b.name, POINT)[-1] for b in model.bodies[1:]])
    speed = max(float(np.linalg.norm(run.twist(b.name)[-1])) for b in model.bodies[1:])
    carried = np.zeros(0) if own is None else run.reaction(own)[-1] if joint else run.multiplier(own)[-1]
    return End(places, speed, carried)


def referee(smooth: bool) -> tuple[Solver, int]:
    return (Articulated(rule="dopri5", rtol=1e-9, atol=1e-11), 2) if smooth else (Complementarity(), 240)


@cache
def reference(name: str) -> End:
    cell = cells()[name]
    return end_of(cell.model(), *referee(cell.smooth), cell.own, name.startswith("joint"))


@cache
def without(name: str) -> np.ndarray:
    cell = cells()[name]
    return end_of(cell.twin(), *referee(cell.smooth)).places


def run_cells() -> list[Any]:
    out = []
    for name, cell in cells().items():
        planar = cell.model().planar
        for choice, (solver, _) in CHOICES.items():
            if (choice not in PLANE_ONLY or planar) and not refusals(solver, cell.model()):
                out.append(pytest.param(name, choice, id=f"{name}, {choice}"))
    return out


@pytest.mark.parametrize(("name", "choice"), run_cells())
def test_every_solver_that_says_yes_moves_the_element_alike(name: str, choice: str) -> None:
    cell, (solver, steps) = cells()[name], CHOICES[choice]
    expected = reference(name)
    late = LENGTH / steps * expected.speed
    matters = float(abs(expected.places - without(name)).max())
    made = end_of(cell.model(), solver, steps, cell.own, name.startswith("joint"))
    assert abs(made.places - expected.places).max() < min(late, 0.5 * matters)
    if cell.own is not None and (cell.smooth or choice not in ("barrier", "redmax bdf2")):  # which still swing before a bound
        size = max(WEIGHT if name.startswith("joint") else 1.0, float(abs(expected.carried).max(initial=0.0)))
        assert abs(made.carried - expected.carried).max(initial=0.0) < 0.15 * size


def make_capabilities() -> Any:
    path = Path(__file__).parents[2] / "tools" / "make_capabilities.py"
    spec = importlib.util.spec_from_file_location("make_capabilities", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_row_of_the_matrix_has_a_cell() -> None:
    """Contact and shapes: `test_contact_cells`."""
    tool = make_capabilities()
    named = set(cells())
    for kind, room, base in tool.KINDS:
        for name in tool.classes(room, base):
            if kind == "Joints":
                assert {f"joint {name} in a tree", f"joint {name} closing a loop"} <= named
                flat = tool.answer("articulated", kind, JOINTS[name], planar=True) == "yes"
                assert (f"joint {name} in a planar world" in named) == flat
            elif kind in ("Forces", "Constraints") and name != "Contact":
                assert f"{kind[:-1].lower()} {name}" in named


def refused_cells() -> list[Any]:
    out = []
    for name, cell in cells().items():
        for choice, (solver, _) in CHOICES.items():
            if refusals(solver, cell.model()):
                out.append(pytest.param(name, choice, id=f"{name}, {choice}"))
    return out


@pytest.mark.parametrize(("name", "choice"), refused_cells())
def test_every_solver_that_says_no_refuses_the_element_by_name(name: str, choice: str) -> None:
    cell, (solver, _) = cells()[name], CHOICES[choice]
    with pytest.raises(ub.Unsupported, match=r"cannot honour 'own': .*\. Solvers that can: \w") as refused:
        ub.Simulation(cell.model(), solver, dt=1e-3)
    able = str(refused.value).rsplit("Solvers that can: ", 1)[1].split(", ")
    for other in able:
        assert not refusals(CHOICES[other][0], cell.model())
