"""Potentials of gauges during one step, and what they do to bodies for the record."""

from __future__ import annotations

import numpy as np

from unibody.coordinates.affine.body import polar
from unibody.joints import Free
from unibody.solvers.barrier.measure_potentials import (
    add_dashpot_blocks,
    add_gauge_blocks,
    add_gauge_gradient,
    dashpot_value,
    safe_gauge_step,
    weigh_gauges,
)
from unibody.solvers.barrier.measured_elements import Gauged, MeasureRow
from unibody.solvers.barrier.pull import ElementPull, Stiff

NONE = np.zeros(0)


class GaugeTerms:
    """The gauges of a step that begins at Q (bodies, 4, 3) with fitted joint coordinates q; velocity counts as rate · (x − origin).

    Damping acts along the gradients at the beginning, k_d times the barriers' second derivative there."""

    def __init__(
        self, gauged: Gauged, Q: np.ndarray, q: np.ndarray, stiff: Stiff, rate: float, origin: np.ndarray,
        doubled: np.ndarray | float = 0.0,
    ):  # fmt: skip
        self.gauged, table = gauged, gauged.table
        self.near, self.scale = gauged.near(q), gauged.strength(stiff, doubled)
        self.origin = np.ascontiguousarray(origin).ravel()
        self._weight, self._curve = np.zeros(2 * len(gauged)), np.zeros(144)
        self.drag_pair, self.drag, self.drag_strength = np.zeros((0, 2), np.int64), NONE, NONE
        if gauged.damping.any():
            x = np.ascontiguousarray(Q).ravel()
            self._weigh(x)
            c = rate * gauged.damping * self._weight[1::2]
            held = np.flatnonzero(c)
            self.add_dashpots(table.pair[held], table.gradients(x)[held], c[held])

    def add_dashpots(self, pair: np.ndarray, direction: np.ndarray, strength: np.ndarray) -> None:
        """½ c (g·w)² with g (n, 2, 4, 3) on the bodies of each pair."""
        self.drag_pair = np.concatenate([self.drag_pair, pair.astype(np.int64)])
        self.drag = np.concatenate([self.drag, direction.ravel()])
        self.drag_strength = np.concatenate([self.drag_strength, strength])

    def _weigh(self, x: np.ndarray) -> float:
        g = self.gauged
        values = g.table.values(x, self.near)
        return weigh_gauges(g.stiff, values, g.sign, g.bound, g.reach, self.scale, self._weight)

    def value(self, x: np.ndarray) -> float:
        total = self._weigh(x)
        if len(self.drag_strength):
            total += dashpot_value(self.drag_pair.ravel(), self.drag, self.drag_strength, x, self.origin, 0.0, self._weight)
        return total

    def add_gradient(self, x: np.ndarray, factor: float, out: np.ndarray) -> None:
        """out (12 per body) += factor × gradient."""
        table = self.gauged.table
        self._weigh(x)
        add_gauge_gradient(table.flat, table.vectors, self._weight, table.slopes(x), factor, out)
        if len(self.drag_strength):
            dashpot_value(self.drag_pair.ravel(), self.drag, self.drag_strength, x, self.origin, factor, out)

    @property
    def pairs(self) -> list[np.ndarray]:
        """Of bodies, of gauges and of dashpots."""
        return [self.gauged.table.pair, self.drag_pair]

    def add_blocks(self, x: np.ndarray, places: list[np.ndarray], exact: bool, factor: float, own: np.ndarray, between: np.ndarray) -> None:
        """factor × second derivatives, exact or positive, into blocks as contacts' are."""
        table = self.gauged.table
        self._weigh(x)
        add_gauge_blocks(
            table.kind,
            table.flat,
            places[0],
            table.vectors,
            self._weight,
            table.slopes(x),
            x,
            int(exact),
            factor,
            self._curve,
            own,
            between,
        )
        if len(self.drag_strength):
            add_dashpot_blocks(self.drag_pair.ravel(), places[1], self.drag, self.drag_strength, factor, own, between)

    def reach(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        """The part of p, at most t, within which no range reaches its bound."""
        g, table = self.gauged, self.gauged.table
        return safe_gauge_step(
            g.stiff, table.kind, table.flat, table.vectors, self.near, g.sign, g.bound, g.reach, table.slopes(x), x, p, t
        )  # fmt: skip

    def noise(self) -> float:
        """Σ |P′| of ranges at the last point that was weighed: what round-off of gauges makes of values."""
        return float(np.abs(self._weight[0::2] * (self.gauged.stiff == 0)).sum())

    def change(self, x: np.ndarray, p: np.ndarray) -> float:
        """By which part of itself p changes at most what is left of a range, at the last point that was weighed, x."""
        g = self.gauged
        held = np.flatnonzero((g.stiff == 0) & (self._weight[1::2] != 0.0))
        if not len(held):
            return 0.0
        gaps = g.sign * (g.table.values(x, self.near) - g.bound)
        slopes = np.einsum("nsj,nsj->n", g.table.gradients(x).reshape(-1, 2, 12), p.reshape(-1, 12)[g.table.pair])
        return float(np.abs(slopes[held] / gaps[held]).max())


def gauge_pull(
    gauged: Gauged, Q: np.ndarray, q: np.ndarray, stiff: Stiff, doubled: np.ndarray | float = 0.0, equalities: bool = True
) -> ElementPull:
    """Value, wrenches, efforts, multipliers and violation at Q, with fitted joint coordinates q."""
    model, out = gauged.model, ElementPull.of(gauged.model)
    if not len(gauged):
        return out
    x = np.ascontiguousarray(Q).ravel()
    scale, weight = gauged.strength(stiff, doubled), np.zeros(2 * len(gauged))
    if not equalities:
        scale = np.where(gauged.stiff == 1, 0.0, scale)
    values = gauged.table.values(x, gauged.near(q))
    out.violation = gauged.violation(Q, q)
    out.value = weigh_gauges(gauged.stiff, values, gauged.sign, gauged.bound, gauged.reach, scale, weight)
    slope = weight[0::2]
    for r, row in enumerate(gauged.rows):
        if row.owner >= 0 and (equalities or not row.stiff):
            name, c = model.constraints[row.owner]
            out.multipliers.setdefault(name, np.zeros(c.rows))[row.row] = -gauged.sign[r] * slope[r]
    held = np.flatnonzero(slope)
    F = -slope[held, None, None, None] * gauged.table.gradients(x)[held]
    R, _ = polar(Q)
    for r, pair in zip(held, F, strict=True):
        row = gauged.rows[r]
        for body, f in zip((row.gauge.child, row.gauge.parent), pair, strict=True):
            if body < model.n_bodies:
                out.wrench[body] += wrench_of(Q[body], R[body], f)
        _add_efforts(row, Q, R, pair[0], -gauged.sign[r] * slope[r], out)
    return out


def wrench_of(Q: np.ndarray, R: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Torque about the origin and force, body axes, of a generalised force (4, 3)."""
    return np.concatenate([R.T @ np.cross(Q[1:], f[1:]).sum(axis=0), R.T @ f[0]])


def _add_efforts(row: MeasureRow, Q: np.ndarray, R: np.ndarray, f: np.ndarray, multiplier: float, out: ElementPull) -> None:
    """What a row does in its joint: an effort, or the wrench on M that is one or holds the joint."""
    part = row.part
    if part is None:
        return
    if row.v >= 0:
        out.efforts[row.v] += row.effort * multiplier
        return
    wrench = wrench_of(Q[part.child], R[part.child], f)
    torque = part.X_BM.R.T @ (wrench[:3] - np.cross(part.X_BM.p, wrench[3:]))
    at_M = np.concatenate([torque, part.X_BM.R.T @ wrench[3:]])
    if row.stiff:
        out.holding[part.joint] = out.holding.get(part.joint, np.zeros(6)) + at_M
    else:
        mine = at_M if type(part.element) is Free else at_M[:3]
        out.efforts[part.v_start : part.v_start + len(mine)] += mine
