"""The barrier solver's steps: predictions of the time rules, contact laws from the model, Newton's method, memory and observation.

Memory, after the ledger of work (MEMORY numbers): whether there was a step; the step's rate ∂v/∂x and factor β h²; coordinates from which
velocity counts (12 per moving body or link); coordinates and velocities before the step (12 + 12); fitted joint coordinates; multipliers
of joint equations; how often κ of ranges (1 each) and of bodies (1) was doubled; iterations of the step, contacts at its end, and their
least distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.algebra.minimise import minimise
from unibody.arena import HoldsAddresses
from unibody.collision.filters import contact_rules
from unibody.collision.intersect import crossing
from unibody.contact.friction import Lagged
from unibody.contact.proximity import ContactSet
from unibody.coordinates.affine.body import affine_of_pose, rate_of_twist
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.links import LIGHT
from unibody.coordinates.observation import Observation
from unibody.coordinates.signals import drive
from unibody.element import Kinematics
from unibody.errors import ModelError
from unibody.model import Model, State
from unibody.rules.base import MEMORY
from unibody.solvers.barrier.body_laws import body_contact_filter
from unibody.solvers.barrier.contact_damping import contact_damping, dragged, pair_tables
from unibody.solvers.barrier.contact_stiffness import Pressures
from unibody.solvers.barrier.driven_bodies import advance
from unibody.solvers.barrier.elements import ElementFailed, Elements, Lag, Stiff, asked, twist_maps
from unibody.solvers.barrier.forces import CompiledForces, ForceTerms
from unibody.solvers.barrier.incremental_potential import AffineSystem, ContactParameters, IncrementalStep, Potential, Terms, element_matrix
from unibody.solvers.barrier.joint_angles import Hinges
from unibody.solvers.barrier.lagged_forces import AffineLag
from unibody.solvers.barrier.measure_terms import GaugeTerms
from unibody.solvers.barrier.measured_elements import Gauged
from unibody.solvers.barrier.observation import observe_affine
from unibody.solvers.barrier.pull import refuse_start

RULES = ("implicit", "bdf2")
FIRST_ROUNDS = 5
"""Renewals of friction in a first step, where forces at its beginning may be those of bodies put too near to each other."""
SLIP_SHARE = 100.0
"""How far the tolerance stays below the slip speed where bodies rub: Newton's first step from rest is about as long as the slip speed, and
a method that ended there would hold what should slide."""


@dataclass
class Made:
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


class BarrierSystem(HoldsAddresses):
    """A model bound to the barrier solver's options."""

    def __init__(self, model: Model, options: Any):
        self.model, self.options = model, options
        self.rules = contact_rules(model)
        everyone = next((c for c in self.rules if c.everywhere), None)
        self.affine = AffineSystem(model, *body_contact_filter(model, self.rules))
        self.reduction = self.affine.reduction
        self.moving, self.n = self.affine.moving, len(self.affine.moving)
        self.own = self.moving[: self.affine.real]
        """Of those that move, the model's bodies; the rest are virtual links."""
        self.exact = exact_elements(self.reduction)
        self.gauged = Gauged(model, self.affine.parts, self.reduction.missing, self.exact)
        left = [k for k in self.reduction.missing if k not in self.gauged.joints]
        self.elements = Elements(model, left, {*self.exact, *self.gauged.names})
        compiled = CompiledForces.covers(model, self.affine.parts)
        self.lag = AffineLag(self.affine, CompiledForces(model, self.affine.parts)) if compiled else None
        self.stepping = self.elements.without_forces() if compiled else self.elements
        """What steps evaluate in NumPy; observations take all."""
        self.hinges = Hinges(model, self.stepping, self.affine.parts)
        self.everyone = everyone
        low, high = extent(self.affine.surface, self.affine.start[0])
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.reach = everyone.reach if everyone is not None and everyone.reach is not None else 1e-3 * self.size
        self.friction, self.damping = pair_tables(model, self.rules)
        slip = options.slip_speed / SLIP_SHARE if self.friction.any() else np.inf
        self.tolerance = min(options.tolerance, slip)
        """Where Newton's method ends [m/s]."""
        self.pressures = Pressures(self.affine, self.reach, everyone.pressure if everyone is not None else None)
        self.memory_size = MEMORY + 3 + 36 * self.n + model.nq_joints + self.reduction.rows + len(self.gauged) + self.n + 3
        self._still = self._ignored_joints()

    # memory

    def fresh_memory(self, t: float) -> np.ndarray:
        out = np.zeros(self.memory_size)
        out[7] = t
        out[self.fitted] = self.model.start_q()
        return out

    @property
    def fitted(self) -> slice:
        """Where memory holds joint coordinates."""
        first = MEMORY + 3 + 36 * self.n
        return slice(first, first + self.model.nq_joints)

    @property
    def multipliers(self) -> slice:
        """Where memory holds those of the equations."""
        return slice(self.fitted.stop, self.fitted.stop + self.reduction.rows)

    @property
    def stiffer_ranges(self) -> slice:
        """Where memory holds how often κ of ranges was doubled."""
        return slice(self.multipliers.stop, self.multipliers.stop + len(self.gauged))

    @property
    def stiffer(self) -> slice:
        """Where memory holds what `Pressures` counts, per moving body."""
        return slice(self.stiffer_ranges.stop, self.stiffer_ranges.stop + self.n)

    def had_step(self, memory: np.ndarray) -> bool:
        return bool(memory[MEMORY])

    def last_step(self, memory: np.ndarray) -> float:
        """Its length [s]; where there was none, a usual one."""
        return float(memory[6]) or 1e-2

    def iterations(self, memory: np.ndarray) -> int:
        return int(memory[-3])

    def before(self, memory: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities (bodies, 4, 3) before the last step, which began at t."""
        _, _, _, _, Q, V = self._kept(memory)
        return self.whole(Q.ravel(), t), self.rates(V.ravel(), t)

    def notes(self) -> tuple[str, ...]:
        """What is said of every step."""
        held = [self.model.joints[k].name for k in self.reduction.missing]
        out = [f"stiff potentials hold what is not linear in: {', '.join(held)}"] if held else []
        linked = list(dict.fromkeys(self.model.joints[link.joint].name for link in self.affine.links))
        if linked:
            out.append(f"virtual links of {LIGHT:g} of the mass of their neighbours in: {', '.join(linked)}")
        return (*out, *self._still)

    def _ignored_joints(self) -> tuple[str, ...]:
        moves = set(self.moving)
        idle = [j.name for j in self.model.joints if not j.implicit and not {j.child, j.parent} & moves]
        return (f"between bodies that do not move, so without effect: {', '.join(idle)}",) if idle else ()

    def _kept(self, memory: np.ndarray) -> tuple[bool, float, float, np.ndarray, np.ndarray, np.ndarray]:
        """Whether there was a step, rate, β h², and origin, coordinates and velocities before it (n, 4, 3)."""
        arrays = memory[MEMORY + 3 : MEMORY + 3 + 36 * self.n].reshape(3, self.n, 4, 3)
        return bool(memory[MEMORY]), float(memory[MEMORY + 1]), float(memory[MEMORY + 2]), arrays[0], arrays[1], arrays[2]

    # states

    def begin(self, state: State | None) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates and velocities of the moving bodies and links, and the time, of a start."""
        if state is not None and state.coordinates == "affine":
            if state.q.size != 12 * self.n or state.v.size != 12 * self.n:
                raise ModelError(f"state holds {state.q.size} coordinates, this model has {12 * self.n}; give one of the same model")
            return state.q, state.v, state.t
        Q, V, t = (*self.affine.start, 0.0) if state is None else (*self.affine.placed(state), state.t)
        self.reduction.refuse_open(Q)
        Q = self.reduction.put(Q)
        self._refuse_crossing(Q)
        self._refuse_outside(Q, t)
        return Q[self.moving].ravel(), V[self.moving].ravel(), t

    def _refuse_crossing(self, Q: np.ndarray) -> None:
        if not self.rules:
            return
        a = self.affine
        pair = crossing(a.surface, a.broad, a.surface.positions(Q), a.surface.planes(Q))
        if pair is not None:
            one, other = (self.model.bodies[i].name for i in pair)
            raise ModelError(f"bodies '{one}' and '{other}' intersect at the start; move them apart, or add Contact(between=…, on=False)")

    def _refuse_outside(self, Q: np.ndarray, t: float) -> None:
        """Ranges that are not open at a start."""
        q = self.model.start_q()
        self.gauged.refuse_outside(Q, q)
        if self.elements.ranges:
            k = self.elements.kinematics(t, Q, np.zeros_like(Q), q, self.signals(t), self.model.neutral_control())
            gap, unit, name = self.elements.least_gap(k)
            if not gap > 0.0:
                refuse_start(name, -gap, unit)

    def whole(self, q: np.ndarray, t: float) -> np.ndarray:
        """Q (bodies, 4, 3) with static and driven bodies."""
        Q = self.affine.start[0].copy()
        for i, place in self.affine.driven(t).items():
            Q[i] = place
        Q[self.moving] = q.reshape(-1, 4, 3)
        return Q

    def rates(self, v: np.ndarray, t: float) -> np.ndarray:
        out = np.zeros_like(self.affine.start[1])
        for i, body in enumerate(self.model.bodies):
            if body.kind == "kinematic":
                now = drive(body, t)
                R = now[:9].reshape(3, 3)
                out[i] = rate_of_twist(affine_of_pose(R, now[9:12]), R @ now[12:15], R @ now[15:18])
        out[self.moving] = v.reshape(-1, 4, 3)
        return out

    def law(self, h: float, memory: np.ndarray | None = None) -> ContactParameters:
        """Of the step that memory tells of; without one, of slow bodies."""
        doubled = memory[self.stiffer] if memory is not None else np.zeros(self.n)
        return self.pressures.law(h, doubled, self.options.modulus, self.options.slip_speed)

    def _stiffened(self, memory: np.ndarray, h: float, Q: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Memory with κ for a step that begins here."""
        out = memory.copy()
        if memory[MEMORY] and self.pressures.deep(memory[-1]):
            out[self.stiffer] = self.pressures.deepened(out[self.stiffer], self.contacts(Q, self.law(h, memory)))
        out[self.stiffer] = self.pressures.raised(out[self.stiffer], h, V)
        out[self.stiffer_ranges] = self.gauged.raised(out[self.stiffer_ranges], self.stiff(h), Q, V)
        return out

    def stiff(self, h: float) -> Stiff:
        return Stiff(self.options.stiffness / h**2, h, float(np.linalg.norm(self.model.gravity)))

    def contacts(self, Q: np.ndarray, law: ContactParameters) -> ContactSet:
        """Near pairs at coordinates of all bodies."""
        x = self.affine.surface.positions(Q)
        return self.affine.nearness.contacts(self.affine.broad.between(x, x, law.reach), Q, x, law.reach, law.parts)

    def signals(self, t: float) -> np.ndarray:
        out = np.array(self.model.signals)
        for slot, count, function, what in self.model.signal_functions:
            values = asked(what, lambda f=function: np.asarray(f(t), float).ravel())
            if values.size != count or not np.isfinite(values).all():
                raise ElementFailed(what, f"{what}: {values.tolist()} at t = {t:g}; it must give {count} finite numbers")
            out[slot : slot + count] = values
        return out

    # the step

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, h: float) -> Made:
        a, m = self.affine, self.moving
        Q, V = self.whole(state.q, state.t), self.rates(state.v, state.t)
        before, _, _, _, Q_old, V_old = self._kept(memory)
        own, vel = Q[m], V[m]
        second = self.options.rule == "bdf2" and before and memory[6] == h
        if second:
            predicted, beta, rate = (4.0 * own - Q_old + 2.0 * h / 3.0 * (4.0 * vel - V_old)) / 3.0, 4.0 / 9.0, 1.5 / h
            origin = Q.copy()
            origin[m] = (4.0 * own - Q_old) / 3.0
            for i, place in a.driven(state.t - h).items():
                origin[i] = (4.0 * Q[i] - place) / 3.0
        else:
            predicted, beta, rate, origin = own + h * vel, 1.0, 1.0 / h, Q.copy()
        t = state.t + h
        memory = self._stiffened(memory, h, Q, V)
        law = self.law(h, memory)
        q_near, signals = memory[self.fitted], self.signals(t)
        Q_ahead, V_ahead = Q, V
        if second or self.stepping.armed:  # forces without an energy where the step will end, to its order
            ahead = 2.0 * vel - V_old if second else vel
            Q_ahead, V_ahead = self.whole((own + h * vel).ravel(), t), self.rates(ahead.ravel(), t)
        lag, V_seen, dampers = Lag.none(self.model), None, None
        if self.lag is None or self.stepping.armed:
            k = self.stepping.kinematics(t, Q_ahead, V_ahead, q_near, signals, control)
            lag, V_seen = self.stepping.lagged(k) if self.lag is None else lag, k.V
            if self.stepping.armed:
                self.stepping.add_armatures(k, lag, rate, self._speeds_before(state, memory, control, second))
        loads, damping = self._lagged(Q_ahead, V_seen, lag, origin, rate)
        powers = lag.powers
        if self.lag is not None:
            more, dampers, powers = self.lag.about(Q_ahead, V_ahead, q_near, signals, control, origin, rate)
            loads = loads + more
        if second:
            powers = self._powers(state, memory, control)
        targets = a.driven(t)
        stiff = self.stiff(h)
        terms = Terms(self.stepping, t, q_near, signals, control, stiff) if self.stepping.any else None
        potentials = self._potentials(state, memory, control, signals, stiff, rate, origin)
        problem = IncrementalStep(a, law, predicted, origin, targets, beta * h * h, rate, loads, terms, potentials)
        contacts = problem.contacts(Q)
        of_elements = element_matrix(a, Q_ahead, damping) if damping else None
        for part in (of_elements, contact_damping(a, contacts, self.damping, law), dampers):
            if part is not None:
                problem.damped = part if problem.damped is None else problem.damped.plus(1.0, part)
        problem.loads += dragged(a, contacts, self.damping, law, targets, origin, rate)
        x, rounds, total = Q.ravel().copy(), max(1, self.options.friction_iterations), 0
        limit = 100 if self.options.friction_iterations == 0 else rounds if before else max(rounds, FIRST_ROUNDS)
        x, total, failure = advance(problem, x, h * vel, self.tolerance, self.options.iterations)
        if failure:
            return Made(state, memory, total, failure=failure + "; try a smaller dt", element=self._culprit(problem, x))
        for k_round in range(limit):
            now = problem.contacts(x.reshape(-1, 4, 3))
            rubbing = Lagged.of(now, problem.forces(now), self.friction[now.pair[:, 0], now.pair[:, 1]])
            if k_round and len(rubbing.bound) == 0:
                break
            problem.lag = rubbing
            found = minimise(problem, x, self.tolerance, self.options.iterations, problem.arrived)
            total += found.iterations
            if not found.converged:
                return Made(state, memory, total, failure=found.why + "; try a smaller dt", element=self._culprit(problem, found.x))
            if k_round and np.abs(found.x - x).max() * rate < self.tolerance:
                x = found.x
                break
            x = found.x
        x = problem.polished(x, found.value)
        Q_new = x.reshape(-1, 4, 3)
        contacts = problem.contacts(Q_new)
        gradient = problem.gradient(Q_new, contacts)
        v = rate * (Q_new - origin)[m]
        kept = memory.copy()
        kept[:3] += 0.5 * memory[6] * (memory[3:6] + powers)
        kept[3:8] = *powers, h, t
        kept[MEMORY : MEMORY + 3] = 1.0, rate, beta * h * h
        kept[MEMORY + 3 : MEMORY + 3 + 36 * self.n] = np.concatenate([origin[m].ravel(), own.ravel(), vel.ravel()])
        after = self.stepping.kinematics(t, Q_new, self.rates(v.ravel(), t), q_near, signals, control)
        self.hinges.fit(after, Q_new)
        kept[self.fitted] = after.q
        kept[self.multipliers] = -self.reduction.multipliers(gradient) / (beta * h * h)  # gradient = β h² Cᵀ μ
        distance = float(contacts.distance.min(initial=np.inf))
        kept[-3:] = total, len(contacts), distance
        violation = float(np.abs(self.reduction.residual(Q_new)).max(initial=0.0))
        if self.stepping.constraints or self.stepping.missing:
            violation = max(violation, self.stepping.potential(after, stiff, blocks=False).violation)
        violation = max(violation, self.gauged.violation(Q_new, q_near))
        return Made(
            State(t, Q_new[m].ravel(), v.ravel(), "affine"), kept, total, found.length, violation, distance,
            (f"{len(contacts)} contacts, {total} iterations", *((f"Newton's method {found.why}",) if found.why else ()), *self.notes()),
        )  # fmt: skip

    def _potentials(
        self, state: State, memory: np.ndarray, control: np.ndarray, signals: np.ndarray, stiff: Stiff, rate: float, origin: np.ndarray
    ) -> list[Potential]:
        """Gauges and springs of a step from a state, with signals of its end."""
        Q, out = self.whole(state.q, state.t), []
        if len(self.gauged) or self.stepping.damped:
            gauges = GaugeTerms(self.gauged, Q, memory[self.fitted], stiff, rate, origin, memory[self.stiffer_ranges])
            if self.stepping.damped:
                gauges.add_dashpots(*self.stepping.dashpots(self.kinematics(state, memory, control), Q, stiff, rate))
            out.append(gauges)
        if self.lag is not None and self.lag.forces.energetic:
            out.append(ForceTerms(self.lag.forces, memory[self.fitted], signals))
        return out

    def _powers(self, state: State, memory: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Of dampers, motors and applied wrenches at a state [W]."""
        if self.lag is None:
            return self.elements.lagged(self.kinematics(state, memory, control)).powers
        Q, V = self.whole(state.q, state.t), self.rates(state.v, state.t)
        return self.lag.powers(Q, V, memory[self.fitted], self.signals(state.t), control)

    def kinematics(self, state: State, memory: np.ndarray, control: np.ndarray) -> Kinematics:
        """Rigid poses and fitted joints at a state, of what steps evaluate in NumPy."""
        Q, V = self.whole(state.q, state.t), self.rates(state.v, state.t)
        return self.stepping.kinematics(state.t, Q, V, memory[self.fitted], self.signals(state.t), control)

    def _speeds_before(self, state: State, memory: np.ndarray, control: np.ndarray, second: bool) -> np.ndarray:
        """Joint velocities from which accelerations of the rule count."""
        now = self.kinematics(state, memory, control)
        if not second:
            return now.v
        t = state.t - self.last_step(memory)
        return (4.0 * now.v - self.stepping.kinematics(t, *self.before(memory, t), now.q, now.signals, control).v) / 3.0

    def _lagged(self, Q: np.ndarray, V: np.ndarray | None, lag: Lag, origin: np.ndarray, rate: float) -> tuple[np.ndarray, dict]:
        """Generalised forces (n, 4, 3) constant over the step, and blocks of dampers. Taken at Q, f − K (x − Q) − D v is the constant
        f + K (Q − origin) and a damper D + K/rate, because v = rate (x − origin)."""
        weight = np.zeros((len(self.moving), 4, 3))
        weight[: len(self.own)] = self.affine.M4[: len(self.own), :, :1] * self.model.gravity
        if V is None:
            return weight, {}
        T = twist_maps(Q[: self.model.n_bodies])
        loads = np.zeros((len(Q), 12))
        loads[: len(T)] = np.einsum("nij,ni->nj", T, lag.wrench)
        blocks = dict(lag.damping)
        way = np.einsum("nij,nj->ni", T, (Q - origin)[: len(T)].reshape(-1, 12))
        for (a, b), D in lag.damping.items():
            if self.affine.place[b] < 0:  # driven: its velocity is known
                loads[a] -= T[a].T @ (D @ V[b])
        for (a, b), K in lag.stiffness.items():
            loads[a] += T[a].T @ (K @ way[b])
            blocks[a, b] = blocks.get((a, b), 0.0) + K / rate
        return loads.reshape(-1, 4, 3)[self.moving] + weight, blocks

    def _culprit(self, problem: IncrementalStep, x: np.ndarray) -> str:
        """The body that the last gradient pulls hardest."""
        Q = x.reshape(-1, 4, 3)
        g = problem.gradient(Q, problem.contacts(Q)).reshape(-1, 12)
        if not len(g):
            return "world"
        hardest = int(np.argmax(np.abs(g).max(axis=1)))
        if hardest < len(self.own):
            return self.model.bodies[self.own[hardest]].name
        return self.model.joints[self.affine.links[hardest - len(self.own)].joint].name

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        return observe_affine(self, state, memory, control)


def exact_elements(reduction: Reduction) -> dict[str, np.ndarray]:
    """Constraint elements that are equations themselves: their rows."""
    rows = [(name, r) for r, (name, j) in enumerate(zip(reduction.names, reduction.joint, strict=True)) if j < 0 and name != "plane"]
    out: dict[str, list[int]] = {}
    for name, r in rows:
        out.setdefault(name, []).append(r)
    return {name: np.array(r) for name, r in out.items()}


def extent(surface: Any, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box around all vertices and origins at the start."""
    x = np.concatenate([surface.positions(Q), Q[:, 0]])
    return x.min(axis=0), x.max(axis=0)
