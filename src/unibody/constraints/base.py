"""What a constraint is: rows C = 0, or C ≥ 0, between points of bodies or joint coordinates, held by multipliers.

    Ċ = Σ_b G_b V_b + Σ_j J_j v_j + drift,      C̈ = Σ_b G_b V̇_b + Σ_j J_j v̇_j + bias

V̇_b is the rate of the components of V_WB_B. The drift ∂C/∂t and, in the bias, C_tt and the mixed terms are those of rows that
depend on time; other rows leave the drift alone, which is zero when a kernel is called. A multiplier μ acts as the wrench Gᵀ μ on the
bodies and the effort Jᵀ μ in the joints; rows that depend on time do work at the power −μ·drift.

The NumPy method is `evaluate`; a class with a `fill_kernel` of the signature `FillRows` also runs at compiled speed. A row has one 6-wide
block of G per body of `bodies()`, in that order, and one number of J per entry of `dofs(packing)`. Entries are numbered row-major: with m
bodies, that of row r and body b is first + r m + b, and its block starts at 6 times that; likewise J. Points of bodies obey, with
Γ = [−[p]×, 1],

    ẋ = R Γ V,      ẍ = R Γ V̇ + R (ω × Γ V)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unibody.element import Kinematics, Packing, Point, number
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, device, prototype
from unibody.measure import MeasuredRow
from unibody.spatial.devices import add3, cross, load3, load9, rotate, rotate_back, scale3, sub3
from unibody.spatial.motion import Track, is_table
from unibody.spatial.pose import skew, vector3

__all__ = ["Constraint", "Rows"]


@prototype
def FillRows(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    """C, G, J, the bias and the drift of all constraints of a class. `index` per constraint: its first row, first entry of G, first entry
    of J, then the integers of `Constraint.row`; `parameters` per constraint: the numbers of `Constraint.row`. `signals` holds the values
    at this time of what `Packing.signal` and `Packing.signal_vector` were given; drift_out is zero on entry."""


class Rows(NamedTuple):
    """What `evaluate` gives: C (r), G by body (r×6), J by joint (r×nv), bias (r), drift ∂C/∂t (r; None: zero)."""

    residual: np.ndarray
    G: dict[str, np.ndarray]
    J: dict[str, np.ndarray]
    bias: np.ndarray
    drift: np.ndarray | None = None


class Constraint:
    """Base of all constraints. Subclasses are frozen dataclasses and set `rows` and `units`."""

    rows: int
    """Of the class, or of an instance once it has been `started`."""
    units: tuple[str, ...]
    """The unit of each row's C: "m" or "rad"."""
    compliance: ClassVar[float] = 0.0
    """C = −compliance · multiplier: 0 is rigid."""
    unilateral: ClassVar[bool] = False
    """Whether the rows are C ≥ 0 held by multipliers ≥ 0, instead of C = 0."""
    nonholonomic: ClassVar[bool] = False
    """Whether only Ċ = 0 is held, and C, left at zero, means nothing."""

    @property
    def barred(self) -> bool:
        """Whether it says something of a barrier before its bounds, which only solvers with barriers know."""
        return False

    fill_kernel: ClassVar[Kernel | None] = None

    def bodies(self) -> list[str]:
        """The bodies it holds, by name, each once; the order is that of the blocks of G."""
        return []

    def joints(self) -> list[str]:
        """The joints it holds, by name, each once."""
        return []

    def dofs(self, packing: Packing) -> list[int]:
        """The v indices of its entries of J."""
        return []

    def started(self, packing: Packing, name: str) -> Constraint:
        """The element with what depends on the start filled in (a length, say). `name` is for messages."""
        return self

    def evaluate(self, kinematics: Kinematics) -> Rows:
        """C, G, J, the bias and the drift at this instant, `kinematics.t`."""
        raise NotImplementedError(f"{type(self).__name__} must give evaluate(kinematics)")

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        """Optional: every row as a bound on a measure, for solvers that keep bounds by potentials. Others evaluate the rows."""
        return []

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        """The numbers of one instance for the kernel: its own integers and parameters, without the three offsets."""
        return [], []

    @classmethod
    def pack(
        cls, instances: Sequence[tuple[str, Constraint]], offsets: Sequence[tuple[int, int, int]], packing: Packing
    ) -> tuple[np.ndarray, np.ndarray]:
        """The tables of all instances, given as (name, element), with their offsets (first row, first entry of G, of J)."""
        rows = [element.row(packing, name) for name, element in instances]
        index = [i for start, (own, _) in zip(offsets, rows, strict=True) for i in (*start, *own)]
        return np.array(index, np.int64), np.array([p for _, own in rows for p in own], np.float64)


def refuse_same_body(a: Point, b: Point, what: str) -> None:
    """Two points of one body cannot move against each other: such rows would be zero."""
    if a.body == b.body:
        raise ModelError(f"{what}: both points are on body '{a.body}' and never move apart; give points of two bodies")


def barrier_numbers(constraint: Constraint, what: str) -> None:
    """`damping`, `reach` and `stiffness` of a range's barrier, checked and as numbers."""
    object.__setattr__(constraint, "damping", number(getattr(constraint, "damping"), f"{what} damping", minimum=0.0))  # noqa: B009
    for name in ("reach", "stiffness"):
        if getattr(constraint, name) is not None:
            object.__setattr__(constraint, name, number(getattr(constraint, name), f"{what} {name}", positive=True))


def unit_direction(given: Any, what: str, field: str) -> tuple[float, ...]:
    """A unit vector along what was given."""
    direction = vector3(given, f"{what} {field}")
    size = float(np.linalg.norm(direction))
    if size == 0.0:
        raise ModelError(f"{what}: {field} {tuple(direction.tolist())} has no direction; give a non-zero vector")
    return tuple((direction / size if abs(size - 1.0) > 1e-15 else direction).tolist())  # unit already: the same numbers again


def chosen_numbers(given: Any, below: int, what: str) -> tuple[int, ...]:
    """Some of 0 … below − 1, each once."""
    numbers = tuple(given) if isinstance(given, tuple | list | range) else (given,)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and 0 <= n < below for n in numbers)
    if not numbers or not whole or len(set(numbers)) < len(numbers):
        raise ModelError(f"{what}: {given!r} does not choose; give some of 0 … {below - 1}, each once")
    return tuple(int(n) for n in numbers)


def signal_motion(packing: Packing, motion: Any, track: Track, count: int, what: str) -> int:
    """Slots of `signals` for a motion: numbers if it is constant, else what the track gives at each time."""
    moving = callable(motion) or is_table(motion)
    return packing.signal_vector(track if moving else track(0.0), count, what)


def point_map(kinematics: Kinematics, point: Point) -> np.ndarray:
    """R Γ (3×6)."""
    return kinematics.pose(point.body)[0] @ np.concatenate([-skew(np.array(point.p)), np.eye(3)], axis=1)


def point_bias(kinematics: Kinematics, point: Point) -> np.ndarray:
    """R (ω × Γ V): the point's acceleration when V̇ = 0."""
    return kinematics.pose(point.body)[0] @ np.cross(kinematics.twist(point.body)[:3], velocity_in_body(kinematics, point))


def velocity_in_body(kinematics: Kinematics, point: Point) -> np.ndarray:
    """Γ V: the point's velocity, in its body's axes."""
    V = kinematics.twist(point.body)
    return V[3:] + np.cross(V[:3], point.p)


@device
def moving_point(X, V, body, p):
    """x, ẋ and R (ω × Γ V) of the point p of a body, in the world."""
    R = load9(X, 12 * body)
    omega = load3(V, 6 * body)
    velocity = add3(load3(V, 6 * body + 3), cross(omega, p))
    return add3(load3(X, 12 * body + 9), rotate(R, p)), rotate(R, velocity), rotate(R, cross(omega, velocity))


@dataclass(frozen=True)
class SeenPoint:
    """A point as another body B sees it: r = R_Bᵀ (x − p_WB) in B's axes, its maps ṙ = A V_A + B V_B, and r̈ when V̇ = 0."""

    r: np.ndarray
    on_point: np.ndarray
    on_seer: np.ndarray
    bias: np.ndarray


def seen_point(kinematics: Kinematics, point: Point, seer: str) -> SeenPoint:
    """The point seen by the body `seer`."""
    R, p = kinematics.pose(seer)
    V = kinematics.twist(seer)
    r = R.T @ (kinematics.position(point) - p)
    frame = V[3:] + np.cross(V[:3], r)
    rate = R.T @ kinematics.velocity(point) - frame
    bias = R.T @ point_bias(kinematics, point) - 2.0 * np.cross(V[:3], rate) - np.cross(V[:3], frame)
    return SeenPoint(r, R.T @ point_map(kinematics, point), np.concatenate([skew(r), -np.eye(3)], axis=1), bias)


@device
def see_point(X, V, a, p, b):
    """r = R_Bᵀ (x − p_WB), the point p of body a as body b sees it, and r̈ when V̇ = 0."""
    x, velocity, bias = moving_point(X, V, a, p)
    R = load9(X, 12 * b)
    omega = load3(V, 6 * b)
    r = rotate_back(R, sub3(x, load3(X, 12 * b + 9)))
    frame = add3(load3(V, 6 * b + 3), cross(omega, r))
    rate = sub3(rotate_back(R, velocity), frame)
    return r, sub3(rotate_back(R, bias), cross(omega, add3(frame, scale3(2.0, rate))))


@device
def fill_seen_blocks(X, a, p, b, r, axis, entry, G_out):
    """The row of r·axis into an entry of G (body a) and the next (body b)."""
    fill_point_block(X, a, p, rotate(load9(X, 12 * b), axis), entry, G_out)
    turn = cross(r, axis)
    for j in range(3):
        G_out[6 * entry + 6 + j] = -turn[j]
        G_out[6 * entry + 9 + j] = -axis[j]


@device
def fill_point_block(X, body, p, n_W, entry, G_out):
    """nᵀ R Γ, the row of the point's motion along the world direction n, into an entry of G."""
    n = rotate_back(load9(X, 12 * body), n_W)
    turn = cross(p, n)
    for j in range(3):
        G_out[6 * entry + j] = turn[j]
        G_out[6 * entry + 3 + j] = n[j]
