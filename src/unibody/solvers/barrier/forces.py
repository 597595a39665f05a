"""Forces of a model by their compiled kernels, those that other coordinates call too, at rigid projections of affine bodies.

Poses are polar projections; joint coordinates are gauges, or quaternions of projections; their velocities are v = g · Q̇ with the gauges'
gradients. So wrenches F and efforts τ become Tᵀ F + Σ τ g, exactly the gradient of the energy that the kernels book, and blocks B(h) =
−h D − h² K of `AddImplicit`, made positive, give K = −½ (B(1) + B(−1)) and D = −½ (B(1) − B(−1)).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.coordinates.affine.links import JointPart
from unibody.coordinates.affine.polar import add_pulled_blocks, add_pulled_loads, project_bodies, see_rotations
from unibody.coordinates.external_forces import load_forces
from unibody.coordinates.implicit_forces import add_implicit
from unibody.element import SPRING_ENERGY
from unibody.forces.base import Force
from unibody.joints import Ball, Free
from unibody.model import Model
from unibody.model.implicit_tables import ImplicitTables
from unibody.model.tables import CallbackErrors, ForceTables
from unibody.solvers.barrier.measure_potentials import add_dashpot_blocks
from unibody.solvers.barrier.measure_tables import Gauge, MeasureTable, coordinates_of


def has_energy(force: Force) -> bool:
    return type(force).energy is not Force.energy


def runs_compiled(force: Force) -> bool:
    """Whether a force is all in kernels: its loads, and its slopes if it has some."""
    cls = type(force)
    blocks = cls.stiffness_blocks is not Force.stiffness_blocks or cls.damping_blocks is not Force.damping_blocks
    return cls.add_kernel is not None and (cls.implicit_kernel is not None or cls.explicit or not blocks)


class Velocities:
    """q and v of some joints as functions of affine coordinates."""

    def __init__(self, model: Model, parts: Iterable[Any]):
        gauges: dict[int, Gauge] = {}
        index: list[int] = []
        frames: list[float] = []
        pair: dict[int, tuple[int, int]] = {}
        q_of: list[int] = []
        for part in parts:
            if type(part.element) in (Ball, Free):
                index += [part.child, part.parent, part.q_start, part.v_start, int(type(part.element) is Free)]
                frames += [*part.X_PF.R.ravel(), *part.X_PF.p, *part.X_BM.R.ravel(), *part.X_BM.p]
                pair.update({part.v_start + k: (part.child, part.parent) for k in range(part.element.nv)})
                continue
            for k, g in coordinates_of(part).items():
                gauges[part.v_start + k], pair[part.v_start + k] = g, (g.child, g.parent)
                q_of.append(part.q_start + k)
        self._index, self._frames = np.array(index, np.int64), np.array(frames, float)
        self._table, self._v, self._q = MeasureTable(list(gauges.values())), np.array(list(gauges), int), np.array(q_of, int)
        self.which = np.array(sorted(pair), np.int64)
        """Joint velocities that are known here."""
        self.pair = np.array([pair[v] for v in sorted(pair)], np.int64).reshape(-1, 2)
        self._n = model.nv_joints

    @staticmethod
    def knows(part: Any) -> bool:
        return not part.element.nv or type(part.element) in (Ball, Free) or len(coordinates_of(part)) == part.element.nq

    def see(self, x: np.ndarray, X: np.ndarray, T: np.ndarray, q_near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q (all of the model's, those that are not known as given) and rows (24 a velocity of the model)."""
        q, rows = q_near.copy(), np.zeros(24 * self._n)
        if len(self._index):
            see_rotations(self._index, self._frames, X, T, q, rows)
        if len(self._v):
            t = self._table
            q[self._q] = t.flip * (t.values(x, t.flip * q_near[self._q] + t.offset) - t.offset)
            rows.reshape(-1, 24)[self._v] = t.flip[:, None] * t.gradients(x).reshape(-1, 24)
        return q, rows


@dataclass
class SeenBodies:
    """Poses, maps T, joint coordinates and rows of velocities at some affine coordinates."""

    x: np.ndarray
    X: np.ndarray
    T: np.ndarray
    q: np.ndarray
    rows: np.ndarray


class ForceSlopes:
    """Tables and outputs of `AddImplicit` for some of a model's forces."""

    def __init__(self, model: Model, leave_out: Iterable[str], limit: np.ndarray):
        tables = ImplicitTables(model, CallbackErrors(), np.zeros(1), frozenset(leave_out))
        self._tables = tables.classes, tables.index, tables.parameters, tables.places, limit
        n, nv = model.n_bodies, model.nv_joints
        self.any = len(tables.classes) > 0
        self.pair = tables.couplings
        self._scratch = np.zeros(6 * n), np.zeros(nv)
        self.sizes = 21 * n, 36 * len(tables.couplings), nv

    def blocks(self, seen: SeenBodies, signals: np.ndarray, V: np.ndarray, v: np.ndarray, control: np.ndarray, n: int) -> list[Any]:
        """(own, couplings, diagonal) of −K and of −D, made positive."""
        out = []
        for h in (1.0, -1.0):
            made = tuple(np.zeros(s) for s in self.sizes)
            add_implicit(*self._tables, signals, seen.X[: 12 * n], V, seen.q, v, control, h, 1, *self._scratch, *made)
            out.append(made)
        ahead, behind = out
        return [[0.5 * (a + b) for a, b in zip(ahead, behind, strict=True)], [0.5 * (a - b) for a, b in zip(ahead, behind, strict=True)]]


class CompiledForces:
    """All forces of a model. `parts` are its joints between affine bodies."""

    def __init__(self, model: Model, parts: Sequence[JointPart]):
        self.model, self.n, self.nv = model, model.n_bodies, model.nv_joints
        self._parts = [*parts, *(j for j in model.joints if j.implicit)]
        self.limit = np.concatenate([np.zeros(0), *(j.effort_limit for j in model.joints)])
        stores = [name for name, f in model.forces if has_energy(f)]
        others = [name for name, f in model.forces if not has_energy(f)]
        self.energetic = bool(stores)
        self._storing = ForceTables(model, CallbackErrors(), np.zeros(1), stores)
        self._all = ForceTables(model, CallbackErrors(), np.zeros(1))
        self.storing, self.other = ForceSlopes(model, others, self.limit), ForceSlopes(model, stores, self.limit)
        self.sprung = self._velocities(f for _, f in model.forces if has_energy(f))
        self.touched = self._velocities(f for _, f in model.forces)
        self._every: Velocities | None = None
        self._neutral = model.neutral_control()

    @staticmethod
    def covers(model: Model, parts: Sequence[JointPart]) -> bool:
        """Whether every force has kernels, and every joint gauges or a quaternion."""
        joints = [*parts, *(j for j in model.joints if j.implicit)]
        return all(runs_compiled(f) for _, f in model.forces) and all(Velocities.knows(part) for part in joints)

    def _velocities(self, forces: Iterable[Force]) -> Velocities:
        named = {id(self.model.joint(name)) for f in forces for name in f.joints()}
        own = [
            part
            for part in self._parts
            if id(part) in named or (isinstance(part, JointPart) and id(self.model.joints[part.joint]) in named)
        ]
        return Velocities(self.model, own)

    @property
    def every(self) -> Velocities:
        """Of all joints, for efforts that control gives."""
        if self._every is None:
            self._every = Velocities(self.model, self._parts)
        return self._every

    def see(self, Q: np.ndarray, q_near: np.ndarray, velocities: Velocities) -> SeenBodies:
        x = np.ascontiguousarray(Q).ravel()
        X, T = np.empty(x.size), np.empty(6 * x.size)
        project_bodies(x, X, T)
        return SeenBodies(x.copy(), X, T, *velocities.see(x, X, T, q_near))

    def _load(self, tables: ForceTables, seen: SeenBodies, signals: np.ndarray, V: np.ndarray, v: np.ndarray, control: np.ndarray) -> Any:
        F, effort, ledger, right = np.empty(6 * self.n), np.empty(2 * self.nv), np.empty(4), np.empty(self.nv)
        load_forces(
            tables.classes, tables.index, tables.parameters, self.limit, signals, seen.X[: 12 * self.n], V, seen.q, v, control,
            F, effort, ledger, right,
        )  # fmt: skip
        return F, right, ledger

    def stored(self, seen: SeenBodies, signals: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, wrenches and efforts of what stores energy."""
        F, right, ledger = self._load(self._storing, seen, signals, np.zeros(6 * self.n), np.zeros(self.nv), self._neutral)
        return float(ledger[SPRING_ENERGY]), F, right

    def acting(
        self, seen: SeenBodies, signals: np.ndarray, V: np.ndarray, v: np.ndarray, control: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches, efforts and ledger of all forces and of control, in motion."""
        return self._load(self._all, seen, signals, V, v, control)


class ForceTerms:
    """The energies of springs during one step, with signals of its end and joint coordinates near q."""

    def __init__(self, forces: CompiledForces, q_near: np.ndarray, signals: np.ndarray):
        self.forces, self.q_near, self.signals = forces, q_near, signals
        self._last: SeenBodies | None = None

    def _see(self, x: np.ndarray) -> SeenBodies:
        if self._last is None or not np.array_equal(self._last.x, x):
            self._last = self.forces.see(x, self.q_near, self.forces.sprung)
        return self._last

    def value(self, x: np.ndarray) -> float:
        return self.forces.stored(self._see(x), self.signals)[0]

    def add_gradient(self, x: np.ndarray, factor: float, out: np.ndarray) -> None:
        seen, f = self._see(x), self.forces
        _, F, effort = f.stored(seen, self.signals)
        add_pulled_loads(F, seen.T, f.sprung.which, f.sprung.pair.ravel(), seen.rows, effort, -factor, out)

    @property
    def pairs(self) -> list[np.ndarray]:
        return [self.forces.storing.pair, self.forces.sprung.pair]

    def add_blocks(self, x: np.ndarray, places: list[np.ndarray], exact: bool, factor: float, own: np.ndarray, between: np.ndarray) -> None:
        """Positive in any case."""
        seen, f = self._see(x), self.forces
        still = np.zeros(6 * f.n), np.zeros(f.nv), f._neutral
        stiffness, _ = f.storing.blocks(seen, self.signals, *still, f.n)
        add_slopes(stiffness, f.storing, f.sprung, seen, places, factor, own, between)

    def reach(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        """Springs stop nothing."""
        return t

    def noise(self) -> float:
        return 0.0

    def change(self, x: np.ndarray, p: np.ndarray) -> float:
        return 0.0


def add_slopes(
    blocks: Sequence[np.ndarray], slopes: ForceSlopes, velocities: Velocities, seen: SeenBodies, places: Sequence[np.ndarray],
    factor: float, own: np.ndarray, between: np.ndarray,
) -> None:  # fmt: skip
    """Blocks in body axes and diagonals of joint velocities into blocks of affine coordinates."""
    in_bodies, coupling, diagonal = blocks
    add_pulled_blocks(in_bodies, slopes.pair.ravel(), coupling, places[0], seen.T, factor, own, between)
    strength = diagonal[velocities.which]
    held = np.flatnonzero(strength)
    if len(held):
        rows = seen.rows.reshape(-1, 24)[velocities.which[held]].ravel()
        add_dashpot_blocks(velocities.pair[held].ravel(), places[1][held], rows, strength[held], factor, own, between)
