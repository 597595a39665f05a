"""Barrier: affine bodies that never intersect, in a minimisation per step (paper 003).

    x⁺ = argmin ½ |x − x̃|²_M + β h² ΣP(x)        (Eq. 1–3: implicit Euler, BDF2)

Bodies are nearly rigid (stiffness `modulus`), joints linear equations held exactly by change of variables, what is not linear a stiff
potential, limits and contact barriers. The line search is filtered by continuous collision detection, so every accepted state is free of
intersections.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.coordinates.energy_balance import EnergyBalance
from unibody.coordinates.observation import Observation
from unibody.element import is_word, number
from unibody.errors import ModelError, StepFailed
from unibody.forces.base import Force
from unibody.forces.pulley_cable import PulleyCable
from unibody.joints.base import Joint
from unibody.memory import MemorySchema
from unibody.model import Model, State
from unibody.model.deformable import DeformableInfo
from unibody.shapes import Shape
from unibody.solvers.barrier.body_laws import body_laws
from unibody.solvers.base import Bound, Solver, Step, refuse_reaction
from unibody.solvers.report import Report
from unibody.spatial.pose import rotation_from_quaternion

RULES = ("implicit", "bdf2")
LINEAR = ("auto", "direct", "pcg")


@dataclass(frozen=True)
class Barrier(Solver):
    """Options: `rule`; `tolerance` [m/s] at which Newton's method ends; `iterations` it may take; `friction_iterations`, how often normal
    forces and directions of friction are renewed within a step (0: until they change no more); `modulus` Y [Pa] of bodies ("auto":
    so stiff that they are strained by less than 1e-4); `slip_speed` [m/s] below which friction is smooth (at rest a ten-thousandth of it);
    `stiffness` of what is held by stiff potentials, in units of mass / step²; `linear`, how Newton's systems are solved: "direct" by sparse
    Cholesky factors, "pcg" by conjugate gradients, "auto" by what counts less work; `segments` around a circle of round shapes, which touch
    as polyhedra: a disc of 16 lies on its sides, one of 128 rolls."""

    rule: str = "implicit"
    tolerance: float = 1e-5
    iterations: int = 200
    friction_iterations: int = 1
    modulus: float | str = "auto"
    slip_speed: float = 1e-3
    stiffness: float = 1e4
    linear: str = "auto"
    segments: int = 16

    name = "barrier"
    rank = 6
    forces = "implicit"
    gives_way = True
    start_deeds = ("soon", "pulls elements", "refuses")
    last_resort = True
    deformables = True

    def __post_init__(self) -> None:
        if not is_word(self.rule, RULES):
            raise ModelError(f"Barrier: rule {self.rule!r} is unknown; give one of {', '.join(RULES)}")
        if isinstance(self.modulus, str) and self.modulus != "auto":
            raise ModelError(f"Barrier: modulus {self.modulus!r} is no number in Pa; give one, or give one of auto")
        if not is_word(self.linear, LINEAR):
            raise ModelError(f"Barrier: linear {self.linear!r} is unknown; give one of {', '.join(LINEAR)}")
        for field in ("tolerance", "modulus", "slip_speed", "stiffness"):
            if not isinstance(getattr(self, field), str):
                number(getattr(self, field), f"Barrier {field}", positive=True)
        number(self.iterations, "Barrier iterations", minimum=1)
        number(self.friction_iterations, "Barrier friction_iterations", minimum=0)
        if isinstance(self.segments, bool) or number(self.segments, "Barrier segments", minimum=3) != int(self.segments):
            raise ModelError(f"Barrier: segments {self.segments!r} is not whole; give 3, 4, 5 …")

    def handles(self, element: Any, model: Model) -> str | None:
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if isinstance(element, Contact) and element.restitution > 0.0:
            return "restitution of a Contact is no barrier's; give damping (unibody.contact_for_restitution)"
        if isinstance(element, Contact) and not element.plain:
            return "static, torsion and across of a Contact need a solver with friction cones"
        if isinstance(element, Contact) and (mixed := body_laws(model).mixed) is not None:
            return mixed
        if isinstance(element, Constraint) and element.nonholonomic:
            return f"{type(element).__name__} holds velocities only, which no potential does"
        if isinstance(element, PulleyCable) and element.loses_while_paying:
            return "a winch with damping or friction of its Cable is no potential's; give neither, or a drum (Pulley(grip=True))"
        if isinstance(element, Joint | Force | Constraint | Shape | DeformableInfo):
            return None
        return f"{type(element).__name__} is no element that affine coordinates know"

    def bind(self, model: Model) -> BarrierBound:
        self.check(model)
        from unibody.solvers.barrier.system import BarrierSystem  # SciPy comes when a model needs it

        system = BarrierSystem(model, self)
        count = system.affine.unknowns
        return BarrierBound(model, self, "affine", system, count, count, None)


@dataclass
class BarrierBound(Bound):
    """A barrier solver bound to a model; memory as `BarrierSystem` describes it."""

    system: Any

    @cached_property
    def memory_schema(self) -> MemorySchema:
        return self.system.memory.schema

    def start(self, state: State | None = None) -> tuple[State, np.ndarray]:
        Q, V, t = self.system.begin(state)
        return State(t, Q, V, "affine"), self.system.fresh_memory(Q, t)

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        from unibody.coordinates.affine.forces import ElementFailed
        from unibody.solvers.barrier.step import take_step

        began = time.perf_counter()
        try:
            made = take_step(self.system, state, memory, control, dt)
        except ElementFailed as failed:
            report = Report(status="error in an element", time=state.t, element=failed.element, notes=self.system.notes())
            why = f"step at t = {state.t:.6g} s failed near '{failed.element}': {failed}"
            raise StepFailed(why, time=state.t, element=failed.element, report=report) from failed.__cause__
        if made.failure is not None:
            report = Report(status="not converged", time=state.t, element=made.element, iterations=made.iterations, notes=made.notes)
            why = f"step at t = {state.t:.6g} s failed near '{made.element}': {made.failure}"
            raise StepFailed(why, time=state.t, element=made.element, report=report)
        report = Report(
            status="ok", time=made.state.t, iterations=made.iterations, residual=made.residual, violation=made.violation,
            minimum_distance=made.distance, redundant=self.system.reduction.dropped,
            redundant_names=tuple(self.system.reduction.redundant), notes=made.notes, seconds=time.perf_counter() - began,
        )  # fmt: skip
        return Step(made.state, made.memory, report)

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Single steps one after the other."""
        return self.roll_by_steps(state, memory, control, dt, steps, every, record)

    def _unpack(self, state: State, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return state.q, state.v, memory

    def _pack(self, t: float, q: np.ndarray, v: np.ndarray, ledger: np.ndarray) -> tuple[State, np.ndarray]:
        return State(t, q, v, self.coordinates), np.array(ledger)

    @property
    def nq_all(self) -> int:
        return self.nq

    @property
    def nv_all(self) -> int:
        return self.nv

    def energies(self, state: State, memory: np.ndarray, control: np.ndarray) -> EnergyBalance:
        seen = self.observe(state, memory, control)
        R = np.array([rotation_from_quaternion(wxyz) for wxyz in seen.poses[:, 3:]])
        X = np.concatenate([R.reshape(-1, 9), seen.poses[:, :3]], axis=1)
        kinetic, _ = self.masses.energies(X.ravel(), np.einsum("nji,nkj->nki", R, seen.twists.reshape(-1, 2, 3)).ravel())
        if seen.vertex_velocities is not None:
            vertices, u = self.system.affine.vertices, seen.vertex_velocities
            of_vertices = 0.5 * (vertices.moving_momenta(u) * u).sum(axis=1)
            kinetic = np.concatenate([kinetic, np.bincount(vertices.owner, of_vertices, len(self.model.deformables))])
        rotors = seen.kinetic - float(kinetic.sum())
        supplied = float(seen.work[1] + seen.work[2]) + (seen.drive_work or 0.0)
        return EnergyBalance(kinetic, rotors, seen.gravity, seen.springs + seen.elastic, supplied)

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        from unibody.solvers.barrier.observation import observe_affine

        return observe_affine(self.system, state, memory, control)
