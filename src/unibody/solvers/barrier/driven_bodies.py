"""Driven bodies and prescribed vertices go to the ends of their ways before a step is minimised.

First everything moves on with its velocity while driven bodies go where they should be: what they carry or push keeps its distance. If
something is in the way, they go nearly as far as they can, the others give way (a minimisation with driven bodies at rest), and so on.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.minimise import minimise
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.contact_potential import BarrierPotential
from unibody.solvers.barrier.incremental_potential import THERE, IncrementalPotential, Targets

TRIES = 200
NEARLY = 0.9
"""Of the way that is free, so that no barrier is left infinitely steep."""
STUCK, PATIENCE = 1e-6, 8
"""A part of the way that is no progress, and how often in a row it may be all there is."""


def blocked(problem: IncrementalPotential, barrier: BarrierPotential | None, x: np.ndarray) -> str:
    """Which driven body is held up, or which deformable with prescribed vertices, and by which other: the nearest of all."""
    system, bodies, targets = problem.system, problem.system.model.bodies, problem.targets.bodies
    contacts = barrier.contacts(x) if barrier is not None else None
    if not targets and (vertices := system.vertices) is not None:
        short = np.abs(problem.targets.vertices - vertices.of(x)[vertices.prescribed]).max(axis=1) >= THERE
        owners = system.rows + np.unique(vertices.owner[vertices.prescribed[short]])
        near = np.isin(contacts.pair, owners).any(axis=1) if contacts is not None else np.zeros(0, bool)
        late, what = ", ".join(f"'{system.name_of(i)}'" for i in owners), "something"
        if contacts is not None and near.any():
            a, b = contacts.pair[near][np.argmin(contacts.distance[near])]
            late, what = (f"'{system.name_of(i)}'" for i in ((a, b) if a in owners else (b, a)))
            what = "it" if a == b else what
        return f"prescribed vertices of {late} do not get to their places: {what} is in the way"
    driven = np.isin(contacts.pair, list(targets)).any(axis=1) if contacts is not None else np.zeros(0, bool)
    late = ", ".join(f"'{bodies[i].name}'" for i in targets if i < len(bodies))
    if contacts is None or not driven.any():
        return f"driven body {late} does not get to its place: something is in the way"
    a, b = contacts.pair[driven][np.argmin(contacts.distance[driven])]
    one, other = (a, b) if a in targets else (b, a)
    return f"driven body '{bodies[one].name}' does not get to its place: '{problem.system.name_of(other)}' is in the way"


def carried(problem: IncrementalPotential, barrier: BarrierPotential, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The way p, with moving bodies that touch a driven one, or touch what it pushes, taken along as if they were part of it."""
    system, targets = problem.system, problem.targets.bodies
    Q = system.bodies_of(x)
    pairs = [(int(a), int(b)) for a, b in barrier.contacts(x).pair]
    near: dict[int, set[int]] = {}
    for a, b in pairs:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    driver, front = {i: i for i in targets}, sorted(targets)
    while front:
        found = sorted(
            {(b, driver[a]) for a in front for b in near.get(a, ()) if b not in driver and b < system.rows and system.place[b] >= 0}
        )
        for b, i in found:
            driver.setdefault(b, i)
        front = sorted({b for b, _ in found})
    out = p.copy()
    for b, i in driver.items():
        if b != i:
            turn = np.linalg.solve(Q[i, 1:], targets[i][1:])  # rows are axes: a′ = a M
            moved = Q[b] @ turn
            moved[0] = targets[i][0] + (Q[b, 0] - Q[i, 0]) @ turn
            out[b] = moved - Q[b]
    return system.reduction.put(Q + out) - Q if len(system.reduction.equations) else out


def advance(
    problem: IncrementalPotential, barrier: BarrierPotential | None, x: np.ndarray, motion: np.ndarray, tolerance: float, iterations: int
) -> tuple[np.ndarray, int, str]:
    """From x, with the motion (of the unknowns, flat) expected of a step: coordinates with driven bodies and vertices at their targets, how
    many iterations it took, and why not ('' if it went well)."""
    system, targets, count = problem.system, problem.targets, 0
    if not targets:
        return x, 0, ""
    expected, stuck = motion, 0
    for _ in range(TRIES):
        p = problem.rest_of_way(x)
        system.put_unknown(expected, p)
        if len(system.reduction.equations):
            _put_on_joints(system, x, p)
        t = problem.reach(x, p)
        if t < 1.0 and count and barrier is not None and targets.bodies:  # what stands before a driven body may go along with it
            along = p.copy()
            system.bodies_of(along)[:] = carried(problem, barrier, x, system.bodies_of(p))
            if system.vertices is not None:
                system.vertices.placed(along)
            further = problem.reach(x, along)
            if further > t:
                t, p = further, along
        if t >= 1.0:
            x = x + p
            if problem.arrived(x):
                return x, count, ""
        stuck = stuck + 1 if t < STUCK else 0
        if stuck == PATIENCE:
            break
        x = x + NEARLY * min(t, 1.0) * p
        problem.targets = Targets()
        found = minimise(problem, x, tolerance, iterations)
        problem.targets = targets
        x, count = found.x, count + found.iterations
        expected = np.zeros_like(motion)
    return x, count, f"{blocked(problem, barrier, x)} and cannot give way"


def _put_on_joints(system: AffineSystem, x: np.ndarray, p: np.ndarray) -> None:
    """The way p from x turned, in place, into one that ends on the joints' equations."""
    Q, way = system.bodies_of(x), system.bodies_of(p)
    way[:] = system.reduction.put(Q + way) - Q
    if system.vertices is not None:
        system.vertices.placed(p)
