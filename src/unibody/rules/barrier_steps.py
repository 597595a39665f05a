"""The barrier solver's steps: predictions of the time rules, contact laws from the model, Newton's method, memory and observation.

Memory, after the ledger of work (MEMORY numbers): whether there was a step; the step's rate ∂v/∂x and factor β h²; coordinates from which
velocity counts (12 per moving body); coordinates and velocities before the step (12 + 12); fitted joint coordinates; multipliers of
joint equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from unibody.algebra.minimise import minimise
from unibody.collision.intersect import crossing
from unibody.constraints.contact import Contact
from unibody.contact.affine_elements import Elements, Stiff, relative, relative_twist, twist_maps
from unibody.contact.friction import Lagged
from unibody.contact.near import Contacts
from unibody.coordinates.affine import affine_of_pose, polar, rate_of_twist, twist_of_rate
from unibody.coordinates.convert import poses_and_twists
from unibody.coordinates.observed import Observation
from unibody.coordinates.signals import drive
from unibody.element import Kinematics
from unibody.errors import ModelError
from unibody.model import Model, State
from unibody.rules.base import MEMORY
from unibody.rules.driven_bodies import advance
from unibody.rules.incremental import AffineSystem, Law, Step, Terms, contact_matrix, element_matrix
from unibody.spatial.pose import quaternion_from_rotation

RULES = ("implicit", "bdf2")


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


class BarrierSystem:
    """A model bound to the barrier solver's options."""

    def __init__(self, model: Model, options: Any):
        self.model, self.options = model, options
        self.rules = [c for _, c in model.constraints if isinstance(c, Contact)]
        everyone = next((c for c in self.rules if c.between is None), None)
        self.affine = AffineSystem(model, *contact_filter(model, self.rules))
        self.reduction = self.affine.reduction
        self.moving, self.n = self.affine.moving, len(self.affine.moving)
        self.elements = Elements(model, self.reduction.missing)
        self.everyone = everyone
        low, high = extent(self.affine.surface, self.affine.start[0])
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.reach = everyone.reach if everyone is not None and everyone.reach is not None else 1e-3 * self.size
        self.friction, self.damping = pair_tables(model, self.rules)
        self.memory_size = MEMORY + 3 + 36 * self.n + model.nq_joints + 3 * len(self.reduction.equations)

    # memory

    def fresh_memory(self, t: float) -> np.ndarray:
        out = np.zeros(self.memory_size)
        out[7] = t
        out[self._fitted] = self.model.start_q()
        return out

    @property
    def _fitted(self) -> slice:
        first = MEMORY + 3 + 36 * self.n
        return slice(first, first + self.model.nq_joints)

    def _kept(self, memory: np.ndarray) -> tuple[bool, float, float, np.ndarray, np.ndarray, np.ndarray]:
        """Whether there was a step, rate, β h², and origin, coordinates and velocities before it (n, 4, 3)."""
        arrays = memory[MEMORY + 3 : MEMORY + 3 + 36 * self.n].reshape(3, self.n, 4, 3)
        return bool(memory[MEMORY]), float(memory[MEMORY + 1]), float(memory[MEMORY + 2]), arrays[0], arrays[1], arrays[2]

    # states

    def begin(self, state: State | None) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates and velocities of the moving bodies, and the time, of a start."""
        if state is not None and state.coordinates == "affine":
            if state.q.size != 12 * self.n or state.v.size != 12 * self.n:
                raise ModelError(f"state holds {state.q.size} coordinates, this model has {12 * self.n}; give one of the same model")
            return state.q, state.v, state.t
        if state is None:
            Q, V, t = *self.affine.start, 0.0
        else:
            poses, twists = poses_and_twists(self.model, state)
            R, p = np.array([X.R for X in poses]), np.array([X.p for X in poses])
            Q, t = affine_of_pose(R, p), state.t
            V = rate_of_twist(Q, np.einsum("nij,nj->ni", R, np.array(twists)[:, :3]), np.einsum("nij,nj->ni", R, np.array(twists)[:, 3:]))
        Q = self.reduction.put(Q)
        self._refuse_crossing(Q)
        return Q[self.moving].reshape(-1), V[self.moving].reshape(-1), t

    def _refuse_crossing(self, Q: np.ndarray) -> None:
        if not self.rules:
            return
        a = self.affine
        pair = crossing(a.surface, a.broad, a.surface.positions(Q), a.surface.planes(Q))
        if pair is not None:
            one, other = (self.model.bodies[i].name for i in pair)
            raise ModelError(f"bodies '{one}' and '{other}' intersect at the start; move them apart, or add Contact(between=…, on=False)")

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

    def law(self, h: float) -> Law:
        """κ so that a body may rest on a share of its surface, and be stopped from a step's fall, well within the reach."""
        o = self.options
        pressure = self.everyone.pressure if self.everyone is not None else None
        if pressure is None:
            weight = 10.0 * float(np.linalg.norm(self.model.gravity)) + self.reach / h**2
            pressure = max((b.mass / area * weight for b, area in self._areas()), default=1.0)
        return Law(self.reach, pressure, o.modulus, o.slip_speed)

    def _areas(self) -> list[tuple[Any, float]]:
        """Moving bodies that can be touched, and a sixth of their surface."""
        s = self.affine.surface
        total = np.bincount(s.body, s.vertex_area, self.model.n_bodies) if len(s.body) else np.zeros(self.model.n_bodies)
        return [(self.model.bodies[i], total[i] / 6.0) for i in self.moving if total[i] > 0.0]

    def stiff(self, h: float, law: Law) -> Stiff:
        mass = max((self.model.bodies[i].mass for i in self.moving), default=1.0)
        k = self.options.stiffness * mass / h**2
        return Stiff(k, k * self.size**2 * 0.01, mass * (0.05 * self.size / h) ** 2 * 0.01, 0.02)

    def _signals(self, t: float) -> np.ndarray:
        out = np.array(self.model.signals)
        for slot, count, function, what in self.model.signal_functions:
            values = np.asarray(function(t), float).ravel()
            if values.size != count or not np.isfinite(values).all():
                raise ModelError(f"{what}: {values.tolist()} at t = {t:g}; it must give {count} finite numbers")
            out[slot : slot + count] = values
        return out

    # the step

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, h: float) -> Made:
        a, m = self.affine, self.moving
        Q, V = self.whole(state.q, state.t), self.rates(state.v, state.t)
        before, _, _, _, Q_old, V_old = self._kept(memory)
        own, vel = Q[m], V[m]
        if self.options.rule == "bdf2" and before:
            predicted, beta, rate = (4.0 * own - Q_old + 2.0 * h / 3.0 * (4.0 * vel - V_old)) / 3.0, 4.0 / 9.0, 1.5 / h
            origin = Q.copy()
            origin[m] = (4.0 * own - Q_old) / 3.0
            for i, place in a.driven(state.t - h).items():
                origin[i] = (4.0 * Q[i] - place) / 3.0
        else:
            predicted, beta, rate, origin = own + h * vel, 1.0, 1.0 / h, Q.copy()
        t = state.t + h
        law = self.law(h)
        q_near, signals = memory[self._fitted], self._signals(t)
        k = self.elements.kinematics(t, Q, V, q_near, self._signals(state.t), control)
        loads, damping = self._lagged(Q, k, control)
        targets = a.driven(t)
        terms = Terms(self.elements, t, q_near, signals, control, self.stiff(h, law)) if self.elements.any else None
        problem = Step(a, law, predicted, origin, targets, beta * h * h, rate, loads, terms)
        contacts = problem.contacts(Q)
        problem.damped = self._damping(Q, damping, contacts, law)
        x, rounds, total = Q.reshape(-1).copy(), max(1, self.options.friction_iterations), 0
        limit = 100 if self.options.friction_iterations == 0 else rounds
        x, total, failure = advance(problem, x, h * vel, self.options.tolerance, self.options.iterations)
        if failure:
            return Made(state, memory, total, failure=failure + "; try a smaller dt", element=self._culprit(problem, x))
        for k_round in range(limit):
            now = problem.contacts(x.reshape(-1, 4, 3))
            lag = Lagged.of(now, problem.forces(now), self.friction[now.pair[:, 0], now.pair[:, 1]])
            if k_round and len(lag.bound) == 0:
                break
            problem.lag = lag
            found = minimise(problem, x, self.options.tolerance, self.options.iterations, problem.arrived)
            total += found.iterations
            if not found.converged:
                return Made(state, memory, total, failure=found.why + "; try a smaller dt", element=self._culprit(problem, found.x))
            if k_round and np.abs(found.x - x).max() * rate < self.options.tolerance:
                x = found.x
                break
            x = found.x
        Q_new = x.reshape(-1, 4, 3)
        contacts = problem.contacts(Q_new)
        gradient = problem.gradient(Q_new, contacts)
        v = rate * (Q_new - origin)[m]
        kept = memory.copy()
        kept[7] = t
        kept[6] = h
        kept[MEMORY : MEMORY + 3] = 1.0, rate, beta * h * h
        kept[MEMORY + 3 : MEMORY + 3 + 36 * self.n] = np.concatenate([origin[m].ravel(), own.ravel(), vel.ravel()])
        after = self.elements.kinematics(t, Q_new, self.rates(v.reshape(-1), t), q_near, signals, control)
        kept[self._fitted] = after.q
        kept[self._fitted.stop :] = -self.reduction.multipliers(gradient) / (beta * h * h)  # gradient = β h² Cᵀ μ
        return Made(
            State(t, Q_new[m].reshape(-1), v.reshape(-1), "affine"), kept, total, found.length,
            float(np.abs(self.reduction.residual(Q_new)).max(initial=0.0)), float(contacts.distance.min(initial=np.inf)),
            (f"{len(contacts)} contacts, {total} iterations",),
        )  # fmt: skip

    def _lagged(self, Q: np.ndarray, k: Kinematics, control: np.ndarray) -> tuple[np.ndarray, dict]:
        """Generalised forces (n, 4, 3) constant over the step, and damping blocks."""
        wrench, damping = self.elements.lagged(k)
        R = k.X[:, :9].reshape(-1, 3, 3)
        nv = self.model.nv_joints
        given = control[nv : nv + 6 * self.model.n_bodies].reshape(-1, 6)
        wrench[:, :3] += np.einsum("nji,nj->ni", R, given[:, :3])
        wrench[:, 3:] += np.einsum("nji,nj->ni", R, given[:, 3:])
        for j in self.model.joints:
            effort = control[j.v_start : j.v_start + j.nv]
            if effort.any():
                for body, J in self.elements._rows(j, k):
                    wrench[body] += J.T @ np.clip(effort, -j.effort_limit, j.effort_limit)
        T = twist_maps(Q)
        loads = np.einsum("nij,ni->nj", T, wrench).reshape(-1, 4, 3)[self.moving]
        return loads + self.affine.M4[:, :, :1] * self.model.gravity, damping

    def _damping(self, Q: np.ndarray, blocks: dict, contacts: Contacts, law: Law) -> sp.spmatrix | None:
        """N s/m: of dampers, and k_d times the barriers' stiffness at the beginning of the step (Eq. 21)."""
        out = element_matrix(self.affine, Q, blocks) if blocks else None
        if self.damping.any() and len(contacts):
            kd = self.damping[contacts.pair[:, 0], contacts.pair[:, 1]]
            record = contacts.record.copy()
            record[:, 12] *= kd
            damped = Contacts(contacts.pair, record)
            H = contact_matrix(self.affine, damped, law)
            out = H if out is None else out + H
        return out

    def _culprit(self, problem: Step, x: np.ndarray) -> str:
        """The body that the last gradient pulls hardest."""
        Q = x.reshape(-1, 4, 3)
        g = problem.gradient(Q, problem.contacts(Q)).reshape(-1, 12)
        return self.model.bodies[self.moving[int(np.argmax(np.abs(g).max(axis=1)))]].name if len(g) else "world"

    # observation

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        Q, V = self.whole(state.q, state.t), self.rates(state.v, state.t)
        before = self._kept(memory)[0]
        k = self.elements.kinematics(state.t, Q, V, memory[self._fitted], self._signals(state.t), control)
        law = self.law(memory[6] or 1e-2)
        stiff = self.stiff(memory[6] or 1e-2, law)
        pull = self.elements.potential(k, stiff, blocks=False)
        multipliers = memory[self._fitted.stop :] if before else self.accelerations(Q, V, k, control)[1]
        own = V[self.moving]
        kinetic = 0.5 * float(np.einsum("nai,nab,nbi->", own, self.affine.M4, own))
        height = float(-(np.einsum("na,nai->ni", self.affine.M4[:, 0], Q[self.moving]) @ self.model.gravity).sum())
        R, _ = polar(Q)
        poses = np.array([[*Q[i, 0], *quaternion_from_rotation(R[i])] for i in range(len(Q))])
        reactions = self._reactions(Q, R, multipliers)
        q = self._joint_q(k)
        return Observation(
            time=state.t, poses=poses, twists=twist_of_rate(Q, V), joint_q=q, joint_v=self._joint_v(q, k), kinetic=kinetic,
            gravity=height, springs=pull.value, powers=np.zeros(3), reactions=reactions, constraint_wrenches=reactions.copy(),
            violation=float(np.abs(self.reduction.residual(Q)).max(initial=0.0)), redundant=len(self.reduction.redundant),
            redundant_names=tuple(self.reduction.redundant),
        )  # fmt: skip

    def _joint_q(self, k: Kinematics) -> np.ndarray:
        """Coordinates of all joints, fitted to the bodies' poses."""
        q = k.q.copy()
        for j in self.model.joints:
            R, p = relative(j, k.X)
            q[j.q_start : j.q_start + j.nq] = j.element.fit(R, p, q[j.q_start : j.q_start + j.nq])
        return q

    def _joint_v(self, q: np.ndarray, k: Kinematics) -> np.ndarray:
        v = np.zeros(self.model.nv_joints)
        for j in self.model.joints:
            A_c, A_p = relative_twist(j, k.X)
            S = j.element.motion(q[j.q_start : j.q_start + j.nq])
            v[j.v_start : j.v_start + j.nv] = np.linalg.pinv(S) @ (A_c @ k.V[j.child] + A_p @ k.V[j.parent])
        return v

    def _reactions(self, Q: np.ndarray, R: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """(joints, 6) torque and force on the child at M, world axes, of the linear equations: a force λ at the material vector u."""
        out = np.zeros((len(self.model.joints), 6))
        for e, force in zip(self.reduction.equations, multipliers.reshape(-1, 3), strict=True):
            j = self.model.joints[e.joint]
            M = Q[e.child, 0] + np.asarray(j.X_BM.p) @ Q[e.child, 1:]
            arm = e.u_c @ Q[e.child] - e.u_c[0] * M
            out[e.joint, :3] += np.cross(arm, force)
            out[e.joint, 3:] += e.u_c[0] * force
        return out

    def accelerations(self, Q: np.ndarray, V: np.ndarray, k: Kinematics, control: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Q̈ (n, 4, 3) of rigid bodies, and multipliers of the joints' equations: rigidity is held by equations too, (AᵀA)¨ = 0."""
        loads, damping = self._lagged(Q, k, control)
        T = twist_maps(Q)
        for (a, b), D in damping.items():
            if self.affine.place[a] >= 0:
                loads[self.affine.place[a]] -= (T[a].T @ (D @ k.V[b])).reshape(4, 3)
        law = self.law(1e-2)
        pull = self.elements.potential(k, self.stiff(1e-2, law), blocks=False)
        loads = loads + np.einsum("nij,ni->nj", T, pull.wrench).reshape(-1, 4, 3)[self.moving]
        i, j, data, right = [], [], [], []
        for b, body in enumerate(self.moving):
            for c, (p, r) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
                i += [6 * b + c] * 6
                j += [12 * b + 3 * (p + 1) + x for x in range(3)] + [12 * b + 3 * (r + 1) + x for x in range(3)]
                data += [*Q[body, r + 1], *Q[body, p + 1]]
                right.append(-2.0 * float(V[body, p + 1] @ V[body, r + 1]))
        n = 12 * self.n
        rigid = sp.csr_matrix((data, (i, j)), shape=(6 * self.n, n))
        rows = np.concatenate(self.reduction._rows) if self.reduction._rows else np.zeros(0, int)
        C = self.reduction.C[rows]
        G = sp.vstack([rigid, C]).tocsr()
        H = sp.bmat([[sp.block_diag(list(self.affine.M)), -G.T], [G, -1e-14 * sp.eye(G.shape[0])]]).tocsc()
        solution = spl.splu(H).solve(np.concatenate([loads.reshape(-1), right, np.zeros(len(rows))]))
        multipliers = np.zeros(3 * len(self.reduction.equations))
        multipliers[rows] = solution[n + 6 * self.n :]
        return solution[:n].reshape(-1, 4, 3), multipliers


def contact_filter(model: Model, rules: list[Contact]) -> tuple[bool, set[tuple[int, int]], set[tuple[int, int]]]:
    """Whether bodies touch at all, pairs that do not, and pairs that do although a joint connects them."""
    everyone = next((c for c in rules if c.between is None), None)
    off, also = set(), set()
    for c in rules:
        if c.between is not None:
            a, b = (model.body(name) for name in c.between)
            (also if c.on else off).add((min(a, b), max(a, b)))
    if everyone is not None and everyone.neighbours:
        also |= {(min(j.parent, j.child), max(j.parent, j.child)) for j in model.joints if not j.implicit} - off
    return bool(rules) and (everyone is None or everyone.on), off, also


def pair_tables(model: Model, rules: list[Contact]) -> tuple[np.ndarray, np.ndarray]:
    """μ and k_d of every pair of bodies."""
    n = model.n_bodies
    friction, damping = np.zeros((n, n)), np.zeros((n, n))
    for c in sorted(rules, key=lambda c: c.between is not None):
        at = (slice(None), slice(None)) if c.between is None else np.ix_(*[[model.body(b) for b in c.between]] * 2)
        friction[at], damping[at] = c.friction, c.damping
    return friction, damping


def extent(surface: Any, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box around all vertices and origins at the start."""
    x = np.concatenate([surface.positions(Q), Q[:, 0]])
    return x.min(axis=0), x.max(axis=0)
