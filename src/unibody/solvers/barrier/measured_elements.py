"""Elements of a model that gauges stand for: limits of joints, distances and their ranges, points on lines and planes, slides across axes.

    ranges lower ≤ C ≤ upper     barriers κ b(C/ĉ), κ = m ĉ (10 g + ĉ/h² + v/h), ĉ = ℓ/100;  of angles m ℓ² ĉ (10 g/ℓ + ĉ/h² + ω/h), 1/100
    equations C = 0              ½ k C²,  k = s m [N/m],  s = `stiffness`/h²

m is the mass of all that joints connect to the element's bodies, ℓ² the largest tr(I)/m of its own bodies. An element of which one row has
no gauge stays with `elements`, which evaluates any element at rigid projections.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.constraints.distance import Distance
from unibody.constraints.distance_range import DistanceRange
from unibody.constraints.joint_limit import JointLimit
from unibody.constraints.joint_limit_rows import COORDINATE, SWING, TWIST, LimitRow
from unibody.constraints.joint_limit_rows import SLIDE as PLACE
from unibody.constraints.point_on_line import PointOnLine
from unibody.constraints.point_plane import PointPlane
from unibody.coordinates.affine.links import JointPart
from unibody.coordinates.affine.rows import samples, shared_vectors
from unibody.joints import Ball, Free
from unibody.model import Model
from unibody.solvers.barrier.measure_tables import Frames, Gauge, MeasureTable, coordinates_of, place_relations, point_gauge
from unibody.solvers.barrier.measures import DISTANCE, SLIDE, TURN
from unibody.solvers.barrier.pull import Stiff, refuse_start, scales

MOST = 60
"""Doublings of κ."""


@dataclass(frozen=True)
class MeasureRow:
    """One potential on a gauge: sign (C − bound) ≥ 0, or = 0. `owner`: the element, or −1 − joint; `row` of it. `part`: whose efforts it
    is; `v`: which one alone (−1: all that its wrench gives). `near`: the fitted coordinate that counts its turns (−1: none)."""

    gauge: Gauge
    sign: float
    bound: float
    unit: str
    owner: int
    row: int
    bodies: tuple[int, int]
    stiff: bool = False
    part: JointPart | None = None
    v: int = -1
    effort: float = 1.0
    near: int = -1
    barrier: Any = None
    """The element whose `damping`, `reach` and `stiffness` hold, or none."""


class Gauged:
    """All gauges with potentials of one model. `parts`: its joints between affine bodies; `missing`: by joint, how many motions its linear
    equations leave open; `exact`: names of constraints that are equations themselves."""

    def __init__(self, model: Model, parts: Sequence[JointPart], missing: dict[int, int], exact: Collection[str] = ()):
        self.model, self.parts = model, list(parts)
        self._by_joint: dict[int, list[JointPart]] = {}
        for part in self.parts:
            self._by_joint.setdefault(part.joint, []).append(part)
        self.names: list[str] = []
        self.joints: list[int] = []
        self.rows: list[MeasureRow] = []
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
        self._pack()

    # which gauges

    def _rows(self, e: int, c: Constraint) -> list[MeasureRow]:
        """Of a constraint, or none if a row of it has no gauge."""
        body = self.model.body
        if type(c) is JointLimit:
            joint = self.model.joint(c.joint)
            found = [self._limit(e, r, row, c) for r, row in enumerate(c._rows(joint))]
            return [row for row in found if row is not None] if all(row is not None for row in found) else []
        if type(c) is Distance:
            a, b = body(c.a.body), body(c.b.body)
            return [MeasureRow(point_gauge(DISTANCE, (a, c.a), (b, c.b)), 1.0, float(c.length or 0.0), "m", e, 0, (a, b), True)]
        if type(c) is DistanceRange:
            a, b = body(c.a.body), body(c.b.body)
            apart = point_gauge(DISTANCE, (a, c.a), (b, c.b))
            return [MeasureRow(apart, sign, bound, "m", e, r, (a, b), barrier=c) for r, (sign, bound) in enumerate(c.bounds())]
        if type(c) is PointPlane:
            a, b = body(c.point.body), body(c.origin.body)
            return [MeasureRow(point_gauge(SLIDE, (a, c.point), (b, c.origin), c.normal), 1.0, 0.0, "m", e, 0, (a, b))]
        if type(c) is PointOnLine:
            a, b = body(c.point.body), body(c.on.body)
            axes = [point_gauge(SLIDE, (a, c.point), (b, c.on), axis) for axis in c.axes()]
            return [MeasureRow(g, 1.0, 0.0, "m", e, r, (a, b), True) for r, g in enumerate(axes)]
        return []

    def _limit(self, e: int, r: int, row: LimitRow, c: JointLimit) -> MeasureRow | None:
        model, joint = self.model, self.model.joint(c.joint)
        k = next(i for i, j in enumerate(model.joints) if j is joint)
        part = next((p for p in self._by_joint.get(k, []) if p.q_start <= row.place < p.q_start + p.nq), None)
        if part is None:
            return None
        gauge, near, v, unit = None, -1, -1, c.units[r]
        if row.kind == COORDINATE:
            gauge, near, v = coordinates_of(part).get(row.place - part.q_start), row.place, row.start
        elif type(part.element) is Free and row.kind == PLACE:
            gauge = Frames(part).slide(row.axis)
        elif type(part.element) in (Ball, Free) and row.kind in (SWING, TWIST):
            gauge = Frames(part).cone(row.axis) if row.kind == SWING else Frames(part).turn(row.axis)
        if gauge is None or (row.kind == SWING and row.bound >= np.pi):
            return None
        sign, bound = row.sign * gauge.flip, gauge.flip * row.bound + gauge.offset
        ends = (joint.child, joint.parent)
        return MeasureRow(gauge, sign, bound, unit, e, r, ends, part=part, v=v, effort=row.sign, near=near, barrier=c)

    def _remainder(self, k: int, left: int) -> list[MeasureRow]:
        """Of a joint whose equations leave open where M's origin is in F: its place across the ways that it may go."""
        own = self._by_joint.get(k, [])
        if len(own) != 1 or any(self.model.bodies[b].kind == "static" for b in (own[0].child, own[0].parent)):
            return []
        part = own[0]
        w_M, _ = shared_vectors(part.element)
        normals, places = place_relations(samples(part.element))
        if len(normals) != left or (np.abs(w_M[:, 0]) > 1e-9).any():
            return []
        see, ends = Frames(part), (part.child, part.parent)
        rows = enumerate(zip(normals, places, strict=True))
        return [MeasureRow(see.slide(n), 1.0, float(c), "m", -1 - k, r, ends, True, part) for r, (n, c) in rows]

    # numbers

    def _pack(self) -> None:
        rows = self.rows
        self.table = MeasureTable([r.gauge for r in rows])
        self.stiff = np.array([r.stiff for r in rows], np.int64)
        self.sign, self.bound = np.array([r.sign for r in rows], float), np.array([r.bound for r in rows], float)
        self.damping = np.array([r.barrier.damping if r.barrier else 0.0 for r in rows], float)
        self._given = np.array([(r.barrier and r.barrier.stiffness) or np.nan for r in rows], float)
        self._near = np.array([r.near for r in rows], int)
        turns = np.array([r.gauge.kind == TURN for r in rows], bool)
        self._near[~turns] = -1
        mass, arm = scales(self.model)
        self._mass = np.array([max(mass[list(r.bodies)]) or 1.0 for r in rows], float)
        self._arm = np.array([max(arm[list(r.bodies)]) or 1.0 for r in rows], float)
        self._slide = np.array([r.unit == "m" for r in rows], bool)
        reach = np.array([(r.barrier and r.barrier.reach) or np.nan for r in rows], float)
        self.reach = np.where(np.isnan(reach), np.where(self._slide, 0.01 * self._arm, 0.01), reach)

    def __len__(self) -> int:
        return len(self.rows)

    def near(self, q: np.ndarray) -> np.ndarray:
        """Angles near which turns are counted, from fitted joint coordinates."""
        value = np.where(self._near >= 0, q[self._near] if q.size else 0.0, 0.0)
        return value * self.table.flip + self.table.offset if len(self) else np.zeros(0)

    def strength(self, stiff: Stiff, doubled: np.ndarray | float = 0.0) -> np.ndarray:
        """κ of ranges, doubled so often, and k of equations."""
        per = self._mass * np.where(self._slide, 1.0, self._arm**2)
        kappa = per * self.reach * self._rest(stiff) * 2.0 ** np.asarray(doubled)
        return np.where(self.stiff == 1, stiff.scale * per, np.where(np.isnan(self._given), kappa, self._given))

    def _rest(self, stiff: Stiff) -> np.ndarray:
        """The acceleration [m/s², 1/s²] that barriers oppose without being asked."""
        return 10.0 * stiff.gravity / np.where(self._slide, 1.0, self._arm) + self.reach / stiff.step**2

    def raised(self, doubled: np.ndarray, stiff: Stiff, Q: np.ndarray, V: np.ndarray) -> np.ndarray:
        """How often κ is doubled for a step that begins at Q with rates V: so that it also stops, within the step, whatever speed the
        vectors of a gauge have. It never falls, and is a power of two, so that it rarely changes."""
        if not len(self):
            return doubled
        table = self.table
        slopes = table.slopes(np.ascontiguousarray(Q).ravel()).reshape(-1, 4, 3)
        rates = np.einsum("nsip,nspr->nir", table.vectors.reshape(-1, 2, 4, 4), V[table.pair])
        speed = (np.linalg.norm(slopes, axis=2) * np.linalg.norm(rates, axis=2)).sum(axis=1)
        asked = np.ceil(np.log2(1.0 + speed / stiff.step / self._rest(stiff)))
        return np.maximum(doubled, np.where((self.stiff == 1) | ~np.isnan(self._given), 0.0, np.minimum(asked, MOST)))

    def gaps(self, Q: np.ndarray, q: np.ndarray) -> np.ndarray:
        """C of every row."""
        return self.sign * (self.table.values(np.ascontiguousarray(Q).ravel(), self.near(q)) - self.bound)

    def violation(self, Q: np.ndarray, q: np.ndarray) -> float:
        """The largest |C| of equations, or what a range is left by."""
        if not len(self):
            return 0.0
        gaps = self.gaps(Q, q)
        return max(float(np.abs(gaps[self.stiff == 1]).max(initial=0.0)), float((-gaps[self.stiff == 0]).max(initial=0.0)), 0.0)

    def refuse_outside(self, Q: np.ndarray, q: np.ndarray) -> None:
        """A start at which a range is not open."""
        if not len(self):
            return
        gaps = self.gaps(Q, q)
        for i in np.flatnonzero((self.stiff == 0) & ~(gaps > 0.0)):
            refuse_start(self.name(self.rows[i]), -float(gaps[i]), self.rows[i].unit)

    def name(self, row: MeasureRow) -> str:
        return self.model.constraints[row.owner][0] if row.owner >= 0 else self.model.joints[-1 - row.owner].name
