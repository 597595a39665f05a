"""Potentials of measures: ranges as barriers (paper 003, §4.3), stiff springs for equations that are not linear (§4.2), damping (§5).

    range     C = sign (measure − bound) ≥ 0     P = κ b(C/ĉ)
    stiff     C = measure − bound = 0            P = ½ k C²
    damping   ½ c (∇C·w)²,  c = k_d P″ and ∇C at the beginning of the step, w = x − x₀ the way that velocity counts (Eq. 20–22)

Second derivatives are P″ ∇C ∇Cᵀ, which is positive, and, exactly, P′ ∂²C besides.

How far x + t p may go without C ≤ 0: distances, slides and turns cross their bound where a polynomial of second degree in t falls through
zero; angles of cones change at most by |δy₀|/|y₀| + |δy₁|/|y₁|, and are followed in steps that cannot jump over the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin, sqrt

import numpy as np

from unibody.contact.barrier import add_outer, barrier_terms
from unibody.coordinates.affine.body import polar
from unibody.coordinates.affine.measures import WIDTH, measured_vector
from unibody.coordinates.affine.polar import add_dashpot_blocks
from unibody.kernel import Floats, Ints, device, kernel
from unibody.measure import CONE, DISTANCE, SLIDE, TURN, measure_value, sine_and_cosine, store_curve
from unibody.solvers.barrier.element_loads import ElementLoads, StepScales
from unibody.solvers.barrier.incremental_potential import Potential
from unibody.solvers.barrier.measured_elements import HeldMeasure, MeasuredElements
from unibody.spatial.devices import add3, dot3, norm3, scale3

DIGITS = 1e-15
"""What measures can be trusted to, in units of coordinates."""
SHARE = 0.9
"""Of the way to a bound that a step may use."""
FOLLOWED = 200
GENTLE = 60


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
            y0 = measured_vector(vectors, k, 0, Q, 12 * a, 12 * b)
            y1 = measured_vector(vectors, k, 1, Q, 12 * a, 12 * b)
            y2 = measured_vector(vectors, k, 2, Q, 12 * a, 12 * b)
            y3 = measured_vector(vectors, k, 3, Q, 12 * a, 12 * b)
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


@device
def down_crossing(c0, c1, c2):
    """The t > 0 at which c₀ + c₁ t + c₂ t² falls through zero, or 2."""
    disc = c1 * c1 - 4.0 * c0 * c2
    if disc < 0.0:
        return 2.0
    root = sqrt(disc)
    if c1 <= 0.0:
        t = 2.0 * c0 / (root - c1) if root - c1 > 0.0 else 2.0
    else:
        t = -(c1 + root) / (2.0 * c2) if c2 != 0.0 else 2.0
    return t if t > 0.0 else 2.0


@device
def least_length(y, dy):
    """min |y + t dy| over 0 ≤ t ≤ 1."""
    squared = dot3(dy, dy)
    t = min(max(-dot3(y, dy) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    return norm3((y[0] + t * dy[0], y[1] + t * dy[1], y[2] + t * dy[2]))


@device
def products(x, dx, y, dy):
    """x·y along x + t dx, y + t dy: three coefficients."""
    return dot3(x, y), dot3(dx, y) + dot3(x, dy), dot3(dx, dy)


@device
def followed(sign, bound, y0, d0, y1, d1, t):
    """How far up to t the angle of a cone may go."""
    l0 = least_length(y0, d0)
    l1 = least_length(y1, d1)
    if l0 == 0.0 or l1 == 0.0:
        return 0.0
    fastest = norm3(d0) / l0 + norm3(d1) / l1
    zero = (0.0, 0.0, 0.0)
    start = sign * (measure_value(CONE, y0, y1, zero, zero, 0.0) - bound)
    if start > fastest * t:
        return t
    least = (1.0 - SHARE) * start
    now = 0.0
    for _ in range(FOLLOWED):
        C = sign * (measure_value(CONE, add3(y0, scale3(now, d0)), add3(y1, scale3(now, d1)), zero, zero, 0.0) - bound)
        if C <= 1.5 * least:
            return now
        now += (C - least) / fastest
        if now >= t:
            return t
    return now


@device
def turn_crossing(sign, bound, near, y0, d0, y1, d1, y2, d2, y3, d3):
    """t at which a turn reaches its bound: N sin(θ − bound) falls through zero where the cosine is positive."""
    S, K = sine_and_cosine(y0, y1, y2, y3)
    if sign * (measure_value(TURN, y0, y1, y2, y3, near) - bound) >= 2.0 * pi:
        return 2.0
    s = sin(bound)
    c = cos(bound)
    a = products(y1, d1, y2, d2)
    b = products(y0, d0, y3, d3)
    e = products(y0, d0, y2, d2)
    f = products(y1, d1, y3, d3)
    S1 = a[1] - b[1]
    S2 = a[2] - b[2]
    K1 = e[1] + f[1]
    K2 = e[2] + f[2]
    t = down_crossing(sign * (c * S - s * K), sign * (c * S1 - s * K1), sign * (c * S2 - s * K2))
    if t > 1.0:
        return 2.0
    cosine = c * (K + t * (K1 + t * K2)) + s * (S + t * (S1 + t * S2))
    return t if cosine > 0.0 else 2.0


@device
def along(kind, y0, d0, y1, d1, y2, d2, y3, d3, t, near):
    """The measure at y + t d."""
    return measure_value(kind, moved(y0, d0, t), moved(y1, d1, t), moved(y2, d2, t), moved(y3, d3, t), near)


@device
def moved(y, d, t):
    return (y[0] + t * d[0], y[1] + t * d[1], y[2] + t * d[2])


@kernel
def safe_measure_step(
    stiff: Ints, kind: Ints, pair: Ints, vectors: Floats, near: Floats, sign: Floats, bound: Floats, reach: Floats, slope: Floats,
    Q: Floats, step: Floats, t: float,
) -> float:  # fmt: skip
    """The largest part of a step, at most t, within which no range reaches its bound, and within a barrier none falls below half of what
    its slope says: along a curved bound, steps that lose more than they mean to end up ever nearer to it."""
    for k in range(kind.size):
        if stiff[k] != 0 or kind[k] < 0:
            continue
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0 = measured_vector(vectors, k, 0, Q, a, b)
        d0 = measured_vector(vectors, k, 0, step, a, b)
        y1 = measured_vector(vectors, k, 1, Q, a, b)
        d1 = measured_vector(vectors, k, 1, step, a, b)
        y2 = measured_vector(vectors, k, 2, Q, a, b)
        d2 = measured_vector(vectors, k, 2, step, a, b)
        y3 = measured_vector(vectors, k, 3, Q, a, b)
        d3 = measured_vector(vectors, k, 3, step, a, b)
        m = bound[k]
        if kind[k] == DISTANCE:
            c = products(y0, d0, y0, d0)
            t = min(t, SHARE * down_crossing(sign[k] * (c[0] - m * m), sign[k] * c[1], sign[k] * c[2]))
        elif kind[k] == SLIDE:
            c = products(y0, d0, y1, d1)
            e = products(y1, d1, y1, d1)
            cross = down_crossing(sign[k] * (c[0] - m * e[0]), sign[k] * (c[1] - m * e[1]), sign[k] * (c[2] - m * e[2]))
            t = min(t, SHARE * cross)
        elif kind[k] == CONE:
            t = followed(sign[k], m, y0, d0, y1, d1, t)
        else:
            t = min(t, SHARE * turn_crossing(sign[k], m, near[k], y0, d0, y1, d1, y2, d2, y3, d3))
        C = sign[k] * (along(kind[k], y0, d0, y1, d1, y2, d2, y3, d3, 0.0, near[k]) - m)
        rate = 0.0
        for r in range(3):
            at = 12 * k + r
            rate += sign[k] * (slope[at] * d0[r] + slope[at + 3] * d1[r] + slope[at + 6] * d2[r] + slope[at + 9] * d3[r])
        for _ in range(GENTLE):
            now = sign[k] * (along(kind[k], y0, d0, y1, d1, y2, d2, y3, d3, t, near[k]) - m)
            if now >= reach[k] or now >= 0.5 * (C + t * rate):
                break
            t *= 0.7
    return t


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

    def add_blocks(
        self, x: np.ndarray, places: Sequence[np.ndarray], careful: bool, own_out: np.ndarray, between_out: np.ndarray
    ) -> None:
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


SAMPLED = (0.25, 0.5, 0.75, 1.0)
HALVINGS = 12


def sampled_step(gap: Callable[[float], float], t: float) -> float:
    """The part, at most t, up to which a gap stays open of which nothing else is known: sampled, then halved.

    >>> round(sampled_step(lambda s: 0.6 - s, 1.0), 2)
    0.54
    """
    good = 0.0
    for share in SAMPLED:
        if not gap(share * t) > 0.0:
            bad = share * t
            for _ in range(HALVINGS):
                middle = 0.5 * (good + bad)
                good, bad = (middle, bad) if gap(middle) > 0.0 else (good, middle)
            return SHARE * good
        good = share * t
    return t


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
