"""Measures: scalar functions of two frames, such as an angle, a slide or a distance, with their first and second derivatives.

A measure is a function C(y₀ … y₃) of up to four vectors. Each is fixed in one of two frames or goes between them: with homogeneous
coordinates (1, X) of points and (0, X) of directions, y = Aᵀ u + Bᵀ w, where A and B (4×3: origin, then axes) are the first and the second
frame. The frames are bodies, or M and F of a joint.

    DISTANCE   |y₀|                                   y₀ between two points
    SLIDE      y₀·y₁ / y₁·y₁                          y₀ between two points, y₁ the direction, of material length one
    CONE       the angle between y₀ and y₁
    TURN       arg(K + i S),  S = y₁·y₂ − y₀·y₃,  K = y₀·y₂ + y₁·y₃
               y₀, y₁ across the axis on the one frame, y₂, y₃ the same on the other: the angle of a hinge; of any rotation the twist that
               is left when the swing is taken away; with y₃ = 0 the turn of y₂ about an axis, with y₁ = 0 that of y₀

They are exact for frames that are not quite rigid, too. Angles of a TURN count turns from the nearest to a given `near`.

Elements offer measures: `Joint.measures()` tells which measures its coordinates are, `Constraint.measures()` bounds them row by row. A
measure of one's own derives from `Measure`, sets `kind = OWN` and gives `value`, `slope` and `curve` of the four vectors; NumPy serves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, floor, pi
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.kernel import device
from unibody.spatial.devices import cross, dot3, load3, norm3, scale3, store3, sub3

DISTANCE, SLIDE, CONE, TURN = range(4)
OWN = -1
"""The kind of measures that only NumPy evaluates."""

SHORTEST = 1e-12
"""Lengths [m] and sines of angles below this have no direction: their slope is zero."""
PERPENDICULAR = 1e-9
"""Cosine below which two axes count as perpendicular, and sine below which as parallel."""

NOTHING = np.zeros(4)
Vector = tuple[Any, Any]
"""Homogeneous coordinates (4) of a vector in the first frame, and in the second."""


@device
def nearest_turn(angle, near):
    """The angle plus a whole number of turns, at most half a turn from `near`."""
    return angle - 2.0 * pi * floor((angle - near) / (2.0 * pi) + 0.5)


@device
def sine_and_cosine(y0, y1, y2, y3):
    """S and K of a turn."""
    return dot3(y1, y2) - dot3(y0, y3), dot3(y0, y2) + dot3(y1, y3)


@device
def measure_value(kind, y0, y1, y2, y3, near):
    """C; a TURN is the one nearest to `near`."""
    if kind == DISTANCE:
        return norm3(y0)
    if kind == SLIDE:
        return dot3(y0, y1) / dot3(y1, y1)
    if kind == CONE:
        return atan2(norm3(cross(y0, y1)), dot3(y0, y1))
    S, K = sine_and_cosine(y0, y1, y2, y3)
    return nearest_turn(atan2(S, K), near)


@device
def cone_directions(y0, y1):
    """Unit vectors across y₀ towards y₁, across y₁ towards y₀, and across both; the sine of the angle. Zero where there is none."""
    a = scale3(1.0 / norm3(y0), y0)
    b = scale3(1.0 / norm3(y1), y1)
    m = cross(a, b)
    s = norm3(m)
    m = scale3(1.0 / s if s > SHORTEST else 0.0, m)
    return cross(m, a), cross(b, m), m, s


@device
def store_slope(kind, y0, y1, y2, y3, at, slope_out):
    """g₀ … g₃."""
    for i in range(12):
        slope_out[at + i] = 0.0
    if kind == DISTANCE:
        d = norm3(y0)
        store3(scale3(1.0 / d if d > SHORTEST else 0.0, y0), at, slope_out)
    elif kind == SLIDE:
        inverse = 1.0 / dot3(y1, y1)
        store3(scale3(inverse, y1), at, slope_out)
        store3(scale3(inverse, sub3(y0, scale3(2.0 * inverse * dot3(y0, y1), y1))), at + 3, slope_out)
    elif kind == CONE:
        e_a, e_b, _, _ = cone_directions(y0, y1)
        store3(scale3(-1.0 / norm3(y0), e_a), at, slope_out)
        store3(scale3(-1.0 / norm3(y1), e_b), at + 3, slope_out)
    else:
        S, K = sine_and_cosine(y0, y1, y2, y3)
        N = S * S + K * K
        s = -S / N if N > SHORTEST * SHORTEST else 0.0
        c = K / N if N > SHORTEST * SHORTEST else 0.0
        for r in range(3):
            slope_out[at + r] = s * y2[r] - c * y3[r]
            slope_out[at + 3 + r] = c * y2[r] + s * y3[r]
            slope_out[at + 6 + r] = c * y1[r] + s * y0[r]
            slope_out[at + 9 + r] = s * y1[r] - c * y0[r]


@device
def add_dyad(f, x, i, y, j, curve_out):
    """H_ij += f x yᵀ, and its transpose as H_ji; of i = j only once."""
    for r in range(3):
        for c in range(3):
            curve_out[12 * (3 * i + r) + 3 * j + c] += f * x[r] * y[c]
            if i != j:
                curve_out[12 * (3 * j + c) + 3 * i + r] += f * x[r] * y[c]


@device
def add_unit(f, i, j, curve_out):
    """H_ij += f 1, and H_ji."""
    for r in range(3):
        curve_out[12 * (3 * i + r) + 3 * j + r] += f
        if i != j:
            curve_out[12 * (3 * j + r) + 3 * i + r] += f


@device
def store_curve(kind, y0, y1, y2, y3, slope, at, curve_out):
    """H (12×12) from the y and the slopes at `at`.

    Of a turn, log(K + i S) = ρ + i θ gives ∂²θ = (K ∂²S − S ∂²K)/(K² + S²) − (∂ρ ∂θᵀ + ∂θ ∂ρᵀ)."""
    for i in range(144):
        curve_out[i] = 0.0
    if kind == DISTANCE:
        # d = |y₀|: H = (1 − n nᵀ)/d
        d = norm3(y0)
        if d > SHORTEST:
            n = load3(slope, at)
            add_unit(1.0 / d, 0, 0, curve_out)
            add_dyad(-1.0 / d, n, 0, n, 0, curve_out)
    elif kind == SLIDE:
        # y₀ · y₁ / |y₁|²: the derivative of the slopes y₁/|y₁|² and (y₀ − 2 (y₀ · y₁) y₁/|y₁|²)/|y₁|²
        inverse = 1.0 / dot3(y1, y1)
        g1 = load3(slope, at + 3)
        add_unit(inverse, 0, 1, curve_out)
        add_dyad(-2.0 * inverse * inverse, y1, 0, y1, 1, curve_out)
        add_unit(-2.0 * inverse * inverse * dot3(y0, y1), 1, 1, curve_out)
        add_dyad(-2.0 * inverse, y1, 1, g1, 1, curve_out)
        add_dyad(-2.0 * inverse, g1, 1, y1, 1, curve_out)
    elif kind == CONE:
        # the angle between y₀ and y₁, with m normal to both: cot m mᵀ/|y|² and the turning of e on each, −m mᵀ/(|y₀| |y₁| sin) between them
        e_a, e_b, m, s = cone_directions(y0, y1)
        if s > SHORTEST:
            a = 1.0 / norm3(y0)
            b = 1.0 / norm3(y1)
            cot = dot3(y0, y1) * a * b / s
            add_dyad(cot * a * a, m, 0, m, 0, curve_out)
            add_dyad(a * a * a, y0, 0, e_a, 0, curve_out)
            add_dyad(a * a * a, e_a, 0, y0, 0, curve_out)
            add_dyad(cot * b * b, m, 1, m, 1, curve_out)
            add_dyad(b * b * b, y1, 1, e_b, 1, curve_out)
            add_dyad(b * b * b, e_b, 1, y1, 1, curve_out)
            add_dyad(-a * b / s, m, 0, m, 1, curve_out)
    else:
        S, K = sine_and_cosine(y0, y1, y2, y3)
        N = S * S + K * K
        if N <= SHORTEST * SHORTEST:
            return
        s = S / N
        c = K / N
        # (K ∂²S − S ∂²K)/N: S and K are bilinear in the y
        add_unit(c, 1, 2, curve_out)
        add_unit(-c, 0, 3, curve_out)
        add_unit(-s, 0, 2, curve_out)
        add_unit(-s, 1, 3, curve_out)
        # − (∂ρ ∂θᵀ + ∂θ ∂ρᵀ)
        for i in range(4):
            for r in range(3):
                d_i = log_slope(i, r, c, s, y0, y1, y2, y3)
                for j in range(4):
                    for q in range(3):
                        d_j = log_slope(j, q, c, s, y0, y1, y2, y3)
                        change = d_i * slope[at + 3 * j + q] + slope[at + 3 * i + r] * d_j
                        curve_out[12 * (3 * i + r) + 3 * j + q] -= change


@device
def log_slope(i, r, c, s, y0, y1, y2, y3):
    """A component of ∂ρ = (K ∂K + S ∂S)/N."""
    if i == 0:
        return c * y2[r] - s * y3[r]
    if i == 1:
        return c * y3[r] + s * y2[r]
    if i == 2:
        return c * y0[r] + s * y1[r]
    return c * y1[r] - s * y0[r]


@dataclass(frozen=True)
class Measure:
    """One measure: its vectors (4, 4) in the first frame (a joint's M) and in the second (its F). What it stands for, such as a joint's
    coordinate, is flip · (C − offset).

    >>> turn((0, 0, 1)).kind == TURN
    True
    """

    kind: int
    on_first: np.ndarray
    on_second: np.ndarray
    flip: float = 1.0
    offset: float = 0.0

    def value(self, y: np.ndarray, near: float) -> float:
        """C of the four vectors (4, 3)."""
        return float(measure_value(self.kind, *map(tuple, y), near))

    def slope(self, y: np.ndarray) -> np.ndarray:
        """(12,) ∂C/∂y."""
        out = np.zeros(12)
        store_slope(self.kind, *map(tuple, y), 0, out)
        return out

    def curve(self, y: np.ndarray) -> np.ndarray:
        """(12, 12) ∂²C/∂y²."""
        out = np.zeros(144)
        store_curve(self.kind, *map(tuple, y), self.slope(y), 0, out)
        return out.reshape(12, 12)


@dataclass(frozen=True)
class MeasuredRow:
    """One row of a constraint as a bound on a measure x: sign (x − bound) ≥ 0 of a unilateral constraint, x = bound of others.

    x is a measure between two `bodies`, in their axes; or between M and F of `within`, the joint's element or a part of it; or, if no
    measure is given, the coordinate of the joint that stands at `place` in q."""

    bound: float
    sign: float = 1.0
    measure: Measure | None = None
    bodies: tuple[str, str] | None = None
    joint: str = ""
    within: Any = None
    place: int = -1
    velocity: int = -1
    """The velocity of the model whose effort is the row's multiplier; −1: several, those that its wrench moves."""


def from_vectors(kind: int, *vectors: Vector, flip: float = 1.0, offset: float = 0.0) -> Measure:
    """From y₀, y₁ …, each given in the first and in the second frame."""
    whole = [*vectors, *[(NOTHING, NOTHING)] * (4 - len(vectors))]
    return Measure(kind, np.array([v[0] for v in whole], float), np.array([v[1] for v in whole], float), flip, offset)


ORIGINS = np.array([1.0, 0.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0, 0.0])
"""From the origin of the second frame to that of the first."""


def in_first(direction: Any) -> Vector:
    return np.array([0.0, *np.asarray(direction, float)]), NOTHING


def in_second(direction: Any) -> Vector:
    return NOTHING, np.array([0.0, *np.asarray(direction, float)])


def distance(a: Point, b: Point) -> Measure:
    """Between a point of the first body and one of the second."""
    return from_vectors(DISTANCE, (np.array([1.0, *a.p]), -np.array([1.0, *b.p])))


def height(a: Point, b: Point, direction: Any) -> Measure:
    """How far a point of the first body is from one of the second, along a direction of the second."""
    return from_vectors(SLIDE, (np.array([1.0, *a.p]), -np.array([1.0, *b.p])), in_second(direction))


def turn(axis: Any) -> Measure:
    """The turn of the first frame against the second about an axis that both share."""
    e, f = across(axis)
    return from_vectors(TURN, in_second(e), in_second(f), in_first(e), in_first(f))


def slide(axis: Any) -> Measure:
    """The place of the first frame's origin along an axis of the second."""
    return from_vectors(SLIDE, ORIGINS, in_second(axis))


def cone(axis: Any) -> Measure:
    """The angle between an axis of the first frame and the same of the second."""
    return from_vectors(CONE, in_second(axis), in_first(axis))


def universal(a: np.ndarray, b: np.ndarray) -> dict[int, Measure]:
    """The two angles of turns about a, then about b: turns of each axis about the other."""
    return {} if np.linalg.norm(np.cross(a, b)) < PERPENDICULAR else {0: _first_about(a, b, b), 1: _second_about(b, a, a)}


def gimbal(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> dict[int, Measure]:
    """The three angles of turns about a, b, c with a ⊥ b ⊥ c: of c about a, between a and c, of a about c.

    Turning by q₂ about b takes a towards b × a, so the angle between a and c grows with q₂ if c lies on that side, and else shrinks."""
    angle = np.arccos(np.clip(a @ c, -1.0, 1.0))
    if abs(a @ b) >= PERPENDICULAR or abs(b @ c) >= PERPENDICULAR or min(angle, np.pi - angle) < 1e-6:
        return {}
    flip = 1.0 if c @ np.cross(b, a) > 0.0 else -1.0
    between = from_vectors(CONE, in_second(a), in_first(c), flip=flip, offset=float(angle))
    return {0: _first_about(a, c, c), 1: between, 2: _second_about(c, a, a)}


def _first_about(axis: np.ndarray, vector: np.ndarray, zero: np.ndarray) -> Measure:
    """The turn of a vector of the first frame about an axis of the second, zero where it lies towards `zero`."""
    e = unit(zero - (zero @ axis) * axis)
    return from_vectors(TURN, in_second(e), in_second(np.cross(axis, e)), in_first(vector))


def _second_about(axis: np.ndarray, vector: np.ndarray, zero: np.ndarray) -> Measure:
    """The turn of the first frame about its own axis, zero where the vector of the second lies towards `zero` of the first."""
    e = unit(zero - (zero @ axis) * axis)
    return from_vectors(TURN, in_second(vector), (NOTHING, NOTHING), in_first(e), in_first(np.cross(axis, e)))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def across(axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """e, f with e × f along the axis."""
    a = unit(np.asarray(axis, float))
    e = unit(np.cross(a, np.eye(3)[np.argmin(np.abs(a))]))
    return e, np.cross(a, e)


def counts_turns(measures: Sequence[Measure]) -> bool:
    """Whether one of them is an angle that may pass a whole turn."""
    return any(m.kind in (TURN, OWN) for m in measures)
