"""The work of what moves as it is told: kinematic bodies and prescribed vertices.

    P = Σ_k ∂P/∂x_k · ẋ_k  over the control points k whose motion is known,   + what joints transmit

∂P/∂x_k is what holds k against springs, matter, contacts and their friction, and against forces without an energy; attached vertices
count with the body that carries them. What linear equations of joints transmit to moving bodies is what is left of their gradient,
∂Ψ/∂x · ẋ: rows between bodies that all move do no work. Steps of implicit Euler book h P of their ends, so that energy and work balance
but for what the rule takes; BDF-2 books by the trapezoidal rule.
"""

from __future__ import annotations

import numpy as np

from unibody.model import Model
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import IncrementalPotential


def is_driven(model: Model) -> bool:
    """Whether anything moves as it is told."""
    return any(b.kind == "kinematic" for b in model.bodies) or any(p.motion is not None for p in model.prescribed)


def drive_power(
    system: AffineSystem, problem: IncrementalPotential, x: np.ndarray, speed: np.ndarray, lagged: np.ndarray, factor: float
) -> float:
    """P [W] at the end of a step, at all control points x with rates `speed`; `lagged` (bodies and links, 12): forces without an energy;
    the gradients of Ψ are `factor` times those of energies."""
    pulled = problem.forces(x, whole=True) / factor
    system.bodies_of(pulled)[:] -= lagged.reshape(-1, 4, 3)
    if (v := system.vertices) is not None:
        v.pulled(pulled)
    driven = list(problem.targets.bodies)
    power = float((system.bodies_of(pulled)[driven] * system.bodies_of(speed)[driven]).sum())
    if v is not None:
        power += float((v.of(pulled)[v.prescribed] * v.of(speed)[v.prescribed]).sum())
    if driven and len(system.reduction.equations):
        n = 12 * len(system.moving)
        power += float(problem.gradient(x)[:n] @ system.unknown(speed)[:n]) / factor
    return power
