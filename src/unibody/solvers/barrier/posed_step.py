"""Ψ of a step (paper 003, Eq. 1): the list of potentials, from what the step begins with and what its time rule predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.solvers.barrier.body_potential import BodyPotential
from unibody.solvers.barrier.constraint_rows import RemainderPotential, RowPotential
from unibody.solvers.barrier.contact_potential import BarrierPotential, DamperPotential, FrictionPotential, contact_damping, dragged
from unibody.solvers.barrier.energy_potential import EnergyPotential, dissipation
from unibody.solvers.barrier.forces import StoredEnergy
from unibody.solvers.barrier.incremental_potential import IncrementalPotential, Potential, Targets
from unibody.solvers.barrier.measure_potential import MeasurePotential
from unibody.solvers.barrier.point_contact import (
    PointBarrierPotential,
    PointDamperPotential,
    PointFrictionPotential,
    point_contact_damping,
)
from unibody.solvers.barrier.prediction import Prediction, StepBeginning
from unibody.solvers.barrier.system import BarrierSystem
from unibody.solvers.barrier.vertex_potential import LoadPotential, VertexPotential


@dataclass
class PosedStep:
    """Ψ of a step with those of its potentials that are renewed or looked at, and powers of forces [W]."""

    problem: IncrementalPotential
    barrier: BarrierPotential | None
    friction: FrictionPotential | None
    bodies: BodyPotential
    powers: np.ndarray


def pose(system: BarrierSystem, begun: StepBeginning, memory: np.ndarray, rule: Prediction) -> PosedStep:
    """Ψ of Eq. 1: the potentials of a step."""
    state, control, h, Q, V = begun.state, begun.control, begun.h, begun.Q, begun.V
    a, t, factor, rate, origin = system.affine, state.t + h, rule.factor, rule.rate, system.affine.bodies_of(rule.origin)
    kept = system.memory.view(memory)
    q_near, scales, before, targets = kept.joint_q, system.scales(h), None, a.driven(t)
    if rule.second:
        before = system.lagged.powers(Q, V, q_near, a.signals(state.t), control)
    signals = a.signals(t)
    # Weight, and forces without an energy: constant loads, and dampers D.
    loads, dampers = np.zeros((len(a.moving), 12)), []
    point_dampers: list[NodeBlocks | None] = []
    dashpots = None
    if system.lagged.armed:
        joint_speeds = system.rule.speeds_before(state.t, Q, V, q_near, rule, begun.last)
        loads, armatures = system.lagged.armatures(*rule.ahead, q_near, joint_speeds, rate)
        dampers.append(armatures)
    loads[: a.real] += (a.M4[: a.real, :, :1] * system.model.gravity).reshape(-1, 12)
    lagged, slopes, powers = system.lagged.about(*rule.ahead, q_near, signals, control, origin, rate)
    loads = loads + lagged
    on_points = np.zeros(0)
    if a.vertices is not None and len(system.model.vertex_points):
        on_points, dashpots = system.lagged.about_points(*rule.ahead, q_near, signals, control, rule.origin, rate)
    # Contact: barriers, friction, damping of contacts (Eq. 13–14, 20).
    potentials: list[Potential] = []
    barrier, friction = None, None
    if a.touching:
        law = system.law(h, memory)
        alone = not len(system.measured) and not system.rows.unilateral.any()
        if a.vertices is None:
            barrier = BarrierPotential(a, law, factor, alone, begun.x)
            friction = FrictionPotential(a, law, system.friction, origin, V, rate, factor)
        else:
            barrier = PointBarrierPotential(a, law, factor, False, begun.x)
            friction = PointFrictionPotential(a, law, system.friction, rule.origin, begun.speed, rate, factor)
        potentials += [barrier, friction]
        contacts = barrier.contacts(begun.x)
        if a.vertices is not None:
            point_dampers.append(point_contact_damping(contacts, system.damping, law))
        else:
            dampers.append(contact_damping(a, contacts, system.damping, law))
        if targets and a.vertices is None:
            loads += dragged(contacts, system.damping, law, targets, origin, rate)[a.moving].reshape(-1, 12)
    # Measures: limits and equations that are not linear (Eq. 10–18), with their damping.
    damped = bool(system.rows.damping.any())
    if len(system.measured) or damped:
        doubled = kept.stiffer_ranges
        measures = MeasurePotential(system.measured, Q, q_near, scales, rate, origin, factor, doubled)
        if damped:
            measures.add_dashpots(*system.rows.dashpots(Q.ravel(), q_near, signals, scales, rate))
        potentials.append(measures)
    # Springs, then inertia and stiffness of bodies, dampers, and what is held at rigid projections.
    if system.forces.energetic:
        potentials.append(StoredEnergy(system.forces, q_near, signals, factor))
    bodies = BodyPotential(a, rule.predicted[: 12 * system.n], loads, system.stiffness.of(h, kept.stiffer_bodies), factor)
    potentials.append(bodies)
    # Matter between vertices, their inertia and weight, dampers of both.
    if a.vertices is not None and system.matter is not None:
        predicted = begun.x.copy() if a.vertices.lumped else a.ahead_of_known(t, factor, begun.x)
        a.put_unknown(rule.predicted, predicted)
        potentials += [EnergyPotential(a, system.matter, factor), VertexPotential(a, predicted, factor)]
        if len(on_points):
            potentials.append(LoadPotential(on_points, factor))
        if dashpots is not None:
            potentials.append(PointDamperPotential(a, dashpots, rule.origin, rate, factor, whole=False))
        point_dampers.append(damping := system.matter.damping(a.vertices.of(begun.x).ravel()))
        (powers if before is None else before)[0] -= dissipation(damping, begun.speed)
        D_points = [D for D in point_dampers if D is not None]
        if D_points:
            potentials.append(PointDamperPotential(a, NodeBlocks.joined(D_points), rule.origin, rate, factor))
    D = None
    for part in (*dampers, slopes):
        if part is not None:
            D = part if D is None else D.plus(1.0, part)
    if D is not None:
        potentials.append(DamperPotential(a, D, origin, rate, factor))
    if len(system.rows):
        potentials.append(RowPotential(system.rows, q_near, signals, scales, factor))
    if system.remainders:
        potentials.append(RemainderPotential(system.view, system.remainders, q_near, scales, factor))
    goals = a.vertices.positions(t) if a.vertices is not None else np.zeros((0, 3))
    problem = IncrementalPotential(a, potentials, Targets(targets, goals), rate, system.linear, system.mixed)
    problem.stretch = bodies.stretch
    return PosedStep(problem, barrier, friction, bodies, powers if before is None else before)
