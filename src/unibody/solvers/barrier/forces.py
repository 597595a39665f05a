"""Forces of a model, class by class, at rigid projections of affine bodies: kernels where a class has them, callbacks where it has none.

Wrenches F and efforts τ become Tᵀ F + Σ τ g, exactly the gradient of the energy that forces book, and blocks B(h) = −h D − h² K of
`AddImplicit`, made positive, give K = −½ (B(1) + B(−1)) and D = −½ (B(1) − B(−1)).

    forces with an energy    a potential (`StoredEnergy`); of its second derivative the positive part of each element
    other forces             f ≈ f₀ − K (x − Q) − D (v − V) about coordinates Q with rates V where the step will end; with v = rate (x − x₀)
                             that is the constant load f₀ + D V + K (Q − x₀) and the damper D + K/rate (`LaggedForces`)
    armatures                efforts −I v̇ with v̇ = rate (v − v₀) of the time rule: a damper rate I and a constant

Driven bodies are where they will be at the end, so they need no slopes of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.coordinates.affine.polar import add_pulled_blocks, add_pulled_loads
from unibody.coordinates.external_forces import load_forces
from unibody.coordinates.implicit_forces import IMPLICIT_CLASS
from unibody.element import APPLIED_POWER, DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY, Kinematics
from unibody.forces.base import AddImplicit, Force
from unibody.kernel import Floats, Ints, kernel
from unibody.model.implicit_tables import ImplicitTables
from unibody.model.tables import ForceTables
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Potential, block_matrix, pair_places
from unibody.solvers.barrier.measure_potential import add_dashpot_blocks
from unibody.solvers.barrier.rigid_view import JointCoordinates, RigidView, SeenBodies

Slopes = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Blocks in body axes: own (21 a body), couplings (36 a pair), diagonals (one a joint velocity)."""


def has_energy(force: Force) -> bool:
    return type(force).energy is not Force.energy


@kernel
def add_ahead_and_behind(
    classes: Ints, index: Ints, parameters: Floats, places: Ints, limit: Floats, signals: Floats, X: Floats, V: Floats, q: Floats,
    v: Floats, control: Floats, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    """Add B(1) to the first half of the blocks and B(−1) to the second, class by class, made positive."""
    n = own_out.size // 2
    m = coupling_out.size // 2
    d = diagonal_out.size // 2
    for k in range(classes.size // IMPLICIT_CLASS):
        at = IMPLICIT_CLASS * k
        mine = index[classes[at + 1] : classes[at + 2]]
        numbers = parameters[classes[at + 3] : classes[at + 4]]
        coupled = places[classes[at + 5] : classes[at + 6]]
        AddImplicit(
            classes[at], mine, numbers, signals, X, V, q, v, control, limit, coupled, 1.0, 1,
            F_out, effort_out, own_out[:n], coupling_out[:m], diagonal_out[:d],
        )  # fmt: skip
        AddImplicit(
            classes[at], mine, numbers, signals, X, V, q, v, control, limit, coupled, -1.0, 1,
            F_out, effort_out, own_out[n:], coupling_out[m:], diagonal_out[d:],
        )  # fmt: skip


class ForceSlopes:
    """K and D of some of a model's forces."""

    def __init__(self, system: AffineSystem, leave_out: Iterable[str], limit: np.ndarray):
        model = system.model
        tables = ImplicitTables(model, system.callback_errors, system.clock, frozenset(leave_out))
        self._system, self._tables = system, (tables.classes, tables.index, tables.parameters, tables.places, limit)
        self.any = len(tables.classes) > 0
        self.pair = tables.couplings
        self._sizes = 2 * 21 * model.n_bodies, 2 * 36 * len(tables.couplings), 2 * model.nv_joints

    def blocks(self, *at: np.ndarray) -> tuple[Slopes, Slopes]:
        """−K and −D at (signals, X, V, q, v, control), each element's made positive."""
        V, v = at[2], at[4]
        made = tuple(np.zeros(size) for size in self._sizes)
        add_ahead_and_behind(*self._tables, *at, np.zeros(V.size), np.zeros(v.size), *made)
        if self._system.callback_errors.error is not None:
            self._system.raise_callback_error()
        both = [np.split(given, 2) for given in made]
        return tuple(0.5 * (a + b) for a, b in both), tuple(0.5 * (a - b) for a, b in both)  # type: ignore[return-value]


def add_slopes(
    blocks: Slopes, slopes: ForceSlopes, joints: JointCoordinates, seen: SeenBodies, places: Sequence[np.ndarray], factor: float,
    own_out: np.ndarray, between_out: np.ndarray,
) -> None:  # fmt: skip
    """Blocks in body axes and diagonals of joint velocities into blocks of affine coordinates."""
    in_bodies, coupling, diagonal = blocks
    add_pulled_blocks(in_bodies, slopes.pair.ravel(), coupling, places[0], seen.T, factor, own_out, between_out)
    strength = diagonal[joints.which]
    held = np.flatnonzero(strength)
    if len(held):
        rows = seen.rows.reshape(-1, 24)[joints.which[held]].ravel()
        add_dashpot_blocks(joints.pair[held].ravel(), places[1][held], rows, strength[held], factor, own_out, between_out)


class Forces:
    """All forces of a model and its control."""

    def __init__(self, system: AffineSystem, view: RigidView):
        model = system.model
        self.model, self.n, self.nv = model, model.n_bodies, model.nv_joints
        self._view, self._system = view, system
        self.limit = np.concatenate([np.zeros(0), *(j.effort_limit for j in model.joints)])
        stores = {name: f for name, f in model.forces if has_energy(f)}
        self.energetic = bool(stores)
        self._all = self._tables(None)
        compiled = [name for name, f in stores.items() if type(f).add_kernel is not None]
        self._storing = self._tables(compiled)
        self._others = {name: f for name, f in stores.items() if name not in compiled}
        """Forces with an energy of which only NumPy knows."""
        self._storing_others = self._tables(list(self._others))
        self.storing = ForceSlopes(system, (name for name, _ in model.forces if name not in stores), self.limit)
        self.other = ForceSlopes(system, stores, self.limit)
        self.sprung = view.coordinates({j for f in stores.values() for j in f.joints()})
        self.touched = view.coordinates({j for _, f in model.forces for j in f.joints()})
        self.neutral = model.neutral_control()
        self.rest = np.zeros(6 * self.n), np.zeros(self.nv)

    def _tables(self, only: Sequence[str] | None) -> ForceTables:
        return ForceTables(self.model, self._system.callback_errors, self._system.clock, only)

    @cached_property
    def every(self) -> JointCoordinates:
        """Of all joints, for efforts that control gives."""
        return self._view.coordinates()

    def is_idle(self, control: np.ndarray) -> bool:
        return not self.model.forces and not control[: self.nv + 6 * self.n].any()

    def _load(self, tables: ForceTables, signals: np.ndarray, *at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches, efforts and ledger at (X, V, q, v, control)."""
        F, effort, ledger, right = np.empty(6 * self.n), np.empty(2 * self.nv), np.empty(4), np.empty(self.nv)
        load_forces(tables.classes, tables.index, tables.parameters, self.limit, signals, *at, F, effort, ledger, right)
        if self._system.callback_errors.error is not None:
            self._system.raise_callback_error()
        return F, right, ledger

    def stored(self, X: np.ndarray, q: np.ndarray, signals: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, wrenches and efforts of what stores energy."""
        V, v = self.rest
        F, right, ledger = self._load(self._storing, signals, X, V, q, v, self.neutral)
        total = float(ledger[SPRING_ENERGY])
        if self._others:
            more, efforts, _ = self._load(self._storing_others, signals, X, V, q, v, self.neutral)
            F, right = F + more, right + efforts
            t = float(self._system.clock[0])
            k = Kinematics(t, X.reshape(-1, 12), V.reshape(-1, 6), q, v, signals, self.neutral, self._view.names)
            for name, force in self._others.items():
                self._system.callback_errors.element = name
                total += float(self._system.asked(force.energy, k))
        return total, F, right

    def acting(
        self, X: np.ndarray, V: np.ndarray, q: np.ndarray, v: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches, efforts, and powers of dampers, motors and applied wrenches, of all forces and of control, in motion."""
        F, right, ledger = self._load(self._all, signals, X, V, q, v, control)
        return F, right, ledger[[DAMPER_POWER, MOTOR_POWER, APPLIED_POWER]]


class StoredEnergy(Potential):
    """The energy of springs and other forces during one step, with signals of its end and joint coordinates near q."""

    def __init__(self, forces: Forces, q_near: np.ndarray, signals: np.ndarray, factor: float):
        self._forces, self._q_near, self._signals, self._factor = forces, q_near, signals, factor
        self._known: tuple[SeenBodies, tuple[float, np.ndarray, np.ndarray]] | None = None

    def _at(self, x: np.ndarray) -> tuple[SeenBodies, tuple[float, np.ndarray, np.ndarray]]:
        """Bodies as forces see them, with energy, wrenches and efforts; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0].x, x):
            seen = self._forces.sprung.see(x, self._q_near)
            self._known = seen, self._forces.stored(seen.X[: 12 * self._forces.n], seen.q, self._signals)
        return self._known

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self._forces.storing.pair, self._forces.sprung.pair

    def value(self, x: np.ndarray) -> float:
        return self._factor * self._at(x)[1][0]

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        seen, (_, F, efforts) = self._at(x)
        joints = self._forces.sprung
        add_pulled_loads(F, seen.T, joints.which, joints.pair.ravel(), seen.rows, efforts, -self._factor, gradient_out)

    def add_blocks(
        self, x: np.ndarray, places: Sequence[np.ndarray], careful: bool, own_out: np.ndarray, between_out: np.ndarray
    ) -> None:
        """Positive in any case."""
        seen, f = self._at(x)[0], self._forces
        V, v = f.rest
        stiffness, _ = f.storing.blocks(self._signals, seen.X[: 12 * f.n], V, seen.q, v, f.neutral)
        add_slopes(stiffness, f.storing, f.sprung, seen, places, self._factor, own_out, between_out)


class LaggedForces:
    """Forces without an energy, control and armatures, linear over a step."""

    def __init__(self, system: AffineSystem, view: RigidView, forces: Forces):
        self._system, self._forces = system, forces
        self.armed = [j for j in system.model.joints if j.armature.any()]
        self._armed = view.coordinates({j.name for j in self.armed}, measured=False)

    def powers(self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Of dampers, motors and applied wrenches [W]."""
        return np.zeros(3) if self._forces.is_idle(control) else self._seen(Q, V, q_near, signals, control)[-1]

    def _seen(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> tuple[JointCoordinates, SeenBodies, tuple[np.ndarray, ...], np.ndarray, np.ndarray, np.ndarray]:
        """Joints and bodies as forces see them, what slopes are asked with, and wrenches, efforts and powers there."""
        f = self._forces
        joints = f.every if control[: f.nv].any() else f.touched
        seen = joints.see(np.ascontiguousarray(Q).ravel(), q_near)
        twists = np.einsum("nij,nj->ni", seen.T.reshape(-1, 6, 12), V.reshape(-1, 12))[: f.n]
        X, V_seen, v = seen.X[: 12 * f.n], np.ascontiguousarray(twists).ravel(), joints.velocities(seen, V)
        return joints, seen, (signals, X, V_seen, seen.q, v, control), *f.acting(X, V_seen, seen.q, v, signals, control)

    def about(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray, origin: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix | None, np.ndarray]:
        """Constant loads (moving, 12), dampers over the moving bodies [N s/m], and powers."""
        s, f = self._system, self._forces
        if f.is_idle(control):
            return np.zeros((len(s.moving), 12)), None, np.zeros(3)
        joints, seen, at, F, efforts, powers = self._seen(Q, V, q_near, signals, control)
        # f₀: all that acts, without what stores energy
        loads, pull = np.zeros(Q.size), (joints.which, joints.pair.ravel(), seen.rows)
        if f.energetic:
            _, F_stored, stored = f.stored(at[1], seen.q, signals)
        add_pulled_loads(F, seen.T, *pull, efforts, 1.0, loads)
        if f.energetic:
            add_pulled_loads(F_stored, seen.T, *pull, stored, -1.0, loads)
        out, damper = loads.reshape(-1, 12)[s.moving].ravel(), None
        # D V + K (Q − x₀) and D + K/rate
        for slopes, stores in ((f.storing, True), (f.other, False)):
            if slopes.any:
                stiffness, damping = slopes.blocks(*at)
                D = self._matrix(damping, slopes, joints, seen)
                out = out + D.product(V[s.moving].ravel())
                if not stores:
                    K = self._matrix(stiffness, slopes, joints, seen)
                    out, D = out + K.product((Q - origin)[s.moving].ravel()), D.plus(1.0 / rate, K)
                damper = D if damper is None else damper.plus(1.0, D)
        return out.reshape(-1, 12), damper, powers

    def _matrix(self, blocks: Slopes, slopes: ForceSlopes, joints: JointCoordinates, seen: SeenBodies) -> BlockMatrix:
        n = seen.x.size // 12
        keys, places = pair_places([slopes.pair, joints.pair], n)
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        add_slopes(blocks, slopes, joints, seen, places, 1.0, own, between)
        return block_matrix(own, keys, between, self._system)

    def armatures(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, before: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix]:
        """Constant loads (moving, 12) and dampers of −I rate (v − before), along the joints' motions at Q."""
        s, joints = self._system, self._armed
        seen = joints.see(np.ascontiguousarray(Q).ravel(), q_near)
        strength = np.concatenate([rate * j.armature for j in s.model.joints])[joints.which]
        rows, loads = seen.rows.reshape(-1, 2, 12)[joints.which], np.zeros((len(Q), 12))
        # Of bodies that do not move freely the velocity is known.
        known = np.where(s.place[joints.pair] < 0, np.einsum("nsj,nsj->ns", rows, V.reshape(-1, 12)[joints.pair]), 0.0).sum(axis=1)
        np.add.at(loads, joints.pair, (strength * (before[joints.which] - known))[:, None, None] * rows)
        keys, places = pair_places([joints.pair], len(Q))
        own, between = np.zeros(144 * len(Q)), np.zeros(144 * len(keys))
        add_dashpot_blocks(joints.pair.ravel(), places[0], np.ascontiguousarray(rows).ravel(), strength, 1.0, own, between)
        return loads[s.moving], block_matrix(own, keys, between, s)
