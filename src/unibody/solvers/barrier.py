"""Barrier: affine bodies that never intersect, in a minimisation per step (paper 003).

    x⁺ = argmin ½ |x − x̃|²_M + β h² ΣP(x)        (Eq. 1–3: implicit Euler, BDF2)

Bodies are nearly rigid (stiffness `modulus`), joints linear equations held exactly by change of variables, what is not linear a stiff
potential, limits and contact barriers. The line search is filtered by continuous collision detection, so every accepted state is free of
intersections.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.coordinates.observed import Observation
from unibody.element import number
from unibody.errors import ModelError, StepFailed
from unibody.model import Model, State
from unibody.rules.barrier_steps import RULES, BarrierSystem
from unibody.solvers.base import Bound, Solver, Step
from unibody.solvers.report import Report


@dataclass(frozen=True)
class Barrier(Solver):
    """Options: `rule`; `tolerance` [m/s] at which Newton's method ends; `iterations` it may take; `friction_iterations`, how often normal
    forces and directions of friction are renewed within a step (0: until they change no more); `modulus` Y [Pa] of bodies; `slip_speed`
    [m/s] below which friction creeps; `stiffness` of what is held by stiff potentials, in units of mass / step²."""

    rule: str = "implicit"
    tolerance: float = 1e-5
    iterations: int = 200
    friction_iterations: int = 1
    modulus: float = 1e9
    slip_speed: float = 1e-3
    stiffness: float = 1e6

    name = "barrier"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ModelError(f"Barrier: rule {self.rule!r} is unknown; give one of {', '.join(RULES)}")
        for field in ("tolerance", "modulus", "slip_speed", "stiffness"):
            number(getattr(self, field), f"Barrier {field}", positive=True)
        number(self.iterations, "Barrier iterations", minimum=1)
        number(self.friction_iterations, "Barrier friction_iterations", minimum=0)

    def handles(self, element: Any, model: Model) -> str | None:
        armed = any(j.element is element and j.armature.any() for j in model.joints)
        return "armature has no place in affine coordinates yet" if armed else None

    def bind(self, model: Model) -> BarrierBound:
        self.check(model)
        system = BarrierSystem(model, self)
        return BarrierBound(model, self, "affine", system, 12 * system.n, 12 * system.n, None)


@dataclass
class BarrierBound(Bound):
    """A barrier solver bound to a model; memory as `BarrierSystem` describes it."""

    @property
    def memory_size(self) -> int:
        return self.system.memory_size

    def start(self, state: State | None = None) -> tuple[State, np.ndarray]:
        Q, V, t = self.system.begin(state)
        return State(t, Q, V, "affine"), self.system.fresh_memory(t)

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        made = self.system.step(state, memory, control, dt)
        if made.failure is not None:
            report = Report(status="not converged", time=state.t, element=made.element, iterations=made.iterations, notes=made.notes)
            why = f"step at t = {state.t:.6g} s failed near '{made.element}': {made.failure}"
            raise StepFailed(why, time=state.t, element=made.element, report=report)
        report = Report(
            status="ok", time=made.state.t, iterations=made.iterations, residual=made.residual, violation=made.violation,
            minimum_distance=made.distance, redundant=len(self.system.reduction.redundant),
            redundant_names=tuple(self.system.reduction.redundant), notes=made.notes, seconds=time.perf_counter() - began,
        )  # fmt: skip
        return Step(made.state, made.memory, report)

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        return self.system.observe(state, memory, control)
