"""Potentials of measures: ranges as barriers (paper 003, §4.3), stiff springs for equations that are not linear (§4.2), damping (§5).

    range     C = sign (measure − bound) ≥ 0     P = κ b(C/ĉ)
    stiff     C = measure − bound = 0            P = ½ k C²
    damping   ½ c (∇C·w)²,  c = k_d P″ and ∇C at the beginning of the step, w = x − x₀ the way that velocity counts (Eq. 20–22)

Second derivatives are P″ ∇C ∇Cᵀ, which is positive, and, exactly, P′ ∂²C besides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.contact.barrier import barrier_terms
from unibody.contact.stencil_blocks import add_outer
from unibody.coordinates.affine.body import polar
from unibody.coordinates.affine.measures import WIDTH, measured_vectors
from unibody.coordinates.affine.polar import add_dashpot_blocks
from unibody.kernel import Floats, Ints, device, kernel
from unibody.measure import store_curve
from unibody.solvers.barrier.element_loads import ElementLoads, StepScales
from unibody.solvers.barrier.incremental_potential import Places, Potential
from unibody.solvers.barrier.measure_steps import safe_measure_step, sampled_step
from unibody.solvers.barrier.measured_elements import HeldMeasure, MeasuredElements

DIGITS = 1e-15
"""What measures can be trusted to, in units of coordinates."""


@kernel
def weigh_measures(stiff: Ints, value: Floats, sign: Floats, bound: Floats, reach: Floats, scale: Floats, weight_out: Floats) -> float:
    """ΣP [J], infinite where a range is left; P′ and P″ with respect to the measure (2 numbers each)."""
    total = 0.0
    for k in range(stiff.size):
        C = sign[k] * (value[k] - bound[k])
        weight_out[2 * k] = 0.0
        weight_out[2 * k + 1] = 0.0
        if stiff[k] != 0:
            total += 0.5 * scale[k] * C * C
            weight_out[2 * k] = sign[k] * scale[k] * C
            weight_out[2 * k + 1] = scale[k]
        elif not C > 0.0:
            return np.inf
        elif C < reach[k]:
            b, b1, b2 = barrier_terms(C / reach[k])
            total += scale[k] * b
            weight_out[2 * k] = sign[k] * scale[k] * b1 / reach[k]
            weight_out[2 * k + 1] = scale[k] * b2 / (reach[k] * reach[k])
    return total


@kernel
def add_measure_gradient(pair: Ints, vectors: Floats, weight: Floats, slope: Floats, factor: float, gradient_out: Floats) -> None:
    """gradient += factor ∂ΣP/∂Q, 12 numbers per body."""
    for k in range(pair.size // 2):
        f = factor * weight[2 * k]
        if f == 0.0:
            continue
        for side in range(2):
            at = 12 * pair[2 * k + side]
            for i in range(4):
                for p in range(4):
                    u = f * vectors[WIDTH * k + 16 * side + 4 * i + p]
                    if u != 0.0:
                        for r in range(3):
                            gradient_out[at + 3 * p + r] += u * slope[12 * k + 3 * i + r]


@kernel
def add_measure_blocks(
    kind: Ints, pair: Ints, place: Ints, vectors: Floats, weight: Floats, slope: Floats, Q: Floats, exact: int, factor: float,
    curve_out: Floats, own_out: Floats, between_out: Floats,
) -> None:  # fmt: skip
    """own (bodies × 144) and between (pairs × 144; place < 0: transposed, −1 − place) += factor ∂²ΣP/∂Q², its positive part or exact;
    P′ ∂²C of measures without a kernel is left out."""
    for k in range(kind.size):
        first = factor * weight[2 * k] * exact if kind[k] >= 0 else 0.0
        second = factor * weight[2 * k + 1]
        if first == 0.0 and second == 0.0:
            continue
        a = pair[2 * k]
        b = pair[2 * k + 1]
        if first != 0.0:
            y0, y1, y2, y3 = measured_vectors(vectors, k, Q, 12 * a, 12 * b)
            store_curve(kind[k], y0, y1, y2, y3, slope, 12 * k, curve_out)
        swap = place[k] < 0
        spot = 144 * (-1 - place[k] if swap else place[k])
        for i in range(4):
            u_i = WIDTH * k + 4 * i
            for j in range(4):
                u_j = WIDTH * k + 4 * j
                S = curvature(second, slope, 12 * k, i, j, first, curve_out)
                add_outer(1.0, vectors, u_i, vectors, u_j, S, 144 * a, own_out)
                add_outer(1.0, vectors, u_i + 16, vectors, u_j + 16, S, 144 * b, own_out)
                if swap:
                    add_outer(1.0, vectors, u_i + 16, vectors, u_j, S, spot, between_out)
                else:
                    add_outer(1.0, vectors, u_i, vectors, u_j + 16, S, spot, between_out)


@device
def curvature(second, slope, at, i, j, first, H):
    """P″ gᵢ gⱼᵀ + P′ Hᵢⱼ, nine numbers."""
    p = at + 3 * i
    q = at + 3 * j
    h = 36 * i + 3 * j
    S = (
        second * slope[p] * slope[q], second * slope[p] * slope[q + 1], second * slope[p] * slope[q + 2],
        second * slope[p + 1] * slope[q], second * slope[p + 1] * slope[q + 1], second * slope[p + 1] * slope[q + 2],
        second * slope[p + 2] * slope[q], second * slope[p + 2] * slope[q + 1], second * slope[p + 2] * slope[q + 2],
    )  # fmt: skip
    if first == 0.0:
        return S
    return (
        S[0] + first * H[h], S[1] + first * H[h + 1], S[2] + first * H[h + 2],
        S[3] + first * H[h + 12], S[4] + first * H[h + 13], S[5] + first * H[h + 14],
        S[6] + first * H[h + 24], S[7] + first * H[h + 25], S[8] + first * H[h + 26],
    )  # fmt: skip


@kernel
def dashpot_value(pair: Ints, direction: Floats, strength: Floats, Q: Floats, origin: Floats, factor: float, gradient_out: Floats) -> float:
    """Σ ½ c (g·w)², and factor times its gradient added; g is 24 numbers for each pair."""
    total = 0.0
    for k in range(strength.size):
        way = 0.0
        for side in range(2):
            at = 12 * pair[2 * k + side]
            for i in range(12):
                way += direction[24 * k + 12 * side + i] * (Q[at + i] - origin[at + i])
        total += 0.5 * strength[k] * way * way
        if factor != 0.0:
            for side in range(2):
                at = 12 * pair[2 * k + side]
                for i in range(12):
                    gradient_out[at + i] += factor * strength[k] * way * direction[24 * k + 12 * side + i]
    return total


class MeasurePotential(Potential):
    """The measured rows of a step that begins at Q (bodies, 4, 3) with fitted joint coordinates q; velocity counts as rate · (x − origin).

    Damping acts along the gradients at the beginning, k_d times the barriers' second derivative there (Eq. 20–22)."""

    def __init__(
        self, measured: MeasuredElements, Q: np.ndarray, q: np.ndarray, scales: StepScales, rate: float, origin: np.ndarray, factor: float,
        doubled: np.ndarray | float = 0.0,
    ):  # fmt: skip
        self.measured, self._factor, table = measured, factor, measured.table
        self._near, self._strength = measured.near(q), measured.strength(scales, doubled)
        self._origin = np.ascontiguousarray(origin).ravel()
        self._weight, self._curve = np.zeros(2 * len(measured)), np.zeros(144)
        self.drag_pair, self._drag, self.drag_strength = np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0)
        if measured.damping.any():
            x = np.ascontiguousarray(Q).ravel()
            self._weigh(x)
            c = rate * measured.damping * self._weight[1::2]
            held = np.flatnonzero(c)
            self.add_dashpots(table.pair[held], table.gradients(x)[held], c[held])

    def add_dashpots(self, pair: np.ndarray, direction: np.ndarray, strength: np.ndarray) -> None:
        """½ c (g·w)² with g (n, 2, 4, 3) on the bodies of each pair."""
        self.drag_pair = np.concatenate([self.drag_pair, pair.astype(np.int64)])
        self._drag = np.concatenate([self._drag, direction.ravel()])
        self.drag_strength = np.concatenate([self.drag_strength, strength])

    def _weigh(self, x: np.ndarray) -> float:
        """ΣP; P′ and P″ of every row are kept."""
        m = self.measured
        return weigh_measures(m.stiff, m.table.values(x, self._near), m.sign, m.bound, m.reach, self._strength, self._weight)

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self.measured.table.pair, self.drag_pair

    def value(self, x: np.ndarray) -> float:
        total = self._weigh(x)
        if len(self.drag_strength):
            total += dashpot_value(self.drag_pair.ravel(), self._drag, self.drag_strength, x, self._origin, 0.0, self._weight)
        return self._factor * total

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        table = self.measured.table
        self._weigh(x)
        add_measure_gradient(table.flat, table.vectors, self._weight, table.slopes(x), self._factor, gradient_out)
        if len(self.drag_strength):
            dashpot_value(self.drag_pair.ravel(), self._drag, self.drag_strength, x, self._origin, self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        table, blocks = self.measured.table, (own_out, between_out)
        self._weigh(x)
        add_measure_blocks(
            table.kind, table.flat, places[0], table.vectors, self._weight, table.slopes(x), x, int(not careful), self._factor,
            self._curve, *blocks,
        )  # fmt: skip
        for k, measure in table.own if not careful else ():
            H = self._factor * self._weight[2 * k] * np.asarray(measure.curve(table.vectors_of(k, x)))
            self._add_own_curve(k, H, int(places[0][k]), *blocks)
        if len(self.drag_strength):
            add_dashpot_blocks(self.drag_pair.ravel(), places[1], self._drag, self.drag_strength, self._factor, *blocks)

    def _add_own_curve(self, k: int, H: np.ndarray, place: int, own_out: np.ndarray, between_out: np.ndarray) -> None:
        """Σ uᵢ wⱼᵀ ⊗ Hᵢⱼ of a measure that NumPy evaluates."""
        table = self.measured.table
        on = [np.einsum("ip,rs->irps", u, np.eye(3)).reshape(12, 12) for u in table.vectors[WIDTH * k :][:WIDTH].reshape(2, 4, 4)]
        for body, u in zip(table.pair[k], on, strict=True):
            own_out.reshape(-1, 12, 12)[body] += u.T @ H @ u
        low, high = (on[1], on[0]) if place < 0 else on
        between_out.reshape(-1, 12, 12)[-1 - place if place < 0 else place] += low.T @ H @ high

    def max_step(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        """Within it no range reaches its bound."""
        m, table = self.measured, self.measured.table
        t = safe_measure_step(
            m.stiff, table.kind, table.flat, table.vectors, self._near, m.sign, m.bound, m.reach, table.slopes(x), x, p, t
        )  # fmt: skip
        for k, measure in table.own if t > 0.0 else ():
            if not m.stiff[k]:
                y, dy, near = table.vectors_of(k, x), table.vectors_of(k, p), float(self._near[k])
                t = sampled_step(lambda s, k=k, y=y, dy=dy, near=near, f=measure: m.sign[k] * (f.value(y + s * dy, near) - m.bound[k]), t)
        return t

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        m = self.measured
        forces = float(np.abs(self._weight[0::2] * (m.stiff == 0)).sum())
        noise = DIGITS * self._factor * forces * max(1.0, float(np.abs(x).max(initial=0.0)))
        held = np.flatnonzero((m.stiff == 0) & (self._weight[1::2] != 0.0))
        if not len(held):
            return noise, 0.0
        gaps = m.sign * (m.table.values(x, self._near) - m.bound)
        slopes = np.einsum("nsj,nsj->n", m.table.gradients(x).reshape(-1, 2, 12), p.reshape(-1, 12)[m.table.pair])
        return noise, float(np.abs(slopes[held] / gaps[held]).max())

    def violation(self, x: np.ndarray) -> float:
        return self.measured.largest(self.measured.sign * (self.measured.table.values(x, self._near) - self.measured.bound))


def measure_loads(
    measured: MeasuredElements, Q: np.ndarray, q: np.ndarray, scales: StepScales, doubled: np.ndarray | float = 0.0, equalities: bool = True
) -> ElementLoads:
    """Value, wrenches, efforts, multipliers and violation at Q, with fitted joint coordinates q."""
    model, out = measured.model, ElementLoads.of(measured.model)
    if not len(measured):
        return out
    x = np.ascontiguousarray(Q).ravel()
    strength, weight = measured.strength(scales, doubled), np.zeros(2 * len(measured))
    if not equalities:
        strength = np.where(measured.stiff == 1, 0.0, strength)
    values = measured.table.values(x, measured.near(q))
    out.violation = measured.largest(measured.sign * (values - measured.bound))
    out.value = weigh_measures(measured.stiff, values, measured.sign, measured.bound, measured.reach, strength, weight)
    slope = weight[0::2]
    # Multipliers act along growing C.
    for r, row in enumerate(measured.rows):
        if row.owner >= 0 and (equalities or not row.stiff):
            name, c = model.constraints[row.owner]
            out.multipliers.setdefault(name, np.zeros(c.rows))[row.row] = -measured.sign[r] * slope[r]
    # Generalised forces −P′ ∂C/∂Q as wrenches on bodies, and as efforts in joints.
    held = np.flatnonzero(slope)
    F = -slope[held, None, None, None] * measured.table.gradients(x)[held]
    R, _ = polar(Q)
    for r, pair in zip(held, F, strict=True):
        row = measured.rows[r]
        for body, f in zip(measured.table.pair[r], pair, strict=True):
            if body < model.n_bodies:
                out.wrench[body] += wrench_of(Q[body], R[body], f)
        _add_efforts(row, Q, q, R, pair[0], -measured.sign[r] * slope[r], out)
    return out


def wrench_of(Q: np.ndarray, R: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Torque about the origin and force, body axes, of a generalised force (4, 3)."""
    return np.concatenate([R.T @ np.cross(Q[1:], f[1:]).sum(axis=0), R.T @ f[0]])


def _add_efforts(
    row: HeldMeasure, Q: np.ndarray, q: np.ndarray, R: np.ndarray, f: np.ndarray, multiplier: float, out: ElementLoads
) -> None:
    """What a row does in its joint: an effort, or the wrench on M that is one or holds the joint."""
    part = row.part
    if part is None:
        return
    if row.velocity >= 0:
        out.efforts[row.velocity] += row.effort * multiplier
        return
    wrench = wrench_of(Q[part.child], R[part.child], f)
    torque = part.X_BM.R.T @ (wrench[:3] - np.cross(part.X_BM.p, wrench[3:]))
    at_M = np.concatenate([torque, part.X_BM.R.T @ wrench[3:]])
    if row.stiff:
        out.holding[part.joint] = out.holding.get(part.joint, np.zeros(6)) + at_M
    else:
        S = np.asarray(part.element.motion(q[part.q_start : part.q_start + part.nq]))
        out.efforts[part.v_start : part.v_start + part.nv] += S.T @ at_M
