"""One step of the barrier solver (paper 003):  x⁺ = argmin Ψ(x) = ½ |x − x̃|²_M + β h² Σᵢ Pᵢ(x)

    1   x̃, β and ∂v/∂x of the time rule (`prediction`)                Eq. 2 (implicit Euler), Eq. 3 (BDF-2)
    2   κ of barriers, for the speeds at the beginning                  `contact_stiffness`, `measured_elements`
    3   Ψ: the list of potentials of the step                           Eq. 1
    4   driven bodies go to the ends of their ways                      `driven_bodies`
    5   friction from the contacts at x; a start along the motion       `start_iterate`
        repeat: x ← argmin Ψ, friction anew                             projected Newton, line search filtered by collision detection (§6)
    6   v = ∂v/∂x (x⁺ − x₀)                                             Eq. 2–3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.algebra.block.direct import NewtonSolver
from unibody.algebra.block.mixed_solver import MixedSolver
from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.algebra.minimise import SHORT, Minimum, minimise
from unibody.arena import HoldsAddresses
from unibody.collision.filters import contact_rules
from unibody.collision.proximity import GAP, ContactSet
from unibody.collision.sweep import KeptCandidates
from unibody.coordinates.affine.forces import AffineForces
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.links import LIGHT
from unibody.coordinates.affine.rigid_view import RigidView
from unibody.coordinates.carried_vertices import free_vertices
from unibody.model import Model, State
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.body_laws import body_contact_filter, pair_tables
from unibody.solvers.barrier.body_potential import BodyPotential
from unibody.solvers.barrier.body_stiffness import BodyStiffness
from unibody.solvers.barrier.constraint_rows import RemainderPotential, RowPotential, UnmeasuredRows
from unibody.solvers.barrier.contact_potential import (
    BarrierPotential,
    DamperPotential,
    FrictionPotential,
    as_if_resting,
    contact_damping,
    dragged,
)  # fmt: skip
from unibody.solvers.barrier.contact_stiffness import ContactParameters, Pressures
from unibody.solvers.barrier.drive_work import drive_power, is_driven
from unibody.solvers.barrier.driven_bodies import advance
from unibody.solvers.barrier.element_loads import StepScales
from unibody.solvers.barrier.energy_potential import EnergyPotential, Matter, across_hinges, dissipation
from unibody.solvers.barrier.forces import LaggedForces, StoredEnergy
from unibody.solvers.barrier.incremental_potential import IncrementalPotential, Potential, Targets
from unibody.solvers.barrier.measure_potential import MeasurePotential
from unibody.solvers.barrier.measured_elements import MeasuredElements
from unibody.solvers.barrier.memory import USUAL_STEP, BarrierMemory, LastStep
from unibody.solvers.barrier.point_contact import (
    PointBarrierPotential,
    PointDamperPotential,
    PointFrictionPotential,
    point_contact_damping,
)
from unibody.solvers.barrier.prediction import Prediction, Predictor
from unibody.solvers.barrier.refused_starts import refuse_crossing, refuse_inverted
from unibody.solvers.barrier.start_iterate import Motion, carried_on, start_iterate, steady
from unibody.solvers.barrier.vertex_potential import LoadPotential, VertexPotential

FIRST_ROUNDS = 5
"""Renewals of friction in a first step, where forces at its beginning may be those of bodies put too near to each other."""
MOST_ROUNDS = 100
"""Renewals of friction where they go on until nothing changes."""
SLIP_SHARE = 100.0
"""How far the tolerance stays below the slip speed where bodies rub: Newton's first step from rest is about as long as the slip speed, and
a method that ended there would hold what should slide."""
STILL = 1e3
"""Tolerances below which speeds are no motion to be followed."""
SLOW = 0.01
"""Of the reach: ways in a step of bodies that nearly rest."""
REACH = 1e-3
"""Where barriers begin if nobody says so, as a part of the size of the scene."""


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


@dataclass
class PosedStep:
    """Ψ of a step with those of its potentials that are renewed or looked at, and powers of forces [W]."""

    problem: IncrementalPotential
    barrier: BarrierPotential | None
    friction: FrictionPotential | None
    bodies: BodyPotential
    powers: np.ndarray


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
            nearer = self.pressures.nearest(self.contacts(x, self.law(USUAL_STEP)))
        return self.memory.fresh(t, self.model.start_q(), nearer)

    def contacts(self, x: np.ndarray, law: ContactParameters) -> ContactSet:
        """Near pairs at x of all control points, flat."""
        a, y = self.affine, self.affine.surface.positions(x)
        assert a.kept is not None
        return a.proximity.contacts(a.kept.near(y), x, y, law.reach, law.parts, law.shares)

    def scales(self, h: float) -> StepScales:
        """Of stiff potentials in a step of length h."""
        return StepScales(self.options.stiffness / h**2, h, float(np.linalg.norm(self.model.gravity)))

    # the step

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, h: float) -> StepOutcome:
        a, t, last = self.affine, state.t + h, self.memory.last_step(memory)
        Q, V = a.whole(state.q, state.t), a.rates(state.v, state.t)
        begun, speed = a.everything(Q, state.q, state.t), a.rates_of_all(V, state.v, state.t)
        Q, V = a.bodies_of(begun), a.bodies_of(speed)
        # 1: x̃, β and ∂v/∂x (Eq. 2–3)
        rule = self.rule.predict(state, h, Q, V, begun, last, self.memory.view(memory).joint_q)
        # 2: κ for the speeds at the beginning
        balanced = self.law(last.length, memory) if self.pressures is not None and last.made else None
        memory = self._stiffened(memory, last, h, begun, speed)
        # 3: Ψ (Eq. 1)
        posed = self._pose(state, memory, control, h, rule, last, Q, V, begun, speed)
        problem = posed.problem
        # 4: driven bodies go to the ends of their ways, the others with their velocities or out of the way
        way = h * state.v
        x, iterations, failure = advance(problem, posed.barrier, begun.copy(), way, self.tolerance, self.options.iterations)
        if failure:
            return self._failed(state, memory, iterations, failure, x, problem)
        # 5: argmin Ψ, with friction from the contacts of the last round
        guess = self._onwards(begun, way) if not problem.targets else None
        x, found, more = self._minimised(posed, x, guess, last, balanced if iterations == 0 else None, state.v, h)
        iterations += more
        #    and again with stiffer bodies, where they are strained beyond the goal
        kept = self.memory.view(memory)
        while found.converged and (doubled := self.stiffness.raised(kept.stiffer_bodies, a.bodies_of(x)[a.moving])) is not None:
            kept.stiffer_bodies = doubled
            posed.bodies.stiffness = self.stiffness.of(h, doubled)
            found = minimise(problem, x, self.tolerance, self.options.iterations, problem.arrived)
            x, iterations = found.x, iterations + found.iterations
        if not found.converged:
            return self._failed(state, memory, iterations, found.why + self._held_up(posed, found.x), found.x, problem)
        x = problem.polished(x, found.value)
        # 6: v = ∂v/∂x (x⁺ − x₀), memory and what is reported
        Q_new, v = a.bodies_of(x), rule.rate * a.unknown(x - rule.origin) + rule.later
        count, distance, near = 0, np.inf, np.zeros(a.touchables)
        if posed.barrier is not None and self.pressures is not None:
            contacts = posed.barrier.contacts(x)
            gaps = contacts.record[:, GAP]
            count, distance = len(gaps), float(gaps.min(initial=np.inf))
            near[contacts.pair.ravel()] = 1.0
            nearer = np.maximum(kept.nearer, self.pressures.nearest(contacts))
            if (nearer > kept.nearer).any():
                kept.stiffer = self.pressures.carried(kept.stiffer, np.ones(len(nearer)), (h, kept.nearer), (h, nearer))
                kept.nearer = nearer
        multipliers, open_by = np.zeros(0), 0.0
        if self.reduction.equations:  # ∂Ψ/∂x = β h² Cᵀ μ
            multipliers = -self.reduction.multipliers(problem.gradient(x)[: 12 * self.n]) / rule.factor
            open_by = float(np.abs(self.reduction.residual(Q_new)).max(initial=0.0))
        q_near = self.memory.view(memory).joint_q
        fitted = self.view.turning.fitted(Q_new.ravel(), q_near) if self.view.turning.which.size else q_near
        history = a.unknown(rule.origin), state.q, state.v
        touched = np.concatenate([near[a.moving], near[a.rows :]])
        after_step = self.memory.after(
            memory, t, h, rule.rate, rule.factor, posed.powers, history, fitted, multipliers, (iterations, count, distance), touched,
            self._held_forces(problem, x, t, rule.factor),
        )  # fmt: skip
        violation = max(open_by, *(potential.violation(Q_new.ravel()) for potential in problem.potentials))
        why = (f"Newton's method {found.why}",) if found.why else ()
        solved = f"Newton's systems: {problem.factored} by factors, {problem.iterated} by conjugate gradients"
        notes = (f"{count} contacts, {iterations} iterations; {solved}", *why, *self.notes())
        after = State(t, a.unknown(x), v, "affine")
        if self.driven:
            speeds = rule.rate * (x - rule.origin)
            book = self.memory.view(after_step)
            seen = a.bodies_of(x), a.bodies_of(speeds), book.joint_q, a.signals(t), control
            power = drive_power(a, problem, x, speeds, self.lagged.without_energy(*seen), rule.factor)
            book.drive_work += h * (0.5 * (book.drive_power + power) if rule.second else power)
            book.drive_power = power
        return StepOutcome(after, after_step, iterations, found.length, violation, distance, notes)

    def _held_forces(self, problem: IncrementalPotential, x: np.ndarray, t: float, factor: float) -> np.ndarray:
        """(held vertices, 3) with which what holds vertices acts on them at the end of a step [N]: first attached, then prescribed ones."""
        if (v := self.affine.vertices) is None:
            return np.zeros((0, 3))
        out = v.of(problem.forces(x)) / factor
        still = ~v.moves
        out[still] -= v.mass[still, None] * self.model.gravity
        out[still] += v.known_momenta(v.of(self.affine.known_accelerations(t)))[still]
        return out[v.held_vertices]

    def _stiffened(self, memory: np.ndarray, last: LastStep, h: float, x: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Memory with κ for a step that begins at x with these rates of all control points."""
        out = memory.copy()
        kept = self.memory.view(out)
        if self.pressures is not None:
            if last.made and last.length != h:
                before, now = (last.length, kept.nearer), (h, kept.nearer)
                kept.stiffer = self.pressures.carried(kept.stiffer, kept.touching, before, now)
            if last.made and self.pressures.deep(kept.least_distance):
                kept.stiffer = self.pressures.deepened(kept.stiffer, kept.nearer, self.contacts(x, self.law(h, memory)), h, speed)
            kept.stiffer = self.pressures.raised(kept.stiffer, kept.nearer, kept.touching, h, speed)
        if last.made and last.length != h:
            kept.stiffer_bodies = self.stiffness.carried(kept.stiffer_bodies, last.length, h)
        Q, V = self.affine.bodies_of(x), self.affine.bodies_of(speed)
        kept.stiffer_ranges = self.measured.raised(kept.stiffer_ranges, self.scales(h), Q, V)
        return out

    def _pose(
        self, state: State, memory: np.ndarray, control: np.ndarray, h: float, rule: Prediction, last: LastStep, Q: np.ndarray,
        V: np.ndarray, begun: np.ndarray, speed: np.ndarray,
    ) -> PosedStep:  # fmt: skip
        """Ψ of Eq. 1: the potentials of a step from Q with rates V of the bodies, and of all control points."""
        a, t, factor, rate, origin = self.affine, state.t + h, rule.factor, rule.rate, self.affine.bodies_of(rule.origin)
        kept = self.memory.view(memory)
        q_near, scales, before, targets = kept.joint_q, self.scales(h), None, a.driven(t)
        if rule.second:
            before = self.lagged.powers(Q, V, q_near, a.signals(state.t), control)
        signals = a.signals(t)
        # Weight, and forces without an energy: constant loads, and dampers D.
        loads, dampers = np.zeros((len(a.moving), 12)), []
        point_dampers: list[NodeBlocks | None] = []
        dashpots = None
        if self.lagged.armed:
            loads, armatures = self.lagged.armatures(*rule.ahead, q_near, self.rule.speeds_before(state.t, Q, V, q_near, rule, last), rate)
            dampers.append(armatures)
        loads[: a.real] += (a.M4[: a.real, :, :1] * self.model.gravity).reshape(-1, 12)
        lagged, slopes, powers = self.lagged.about(*rule.ahead, q_near, signals, control, origin, rate)
        loads = loads + lagged
        on_points = np.zeros(0)
        if a.vertices is not None and len(self.model.vertex_points):
            on_points, dashpots = self.lagged.about_points(*rule.ahead, q_near, signals, control, rule.origin, rate)
        # Contact: barriers, friction, damping of contacts (Eq. 13–14, 20).
        potentials: list[Potential] = []
        barrier, friction = None, None
        if a.touching:
            law = self.law(h, memory)
            alone = not len(self.measured) and not self.rows.unilateral.any()
            if a.vertices is None:
                barrier = BarrierPotential(a, law, factor, alone, begun)
                friction = FrictionPotential(a, law, self.friction, origin, V, rate, factor)
            else:
                barrier = PointBarrierPotential(a, law, factor, False, begun)
                friction = PointFrictionPotential(a, law, self.friction, rule.origin, speed, rate, factor)
            potentials += [barrier, friction]
            contacts = barrier.contacts(begun)
            if a.vertices is not None:
                point_dampers.append(point_contact_damping(contacts, self.damping, law))
            else:
                dampers.append(contact_damping(a, contacts, self.damping, law))
            if targets and a.vertices is None:
                loads += dragged(contacts, self.damping, law, targets, origin, rate)[a.moving].reshape(-1, 12)
        # Measures: limits and equations that are not linear (Eq. 10–18), with their damping.
        damped = bool(self.rows.damping.any())
        if len(self.measured) or damped:
            doubled = kept.stiffer_ranges
            measures = MeasurePotential(self.measured, Q, q_near, scales, rate, origin, factor, doubled)
            if damped:
                measures.add_dashpots(*self.rows.dashpots(Q.ravel(), q_near, signals, scales, rate))
            potentials.append(measures)
        # Springs, then inertia and stiffness of bodies, dampers, and what is held at rigid projections.
        if self.forces.energetic:
            potentials.append(StoredEnergy(self.forces, q_near, signals, factor))
        bodies = BodyPotential(a, rule.predicted[: 12 * self.n], loads, self.stiffness.of(h, kept.stiffer_bodies), factor)
        potentials.append(bodies)
        # Matter between vertices, their inertia and weight, dampers of both.
        if a.vertices is not None and self.matter is not None:
            predicted = begun.copy() if a.vertices.lumped else a.ahead_of_known(t, factor, begun)
            a.put_unknown(rule.predicted, predicted)
            potentials += [EnergyPotential(a, self.matter, factor), VertexPotential(a, predicted, factor)]
            if len(on_points):
                potentials.append(LoadPotential(on_points, factor))
            if dashpots is not None:
                potentials.append(PointDamperPotential(a, dashpots, rule.origin, rate, factor, whole=False))
            point_dampers.append(damping := self.matter.damping(a.vertices.of(begun).ravel()))
            (powers if before is None else before)[0] -= dissipation(damping, speed)
            D_points = [D for D in point_dampers if D is not None]
            if D_points:
                potentials.append(PointDamperPotential(a, NodeBlocks.joined(D_points), rule.origin, rate, factor))
        D = None
        for part in (*dampers, slopes):
            if part is not None:
                D = part if D is None else D.plus(1.0, part)
        if D is not None:
            potentials.append(DamperPotential(a, D, origin, rate, factor))
        if len(self.rows):
            potentials.append(RowPotential(self.rows, q_near, signals, scales, factor))
        if self.remainders:
            potentials.append(RemainderPotential(self.view, self.remainders, q_near, scales, factor))
        goals = a.vertices.positions(t) if a.vertices is not None else np.zeros((0, 3))
        problem = IncrementalPotential(a, potentials, Targets(targets, goals), rate, self.linear, self.mixed)
        problem.stretch = bodies.stretch
        return PosedStep(problem, barrier, friction, bodies, powers if before is None else before)

    def _minimised(
        self, posed: PosedStep, x: np.ndarray, guess: np.ndarray | None, last: LastStep, balanced: ContactParameters | None, V: np.ndarray,
        h: float,
    ) -> tuple[np.ndarray, Minimum, int]:  # fmt: skip
        """argmin Ψ, friction renewed so often as asked for or until it changes no more, in a step with rates V (of the unknowns) at its
        beginning; x, the last minimum, and iterations. `balanced`: the law that the contacts at x obey, if another; `guess`: a motion that
        may lead nearer, of a scene that nearly rests."""
        problem, asked, total = posed.problem, self.options.friction_iterations, 0
        scale, rubs = 0.0, False
        rounds = MOST_ROUNDS if asked == 0 else asked if last.made else max(asked, FIRST_ROUNDS)
        for k in range(rounds):
            rubbed, rubs = rubs, False
            if posed.friction is not None and posed.barrier is not None:
                contacts = posed.barrier.contacts(x)
                if k == 0 and not last.made:
                    contacts = as_if_resting(contacts, posed.barrier.reach)
                rubs = posed.friction.renew(contacts, x, None if k else balanced)
            if k and not (rubs or rubbed):  # what no longer rubs must be free of it, too
                break
            if k == 0 and not problem.targets:  # after friction, whose normal forces are those of the beginning
                scale = abs(problem.value(x))
                if guess is None:
                    x = start_iterate(problem, x, self._motions(x, V, last, h), STILL * self.tolerance * h)
                elif problem.reach(x, guess) >= 1.0 and problem.value(x + guess) < problem.value(x):
                    x = x + guess
            found = minimise(problem, x, self.tolerance, self.options.iterations, problem.arrived, scale)
            total += found.iterations
            moved, x = np.abs(found.x - x).max() * problem.rate, found.x
            if not found.converged or (k and moved < self.tolerance):
                break
        return x, found, total

    def _motions(self, x: np.ndarray, v: np.ndarray, last: LastStep, h: float) -> list[Motion]:
        """How unknowns at x with velocities v may go on, as the last step went or steadily."""
        m, own = 12 * self.n, self.affine.unknown(x)
        Q, V, before, rates = (some[:m].reshape(-1, 4, 3) for some in (own, v, last.Q, last.V))
        motions = [carried_on(before, rates, Q, V, h)] if last.made and last.length == h else []
        motions.append(steady(Q, V, h))
        if self.affine.vertices is None:
            return motions
        ways = [own[m:] - last.Q[m:] + h * (v[m:] - last.V[m:])] if len(motions) > 1 else []
        return [(*motion, way.reshape(-1, 3)) for motion, way in zip(motions, [*ways, h * v[m:]], strict=True)]

    def _onwards(self, x: np.ndarray, way: np.ndarray) -> np.ndarray | None:
        """The way on from x (of the unknowns, flat) of a scene that nearly rests, so that what creeps creeps on; None of others."""
        if self.pressures is None or not self.friction.any():
            return None
        out = np.zeros_like(x)
        self.affine.put_unknown(way, out)
        slow = self.affine.motions(out)[:, 1].max(initial=0.0) < SLOW * self.pressures.reach
        return out if slow else None

    def _held_up(self, posed: PosedStep, x: np.ndarray) -> str:
        """What is said of a minimisation that ended at x where little of its direction is free: how much, and between which bodies."""
        d = posed.problem.direction(x, False)
        if posed.barrier is None or not np.isfinite(d.p).all() or (t := posed.problem.reach(x, d.p)) >= SHORT:
            return ""
        if (pair := posed.barrier.first_hit(x, d.p)) is None:
            return ""
        one, other = (self.affine.name_of(i) for i in pair)
        return f", for collision detection allows {t:.2g} of its direction, between '{one}' and '{other}'"

    def _failed(
        self, state: State, memory: np.ndarray, iterations: int, why: str, x: np.ndarray, problem: IncrementalPotential
    ) -> StepOutcome:
        """A step that failed near the body that the last gradient pulls hardest."""
        every, own, v = problem.gradient(x), self.affine.own, self.affine.vertices
        g, at_vertices = every[: 12 * self.n].reshape(-1, 12), np.abs(every[12 * self.n :])
        hardest = int(np.argmax(np.abs(g).max(axis=1))) if len(g) else -1
        if v is not None and at_vertices.max(initial=0.0) > np.abs(g).max(initial=0.0):
            element = self.model.deformables[int(v.owner[v.free[int(np.argmax(at_vertices)) // 3]])].name
        elif hardest < 0:
            told = v is not None and len(v.prescribed) > 0
            element = self.model.deformables[int(v.owner[v.prescribed[0]])].name if told else "world"
        elif hardest < len(own):
            element = self.model.bodies[own[hardest]].name
        else:
            element = self.model.joints[self.affine.links[hardest - len(own)].joint].name
        return StepOutcome(state, memory, iterations, failure=why + "; try a smaller dt", element=element)


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
