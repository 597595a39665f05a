"""Forces of a model in affine coordinates, class by class, at rigid projections: by kernels, or by callbacks where a class has none.

Wrenches F and efforts τ become Tᵀ F + Σ τ g (`rigid_view`), exactly the gradient of the energy that forces book, and blocks B(h) = −h D −
h² K of `AddImplicit`, made positive, give K = −½ (B(1) + B(−1)) and D = −½ (B(1) − B(−1)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.coordinates.affine.polar import add_dashpot_blocks, add_pulled_blocks
from unibody.coordinates.affine.rigid_view import JointCoordinates, RigidView, SeenBodies
from unibody.coordinates.external_forces import load_forces
from unibody.element import APPLIED_POWER, DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY, Kinematics
from unibody.forces.base import AddImplicit, Force
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model
from unibody.model.implicit_tables import IMPLICIT_CLASS, ImplicitTables
from unibody.model.tables import CallbackErrors, ForceTables


class ElementFailed(RuntimeError):
    """An element's own code raised, or gave something that is not finite."""

    def __init__(self, element: str, why: str):
        super().__init__(why)
        self.element = element


def asked(errors: CallbackErrors, call: Callable[..., Any], *arguments: Any) -> Any:
    """What a user's function gives; what it raises is told with the name of its element."""
    try:
        return call(*arguments)
    except Exception as error:
        raise ElementFailed(errors.element, f"{type(error).__name__}: {error}") from error


def raise_error_of(errors: CallbackErrors) -> None:
    """Raise what users' code raised that a kernel has called."""
    error, errors.error = errors.error, None
    if not isinstance(error, Exception):
        assert error is not None
        raise error
    raise ElementFailed(errors.blamed, f"{type(error).__name__}: {error}") from error


Slopes = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Blocks in body axes: own (21 a body), couplings (36 a pair), diagonals (one a joint velocity)."""
BodyBlocks = tuple[np.ndarray, np.ndarray]
"""Blocks of affine coordinates: own (144 a body), between (144 a pair)."""


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


@dataclass(frozen=True)
class ForcesInMotion:
    """All that acts on bodies in motion: the joints that are seen, the bodies as forces see them, what slopes are asked with (signals, X,
    V, q, v, control), and wrenches, efforts and powers of dampers, motors and applied wrenches there."""

    joints: JointCoordinates
    seen: SeenBodies
    at: tuple[np.ndarray, ...]
    F: np.ndarray
    efforts: np.ndarray
    powers: np.ndarray


class ForceSlopes:
    """K and D of some of a model's forces."""

    def __init__(self, model: Model, errors: CallbackErrors, clock: np.ndarray, leave_out: Iterable[str], limit: np.ndarray):
        tables = ImplicitTables(model, errors, clock, frozenset(leave_out))
        self._errors, self._tables = errors, (tables.classes, tables.index, tables.parameters, tables.places, limit)
        self.any = len(tables.classes) > 0
        self.pair = tables.couplings
        self._sizes = 2 * 21 * model.n_frames, 2 * 36 * len(tables.couplings), 2 * model.nv_joints

    def blocks(self, *at: np.ndarray) -> tuple[Slopes, Slopes]:
        """−K and −D at (signals, X, V, q, v, control), each element's made positive."""
        V, v = at[2], at[4]
        made = tuple(np.zeros(size) for size in self._sizes)
        add_ahead_and_behind(*self._tables, *at, np.zeros(V.size), np.zeros(v.size), *made)
        if self._errors.error is not None:
            raise_error_of(self._errors)
        both = [np.split(given, 2) for given in made]
        return tuple(0.5 * (a + b) for a, b in both), tuple(0.5 * (a - b) for a, b in both)  # type: ignore[return-value]

    def pulled(
        self, acting: ForcesInMotion, places: Sequence[np.ndarray], pairs: int, stiff: bool
    ) -> tuple[BodyBlocks | None, BodyBlocks]:
        """K, if it is asked for, and D as blocks 12×12 of bodies and of so many pairs; `places` of couplings and of joints among these."""
        stiffness, damping = self.blocks(*acting.at)

        def pulled(blocks: Slopes) -> BodyBlocks:
            own, between = np.zeros(12 * acting.seen.x.size), np.zeros(144 * pairs)
            add_slopes(blocks, self, acting.joints, acting.seen, places, 1.0, own, between)
            return own, between

        return pulled(stiffness) if stiff else None, pulled(damping)


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


class AffineForces:
    """All forces of a model and its control."""

    def __init__(self, view: RigidView, errors: CallbackErrors, clock: np.ndarray):
        self.model, model = view.model, view.model
        self.n, self.nv, self._bodies = model.n_frames, model.nv_joints, model.n_bodies
        self._view, self._errors, self._clock = view, errors, clock
        self.limit = np.concatenate([np.zeros(0), *(j.effort_limit for j in model.joints)])
        stores = {name: f for name, f in model.forces if has_energy(f)}
        self.energetic = bool(stores)
        self._all = self._tables(None)
        compiled = [name for name, f in stores.items() if type(f).add_kernel is not None]
        self._storing = self._tables(compiled)
        self._others = {name: f for name, f in stores.items() if name not in compiled}
        """Forces with an energy of which only NumPy knows."""
        self._storing_others = self._tables(list(self._others))
        self.storing = ForceSlopes(model, errors, clock, (name for name, _ in model.forces if name not in stores), self.limit)
        self.other = ForceSlopes(model, errors, clock, stores, self.limit)
        self.sprung = view.coordinates({j for f in stores.values() for j in f.joints()})
        self.touched = view.coordinates({j for _, f in model.forces for j in f.joints()})
        self.neutral = model.neutral_control()
        self.rest = np.zeros(6 * self.n), np.zeros(self.nv)

    def _tables(self, only: Sequence[str] | None) -> ForceTables:
        return ForceTables(self.model, self._errors, self._clock, only)

    @cached_property
    def every(self) -> JointCoordinates:
        """Of all joints, for efforts that control gives."""
        return self._view.coordinates()

    def _load(self, tables: ForceTables, signals: np.ndarray, *at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches, efforts and ledger at (X, V, q, v, control)."""
        F, effort, ledger, right = np.empty(6 * self.n), np.empty(2 * self.nv), np.empty(4), np.empty(self.nv)
        load_forces(tables.classes, tables.index, tables.parameters, self.limit, signals, *at, self._bodies, F, effort, ledger, right)
        if self._errors.error is not None:
            raise_error_of(self._errors)
        return F, right, ledger

    def stored(self, X: np.ndarray, q: np.ndarray, signals: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, wrenches and efforts of what stores energy."""
        V, v = self.rest
        F, right, ledger = self._load(self._storing, signals, X, V, q, v, self.neutral)
        total = float(ledger[SPRING_ENERGY])
        if self._others:
            more, efforts, _ = self._load(self._storing_others, signals, X, V, q, v, self.neutral)
            F, right = F + more, right + efforts
            t = float(self._clock[0])
            k = Kinematics(t, X.reshape(-1, 12), V.reshape(-1, 6), q, v, signals, self.neutral, self._view.names)
            for name, force in self._others.items():
                self._errors.element = name
                total += float(asked(self._errors, force.energy, k))
        return total, F, right

    def acting(
        self, X: np.ndarray, V: np.ndarray, q: np.ndarray, v: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches, efforts, and powers of dampers, motors and applied wrenches, of all forces and of control, in motion."""
        F, right, ledger = self._load(self._all, signals, X, V, q, v, control)
        return F, right, ledger[[DAMPER_POWER, MOTOR_POWER, APPLIED_POWER]]

    def in_motion(
        self, joints: JointCoordinates, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> ForcesInMotion:
        """All that acts on bodies at affine coordinates Q with rates V (bodies, 4, 3), with these joints seen near q."""
        seen = joints.see(np.ascontiguousarray(Q).ravel(), q_near)
        twists = np.einsum("nij,nj->ni", seen.T.reshape(-1, 6, 12), V.reshape(-1, 12))[: self.n]
        X, V_seen, v = seen.X[: 12 * self.n], np.ascontiguousarray(twists).ravel(), joints.velocities(seen, V)
        F, efforts, powers = self.acting(X, V_seen, seen.q, v, signals, control)
        return ForcesInMotion(joints, seen, (signals, X, V_seen, seen.q, v, control), F, efforts, powers)

    def stored_in(self, acting: ForcesInMotion) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, wrenches and efforts of what stores energy, there."""
        signals, X, _, q, _, _ = acting.at
        return self.stored(X, q, signals)

    def without_energy(self, acting: ForcesInMotion) -> np.ndarray:
        """(bodies and links, 12) all that acts on them, but for what stores energy."""
        joints, seen, loads = acting.joints, acting.seen, np.zeros(acting.seen.x.size)
        joints.pull(seen, acting.F, acting.efforts, 1.0, loads)
        if self.energetic:
            _, F, efforts = self.stored_in(acting)
            joints.pull(seen, F, efforts, -1.0, loads)
        return loads.reshape(-1, 12)
