"""What is told of a step of the barrier solver: the state at its end, memory, and the numbers and words of its report; or why it failed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.minimise import SHORT, Minimum
from unibody.model import State
from unibody.solvers.barrier.drive_work import drive_power
from unibody.solvers.barrier.incremental_potential import IncrementalPotential
from unibody.solvers.barrier.posed_step import PosedStep
from unibody.solvers.barrier.prediction import Prediction, StepBeginning
from unibody.solvers.barrier.system import BarrierSystem


@dataclass
class StepOutcome:
    """What a step gave, or why it failed."""

    state: State
    memory: np.ndarray
    iterations: int = 0
    residual: float = 0.0
    violation: float = 0.0
    distance: float = np.inf
    notes: tuple[str, ...] = ()
    failure: str | None = None
    element: str | None = None


def solved_step(
    system: BarrierSystem, begun: StepBeginning, memory: np.ndarray, rule: Prediction, posed: PosedStep, x: np.ndarray, found: Minimum,
    iterations: int,
) -> StepOutcome:  # fmt: skip
    """Of a step that ended at x, where Ψ has its minimum."""
    a, problem, h = system.affine, posed.problem, begun.h
    t, kept = begun.state.t + h, system.memory.view(memory)
    Q, v = a.bodies_of(x), rule.rate * a.unknown(x - rule.origin) + rule.later
    # Contacts: how many, how near, of which; what came nearer than its share of the reach has a shorter one, with the same κ.
    count, distance, near = 0, np.inf, np.zeros(a.touchables)
    if posed.barrier is not None and system.pressures is not None:
        contacts = posed.barrier.contacts(x)
        gaps = contacts.distance
        count, distance = len(gaps), float(gaps.min(initial=np.inf))
        near[contacts.pair.ravel()] = 1.0
        nearer = np.maximum(kept.nearer, system.pressures.nearest(contacts.pair, gaps))
        if (nearer > kept.nearer).any():
            kept.stiffer = system.pressures.carried(kept.stiffer, np.ones(len(nearer)), (h, kept.nearer), (h, nearer))
            kept.nearer = nearer
    # Forces of equations, ∂Ψ/∂x = β h² Cᵀ μ, and by how much these are open.
    multipliers, open_by = np.zeros(0), 0.0
    if system.reduction.equations:
        multipliers = -system.reduction.multipliers(problem.gradient(x)[: 12 * system.n]) / rule.factor
        open_by = float(np.abs(system.reduction.residual(Q)).max(initial=0.0))
    violation = max(open_by, *(potential.violation(Q.ravel()) for potential in problem.potentials))
    # Memory, with joint coordinates at the end and the work of what is driven.
    q_near = kept.joint_q
    fitted = system.view.turning.fitted(Q.ravel(), q_near) if system.view.turning.which.size else q_near
    history = a.unknown(rule.origin), begun.state.q, begun.state.v
    touched = np.concatenate([near[a.moving], near[a.rows :]])
    after = system.memory.after(
        memory, t, h, rule.rate, rule.factor, posed.powers, history, fitted, multipliers, (iterations, count, distance), touched,
        held_forces(system, problem, x, t, rule.factor),
    )  # fmt: skip
    if system.driven:
        speeds, book = rule.rate * (x - rule.origin), system.memory.view(after)
        seen = Q, a.bodies_of(speeds), book.joint_q, a.signals(t), begun.control
        power = drive_power(a, problem, x, speeds, system.lagged.without_energy(*seen), rule.factor)
        book.drive_work += h * (0.5 * (book.drive_power + power) if rule.second else power)
        book.drive_power = power
    # Words.
    why = (f"Newton's method {found.why}",) if found.why else ()
    solved = f"Newton's systems: {problem.factored} by factors, {problem.iterated} by conjugate gradients"
    notes = (f"{count} contacts, {iterations} iterations; {solved}", *why, *system.notes())
    return StepOutcome(State(t, a.unknown(x), v, "affine"), after, iterations, found.length, violation, distance, notes)


def held_forces(system: BarrierSystem, problem: IncrementalPotential, x: np.ndarray, t: float, factor: float) -> np.ndarray:
    """(held vertices, 3) with which what holds vertices acts on them at the end of a step [N]: first attached, then prescribed ones."""
    if (v := system.affine.vertices) is None:
        return np.zeros((0, 3))
    out = v.of(problem.forces(x)) / factor
    still = ~v.moves
    out[still] -= v.mass[still, None] * system.model.gravity
    out[still] += v.known_momenta(v.of(system.affine.known_accelerations(t)))[still]
    return out[v.held_vertices]


def failed_step(
    system: BarrierSystem, state: State, memory: np.ndarray, iterations: int, why: str, x: np.ndarray, problem: IncrementalPotential
) -> StepOutcome:
    """A step that failed near the body that the last gradient pulls hardest."""
    model, own, v = system.model, system.affine.own, system.affine.vertices
    every = problem.gradient(x)
    g, at_vertices = every[: 12 * system.n].reshape(-1, 12), np.abs(every[12 * system.n :])
    hardest = int(np.argmax(np.abs(g).max(axis=1))) if len(g) else -1
    if v is not None and at_vertices.max(initial=0.0) > np.abs(g).max(initial=0.0):
        element = model.deformables[int(v.owner[v.free[int(np.argmax(at_vertices)) // 3]])].name
    elif hardest < 0:
        told = v is not None and len(v.prescribed) > 0
        element = model.deformables[int(v.owner[v.prescribed[0]])].name if told else "world"
    elif hardest < len(own):
        element = model.bodies[own[hardest]].name
    else:
        element = model.joints[system.affine.links[hardest - len(own)].joint].name
    return StepOutcome(state, memory, iterations, failure=why + "; try a smaller dt", element=element)


def held_up(system: BarrierSystem, posed: PosedStep, x: np.ndarray) -> str:
    """What is said of a minimisation that ended at x where little of its direction is free: how much, and between which bodies."""
    d = posed.problem.direction(x, False)
    if posed.barrier is None or not np.isfinite(d.p).all() or (t := posed.problem.reach(x, d.p)) >= SHORT:
        return ""
    if (pair := posed.barrier.first_hit(x, d.p)) is None:
        return ""
    one, other = (system.affine.name_of(i) for i in pair)
    return f", for collision detection allows {t:.2g} of its direction, between '{one}' and '{other}'"
