"""One step of the barrier solver (paper 003):  x⁺ = argmin Ψ(x) = ½ |x − x̃|²_M + β h² Σᵢ Pᵢ(x)

    1   x̃, β and ∂v/∂x of the time rule (`prediction`)                Eq. 2 (implicit Euler), Eq. 3 (BDF-2)
    2   κ of barriers, for the speeds at the beginning                  `contact_stiffness`, `measured_elements`
    3   Ψ: the list of potentials of the step                           Eq. 1 (`posed_step`)
    4   driven bodies go to the ends of their ways                      `driven_bodies`
    5   friction from the contacts at x; a start along the motion       `start_iterate`
        repeat: x ← argmin Ψ, friction anew                             projected Newton, line search filtered by collision detection (§6)
    6   v = ∂v/∂x (x⁺ − x₀), memory, and what is told of the step       Eq. 2–3 (`outcome`)
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.minimise import Minimum, minimise
from unibody.model import State
from unibody.solvers.barrier.contact_potential import as_if_resting
from unibody.solvers.barrier.contact_stiffness import ContactParameters
from unibody.solvers.barrier.driven_bodies import advance
from unibody.solvers.barrier.outcome import StepOutcome, failed_step, held_up, solved_step
from unibody.solvers.barrier.posed_step import PosedStep, pose
from unibody.solvers.barrier.prediction import StepBeginning
from unibody.solvers.barrier.start_iterate import Motion, carried_on, start_iterate, steady
from unibody.solvers.barrier.system import BarrierSystem

FIRST_ROUNDS = 5
"""Renewals of friction in a first step, where forces at its beginning may be those of bodies put too near to each other."""
MOST_ROUNDS = 100
"""Renewals of friction where they go on until nothing changes."""
STILL = 1e3
"""Tolerances below which speeds are no motion to be followed."""
SLOW = 0.01
"""Of the reach: ways in a step of bodies that nearly rest."""


def take_step(system: BarrierSystem, state: State, memory: np.ndarray, control: np.ndarray, h: float) -> StepOutcome:
    """One step of length h, as above."""
    begun = system.beginning(state, memory, control, h)
    # 1: x̃, β and ∂v/∂x (Eq. 2–3)
    rule = system.rule.predict(begun, system.memory.view(memory).joint_q)
    # 2: κ for the speeds at the beginning
    balanced = system.law(begun.last.length, memory) if system.pressures is not None and begun.last.made else None
    memory = stiffened(system, begun, memory)
    # 3: Ψ (Eq. 1)
    posed = pose(system, begun, memory, rule)
    # 4: driven bodies go to the ends of their ways, the others with their velocities or out of the way
    problem, tolerance, most = posed.problem, system.tolerance, system.options.iterations
    x, iterations, failure = advance(problem, posed.barrier, begun.x.copy(), h * state.v, tolerance, most)
    if failure:
        return failed_step(system, state, memory, iterations, failure, x, problem)
    # 5: argmin Ψ, with friction from the contacts of the last round
    x, found, more = minimised(system, begun, posed, x, balanced if iterations == 0 else None)
    iterations += more
    #    and again with stiffer bodies, where they are strained beyond the goal
    kept = system.memory.view(memory)
    while found.converged and (doubled := system.strained(kept.stiffer_bodies, x)) is not None:
        kept.stiffer_bodies = doubled
        posed.bodies.stiffness = system.stiffness.of(h, doubled)
        found = minimise(problem, x, tolerance, most, problem.arrived)
        x, iterations = found.x, iterations + found.iterations
    if not found.converged:
        return failed_step(system, state, memory, iterations, found.why + held_up(system, posed, found.x), found.x, problem)
    # 6: v = ∂v/∂x (x⁺ − x₀), memory and what is told
    return solved_step(system, begun, memory, rule, posed, problem.polished(x, found.value), found, iterations)


def stiffened(system: BarrierSystem, begun: StepBeginning, memory: np.ndarray) -> np.ndarray:
    """Memory with κ for a step from its beginning."""
    out, last, h = memory.copy(), begun.last, begun.h
    kept = system.memory.view(out)
    if system.pressures is not None:
        if last.made and last.length != h:
            before, now = (last.length, kept.nearer), (h, kept.nearer)
            kept.stiffer = system.pressures.carried(kept.stiffer, kept.touching, before, now)
        if last.made and system.pressures.deep(kept.least_distance):
            contacts = system.contacts(begun.x, system.law(h, memory))
            kept.stiffer = system.pressures.deepened(kept.stiffer, kept.nearer, contacts, h, begun.speed)
        kept.stiffer = system.pressures.raised(kept.stiffer, kept.nearer, kept.touching, h, begun.speed)
    if last.made and last.length != h:
        kept.stiffer_bodies = system.stiffness.carried(kept.stiffer_bodies, last.length, h)
    kept.stiffer_ranges = system.measured.raised(kept.stiffer_ranges, system.scales(h), begun.Q, begun.V)
    return out


def minimised(
    system: BarrierSystem, begun: StepBeginning, posed: PosedStep, x: np.ndarray, balanced: ContactParameters | None
) -> tuple[np.ndarray, Minimum, int]:
    """argmin Ψ from x, friction renewed so often as asked for or until it changes no more; x, the last minimum, and iterations. `balanced`:
    the law that the contacts at x obey, if another."""
    problem, asked, total, scale, rubs = posed.problem, system.options.friction_iterations, 0, 0.0, False
    rounds = MOST_ROUNDS if asked == 0 else asked if begun.last.made else max(asked, FIRST_ROUNDS)
    # A motion that may lead nearer, of a scene that nearly rests.
    guess = onwards(system, begun) if not problem.targets else None
    for k in range(rounds):
        # Friction from the contacts at x.
        rubbed, rubs = rubs, False
        if posed.friction is not None and posed.barrier is not None:
            contacts = posed.barrier.contacts(x)
            if k == 0 and not begun.last.made:
                contacts = as_if_resting(contacts, posed.barrier.reach)
            rubs = posed.friction.renew(contacts, x, None if k else balanced)
        if k and not (rubs or rubbed):  # what no longer rubs must be free of it, too
            break
        # A start along the motion, after friction, whose normal forces are those of the beginning.
        if k == 0 and not problem.targets:
            scale = abs(problem.value(x))
            if guess is None:
                x = start_iterate(problem, x, motions(system, begun, x), STILL * system.tolerance * begun.h)
            elif problem.reach(x, guess) >= 1.0 and problem.value(x + guess) < problem.value(x):
                x = x + guess
        # x ← argmin Ψ
        found = minimise(problem, x, system.tolerance, system.options.iterations, problem.arrived, scale)
        total += found.iterations
        moved, x = np.abs(found.x - x).max() * problem.rate, found.x
        if not found.converged or (k and moved < system.tolerance):
            break
    return x, found, total


def motions(system: BarrierSystem, begun: StepBeginning, x: np.ndarray) -> list[Motion]:
    """How unknowns at x may go on with the velocities of the beginning: as the last step went, or steadily."""
    m, own, v, last, h = 12 * system.n, system.affine.unknown(x), begun.state.v, begun.last, begun.h
    Q, V, before, rates = (some[:m].reshape(-1, 4, 3) for some in (own, v, last.Q, last.V))
    out = [carried_on(before, rates, Q, V, h)] if last.made and last.length == h else []
    out.append(steady(Q, V, h))
    if system.affine.vertices is None:
        return out
    ways = [own[m:] - last.Q[m:] + h * (v[m:] - last.V[m:])] if len(out) > 1 else []
    return [(*motion, way.reshape(-1, 3)) for motion, way in zip(out, [*ways, h * v[m:]], strict=True)]


def onwards(system: BarrierSystem, begun: StepBeginning) -> np.ndarray | None:
    """The way on (of all control points, flat) of a scene that nearly rests, so that what creeps creeps on; None of others."""
    if system.pressures is None or not system.friction.any():
        return None
    out = np.zeros_like(begun.x)
    system.affine.put_unknown(begun.h * begun.state.v, out)
    slow = system.affine.motions(out)[:, 1].max(initial=0.0) < SLOW * system.pressures.reach
    return out if slow else None
