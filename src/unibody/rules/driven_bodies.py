"""Driven bodies go to the ends of their ways before a step is minimised.

First everything moves on with its velocity while driven bodies go where they should be: what they carry or push keeps its distance. If
something is in the way, they go nearly as far as they can, the others give way (a minimisation with driven bodies at rest), and so on.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.minimise import minimise
from unibody.rules.incremental import Step

TRIES = 200
NEARLY = 0.9
"""Of the way that is free, so that no barrier is left infinitely steep."""


def advance(problem: Step, x: np.ndarray, motion: np.ndarray, tolerance: float, iterations: int) -> tuple[np.ndarray, int, str]:
    """From x, with the motion (moving bodies, 4, 3) expected of a step: coordinates with driven bodies at their targets, how many
    iterations it took, and why not ('' if it went well)."""
    system, targets, count = problem.system, problem.targets, 0
    if not targets:
        return x, 0, ""
    expected = motion
    for _ in range(TRIES):
        Q = x.reshape(-1, 4, 3)
        p = np.zeros_like(Q)
        for i, target in targets.items():
            p[i] = target - Q[i]
        p[system.moving] = expected
        if len(system.reduction.equations):
            p = system.reduction.put(Q + p) - Q
        t = problem.reach(x, p.reshape(-1))
        if t >= 1.0:
            x = (Q + p).reshape(-1)
            if problem.arrived(x):
                return x, count, ""
        x = x + NEARLY * min(t, 1.0) * p.reshape(-1)
        problem.targets = {}
        found = minimise(problem, x, tolerance, iterations)
        problem.targets = targets
        x, count = found.x, count + found.iterations
        expected = np.zeros_like(motion)
    names = ", ".join(f"'{system.model.bodies[i].name}'" for i in targets)
    return x, count, f"driven body {names} does not get to its place; something that cannot give way is in between"
