"""A model bound to the barrier solver's options: bodies in affine coordinates, elements each evaluated in one way, contact, memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.block.direct import NewtonSolver
from unibody.algebra.block.mixed_solver import MixedSolver
from unibody.arena import HoldsAddresses
from unibody.collision.filters import contact_rules
from unibody.collision.proximity import ContactSet
from unibody.collision.sweep import KeptCandidates
from unibody.coordinates.affine.forces import AffineForces
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.links import LIGHT
from unibody.coordinates.affine.rigid_view import RigidView
from unibody.coordinates.carried_vertices import free_vertices
from unibody.model import Model, State
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.body_laws import body_contact_filter, pair_tables
from unibody.solvers.barrier.body_stiffness import BodyStiffness
from unibody.solvers.barrier.constraint_rows import UnmeasuredRows
from unibody.solvers.barrier.contact_stiffness import ContactParameters, Pressures
from unibody.solvers.barrier.drive_work import is_driven
from unibody.solvers.barrier.element_loads import StepScales
from unibody.solvers.barrier.energy_potential import Matter, across_hinges
from unibody.solvers.barrier.forces import LaggedForces
from unibody.solvers.barrier.measured_elements import MeasuredElements
from unibody.solvers.barrier.memory import USUAL_STEP, BarrierMemory
from unibody.solvers.barrier.prediction import Predictor, StepBeginning
from unibody.solvers.barrier.refused_starts import refuse_crossing, refuse_inverted

SLIP_SHARE = 100.0
"""How far the tolerance stays below the slip speed where bodies rub: Newton's first step from rest is about as long as the slip speed, and
a method that ended there would hold what should slide."""
REACH = 1e-3
"""Where barriers begin if nobody says so, as a part of the size of the scene."""


class BarrierSystem(HoldsAddresses):
    """A model bound to the barrier solver's options."""

    def __init__(self, model: Model, options: Any):
        self.model, self.options = model, options
        # Bodies in affine coordinates, with the linear equations of their joints.
        rules = contact_rules(model)
        everyone = next((c for c in rules if c.everywhere), None)
        itself = everyone is not None and everyone.on and everyone.self_contact
        apart = everyone.thickness if everyone is not None else 0.0
        self.affine = AffineSystem(model, *body_contact_filter(model, rules), apart, itself, int(options.segments))
        self.reduction, self.callback_errors = self.affine.reduction, self.affine.callback_errors
        self.n = len(self.affine.moving)
        change = self.affine.change if self.reduction.equations else None
        self.linear, self.mixed, self.matter = NewtonSolver(options.linear, change), None, None
        if (vertices := self.affine.vertices) is not None:
            middle = np.concatenate([self.affine.start[0][self.affine.moving, 0], vertices.start[0][vertices.free]])
            far = across_hinges(model, vertices.free) if options.linear != "direct" else None
            self.mixed, self.matter = MixedSolver(change, middle, far), Matter(vertices, self.callback_errors)
        # Elements, each evaluated in one way: by equations, by measures, by rows, by forces.
        self.view = RigidView(model, self.affine.parts, self.affine.links)
        self.exact = exact_elements(self.reduction)
        self.measured = MeasuredElements(self.view, self.affine.parts, self.reduction.missing, self.exact)
        done = {*self.exact, *self.measured.names}
        self.rows = UnmeasuredRows(self.affine, self.view, [name for name, _ in model.constraints if name not in done])
        self.remainders = [k for k in self.reduction.missing if k not in self.measured.joints]
        """Joints of which equations and measures leave something open."""
        self.forces = AffineForces(self.view, self.callback_errors, self.affine.clock)
        self.lagged = LaggedForces(self.affine, self.view, self.forces)
        self.rule = Predictor(self.affine, self.view, self.lagged.armed, options.rule == "bdf2")
        # Contact.
        self.friction, self.damping = pair_tables(model, rules, self.affine.rows)
        self.pressures: Pressures | None = None
        if self.affine.touching:
            given = everyone.reach if everyone is not None else None
            reach = given if given is not None else REACH * scene_size(self.affine)
            self.pressures = Pressures(self.affine, reach, everyone.pressure if everyone is not None else None, given is not None)
            self.affine.kept = KeptCandidates(self.affine.broad, reach, reach)
        self.stiffness = BodyStiffness(self.affine, options.modulus)
        slip = options.slip_speed / SLIP_SHARE if self.friction.any() else np.inf
        self.tolerance = min(options.tolerance, slip)
        """Where Newton's method ends [m/s]."""
        held = 0 if self.affine.vertices is None else len(self.affine.vertices.held_vertices)
        soft = len(model.deformables), self.affine.free_vertices, held
        self.driven = is_driven(model)
        self.memory = BarrierMemory(self.n, model.nq_joints, self.reduction.rows, len(self.measured), *soft, self.driven)
        self._notes = self._told()

    def notes(self) -> tuple[str, ...]:
        """What is said of every step."""
        return self._notes

    def _told(self) -> tuple[str, ...]:
        joints, moves = self.model.joints, set(self.affine.moving.tolist())
        held = [joints[k].name for k in self.reduction.missing]
        linked = list(dict.fromkeys(joints[link.joint].name for link in self.affine.links))
        idle = [j.name for j in joints if not j.implicit and not {j.child, j.parent} & moves]
        told = (
            ("stiff potentials hold what is not linear in", held),
            (f"virtual links of {LIGHT:g} of the mass of their neighbours in", linked),
            ("between bodies that do not move, so without effect", idle),
        )
        return tuple(f"{what}: {', '.join(names)}" for what, names in told if names)

    # states

    def begin(self, state: State | None) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates and velocities of the moving bodies and links, and the time, of a start."""
        a = self.affine
        if state is not None and state.coordinates == "affine":
            q, v = a.own_state(state)
            if self.matter is not None:
                refuse_inverted(a, self.matter, a.everything(a.whole(q, state.t), q, state.t))
            return q, v, state.t
        Q, V, t = (*a.start, 0.0) if state is None else (*a.placed(state), state.t)
        self.reduction.refuse_open(Q)
        Q = self.reduction.put(Q)
        x, speed = np.ascontiguousarray(Q).ravel(), np.ascontiguousarray(V).ravel()
        if (vertices := a.vertices) is not None:
            y, u = free_vertices(self.model, state)
            x = vertices.joined(Q, y, vertices.positions(t))
            speed = vertices.joined(V, u, vertices.speeds(t))
            refuse_inverted(a, self.matter, x)
        refuse_crossing(a, x)
        q = self.model.start_q()
        self.measured.refuse_outside(Q, q)
        self.rows.refuse_outside(np.ascontiguousarray(Q).ravel(), q, a.signals(t))
        return a.unknown(x), a.unknown(speed), t

    def law(self, h: float, memory: np.ndarray | None = None) -> ContactParameters:
        """Of contact in the step that memory tells of; without one, of slow bodies."""
        assert self.pressures is not None
        kept = self.memory.view(memory if memory is not None else np.zeros(self.memory.schema.size))
        return self.pressures.law(h, kept.stiffer, kept.nearer, self.options.slip_speed)

    def fresh_memory(self, q: np.ndarray, t: float) -> np.ndarray:
        """Before the first step from unknowns q at time t: what is nearer than the reach has a shorter one."""
        nearer = np.zeros(self.n + len(self.model.deformables))
        if self.pressures is not None:
            x = self.affine.everything(self.affine.whole(q, t), q, t)
            near = self.contacts(x, self.law(USUAL_STEP))
            nearer = self.pressures.nearest(near.pair, near.distance)
        return self.memory.fresh(t, self.model.start_q(), nearer)

    def contacts(self, x: np.ndarray, law: ContactParameters) -> ContactSet:
        """Near pairs at x of all control points, flat."""
        a, y = self.affine, self.affine.surface.positions(x)
        assert a.kept is not None
        return a.proximity.contacts(a.kept.near(y), x, y, law.reach, law.parts, law.shares)

    def strained(self, stiffer: np.ndarray, x: np.ndarray) -> np.ndarray | None:
        """log₂ of how much stiffer bodies must be that are strained beyond the goal at x; None if none is."""
        return self.stiffness.raised(stiffer, self.affine.bodies_of(x)[self.affine.moving])

    def scales(self, h: float) -> StepScales:
        """Of stiff potentials in a step of length h."""
        return StepScales(self.options.stiffness / h**2, h, float(np.linalg.norm(self.model.gravity)))

    def beginning(self, state: State, memory: np.ndarray, control: np.ndarray, h: float) -> StepBeginning:
        """What a step of length h from a state begins with."""
        a = self.affine
        Q, V = a.whole(state.q, state.t), a.rates(state.v, state.t)
        x, speed = a.everything(Q, state.q, state.t), a.rates_of_all(V, state.v, state.t)
        return StepBeginning(state, control, h, self.memory.last_step(memory), x, speed, a.bodies_of(x), a.bodies_of(speed))


def exact_elements(reduction: Reduction) -> dict[str, np.ndarray]:
    """Constraint elements that are equations themselves: their rows."""
    rows = [(name, r) for r, (name, j) in enumerate(zip(reduction.names, reduction.joint, strict=True)) if j < 0 and name != "plane"]
    out: dict[str, list[int]] = {}
    for name, r in rows:
        out.setdefault(name, []).append(r)
    return {name: np.array(r) for name, r in out.items()}


def scene_size(system: AffineSystem) -> float:
    """The diagonal of the box around all vertices and origins of what moves at the start [m]: the same wherever a scene stands."""
    Q, x = system.start[0], np.ascontiguousarray(system.start[0]).ravel()
    if (v := system.vertices) is not None:
        x = v.joined(Q, v.start[0][v.free], v.start[0][v.prescribed])
    return float(np.linalg.norm(np.ptp(np.concatenate([system.surface.positions(x), Q[system.moving, 0]]), axis=0))) or 1.0
