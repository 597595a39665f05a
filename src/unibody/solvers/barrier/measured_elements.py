"""Elements of a model whose rows are bounds on measures: limits of joints, distances and ranges, points on lines and planes, slides.

    ranges lower ≤ C ≤ upper     barriers κ b(C/ĉ), κ = m ĉ (10 g + ĉ/h² + v/h), ĉ = ℓ/100;  of angles m ℓ² ĉ (10 g/ℓ + ĉ/h² + ω/h), 1/100
    equations C = 0              ½ k C²,  k = s m [N/m],  s = `stiffness`/h²

m is the mass of all that joints connect to the element's bodies, ℓ² the largest tr(I)/m of its own bodies. Elements say themselves which
measures their rows bound (`Constraint.measures`); one of which a row has none stays with `constraint_rows`, which evaluates any element.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.coordinates.affine.measures import BodyMeasure, MeasureTable, between_bodies, joint_measures
from unibody.coordinates.affine.rigid_view import RigidView
from unibody.coordinates.affine.rows import JointPart, samples, shared_vectors
from unibody.measure import OWN, TURN, Measure, MeasuredRow, slide
from unibody.solvers.barrier.element_loads import CARRIED, REACH, StepScales, refuse_start
from unibody.solvers.barrier.memory import MOST


@dataclass(frozen=True)
class HeldMeasure:
    """One potential on a measure: sign (C − bound) ≥ 0, or = 0. `owner`: the constraint, or −1 − joint; `row` of it. `part`: whose efforts
    it is; `velocity`: which one alone (−1: all that its wrench gives). `near`: the fitted coordinate that counts its turns (−1: none)."""

    measure: BodyMeasure
    sign: float
    bound: float
    unit: str
    owner: int
    row: int
    bodies: tuple[int, int]
    stiff: bool = False
    part: JointPart | None = None
    velocity: int = -1
    effort: float = 1.0
    near: int = -1
    element: Any = None
    """The constraint whose `damping`, `reach`, `stiffness` and `compliance` hold, or none."""


class MeasuredElements:
    """All measures with potentials of one model. `parts`: its joints between affine bodies; `missing`: by joint, how many motions its
    linear equations leave open; `exact`: names of constraints that are equations themselves."""

    def __init__(self, view: RigidView, parts: Sequence[JointPart], missing: dict[int, int], exact: Collection[str] = ()):
        self.model, model = view.model, view.model
        self._names = view.names
        self._by_joint: dict[int, list[JointPart]] = {}
        for part in parts:
            self._by_joint.setdefault(part.joint, []).append(part)
        self.names: list[str] = []
        self.joints: list[int] = []
        self.rows: list[HeldMeasure] = []
        for e, (name, constraint) in enumerate(model.constraints):
            rows = [] if name in exact else self._rows(e, constraint)
            if rows:
                self.names.append(name)
                self.rows += rows
        for k, left in missing.items():
            rows = self._remainder(k, left)
            if rows:
                self.joints.append(k)
                self.rows += rows
        self._pack(view)

    # which measures

    def _rows(self, e: int, c: Constraint) -> list[HeldMeasure]:
        """Of a constraint, or none if a row of it has no measure here."""
        found = [self._row(e, r, row, c) for r, row in enumerate(c.measures(self._names))]
        known = [row for row in found if row is not None]
        return known if len(known) == len(found) else []

    def _row(self, e: int, r: int, row: MeasuredRow, c: Constraint) -> HeldMeasure | None:
        unit, stiff = c.units[r], not c.unilateral
        if row.bodies is not None:
            assert row.measure is not None
            a, b = (self.model.body(name) for name in row.bodies)
            sign, bound = on_measure(row, row.measure)
            return HeldMeasure(between_bodies(row.measure, a, b), sign, bound, unit, e, r, (a, b), stiff, element=c)
        joint = self.model.joint(row.joint)
        k = next(i for i, j in enumerate(self.model.joints) if j is joint)
        for part in self._by_joint.get(k, []):
            if row.measure is not None:
                seen = between_bodies(row.measure, part.child, part.parent, part.X_BM, part.X_PF) if part.element is row.within else None
            else:
                seen = joint_measures(part).get(row.place - part.q_start)
            if seen is not None:
                ends, (sign, bound) = (joint.child, joint.parent), on_measure(row, seen.measure)
                return HeldMeasure(seen, sign, bound, unit, e, r, ends, stiff, part, row.velocity, row.sign, row.place, c)
        return None

    def _remainder(self, k: int, left: int) -> list[HeldMeasure]:
        """Of a joint whose equations leave open where M's origin is in F: its place across the ways that it may go."""
        own = self._by_joint.get(k, [])
        if len(own) != 1 or any(self.model.bodies[b].kind == "static" for b in (own[0].child, own[0].parent)):
            return []
        part = own[0]
        w_M, _ = shared_vectors(part.element)
        normals, places = place_relations(samples(part.element))
        if len(normals) != left or (np.abs(w_M[:, 0]) > 1e-9).any():
            return []
        across = [between_bodies(slide(n), part.child, part.parent, part.X_BM, part.X_PF) for n in normals]
        rows, ends = enumerate(zip(across, places, strict=True)), (part.child, part.parent)
        return [HeldMeasure(seen, 1.0, float(c), "m", -1 - k, r, ends, True, part) for r, (seen, c) in rows]

    # numbers

    def _pack(self, view: RigidView) -> None:
        rows = self.rows

        def numbers(name: str, otherwise: float) -> np.ndarray:
            return np.array([getattr(r.element, name, None) or otherwise for r in rows], float)

        self.table = MeasureTable([r.measure for r in rows])
        self.stiff = np.array([r.stiff for r in rows], np.int64)
        self.sign, self.bound = np.array([r.sign for r in rows], float), np.array([r.bound for r in rows], float)
        self.damping, self._compliance = numbers("damping", 0.0), numbers("compliance", 0.0)
        self._given = numbers("stiffness", np.nan)
        self._near = np.array([r.near if r.measure.measure.kind in (TURN, OWN) else -1 for r in rows], int)
        self._mass = np.array([view.heavy(r.bodies) for r in rows], float)
        self._arm = np.array([view.length(r.bodies) for r in rows], float)
        self._slide = np.array([r.unit == "m" for r in rows], bool)
        reach = numbers("reach", np.nan)
        self.reach = np.where(np.isnan(reach), np.where(self._slide, REACH * self._arm, REACH), reach)

    def __len__(self) -> int:
        return len(self.rows)

    def near(self, q: np.ndarray) -> np.ndarray:
        """Angles near which turns are counted, from fitted joint coordinates."""
        value = np.where(self._near >= 0, q[self._near] if q.size else 0.0, 0.0)
        return value * self.table.flip + self.table.offset if len(self) else np.zeros(0)

    def strength(self, scales: StepScales, doubled: np.ndarray | float = 0.0) -> np.ndarray:
        """κ of ranges, doubled so often, and k of equations."""
        per = self._mass * np.where(self._slide, 1.0, self._arm**2)
        kappa = per * self.reach * self._rest(scales) * 2.0 ** np.asarray(doubled)
        k = scales.scale * per
        k = k / (1.0 + k * self._compliance)
        return np.where(self.stiff == 1, k, np.where(np.isnan(self._given), kappa, self._given))

    def _rest(self, scales: StepScales) -> np.ndarray:
        """The acceleration [m/s², 1/s²] that barriers oppose without being asked."""
        return CARRIED * scales.gravity / np.where(self._slide, 1.0, self._arm) + self.reach / scales.step**2

    def raised(self, doubled: np.ndarray, scales: StepScales, Q: np.ndarray, V: np.ndarray) -> np.ndarray:
        """How often κ is doubled for a step that begins at Q with rates V: so that it also stops, within the step, whatever speed the
        vectors of a measure have. It never falls, and is a power of two, so that it rarely changes."""
        if not self.rows:
            return doubled
        table = self.table
        slopes = table.slopes(np.ascontiguousarray(Q).ravel()).reshape(-1, 4, 3)
        rates = np.einsum("nsip,nspr->nir", table.vectors.reshape(-1, 2, 4, 4), V[table.pair])
        speed = (np.linalg.norm(slopes, axis=2) * np.linalg.norm(rates, axis=2)).sum(axis=1)
        asked = np.ceil(np.log2(1.0 + speed / scales.step / self._rest(scales)))
        return np.maximum(doubled, np.where((self.stiff == 1) | ~np.isnan(self._given), 0.0, np.minimum(asked, MOST)))

    def gaps(self, Q: np.ndarray, q: np.ndarray) -> np.ndarray:
        """C of every row."""
        return self.sign * (self.table.values(np.ascontiguousarray(Q).ravel(), self.near(q)) - self.bound)

    def largest(self, gaps: np.ndarray) -> float:
        """The largest |C| of equations, or what a range is left by."""
        return max(float(np.abs(gaps[self.stiff == 1]).max(initial=0.0)), float((-gaps[self.stiff == 0]).max(initial=0.0)), 0.0)

    def refuse_outside(self, Q: np.ndarray, q: np.ndarray) -> None:
        """A start at which a range is not open."""
        gaps = self.gaps(Q, q) if self.rows else np.zeros(0)
        for i in np.flatnonzero((self.stiff == 0) & ~(gaps > 0.0)):
            refuse_start(self.name(self.rows[i]), -float(gaps[i]), self.rows[i].unit)

    def name(self, row: HeldMeasure) -> str:
        return self.model.constraints[row.owner][0] if row.owner >= 0 else self.model.joints[-1 - row.owner].name


def on_measure(row: MeasuredRow, m: Measure) -> tuple[float, float]:
    """Sign and bound of a row with respect to C, where it bounds flip · (C − offset)."""
    return row.sign * m.flip, m.flip * row.bound + m.offset


def place_relations(poses: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Directions n (k, 3) and places c (k) with n · p_FM = c for all sampled poses (4×4): where M's origin stays in F."""
    rows = np.array([[*X[1:, 0], -1.0] for X in poses])
    _, s, Vt = np.linalg.svd(rows)
    null = Vt[int((s > 1e-9 * s[0]).sum()) :]
    sizes = np.linalg.norm(null[:, :3], axis=1)
    Q, R = np.linalg.qr(null[:, :3].T) if len(null) else (np.zeros((3, 0)), np.zeros((0, 0)))
    if not len(null) or (np.abs(np.diag(R)) < 1e-9 * max(sizes)).any():
        return np.zeros((0, 3)), np.zeros(0)
    return Q.T, np.linalg.solve(R.T, null[:, 3])
