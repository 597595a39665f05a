"""Each ticked cell of the capability matrix about deformables is a run, in every solver that says yes.

The referee is Runge and Kutta's rule of fourth order at two milliseconds on Newton's law of the vertices,

    m ẍ = m g − ∂E/∂x − γ ∂²E/∂x² v + f(x, v),      x = what holds them, where something does

with energies by their NumPy methods and no solver. A rule of first order may be as wrong as a motion that is π steps late, π h times the
largest speed on the way: what swings loses h ω² t / 2 of its amplitude by implicit Euler, at ω t up to 2 π here. And less than half of what
the row makes, so that one who ignores it is seen. Constraints and contacts are held to a hundredth of what their absence makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import REGISTRY, Barrier, RedMax

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import deformable_cells
from deformable_cells import TOP, Row
from make_capabilities import reasons_against

LENGTH, FINE = 0.12, 60
ROWS = {row.name: row for row in deformable_cells.ROWS}
RULES = {"barrier bdf2": Barrier(rule="bdf2"), "redmax implicit": RedMax(rule="implicit"), "redmax bdf2": RedMax(rule="bdf2")}
CHOICES = {name: (solver, 48) for name, solver in {**{name: cls() for name, cls in REGISTRY.items()}, **RULES}.items()}


def forces_of(model: ub.Model, bare: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """(n, 3) of all vertices at x, v; `bare`: gravity alone."""
    mass = np.concatenate([d.mass for d in model.deformables])
    gravity = np.asarray(model.gravity, float)
    elements = dict(model.forces)

    def pull(force: Any, at: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """On a point that a spring or a cable ties to TOP: k (L − L₀) + c L̇ towards it; a cable does not push."""
        way = TOP - at
        length = np.linalg.norm(way)
        n = way / length
        tension = force.stiffness * (length - force.rest_length) - force.damping * (n @ rate)
        slack = isinstance(force, ub.Cable) and (length <= force.rest_length or tension <= 0.0)
        return np.zeros(3) if slack else tension * n

    def forces(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = mass[:, None] * gravity
        if bare:
            return out
        for d in model.deformables:
            for part in d.stencils:
                for index, parameters in zip(part.index + d.first, part.parameters, strict=True):
                    load = part.energy.gradient(parameters, x[index])
                    if part.damping:
                        load = load + part.damping * (part.energy.hessian(parameters, x[index], False) @ v[index].ravel()).reshape(-1, 3)
                    np.add.at(out, index, -load)
        if "it" in elements:
            force = elements["it"]
            which, weights = (model.deformables[0].mesh.faces[0], np.full(3, 1 / 3)) if isinstance(force, ub.Cable) else ([0], [1.0])
            np.add.at(out, which, np.outer(weights, pull(force, weights @ x[which], weights @ v[which])))
        return out

    return forces


def refereed(model: ub.Model, bare: bool = False) -> tuple[np.ndarray, float]:
    """Where the vertices of `own` end, and the largest speed on the way."""
    x, v = (np.concatenate([getattr(d, name) for d in model.deformables]) for name in ("x0", "v0"))
    mass, forces, h = np.concatenate([d.mass for d in model.deformables]), forces_of(model, bare), LENGTH / FINE
    held = [a.vertices for a in model.attachments] + [p.vertices for p in model.prescribed if p.motion is None]
    still = np.concatenate([*held, np.zeros(0, np.int64)]).astype(np.int64)
    told = [(p.vertices, p.motion) for p in model.prescribed if p.motion is not None]

    def rates(t: float, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, v = x.copy(), v.copy()
        for index, motion in told:
            x[index], v[index] = motion(t), (motion(t + 1e-6) - motion(t - 1e-6)) / 2e-6
        a = forces(x, v) / mass[:, None]
        v[still] = a[still] = 0.0
        for index, motion in told:
            a[index] = (motion(t + 1e-3) - 2.0 * motion(t) + motion(t - 1e-3)) / 1e-6
        return v, a

    fastest = 0.0
    for k in range(FINE):
        t, fastest = k * h, max(fastest, float(np.linalg.norm(v, axis=1).max()))
        v1, a1 = rates(t, x, v)
        v2, a2 = rates(t + h / 2, x + h / 2 * v1, v + h / 2 * a1)
        v3, a3 = rates(t + h / 2, x + h / 2 * v2, v + h / 2 * a2)
        v4, a4 = rates(t + h, x + h * v3, v + h * a3)
        x, v = x + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        for index, motion in told:
            x[index] = motion(t + h)
    own = model.deformable("own").vertices
    return x[own], fastest


@cache
def reference(name: str) -> tuple[np.ndarray, float, np.ndarray]:
    """Where vertices end, the largest speed, and where they end without what the row is about."""
    row = ROWS[name]
    without = refereed(row.model(), bare=True)[0] if row.twin is None else refereed(row.twin())[0]
    return (*refereed(row.model()), without)


def choices(row: Row, able: bool) -> list[str]:
    return [name for name, (solver, _) in CHOICES.items() if able != bool(reasons_against(solver, row.model()))]


def recorded(model: ub.Model, choice: str) -> ub.Recording:
    solver, steps = CHOICES[choice]
    return ub.Simulation(model, solver, dt=LENGTH / steps).run(LENGTH)


MOVED = [(name, choice) for name, row in ROWS.items() if row.miss is None for choice in choices(row, True)]
HELD = [(name, choice) for name, row in ROWS.items() if row.miss is not None for choice in choices(row, True)]
REFUSED = [(name, choice) for name, row in ROWS.items() for choice in choices(row, False)]


@pytest.mark.filterwarnings("ignore::unibody.UnibodyWarning")  # what falls for ever is meant to
@pytest.mark.parametrize(("name", "choice"), MOVED)
def test_every_solver_that_says_yes_moves_matter_as_newton_does(name: str, choice: str) -> None:
    ends, speed, without = reference(name)
    made = recorded(ROWS[name].model(), choice).vertices("own")[-1]
    late, matters = np.pi * LENGTH / CHOICES[choice][1] * speed, float(np.abs(ends - without).max())
    assert np.abs(made - ends).max() < min(late, 0.5 * matters)


@pytest.mark.filterwarnings("ignore::unibody.UnibodyWarning")
@pytest.mark.parametrize(("name", "choice"), HELD)
def test_every_solver_that_says_yes_holds_what_is_asked_for(name: str, choice: str) -> None:
    row = ROWS[name]
    assert row.miss is not None and row.twin is not None
    lost = row.miss(recorded(row.twin(), choice))
    assert lost > 0.01
    assert row.miss(recorded(row.model(), choice)) < 0.01 * lost


@pytest.mark.parametrize(("name", "choice"), REFUSED)
def test_every_solver_that_says_no_refuses_it_by_name(name: str, choice: str) -> None:
    solver, _ = CHOICES[choice]
    with pytest.raises(ub.Unsupported, match=r"cannot honour '\w+.*': .*\. Solvers that can: \w"):
        solver.check(ROWS[name].model())
